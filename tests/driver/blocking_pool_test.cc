// SPDX-License-Identifier: MIT
#include "runtime/driver/blocking_pool.h"

#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/base/test_point.h"
#include "tests/driver/polled.h"

namespace shoal::core {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

class Told final : public BlockingPool::Listener {
 public:
  void OnJobEnded() override { ended.fetch_add(1); }
  std::atomic<int> ended{0};
};

class Job final : public BlockingJob {
 public:
  explicit Job(std::function<void()> body) : body_(std::move(body)) { alive.fetch_add(1); }
  ~Job() override { alive.fetch_sub(1); }
  void Run() override { body_(); }
  static inline std::atomic<int> alive{0};

 private:
  const std::function<void()> body_;
};

Ref<Job> NewJob(std::function<void()> body) { return Ref<Job>::Adopt(new Job(std::move(body))); }

TimePoint Soon() { return std::chrono::steady_clock::now() + seconds(30); }

TEST_CASE("a job runs on another thread, and then those who wait are told") {
  Told told;
  BlockingPool pool(told, {});
  std::thread::id ran_on;
  std::atomic<bool> go{false};
  const auto job = NewJob([&] {
    ran_on = std::this_thread::get_id();
    while (!go.load()) sched_yield();
  });
  REQUIRE(pool.Start(*job) == Status::kOk);
  OneWait first, second;
  first.Open();
  second.Open(3);
  REQUIRE(job->Await(first.node) == Status::kPending);
  REQUIRE(job->Await(second.node) == Status::kPending);
  CHECK(pool.Armed());
  CHECK(job->state() == Status::kPending);
  go.store(true);
  REQUIRE(Eventually([&] { return first.completed.load() + second.completed.load() == 2; }));
  CHECK(first.outcome() == Status::kOk);
  CHECK(second.waiter.index() == 3);
  CHECK(ran_on != std::this_thread::get_id());
  CHECK(Eventually([&] { return told.ended.load() == 1; }));
  CHECK_FALSE(pool.Armed());
  OneWait late;
  late.Open();
  CHECK(job->Await(late.node) == Status::kOk);
  CHECK(pool.Stop(Soon()));
}

TEST_CASE("jobs get threads of their own up to the limit, and wait for one beyond") {
  Told told;
  BlockingPool pool(told, {.max_threads = 3});
  std::atomic<int> inside{0};
  std::atomic<bool> go{false};
  for (int i = 0; i < 10; ++i) {
    const auto job = NewJob([&] {
      inside.fetch_add(1);
      while (!go.load()) sched_yield();
    });
    REQUIRE(pool.Start(*job) == Status::kOk);
  }
  REQUIRE(Eventually([&] { return inside.load() == 3; }));
  CHECK(pool.threads() == 3);
  go.store(true);
  CHECK(Eventually([&] { return inside.load() == 10 && !pool.Armed(); }));
  CHECK(pool.threads() <= 3);
  CHECK(pool.Stop(Soon()));
  CHECK(Job::alive.load() == 0);
}

TEST_CASE("an idle thread takes the next job, and ends after a while") {
  Told told;
  BlockingPool pool(told, {.max_threads = 8, .idle_time = hours(1)});
  for (int i = 0; i < 20; ++i) {
    const auto job = NewJob([] {});
    REQUIRE(pool.Start(*job) == Status::kOk);
    REQUIRE(Eventually([&] { return told.ended.load() == i + 1; }));
  }
  // One may not have come to rest when the next job came.
  CHECK(pool.threads() < 8);
  CHECK(pool.Stop(Soon()));
  CHECK(pool.threads() == 0);

  BlockingPool short_lived(told, {.idle_time = milliseconds(1)});
  REQUIRE(short_lived.Start(*NewJob([] {})) == Status::kOk);
  CHECK(Eventually([&] { return short_lived.threads() == 0; }));
  // And others come.
  const auto job = NewJob([] {});
  REQUIRE(short_lived.Start(*job) == Status::kOk);
  CHECK(Eventually([&] { return job->state() == Status::kOk; }));
  CHECK(short_lived.Stop(Soon()));
}

TEST_CASE("two jobs run beside each other, also if one thread is idle") {
  bool all = true;
  for (int i = 0; all && i < Times(1000); ++i) {
    Told told;
    BlockingPool pool(told, {.max_threads = 2});
    REQUIRE(pool.Start(*NewJob([] {})) == Status::kOk);
    REQUIRE(Eventually([&] { return !pool.Armed(); }));
    sched_yield();  // it comes to rest, most times
    std::atomic<int> inside{0};
    std::atomic<int> met{0};
    // Each waits for the other.
    for (int j = 0; j < 2; ++j) {
      const auto job = NewJob([&] {
        inside.fetch_add(1);
        if (Eventually([&] { return inside.load() == 2; })) met.fetch_add(1);
      });
      REQUIRE(pool.Start(*job) == Status::kOk);
    }
    all = Eventually([&] { return !pool.Armed(); }) && met.load() == 2;
    REQUIRE(pool.Stop(Soon()));
  }
  CHECK(all);
}

TEST_CASE("no job is left when threads come and go") {
  Told told;
  BlockingPool pool(told, {.max_threads = 4, .idle_time = Duration(1)});
  constexpr int kThreads = 3;
  const int jobs = Times(3000);
  std::atomic<int> ran{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < jobs; ++i) {
        const auto job = NewJob([&] { ran.fetch_add(1); });
        if (pool.Start(*job) != Status::kOk) return;
        if (i % 8 == 0) static_cast<void>(Eventually([&] { return job->state() == Status::kOk; }));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(Eventually([&] { return ran.load() == kThreads * jobs; }));
  CHECK(pool.Stop(Soon()));
  CHECK(told.ended.load() == kThreads * jobs);
  CHECK(Job::alive.load() == 0);
}

TEST_CASE("who gives up waiting leaves the job behind, and its result is dropped") {
  Told told;
  BlockingPool pool(told, {});
  std::atomic<bool> go{false};
  {
    const auto job = NewJob([&] {
      while (!go.load()) sched_yield();
    });
    REQUIRE(pool.Start(*job) == Status::kOk);
    OneWait wait;
    wait.Open();
    REQUIRE(job->Await(wait.node) == Status::kPending);
    REQUIRE(wait.waiter.TryClaim());
    wait.Withdraw();
  }
  CHECK(Job::alive.load() == 1);
  go.store(true);
  CHECK(Eventually([&] { return Job::alive.load() == 0; }));
  CHECK(pool.Stop(Soon()));
}

TEST_CASE("the end of a job and a deadline race for a wait, and one of them gets it") {
  Told told;
  BlockingPool pool(told, {.max_threads = 2});
  for (int i = 0; i < Times(5000); ++i) {
    const auto job = NewJob([] {});
    OneWait wait;
    wait.Open();
    REQUIRE(job->Await(wait.node) == Status::kPending);
    REQUIRE(pool.Start(*job) == Status::kOk);
    if (wait.waiter.OnDue()) wait.waiter.Fire();
    REQUIRE(Eventually([&] { return wait.completed.load() == 1; }));
    wait.Withdraw();
  }
  CHECK(pool.Stop(Soon()));
}

TEST_CASE("a stopped pool takes no jobs, and ends those that have not begun") {
  Told told;
  BlockingPool pool(told, {.max_threads = 1});
  std::atomic<bool> go{false};
  std::atomic<bool> inside{false};
  const auto running = NewJob([&] {
    inside.store(true);
    while (!go.load()) sched_yield();
  });
  REQUIRE(pool.Start(*running) == Status::kOk);
  REQUIRE(Eventually([&] { return inside.load(); }));
  const auto queued = NewJob([] {});
  REQUIRE(pool.Start(*queued) == Status::kOk);
  OneWait wait;
  wait.Open();
  REQUIRE(queued->Await(wait.node) == Status::kPending);
  std::thread stops([&] {
    static_cast<void>(Eventually([&] { return wait.completed.load() == 1; }));
    go.store(true);
  });
  CHECK(pool.Stop(Soon()));
  stops.join();
  CHECK(wait.outcome() == Status::kClosed);
  CHECK(pool.Start(*NewJob([] {})) == Status::kClosed);
}

TEST_CASE("a job that hangs is left behind, and may end when the pool is gone") {
  std::atomic<bool> go{false};
  std::atomic<bool> inside{false};
  Told told;
  {
    BlockingPool pool(told, {});
    const auto job = NewJob([&] {
      inside.store(true);
      while (!go.load()) sched_yield();
    });
    REQUIRE(pool.Start(*job) == Status::kOk);
    REQUIRE(Eventually([&] { return inside.load(); }));
    CHECK_FALSE(pool.Stop(std::chrono::steady_clock::now() + milliseconds(5)));
  }
  CHECK(Job::alive.load() == 1);
  go.store(true);
  CHECK(Eventually([&] { return Job::alive.load() == 0; }));
  // There is nobody to tell.
  CHECK(told.ended.load() == 0);
}

#ifndef NDEBUG
TEST_CASE("without a thread, a job is refused; with one, it waits for that") {
  Told told;
  BlockingPool pool(told, {});
  const auto refuse = [](const char* point) { return std::string(point) == "thread.start"; };
  TestPoints::SetHook(refuse);
  const auto refused = NewJob([] {});
  CHECK(pool.Start(*refused) == Status::kNoThread);
  CHECK(refused->state() == Status::kNoThread);
  CHECK_FALSE(pool.Armed());
  TestPoints::SetHook(nullptr);
  std::atomic<bool> go{false};
  std::atomic<bool> inside{false};
  REQUIRE(pool.Start(*NewJob([&] {
    inside.store(true);
    while (!go.load()) sched_yield();
  })) == Status::kOk);
  REQUIRE(Eventually([&] { return inside.load(); }));
  TestPoints::SetHook(refuse);
  const auto waits = NewJob([] {});
  CHECK(pool.Start(*waits) == Status::kOk);
  TestPoints::SetHook(nullptr);
  CHECK(waits->state() == Status::kPending);
  go.store(true);
  CHECK(Eventually([&] { return waits->state() == Status::kOk; }));
  CHECK(pool.Stop(Soon()));
}
#endif

}  // namespace
}  // namespace shoal::core
