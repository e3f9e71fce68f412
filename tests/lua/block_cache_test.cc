// SPDX-License-Identifier: MIT
#include "runtime/lua/block_cache.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "runtime/base/random.h"

using namespace shoal::core;

namespace {
constexpr std::size_t kNoBound = SIZE_MAX;

// Under the address sanitizer, nothing is.
bool IsKept(BlockCache& cache) {
  cache.Keep(cache.Take(24), 24, kNoBound);
  const bool kept = cache.bytes() != 0;
  cache.Drop();
  return kept;
}
}  // namespace

TEST_CASE("a block holds what was asked for, and little more") {
  for (std::size_t size = 1; size < 2000; ++size) {
    const std::size_t room = BlockCache::Rounded(size);
    REQUIRE(room >= size);
    REQUIRE(room <= size + 15);
    // What is made of a block when it shrinks or grows depends on the size alone.
    REQUIRE(BlockCache::Rounded(room) == room);
  }
}

TEST_CASE("a block that was kept is given out again for a size of its class, and no other") {
  BlockCache cache;
  if (!IsKept(cache)) return;
  void* const block = cache.Take(50);
  cache.Keep(block, 50, kNoBound);
  REQUIRE(cache.bytes() == BlockCache::Rounded(50));
  void* const larger = cache.Take(57);
  void* const smaller = cache.Take(40);
  REQUIRE((larger != block && smaller != block));
  REQUIRE(cache.Take(41) == block);
  REQUIRE(cache.bytes() == 0);
  cache.Keep(block, 41, 0);
  std::free(larger);
  std::free(smaller);
}

TEST_CASE("no more is kept than the bound, and nothing large") {
  BlockCache cache;
  const bool keeps = IsKept(cache);
  std::vector<void*> blocks;
  for (int i = 0; i < 100; ++i) blocks.push_back(cache.Take(104));
  for (void* block : blocks) cache.Keep(block, 104, 1000);
  REQUIRE(cache.bytes() <= 1000);
  REQUIRE((!keeps || cache.bytes() >= 1000 - 264 - 104));
  cache.Drop();
  REQUIRE(cache.bytes() == 0);
  void* const large = cache.Take(265);
  cache.Keep(large, 265, kNoBound);
  REQUIRE(cache.bytes() == 0);
}

TEST_CASE("blocks in use never overlap") {
  struct Block {
    unsigned char* at;
    std::size_t size;
    unsigned char fill;
  };
  BlockCache cache;
  Random random(7);
  std::vector<Block> blocks;
  for (int i = 0; i < 20'000; ++i) {
    if (blocks.empty() || random.Below(2) == 0) {
      const std::size_t size = 1 + random.Below(300);
      auto* const at = static_cast<unsigned char*>(cache.Take(size));
      const auto fill = static_cast<unsigned char>(i);
      std::memset(at, fill, BlockCache::Rounded(size));
      blocks.push_back({at, size, fill});
      continue;
    }
    std::swap(blocks[random.Below(blocks.size())], blocks.back());
    const Block block = blocks.back();
    blocks.pop_back();
    const std::size_t room = BlockCache::Rounded(block.size);
    bool intact = true;
    for (std::size_t j = 0; j < room; ++j) intact = intact && block.at[j] == block.fill;
    REQUIRE(intact);
    cache.Keep(block.at, block.size, 5000);
  }
  for (const Block& block : blocks) cache.Keep(block.at, block.size, 5000);
}
