// SPDX-License-Identifier: MIT
// Writes and reads the parts of a message's bytes that need no lua_State.
//
// Threads: any; the functions have no state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "runtime/message/wire.h"

namespace shoal::core {

// What a varint, and a number with its tag, take at most.
inline constexpr std::size_t kMaxVarint = 10;
inline constexpr std::size_t kMaxNumber = 9;

// Each writes at `at`, where there is room, and returns the place behind.
template <class T>
std::uint8_t* PutFixed(std::uint8_t* at, T value) {
  std::memcpy(at, &value, sizeof value);
  return at + sizeof value;
}

template <class T>
std::uint8_t* PutTagged(std::uint8_t* at, wire::Tag tag, T value) {
  *at = tag;
  return PutFixed(at + 1, value);
}

inline std::uint8_t* PutVarint(std::uint8_t* at, std::uint64_t value) {
  while (value >= 0x80) {
    *at++ = static_cast<std::uint8_t>(value | 0x80);
    value >>= 7;
  }
  *at++ = static_cast<std::uint8_t>(value);
  return at;
}

// Writes `value` over a varint of `width` bytes. REQUIRES: it was written for a value not smaller.
inline void RewriteVarint(std::uint8_t* at, int width, std::uint64_t value) {
  for (int i = 1; i < width; ++i) {
    *at++ = static_cast<std::uint8_t>(value | 0x80);
    value >>= 7;
  }
  *at = static_cast<std::uint8_t>(value);
}

inline std::uint8_t* PutInteger(std::uint8_t* at, std::int64_t value) {
  if (value >= wire::kSmallIntegerMin && value <= wire::kSmallIntegerMax) {
    *at = static_cast<std::uint8_t>(value);
    return at + 1;
  }
  if (value == static_cast<std::int8_t>(value)) {
    return PutTagged(at, wire::kInt8, static_cast<std::int8_t>(value));
  }
  if (value == static_cast<std::int16_t>(value)) {
    return PutTagged(at, wire::kInt16, static_cast<std::int16_t>(value));
  }
  if (value == static_cast<std::int32_t>(value)) {
    return PutTagged(at, wire::kInt32, static_cast<std::int32_t>(value));
  }
  return PutTagged(at, wire::kInt64, value);
}

// Reads on from `at`; a function that returns false has met the end too early.
struct WireReader {
  const std::uint8_t* at;
  const std::uint8_t* end;

  [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(end - at); }

  template <class T>
  [[nodiscard]] bool Fixed(T& value) {
    if (left() < sizeof value) return false;
    std::memcpy(&value, at, sizeof value);
    at += sizeof value;
    return true;
  }

  [[nodiscard]] bool Varint(std::uint64_t& value) {
    value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at == end) return false;
      const std::uint8_t byte = *at++;
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }

  [[nodiscard]] bool Bytes(std::uint64_t size, std::string_view& bytes) {
    if (left() < size) return false;
    bytes = {reinterpret_cast<const char*>(at), static_cast<std::size_t>(size)};
    at += size;
    return true;
  }

  [[nodiscard]] bool Text(std::string_view& text) {
    std::uint64_t size = 0;
    return Varint(size) && Bytes(size, text);
  }
};

}  // namespace shoal::core
