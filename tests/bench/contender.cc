// SPDX-License-Identifier: MIT
#include "tests/bench/contender.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "runtime/base/check.h"
#include "tests/bench/forked.h"
#include "tests/bench/socket_scripts.h"

namespace shoal::bench {

namespace {

const char* SourceOf(const std::string& script) {
  for (const SocketScript* each = kSocketScripts; each->name != nullptr; ++each) {
    if (script == each->name) return each->source;
  }
  SHOAL_CHECK(!"there is a script of that name");
  return nullptr;
}

// The program reads the script from its input.
int Execute(const std::string& program, const std::string& script,
            const std::vector<std::string>& arguments) {
  const char* const source = SourceOf(script);
  const int input = memfd_create("script", 0);
  const auto size = static_cast<ssize_t>(std::strlen(source));
  SHOAL_CHECK(write(input, source, static_cast<std::size_t>(size)) == size);
  SHOAL_CHECK(lseek(input, 0, SEEK_SET) == 0 && dup2(input, STDIN_FILENO) == STDIN_FILENO);
  close(input);
  std::vector<std::string> words = {program, "-"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execvp(program.c_str(), pointers.data());
  std::perror(program.c_str());
  return EXIT_FAILURE;
}

}  // namespace

// The shoal program was built beside this one.
std::string ShoalProgram() {
  char path[PATH_MAX] = {};
  SHOAL_CHECK(readlink("/proc/self/exe", path, sizeof path - 1) > 0);
  const std::string self = path;
  return self.substr(0, self.rfind("/tests/bench/")) + "/bindings/cli/shoal";
}

Launch InShoal(const std::string& script, int workers, const std::vector<std::string>& arguments) {
  return [=] {
    setenv("SHOAL_WORKERS", std::to_string(workers).c_str(), 1);
    return Execute(ShoalProgram(), script, arguments);
  };
}

Launch InLua(const std::string& script, const std::vector<std::string>& arguments) {
  return [=] { return Execute("lua5.4", script, arguments); };
}

bool HasModule(const std::string& module) {
  return std::system(("lua5.4 -l " + module + " -e '' >/dev/null 2>&1").c_str()) == 0;
}

Contender::Contender(const Launch& launch) {
  int ends[2];
  SHOAL_CHECK(pipe(ends) == 0);
  std::fflush(stdout);  // the child has a copy of what is not written yet
  child_ = fork();
  SHOAL_CHECK(child_ >= 0);
  if (child_ == 0) {
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    std::signal(SIGPIPE, SIG_IGN);
    _exit(launch());
  }
  close(ends[1]);
  output_ = ends[0];
}

Contender::~Contender() {
  close(output_);
  if (child_ > 0) waitpid(child_, nullptr, 0);
}

long Contender::Answer() {
  std::string line;
  char byte = 0;
  while (read(output_, &byte, 1) == 1 && byte != '\n') line += byte;
  if (byte == '\n') return std::atol(line.c_str());
  std::fprintf(stderr, "bench: a contender ends before it answers\n");
  std::exit(EXIT_FAILURE);
}

double Contender::Resident() const { return ResidentBytesOf(std::to_string(child_)); }

double Contender::Finish() {
  int status = 0;
  rusage usage{};
  SHOAL_CHECK(wait4(std::exchange(child_, -1), &status, 0, &usage) > 0);
  if (status != 0) {
    std::fprintf(stderr, "bench: a contender failed\n");
    std::exit(EXIT_FAILURE);
  }
  const auto nanoseconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_usec) * 1e3;
  };
  return nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime);
}

}  // namespace shoal::bench
