// SPDX-License-Identifier: MIT
// Real threads send, receive on several keys, meet at limit 0, miss deadlines, wait for budgets and
// close: each message that was sent is received once, in order. Meant for tsan as well.
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/channel/task.h"

namespace shoal::core {
namespace {

constexpr int kKeys = 3;
constexpr int kSenders = 2;
constexpr int kReceivers = 2;
constexpr int kMessages = 2000;  // of each sender

// A task with a deadline that passes when the clock thread likes.
class TimedTask {
 public:
  // Waits for the completion. Returns the outcome.
  Status Await() {
    Arm(true);
    while (!task.completed()) std::this_thread::yield();
    Arm(false);
    return task.Finish();
  }
  void PassDeadline() {
    std::lock_guard lock(wheel_);
    if (armed_) static_cast<void>(task.Claim());
  }

  Task task;

 private:
  void Arm(bool armed) {
    std::lock_guard lock(wheel_);
    armed_ = armed;
  }
  std::mutex wheel_;
  bool armed_ = false;
};

class Traffic {
 public:
  Traffic(unsigned seed, const Channel::Options& options, std::size_t queue_memory)
      : seed_(seed), world_(options, queue_memory) {
    for (auto& counts : received_) {
      for (auto& count : counts) count = 0;
    }
  }

  // Closes the channel after so many messages (0: after the last).
  void Run(int close_after) {
    std::vector<std::thread> threads;
    for (int i = 0; i < kSenders; ++i) threads.emplace_back([this, i] { SendAll(i); });
    for (int i = 0; i < kReceivers; ++i) threads.emplace_back([this, i] { ReceiveAll(i); });
    std::thread clock([this] { PassDeadlines(); });
    const int last = close_after == 0 ? kSenders * kMessages : close_after;
    while (received_count_.load() < last) std::this_thread::yield();
    world_.channel->Close();
    for (std::thread& thread : threads) thread.join();
    done_ = true;
    clock.join();
  }

  // What went wrong, or "".
  std::string Verdict() {
    if (failed_.load() != nullptr) return failed_.load();
    for (int sender = 0; sender < kSenders; ++sender) {
      for (int i = 0; i < kMessages; ++i) {
        const int expected = i < sent_[sender] ? 1 : 0;
        if (received_[sender][i] != expected) {
          return "message " + std::to_string(i) + " was received " +
                 std::to_string(received_[sender][i]) + " times";
        }
      }
    }
    for (int key = 0; key < kKeys; ++key) {
      if (world_.channel->Count(KeyName::Integer(key)) != 0) return "messages are left";
    }
    world_.channel = {};
    return world_.registry.queue_memory().used() == 0 ? "" : "queue memory is left";
  }

 private:
  void SendAll(int number) {
    std::mt19937 random(seed_ + number);
    Channel& channel = *world_.channel;
    TimedTask& timed = tasks_[number];
    for (int i = 0; i < kMessages; ++i) {
      const KeyName key = KeyName::Integer(random() % kKeys);
      const std::string text = std::to_string(number) + " " + std::to_string(i);
      Status status = timed.task.Send(channel, key, text);
      for (;;) {
        if (status == Status::kPending) status = timed.Await();
        if (status == Status::kTimeout) {
          channel.AbandonSend(timed.task.node());
          if (timed.task.unsent() != Texts{text}) Fail("a timeout lost the message");
          status = timed.task.Send(channel, key, text);
        } else if (status == Status::kFull) {
          status = timed.task.SendAgain(channel, key);
        } else {
          break;
        }
      }
      if (status == Status::kClosed) {
        if (timed.task.unsent() != Texts{text}) Fail("a close lost the message");
        return;
      }
      if (status != Status::kOk) Fail("send");
      sent_[number] = i + 1;
    }
  }

  void ReceiveAll(int number) {
    std::mt19937 random(seed_ + 100 + number);
    Channel& channel = *world_.channel;
    TimedTask& timed = tasks_[kSenders + number];
    for (;;) {
      // Each has keys of its own, one in common, and all at the end.
      std::vector<KeyName> keys;
      const bool all = random() % 4 == 0;
      for (int key = 0; key < kKeys; ++key) {
        if (all || key == kKeys - 1 || key % kReceivers == number) {
          keys.push_back(KeyName::Integer(key));
        }
      }
      const std::uint32_t min = random() % 8 == 0 ? 2 : 1;
      Status status = timed.task.Receive(channel, keys, min, 2);
      if (status == Status::kPending) status = timed.Await();
      if (status == Status::kTimeout) continue;
      if (status == Status::kClosed && all) return;
      if (status == Status::kClosed) continue;
      if (status != Status::kOk) Fail("receive");
      for (const std::string& text : timed.task.received()) {
        const int sender = text[0] - '0';
        ++received_[sender][std::stoi(text.substr(2))];
        received_count_.fetch_add(1);
      }
      if (random() % 64 == 0) PutBack(channel, keys[timed.task.index()], timed.task.received());
    }
  }

  void PutBack(Channel& channel, const KeyName& key, const Texts& texts) {
    MessageList list;
    for (const std::string& text : texts) {
      received_count_.fetch_sub(1);
      --received_[text[0] - '0'][std::stoi(text.substr(2))];
      list.PushBack(Text(text));
    }
    channel.PutBack(key, list);
  }

  void PassDeadlines() {
    std::mt19937 random(seed_ + 200);
    while (!done_.load()) {
      tasks_[random() % tasks_.size()].PassDeadline();
      for (unsigned i = random() % 64; i > 0; --i) std::this_thread::yield();
    }
  }

  void Fail(const char* what) { failed_ = what; }

  const unsigned seed_;
  World world_;
  std::array<TimedTask, kSenders + kReceivers> tasks_;
  std::array<int, kSenders> sent_{};  // how many of each sender; its own until it is joined
  std::array<std::array<std::atomic<int>, kMessages>, kSenders> received_;
  std::atomic<int> received_count_{0};
  std::atomic<bool> done_{false};
  std::atomic<const char*> failed_{nullptr};
};

void Run(const Channel::Options& options, std::size_t queue_memory, int close_after) {
  const unsigned seed = std::random_device()();
  INFO("seed " << seed << ", limit " << options.limit);
  const auto traffic = std::make_unique<Traffic>(seed, options, queue_memory);
  traffic->Run(close_after);
  CHECK(traffic->Verdict().empty());
}

TEST_CASE("each message is received once, also when deadlines pass") {
  for (std::uint64_t limit : {std::uint64_t{2}, std::uint64_t{7}, Channel::kNoLimit}) {
    Run({.limit = limit}, Budget::kUnlimited, 0);
  }
}

TEST_CASE("each message is received once at limit 0") { Run({.limit = 0}, Budget::kUnlimited, 0); }

TEST_CASE("each message is received once when senders wait for budgets") {
  Run({.bytes = 500}, Budget::kUnlimited, 0);
  Run({.limit = 3, .bytes = 700}, 600, 0);
}

TEST_CASE("what was sent before a close is received, and nothing else") {
  for (std::uint64_t limit : {std::uint64_t{0}, std::uint64_t{2}, Channel::kNoLimit}) {
    for (int i = 1; i <= 10; ++i) Run({.limit = limit, .bytes = 1000}, 1200, i * kMessages / 20);
  }
}

// One receiver for each sender's key, so that the order can be told.
TEST_CASE("messages of a sender are received in the order of their sends") {
  for (std::uint64_t limit : {std::uint64_t{0}, std::uint64_t{3}, Channel::kNoLimit}) {
    World world({.limit = limit});
    Channel& channel = *world.channel;
    std::vector<std::thread> senders;
    for (int number = 0; number < kSenders; ++number) {
      senders.emplace_back([&channel, number] {
        Task task;
        for (int i = 0; i < kMessages; ++i) {
          const std::string text = std::to_string(number) + " " + std::to_string(i);
          if (task.Send(channel, KeyName::Integer(i % 2), text) != Status::kPending) continue;
          while (!task.completed()) std::this_thread::yield();
          if (task.Finish() != Status::kOk) std::abort();
        }
      });
    }
    Task task;
    int last[kSenders][2] = {{-1, -1}, {-1, -1}};
    bool in_order = true;
    for (int count = 0; count < kSenders * kMessages; ++count) {
      Status status =
          task.Receive(channel, {KeyName::Integer(count % 2), KeyName::Integer(1 - count % 2)});
      if (status == Status::kPending) {
        while (!task.completed()) std::this_thread::yield();
        status = task.Finish();
      }
      REQUIRE(status == Status::kOk);
      const int sender = task.received()[0][0] - '0';
      const int number = std::stoi(task.received()[0].substr(2));
      in_order = in_order && number > last[sender][number % 2];
      last[sender][number % 2] = number;
    }
    for (std::thread& sender : senders) sender.join();
    CHECK(in_order);
  }
}

}  // namespace
}  // namespace shoal::core
