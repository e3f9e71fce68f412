// SPDX-License-Identifier: MIT
#include "runtime/lua/arena.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "runtime/base/random.h"

using namespace shoal::core;

namespace {

struct Block {
  char* at;
  std::size_t size;
  char fill;
};

bool IsIntact(const Block& block) {
  for (std::size_t i = 0; i < block.size; ++i) {
    if (block.at[i] != block.fill) return false;
  }
  return true;
}

// Offsets of what a random sequence of calls is given.
std::vector<std::ptrdiff_t> RandomRun(std::uint64_t seed) {
  Arena arena;
  REQUIRE(arena.Reserve());
  Random random(seed);
  std::vector<Block> blocks;
  std::vector<std::ptrdiff_t> offsets;
  char* first = nullptr;
  for (int i = 0; i < 3000; ++i) {
    const std::size_t size = 1 + random.Below(random.Below(8) == 0 ? 300'000 : 2'000);
    const std::uint64_t what = blocks.empty() ? 0 : random.Below(3);
    Block block{nullptr, 0, static_cast<char>(i)};
    if (what > 0) {
      std::swap(blocks[random.Below(blocks.size())], blocks.back());
      block = blocks.back();
      blocks.pop_back();
      REQUIRE(IsIntact(block));
      if (what == 1) {
        arena.Free(block.at, block.size);
        continue;
      }
    }
    auto* const at = static_cast<char*>(arena.Allocate(block.at, block.size, size));
    REQUIRE(at != nullptr);
    REQUIRE(reinterpret_cast<std::uintptr_t>(at) % 16 == 0);
    REQUIRE(IsIntact({at, std::min(block.size, size), block.fill}));
    std::memset(at, block.fill, size);
    blocks.push_back({at, size, block.fill});
    if (first == nullptr) first = at;
    offsets.push_back(at - first);
  }
  return offsets;
}

}  // namespace

TEST_CASE("blocks keep what is written into them, also when their size changes") {
  for (std::uint64_t seed = 0; seed < 5; ++seed) static_cast<void>(RandomRun(seed));
}

TEST_CASE("the same calls are given the same places") { REQUIRE(RandomRun(3) == RandomRun(3)); }

TEST_CASE("what was freed is used again") {
  Arena arena;
  REQUIRE(arena.Reserve());
  for (const std::size_t size : {1U, 16U, 17U, 1024U, 1025U, 2048U, 2049U, 5'000'000U}) {
    void* const block = arena.Allocate(nullptr, 0, size);
    REQUIRE(block != nullptr);
    arena.Free(block, size);
    REQUIRE(arena.Allocate(nullptr, 0, size) == block);
  }
}

TEST_CASE("what is too large is refused, and what is there stays") {
  Arena arena;
  REQUIRE(arena.Reserve());
  REQUIRE(arena.Allocate(nullptr, 0, std::size_t{1} << 45) == nullptr);
  REQUIRE(arena.Allocate(nullptr, 0, SIZE_MAX) == nullptr);
  auto* const block = static_cast<char*>(arena.Allocate(nullptr, 0, 100));
  std::memset(block, 7, 100);
  REQUIRE(arena.Allocate(block, 100, std::size_t{1} << 45) == nullptr);
  REQUIRE(IsIntact({block, 100, 7}));
}
