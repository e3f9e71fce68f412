// SPDX-License-Identifier: MIT
// A Selector selects among channels as a task of a process does, without a process.
#pragma once

#include <atomic>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/channel/select_case.h"
#include "tests/channel/task.h"

namespace shoal::core {

// One case: receives under `key`, or sends `text` there.
struct CaseOf {
  Channel* channel;
  KeyName key;
  std::string text = {};  // empty: receive
  std::uint32_t min = 1;  // so many messages, to be received
  std::uint32_t max = 1;
};

// One select at a time. Any thread completes it; only its own thread calls its members.
class Selector final : public WaitOwner {
 public:
  Selector() = default;
  Selector(const Selector&) = delete;
  ~Selector() {
    if (!nodes_.empty()) static_cast<void>(waiter_.TryClaim());
    WithdrawAll(nodes_);
  }

  Status Select(const std::vector<CaseOf>& cases) {
    cases_.clear();
    pointers_.clear();
    nodes_ = std::vector<WaitNode>(cases.size());
    cases_.reserve(cases.size());
    for (std::size_t i = 0; i < cases.size(); ++i) {
      nodes_[i].waiter = &waiter_;
      const CaseOf& from = cases[i];
      if (from.text.empty()) {
        pointers_.push_back(&std::get<ReceiveCase>(cases_.emplace_back(
            std::in_place_type<ReceiveCase>, *from.channel, from.key, from.min, from.max)));
      } else {
        nodes_[i].messages = One(from.text);
        pointers_.push_back(&std::get<SendCase>(
            cases_.emplace_back(std::in_place_type<SendCase>, *from.channel, from.key)));
      }
    }
    return Start();
  }

  [[nodiscard]] bool completed() const { return completions_.load() != 0; }

  // After the completion. kPending: it waits again.
  Status Finish() {
    WithdrawAll(nodes_);
    Status status = waiter_.outcome();
    if (status == Status::kTimeout) return status;
    index_ = waiter_.index();
    status = pointers_[index_]->Completed(nodes_[index_], status);
    if (status == Status::kEmpty) return Start();
    return Keep(status);
  }
  // True if nothing else has claimed it, as for a deadline.
  bool Claim() {
    if (!waiter_.TryClaim()) return false;
    waiter_.SetOutcome(Status::kTimeout, Waiter::kNoNode);
    OnComplete(waiter_);
    return true;
  }

  [[nodiscard]] std::uint32_t index() const { return index_; }
  [[nodiscard]] const Texts& received() const { return received_; }
  // Whether the case has its message yet.
  [[nodiscard]] bool IsUnsent(std::size_t i) const { return !nodes_[i].messages.empty(); }
  // Its own last access is the store: then another thread may end the selector.
  void OnComplete(Waiter&) override { completions_.fetch_add(1); }

 private:
  Status Start() {
    completions_ = 0;
    received_.clear();
    return Keep(SelectOrWait(pointers_, nodes_, waiter_, &index_));
  }
  Status Keep(Status status) {
    if (status != Status::kOk) return status;
    received_ = TextsOf(waiter_.messages());
    waiter_.messages().Clear();
    return status;
  }

  Waiter waiter_{*this};
  std::vector<std::variant<ReceiveCase, SendCase>> cases_;
  std::vector<SelectCase*> pointers_;
  std::vector<WaitNode> nodes_;
  std::atomic<int> completions_{0};
  std::uint32_t index_ = 0;
  Texts received_;
};

}  // namespace shoal::core
