// SPDX-License-Identifier: MIT
// A host with a queue of jobs, whose handler is a function of Lua:
//
//   function handle_job(job_id)  →  a text, or nil, "not found"
//
// Instead of threads with a lua_State each, a queue and a lock, there is a pool: that is five
// lines. The rest makes 10,000 jobs from four threads, counts how they end, and says how long they
// take.
//
//   bazel run //examples/embed:job_host [JOBS]
#include <shoal/shoal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kThreads = 4;

// Some jobs are not in the cache, and some are broken.
constexpr char kHandler[] = R"lua(
  local function load_from_cache(job_id)
    if job_id % 10 ~= 0 then
      return { id = job_id, text = ("job %d"):format(job_id) }
    end
  end

  local function transform(data)
    if data.id % 97 == 0 then
      error("job " .. data.id .. " is broken")
    end
    return data.text:upper()
  end

  function handle_job(job_id)
    local data = load_from_cache(job_id)
    if data then
      return transform(data)
    end
    return nil, "not found"
  end
)lua";

struct Counts {
  std::atomic<int> done{0};
  std::atomic<int> not_found{0};
  std::atomic<int> failed{0};
};

void Count(const shoal::Result<shoal::Values>& result, Counts& counts) {
  if (!result) {
    ++counts.failed;  // result.error() has its message and traceback
  } else if ((*result)[0].is_nil() && result->get<std::string>(1) == "not found") {
    ++counts.not_found;
  } else {
    ++counts.done;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int jobs = argc > 1 ? std::atoi(argv[1]) : 10000;

  shoal::Runtime runtime;
  const shoal::Pool pool = runtime.MakePool({.body = kHandler});
  if (pool.error().status() != shoal::Status::kOk) {
    std::fprintf(stderr, "%s\n", std::string(pool.error().message()).c_str());
    return 1;
  }

  Counts counts;
  std::vector<double> microseconds(static_cast<std::size_t>(jobs));
  std::atomic<int> next{0};
  const auto take_jobs = [&] {
    for (int job = next++; job < jobs; job = next++) {
      const auto begin = Clock::now();
      Count(pool.Call("handle_job", job), counts);
      const std::chrono::duration<double, std::micro> took = Clock::now() - begin;
      microseconds[static_cast<std::size_t>(job)] = took.count();
    }
  };
  const auto begin = Clock::now();
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(take_jobs);
  for (std::thread& thread : threads) thread.join();
  const std::chrono::duration<double> took = Clock::now() - begin;

  std::printf("%d jobs: %d done, %d not found, %d failed\n", jobs, counts.done.load(),
              counts.not_found.load(), counts.failed.load());
  std::sort(microseconds.begin(), microseconds.end());
  const auto percentile = [&](double share) {
    if (microseconds.empty()) return 0.0;
    return microseconds[static_cast<std::size_t>(share * static_cast<double>(jobs - 1))];
  };
  std::printf("%.0f jobs a second on %d workers; p50 %.0f us, p99 %.0f us, longest %.0f us\n",
              jobs / took.count(), runtime.workers(), percentile(0.5), percentile(0.99),
              percentile(1));
}
