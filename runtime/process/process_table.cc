// SPDX-License-Identifier: MIT
#include "runtime/process/process_table.h"

#include <algorithm>
#include <new>

#include "runtime/process/process.h"

namespace shoal::core {

ProcessTable::ProcessTable() = default;
ProcessTable::~ProcessTable() { SHOAL_CHECK(by_id_.empty()); }

Status ProcessTable::Add(Process& process) {
  MutexLock lock(mu_);
  const Status status = AddAs(process, next_id_);
  if (status != Status::kOk) return status;
  ++next_id_;
  peak_ = std::max<std::uint64_t>(peak_, by_id_.size());
  if (process.awaited()) ++live_;
  return Status::kOk;
}

Status ProcessTable::AddHost(Process& process) {
  MutexLock lock(mu_);
  if (by_id_.find(0) == by_id_.end()) return AddAs(process, 0);
  const Status status = AddAs(process, next_id_);
  if (status == Status::kOk) ++next_id_;
  return status;
}

Status ProcessTable::AddAs(Process& process, std::uint64_t id) {
  if (refusing_) return Status::kClosed;
  process.id_ = id;
  try {
    by_id_.emplace(id, Ref<Process>::Share(&process));
    if (!process.name().empty()) by_name_.emplace(process.name(), &process);
  } catch (const std::bad_alloc&) {
    // The caller's own reference keeps it.
    by_id_.erase(id);
    return Status::kNoMemory;
  }
  return Status::kOk;
}

void ProcessTable::Unlist(Process& process) {
  // The reference is dropped after the lock: destroying a process is no list work.
  Ref<Process> removed;
  MutexLock lock(mu_);
  auto found = by_id_.find(process.id());
  SHOAL_CHECK(found != by_id_.end());
  removed = std::move(found->second);
  by_id_.erase(found);
  auto [first, last] = by_name_.equal_range(process.name());
  auto named = std::find_if(first, last, [&](const auto& row) { return row.second == &process; });
  if (named != last) by_name_.erase(named);
}

void ProcessTable::Leave(const Process& process) {
  WakeList wakes;
  MutexLock lock(mu_);
  if (!process.awaited() || --live_ > 0) return;
  while (WaitNode* node = waiting_.PopFront()) {
    if (!node->waiter->TryClaim()) continue;
    node->waiter->SetOutcome(Status::kOk, node->index);
    wakes.Add(*node->waiter);
  }
}

Ref<Process> ProcessTable::Find(std::uint64_t id) {
  MutexLock lock(mu_);
  auto found = by_id_.find(id);
  return found == by_id_.end() ? Ref<Process>() : found->second;
}

Ref<Process> ProcessTable::Find(const std::string& name) {
  MutexLock lock(mu_);
  auto [first, last] = by_name_.equal_range(name);
  auto oldest = std::min_element(
      first, last, [](const auto& a, const auto& b) { return a.second->id() < b.second->id(); });
  return oldest == last ? Ref<Process>() : Ref<Process>::Share(oldest->second);
}

std::vector<Ref<Process>> ProcessTable::All() {
  std::vector<Ref<Process>> all;
  {
    MutexLock lock(mu_);
    all.reserve(by_id_.size());
    for (const auto& [id, process] : by_id_) all.push_back(process);
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a->id() < b->id(); });
  return all;
}

void ProcessTable::Refuse() {
  MutexLock lock(mu_);
  refusing_ = true;
}

std::size_t ProcessTable::live() {
  MutexLock lock(mu_);
  return live_;
}

std::size_t ProcessTable::size() {
  MutexLock lock(mu_);
  return by_id_.size();
}

ProcessTable::Totals ProcessTable::totals() {
  MutexLock lock(mu_);
  return {.spawned = next_id_ - 1, .peak = peak_};
}

Status ProcessTable::WaitAllOrPublish(WaitNode& node) {
  MutexLock lock(mu_);
  if (live_ == 0) return Status::kOk;
  node.place = this;
  waiting_.PushBack(node);
  return Status::kPending;
}

void ProcessTable::Withdraw(WaitNode& node) {
  MutexLock lock(mu_);
  if (node.linked()) node.Unlink();
}

}  // namespace shoal::core
