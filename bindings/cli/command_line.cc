// SPDX-License-Identifier: MIT
#include "bindings/cli/command_line.h"

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <lua.hpp>
#include <string_view>

namespace shoal::cli {

namespace {

using core::LogLevel;

constexpr int kMostWorkers = 1024;  // of a Scheduler
constexpr char kWorkersVariable[] = "SHOAL_WORKERS";
constexpr char kWorkersExpected[] = "a number of workers from 1 to 1024";
constexpr std::string_view kLogOption = "--log=";
constexpr std::string_view kSimOption = "--sim=";

constexpr char kUsage[] =
    " [options] [script [args]]\n"
    "Available options are:\n"
    "  -e stat   execute string 'stat'\n"
    "  -i        enter interactive mode after executing 'script'\n"
    "  -l mod    require library 'mod' into global 'mod'\n"
    "  -l g=mod  require library 'mod' into global 'g'\n"
    "  -v        show version information\n"
    "  -w n      run processes on 'n' workers (default: SHOAL_WORKERS, or one for each core)\n"
    "  -E        ignore environment variables\n"
    "  -W        turn warnings on\n"
    "  --log=lev report on stderr what is at least 'lev': off, error, warning (default), notice\n"
    "  --stats   print the counters of the runtime at the end, on stderr\n"
    "  --sim=n   simulate: one process at a time, in an order drawn from the seed 'n'\n"
    "  --sim=m..n  simulate with all seeds from 'm' to 'n', until one fails\n"
    "  --help    show this text\n"
    "  --        stop handling options\n"
    "  -         stop handling options and execute stdin";

// What is found while the options are read.
struct Found {
  bool interactive = false;
  bool version = false;
  bool chunk = false;
  std::vector<Step> steps;  // of the options -e, -l and -W
};

// There is something to run, as far as has been seen.
bool GoesOn(const CommandLine& line) {
  return line.request == CommandLine::Request::kRun ||
         line.request == CommandLine::Request::kTrySeeds;
}

void Refuse(CommandLine& line, const std::string& complaint) {
  line.request = CommandLine::Request::kRefuse;
  line.complaint = complaint + "\n" + UsageText();
}

bool ReadWorkers(const char* text, int& workers) {
  const char* const end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, workers);
  return error == std::errc() && stop == end && workers >= 1 && workers <= kMostWorkers;
}

bool ReadLogLevel(std::string_view name, LogLevel& level) {
  constexpr struct {
    std::string_view name;
    LogLevel level;
  } kLevels[] = {{"off", LogLevel::kOff},
                 {"error", LogLevel::kError},
                 {"warning", LogLevel::kWarning},
                 {"notice", LogLevel::kNotice}};
  for (const auto& known : kLevels) {
    if (known.name != name) continue;
    level = known.level;
    return true;
  }
  return false;
}

bool ReadSeed(std::string_view text, std::uint64_t& seed) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, seed);
  return error == std::errc() && stop == end;
}

// "7", or "1..500".
void ReadSeeds(CommandLine& line, std::string_view text) {
  constexpr std::string_view kDots = "..";
  const std::size_t dots = text.find(kDots);
  CommandLine::Seeds seeds;
  bool fine;
  if (dots == std::string_view::npos) {
    fine = ReadSeed(text, seeds.first);
    seeds.last = seeds.first;
  } else {
    fine = ReadSeed(text.substr(0, dots), seeds.first) &&
           ReadSeed(text.substr(dots + kDots.size()), seeds.last) && seeds.first <= seeds.last;
    line.request = CommandLine::Request::kTrySeeds;
  }
  line.seeds = seeds;
  if (!fine) {
    Refuse(line, "'--sim' needs a seed (0 or more), or a range of seeds such as 1..500, not '" +
                     std::string(text) + "'");
  }
}

// Options of more than one letter. The argument starts with "--" and goes on.
void ReadLongOption(CommandLine& line, int index) {
  const std::string_view argument = line.arguments[index];
  if (argument == "--help") {
    line.request = CommandLine::Request::kHelp;
  } else if (argument == "--stats") {
    line.stats = true;
  } else if (argument.substr(0, kLogOption.size()) == kLogOption) {
    if (ReadLogLevel(argument.substr(kLogOption.size()), line.log_level)) return;
    Refuse(line, "'--log' needs a level: off, error, warning or notice");
  } else if (argument.substr(0, kSimOption.size()) == kSimOption) {
    line.seeds_argument = index;
    ReadSeeds(line, argument.substr(kSimOption.size()));
  } else {
    Refuse(line, "unrecognized option '" + std::string(argument) + "'");
  }
}

// The options -e, -l and -w, whose value is the rest of the argument or the next one. Moves `index`
// to the last argument that belongs to it.
void ReadValueOption(CommandLine& line, Found& found, int& index) {
  const char* const option = line.arguments[index];
  const char* value = option + 2;
  if (*value == '\0') {
    value = line.arguments[index + 1];
    if (value == nullptr || value[0] == '-') {
      Refuse(line, "'" + std::string(option) + "' needs argument");
      return;
    }
    ++index;
  }
  switch (option[1]) {
    case 'e':
      found.chunk = true;
      found.steps.push_back({StepKind::kText, value, "=(command line)"});
      break;
    case 'l':
      found.steps.push_back({StepKind::kLibrary, value});
      break;
    default:
      if (!ReadWorkers(value, line.workers)) {
        Refuse(line, std::string("'-w' needs ") + kWorkersExpected);
      }
      break;
  }
}

// The options -i, -v, -E and -W.
void ReadFlag(CommandLine& line, Found& found, const char* option) {
  if (option[2] == '\0') {
    switch (option[1]) {
      case 'i':
        found.interactive = true;
        found.version = true;
        return;
      case 'v':
        found.version = true;
        return;
      case 'E':
        line.environment = CommandLine::Environment::kIgnore;
        return;
      case 'W':
        found.steps.push_back({StepKind::kWarnings});
        return;
      default:
        break;
    }
  }
  Refuse(line, std::string("unrecognized option '") + option + "'");
}

// Reads the options, up to the script's name. Returns its index; `count` if there is none.
int ReadOptions(CommandLine& line, Found& found) {
  int index = 1;
  for (; index < line.count; ++index) {
    const char* const argument = line.arguments[index];
    if (argument[0] != '-' || argument[1] == '\0') return index;
    if (std::strcmp(argument, "--") == 0) return index + 1;
    switch (argument[1]) {
      case '-':
        ReadLongOption(line, index);
        break;
      case 'e':
      case 'l':
      case 'w':
        ReadValueOption(line, found, index);
        break;
      default:
        ReadFlag(line, found, argument);
        break;
    }
    if (!GoesOn(line)) return line.count;
  }
  return line.count;
}

// LUA_INIT_5_4, or else LUA_INIT.
void AddInitStep(std::vector<Step>& steps) {
  for (const char* name : {"=LUA_INIT" LUA_VERSUFFIX, "=LUA_INIT"}) {
    const char* const init = std::getenv(name + 1);
    if (init == nullptr) continue;
    if (init[0] == '@') {
      steps.push_back({StepKind::kFile, init + 1});
    } else {
      steps.push_back({StepKind::kText, init, name});
    }
    return;
  }
}

void AddScriptStep(CommandLine& line, int script) {
  const char* file = line.arguments[script];
  // A dash is stdin, unless it comes after "--".
  if (std::strcmp(file, "-") == 0 && std::strcmp(line.arguments[script - 1], "--") != 0) {
    file = nullptr;
  }
  line.script = script;
  line.steps.push_back({StepKind::kScript, file});
}

void ReadWorkersVariable(CommandLine& line) {
  const char* const value = std::getenv(kWorkersVariable);
  if (value == nullptr || line.workers != 0 || ReadWorkers(value, line.workers)) return;
  line.request = CommandLine::Request::kRefuse;
  line.complaint =
      std::string(kWorkersVariable) + " must be " + kWorkersExpected + ", not '" + value + "'";
}

}  // namespace

std::string UsageText() { return std::string("usage: ") + kProgramName + kUsage; }

CommandLine ParseCommandLine(int count, char** arguments) {
  CommandLine line;
  line.arguments = arguments;
  line.count = count;
  Found found;
  const int script = ReadOptions(line, found);
  if (!GoesOn(line)) return line;

  if (found.version) line.steps.push_back({StepKind::kVersion});
  if (line.environment == CommandLine::Environment::kUse) {
    ReadWorkersVariable(line);
    AddInitStep(line.steps);
  }
  line.steps.insert(line.steps.end(), found.steps.begin(), found.steps.end());
  if (script < count) AddScriptStep(line, script);
  if (found.interactive) {
    line.steps.push_back({StepKind::kPrompt});
  } else if (script >= count && !found.chunk && !found.version) {
    if (isatty(STDIN_FILENO) != 0) {
      line.steps.push_back({StepKind::kVersion});
      line.steps.push_back({StepKind::kPrompt});
    } else {
      line.steps.push_back({StepKind::kFile});
    }
  }
  return line;
}

}  // namespace shoal::cli
