// SPDX-License-Identifier: MIT
// Tasks that wait for a module which another task of the process is loading.
#include "runtime/process/process.h"
#include "runtime/process/suspend.h"

namespace shoal::core {

int Process::WaitForLoads(lua_State* L, lua_KContext context, lua_KFunction k) {
  if (BeforeWait(L)) return YieldTurn(L, context, k);
  Task& task = BeginWait(L, WaitReason::kLoad, nullptr);
  WaitNode& node = task.Nodes(1)[0];
  node.place = this;
  loads_.PushBack(node);
  ArmDeadline(L, kNever);
  return Suspend(L, context, k);
}

void Process::EndWaitForLoads(lua_State* L) {
  // Not after a yield of the turn: there was no wait.
  if (current_->waiting()) static_cast<void>(EndWait(L));
}

void Process::LoadsChanged() {
  while (WaitNode* node = loads_.PopFront()) {
    if (!node->waiter->TryClaim()) continue;
    node->waiter->SetOutcome(Status::kOk, node->index);
    node->waiter->Notify();
  }
}

void Process::Withdraw(WaitNode& node) {
  if (node.linked()) node.Unlink();
}

}  // namespace shoal::core
