// SPDX-License-Identifier: MIT
#include "tests/bench/peers.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "runtime/base/check.h"
#include "tests/bench/stopwatch.h"

namespace shoal::bench {

namespace {

constexpr int kBatch = 64;
constexpr int kPatienceMilliseconds = 60000;

sockaddr_in LocalAddress(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// The connections of a play.
class Play {
 public:
  Play(const std::vector<int>& ports, int connections) {
    for (const int port : ports) {
      for (int i = 0; i < connections; ++i) {
        const int socket = Connect(port);
        epoll_event event{.events = EPOLLIN, .data = {.u64 = players_.size()}};
        SHOAL_CHECK(epoll_ctl(epoll_, EPOLL_CTL_ADD, socket, &event) == 0);
        players_.push_back({socket, 0, 0});
      }
    }
  }
  ~Play() {
    for (const Player& each : players_) close(each.socket);
    close(epoll_);
  }
  Play(const Play&) = delete;
  Play& operator=(const Play&) = delete;

  void Run(long trips) {
    std::size_t playing = players_.size();
    for (Player& each : players_) {
      each.left = trips;
      Serve(each);
    }
    epoll_event events[kBatch];
    while (playing > 0) {
      const int count = epoll_wait(epoll_, events, kBatch, kPatienceMilliseconds);
      SHOAL_CHECK(count > 0);
      for (int i = 0; i < count; ++i) {
        Player& player = players_[events[i].data.u64];
        if (!Take(player)) continue;
        if (--player.left > 0) {
          Serve(player);
        } else {
          --playing;
        }
      }
    }
  }

 private:
  struct Player {
    int socket;
    long left;
    ssize_t got;  // of the block that is on its way back
  };

  static void Serve(Player& player) {
    static const char kBytes[kBlock] = {};
    player.got = 0;
    SHOAL_CHECK(send(player.socket, kBytes, kBlock, MSG_NOSIGNAL) == kBlock);
  }
  // Whether the whole block is back.
  static bool Take(Player& player) {
    char bytes[kBlock];
    const ssize_t got = recv(player.socket, bytes, sizeof bytes, 0);
    SHOAL_CHECK(got > 0);
    player.got += got;
    return player.got == kBlock;
  }

  const int epoll_ = epoll_create1(EPOLL_CLOEXEC);
  std::vector<Player> players_;
};

}  // namespace

int Listen() {
  const int server = socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in address = LocalAddress(0);
  constexpr int kBacklog = 4096;
  SHOAL_CHECK(bind(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  SHOAL_CHECK(listen(server, kBacklog) == 0);
  return server;
}

int PortOf(int socket) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  SHOAL_CHECK(getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  return ntohs(address.sin_port);
}

int Connect(int port) {
  const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = LocalAddress(port);
  SHOAL_CHECK(connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  const int yes = 1;
  setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  SHOAL_CHECK(fcntl(client, F_SETFL, O_NONBLOCK) == 0);
  return client;
}

double PlayEcho(const std::vector<int>& ports, int connections, long trips,
                const std::function<void()>& at_rest) {
  Play play(ports, connections);
  // All have been accepted then.
  play.Run(1);
  const Stopwatch watch;
  if (trips > 1) play.Run(trips - 1);
  const double passed = watch.wall();
  at_rest();
  return passed;
}

int Trickle(int server, int clients) {
  std::vector<int> sockets;
  for (int i = 0; i < clients; ++i) sockets.push_back(accept(server, nullptr, nullptr));
  const std::string part(kPartSize, 'x');
  for (int i = 0; i < kParts; ++i) {
    poll(nullptr, 0, kPartMilliseconds);
    for (const int each : sockets) {
      SHOAL_CHECK(send(each, part.data(), part.size(), MSG_NOSIGNAL) == kPartSize);
    }
  }
  for (const int each : sockets) close(each);
  return 0;
}

}  // namespace shoal::bench
