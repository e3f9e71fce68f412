// SPDX-License-Identifier: MIT
/// \file
/// Key names a queue in a channel.
#pragma once

#include <shoal/handle.h>
#include <shoal/value.h>

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace shoal {

/// Names a queue in a channel: a string, an integer, a boolean, light userdata, or a handle.
///
/// A Key looks at what it was made of, so it is for arguments of calls: `ch.Send("job", 1)`.
class Key {
 public:
  /// What it is. kNone is no key, which each call refuses.
  enum class Kind : std::uint8_t { kNone, kString, kInteger, kBoolean, kPointer, kHandle };

  // NOLINTBEGIN(google-explicit-constructor): keys are written as what they are.
  /// A string.
  Key(const char* text) noexcept : kind_(Kind::kString), text_(text) {}
  /// A string.
  Key(std::string_view text) noexcept : kind_(Kind::kString), text_(text) {}
  /// A string.
  Key(const std::string& text) noexcept : kind_(Kind::kString), text_(text) {}
  /// A boolean.
  template <std::same_as<bool> T>
  Key(T value) noexcept : kind_(Kind::kBoolean), value_(value ? 1 : 0) {}
  /// An integer from -2^63 to 2^63 - 1; others are no keys.
  template <std::integral T>
  requires(!std::same_as<T, bool>) Key(T value)
  noexcept {
    if (!std::in_range<std::int64_t>(value)) return;
    kind_ = Kind::kInteger;
    value_ = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  }
  /// Floats are no keys. A send with a timeout is SendFor.
  template <std::floating_point T>
  Key(T value) = delete;
  /// A handle; one of nothing is no key.
  Key(const Handle& handle) noexcept
      : kind_(handle ? Kind::kHandle : Kind::kNone), handle_(handle.cell()) {}
  /// What the value is, if that can be a key.
  Key(const Value& value) noexcept;
  // NOLINTEND(google-explicit-constructor)
  /// Light userdata.
  [[nodiscard]] static Key Pointer(const void* pointer) noexcept {
    Key key;
    key.kind_ = Kind::kPointer;
    key.value_ = reinterpret_cast<std::uintptr_t>(pointer);
    return key;
  }

  /// What it is.
  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  /// REQUIRES: kString.
  [[nodiscard]] std::string_view text() const noexcept { return text_; }
  /// The integer, the address, or whether it is true.
  [[nodiscard]] std::uint64_t number() const noexcept { return value_; }
  /// For the library. REQUIRES: kHandle.
  [[nodiscard]] embed::Cell* cell() const noexcept { return handle_; }

 private:
  Key() noexcept = default;

  Kind kind_ = Kind::kNone;
  std::string_view text_;
  std::uint64_t value_ = 0;
  embed::Cell* handle_ = nullptr;
};

}  // namespace shoal
