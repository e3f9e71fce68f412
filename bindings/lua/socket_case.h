// SPDX-License-Identifier: MIT
// The case of a shoal.select in which a socket is ready, as socket.select says: what stands in its
// buffer can be read, too. Nothing is taken from it.
//
// Threads:   the owner of the process.
// Ownership: the socket stays alive by the stack of the call. One reference to its descriptor,
// which
//            another task may close meanwhile, till Release.
#pragma once

#include <lua.hpp>

#include "bindings/lua/socket_object.h"
#include "runtime/process/descriptor_wait.h"
#include "runtime/wait/select.h"

namespace shoal::bindings {

class SocketCase final : public core::SelectCase {
 public:
  // Takes a reference over. nullptr: the socket has no descriptor, and is closed.
  SocketCase(Socket& socket, core::Descriptor* descriptor, core::Direction direction)
      : socket_(socket), descriptor_(descriptor), direction_(direction) {}
  void Release();

  core::Status Try(core::WaitNode& node) override;
  core::Attempt Publish(core::WaitNode& node) override;
  core::Status Completed(core::WaitNode& node, core::Status outcome) override;

  // Appends "read on tcp{client} 127.0.0.1:80".
  void Describe(std::string& text) const;

 private:
  [[nodiscard]] bool HasBytes() const {
    return direction_ == core::Direction::kRead && !socket_.buffer.empty();
  }
  [[nodiscard]] core::DescriptorCase Below() const { return {*descriptor_, direction_}; }

  Socket& socket_;
  core::Descriptor* descriptor_;
  const core::Direction direction_;
};

}  // namespace shoal::bindings
