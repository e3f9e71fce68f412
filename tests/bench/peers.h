// SPDX-License-Identifier: MIT
// The other ends of what is measured with sockets. Their own time does not count.
#pragma once

#include <functional>
#include <vector>

namespace shoal::bench {

// The size of what is echoed.
constexpr int kBlock = 64;

// A socket that listens on 127.0.0.1, and its port.
int Listen();
int PortOf(int socket);
// A socket that does not block any more.
int Connect(int port);

// Opens so many connections to each of the ports; sends a block on each, and the next one when it
// is back, until so many have come back on each. Calls `at_rest` while all are open and nothing is
// on its way, then closes them. Returns the nanoseconds of the trips, without the connections.
double PlayEcho(const std::vector<int>& ports, int connections, long trips,
                const std::function<void()>& at_rest);

// A page that trickles: so many parts of that size to each of the clients, one every few
// milliseconds.
constexpr int kParts = 20;
constexpr int kPartSize = 1024;
constexpr int kPartMilliseconds = 5;
// Accepts so many clients on `server`, and serves them. A Launch.
int Trickle(int server, int clients);

}  // namespace shoal::bench
