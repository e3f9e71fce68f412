// SPDX-License-Identifier: MIT
#include <shoal/blocking.h>

#include <lua.hpp>

#include "bindings/cpp/function_call.h"
#include "bindings/cpp/host_wait.h"
#include "runtime/lua/state_record.h"
#include "runtime/process/process.h"

namespace shoal {

Blocking::Blocking() noexcept { Begin(embed::CurrentCall::State()); }

Blocking::Blocking(lua_State* L) noexcept { Begin(L); }

void Blocking::Begin(lua_State* L) noexcept {
  // The outer section has done it.
  if (L == nullptr || embed::BlockingHere::IsInside()) return;
  core::StateHost* const host = core::RecordOf(L).host;
  if (host == nullptr) return;
  auto& process = static_cast<core::Process&>(*host);
  if (process.is_host()) return;
  may_block_ = process.BeginBlocking() == core::Status::kOk;
  if (!may_block_) return;
  process_ = &process;
  embed::BlockingHere::Enter();
}

Blocking::~Blocking() {
  if (process_ == nullptr) return;
  embed::BlockingHere::Leave();
  static_cast<core::Process*>(process_)->EndBlocking();
}

void embed::RaiseText(lua_State* L, const char* text) {
  luaL_error(L, "%s", text);
  __builtin_unreachable();
}

}  // namespace shoal
