// SPDX-License-Identifier: MIT
// What stands behind a Runtime.
//
// Threads: made and ended by one thread; in between, `gate` and constants are used by any.
#pragma once

#include <shoal/options.h>
#include <shoal/result.h>

#include <atomic>
#include <memory>
#include <string_view>

#include "bindings/cpp/gate.h"
#include "bindings/cpp/library.h"
#include "bindings/cpp/modules.h"
#include "runtime/base/clock.h"
#include "runtime/base/log.h"
#include "runtime/runtime.h"

namespace shoal::embed {

// Passes reports on to the program.
class HostLog final : public core::Log {
 public:
  HostLog(LogFunction function, LogLevel most) : function_(std::move(function)), most_(most) {}
  void Write(core::LogLevel level, std::string_view text) override;

 private:
  const LogFunction function_;  // empty: to stderr
  const LogLevel most_;
};

struct RuntimeState {
  explicit RuntimeState(const Options& given);
  RuntimeState(const RuntimeState&) = delete;
  RuntimeState& operator=(const RuntimeState&) = delete;
  // REQUIRES: ended.
  ~RuntimeState();

  // Starts the runtime; what it returns is kept in `error`.
  void Start();
  // The end, as Runtime::~Runtime says. Nothing, if it has not started. False: some thread is
  // stuck, and this must be kept for ever.
  [[nodiscard]] bool End();

  // States of the program that take part. The core goes when the last of them and the Runtime have
  // gone; so it is the one or the other that ends it. REQUIRES: inside the gate.
  void AddUser() { users_.fetch_add(1); }
  static void RemoveUser(const std::shared_ptr<RuntimeState>& state);
  // Keeps it for ever: its threads still use it.
  static void Keep(const std::shared_ptr<RuntimeState>& state);

  const Options options;
  const core::SteadyClock clock{};
  HostLog log;
  Modules modules;
  const Library library{modules};
  std::shared_ptr<Gate> gate;           // null: it has not started
  std::unique_ptr<core::Runtime> core;  // the same
  Error error;                          // why it has not started

 private:
  // As End, of the core.
  [[nodiscard]] bool EndCore();

  // The Runtime, and states. Orders what they did before the end.
  std::atomic<int> users_{1};
};

}  // namespace shoal::embed
