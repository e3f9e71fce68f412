// SPDX-License-Identifier: MIT
// Waits in frames that Lua cannot suspend: a sort comparator, a gsub callback, __tostring, a
// coroutine that foreign C code resumed. The thread gives up its seat, so that no worker is lost,
// and while the wait lasts, runs the process' other tasks nested on top of the frame.
#include "runtime/base/futex.h"
#include "runtime/process/process.h"

namespace shoal::core {

namespace {
// Each level puts a whole lua_resume on the C stack; the innermost wait must end first.
constexpr int kMaxNesting = 20;
const std::atomic<std::uint32_t> kForever{0};
}  // namespace

Status Process::WaitNested(lua_State* L) {
  Task& me = *current_;
  const StateRecord saved = record_;
  Status status = nesting_ < kMaxNesting ? Status::kOk : Status::kFull;
  ++nesting_;
  me.nested_ = true;
  me.nested_done_ = false;
  // However short its wait is, a host's tasks go first, as they do before one that is suspended.
  if (is_host() && status == Status::kOk) LetTasksRun();
  while (status == Status::kOk) {
    // 1 What has completed: perhaps our own wait.
    TakeCompletions();
    if (me.nested_done_) break;
    // 2 Another task that can go on does, on top of us; but not without a seat.
    Task* task = HasSeat() ? ready_.PopFront() : nullptr;
    if (task != nullptr && Resume(*task) == Turn::kGoesOn && calls_left_ > 0 && HasSeat()) {
      continue;
    }
    // 3 Nothing can, or the turn is over: without a seat until the process is run again.
    status = RestWithoutSeat(L, me, task != nullptr || !ready_.empty() ? Rest::kTurn : Rest::kWait);
  }
  // What a hook has interrupted is claimed for that.
  if (status != Status::kOk && status != Status::kInterrupted && !me.TryClaim()) {
    // It cannot be waited for, but it has been claimed: whoever did is about to say so.
    while (!me.nested_done_) TakeCompletions();
    status = Status::kOk;
  }
  me.nested_ = false;
  --nesting_;
  ComeBackTo(me, saved);
  return status;
}

void Process::ComeBackTo(Task& task, const StateRecord& saved) {
  current_ = &task;
  record_.task = saved.task;
  record_.current = saved.current;
  record_.barrier = saved.barrier;
  record_.token = saved.token;
  record_.unwinding = task.unwinding_;
}

Status Process::BeginBlocking() {
  // A host's thread has no seat to give away, and may block.
  if (is_host()) return Status::kNoThread;
  if (machine_.blocked_threads.fetch_add(1) >= machine_.max_blocked_threads) {
    machine_.blocked_threads.fetch_sub(1);
    return Status::kFull;
  }
  // In the simulator, one thing happens at a time.
  const Status left = machine_.simulated() ? Status::kOk : machine_.scheduler.LeaveSeat();
  if (left == Status::kOk) {
    ++current_->blocking_;
    // What was asked of the seat is no concern of this thread any more.
    record_.slice_is_over = false;
    if (!machine_.simulated()) EndTurn();
  } else {
    machine_.blocked_threads.fetch_sub(1);
  }
  return left;
}

void Process::LeaveBlocking() {
  --current_->blocking_;
  machine_.blocked_threads.fetch_sub(1);
}

void Process::EndBlocking() {
  LeaveBlocking();
  // A wait meanwhile has brought one.
  if (!machine_.scheduler.HoldsSeat()) TakeSeat(Rest::kTurn);
  if (!closing_) TakeCompletions();
}

Status Process::BlockingSection(void (*section)(void*), void* argument) {
  const Status began = BeginBlocking();
  section(argument);
  if (began == Status::kOk) EndBlocking();
  return began;
}

Status Process::RestWithoutSeat(lua_State* L, Task& me, Rest rest) {
  if (is_host()) return RestAsHost(L, me, rest);
  if (!completions_.empty() && machine_.scheduler.HoldsSeat()) return Status::kOk;
  if (!machine_.has_threads && rest == Rest::kTurn) {
    // Nobody else can run on top of this frame.
    calls_left_ = TurnLength();
    return Status::kOk;
  }
  return GiveSeatAway(rest);
}

Status Process::GiveSeatAway(Rest rest) {
  if (machine_.blocked_threads.fetch_add(1) >= machine_.max_blocked_threads) {
    machine_.blocked_threads.fetch_sub(1);
    return Status::kFull;
  }
  const Status left = machine_.scheduler.LeaveSeat();
  if (left == Status::kOk) TakeSeat(rest);
  machine_.blocked_threads.fetch_sub(1);
  return left;
}

void Process::TakeSeat(Rest rest) {
  EndTurn();
  SeatTicket ticket;
  blocked_thread_ = &ticket;
  phase_.store(rest == Rest::kTurn ? ProcessPhase::kReady : ProcessPhase::kWaiting,
               std::memory_order_relaxed);
  // From here the process may be found in a queue by a worker, which hands its seat to us.
  if (rest == Rest::kTurn || !completions_.TryWait()) machine_.scheduler.ReadyTail(*this);
  if (machine_.scheduler.AwaitSeat(ticket) != Status::kOk) {
    // The runtime has been stopped under this wait. Nobody else will touch the process, and it must
    // not run on: its frames stay as they are until the program exits.
    for (;;) FutexWait(kForever, 0);
  }
  blocked_thread_ = nullptr;
  calls_left_ = TurnLength();
  BeginTurn();
  phase_.store(ProcessPhase::kRunning, std::memory_order_relaxed);
}

}  // namespace shoal::core
