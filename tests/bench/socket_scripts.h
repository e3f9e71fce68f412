// SPDX-License-Identifier: MIT
// The Lua files in the folder `sockets`, as strings.
//
// Threads: any thread.
#pragma once

namespace shoal::bench {

struct SocketScript {
  const char* name;
  const char* source;
};

// Ends with one without a name.
extern const SocketScript kSocketScripts[];

}  // namespace shoal::bench
