// SPDX-License-Identifier: MIT
/// \file
/// Buffer is immutable bytes that processes and the program share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shoal {

namespace core {
class Buffer;
}  // namespace core

/// Immutable bytes that processes and the program share: `shoal.buffer` in Lua. In a message they
/// are not copied, and a copy of a Buffer has the same bytes.
///
///     auto image = shoal::Buffer::Adopt(std::move(pixels));  // a std::vector<std::uint8_t>
///     jobs.Send("row", {y, image.Slice(y * stride, stride)});
///
/// It belongs to no runtime: it may be sent in several, and outlives them.
///
/// Memory: throws std::bad_alloc where memory is short, as the containers of the standard library.
/// Threads: any thread may use the same bytes; a Buffer itself is as a std::shared_ptr.
class Buffer {
 public:
  /// No bytes.
  Buffer() noexcept = default;
  /// A copy of these bytes.
  [[nodiscard]] static Buffer Copy(std::span<const std::byte> bytes);
  /// A copy of these bytes.
  [[nodiscard]] static Buffer Copy(std::string_view bytes);
  /// The bytes of a string, which is not copied.
  [[nodiscard]] static Buffer Adopt(std::string&& bytes);
  /// The bytes of a vector, which is not copied.
  [[nodiscard]] static Buffer Adopt(std::vector<std::byte>&& bytes);
  /// The bytes of a vector, which is not copied.
  [[nodiscard]] static Buffer Adopt(std::vector<std::uint8_t>&& bytes);
  /// Bytes that stand elsewhere, such as in a mapped file. `owner` is released, on any thread, when
  /// nobody has them any more; until then they must stay there, unchanged.
  [[nodiscard]] static Buffer View(std::span<const std::byte> bytes,
                                   std::shared_ptr<const void> owner);

  /// Shares the bytes.
  Buffer(const Buffer& other) noexcept;
  /// Takes over the bytes; the other one has none.
  Buffer(Buffer&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  /// Shares the bytes.
  Buffer& operator=(const Buffer& other) noexcept;
  /// Takes over the bytes; the other one has none.
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer();

  /// The bytes. They stay as long as a Buffer has them.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept;
  /// The same as text. Same life.
  [[nodiscard]] std::string_view text() const noexcept;
  /// How many bytes.
  [[nodiscard]] std::size_t size() const noexcept { return bytes().size(); }
  /// Whether there are none.
  [[nodiscard]] bool empty() const noexcept { return bytes().empty(); }
  /// The part of at most `size` bytes from `offset` on, which shares them, and keeps all of them.
  /// What is beyond the end is left out.
  [[nodiscard]] Buffer Slice(std::size_t offset, std::size_t size = SIZE_MAX) const;

  /// The same bytes.
  friend bool operator==(const Buffer& a, const Buffer& b) noexcept { return a.text() == b.text(); }

  /// For the library. Takes over a reference; null: no bytes.
  explicit Buffer(core::Buffer* object) noexcept : object_(object) {}
  /// For the library. Null: no bytes.
  [[nodiscard]] core::Buffer* object() const noexcept { return object_; }

 private:
  core::Buffer* object_ = nullptr;
};

}  // namespace shoal
