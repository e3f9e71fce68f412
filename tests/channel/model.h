// SPDX-License-Identifier: MIT
// ChannelModel does what a channel shall do, in the simplest way: deques, one thread, no locks.
// model_test.cc compares the two.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/status.h"

namespace shoal::core {

using Texts = std::vector<std::string>;

// One task: it waits for at most one thing.
struct ModelTask {
  bool claimed = true;  // by a completion or a deadline
  bool completed = false;
  bool granted = false;  // a budget has reserved room for `unsent`
  Status outcome = Status::kPending;
  std::uint32_t index = 0;
  Texts received;
  Texts unsent;
  std::size_t open_keys = 0;

  void Complete(Status with, std::uint32_t at = 0) {
    claimed = completed = true;
    outcome = with;
    index = at;
  }
};

class ChannelModel {
 public:
  struct Wait {
    ModelTask* task;
    std::uint32_t index = 0;
    std::size_t min = 1;
    std::size_t max = 1;
  };
  struct Key {
    std::deque<std::string> fifo;
    std::uint64_t limit;
    bool closed = false;
    std::optional<int> expiry;
    std::list<Wait> receivers;
    std::list<Wait> senders;
  };

  // `bytes` counts messages: all have one size.
  ChannelModel(int keys, std::uint64_t limit, std::size_t bytes) : bytes_(bytes), keys_(keys) {
    for (Key& key : keys_) key.limit = limit;
  }

  Key& At(int key) {
    Key& at = keys_[key];
    if (at.expiry && now >= *at.expiry) {
      Drop(at);
      Settle(at);
    }
    return at;
  }

  // A send without a task does not wait.
  Status Send(int name, Texts& batch, ModelTask* task) {
    const std::size_t size = batch.size();
    bool granted = task != nullptr && std::exchange(task->granted, false);
    const bool had_grant = granted;
    Status status = SendOnce(At(name), batch, task, granted);
    if (had_grant && granted) Return(size);
    return status;
  }

  Status Replace(int name, const Texts& batch) {
    Key& key = At(name);
    if (key.closed) return Status::kClosed;
    Drop(key);
    Append(key, batch);
    Settle(key);
    return Status::kOk;
  }

  Status SendIfEmpty(int name, const Texts& batch) {
    Key& key = At(name);
    if (key.closed) return Status::kClosed;
    if (!key.fifo.empty()) return Status::kExists;
    Append(key, batch);
    Settle(key);
    return Status::kOk;
  }

  void PutBack(int name, const Texts& batch) {
    Key& key = At(name);
    used_ += batch.size();
    key.fifo.insert(key.fifo.begin(), batch.begin(), batch.end());
    Settle(key);
  }

  Status Receive(int name, std::size_t min, std::size_t max, Texts* texts) {
    Key& key = At(name);
    Status status = key.closed ? Status::kClosed : Status::kEmpty;
    if (Enough(key, min)) {
      *texts = Take(key, max);
      status = Status::kOk;
    } else if (Wait* sender = Blocked(key, min)) {
      TakeWith(key, *sender, max, texts);
      status = Status::kOk;
    }
    Settle(key);
    return status;
  }

  Status ReceiveOrWait(const std::vector<int>& names, std::size_t min, std::size_t max,
                       ModelTask& task) {
    std::size_t closed = 0;
    for (std::uint32_t i = 0; i < names.size(); ++i) {
      // With one key nothing is let in before it waits.
      Key& key = At(names[i]);
      const bool comes = Enough(key, min) || Blocked(key, min) != nullptr;
      closed += key.closed && !comes ? 1 : 0;
      if (!comes && names.size() == 1 && !key.closed) break;
      task.index = i;
      if (Receive(names[i], min, max, &task.received) == Status::kOk) return Status::kOk;
    }
    if (closed == names.size()) return Status::kClosed;
    task = {};
    task.claimed = false;
    task.open_keys = names.size() - closed;
    for (std::uint32_t i = 0; i < names.size(); ++i) {
      keys_[names[i]].receivers.push_back({&task, i, min, max});
    }
    return Status::kPending;
  }

  // The owner takes its nodes back.
  void Withdraw(ModelTask& task) {
    waiting_.remove_if([&](const Wait& wait) { return wait.task == &task; });
    for (Key& key : keys_) {
      key.receivers.remove_if([&](const Wait& wait) { return wait.task == &task; });
      if (key.senders.remove_if([&](const Wait& wait) { return wait.task == &task; }) != 0) {
        Settle(key);
      }
    }
  }
  void Abandon(ModelTask& task) {
    if (std::exchange(task.granted, false)) Return(task.unsent.size());
  }

  std::uint64_t SetLimit(int name, std::uint64_t limit) {
    Key& key = At(name);
    const std::uint64_t before = std::exchange(key.limit, limit);
    Settle(key);
    return before;
  }
  Status Expire(int name, int at) {
    Key& key = At(name);
    if (key.fifo.empty()) return Status::kNotFound;
    key.expiry = at;
    return Status::kOk;
  }
  void CloseKey(int name) {
    Key& key = At(name);
    if (key.closed) return;
    CloseOne(key);
    WakeAll();
  }
  void Close() {
    for (int name = 0; name < static_cast<int>(keys_.size()); ++name) {
      if (!At(name).closed) CloseOne(keys_[name]);
    }
    WakeAll();
  }

  int now = 0;

 private:
  Status SendOnce(Key& key, Texts& batch, ModelTask* task, bool& granted) {
    if (key.closed) return Status::kClosed;
    const std::size_t size = batch.size();
    const bool in_turn = Blocked(key, 0) == nullptr;
    // A receiver for whom it is enough takes it directly, if the rest may stand.
    for (Wait& wait : key.receivers) {
      const std::size_t total = key.fifo.size() + size;
      if (!in_turn || wait.task->claimed || total < wait.min) continue;
      if (total > wait.max && total - wait.max > key.limit) continue;
      const std::size_t from_fifo = std::min(key.fifo.size(), wait.max);
      Texts& received = wait.task->received;
      received = Take(key, from_fifo);
      const std::size_t direct = std::min(size, wait.max - from_fifo);
      received.insert(received.end(), batch.begin(), batch.begin() + direct);
      Append(key, Texts(batch.begin() + direct, batch.end()));
      wait.task->Complete(Status::kOk, wait.index);
      if (!key.fifo.empty()) Settle(key);
      return Status::kOk;
    }
    if (!in_turn || key.fifo.size() + size > key.limit) {
      if (task == nullptr) return Status::kFull;
      Wait_(key.senders, batch, *task);
      return Status::kPending;
    }
    if (!granted && !Fits(size)) {
      if (task == nullptr) return Status::kFull;
      Wait_(waiting_, batch, *task);
      return Status::kPending;
    }
    if (!granted) used_ += size;
    granted = false;
    key.fifo.insert(key.fifo.end(), batch.begin(), batch.end());
    return Status::kOk;
  }

  static void Wait_(std::list<Wait>& list, const Texts& batch, ModelTask& task) {
    const Texts unsent = batch;
    task = {};
    task.claimed = false;
    task.unsent = unsent;
    list.push_back({&task});
  }

  static bool Enough(const Key& key, std::size_t min) {
    return key.fifo.size() >= min || (key.closed && !key.fifo.empty());
  }
  static Wait* Blocked(Key& key, std::size_t min) {
    for (Wait& wait : key.senders) {
      if (wait.task->claimed) continue;
      return key.fifo.size() + wait.task->unsent.size() >= min ? &wait : nullptr;
    }
    return nullptr;
  }

  [[nodiscard]] bool Fits(std::size_t size) const { return used_ == 0 || used_ + size <= bytes_; }
  void Return(std::size_t size) {
    used_ -= size;
    if (size == 0) return;
    for (Wait& wait : waiting_) {
      if (wait.task->claimed || !Fits(wait.task->unsent.size())) continue;
      used_ += wait.task->unsent.size();
      wait.task->granted = true;
      wait.task->Complete(Status::kFull);
    }
  }
  void WakeAll() {
    for (Wait& wait : waiting_) {
      if (!wait.task->claimed) wait.task->Complete(Status::kFull);
    }
  }

  void Append(Key& key, const Texts& batch) {
    used_ += batch.size();
    key.fifo.insert(key.fifo.end(), batch.begin(), batch.end());
  }
  Texts Take(Key& key, std::size_t count) {
    count = std::min(count, key.fifo.size());
    Texts taken(key.fifo.begin(), key.fifo.begin() + count);
    key.fifo.erase(key.fifo.begin(), key.fifo.begin() + count);
    Return(count);
    if (key.fifo.empty()) key.expiry.reset();
    return taken;
  }
  void Drop(Key& key) {
    Take(key, key.fifo.size());
    key.expiry.reset();
  }

  void TakeWith(Key& key, Wait& sender, std::size_t max, Texts* texts) {
    ModelTask& task = *sender.task;
    *texts = Take(key, max);
    const std::size_t direct = std::min(task.unsent.size(), max - texts->size());
    texts->insert(texts->end(), task.unsent.begin(), task.unsent.begin() + direct);
    Append(key, Texts(task.unsent.begin() + direct, task.unsent.end()));
    task.unsent.clear();
    task.Complete(Status::kOk);
  }

  void Settle(Key& key) {
    for (bool served = true; served;) {
      while (!key.senders.empty()) {
        ModelTask& task = *key.senders.front().task;
        if (!task.claimed) {
          if (key.fifo.size() + task.unsent.size() > key.limit) break;
          if (Fits(task.unsent.size())) {
            Append(key, task.unsent);
            task.unsent.clear();
            task.Complete(Status::kOk);
          } else {
            task.Complete(Status::kFull);
          }
        }
        key.senders.pop_front();
      }
      served = false;
      for (Wait& wait : key.receivers) {
        if (wait.task->claimed || !Enough(key, wait.min)) continue;
        wait.task->received = Take(key, wait.max);
        wait.task->Complete(Status::kOk, wait.index);
        served = true;
      }
    }
  }

  void CloseOne(Key& key) {
    key.closed = true;
    for (Wait& wait : key.senders) {
      if (!wait.task->claimed) wait.task->Complete(Status::kClosed);
    }
    key.senders.clear();
    Settle(key);
    for (Wait& wait : key.receivers) {
      if (!wait.task->claimed && --wait.task->open_keys == 0) {
        wait.task->Complete(Status::kClosed, wait.index);
      }
    }
  }

  const std::size_t bytes_;
  std::size_t used_ = 0;
  std::vector<Key> keys_;
  std::list<Wait> waiting_;  // for bytes
};

}  // namespace shoal::core
