// SPDX-License-Identifier: MIT
#include "runtime/channel/key_name.h"

#include <cstring>

namespace shoal::core {

namespace {

// Folds the 128-bit product: each bit of the result depends on all bits of both.
std::uint64_t Mix(std::uint64_t a, std::uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

constexpr std::uint64_t kSeed = 0x9e3779b97f4a7c15;
constexpr std::uint64_t kFactor = 0xd6e8feb86659fd93;

std::uint64_t Load64(const char* from) {
  std::uint64_t word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

// The `size` bytes at `from`, at most 8, in one word: of those of one length, no two give the same.
// Loads of fixed sizes overlap, since a copy of any other size goes through memory.
std::uint64_t LoadShort(const char* from, std::size_t size) {
  if (size >= sizeof(std::uint32_t)) {
    std::uint32_t first;
    std::uint32_t last;
    std::memcpy(&first, from, sizeof first);
    std::memcpy(&last, from + size - sizeof last, sizeof last);
    return std::uint64_t{first} << 32 | last;
  }
  if (size == 0) return 0;
  const auto byte = [from](std::size_t i) {
    return std::uint64_t{static_cast<std::uint8_t>(from[i])};
  };
  return byte(0) << 16 | byte(size / 2) << 8 | byte(size - 1);
}

std::uint64_t HashText(std::string_view text) {
  const char* at = text.data();
  std::size_t left = text.size();
  // Scaled, so that texts of different lengths do not meet in the words below.
  std::uint64_t hash = kSeed * (left + 1);
  if (left <= sizeof hash) return Mix(hash ^ LoadShort(at, left), kFactor);
  for (; left > sizeof hash; at += sizeof hash, left -= sizeof hash) {
    hash = Mix(hash ^ Load64(at), kFactor);
  }
  // The last word overlaps the one before.
  return Mix(hash ^ Load64(at + left - sizeof hash), kFactor);
}

}  // namespace

std::size_t KeyName::Hash() const {
  if (kind == Kind::kString) return HashText(text);
  return Mix(value ^ kSeed, kFactor + 2 * static_cast<std::uint64_t>(kind));
}

StoredKeyName::StoredKeyName(const KeyName& name)
    : kind_(name.kind),
      text_(name.text),
      value_(name.value),
      handle_(Ref<RefCounted>::Share(name.handle)) {}

KeyName StoredKeyName::view() const { return {kind_, text_, value_, handle_.get()}; }

}  // namespace shoal::core
