// SPDX-License-Identifier: MIT
#include "tests/bench/epoll_floor.h"

#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <vector>

#include "runtime/base/check.h"
#include "tests/bench/peers.h"

namespace shoal::bench {

namespace {

constexpr int kBatch = 64;

void Watch(int epoll, int socket) {
  epoll_event event{.events = EPOLLIN, .data = {.fd = socket}};
  SHOAL_CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &event) == 0);
}

// Calls `on_event(socket)` for all that become readable, while `is_on()`.
template <class IsOn, class OnEvent>
void Loop(int epoll, IsOn is_on, OnEvent on_event) {
  epoll_event events[kBatch];
  while (is_on()) {
    const int count = epoll_wait(epoll, events, kBatch, -1);
    SHOAL_CHECK(count >= 0 || errno == EINTR);
    for (int i = 0; i < count; ++i) on_event(events[i].data.fd);
  }
}

}  // namespace

int EpollEcho(int connections) {
  const int epoll = epoll_create1(0);
  const int server = Listen();
  Watch(epoll, server);
  std::printf("%d\n", PortOf(server));
  std::fflush(stdout);
  int left = connections;
  Loop(
      epoll, [&] { return left > 0; },
      [&](int socket) {
        if (socket == server) {
          const int client = accept4(server, nullptr, nullptr, SOCK_NONBLOCK);
          if (client >= 0) Watch(epoll, client);
          return;
        }
        char block[kBlock];
        const ssize_t got = recv(socket, block, sizeof block, 0);
        if (got > 0) {
          SHOAL_CHECK(send(socket, block, static_cast<std::size_t>(got), MSG_NOSIGNAL) == got);
        } else if (got == 0 || errno != EAGAIN) {
          close(socket);
          --left;
        }
      });
  return 0;
}

int EpollDownload(int count, int port) {
  const int epoll = epoll_create1(0);
  std::vector<std::string> pages;
  for (int i = 0; i < count; ++i) {
    const int socket = Connect(port);
    if (static_cast<std::size_t>(socket) >= pages.size()) {
      pages.resize(static_cast<std::size_t>(socket) + 1);
    }
    Watch(epoll, socket);
  }
  std::size_t sum = 0;
  int left = count;
  Loop(
      epoll, [&] { return left > 0; },
      [&](int socket) {
        char bytes[8192];
        std::string& page = pages[static_cast<std::size_t>(socket)];
        const ssize_t got = recv(socket, bytes, sizeof bytes, 0);
        if (got > 0) {
          page.append(bytes, static_cast<std::size_t>(got));
        } else if (got == 0 || errno != EAGAIN) {
          sum += page.size();
          close(socket);
          --left;
        }
      });
  std::printf("%zu\n", sum);
  std::fflush(stdout);
  return 0;
}

}  // namespace shoal::bench
