// SPDX-License-Identifier: MIT
// Real threads select among several keys, each with cases that send and cases that receive, beside
// others that only send or only receive; deadlines pass and the channel is closed. Each message
// that was sent is received once. Meant for tsan as well.
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/channel/select_task.h"

namespace shoal::core {
namespace {

constexpr int kKeys = 2;
constexpr int kSelectors = 3;
constexpr int kSteps = 4000;  // of each selector

class Exchange {
 public:
  Exchange(unsigned seed, const Channel::Options& options, std::size_t queue_memory)
      : seed_(seed), world_(options, queue_memory) {
    for (auto& counts : received_) {
      for (auto& count : counts) count = 0;
    }
  }

  std::string Run() {
    std::vector<std::thread> threads;
    for (int i = 0; i < kSelectors; ++i) threads.emplace_back([this, i] { SelectAll(i); });
    std::thread deadlines([this] { PassDeadlines(); });
    // When one has done its steps, the others may wait for it in vain.
    while (ended_.load() == 0) std::this_thread::yield();
    world_.channel->Close();
    for (std::thread& thread : threads) thread.join();
    done_ = true;
    deadlines.join();
    return Verdict();
  }

 private:
  struct Timed {
    Selector selector;
    std::mutex wheel;
    bool armed = false;
  };

  void SelectAll(int number) {
    std::mt19937 random(seed_ + number);
    Channel& channel = *world_.channel;
    Timed& timed = timed_[number];
    int next = 0;
    for (int step = 0; step < kSteps; ++step) {
      std::vector<CaseOf> cases;
      const auto count = 1 + random() % 4;
      const std::string text = std::to_string(number) + " " + std::to_string(next);
      for (unsigned i = 0; i < count; ++i) {
        cases.push_back({&channel, KeyName::Integer(random() % kKeys),
                         random() % 2 == 0 ? std::string() : text});
      }
      Status status = timed.selector.Select(cases);
      while (status == Status::kPending) status = Await(timed);
      if (status == Status::kTimeout) continue;
      if (status == Status::kClosed) break;
      if (status != Status::kOk) return Fail("a select failed");
      if (cases[timed.selector.index()].text.empty()) {
        if (timed.selector.received().size() != 1) return Fail("a case received nothing");
        Count(timed.selector.received()[0]);
      } else {
        sent_[number] = ++next;
        if (!timed.selector.received().empty()) return Fail("two cases happened");
      }
    }
    ended_.fetch_add(1);
  }

  Status Await(Timed& timed) {
    Arm(timed, true);
    while (!timed.selector.completed()) std::this_thread::yield();
    Arm(timed, false);
    return timed.selector.Finish();
  }
  static void Arm(Timed& timed, bool armed) {
    std::lock_guard lock(timed.wheel);
    timed.armed = armed;
  }

  void PassDeadlines() {
    std::mt19937 random(seed_ + 200);
    while (!done_.load()) {
      Timed& timed = timed_[random() % timed_.size()];
      {
        std::lock_guard lock(timed.wheel);
        if (timed.armed) static_cast<void>(timed.selector.Claim());
      }
      for (unsigned i = random() % 64; i > 0; --i) std::this_thread::yield();
    }
  }

  void Count(const std::string& text) { ++received_[text[0] - '0'][std::stoi(text.substr(2))]; }
  void Fail(const char* what) {
    failed_ = what;
    ended_.fetch_add(1);
  }

  // What went wrong, or "".
  std::string Verdict() {
    if (failed_.load() != nullptr) return failed_.load();
    for (int key = 0; key < kKeys; ++key) {
      const KeyName name = KeyName::Integer(key);
      for (;;) {
        const std::string text = ReceiveText(*world_.channel, name);
        if (text[0] == '<') break;
        Count(text);
      }
    }
    for (int sender = 0; sender < kSelectors; ++sender) {
      for (int i = 0; i < kSteps; ++i) {
        const int expected = i < sent_[sender] ? 1 : 0;
        if (received_[sender][i] != expected) {
          return "message " + std::to_string(i) + " was received " +
                 std::to_string(received_[sender][i]) + " times";
        }
      }
    }
    world_.channel = {};
    return world_.registry.queue_memory().used() == 0 ? "" : "queue memory is left";
  }

  const unsigned seed_;
  World world_;
  std::array<Timed, kSelectors> timed_;
  std::array<int, kSelectors> sent_{};  // its own until it is joined
  std::array<std::array<std::atomic<int>, kSteps>, kSelectors> received_;
  std::atomic<int> ended_{0};
  std::atomic<bool> done_{false};
  std::atomic<const char*> failed_{nullptr};
};

void Run(const Channel::Options& options, std::size_t queue_memory) {
  const unsigned seed = std::random_device()();
  INFO("seed " << seed << ", limit " << options.limit);
  const auto exchange = std::make_unique<Exchange>(seed, options, queue_memory);
  CHECK(exchange->Run() == "");
}

TEST_CASE("selects that send and receive lose and double no message at limit 0") {
  for (int i = 0; i < 4; ++i) Run({.limit = 0}, Budget::kUnlimited);
}

TEST_CASE("selects that send and receive lose and double no message at other limits") {
  for (std::uint64_t limit : {std::uint64_t{1}, std::uint64_t{3}, Channel::kNoLimit}) {
    Run({.limit = limit}, Budget::kUnlimited);
  }
}

TEST_CASE("selects that wait for budgets lose and double no message") {
  Run({.bytes = 500}, Budget::kUnlimited);
  Run({.limit = 3, .bytes = 700}, 600);
}

}  // namespace
}  // namespace shoal::core
