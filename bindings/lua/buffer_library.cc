// SPDX-License-Identifier: MIT
#include "bindings/lua/buffer_library.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "bindings/lua/arguments.h"
#include "bindings/lua/buffer_unpack.h"
#include "runtime/lua/outside_memory.h"
#include "runtime/lua/state_record.h"
#include "runtime/lua/weak_table.h"

namespace shoal::bindings {

using core::Buffer;

namespace {

// The address names the registry's table buffer → handle. Its values are weak.
const char kHandlesKey = 0;
constexpr char kType[] = "shoal.buffer";

struct Handle {
  const char* tag;      // kType, by its address
  Buffer* buffer;       // one reference, until __gc
  std::size_t counted;  // bytes of outside memory
};

// The handle's user value: of a slice that was made in this state, the handle of the whole.
constexpr int kWhole = 1;

// nullptr: it is none.
Handle* ToHandle(lua_State* L, int index) {
  if (lua_rawlen(L, index) != sizeof(Handle)) return nullptr;
  auto* const handle = static_cast<Handle*>(lua_touserdata(L, index));
  return handle != nullptr && handle->tag == kType ? handle : nullptr;
}

// [-0, +0, v]
Handle& CheckHandle(lua_State* L, int arg) {
  Handle* const handle = ToHandle(L, arg);
  if (handle == nullptr) luaL_checkudata(L, arg, kType);
  luaL_argcheck(L, handle->buffer != nullptr, arg, "the buffer has been collected");
  return *handle;
}

std::string_view BytesOf(const Buffer& buffer) {
  return {reinterpret_cast<const char*>(buffer.bytes().data()), buffer.size()};
}

// The bytes of the buffer that is argument 1. They stay as long as it stands there. [-0, +0, v]
std::string_view CheckBytes(lua_State* L) { return BytesOf(*CheckHandle(L, 1).buffer); }

// --- ranges, as those of strings

struct Range {
  std::size_t first;  // counted from 0
  std::size_t size;
};

// The range from the position at `arg` to the one behind it, in `size` bytes. [-0, +0, v]
Range CheckRange(lua_State* L, int arg, std::size_t size, lua_Integer first, lua_Integer last) {
  const auto length = static_cast<lua_Integer>(size);
  first = luaL_optinteger(L, arg, first);
  last = luaL_optinteger(L, arg + 1, last);
  if (first < 0) first = std::max<lua_Integer>(first, -length) + length + 1;
  if (last < 0) last = std::max<lua_Integer>(last, -length - 1) + length + 1;
  first = std::max<lua_Integer>(first, 1);
  last = std::min(last, length);
  if (first > last) return {0, 0};
  return {static_cast<std::size_t>(first) - 1, static_cast<std::size_t>(last - first) + 1};
}

// --- handles

int Collect(lua_State* L) {
  auto* const handle = static_cast<Handle*>(lua_touserdata(L, 1));
  Buffer* const buffer = std::exchange(handle->buffer, nullptr);
  // The state of a program that was forked has no record any more, and nothing counts there.
  const std::size_t counted = std::exchange(handle->counted, 0);
  if (counted != 0 && core::RecordOf(L).host != nullptr) core::DropOutsideMemory(L, counted);
  if (buffer != nullptr) buffer->Release();
  return 0;
}

int Size(lua_State* L) {
  lua_pushinteger(L, static_cast<lua_Integer>(CheckBytes(L).size()));
  return 1;
}

int Equals(lua_State* L) {
  const Buffer* const a = ToBuffer(L, 1);
  const Buffer* const b = ToBuffer(L, 2);
  lua_pushboolean(L, a != nullptr && b != nullptr && BytesOf(*a) == BytesOf(*b) ? 1 : 0);
  return 1;
}

int PushText(lua_State* L) {
  lua_pushfstring(L, "buffer: %I bytes", static_cast<lua_Integer>(CheckBytes(L).size()));
  return 1;
}

int Sub(lua_State* L);

// byte([i [, j]]) → integers
int Byte(lua_State* L) {
  const std::string_view bytes = CheckBytes(L);
  const lua_Integer first = luaL_optinteger(L, 2, 1);
  const Range range = CheckRange(L, 2, bytes.size(), 1, first);
  if (range.size > INT32_MAX) return luaL_error(L, "buffer slice too long");
  const int count = static_cast<int>(range.size);
  luaL_checkstack(L, count, "buffer slice too long");
  for (int i = 0; i < count; ++i) {
    lua_pushinteger(L, static_cast<std::uint8_t>(bytes[range.first + static_cast<unsigned>(i)]));
  }
  return count;
}

// find(string | buffer [, init]) → first, last · nil
int Find(lua_State* L) {
  const std::string_view bytes = CheckBytes(L);
  std::string_view wanted;
  if (const Buffer* const buffer = ToBuffer(L, 2)) {
    wanted = BytesOf(*buffer);
  } else {
    std::size_t size = 0;
    const char* const text = luaL_checklstring(L, 2, &size);
    wanted = {text, size};
  }
  const auto length = static_cast<lua_Integer>(bytes.size());
  lua_Integer init = luaL_optinteger(L, 3, 1);
  if (init < 0) init = std::max<lua_Integer>(init, -length) + length + 1;
  init = std::max<lua_Integer>(init, 1) - 1;
  if (init <= length) {
    const auto* const from = bytes.data() + init;
    const auto left = static_cast<std::size_t>(length - init);
    const void* const found =
        wanted.empty() ? from : memmem(from, left, wanted.data(), wanted.size());
    if (found != nullptr) {
      const auto place = static_cast<lua_Integer>(static_cast<const char*>(found) - bytes.data());
      lua_pushinteger(L, place + 1);
      lua_pushinteger(L, place + static_cast<lua_Integer>(wanted.size()));
      return 2;
    }
  }
  lua_pushnil(L);
  return 1;
}

// unpack(format [, position]) → values, position
int UnpackBuffer(lua_State* L) { return Unpack(L, CheckBytes(L)); }

// string([i [, j]]) → string
int String(lua_State* L) {
  const std::string_view bytes = CheckBytes(L);
  const Range range = CheckRange(L, 2, bytes.size(), 1, -1);
  lua_pushlstring(L, bytes.data() + range.first, range.size);
  return 1;
}

const luaL_Reg kMethods[] = {{"sub", Sub},       {"byte", Byte},           {"find", Find},
                             {"string", String}, {"unpack", UnpackBuffer}, {nullptr, nullptr}};

// Pushes a handle without a buffer yet. [-0, +1, m]
Handle& PushHandle(lua_State* L) {
  if (core::RecordOf(L).is_closing) luaL_error(L, "no buffer can be made: the process has ended");
  auto* const handle = static_cast<Handle*>(lua_newuserdatauv(L, sizeof(Handle), kWhole));
  *handle = {kType, nullptr, 0};
  if (luaL_newmetatable(L, kType) != 0) {
    static const luaL_Reg kMetamethods[] = {{"__gc", Collect},
                                            {"__len", Size},
                                            {"__eq", Equals},
                                            {"__tostring", PushText},
                                            {nullptr, nullptr}};
    luaL_setfuncs(L, kMetamethods, 0);
    luaL_newlib(L, kMethods);
    lua_setfield(L, -2, "__index");
    lua_pushliteral(L, "buffer");
    lua_setfield(L, -2, "__shoal");
    lua_pushliteral(L, "buffer");
    lua_setfield(L, -2, "__metatable");
  }
  lua_setmetatable(L, -2);
  return *handle;
}

// Makes the handle on the top known under its buffer, for PushBuffer. [-0, +0, m]
void Remember(lua_State* L, const Buffer* buffer) {
  core::PushWeakTable(L, &kHandlesKey, "v");
  lua_pushvalue(L, -2);
  lua_rawsetp(L, -2, buffer);
  lua_pop(L, 1);
}

// Counts `size` bytes for the handle: before they are there. [-0, +0, m]
void Count(lua_State* L, Handle& handle, std::size_t size) {
  core::AddOutsideMemory(L, size);
  handle.counted = size;
}

// sub(i [, j]) → buffer
int Sub(lua_State* L) {
  lua_settop(L, 3);
  const Handle& handle = CheckHandle(L, 1);
  luaL_checkinteger(L, 2);
  const Range range = CheckRange(L, 2, handle.buffer->size(), 1, -1);
  if (range.size == handle.buffer->size()) {
    lua_settop(L, 1);
    return 1;
  }
  Handle& slice = PushHandle(L);
  const int slice_index = lua_gettop(L);
  if (lua_getiuservalue(L, 1, kWhole) == LUA_TNIL) lua_pushvalue(L, 1);
  lua_setiuservalue(L, slice_index, kWhole);
  lua_settop(L, slice_index);
  slice.buffer = handle.buffer->Slice(range.first, range.size).Leak();
  CheckMemory(L, slice.buffer != nullptr);
  return 1;
}

// --- making one

// The bytes of the value at `index`: of a buffer, a string, a number. False: it is something else.
// A number becomes a string there. [-0, +0, m]
bool ToBytes(lua_State* L, int index, std::string_view* bytes) {
  if (const Buffer* const buffer = ToBuffer(L, index)) {
    *bytes = BytesOf(*buffer);
    return true;
  }
  std::size_t size = 0;
  const char* const text = lua_tolstring(L, index, &size);
  if (text == nullptr) return false;
  *bytes = {text, size};
  return true;
}

// Calls `use` with the bytes of each element of the list at index 1, till it returns false.
// [-0, +0, e]
template <class Use>
void ForEachPart(lua_State* L, lua_Integer count, const Use& use) {
  for (lua_Integer i = 1; i <= count; ++i) {
    std::string_view bytes;
    lua_rawgeti(L, 1, i);
    if (!ToBytes(L, -1, &bytes)) {
      luaL_argerror(L, 1,
                    lua_pushfstring(L, "a string or buffer expected at position %I, got %s", i,
                                    luaL_typename(L, -1)));
    }
    if (!use(bytes)) return;
    lua_pop(L, 1);
  }
}

// The sum of their sizes. [-0, +0, e]
std::size_t SizeOfParts(lua_State* L, lua_Integer count) {
  std::size_t size = 0;
  bool fits = true;
  ForEachPart(L, count, [&](std::string_view bytes) {
    fits = bytes.size() <= PTRDIFF_MAX - size;
    if (fits) size += bytes.size();
    return fits;
  });
  CheckMemory(L, fits);
  return size;
}

// Writes them to `room`, of `size` bytes. False if these are not their bytes any more: a finalizer
// may have changed the list. [-0, +0, e]
bool CopyParts(lua_State* L, lua_Integer count, std::byte* room, std::size_t size) {
  bool fits = true;
  ForEachPart(L, count, [&](std::string_view bytes) {
    fits = bytes.size() <= size;
    if (!fits) return false;
    if (!bytes.empty()) std::memcpy(room, bytes.data(), bytes.size());
    room += bytes.size();
    size -= bytes.size();
    return true;
  });
  return fits && size == 0;
}

// Pushes the handle of a new buffer of `size` bytes; returns their room. [-0, +1, m]
std::byte* PushRoom(lua_State* L, std::size_t size) {
  Handle& handle = PushHandle(L);
  Count(L, handle, size);
  handle.buffer = Buffer::New(size).Leak();
  CheckMemory(L, handle.buffer != nullptr);
  return handle.buffer->room();
}

}  // namespace

int NewBuffer(lua_State* L) {
  if (ToBuffer(L, 1) == nullptr && !lua_istable(L, 1) && lua_isstring(L, 1) == 0) {
    luaL_argerror(L, 1,
                  lua_pushfstring(L, "a string, buffer or list of them expected, got %s",
                                  lua_isnone(L, 1) ? "no value" : luaL_typename(L, 1)));
  }
  lua_settop(L, 1);
  if (ToBuffer(L, 1) != nullptr) return 1;
  if (lua_istable(L, 1)) {
    const auto count = static_cast<lua_Integer>(lua_rawlen(L, 1));
    const std::size_t size = SizeOfParts(L, count);
    std::byte* const room = PushRoom(L, size);
    if (!CopyParts(L, count, room, size)) {
      return luaL_error(L, "the list of a buffer has changed while it was read");
    }
  } else {
    std::size_t size = 0;
    const char* const text = lua_tolstring(L, 1, &size);
    std::memcpy(PushRoom(L, size), text, size);
  }
  Remember(L, ToBuffer(L, -1));
  return 1;
}

Buffer* ToBuffer(lua_State* L, int index) {
  const Handle* const handle = ToHandle(L, index);
  return handle == nullptr ? nullptr : handle->buffer;
}

void PushBuffer(lua_State* L, Buffer& buffer) {
  luaL_checkstack(L, 5, nullptr);
  core::PushWeakTable(L, &kHandlesKey, "v");
  lua_rawgetp(L, -1, &buffer);
  // As with all handles, one may stand here that has been collected: see handles.cc.
  const auto* const known = static_cast<const Handle*>(lua_touserdata(L, -1));
  if (known == nullptr || known->buffer != &buffer) {
    lua_pop(L, 1);
    Handle& handle = PushHandle(L);
    Count(L, handle, buffer.size());
    buffer.AddRef();
    handle.buffer = &buffer;
    Remember(L, &buffer);
  }
  lua_remove(L, -2);
}

}  // namespace shoal::bindings
