// SPDX-License-Identifier: MIT
// A link ties two processes: when one ends by an error, so does the other; when one is cancelled,
// so is the other; a normal end unties them. As Erlang's links, for processes that trap no exits.
#pragma once

#include "runtime/process/process.h"

namespace shoal::core {

// Links two processes of which neither has exited, or only one: that ends the other. False if
// memory is short. Any thread.
bool LinkProcesses(Process& a, Process& b);

}  // namespace shoal::core
