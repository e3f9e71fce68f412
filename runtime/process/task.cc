// SPDX-License-Identifier: MIT
#include "runtime/process/task.h"

#include <algorithm>
#include <new>

#include "runtime/base/enough_memory.h"
#include "runtime/process/process.h"

namespace shoal::core {

namespace {
// How the names of chunks begin that are built in.
constexpr std::string_view kBuiltInName = "=[shoal.";
}  // namespace

Task::Task(Process& process, lua_State* thread, int anchor)
    : Waiter(process), process_(process), thread_(thread), anchor_(anchor) {}

std::span<WaitNode> Task::ManyNodes(std::size_t count) {
  if (count > more_nodes_size_) {
    more_nodes_.reset(new (std::nothrow) WaitNode[count]);
    more_nodes_size_ = more_nodes_ ? count : 0;
    if (!more_nodes_) return {};
  }
  nodes_ = {more_nodes_.get(), count};
  for (std::size_t i = 0; i < count; ++i) Unpublish(nodes_[i], i);
  return nodes_;
}

Status Task::JoinOrWait(WaitNode& node) {
  if (end_ != ExitKind::kNone) return Status::kOk;
  node.place = this;
  joiners_.PushBack(node);
  return Status::kPending;
}

Status Task::Watch(ExitWatch& watch) {
  watch.AddRef();
  watches_.PushBack(watch);
  if (end_ == ExitKind::kNone) return Status::kPending;
  TellWatches();
  return Status::kOk;
}

void Task::TellWatches() {
  while (const auto watch = Ref<ExitWatch>::Adopt(watches_.PopFront())) {
    if (watch->joins()) joined_ = true;
    watch->OnExit(end_, nullptr, Ref<Failure>());
  }
}

void Task::Withdraw(WaitNode& node) {
  if (node.linked()) node.Unlink();
}

void Task::OpenWait(lua_State* L, WaitReason reason, DescribeWait describe) {
  if (waiting()) static_cast<void>(CloseWait());
  waiting_thread_ = L;
  describe_ = describe;
  nodes_ = {};
  Open(reason);
}

void Task::ArmDeadline(TimePoint deadline) {
  // A cancelled task may wait to clean up, but not for ever.
  if (cancel_requested_ && cleanup_deadline_ < deadline && !IsShielded()) {
    deadline = cleanup_deadline_;
  }
  if (deadline == kNever) return;
  armed_ = true;
  Machine& machine = process_.machine();
  machine.timers.Arm(*this, deadline, machine.scheduler.CurrentWorker());
  // Not before: a thread that has just lost its seat is not looked after by its worker.
  machine.NoteDeadline(deadline);
}

void Task::ShortenWait() {
  // It ends before that anyway.
  if (armed_ && deadline() <= cleanup_deadline_) return;
  if (armed_) process_.machine().timers.Disarm(*this);
  armed_ = false;
  // Else it has completed: that is about to be told.
  if (!claimed()) ArmDeadline(cleanup_deadline_);
}

Status Task::CloseWait() {
  if (armed_) {
    process_.machine().timers.Disarm(*this);
    armed_ = false;
  }
  const Status result = outcome();
  for (WaitNode& node : nodes_) {
    if (node.place == nullptr) continue;
    // Whoever completed the wait through a node has unlinked that one.
    const bool taken = result == Status::kOk && node.index == index();
    if (!taken) node.place->Withdraw(node);
    node.place = nullptr;
  }
  Shut();
  if (result == Status::kTimeout && MustRaiseCancelled()) return Status::kCancelled;
  return result;
}

bool Task::MayGoOn() const {
  // A shield is against those who cancel, not against limits.
  if (IsShielded() && process_.end_text().empty()) return true;
  return cleans_up_ && process_.machine().clock.Now() < cleanup_deadline_;
}

void Task::BeginUnwinding(Raised where) {
  RecordOf(thread_).unwinding = ++unwinding_;
  if (where == Raised::kInFinalizer) return;
  cleans_up_ = true;
  process_.LimitCleanup(cleanup_deadline_);
}

bool Task::WaitsToSend() const {
  if (reason() != WaitReason::kSelect) return reason() == WaitReason::kSend;
  return std::any_of(nodes_.begin(), nodes_.end(),
                     [](const WaitNode& node) { return !node.messages.empty(); });
}

bool Task::WaitsForTimer() const {
  return waiting() && std::any_of(nodes_.begin(), nodes_.end(), [](const WaitNode& node) {
           return node.place != nullptr && node.place->IsFed();
         });
}

std::string Task::WaitText() const {
  std::string text;
  const int top = lua_gettop(waiting_thread_);
  // Without memory for it, what there is: the task must be as it was.
  if (!EnoughMemory([&] { AppendWait(text); })) lua_settop(waiting_thread_, top);
  return text;
}

void Task::AppendWait(std::string& text) const {
  text = ToString(reason());
  if (describe_ != nullptr) describe_(waiting_thread_, text);
  lua_Debug caller;
  // What the library itself has in Lua is not where the script waits.
  for (int level = 1; lua_getstack(waiting_thread_, level, &caller) != 0; ++level) {
    lua_getinfo(waiting_thread_, "Sl", &caller);
    if (std::string_view(caller.source).substr(0, kBuiltInName.size()) == kBuiltInName) continue;
    if (caller.currentline <= 0) continue;  // a function in C, such as pcall
    text.append(", at ").append(caller.short_src).append(":");
    text.append(std::to_string(caller.currentline));
    break;
  }
}

}  // namespace shoal::core
