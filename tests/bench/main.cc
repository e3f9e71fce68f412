// SPDX-License-Identifier: MIT
// The benchmark: measures operations of scripts and their limits by turns, and prints a table.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "runtime/base/freed_memory.h"
#include "tests/bench/json.h"
#include "tests/bench/limits.h"
#include "tests/bench/plot.h"
#include "tests/bench/result.h"
#include "tests/bench/row.h"
#include "tests/bench/table.h"

namespace shoal::bench {

namespace {

constexpr char kUsage[] =
    "usage: bench [--only NAME] [--rounds N] [--quick] [--json] [--plot FILE]\n"
    "\n"
    "  --only NAME   only the rows with NAME in their name\n"
    "  --rounds N    how often all is measured (default 15)\n"
    "  --quick       one short round, to see that it works\n"
    "  --json        print a list for other programs, instead of the table\n"
    "  --plot FILE   also write a picture, an SVG document\n";

// What a thread that only computes gets on a quiet machine, at least.
constexpr double kQuietShare = 0.97;
constexpr double kQuietLoad = 0.3;  // for each processor
constexpr double kQuickScale = 0.01;

enum class Form { kTable, kJson };

struct Options {
  std::string only;
  std::string plot;  // a file; empty: none
  Form form = Form::kTable;
  int rounds = 15;
  double scale = 1;
};

[[noreturn]] void RefuseArguments() {
  std::fputs(kUsage, stderr);
  std::exit(2);
}

Options ParseOptions(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    const char* value = i + 1 < count ? arguments[i + 1] : nullptr;
    if (argument == "--quick") {
      options.rounds = 1;
      options.scale = kQuickScale;
    } else if (argument == "--json") {
      options.form = Form::kJson;
    } else if (argument == "--plot" && value != nullptr) {
      options.plot = value;
      ++i;
    } else if (argument == "--only" && value != nullptr) {
      options.only = value;
      ++i;
    } else if (argument == "--rounds" && value != nullptr && std::atoi(value) > 0) {
      options.rounds = std::atoi(value);
      ++i;
    } else if (argument == "--help") {
      std::fputs(kUsage, stdout);
      std::exit(EXIT_SUCCESS);
    } else {
      RefuseArguments();
    }
  }
  return options;
}

// How many want to run, on average of the last minute.
double Load() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load : 0;
}

void ShowProgress(int round, int rounds) {
  if (isatty(STDERR_FILENO) != 0) std::fprintf(stderr, "\rround %d of %d", round + 1, rounds);
}

void ClearProgress() {
  if (isatty(STDERR_FILENO) != 0) std::fputs("\r\033[K", stderr);
}

// One measurement of each side. The order alternates: the second finds the caches warm.
void MeasureRound(const Row& row, int round, Measured* measured) {
  if (round % 2 == 0) measured->limit.push_back(row.limit());
  measured->ours.push_back(row.ours());
  if (round % 2 != 0) measured->limit.push_back(row.limit());
}

std::vector<Row> ChosenRows(const Options& options) {
  std::vector<Row> rows;
  for (const auto& some :
       {AllRows(options.scale), BulkRows(options.scale), EmbedRows(options.scale),
        PostRows(options.scale), SocketRows(options.scale)}) {
    for (const Row& row : some) {
      if (row.name.find(options.only) != std::string::npos) rows.push_back(row);
    }
  }
  return rows;
}

std::vector<Measured> Measure(const std::vector<Row>& rows, int rounds) {
  std::vector<Measured> all(rows.size());
  for (int round = 0; round < rounds; ++round) {
    ShowProgress(round, rounds);
    for (std::size_t i = 0; i < rows.size(); ++i) MeasureRound(rows[i], round, &all[i]);
  }
  ClearProgress();
  return all;
}

void PrintTable(const std::vector<Row>& rows, const std::vector<Result>& results) {
  std::puts(TableHead().c_str());
  for (const Result& result : results) std::puts(TableLine(result).c_str());
  for (const Row& row : rows) {
    if (!row.note.empty()) std::printf("\n%s\n", row.note.c_str());
  }
}

bool WritePlot(const std::string& path, const std::vector<Result>& results) {
  std::ofstream file(path);
  file << ToSvg(results);
  file.close();
  if (!file.fail()) return true;
  std::fprintf(stderr, "bench: cannot write %s\n", path.c_str());
  return false;
}

int Run(const Options& options) {
  const double load = Load();
  const std::vector<Row> rows = ChosenRows(options);
  if (rows.empty()) {
    std::fprintf(stderr, "bench: no row has '%s' in its name\n", options.only.c_str());
    return EXIT_FAILURE;
  }
  const std::vector<Measured> all = Measure(rows, options.rounds);
  const double share = ProcessorShare();
  const unsigned processors = std::thread::hardware_concurrency();
  const bool busy = load > kQuietLoad * processors || share < kQuietShare;
  std::vector<Result> results;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    results.push_back(Judge(rows[i], all[i], busy ? Machine::kBusy : Machine::kQuiet));
  }
  // What is no result goes where people look, and programs do not.
  std::FILE* const out = options.form == Form::kJson ? stderr : stdout;
  if (options.form == Form::kJson) {
    std::puts(ToJson(results).c_str());
  } else {
    PrintTable(rows, results);
  }
  std::fprintf(out, "\n%d rounds; %u processors, load %.1f at the start, %.1f at the end\n",
               options.rounds, processors, load, Load());
  if (busy) {
    std::fputs(
        "warning: the machine is busy: what the clock measures (more than one worker, latencies) "
        "says nothing\n",
        out);
  }
  return options.plot.empty() || WritePlot(options.plot, results) ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int Main(int count, char** arguments) {
  const Options options = ParseOptions(count, arguments);
  // As the program does.
  core::KeepFreedMemory();
  return Run(options);
}

}  // namespace shoal::bench

int main(int argc, char** argv) { return shoal::bench::Main(argc, argv); }
