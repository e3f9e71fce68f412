// SPDX-License-Identifier: MIT
// A Call is what one process asks of another, and how that ended: with results, by an error,
// cancelled, or closed because nobody will answer it any more.
//
// The caller keeps the Call. What goes to the other side, in a message, is its Answer: where that
// is dropped, in a queue or with the process that has it, the call ends. So no call is lost,
// whoever ends when.
//
//   new ──Begin──▶ running ──End──▶ ended
//    └──────Cancel, End, Drop────────▲     (Cancel of a running call asks its process)
//
// Threads:   any thread may call any member, except those of the owner, which is the thread that
//            runs the process which answers.
// Ownership: shared by handles of the caller and the answer.
// Locks:     mu_ (kLeaf); nothing is done under it but to read and set fields.
#pragma once

#include <string>
#include <utility>

#include "runtime/base/clock.h"
#include "runtime/base/intrusive_list.h"
#include "runtime/base/mutex.h"
#include "runtime/base/ref_counted.h"
#include "runtime/message/message.h"
#include "runtime/process/exit.h"

namespace shoal::core {

class Process;
class Task;

struct CallTag {};  // the calls that a process has been asked to cancel

class Call final : public ExitWatch, public ListLink<CallTag> {
 public:
  // `arguments`: what is called, and with what.
  explicit Call(MessagePtr arguments);
  ~Call() override;

  // How it ended; the messages are those of a process. After a kError without a message look at
  // closed().
  [[nodiscard]] Exit& exit() { return exit_; }
  // REQUIRES: it has ended.
  [[nodiscard]] bool closed() const { return closed_; }
  // A process has begun with it.
  [[nodiscard]] bool begun();

  // Ends it, if no process has begun with it; else cancels the task that runs it, which has until
  // `cleanup_deadline` for its cleanup.
  void Cancel(TimePoint cleanup_deadline);

  // The answer has come to `process`: if it is dropped from now on, the call ends as that does.
  void Arrive(Process& process);
  // Ends it, if it has not ended.
  void End(ExitKind kind, MessagePtr message, std::string traceback);
  // Nobody will answer. The owner, if it has arrived.
  void Drop();
  // … nor would anybody: the pool has been closed.
  void Close();

  // --- The owner.
  // The task runs it from now on. False: it has ended, by a cancel.
  [[nodiscard]] bool Begin(Task& task);
  // The task does not run it any more. True: a cancel has been asked for.
  bool Leave();
  [[nodiscard]] const Message& arguments() const { return *arguments_; }
  // Between Begin and Leave, else null.
  [[nodiscard]] Task* task() const { return task_; }
  [[nodiscard]] TimePoint cleanup_deadline();

  // ExitWatch: of the process that had the answer.
  void OnExit(ExitKind kind, const Message* message, const Ref<Failure>& failure) override;
  [[nodiscard]] bool joins() const override { return true; }

 private:
  enum class Ended : bool { kNow, kBefore };
  [[nodiscard]] Ended MarkEnded();
  void Publish(ExitKind kind, MessagePtr message, std::string traceback);

  Exit exit_;
  const MessagePtr arguments_;
  bool closed_ = false;  // written before the exit is set, by whoever sets it
  Task* task_ = nullptr;
  Mutex mu_{LockRank::kLeaf};
  bool ended_ SHOAL_GUARDED_BY(mu_) = false;
  bool begun_ SHOAL_GUARDED_BY(mu_) = false;
  bool cancel_asked_ SHOAL_GUARDED_BY(mu_) = false;
  TimePoint cleanup_deadline_ SHOAL_GUARDED_BY(mu_) = kNever;
  Ref<Process> process_ SHOAL_GUARDED_BY(mu_);
};

// The right to answer a call, which stands in a message or belongs to a process.
//
// Threads: as RefCounted. The last reference goes where the answer is: with the message, or on the
// thread that runs the process.
class Answer final : public RefCounted {
 public:
  explicit Answer(Call& call) : RefCounted(Kind::kAnswer), call_(Ref<Call>::Share(&call)) {}
  ~Answer() override { call_->Drop(); }
  [[nodiscard]] Call& call() const { return *call_; }

 private:
  const Ref<Call> call_;
};

// A message of one value, the answer of `call`; nullptr if memory is short. If it is dropped, the
// call is closed.
MessagePtr MakeAnswerMessage(Call& call);

}  // namespace shoal::core
