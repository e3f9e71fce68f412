// SPDX-License-Identifier: MIT
#include "bindings/cli/stats_table.h"

#include <cstdint>
#include <cstdio>

namespace shoal::cli {

namespace {

// Sent by processes that have exited, and by those that will not.
std::uint64_t MessagesSent(core::Machine& machine) {
  std::uint64_t sum = machine.messages_sent.load(std::memory_order_relaxed);
  for (const auto& process : machine.processes.All()) sum += process->usage().sent;
  return sum;
}

}  // namespace

std::string StatsTable(core::Runtime& runtime) {
  core::Machine& machine = runtime.machine();
  const auto counters = machine.scheduler.counters();
  const core::ProcessTable::Totals processes = machine.processes.totals();
  const struct {
    const char* name;
    std::uint64_t value;
  } rows[] = {
      {"processes", processes.spawned},
      {"processes at one time", processes.peak},
      {"messages sent", MessagesSent(machine)},
      {"dispatches", counters.dispatches},
      {"steals", counters.steals + counters.next_steals},
      {"parks", counters.parks},
      {"wakes", counters.wakes},
      {"ticks", counters.ticks},
      {"threads", counters.threads},
  };
  std::string table;
  for (const auto& row : rows) {
    char line[80];
    std::snprintf(line, sizeof line, "%-22s %12llu\n", row.name,
                  static_cast<unsigned long long>(row.value));
    table += line;
  }
  table.pop_back();
  return table;
}

}  // namespace shoal::cli
