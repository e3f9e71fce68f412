// SPDX-License-Identifier: MIT
// What the core calls an outcome, as the program is told.
//
// Threads: any.
#pragma once

#include <shoal/key.h>
#include <shoal/result.h>
#include <shoal/status.h>
#include <shoal/timeout.h>

#include "bindings/cpp/gate.h"
#include "runtime/base/status.h"
#include "runtime/channel/key_name.h"

namespace shoal::embed {

[[nodiscard]] Status FromCore(core::Status status);
// REQUIRES: not kOk.
[[nodiscard]] Error ErrorOf(core::Status status);

// A call would wait on a thread that runs a process.
[[nodiscard]] Error NoWaitHere();

// What is wrong with the timeout, if something is.
[[nodiscard]] Error CheckTimeout(Timeout timeout);

// The name for `key`, which looks at the same. kOk, or what is wrong with it. REQUIRES: inside.
[[nodiscard]] Error ToKeyName(const Key& key, Gate& gate, core::KeyName* name);
// As a value. May throw std::bad_alloc.
[[nodiscard]] Value FromKeyName(const core::KeyName& name, Gate& gate);

}  // namespace shoal::embed
