// SPDX-License-Identifier: MIT
// A Task is a coroutine of the runtime inside a process, that may wait on its own. The body of a
// process is a task as well: the one that runs on the main thread of the lua_State.
//
// Threads:   the one that runs the process; only the waiter is claimed by others.
// Ownership: shared by the process (until the task has ended) and by handles in its lua_State.
#pragma once

#include <cstdint>
#include <lua.hpp>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "runtime/base/clock.h"
#include "runtime/base/ref_counted.h"
#include "runtime/lua/traceback.h"
#include "runtime/process/exit.h"
#include "runtime/process/shield.h"
#include "runtime/wait/waiter.h"

namespace shoal::core {

class Process;

// Appends what the task waits for to `text` ("receive on channel \"jobs\", key \"a\""), from the
// arguments of the waiting C function, which stand at index 1.. of `L`. Must not change `L`.
using DescribeWait = void (*)(lua_State* L, std::string& text);

struct TaskTag {};   // the tasks of a process that have not ended
struct ReadyTag {};  // those that can go on

class Task final : public RefCounted,
                   public Waiter,
                   public ListLink<TaskTag>,
                   public ListLink<ReadyTag>,
                   public WaitPlace {
 public:
  // `thread` is anchored by `anchor`, a reference in the registry (LUA_NOREF for the main thread).
  Task(Process& process, lua_State* thread, int anchor);
  ~Task() override {
    ClearTraceback(traceback_);
    DropShields();
  }

  [[nodiscard]] Process& process() const { return process_; }
  // The base coroutine. After the end its stack holds the results, or the error value.
  [[nodiscard]] lua_State* thread() const { return thread_; }
  // "stack traceback:…" of the error that ended it; empty without one.
  [[nodiscard]] std::string_view traceback() const { return traceback_.stack(); }

  // What the running call is about to send: a Lua error on the way loses nothing of it.
  [[nodiscard]] MessageList& outbox() { return outbox_; }

  // A task is the waiter of its one wait. Nodes for publishing it in `count` places; nullptr data
  // if memory is short.
  [[nodiscard]] std::span<WaitNode> Nodes(std::size_t count) {
    if (count != 1) return ManyNodes(count);
    Unpublish(inline_node_, 0);
    return nodes_ = {&inline_node_, 1};
  }
  [[nodiscard]] std::span<WaitNode> nodes() const { return nodes_; }

  // kNone: it has not ended.
  [[nodiscard]] ExitKind end() const { return end_; }
  // kOk if it has ended, else publishes `node`, a node of another task of the process.
  Status JoinOrWait(WaitNode& node);
  void Withdraw(WaitNode& node) override;
  // As of Exit, without a message.
  Status Watch(ExitWatch& watch);
  void MarkJoined() { joined_ = true; }
  [[nodiscard]] bool joined() const { return joined_; }

  // --- The wait (see suspend.h for how bindings use it).
  void OpenWait(lua_State* L, WaitReason reason, DescribeWait describe);
  void ArmDeadline(TimePoint deadline);
  // Disarms, withdraws, and returns the outcome (kPending if it was not completed).
  Status CloseWait();
  // A cancel is due to be raised: at every wait, except while the task unwinds within its time, and
  // in a shield.
  [[nodiscard]] bool MustRaiseCancelled() const { return cancel_requested_ && !MayGoOn(); }
  // `cancelled` is about to be raised in it.
  enum class Raised : std::uint8_t {
    kInCode,       // and passes all code of the task: from here on, it cleans up
    kInFinalizer,  // and gets no further than the finalizer: then the task does not know of it
  };
  void BeginUnwinding(Raised where);
  // It cleans up: a cancel has been raised in it.
  [[nodiscard]] bool unwinding() const { return cleans_up_; }
  // See shield.h.
  void AddShield(Shield& shield);
  void RemoveShield(Shield& shield);
  [[nodiscard]] bool IsShielded() const;
  // The time for its cleanup has been cut while it waits: the wait ends by then.
  void ShortenWait();

  // Waiting, and for what.
  [[nodiscard]] bool waiting() const { return reason() != WaitReason::kNone; }
  [[nodiscard]] bool WaitsToSend() const;
  // A timer will send to where it waits.
  [[nodiscard]] bool WaitsForTimer() const;
  // "receive on channel "jobs", key "a", at script.lua:17". REQUIRES: waiting(), and the caller
  // owns the process.
  [[nodiscard]] std::string WaitText() const;

 private:
  friend class Process;
  friend class TaskEntry;

  [[nodiscard]] bool MayGoOn() const;  // though a cancel is asked for
  std::span<WaitNode> ManyNodes(std::size_t count);
  void TellWatches();
  void AppendWait(std::string& text) const;
  void DropShields() {
    while (shields_ != nullptr) RemoveShield(*shields_);
  }
  void Unpublish(WaitNode& node, std::size_t index) {
    node.waiter = this;
    node.place = nullptr;
    node.index = static_cast<std::uint32_t>(index);
    node.min = node.max = 1;
  }

  Process& process_;
  lua_State* const thread_;
  int anchor_;
  int arguments_ = 0;  // of the first resume
  bool started_ = false;
  bool failed_ = false;         // the entry function returned an error value
  std::uint8_t looks_ = 0;      // for requests, at ends of slices, since it last waited
  std::uint16_t blocking_ = 0;  // sections that block its thread (BeginBlocking)
  bool nested_ = false;         // waits in a frame that cannot yield (WaitNested)
  bool nested_done_ = false;    // … and the wait has completed
  bool cancel_requested_ = false;
  bool cleans_up_ = false;
  std::uint32_t unwinding_ = 0;  // how often `cancelled` has been raised in it
  bool joined_ = false;
  bool armed_ = false;
  ExitKind end_ = ExitKind::kNone;
  TimePoint cleanup_deadline_ = kNever;  // of a cancel: waits raise again from here on
  Shield* shields_ = nullptr;
  lua_State* waiting_thread_ = nullptr;  // the coroutine in which the waiting call was made
  DescribeWait describe_ = nullptr;
  WaitNode inline_node_;
  std::unique_ptr<WaitNode[]> more_nodes_;
  std::size_t more_nodes_size_ = 0;
  std::span<WaitNode> nodes_;  // of the present wait
  MessageList outbox_;
  List<WaitNode, WaitTag> joiners_;
  List<ExitWatch, WatchTag> watches_;  // with a reference each
  Traceback traceback_;
};

}  // namespace shoal::core
