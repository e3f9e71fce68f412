// SPDX-License-Identifier: MIT
#include "bindings/cpp/runtime_state.h"

#include <csignal>
#include <string>
#include <utility>

#include "bindings/lua/stderr_log.h"
#include "bindings/lua/test_settings.h"
#include "runtime/base/check.h"
#include "runtime/base/enough_memory.h"
#include "runtime/base/runtime_thread.h"

namespace shoal::embed {

namespace {

constexpr int kMostWorkers = 1024;

core::LogLevel ToCore(LogLevel level) { return static_cast<core::LogLevel>(level); }
static_assert(static_cast<int>(LogLevel::kNotice) == static_cast<int>(core::LogLevel::kNotice));

core::StateImages ToCore(StateImages when) { return static_cast<core::StateImages>(when); }
static_assert(static_cast<int>(StateImages::kFromFirst) ==
              static_cast<int>(core::StateImages::kFromFirst));

// What is wrong with the options; nullptr: nothing.
const char* Complaint(const Options& options) {
  if (options.workers < Options::kOneForEachCore || options.workers > kMostWorkers) {
    return "Options::workers must be 0 to 1024, or kOneForEachCore";
  }
  if (options.max_blocked_threads < 1 || options.max_blocking_threads < 1) {
    return "Options::max_blocked_threads and max_blocking_threads must be at least 1";
  }
  if (options.signal < 0 || options.signal > SIGRTMAX) {
    return "Options::signal must be the number of a signal, or 0";
  }
  if (options.shutdown_timeout < std::chrono::nanoseconds::zero()) {
    return "Options::shutdown_timeout must not be negative";
  }
  return nullptr;
}

Status FromCore(core::Status status) {
  switch (status) {
    case core::Status::kNoThread:
      return Status::kNoThread;
    case core::Status::kNoMemory:
      return Status::kNoMemory;
    default:
      return Status::kMisuse;
  }
}

}  // namespace

void HostLog::Write(core::LogLevel level, std::string_view text) {
  if (level > ToCore(most_)) return;
  if (!function_) {
    bindings::StderrLog(ToCore(most_)).Write(level, text);
    return;
  }
  try {
    function_(static_cast<LogLevel>(level), text);
  } catch (...) {  // NOLINT(bugprone-empty-catch): as LogFunction says
  }
}

RuntimeState::RuntimeState(const Options& given)
    : options(given), log(given.log, given.log_level) {}

RuntimeState::~RuntimeState() { SHOAL_CHECK(core == nullptr); }

void RuntimeState::Start() {
  if (const char* complaint = Complaint(options)) {
    error = Error(Status::kMisuse, complaint);
    return;
  }
  core::Status status = core::Status::kNoMemory;
  const std::size_t test_memory = bindings::TestQueueMemory();
  const bool enough = core::EnoughMemory([&] {
    gate = std::make_shared<Gate>();
    core = std::make_unique<core::Runtime>(core::Runtime::Options{
        .workers = options.workers < 0 ? 0 : options.workers,
        .threads = options.workers == 0 ? core::Scheduler::Threads::kGuests
                                        : core::Scheduler::Threads::kOwn,
        .queue_memory = test_memory != 0 ? test_memory : options.queue_memory,
        .channel_limit = options.channel_limit,
        .clock = clock,
        .log = log,
        .library = library,
        .max_blocked_threads = options.max_blocked_threads,
        .max_blocking_threads = options.max_blocking_threads,
        .signal = bindings::TestSlicesEnd("counted") ? 0 : options.signal,
        .yield_at_every_instruction = bindings::TestSlicesEnd("every"),
        .collect_at_switch = bindings::TestCollectsAtSwitch(),
        .seed = options.seed.value_or(0),
        .state_images = bindings::TestStateImages(ToCore(options.state_images))});
    // From the program, work may come at any time.
    core->machine().active_hosts.Add();
    status = core->Start();
  });
  if (enough && status == core::Status::kOk) {
    gate->Open(*core);
    return;
  }
  error = status == core::Status::kNotFound
              ? Error(Status::kMisuse, "Options::signal is not the number of a signal")
              : Error(FromCore(status));
  core.reset();
  gate.reset();
}

bool RuntimeState::End() {
  if (core == nullptr) return true;
  // 1
  gate->Close();
  core->DismissGuests();
  // 2
  gate->AwaitEmpty();
  // 3
  gate->ClearCells();
  // 4, 5; but states of the program that take part keep the core.
  if (users_.fetch_sub(1) == 1) return EndCore();
  log.Write(core::LogLevel::kNotice,
            "a runtime has ended, but states of the program take part in it: its processes go on "
            "until these are closed");
  return true;
}

void RuntimeState::RemoveUser(const std::shared_ptr<RuntimeState>& state) {
  if (state->users_.fetch_sub(1) == 1 && !state->EndCore()) Keep(state);
}

void RuntimeState::Keep(const std::shared_ptr<RuntimeState>& state) {
  static_cast<void>(
      core::EnoughMemory([&] { static_cast<void>(new std::shared_ptr<RuntimeState>(state)); }));
}

bool RuntimeState::EndCore() {
  if (!core->Shutdown(options.shutdown_timeout)) {
    log.Write(core::LogLevel::kError,
              "a runtime has ended, but a process of it is stuck in a C function; its threads and "
              "memory are left behind");
    return false;
  }
  modules.Drop();
  core.reset();
  return true;
}

}  // namespace shoal::embed
