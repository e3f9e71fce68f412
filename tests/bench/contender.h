// SPDX-License-Identifier: MIT
// A Contender is a process of the system that is measured from outside: a program with a script, or
// a function of ours. What counts is the time of computing, in the program and in the system for
// it, from its start to its end.
//
// REQUIRES: the benchmark has no other thread at the moment.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

namespace shoal::bench {

// Runs in a process of its own, and does not return if it starts a program. The result is the exit
// status. What it writes to stdout is the answer.
using Launch = std::function<int()>;

// The script of that name in the folder `sockets`, run by the shoal program, or by lua5.4.
Launch InShoal(const std::string& script, int workers, const std::vector<std::string>& arguments);
Launch InLua(const std::string& script, const std::vector<std::string>& arguments);
// The path of the shoal program.
std::string ShoalProgram();
// Whether lua5.4 finds the module.
bool HasModule(const std::string& module);

class Contender {
 public:
  explicit Contender(const Launch& launch);
  ~Contender();
  Contender(const Contender&) = delete;
  Contender& operator=(const Contender&) = delete;

  // The next number that it prints. Fails if it ends before.
  long Answer();
  // The memory that it has in use, in bytes.
  [[nodiscard]] double Resident() const;
  // Waits for its end, and returns the time of computing in nanoseconds.
  double Finish();

 private:
  pid_t child_;
  int output_;
};

}  // namespace shoal::bench
