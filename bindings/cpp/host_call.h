// SPDX-License-Identifier: MIT
// Calls that threads of the program make of processes: what a future of Lua does, in HostWaits.
//
// Threads: any. All REQUIRE: inside the gate.
#pragma once

#include <shoal/result.h>
#include <shoal/timeout.h>
#include <shoal/values.h>

#include <span>

#include "bindings/cpp/gate.h"
#include "runtime/base/clock.h"
#include "runtime/base/ref_counted.h"
#include "runtime/channel/channel.h"
#include "runtime/channel/key_name.h"
#include "runtime/process/call.h"
#include "runtime/process/exit.h"

namespace shoal::embed {

// A call of these values, the first of which says what is called; null with `error`. May throw
// std::bad_alloc.
[[nodiscard]] core::Ref<core::Call> MakeCall(Gate& gate, std::span<const Value> values,
                                             Error* error);
// Sends the answer of `call`, and waits for room as long as `timeout` says. kOk: somebody will end
// it. kFull (only if it may not wait), kTimeout, kClosed, kNoMemory, kMisuse: the call has ended.
[[nodiscard]] Error SendCall(Gate& gate, core::Channel& channel, const core::KeyName& key,
                             core::Call& call, Timeout timeout);

// Waits for the end of a process or call, until `deadline`, which is that of `timeout`. kOk,
// kTimeout, kClosed (the runtime ends), kMisuse.
[[nodiscard]] Error AwaitExit(Gate& gate, core::Exit& exit, Timeout timeout,
                              core::TimePoint deadline);

// Why a process or call that has ended by kError did.
[[nodiscard]] Error FailureOf(Gate& gate, core::Exit& exit);
// What an ended call has come to. REQUIRES: it has ended.
[[nodiscard]] Result<Values> ResultOf(Gate& gate, core::Call& call);

}  // namespace shoal::embed
