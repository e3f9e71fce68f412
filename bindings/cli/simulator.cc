// SPDX-License-Identifier: MIT
#include "bindings/cli/simulator.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/lua/stderr_log.h"

namespace shoal::cli {

namespace {

constexpr char kThisProgram[] = "/proc/self/exe";
constexpr unsigned long kAskPersonality = 0xffffffff;
// The exit status of a child that could not become the program, as a shell's.
constexpr int kCannotRun = 127;

// False if the system refuses.
bool TurnOffRandomAddresses() {
  const int present = personality(kAskPersonality);
  return present != -1 && personality(static_cast<unsigned>(present) | ADDR_NO_RANDOMIZE) != -1;
}

std::string OptionFor(std::uint64_t seed) { return "--sim=" + std::to_string(seed); }

// An argument as a shell has to be given it.
std::string Quoted(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(text);
  }
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// The command line with one seed in place of the range.
std::string CommandFor(const CommandLine& line, std::uint64_t seed) {
  std::string command;
  for (int i = 0; i < line.count; ++i) {
    if (i > 0) command += ' ';
    command += i == line.seeds_argument ? OptionFor(seed) : Quoted(line.arguments[i]);
  }
  return command;
}

// The child: becomes the program with that seed, which puts out all into the file `output` and has
// no input.
[[noreturn]] void BecomeRun(const CommandLine& line, std::uint64_t seed, int output) {
  std::string option = OptionFor(seed);
  std::vector<char*> arguments(line.arguments, line.arguments + line.count);
  arguments[static_cast<std::size_t>(line.seeds_argument)] = option.data();
  arguments.push_back(nullptr);
  const int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (input >= 0 && dup2(input, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
      dup2(output, STDERR_FILENO) >= 0) {
    static_cast<void>(TurnOffRandomAddresses());
    execv(kThisProgram, arguments.data());
  }
  _exit(kCannotRun);
}

// "exit status 1", or "signal 11 (Segmentation fault)"; empty if all went well.
std::string FailureOf(int status) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return "signal " + std::to_string(signal) + " (" + strsignal(signal) + ")";
  }
  const int code = WEXITSTATUS(status);
  return code == 0 ? std::string() : "exit status " + std::to_string(code);
}

// Copies the file to stdout.
void Show(int file) {
  char buffer[1 << 14];
  ssize_t size;
  off_t at = 0;
  while ((size = pread(file, buffer, sizeof buffer, at)) > 0) {
    std::fwrite(buffer, 1, static_cast<std::size_t>(size), stdout);
    at += size;
  }
  std::fflush(stdout);
}

void Say(const std::string& text) {
  bindings::WriteToStderr(std::string(kProgramName) + ": " + text);
}

}  // namespace

void FixAddresses(char** arguments) {
  const int present = personality(kAskPersonality);
  if (present != -1 && (static_cast<unsigned>(present) & ADDR_NO_RANDOMIZE) != 0) return;
  if (TurnOffRandomAddresses()) execv(kThisProgram, arguments);
  Say("the system does not let a program choose its addresses: the run may differ from others of "
      "this seed in the order of `pairs` and in addresses");
}

int TrySeeds(const CommandLine& line) {
  const auto [first, last] = *line.seeds;
  for (std::uint64_t seed = first;; ++seed) {
    const int output = memfd_create("output", MFD_CLOEXEC);
    const pid_t child = output < 0 ? -1 : fork();
    if (child == 0) BecomeRun(line, seed, output);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) {
      Say(std::string("cannot run the program: ") + std::strerror(errno));
      return EXIT_FAILURE;
    }
    const std::string failure = FailureOf(status);
    if (!failure.empty()) {
      Show(output);
      Say("seed " + std::to_string(seed) + " fails (" + failure +
          "); to see it again: " + CommandFor(line, seed));
      return EXIT_FAILURE;
    }
    close(output);
    if (seed == last) break;
  }
  Say("no seed from " + std::to_string(first) + " to " + std::to_string(last) + " fails");
  return EXIT_SUCCESS;
}

}  // namespace shoal::cli
