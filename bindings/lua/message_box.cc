// SPDX-License-Identifier: MIT
#include "bindings/lua/message_box.h"

#include <new>

namespace shoal::bindings {

using core::MessageList;

namespace {

constexpr char kBoxType[] = "shoal.messages";

int Collect(lua_State* L) {
  static_cast<MessageList*>(lua_touserdata(L, 1))->~MessageList();
  return 0;
}

}  // namespace

MessageList& PushMessageBox(lua_State* L) {
  auto* list = new (lua_newuserdatauv(L, sizeof(MessageList), 0)) MessageList();
  if (luaL_newmetatable(L, kBoxType) != 0) {
    lua_pushcfunction(L, Collect);
    lua_setfield(L, -2, "__gc");
  }
  lua_setmetatable(L, -2);
  return *list;
}

}  // namespace shoal::bindings
