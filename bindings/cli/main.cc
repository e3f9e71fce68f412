// SPDX-License-Identifier: MIT
// The program `shoal`: runs a script as the first process of a runtime.
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <lua.hpp>
#include <string>
#include <utility>

#include "bindings/cli/command_line.h"
#include "bindings/cli/line_reader.h"
#include "bindings/cli/script.h"
#include "bindings/cli/signals.h"
#include "bindings/cli/simulator.h"
#include "bindings/cli/stats_table.h"
#include "bindings/cli/system_time.h"
#include "bindings/lua/shoal_library.h"
#include "bindings/lua/stderr_log.h"
#include "bindings/lua/test_settings.h"
#include "runtime/base/clock.h"
#include "runtime/base/freed_memory.h"
#include "runtime/base/futex.h"
#include "runtime/process/spawn_options.h"
#include "runtime/runtime.h"

namespace shoal::cli {

namespace {

using core::Runtime;
using core::SearchPaths;
using core::SpawnOptions;
using core::Status;

// How long processes have to end by themselves when the program ends.
constexpr core::Duration kGrace = std::chrono::seconds(2);
// How long what is buffered has to get out, if threads are stuck.
constexpr core::Duration kFlushTime = std::chrono::milliseconds(500);

SpawnOptions OptionsFor(const CommandLine& line, Script& script) {
  SpawnOptions options;
  options.generational = true;
  options.main = RunScript;
  options.main_context = &script;
  if (line.environment == CommandLine::Environment::kIgnore) {
    options.paths =
        core::Ref<SearchPaths>::Adopt(new SearchPaths(LUA_PATH_DEFAULT, LUA_CPATH_DEFAULT));
  }
  return options;
}

void* FlushAll(void* done) {
  std::fflush(nullptr);
  auto& word = *static_cast<std::atomic<std::uint32_t>*>(done);
  word.store(1);
  core::FutexWake(word, 1);
  return nullptr;
}

// Ends the program while threads still run. What is buffered is written out on a thread of its own,
// because a stream may be locked for ever: stdin, by somebody who waits for input.
[[noreturn]] void ExitUnderway(int status) {
  std::atomic<std::uint32_t> done{0};
  const core::TimePoint deadline = core::DeadlineAfter(core::SteadyClock().Now(), kFlushTime);
  pthread_t flusher;
  if (pthread_create(&flusher, nullptr, FlushAll, &done) == 0) {
    pthread_detach(flusher);
    while (done.load() == 0 && core::SteadyClock().Now() < deadline) {
      core::FutexWait(done, 0, deadline);
    }
  }
  _exit(status);
}

// Returns if all has been ended. Otherwise the runtime must be kept: the program exits from here.
void End(Runtime& runtime, const CommandLine& line, const LineReader& reader, int status) {
  const bool ended = runtime.Shutdown(kGrace);
  if (line.stats) bindings::WriteToStderr(StatsTable(runtime));
  if (ended) return;
  // The only process left is the one that called os.exit, which is asleep.
  if (runtime.exit_requested() && runtime.machine().processes.size() <= 1) std::exit(status);
  reader.RestoreTerminal();
  ExitUnderway(status);
}

int FailToStart(Status status) {
  bindings::WriteToStderr(std::string(kProgramName) + ": cannot start: " + core::ToString(status));
  return EXIT_FAILURE;
}

int Run(const CommandLine& line, const core::Clock& clock, core::SimulatedClock* simulated) {
  bindings::StderrLog log(line.log_level);
  LineReader reader;
  // Before there are threads.
  Signals signals(reader);
  Script script{line, log, reader, signals};
  const bindings::ShoalLibrary library;
  Runtime runtime({.workers = line.workers,
                   .queue_memory = bindings::TestQueueMemory(),
                   .clock = clock,
                   .log = log,
                   .library = library,
                   .signal = bindings::TestSlicesEnd("counted") ? 0 : SIGURG,
                   .yield_at_every_instruction = bindings::TestSlicesEnd("every"),
                   .collect_at_switch = bindings::TestCollectsAtSwitch(),
                   .seed = line.seeds ? line.seeds->first : 0,
                   .state_images = bindings::TestStateImages(core::StateImages::kForMany),
                   .simulated_clock = simulated});
  Status status = runtime.Start();
  if (status != Status::kOk) return FailToStart(status);
  signals.Start();
  status = runtime.SpawnScript(OptionsFor(line, script));
  if (status == Status::kOk) signals.Follow(runtime);
  const int result = status == Status::kOk ? runtime.WaitForEnd() : FailToStart(status);
  End(runtime, line, reader, result);
  signals.Stop();
  return result;
}

int RunSimulated(const CommandLine& line) {
  FixAddresses(line.arguments);
  // Scripts may write to streams to the very end of the program, and so look at the time.
  static core::SimulatedClock clock;
  FollowSimulatedClock(clock);
  return Run(line, clock, &clock);
}

}  // namespace

int Main(int count, char** arguments) {
  const CommandLine line = ParseCommandLine(count, arguments);
  switch (line.request) {
    case CommandLine::Request::kHelp:
      std::puts(UsageText().c_str());
      return EXIT_SUCCESS;
    case CommandLine::Request::kRefuse:
      bindings::WriteToStderr(std::string(kProgramName) + ": " + line.complaint);
      return EXIT_FAILURE;
    case CommandLine::Request::kTrySeeds:
      return TrySeeds(line);
    case CommandLine::Request::kRun:
      break;
  }
  core::KeepFreedMemory();
  return line.seeds ? RunSimulated(line) : Run(line, core::SteadyClock(), nullptr);
}

}  // namespace shoal::cli

int main(int argc, char** argv) { return shoal::cli::Main(argc, argv); }
