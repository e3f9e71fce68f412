// SPDX-License-Identifier: MIT
// What the scripts with sockets do, written in C for epoll and nothing else: the floor.
//
// Each is a Launch, and runs in a process of its own.
#pragma once

namespace shoal::bench {

// Echoes what comes on so many connections, until all are closed. Prints its port.
int EpollEcho(int connections);
// So many downloads from a port. Prints how many bytes came.
int EpollDownload(int count, int port);

}  // namespace shoal::bench
