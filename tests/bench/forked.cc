// SPDX-License-Identifier: MIT
#include "tests/bench/forked.h"

#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <vector>

#include "runtime/base/check.h"

namespace shoal::bench {

double SumOfForked(int count, const std::function<double()>& measure) {
  int ends[2];
  SHOAL_CHECK(pipe(ends) == 0);
  std::vector<pid_t> children;
  for (int i = 0; i < count; ++i) {
    const pid_t child = fork();
    SHOAL_CHECK(child >= 0);
    if (child == 0) {
      // What earlier rounds have freed must not be taken for what costs nothing.
      malloc_trim(0);
      const double result = measure();
      const bool written = write(ends[1], &result, sizeof result) == sizeof result;
      _exit(written ? 0 : 1);
    }
    children.push_back(child);
  }
  close(ends[1]);
  double sum = 0;
  for (int i = 0; i < count; ++i) {
    double result = 0;
    SHOAL_CHECK(read(ends[0], &result, sizeof result) == sizeof result);
    sum += result;
  }
  close(ends[0]);
  for (const pid_t child : children) waitpid(child, nullptr, 0);
  return sum;
}

double ResidentBytes() { return ResidentBytesOf("self"); }

double ResidentBytesOf(const std::string& id) {
  std::FILE* file = std::fopen(("/proc/" + id + "/statm").c_str(), "r");
  SHOAL_CHECK(file != nullptr);
  long all = 0;
  long resident = 0;
  const int fields = std::fscanf(file, "%ld %ld", &all, &resident);  // NOLINT(cert-err34-c)
  std::fclose(file);
  SHOAL_CHECK(fields == 2);
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

}  // namespace shoal::bench
