// SPDX-License-Identifier: MIT
// What a new process runs, as the core takes it.
//
// Threads: any, inside the gate.
#pragma once

#include <shoal/result.h>
#include <shoal/spawn.h>

#include <string>

#include "bindings/cpp/gate.h"
#include "runtime/message/message.h"
#include "runtime/process/spawn_options.h"

namespace shoal::embed {

// Sets what the process runs. kOk; kError (a syntax error, a file that cannot be read), kMisuse,
// kNoMemory. May throw std::bad_alloc.
[[nodiscard]] Error TakeSource(const Source& source, Gate& gate, core::SpawnOptions* options);

// Sets all that SpawnOptions says. The same.
[[nodiscard]] Error TakeOptions(const SpawnOptions& given, Gate& gate, core::SpawnOptions* options);

}  // namespace shoal::embed
