// SPDX-License-Identifier: MIT
// How a binding waits for a file descriptor, or for a job of the blocking pool. In the form of
// suspend.h; `descriptor` stays alive by an argument of the call.
//
//   int Receive(lua_State* L) {
//     if (BeforeWait(L)) return YieldTurn(L, Receive);
//     for (;;) {
//       …recv(descriptor.fd(), …); not EAGAIN: return results…
//       switch (AwaitDescriptor(L, descriptor, Direction::kRead, deadline, WaitReason::kReadable,
//                               Describe)) {
//         case Status::kPending: return Suspend(L, 0, ReceiveDone);
//         case Status::kOk: continue;                      // it has become ready meanwhile
//         default: return …nil, "closed"…                  // or kNoMemory
//       }
//     }
//   }
//   int ReceiveDone(lua_State* L, int, lua_KContext) {
//     switch (EndWait(L)) {       // kOk: try again. kTimeout. kClosed: another task has closed it
//
// To wait for several (descriptors, keys, exits): DescriptorCase and wait/select.h. Or BeginWait,
// then Descriptor::Await with each node of task.Nodes(n), then ArmDeadline; the outcome has the
// index of the node.
//
// Threads: the owner of the process.
#pragma once

#include <lua.hpp>

#include "runtime/base/clock.h"
#include "runtime/base/ref_counted.h"
#include "runtime/base/status.h"
#include "runtime/driver/blocking_pool.h"
#include "runtime/driver/descriptor.h"
#include "runtime/driver/descriptor_case.h"
#include "runtime/process/suspend.h"
#include "runtime/wait/wait_reason.h"

namespace shoal::core {

// As Descriptor::Adopt.
[[nodiscard]] Ref<Descriptor> NewDescriptor(lua_State* L, int fd);

// Begins a wait in one place. kPending: published, with its deadline; the caller returns Suspend.
// Otherwise no wait is open: see Descriptor::Await.
Status AwaitDescriptor(lua_State* L, Descriptor& descriptor, Direction direction,
                       TimePoint deadline, WaitReason reason, DescribeWait describe);

// Gives `job` to the blocking pool. kOk: it will run, or has. kNoThread; kClosed, at the end.
Status StartJob(lua_State* L, BlockingJob& job);
// Begins a wait for the end of `job`, as above. kOk: it has ended.
Status AwaitJob(lua_State* L, BlockingJob& job, TimePoint deadline, DescribeWait describe);

}  // namespace shoal::core
