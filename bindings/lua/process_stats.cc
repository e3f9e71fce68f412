// SPDX-License-Identifier: MIT
// p:stats().
#include <algorithm>
#include <string>

#include "bindings/lua/handles.h"
#include "bindings/lua/process_library.h"

namespace shoal::bindings {

using core::Process;

namespace {

// Copies what the process waits for, as much as there is room. Raises nothing.
std::size_t CopyWait(lua_State* L, Process& process, char* text, std::size_t room) {
  const std::string wait = process.WaitingOn(Process::Of(L));
  const std::size_t size = wait.size() < room ? wait.size() : room;
  std::copy_n(wait.data(), size, text);
  return size;
}

void SetInteger(lua_State* L, const char* field, std::uint64_t value) {
  lua_pushinteger(L, static_cast<lua_Integer>(value));
  lua_setfield(L, -2, field);
}

}  // namespace

int ProcessStats(lua_State* L) {
  Process& process = CheckProcess(L, 1);
  Process& caller = Process::Of(L);
  if (caller.is_host()) caller.CountHostMemory();
  char wait[1000];
  const std::size_t wait_size = CopyWait(L, process, wait, sizeof wait);
  // After the wait: what came before that is counted.
  const core::Usage usage = process.usage();
  lua_createtable(L, 0, 6);
  SetInteger(L, "memory", usage.memory);
  lua_pushnumber(L, static_cast<double>(usage.cpu.count()) / 1e9);
  lua_setfield(L, -2, "cpu");
  SetInteger(L, "slices", usage.slices);
  SetInteger(L, "sent", usage.sent);
  SetInteger(L, "received", usage.received);
  if (wait_size > 0) {
    lua_pushlstring(L, wait, wait_size);
    lua_setfield(L, -2, "waiting_on");
  }
  return 1;
}

}  // namespace shoal::bindings
