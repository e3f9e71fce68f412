// SPDX-License-Identifier: MIT
/// \file
/// Handle is what stands for a thing of a runtime: a channel, a process, a pool.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

namespace shoal {

namespace embed {
class Cell;
}  // namespace embed

/// Stands for a thing of a runtime, which it keeps. A handle may outlive its runtime: then each
/// call of it returns Status::kClosed. One that stands for nothing says Status::kMisuse, or why
/// there is nothing: `runtime.OpenChannel(…)` that fails returns such a handle.
///
/// Copies are cheap, and stand for the same thing.
///
/// Threads: any thread may call any const member, also of handles that others use; a handle is
/// assigned to as other variables are, by one thread at a time.
class Handle {
 public:
  /// What a handle stands for.
  enum class Kind : std::uint8_t {
    kNone,
    kChannel,
    kProcess,
    kPool,
    kObject,  ///< An Object of the program.
    kOther,   ///< A socket, a Linda, …: it can be sent on.
  };

  Handle() noexcept = default;
  /// Stands for the same.
  Handle(const Handle& other) noexcept;
  /// The same; the other one stands for nothing from then on.
  Handle(Handle&& other) noexcept : cell_(std::exchange(other.cell_, nullptr)) {}
  /// Stands for the same.
  Handle& operator=(const Handle& other) noexcept;
  /// The same; the other one stands for nothing from then on.
  Handle& operator=(Handle&& other) noexcept;
  ~Handle();

  /// What it stands for; kNone for nothing. It stays the same when the runtime has ended.
  [[nodiscard]] Kind kind() const noexcept;
  /// Whether it stands for something.
  [[nodiscard]] explicit operator bool() const noexcept { return kind() != Kind::kNone; }
  /// Both stand for the same thing, or both for nothing.
  friend bool operator==(const Handle& a, const Handle& b) noexcept {
    return a.identity() == b.identity();
  }
  /// A number that is the same for handles of the same thing, and 0 for nothing.
  [[nodiscard]] std::uintptr_t identity() const noexcept;

  /// For the library. Takes over a reference.
  explicit Handle(embed::Cell* cell) noexcept : cell_(cell) {}
  /// For the library. Null: nothing.
  [[nodiscard]] embed::Cell* cell() const noexcept { return cell_; }

 private:
  embed::Cell* cell_ = nullptr;
};

}  // namespace shoal

/// Handles may be keys of unordered containers.
template <>
struct std::hash<shoal::Handle> {
  /// Equal for handles of the same thing.
  std::size_t operator()(const shoal::Handle& handle) const noexcept {
    return std::hash<std::uintptr_t>()(handle.identity());
  }
};
