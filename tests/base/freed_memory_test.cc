// SPDX-License-Identifier: MIT
#include "runtime/base/freed_memory.h"

#include <malloc.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>

// Sanitizers have allocators of their own.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SHOAL_OWN_ALLOCATOR 1
#endif
#endif

namespace {

// Bytes that the C library has from the system.
[[maybe_unused]] std::size_t FromSystem() {
  const struct mallinfo2 all = mallinfo2();
  return all.arena + all.hblkhd;
}

}  // namespace

TEST_CASE("freed memory stays with the program, but for large blocks") {
  shoal::core::KeepFreedMemory();
#ifndef SHOAL_OWN_ALLOCATOR
  void* volatile block = std::malloc(1 << 20);
  std::free(block);
  const std::size_t kept = FromSystem();
  block = std::malloc(1 << 20);
  std::memset(block, 1, 1 << 20);
  CHECK(FromSystem() == kept);
  std::free(block);
  CHECK(FromSystem() == kept);
  block = std::malloc(64 << 20);
  CHECK(FromSystem() >= kept + (64 << 20));
  std::free(block);
  CHECK(FromSystem() == kept);
#endif
}
