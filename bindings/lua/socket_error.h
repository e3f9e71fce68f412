// SPDX-License-Identifier: MIT
// The words with which sockets fail: those of LuaSocket, on which programs rely.
//
// Threads: any thread.
#pragma once

#include <lua.hpp>

namespace shoal::bindings {

inline constexpr char kTimeoutWord[] = "timeout";
inline constexpr char kClosedWord[] = "closed";

// For an `errno`: LuaSocket's own word for some, else the system's. Static storage.
const char* SocketError(int error);
// For an error of getaddrinfo; `error` is the `errno` that belongs to EAI_SYSTEM.
const char* LookupError(int code, int error);
// For an error of gethostbyname.
const char* HostError(int code);

// Pushes nil and the word; returns 2. [-0, +2, m]
int PushSocketError(lua_State* L, const char* word);

}  // namespace shoal::bindings
