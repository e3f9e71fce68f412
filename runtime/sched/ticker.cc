// SPDX-License-Identifier: MIT
#include "runtime/sched/ticker.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "runtime/base/test_point.h"
#include "runtime/base/thread_start.h"

namespace shoal::core {

Status Ticker::Start() {
  const Status status = StartThread(&Ticker::Main, this, &thread_);
  started_ = status == Status::kOk;
  return status;
}

void Ticker::Stop() {
  if (!started_) return;
  started_ = false;
  stop_.store(true);
  parker_.Unpark();
  pthread_join(thread_, nullptr);
}

void* Ticker::Main(void* ticker) {
  NameThread("tick", -1);
  static_cast<Ticker*>(ticker)->Run();
  return nullptr;
}

void Ticker::Run() {
  int idle_ticks = 0;
  TimePoint last = std::chrono::steady_clock::now();
  TimePoint next = last;
  while (!stop_.load()) {
    // 1 Real time, whatever clock the timers have. A tick that comes late moves all later ones.
    next = std::max(next + kPeriod, TimePoint(std::chrono::steady_clock::now()));
    parker_.Park(next);
    const TimePoint now = std::chrono::steady_clock::now();
    const Duration passed = now - std::exchange(last, now);
    // 2 Look after the busy.
    if (idle_.activity().active > 0) {
      idle_ticks = 0;
      busy_time_.Add(static_cast<std::uint64_t>(passed.count()));
      Tick();
      continue;
    }
    // 3 Nobody has been busy for a while.
    if (++idle_ticks < kIdleTicks) continue;
    idle_ticks = 0;
    SleepUntilBusy();
    last = next = std::chrono::steady_clock::now();
  }
}

void Ticker::Tick() {
  ticks_.Add();
  // 1 What is due. A timer counted as armed until just now, so rest may have been suppressed by it.
  source_.Poll();
  rest_.ArmedEnded();
  // 2 The dispatches, all of them: how long they take is counted here.
  bool held_up = queues_.InjectStands();
  if (held_up) queues_.NoteInject();
  for (int i = 0; i < queues_.size(); ++i) {
    if (LookAt(queues_.worker(i))) held_up = true;
  }
  // 3 What was asked of processes that may be among them. A dispatch that began just before is seen
  // to last at the second tick.
  if (to_look_.exchange(false)) looks_left_ = 2;
  const Whom whom = looks_left_ == 2 ? Whom::kAll : looks_left_ == 1 ? Whom::kNew : Whom::kNobody;
  if (looks_left_ > 0) --looks_left_;
  for (int i = 0; i < queues_.size(); ++i) AskToLook(queues_.worker(i), whom);
  // 4 Somebody to take what is held up, or to sleep in the source while the timekeeper is busy.
  if (idle_.HasParked()) {
    if (held_up || (!idle_.HasTimekeeper() && source_.NeedsTimekeeper())) idle_.Notify();
    return;
  }
  // 5 Nobody there: who has had his time makes room.
  if (!held_up) return;
  for (int i = 0; i < queues_.size(); ++i) AskForRoom(queues_.worker(i));
}

void Ticker::AskForRoom(Worker& worker) {
  if (!worker.InDispatch() || worker.dispatch_ticks < kSliceTicks) return;
  if (worker.asked_ticks == 0) {
    worker.asked_ticks = worker.dispatch_ticks;
    Ask(worker, Worker::Request::kLook);
    return;
  }
  if (worker.dispatch_ticks < worker.asked_ticks + kPatience || signal_ == 0) return;
  // Once: what the signal hits may be a call that is not restarted. Without a thread for it, the
  // seat would be lost.
  if (worker.asked_to_leave || !seats_.HasSpare()) return;
  worker.asked_to_leave = true;
  Ask(worker, Worker::Request::kLeave);
}

void Ticker::AskToLook(Worker& worker, Whom whom) {
  if (!worker.InDispatch() || worker.dispatch_ticks == 0) return;
  // 1 What did not come through. Who leaves looks as well.
  if (worker.IsOpen(Worker::Request::kLook, worker.watched_turn) ||
      worker.IsOpen(Worker::Request::kLeave, worker.watched_turn)) {
    Signal(worker);
    return;
  }
  // 2 What is new.
  if (whom == Whom::kAll || (whom == Whom::kNew && worker.dispatch_ticks == 1)) {
    Ask(worker, Worker::Request::kLook);
  }
}

void Ticker::Ask(Worker& worker, Worker::Request request) {
  worker.Ask(request, worker.watched_turn);
  Signal(worker);
}

void Ticker::Signal(const Worker& worker) {
  const int thread = worker.thread_id();
  if (signal_ != 0 && thread != 0) syscall(SYS_tgkill, getpid(), thread, signal_);
}

bool Ticker::LookAt(Worker& worker) {
  const std::uint64_t turn = worker.turn();
  const bool goes_on = turn == worker.watched_turn;
  // One that has answered, and goes on since no other thread could be had for its seat, or for
  // other reasons, has a new slice.
  const bool is_new = !goes_on || (worker.asked_ticks != 0 && worker.HasAnswered());
  worker.dispatch_ticks = is_new ? 0 : worker.dispatch_ticks + 1;
  if (is_new) {
    worker.asked_ticks = 0;
    worker.asked_to_leave = false;
  }
  worker.watched_turn = turn;
  seats_.Refill(worker);
  return worker.dispatch_ticks > 0 && (worker.next() != nullptr || worker.queue.length() != 0);
}

void Ticker::SleepUntilBusy() {
  SHOAL_TEST_POINT("ticker.falls_asleep");
  asleep_.store(true);
  // A worker that has become active since sees the flag, or is seen here.
  if (idle_.activity().active == 0 && !stop_.load()) parker_.Park();
  asleep_.store(false);
}

void Ticker::Awaken() {
  if (asleep_.exchange(false)) parker_.Unpark();
}

}  // namespace shoal::core
