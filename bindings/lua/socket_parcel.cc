// SPDX-License-Identifier: MIT
#include "bindings/lua/socket_parcel.h"

#include <unistd.h>

#include <new>
#include <utility>

#include "bindings/lua/socket_core.h"
#include "runtime/lua/weak_table.h"

namespace shoal::bindings {

using core::RefCounted;

namespace {

// The address names the registry's table parcel → socket that was received. Its values are weak;
// each keeps its parcel, so no other one has its address.
const char kReceivedKey = 0;

// [-0, +1, m]
void PushReceived(lua_State* L) { core::PushWeakTable(L, &kReceivedKey, "v"); }

// The socket has nothing to do with its parcel any more. Needs no memory. [-0, +0, -]
void DropParcel(lua_State* L, Socket& socket) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &kReceivedKey) != LUA_TNIL) {
    lua_pushnil(L);
    lua_rawsetp(L, -2, socket.parcel);
  }
  lua_pop(L, 1);
  std::exchange(socket.parcel, nullptr)->Release();
}

}  // namespace

SocketParcel::~SocketParcel() {
  const int fd = Take();
  if (fd != kNoDescriptor) close(fd);
}

RefCounted* PackSocket(lua_State* L, int index) {
  Socket* const socket = ToSocket(L, index);
  if (socket == nullptr) return nullptr;
  if (socket->parcel != nullptr) {
    // On its way already: one message may name it twice, or be made anew.
    if (socket->fd == kNoDescriptor) return socket->parcel;
    DropParcel(L, *socket);
  }
  SocketParcel* parcel = nullptr;
  try {
    parcel = new SocketParcel(*socket, std::string(socket->buffer.data(), socket->buffer.size()));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  SetDescriptor(*socket, kNoDescriptor);
  socket->buffer.Free(L);
  socket->parcel = parcel;
  return parcel;
}

void PushPackedSocket(lua_State* L, RefCounted* object) {
  auto& parcel = static_cast<SocketParcel&>(*object);
  PushReceived(L);
  if (lua_rawgetp(L, -1, &parcel) == LUA_TNIL) {
    lua_pop(L, 1);
    const Socket& sent = parcel.socket();
    MakeAllSocketClasses(L);
    Socket& socket = PushSocket(L, *sent.kind, sent.family);
    socket.wanted = sent.wanted;
    socket.block = sent.block;
    socket.total = sent.total;
    socket.received = sent.received;
    socket.sent = sent.sent;
    socket.birthday = sent.birthday;
    parcel.AddRef();
    socket.parcel = &parcel;
    // When the descriptor is taken, nothing may raise any more.
    const std::size_t size = parcel.bytes().size();
    char* const room = size == 0 ? nullptr : socket.buffer.Reserve(L, size);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, -3, &parcel);
    socket.fd = parcel.Take();
    if (socket.fd != kNoDescriptor && room != nullptr) {
      parcel.bytes().copy(room, size);
      socket.buffer.Grow(size);
    } else if (room != nullptr) {
      socket.buffer.Free(L);
    }
  }
  lua_remove(L, -2);
}

void TakeBackSocket(lua_State* L, Socket& socket) {
  auto& parcel = static_cast<SocketParcel&>(*socket.parcel);
  // Somebody else may still receive it; or it has been received here, and is in use.
  if (socket.fd != kNoDescriptor || parcel.references() != 1) return;
  const std::size_t size = parcel.bytes().size();
  char* const room = size == 0 ? nullptr : socket.buffer.Reserve(L, size);
  socket.fd = parcel.Take();
  if (socket.fd != kNoDescriptor && room != nullptr) {
    parcel.bytes().copy(room, size);
    socket.buffer.Grow(size);
  } else if (room != nullptr) {
    socket.buffer.Free(L);
  }
  DropParcel(L, socket);
}

}  // namespace shoal::bindings
