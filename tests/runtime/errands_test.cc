// SPDX-License-Identifier: MIT
#include "runtime/errands.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <thread>
#include <vector>

namespace shoal::core {
namespace {

// Notes that it has been done, behind those of the same thread that were done before.
struct Numbered final : Errand {
  void Run() override {
    if (*last + 1 == number) *last = number;
  }
  int number = 0;
  int* last = nullptr;
};

TEST_CASE("errands are done in the order of their pushes") {
  Errands errands;
  int last = 0;
  std::vector<Numbered> all(3);
  for (int i = 0; i < 3; ++i) {
    all[i].number = i + 1;
    all[i].last = &last;
    CHECK(errands.Push(all[i]) == (i == 0));
  }
  CHECK(errands.Armed());
  errands.Run();
  CHECK(last == 3);
  CHECK_FALSE(errands.Armed());
}

TEST_CASE("an errand may push itself again") {
  struct Again final : Errand {
    explicit Again(Errands& all) : errands(all) {}
    void Run() override {
      if (++runs < 3) static_cast<void>(errands.Push(*this));
    }
    Errands& errands;
    int runs = 0;
  };
  Errands errands;
  Again again(errands);
  CHECK(errands.Push(again));
  errands.Run();
  CHECK(again.runs == 3);
}

TEST_CASE("the order of each thread holds when several push, and several do") {
  constexpr int kPushers = 3;
  constexpr int kEach = 20'000;
  Errands errands;
  std::vector<int> last(kPushers, 0);
  std::vector<std::vector<Numbered>> all(kPushers);
  std::atomic<int> pushing{kPushers};
  std::vector<std::thread> threads;
  for (int p = 0; p < kPushers; ++p) {
    all[p] = std::vector<Numbered>(kEach);
    threads.emplace_back([&, p] {
      for (int i = 0; i < kEach; ++i) {
        all[p][i].number = i + 1;
        all[p][i].last = &last[p];
        static_cast<void>(errands.Push(all[p][i]));
      }
      --pushing;
    });
  }
  for (int r = 0; r < 2; ++r) {
    threads.emplace_back([&] {
      while (pushing != 0 || errands.Armed()) errands.Run();
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(last == std::vector<int>(kPushers, kEach));
}

}  // namespace
}  // namespace shoal::core
