// SPDX-License-Identifier: MIT
// A CommandLine is what the arguments and the environment ask the program to do: a list of steps.
//
// Its options are those of the stock interpreter, with its meaning of each, and a few of ours.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bindings/lua/stderr_log.h"
#include "runtime/base/log.h"

namespace shoal::cli {

using bindings::kProgramName;

enum class StepKind : std::uint8_t {
  kVersion,   // prints the version
  kText,      // runs `text` as a chunk called `name`
  kFile,      // runs the file `text` (nullptr: stdin)
  kLibrary,   // requires `text`, "module" or "global=module"
  kWarnings,  // turns warnings on
  kScript,    // as kFile, with the arguments in `arg`
  kPrompt,    // reads and runs statements until the input ends
};

struct Step {
  StepKind kind;
  const char* text = nullptr;
  const char* name = nullptr;
};

struct CommandLine {
  enum class Request : std::uint8_t { kRun, kTrySeeds, kHelp, kRefuse };
  enum class Environment : std::uint8_t { kUse, kIgnore };

  Request request = Request::kRun;
  // The seeds of --sim, both included.
  struct Seeds {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
  };
  std::string complaint;  // of kRefuse: what is wrong, and the usage if that helps

  // --- Of kRun.
  std::vector<Step> steps;
  int workers = 0;  // 0: as many as there are cores
  core::LogLevel log_level = core::LogLevel::kWarning;
  Environment environment = Environment::kUse;
  // If it is there, the run is simulated with the first one; with kTrySeeds, it is searched.
  std::optional<Seeds> seeds;
  int seeds_argument = 0;  // which of the arguments they stand in
  bool stats = false;      // print the runtime's counters at the end
  // All arguments, and which of them is the script: the one at index 0 of `arg`.
  char** arguments = nullptr;
  int count = 0;
  int script = 0;
};

// What `--help` prints.
std::string UsageText();

// The texts of the steps point into `arguments` and into the environment.
CommandLine ParseCommandLine(int count, char** arguments);

}  // namespace shoal::cli
