// SPDX-License-Identifier: MIT
// CapturedStream sends what goes to stdout or stderr into a file while it lives.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <string>

namespace shoal::core {

class CapturedStream {
 public:
  explicit CapturedStream(std::FILE* stream) : stream_(stream), file_(std::tmpfile()) {
    std::fflush(stream_);
    saved_ = dup(fileno(stream_));
    dup2(fileno(file_), fileno(stream_));
  }
  ~CapturedStream() {
    Restore();
    std::fclose(file_);
  }
  CapturedStream(const CapturedStream&) = delete;
  CapturedStream& operator=(const CapturedStream&) = delete;

  // Ends the capture and returns what was written.
  std::string Take() {
    Restore();
    std::string text;
    char buffer[4096];
    std::rewind(file_);
    while (const std::size_t size = std::fread(buffer, 1, sizeof buffer, file_)) {
      text.append(buffer, size);
    }
    return text;
  }

 private:
  void Restore() {
    if (saved_ < 0) return;
    std::fflush(stream_);
    dup2(saved_, fileno(stream_));
    close(saved_);
    saved_ = -1;
  }

  std::FILE* const stream_;
  std::FILE* const file_;
  int saved_ = -1;
};

}  // namespace shoal::core
