// SPDX-License-Identifier: MIT
// KeyName names a FIFO in a channel: a string, integer, float, boolean, light userdata or handle.
//
// A KeyName looks at memory that it does not own (the bytes of a Lua string, say); a StoredKeyName
// owns a copy. Equal names have equal hashes; 1 and "1" and true are different names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "runtime/base/ref_counted.h"

namespace shoal::core {

struct KeyName {
  enum class Kind : std::uint8_t { kString, kInteger, kFloat, kBoolean, kPointer, kHandle };

  static KeyName String(std::string_view text) { return {Kind::kString, text, 0, nullptr}; }
  static KeyName Integer(std::int64_t value) {
    return {Kind::kInteger, {}, static_cast<std::uint64_t>(value), nullptr};
  }
  // REQUIRES: not NaN, and no integer.
  static KeyName Float(double value) {
    KeyName name{Kind::kFloat, {}, 0, nullptr};
    std::memcpy(&name.value, &value, sizeof value);
    return name;
  }
  static KeyName Boolean(bool value) { return {Kind::kBoolean, {}, value ? 1U : 0U, nullptr}; }
  static KeyName Pointer(void* value) {
    return {Kind::kPointer, {}, reinterpret_cast<std::uintptr_t>(value), nullptr};
  }
  // The object stands for itself; a stored name keeps it alive.
  static KeyName Handle(RefCounted* object) {
    return {Kind::kHandle, {}, reinterpret_cast<std::uintptr_t>(object), object};
  }

  Kind kind;
  std::string_view text;  // kString
  std::uint64_t value;    // the others: the number or its bits, or the address
  RefCounted* handle;     // kHandle

  friend bool operator==(const KeyName& a, const KeyName& b) {
    return a.kind == b.kind && a.value == b.value && SameText(a.text, b.text);
  }
  [[nodiscard]] std::size_t Hash() const;
  // REQUIRES: kFloat.
  [[nodiscard]] double number() const {
    double number = 0;
    std::memcpy(&number, &value, sizeof number);
    return number;
  }

 private:
  // Most names are short: a few loads, which overlap, are less work than a call of memcmp.
  static bool SameText(std::string_view a, std::string_view b) {
    const std::size_t size = a.size();
    if (size != b.size()) return false;
    if (size < 4 || size > 8) return a == b;
    return Load32(a.data()) == Load32(b.data()) &&
           Load32(a.data() + size - 4) == Load32(b.data() + size - 4);
  }
  static std::uint32_t Load32(const char* from) {
    std::uint32_t word;
    std::memcpy(&word, from, sizeof word);
    return word;
  }
};

class StoredKeyName {
 public:
  explicit StoredKeyName(const KeyName& name);
  [[nodiscard]] KeyName view() const;

 private:
  KeyName::Kind kind_;
  std::string text_;
  std::uint64_t value_;
  Ref<RefCounted> handle_;
};

}  // namespace shoal::core
