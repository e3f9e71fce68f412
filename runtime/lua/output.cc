// SPDX-License-Identifier: MIT
#include "runtime/lua/output.h"

#include <cerrno>
#include <cstddef>
#include <cstdio>

namespace shoal::core {
namespace {

// Holds the lock of a stream, so that nobody writes in between. Nothing that may raise is called
// while one lives: an error would leave the stream locked.
class StreamLock {
 public:
  explicit StreamLock(std::FILE* stream) : stream_(stream) { flockfile(stream); }
  ~StreamLock() { funlockfile(stream_); }
  StreamLock(const StreamLock&) = delete;
  StreamLock& operator=(const StreamLock&) = delete;

 private:
  std::FILE* const stream_;
};

// Writes to a stream whose lock is held. (putc_unlocked would be inlined, and ThreadSanitizer knows
// nothing of that lock.)
bool Put(std::FILE* stream, const char* text, std::size_t size) {
  return fwrite_unlocked(text, 1, size, stream) == size;
}

// print -------------------------------------------------------------------------------------------

// Writes the strings at 1..count of the stack. Errors of the stream are ignored, as stock does.
void WriteLine(lua_State* L, int count) {
  StreamLock lock(stdout);
  for (int i = 1; i <= count; ++i) {
    std::size_t size = 0;
    const char* const text = lua_tolstring(L, i, &size);
    if (i > 1) Put(stdout, "\t", 1);
    Put(stdout, text, size);
  }
  Put(stdout, "\n", 1);
  fflush_unlocked(stdout);
}

int Print(lua_State* L) {
  const int count = lua_gettop(L);
  for (int i = 1; i <= count; ++i) {
    if (lua_type(L, i) == LUA_TSTRING) continue;
    luaL_tolstring(L, i, nullptr);
    lua_replace(L, i);
  }
  WriteLine(L, count);
  return 0;
}

// io.write ----------------------------------------------------------------------------------------

// Where the io library keeps the default output file in the registry.
constexpr const char* kDefaultOutput = "_IO_output";

bool WriteNumber(lua_State* L, int index, std::FILE* stream) {
  char text[64];  // the longest: "-1.2345678901235e-308", 21 characters
  const int size = lua_isinteger(L, index) != 0
                       ? std::snprintf(text, sizeof text, LUA_INTEGER_FMT,
                                       static_cast<LUAI_UACINT>(lua_tointeger(L, index)))
                       : std::snprintf(text, sizeof text, LUA_NUMBER_FMT,
                                       static_cast<LUAI_UACNUMBER>(lua_tonumber(L, index)));
  return Put(stream, text, static_cast<std::size_t>(size));
}

// Writes the values at 1..count, up to the first one that is neither string nor number. Returns how
// many it passed; `*succeeded` and errno tell about the stream.
int WriteValues(lua_State* L, int count, std::FILE* stream, bool* succeeded) {
  StreamLock lock(stream);
  *succeeded = true;
  for (int i = 1; i <= count; ++i) {
    const int type = lua_type(L, i);
    if (type == LUA_TNUMBER) {
      *succeeded = *succeeded && WriteNumber(L, i, stream);
    } else if (type == LUA_TSTRING) {
      std::size_t size = 0;
      const char* const text = lua_tolstring(L, i, &size);
      *succeeded = *succeeded && Put(stream, text, size);
    } else {
      return i - 1;
    }
  }
  return count;
}

int Write(lua_State* L) {
  const int count = lua_gettop(L);
  lua_getfield(L, LUA_REGISTRYINDEX, kDefaultOutput);
  auto* const output = static_cast<luaL_Stream*>(lua_touserdata(L, -1));
  if (output->closef == nullptr) return luaL_error(L, "default output file is closed");
  bool succeeded = false;
  const int written = WriteValues(L, count, output->f, &succeeded);
  if (written < count) luaL_checkstring(L, written + 1);  // raises
  if (!succeeded) return luaL_fileresult(L, 0, nullptr);
  return 1;
}

}  // namespace

void OpenPrint(lua_State* L) {
  lua_pushcfunction(L, Print);
  lua_setfield(L, -2, "print");
}

void OpenWrite(lua_State* L) {
  lua_pushcfunction(L, Write);
  lua_setfield(L, -2, "write");
}

}  // namespace shoal::core
