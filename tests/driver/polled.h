// SPDX-License-Identifier: MIT
// What the tests of waits outside share: sockets, and waiters with owners of their own.
#pragma once

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <string>

#include "runtime/driver/descriptor.h"
#include "runtime/driver/poller.h"
#include "runtime/wait/waiter.h"
#include "tests/support/eventually.h"

namespace shoal::core {

// A wait for one thing, with a node.
class OneWait final : public WaitOwner {
 public:
  OneWait() { node.waiter = &waiter; }
  ~OneWait() { Withdraw(); }

  void Open(std::uint32_t index = 0) {
    completed.store(0);
    node.place = nullptr;
    node.index = index;
    waiter.Open(WaitReason::kReadable);
  }
  void Withdraw() {
    if (node.place != nullptr) node.place->Withdraw(node);
    node.place = nullptr;
  }
  Status Await(Descriptor& descriptor, Direction direction) {
    Open();
    return descriptor.Await(node, direction);
  }
  void OnComplete(Waiter&) override { completed.fetch_add(1); }
  // REQUIRES: it has completed, or nobody completes it any more.
  [[nodiscard]] Status outcome() const { return waiter.outcome(); }

  Waiter waiter{*this};
  WaitNode node;
  std::atomic<int> completed{0};
};

// Two connected sockets; the first one as a Descriptor.
class SocketPair {
 public:
  explicit SocketPair(Poller& poller, int type = SOCK_STREAM) {
    int fds[2];
    REQUIRE(socketpair(AF_UNIX, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0);
    near = Descriptor::Adopt(poller, fds[0]);
    REQUIRE(near);
    far = fds[1];
  }
  ~SocketPair() { CloseFar(); }
  SocketPair(const SocketPair&) = delete;
  SocketPair& operator=(const SocketPair&) = delete;

  void CloseFar() {
    if (far >= 0) ::close(far);
    far = -1;
  }
  // From the far end; true if all has been written.
  bool Send(const std::string& text) const {
    return ::send(far, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
  }
  // At the near end: "" if there is nothing.
  [[nodiscard]] std::string Receive() const {
    char bytes[256];
    const ssize_t count = ::recv(near->fd(), bytes, sizeof bytes, 0);
    return count > 0 ? std::string(bytes, static_cast<std::size_t>(count)) : std::string();
  }
  // Till the near end would block.
  void FillNear() const {
    const std::string block(4096, 'x');
    while (::send(near->fd(), block.data(), block.size(), MSG_NOSIGNAL) > 0) {
    }
  }
  void EmptyFar() const {
    char bytes[4096];
    while (::recv(far, bytes, sizeof bytes, 0) > 0) {
    }
  }

  Ref<Descriptor> near;
  int far = -1;
};

}  // namespace shoal::core
