// SPDX-License-Identifier: MIT
#include "runtime/runtime.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <random>

#include "runtime/base/futex.h"

namespace shoal::core {

namespace {

// How often Lua code looks whether its slice is over, where there are no signals.
constexpr int kInstructionsBetweenLooks = 1000;

// For jobs that run at the end. Nobody wants their results any more: it is for tidiness only.
constexpr Duration kJobsGrace = std::chrono::milliseconds(100);

// How many waiters a report of a deadlock lists.
constexpr std::size_t kMostWaiters = 40;

bool HasThreads(const Runtime::Options& options) {
  return options.threads == Scheduler::Threads::kOwn;
}

int WorkersFor(const Runtime::Options& options) {
  if (options.simulated_clock != nullptr || !HasThreads(options)) return 1;
  if (options.workers > 0) return options.workers;
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof cores, &cores) != 0) return 1;
  return CPU_COUNT(&cores);
}

std::size_t QueueMemoryFor(const Runtime::Options& options) {
  if (options.queue_memory > 0) return options.queue_memory;
  const auto pages = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES));
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) / 4;
}

// In the simulator, and on threads of guests, slices end by counting.
int SignalFor(const Runtime::Options& options) {
  return options.simulated_clock != nullptr || !HasThreads(options) ? 0 : options.signal;
}

Slices SlicesFor(const Runtime::Options& options) {
  Slices slices;
  if (options.yield_at_every_instruction) {
    slices = {.kept_period = 1, .end = Slices::End::kEvery, .in_turn = 2000};
  } else if (SignalFor(options) == 0) {
    slices.kept_period = kInstructionsBetweenLooks;
  }
  return slices;
}

std::uint64_t SeedFor(const Runtime::Options& options) {
  if (options.seed != 0 || options.simulated_clock != nullptr) return options.seed;
  std::random_device device;
  return (std::uint64_t{device()} << 32U) | device();
}

Scheduler::Order OrderFor(const Runtime::Options& options) {
  return options.simulated_clock != nullptr ? Scheduler::Order::kDrawn : Scheduler::Order::kAsWoken;
}

}  // namespace

Runtime::Runtime(const Options& options)
    : options_(options),
      chance_(options.seed),
      images_(options.library, options.log,
              options.simulated_clock == nullptr ? options.state_images : StateImages::kOff,
              WorkersFor(options)),
      poller_(options.clock, WorkersFor(options)),
      channels_(options.clock, QueueMemoryFor(options), {.limit = options.channel_limit}),
      timers_(options.clock, WorkersFor(options)),
      blocking_pool_(*this, {.max_threads = options.max_blocking_threads}),
      expiries_(options.clock),
      error_reports_(options.clock, options.log),
      scheduler_({.workers = WorkersFor(options),
                  .idle_source = *this,
                  .seed = SeedFor(options),
                  .order = OrderFor(options),
                  .signal = SignalFor(options),
                  .threads = options.threads}),
      machine_{.clock = options.clock,
               .scheduler = scheduler_,
               .timers = timers_,
               .poller = poller_,
               .blocking_pool = blocking_pool_,
               .channels = channels_,
               .expiries = expiries_,
               .error_reports = error_reports_,
               .processes = processes_,
               .log = options.log,
               .library = options.library,
               .images = images_,
               .code_cache = code_cache_,
               .program_end = *this,
               .slices = SlicesFor(options),
               .max_blocked_threads = options.max_blocked_threads,
               .collect_at_switch = options.collect_at_switch} {
  machine_.workers = WorkersFor(options);
  machine_.has_threads = HasThreads(options);
  machine_.next_seed.store(SeedFor(options));
  if (options.simulated_clock == nullptr) return;
  machine_.chance = &chance_;
  machine_.arena = &arena_;
}

Runtime::~Runtime() {
  // Those that came too late. Nobody has anything of it any more, but they end.
  errands_.Run();
}

Status Runtime::Start() {
  if (machine_.simulated() && !arena_.Reserve()) return Status::kNoMemory;
  return scheduler_.Start();
}

Status Runtime::StartWithHost(lua_State* main) {
  // So nothing is at rest, and nobody looks at the script, until it is there.
  machine_.active_hosts.Add();
  Status status = Start();
  if (status == Status::kOk) {
    SpawnOptions options;
    options.script = true;
    status = Process::AdoptHost(machine_, main, std::move(options), &script_);
  }
  machine_.active_hosts.Remove();
  return status;
}

Status Runtime::SpawnScript(SpawnOptions&& options) {
  options.script = true;
  return Process::Spawn(machine_, std::move(options), &script_);
}

int Runtime::WaitForEnd() {
  static_cast<void>(WaitForEnd(Duration::max()));
  if (exit_requested_.load()) return exit_status_.load();
  const ExitKind kind = script_->exit().kind();
  const bool failed = kind == ExitKind::kError || kind == ExitKind::kCancelled;
  return failed || machine_.unjoined_errors.load() > 0 ? 1 : 0;
}

bool Runtime::WaitForEnd(Duration time) {
  const TimePoint deadline = DeadlineAfter(options_.clock.Now(), time);
  for (;;) {
    const std::uint32_t seen = events_.load();
    if (exit_requested_.load() || ended_.load()) return true;
    if (options_.clock.Now() >= deadline) return false;
    AwaitEvent(seen, deadline);
  }
}

bool Runtime::Shutdown(Duration grace) {
  const TimePoint deadline = DeadlineAfter(options_.clock.Now(), grace);
  error_reports_.Flush();
  // 1
  processes_.Refuse();
  DismissGuests();
  // 2
  const std::uint64_t exiting = exiting_process_.load();
  std::size_t left_alone = 0;
  std::size_t hosts = 0;
  for (const Ref<Process>& process : processes_.All()) {
    // A host goes on until its thread ends the program, or its state is closed.
    if (process->is_host()) ++hosts;
    if (process->is_host() || process->id() == exiting) {
      ++left_alone;
    } else {
      process->Cancel(grace);
    }
  }
  // 3
  awaits_exits_.store(true, std::memory_order_relaxed);
  for (;;) {
    const std::uint32_t seen = events_.load();
    if (processes_.size() <= left_alone || options_.clock.Now() >= deadline) break;
    AwaitEvent(seen, deadline);
  }
  // 4
  channels_.CloseAll();
  // 5
  if (machine_.simulated()) {
    // It is asked to end before it gets the baton, so it does not go on for a while.
    static_cast<void>(scheduler_.Stop(TimePoint::min()));
    baton_.Drop();
  }
  const bool stopped = scheduler_.Stop(DeadlineAfter(SteadyClock().Now(), grace / 4));
  // 6
  static_cast<void>(blocking_pool_.Stop(DeadlineAfter(SteadyClock().Now(), kJobsGrace)));
  // 7 is the destructor's.
  if (stopped) {
    error_reports_.End();
  } else {
    error_reports_.Flush();
  }
  return stopped && processes_.size() == hosts;
}

void Runtime::Poll() {
  errands_.Run();
  timers_.Poll();
  expiries_.Poll();
  error_reports_.Poll();
  poller_.Poll();
}

TimePoint Runtime::NextDeadline() {
  if (!errands_.empty()) return kNow;
  return std::min(
      {timers_.NextDeadline(), expiries_.NextDeadline(), error_reports_.NextDeadline()});
}

void Runtime::Sleep(TimePoint deadline) {
  if (machine_.simulated()) return SimulatedSleep(deadline);
  poller_.Sleep(deadline);
}

void Runtime::OnQuiescent() {
  // When the end has begun, waits in vain are no news.
  if (!script_ || ended_.load() || exit_claimed_.load()) return;
  AtRest outcome;
  {
    MutexLock lock(look_mu_);
    outcome = LookAtRest();
  }
  if (outcome == AtRest::kEnd) End();
}

Runtime::AtRest Runtime::LookAtRest() {
  if (RoomWillCome() || TimerWillCome()) return AtRest::kGoOn;
  if (script_->exit().kind() != ExitKind::kNone) return AtRest::kEnd;
  WaitReason reason = WaitReason::kNone;
  // If it does not wait any more, somebody outside has just made it ready: an interrupt.
  if (!script_->BodyWait(&reason)) return AtRest::kGoOn;
  // The body has returned, and what is left of the script are tasks that wait in vain.
  if (reason == WaitReason::kNone) return AtRest::kEnd;
  error_reports_.Flush();
  script_->EndBodyWait(reason == WaitReason::kIdle ? std::string() : DeadlockReport(reason));
  return AtRest::kGoOn;
}

std::string Runtime::ListProcesses() {
  // 1 Before anything is taken: rest is not looked at meanwhile.
  looks_.fetch_add(1);
  std::string list;
  std::size_t listed = 0;
  const std::vector<Ref<Process>> all = processes_.All();
  {
    MutexLock lock(look_mu_);
    for (; listed < all.size() && listed < kMostWaiters; ++listed) {
      all[listed]->AppendWaitsOrPhase(list);
    }
  }
  // 2 What completed has been made ready.
  looks_.fetch_sub(1);
  scheduler_.ArmedEnded();
  std::string report = std::to_string(all.size());
  report += all.size() == 1 ? " process:" : " processes:";
  report += list;
  if (listed < all.size()) {
    report += "\n  and " + std::to_string(all.size() - listed) + " more processes";
  }
  return report;
}

void Runtime::InterruptScript(int status_if_ended) {
  interrupted_status_.store(status_if_ended);
  // If it ends just now, it may not take that in; a second interrupt then finds it ended.
  if (script_->exit().kind() == ExitKind::kNone) return script_->Interrupt();
  EndInterrupted();
}

void Runtime::EndInterrupted() {
  if (exit_claimed_.exchange(true)) return;
  exit_status_.store(interrupted_status_.load());
  exit_requested_.store(true);
  NotifyHost();
}

bool Runtime::RoomWillCome() {
  if (expiries_.NextDeadline() == kNever) return false;
  for (const Ref<Process>& process : processes_.All()) {
    if (process->WaitsToSend()) return true;
  }
  return false;
}

bool Runtime::TimerWillCome() {
  if (!expiries_.Armed()) return false;
  // Mostly it is the script that waits for it.
  if (script_->WaitsForTimer()) return true;
  for (const Ref<Process>& process : processes_.All()) {
    if (process->WaitsForTimer()) return true;
  }
  return false;
}

std::string Runtime::DeadlockReport(WaitReason reason) {
  std::string report = reason == WaitReason::kQueueMemory
                           ? "queue memory limit reached, and nobody can receive:"
                           : "deadlock: nothing can run any more:";
  const std::vector<Ref<Process>> all = processes_.All();
  std::size_t listed = 0;
  for (const Ref<Process>& process : all) {
    if (listed == kMostWaiters) break;
    if (process->AppendWaits(report)) ++listed;
  }
  const std::size_t rest = all.size() - listed;
  if (rest > 0) report += "\n  and " + std::to_string(rest) + " more processes";
  return report;
}

void Runtime::Reconsider() {
  const ExitKind kind = script_ ? script_->exit().kind() : ExitKind::kNone;
  // A script that failed takes the program with it; one that returned waits for the others.
  if (kind != ExitKind::kNone && (kind != ExitKind::kDone || processes_.live() == 0)) {
    ended_.store(true);
    NotifyHost();
  } else if (awaits_exits_.load(std::memory_order_relaxed) || !has_threads()) {
    // A guest in RunFor leaves when there are no processes.
    NotifyHost();
  }
}

void Runtime::AwaitEvent(std::uint32_t seen, TimePoint deadline) {
  if (!has_threads()) return RunTillEvent(seen, deadline);
  if (!machine_.simulated()) return FutexWait(events_, seen, deadline);
  host_seen_ = seen;
  host_deadline_ = deadline;
  baton_.Pass(Baton::Side::kSecond);
  baton_.Await(Baton::Side::kFirst);
}

bool Runtime::HostIsDue() {
  return events_.load() != host_seen_ || options_.clock.Now() >= host_deadline_;
}

void Runtime::SimulatedTurn() {
  baton_.Await(Baton::Side::kSecond);
  if (HostIsDue()) {
    baton_.Pass(Baton::Side::kFirst);
    baton_.Await(Baton::Side::kSecond);
  }
  // No other thread fires what is due while this one is busy.
  Poll();
}

void Runtime::SimulatedSleep(TimePoint deadline) {
  deadline = std::min(deadline, host_deadline_);
  // What the host has to look at comes first; it is given the baton in the next turn.
  if (events_.load() != host_seen_) return;
  if (!poller_.Armed()) {
    if (deadline != kNever) return options_.simulated_clock->AdvanceTo(deadline);
    // Nothing is due, and nobody will run: something foreign has to come, such as a signal.
    return poller_.Sleep(kNever);
  }
  // Others outside take real time to answer. So while somebody waits for them, time passes as it
  // does there.
  const SteadyClock real;
  const TimePoint begin = real.Now();
  const TimePoint now = options_.clock.Now();
  poller_.Sleep(DeadlineAfter(begin, std::max(deadline - now, Duration::zero())));
  options_.simulated_clock->AdvanceTo(std::min(deadline, now + (real.Now() - begin)));
}

void Runtime::NotifyHost() {
  events_.fetch_add(1);
  FutexWake(events_, 1);
  // The worker may wait for something foreign: it has the baton, or is the host's own thread.
  if (machine_.simulated() || !has_threads()) Interrupt();
}

void Runtime::End() {
  ended_.store(true);
  NotifyHost();
}

void Runtime::RequestExit(int status, Process& caller, CloseStates close) {
  // The first call counts.
  if (exit_claimed_.exchange(true)) return;
  exit_status_.store(status);
  if (close == CloseStates::kNo) exiting_process_.store(caller.id());
  exit_requested_.store(true);
  NotifyHost();
  if (options_.host_exit != nullptr) options_.host_exit->OnExitRequested();
}

}  // namespace shoal::core
