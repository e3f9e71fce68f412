// SPDX-License-Identifier: MIT
#include "bindings/lua/socket_case.h"

#include <utility>

#include "bindings/lua/socket_address.h"

namespace shoal::bindings {

using core::Attempt;
using core::Direction;
using core::Status;
using core::WaitNode;

void SocketCase::Release() {
  if (descriptor_ != nullptr) std::exchange(descriptor_, nullptr)->Release();
}

Status SocketCase::Try(WaitNode& node) {
  if (descriptor_ == nullptr) return Status::kClosed;
  // As it was when the call began, or closed since: a new file of the socket is another one.
  if (HasBytes() && descriptor_->fd() >= 0) return Status::kOk;
  return Below().Try(node);
}

// REQUIRES: tried, in the same turn; so the buffer is empty.
Attempt SocketCase::Publish(WaitNode& node) { return Below().Publish(node); }

Status SocketCase::Completed(WaitNode& node, Status outcome) {
  // Another task may have read what came, and left the rest.
  if (outcome == Status::kOk && HasBytes()) return Status::kOk;
  return Below().Completed(node, outcome);
}

void SocketCase::Describe(std::string& text) const {
  text += direction_ == Direction::kRead ? "read on " : "write on ";
  text += socket_.kind->name;
  AppendAddress(socket_, text);
}

}  // namespace shoal::bindings
