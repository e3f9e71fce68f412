// SPDX-License-Identifier: MIT
#include "runtime/wait/select.h"

#include <shoal/select.h>

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bindings/cpp/cell.h"
#include "bindings/cpp/host_call.h"
#include "bindings/cpp/host_wait.h"
#include "bindings/cpp/outcome.h"
#include "bindings/cpp/value_reader.h"
#include "bindings/cpp/value_writer.h"
#include "runtime/base/enough_memory.h"
#include "runtime/channel/select_case.h"
#include "runtime/process/call.h"
#include "runtime/process/end_case.h"
#include "runtime/process/process.h"

namespace shoal {

using embed::Entry;
using embed::Gate;

namespace {

Error InCase(std::size_t i, const Error& error) {
  return Error(error.status(), "case " + std::to_string(i) + ": " + std::string(error.message()));
}

// What its handle has to be.
Handle::Kind KindOf(const Case& one) {
  switch (one.kind()) {
    case Case::Kind::kProcess:
      return Handle::Kind::kProcess;
    case Case::Kind::kCall:
      return Handle::Kind::kOther;
    default:
      return Handle::Kind::kChannel;
  }
}

// Why it is not.
Error ErrorOf(const Case& one, const Entry& entry) {
  if (one.kind() != Case::Kind::kCall || one.handle().cell() != nullptr) return entry.error();
  return Error(Status::kMisuse, "this future is of no call");
}

// The cases of one Select as the core has them, in the order of the list.
//
// Threads:   that of the call.
// Ownership: what handles stand for is kept by the caller's cases, and by being inside the gate.
class Cases {
 public:
  Cases(Gate& gate, core::Waiter& waiter) : gate_(gate), waiter_(waiter) {}

  // kOk, or what is wrong with which. May throw std::bad_alloc.
  Error Take(std::span<const Case> list) {
    list_ = list;
    cases_.reserve(list.size());
    pointers_.reserve(list.size());
    nodes_ = std::make_unique<core::WaitNode[]>(list.size());
    for (std::size_t i = 0; i < list.size(); ++i) {
      nodes_[i].waiter = &waiter_;
      Error error = Add(list[i], nodes_[i]);
      if (error.status() != Status::kOk) return InCase(i, error);
    }
    for (auto& one : cases_) {
      pointers_.push_back(std::visit([](auto& held) -> core::SelectCase* { return &held; }, one));
    }
    return Error();
  }

  [[nodiscard]] std::span<core::SelectCase* const> all() const { return pointers_; }
  [[nodiscard]] std::span<core::WaitNode> nodes() { return {nodes_.get(), list_.size()}; }
  // The wait has been completed through this case: see SelectCase.
  core::Status Completed(std::uint32_t index, core::Status outcome) {
    return pointers_[index]->Completed(nodes_[index], outcome);
  }

  // What the case that has happened returns.
  Result<Values> ResultOf(std::uint32_t index, core::Status status) {
    if (status != core::Status::kOk) return embed::ErrorOf(status);
    const Handle& handle = list_[index].handle();
    switch (list_[index].kind()) {
      case Case::Kind::kReceive:
        return Deliver(index);
      case Case::Kind::kSend:
        return Values();
      case Case::Kind::kProcess:
        return Process(handle).Join(std::chrono::seconds(0));
      case Case::Kind::kCall:
        break;
    }
    return embed::ResultOf(gate_, Object<core::Call>(list_[index]));
  }

 private:
  template <class T>
  static T& Object(const Case& one) {
    return static_cast<T&>(*one.handle().cell()->object());
  }

  // Whether the handle is of its kind, and of this runtime.
  Error Check(const Case& one) const {
    const Entry entry(one.handle(), KindOf(one));
    if (!entry) return ErrorOf(one, entry);
    if (&entry.gate() != &gate_) {
      return Error(Status::kMisuse, "the handle is one of another runtime");
    }
    return Error();
  }

  Error Add(const Case& one, core::WaitNode& node) {
    Error error = Check(one);
    if (error.status() != Status::kOk) return error;
    switch (one.kind()) {
      case Case::Kind::kProcess:
        cases_.emplace_back(std::in_place_type<core::EndCase<core::Exit>>,
                            Object<core::Process>(one).exit());
        return Error();
      case Case::Kind::kCall:
        cases_.emplace_back(std::in_place_type<core::EndCase<core::Exit>>,
                            Object<core::Call>(one).exit());
        return Error();
      default:
        return AddOfChannel(one, node);
    }
  }

  Error AddOfChannel(const Case& one, core::WaitNode& node) {
    core::KeyName key = core::KeyName::Boolean(false);
    Error error = embed::ToKeyName(one.key(), gate_, &key);
    if (error.status() != Status::kOk) return error;
    auto& channel = Object<core::Channel>(one);
    if (one.kind() == Case::Kind::kReceive) {
      cases_.emplace_back(std::in_place_type<core::ReceiveCase>, channel, key);
      return Error();
    }
    if (one.values().empty() || one.values()[0].is_nil()) {
      return Error(Status::kMisuse, "the first value of a message must not be nil");
    }
    core::MessagePtr message = embed::EncodeValues(one.values().vector(), gate_, &error);
    if (message == nullptr) return error;
    node.messages.PushBack(std::move(message));
    cases_.emplace_back(std::in_place_type<core::SendCase>, channel, key);
    return Error();
  }

  // What there is no memory for goes back.
  Result<Values> Deliver(std::uint32_t index) {
    core::MessageList& messages = waiter_.messages();
    Result<Values> values = embed::DecodeValues(*messages.front(), gate_);
    if (values == Status::kNoMemory) {
      core::KeyName key = core::KeyName::Boolean(false);
      static_cast<void>(embed::ToKeyName(list_[index].key(), gate_, &key));
      Object<core::Channel>(list_[index]).PutBack(key, messages);
    }
    messages.Clear();
    return values;
  }

  Gate& gate_;
  core::Waiter& waiter_;
  std::span<const Case> list_;
  std::vector<std::variant<core::ReceiveCase, core::SendCase, core::EndCase<core::Exit>>> cases_;
  std::vector<core::SelectCase*> pointers_;
  std::unique_ptr<core::WaitNode[]> nodes_;
};

// One case happens: kOk, with its index and its status. kTimeout, kClosed: none has.
core::Status Await(Cases& cases, embed::HostWait& wait, core::TimePoint deadline,
                   std::uint32_t* index, core::Status* status) {
  for (;;) {
    // 1 The first that is ready.
    *status = core::SelectOrWait(cases.all(), cases.nodes(), wait.waiter(), index);
    if (*status != core::Status::kPending) return core::Status::kOk;
    // 2 The first that becomes ready; or none, if it came through no node.
    const core::Status outcome = wait.Await(deadline, cases.nodes());
    *index = wait.waiter().index();
    if (*index == core::Waiter::kNoNode) return outcome;
    *status = cases.Completed(*index, outcome);
    if (*status != core::Status::kEmpty) return core::Status::kOk;
    // 3 What there was room for has become something else.
  }
}

Result<Selected> SelectIn(Gate& gate, std::span<const Case> list, Timeout timeout) {
  const core::TimePoint deadline = embed::DeadlineOf(timeout);
  embed::HostWait wait(gate);
  Cases cases(gate, wait.waiter());
  Error error = cases.Take(list);
  if (error.status() != Status::kOk) return error;
  std::uint32_t index = 0;
  core::Status status = core::TrySelect(cases.all(), cases.nodes(), &index);
  if (status == core::Status::kEmpty) {
    if (timeout.time() == core::Duration::zero()) return Status::kTimeout;
    if (!embed::HostWait::IsAllowedHere()) return embed::NoWaitHere();
    const core::Status outcome = Await(cases, wait, deadline, &index, &status);
    if (outcome != core::Status::kOk) return embed::ErrorOf(outcome);
  }
  if (status == core::Status::kNoMemory) return Status::kNoMemory;
  return Selected{index, cases.ResultOf(index, status)};
}

}  // namespace

Result<Selected> Select(std::span<const Case> cases, Timeout timeout) noexcept {
  Error error = embed::CheckTimeout(timeout);
  if (error.status() == Status::kOk && cases.empty()) {
    error = Error(Status::kMisuse, "there is no case");
  }
  if (error.status() != Status::kOk) return error;
  Result<Selected> selected = Status::kNoMemory;
  static_cast<void>(core::EnoughMemory([&] {
    const Entry entry(cases[0].handle(), KindOf(cases[0]));
    selected = entry ? SelectIn(entry.gate(), cases, timeout)
                     : Result<Selected>(InCase(0, ErrorOf(cases[0], entry)));
  }));
  return selected;
}

}  // namespace shoal
