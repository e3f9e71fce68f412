// SPDX-License-Identifier: MIT
#include "tests/bench/copies.h"

#include <lua.hpp>
#include <memory>
#include <string>

#include "bindings/lua/shoal_library.h"
#include "runtime/base/check.h"
#include "runtime/base/runtime_thread.h"
#include "runtime/lua/state.h"
#include "runtime/lua/state_image.h"
#include "tests/bench/stopwatch.h"

namespace shoal::bench {

namespace {

void Open(lua_State* L, void* library) {
  core::OpenLibraries(L, core::kAllLibraries);
  static_cast<const bindings::ShoalLibrary*>(library)->Open(L, core::kAllLibraries);
}

int AppendDump(lua_State*, const void* bytes, size_t size, void* text) {
  static_cast<std::string*>(text)->append(static_cast<const char*>(bytes), size);
  return 0;
}

std::string DumpedNothing() {
  lua_State* L = luaL_newstate();
  SHOAL_CHECK(luaL_loadstring(L, "") == LUA_OK);
  std::string dump;
  lua_dump(L, AppendDump, &dump, 0);
  lua_close(L);
  return dump;
}

}  // namespace

double LimitCopy(long count) {
  const std::string dump = DumpedNothing();
  bindings::ShoalLibrary library;
  core::StateSlots slots(1);
  std::string why;
  // As the thread of a worker: on others, states may be those of hosts.
  const auto before = core::RuntimeThread::Exchange(core::RuntimeThread::Kind::kRuntime);
  const auto image = core::StateImage::Make(slots, Open, &library, &why);
  SHOAL_CHECK(image != nullptr);
  const Stopwatch watch;
  for (long i = 0; i < count; ++i) {
    core::Allocator allocator;
    core::StateRecord record;
    lua_State* const L = image->Copy(&allocator, &record, 0);
    SHOAL_CHECK(luaL_loadbufferx(L, dump.data(), dump.size(), "", "b") == LUA_OK);
    lua_call(L, 0, 0);
    core::CloseState(L);
  }
  const double time = watch.computed() / static_cast<double>(count);
  core::RuntimeThread::Exchange(before);
  return time;
}

}  // namespace shoal::bench
