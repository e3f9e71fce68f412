// SPDX-License-Identifier: MIT
// A SocketParcel is a socket on its way from one process to another, in a message. Sockets move:
// the one that is sent is closed from then on, as far as its process can tell.
//
// The socket keeps its parcel. When nobody else has it any more, the socket looks what has become
// of it: if it has not been received (the send has failed), the socket is what it was.
//
// Threads:   the sender's until it is in a message; then whoever decodes the message. `fd` is taken
//            once.
// Ownership: shared by the socket that was sent, messages, and the socket that was received. Closes
//            the descriptor when nobody has taken it.
#pragma once

#include <atomic>
#include <lua.hpp>
#include <string>

#include "bindings/lua/socket_object.h"
#include "runtime/base/ref_counted.h"

namespace shoal::bindings {

class SocketParcel final : public core::RefCounted {
 public:
  SocketParcel(const Socket& socket, std::string bytes)
      : RefCounted(Kind::kSocket), socket_(socket), bytes_(std::move(bytes)), fd_(socket.fd) {}

  // The descriptor, once; then kNoDescriptor. exchange: the sender, and those to whom several
  // messages (or a message twice) bring it, may come at the same time.
  [[nodiscard]] int Take() { return fd_.exchange(kNoDescriptor); }
  // What else there is to it. They never change.
  [[nodiscard]] const Socket& socket() const { return socket_; }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  ~SocketParcel() override;

  const Socket socket_;
  const std::string bytes_;
  std::atomic<int> fd_;
};

// The parcel for the socket at `index`; nullptr if that is none, or memory is short. Who waits for
// the socket is told that it is closed. Not counted. [-0, +0, -]
core::RefCounted* PackSocket(lua_State* L, int index);
// Pushes the socket of a parcel: the same one for the same parcel. [-0, +1, m]
void PushPackedSocket(lua_State* L, core::RefCounted* parcel);
// The socket takes back what was sent and not received. REQUIRES: socket.parcel. [-0, +0, m]
void TakeBackSocket(lua_State* L, Socket& socket);

}  // namespace shoal::bindings
