// SPDX-License-Identifier: MIT
#include "runtime/process/descriptor_wait.h"

#include "runtime/process/process.h"

namespace shoal::core {

namespace {

// What has been published gets its deadline; what has not is no wait.
Status Published(lua_State* L, Status status, TimePoint deadline) {
  if (status == Status::kPending) {
    ArmDeadline(L, deadline);
  } else {
    DropWait(L);
  }
  return status;
}

}  // namespace

Ref<Descriptor> NewDescriptor(lua_State* L, int fd) {
  return Descriptor::Adopt(Process::Of(L).machine().poller, fd);
}

Status AwaitDescriptor(lua_State* L, Descriptor& descriptor, Direction direction,
                       TimePoint deadline, WaitReason reason, DescribeWait describe) {
  Task& task = BeginWait(L, reason, describe);
  return Published(L, descriptor.Await(task.Nodes(1)[0], direction), deadline);
}

Status StartJob(lua_State* L, BlockingJob& job) {
  Machine& machine = Process::Of(L).machine();
  if (machine.has_threads && !machine.simulated()) return machine.blocking_pool.Start(job);
  BlockingPool::RunHere(job);
  return Status::kOk;
}

Status AwaitJob(lua_State* L, BlockingJob& job, TimePoint deadline, DescribeWait describe) {
  Task& task = BeginWait(L, WaitReason::kBlocking, describe);
  return Published(L, job.Await(task.Nodes(1)[0]), deadline);
}

}  // namespace shoal::core
