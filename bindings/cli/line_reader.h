// SPDX-License-Identifier: MIT
// A LineReader shows a prompt and reads a line: with editing on a terminal, else as it comes.
//
// Threads: any thread, one at a time; RestoreTerminal from any thread at any time.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "bindings/cli/line_editor.h"

namespace shoal::cli {

class LineReader {
 public:
  LineReader() = default;
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  // Blocks until there is a line, which is then in line(), without a newline.
  ReadResult Read(const char* prompt);
  [[nodiscard]] const std::string& line() const { return line_; }
  // Puts a statement into the history.
  void Remember(const std::string& statement);
  // See LineEditor. Does nothing if none has been used.
  void RestoreTerminal() const;

 private:
  ReadResult ReadPlain(const char* prompt);

  bool opened_ = false;
  std::unique_ptr<LineEditor> editor_;
  // The editor, for RestoreTerminal: publishes that it has been made.
  std::atomic<const LineEditor*> published_{nullptr};
  std::string line_;
};

}  // namespace shoal::cli
