// SPDX-License-Identifier: MIT
#include "bindings/lua/buffer_unpack.h"

#include <algorithm>
#include <array>
#include <bit>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

namespace shoal::bindings {

namespace {

constexpr int kFormat = 2;
constexpr int kPosition = 3;

constexpr std::size_t kMostInteger = 16;  // bytes of an integer at most
constexpr std::size_t kNativeAlignment =
    std::max({alignof(lua_Integer), alignof(lua_Number), alignof(void*)});
constexpr bool kNativeIsLittle = std::endian::native == std::endian::little;

// What an option of a format stands for.
enum class Kind : std::uint8_t {
  kSigned,
  kUnsigned,
  kFloat,
  kDouble,
  kChars,      // a string of `size` bytes
  kCounted,    // a string behind its length, an integer of `size` bytes
  kZeroEnded,  // a string that ends with a zero
  kPadding,    // a byte to skip
  kAlign,      // nothing, but the alignment
  kNothing,
};

struct Option {
  Kind kind;
  std::size_t size = 0;
  std::size_t padding = 0;  // bytes to skip before it
};

// Reads a format, option by option.
class Format {
 public:
  Format(lua_State* L, const char* at) : L_(L), at_(at) {}

  [[nodiscard]] bool at_end() const { return *at_ == '\0'; }
  [[nodiscard]] bool is_little() const { return is_little_; }

  // The next option, where `place` bytes stand before it. [-0, +0, v]
  Option Next(std::size_t place) {
    Option option = Read();
    std::size_t align = option.size;
    if (option.kind == Kind::kAlign) {
      const Option next = at_end() ? Option{Kind::kNothing} : Read();
      align = next.kind == Kind::kChars ? 0 : next.size;
      if (align == 0) luaL_argerror(L_, kFormat, "invalid next option for option 'X'");
      option.size = 0;
    }
    if (align <= 1 || option.kind == Kind::kChars) return option;
    align = std::min(align, most_alignment_);
    if (!std::has_single_bit(align)) {
      luaL_argerror(L_, kFormat, "format asks for alignment not power of 2");
    }
    option.padding = (align - place % align) % align;
    return option;
  }

 private:
  // One option, or what changes those that follow.
  Option Read() {
    const char letter = *at_++;
    switch (letter) {
      case 'b':
        return {Kind::kSigned, sizeof(char)};
      case 'B':
        return {Kind::kUnsigned, sizeof(char)};
      case 'h':
        return {Kind::kSigned, sizeof(short)};  // NOLINT(google-runtime-int): as in C
      case 'H':
        return {Kind::kUnsigned, sizeof(short)};  // NOLINT(google-runtime-int)
      case 'i':
        return {Kind::kSigned, IntegerSize(sizeof(int))};
      case 'I':
        return {Kind::kUnsigned, IntegerSize(sizeof(int))};
      case 'l':
        return {Kind::kSigned, sizeof(long)};  // NOLINT(google-runtime-int)
      case 'L':
        return {Kind::kUnsigned, sizeof(long)};  // NOLINT(google-runtime-int)
      case 'j':
        return {Kind::kSigned, sizeof(lua_Integer)};
      case 'J':
        return {Kind::kUnsigned, sizeof(lua_Integer)};
      case 'T':
        return {Kind::kUnsigned, sizeof(std::size_t)};
      case 'f':
        return {Kind::kFloat, sizeof(float)};
      case 'd':
        return {Kind::kDouble, sizeof(double)};
      case 'n':
        return {Kind::kDouble, sizeof(lua_Number)};
      case 's':
        return {Kind::kCounted, IntegerSize(sizeof(std::size_t))};
      case 'z':
        return {Kind::kZeroEnded};
      case 'c': {
        const std::optional<std::size_t> size = ReadNumber();
        if (!size.has_value()) luaL_error(L_, "missing size for format option 'c'");
        return {Kind::kChars, size.value_or(0)};
      }
      case 'x':
        return {Kind::kPadding, 1};
      case 'X':
        return {Kind::kAlign};
      case ' ':
        break;
      case '<':
        is_little_ = true;
        break;
      case '>':
        is_little_ = false;
        break;
      case '=':
        is_little_ = kNativeIsLittle;
        break;
      case '!':
        most_alignment_ = IntegerSize(kNativeAlignment);
        break;
      default:
        luaL_error(L_, "invalid format option '%c'", letter);
    }
    return {Kind::kNothing};
  }

  std::optional<std::size_t> ReadNumber() {
    constexpr std::size_t kMost = INT_MAX;
    const auto is_digit = [this] { return *at_ >= '0' && *at_ <= '9'; };
    if (!is_digit()) return std::nullopt;
    std::size_t number = 0;
    while (is_digit() && number <= (kMost - 9) / 10) {
      number = number * 10 + static_cast<std::size_t>(*at_++ - '0');
    }
    return number;
  }

  std::size_t IntegerSize(std::size_t fallback) {
    const std::size_t size = ReadNumber().value_or(fallback);
    if (size == 0 || size > kMostInteger) {
      luaL_error(L_, "integral size (%d) out of limits [1,%d]", static_cast<int>(size),
                 static_cast<int>(kMostInteger));
    }
    return size;
  }

  lua_State* const L_;
  const char* at_;
  bool is_little_ = kNativeIsLittle;
  std::size_t most_alignment_ = 1;
};

// The integer in `size` bytes. [-0, +0, v]
lua_Integer ReadInteger(lua_State* L, const char* at, std::size_t size, const Format& format,
                        bool is_signed) {
  const auto byte = [&](std::size_t i) {  // the lowest is number 0
    return static_cast<std::uint8_t>(at[format.is_little() ? i : size - 1 - i]);
  };
  constexpr std::size_t kOwn = sizeof(lua_Integer);
  std::uint64_t value = 0;
  for (std::size_t i = std::min(size, kOwn); i > 0; --i) value = value << CHAR_BIT | byte(i - 1);
  if (size < kOwn) {
    const unsigned unused = CHAR_BIT * static_cast<unsigned>(kOwn - size);
    if (is_signed) return static_cast<lua_Integer>(value << unused) >> unused;
    return static_cast<lua_Integer>(value);
  }
  const std::uint8_t fill = is_signed && static_cast<lua_Integer>(value) < 0 ? UINT8_MAX : 0;
  for (std::size_t i = kOwn; i < size; ++i) {
    if (byte(i) == fill) continue;
    luaL_error(L, "%d-byte integer does not fit into Lua Integer", static_cast<int>(size));
  }
  return static_cast<lua_Integer>(value);
}

template <class Float>
lua_Number ReadFloat(const char* at, const Format& format) {
  std::array<char, sizeof(Float)> bytes;
  std::memcpy(bytes.data(), at, sizeof(Float));
  if (format.is_little() != kNativeIsLittle) std::reverse(bytes.begin(), bytes.end());
  return static_cast<lua_Number>(std::bit_cast<Float>(bytes));
}

[[noreturn]] void RaiseShort(lua_State* L) {
  luaL_error(L, "data string too short");
  __builtin_unreachable();
}

// Pushes the value of `option` that stands at `at`, if it has one; returns how many bytes it takes.
// REQUIRES: `left` >= its size. [-0, +0|1, v]
std::size_t PushValue(lua_State* L, const Format& format, const Option& option, const char* at,
                      std::size_t left) {
  switch (option.kind) {
    case Kind::kSigned:
    case Kind::kUnsigned:
      lua_pushinteger(L, ReadInteger(L, at, option.size, format, option.kind == Kind::kSigned));
      return option.size;
    case Kind::kFloat:
      lua_pushnumber(L, ReadFloat<float>(at, format));
      return option.size;
    case Kind::kDouble:
      lua_pushnumber(L, ReadFloat<double>(at, format));
      return option.size;
    case Kind::kChars:
      lua_pushlstring(L, at, option.size);
      return option.size;
    case Kind::kCounted: {
      const auto length = static_cast<std::size_t>(ReadInteger(L, at, option.size, format, false));
      if (length > left - option.size) RaiseShort(L);
      lua_pushlstring(L, at + option.size, length);
      return option.size + length;
    }
    case Kind::kZeroEnded: {
      const void* const end = left == 0 ? nullptr : std::memchr(at, '\0', left);
      if (end == nullptr) luaL_argerror(L, kFormat, "unfinished string for format 'z'");
      const auto length = static_cast<std::size_t>(static_cast<const char*>(end) - at);
      lua_pushlstring(L, at, length);
      return length + 1;
    }
    case Kind::kPadding:
    case Kind::kAlign:
    case Kind::kNothing:
      break;
  }
  return option.size;
}

}  // namespace

int Unpack(lua_State* L, std::string_view bytes) {
  Format format(L, luaL_checkstring(L, kFormat));
  const auto size = static_cast<lua_Integer>(bytes.size());
  lua_Integer position = luaL_optinteger(L, kPosition, 1);
  if (position < 0) position = std::max<lua_Integer>(position, -size) + size + 1;
  position = std::max<lua_Integer>(position, 1);
  luaL_argcheck(L, position - 1 <= size, kPosition, "initial position out of string");
  auto place = static_cast<std::size_t>(position) - 1;
  const int base = lua_gettop(L);
  while (!format.at_end()) {
    const Option option = format.Next(place);
    const std::size_t left = bytes.size() - place;
    if (option.padding + option.size > left) RaiseShort(L);
    luaL_checkstack(L, 2, "too many results");
    place += option.padding;
    place += PushValue(L, format, option, bytes.data() + place, left - option.padding);
  }
  lua_pushinteger(L, static_cast<lua_Integer>(place) + 1);
  return lua_gettop(L) - base;
}

}  // namespace shoal::bindings
