// SPDX-License-Identifier: MIT
// Starts the threads of the runtime: signals blocked, with a name, failure as a Status.
#pragma once

#include <pthread.h>

#include "runtime/base/status.h"

namespace shoal::core {

// Starts a thread that runs main(argument), with all signals blocked but `unblocked` (0: all):
// handlers of the host run on the host's threads. kNoThread if the system refuses.
Status StartThread(void* (*main)(void*), void* argument, pthread_t* thread, int unblocked = 0);

// Names the calling thread `shoal-<role><number>`, for debuggers and top; number -1 is left out.
void NameThread(const char* role, int number);

}  // namespace shoal::core
