// SPDX-License-Identifier: MIT
#include "bindings/lua/socket_error.h"

#include <netdb.h>

#include <cerrno>
#include <cstring>

namespace shoal::bindings {

const char* SocketError(int error) {
  switch (error) {
    case EADDRINUSE:
      return "address already in use";
    case EISCONN:
      return "already connected";
    case EACCES:
      return "permission denied";
    case ECONNREFUSED:
      return "connection refused";
    case ECONNABORTED:
    case ECONNRESET:
    case EPIPE:
      return kClosedWord;
    case ETIMEDOUT:
      return kTimeoutWord;
    default: {
      const char* const text = strerrordesc_np(error);
      return text == nullptr ? "unknown error" : text;
    }
  }
}

const char* LookupError(int code, int error) {
  switch (code) {
    case EAI_AGAIN:
      return "temporary failure in name resolution";
    case EAI_BADFLAGS:
      return "invalid value for ai_flags";
    case EAI_FAIL:
      return "non-recoverable failure in name resolution";
    case EAI_FAMILY:
      return "ai_family not supported";
    case EAI_MEMORY:
      return "memory allocation failure";
    case EAI_NONAME:
      return "host or service not provided, or not known";
    case EAI_SERVICE:
      return "service not supported for socket type";
    case EAI_SOCKTYPE:
      return "ai_socktype not supported";
    case EAI_OVERFLOW:
      return "argument buffer overflow";
    case EAI_SYSTEM:
      return SocketError(error);
    default:
      return gai_strerror(code);
  }
}

const char* HostError(int code) {
  return code == HOST_NOT_FOUND ? "host not found" : hstrerror(code);
}

int PushSocketError(lua_State* L, const char* word) {
  lua_pushnil(L);
  lua_pushstring(L, word);
  return 2;
}

}  // namespace shoal::bindings
