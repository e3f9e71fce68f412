// SPDX-License-Identifier: MIT
// A LineEditor reads lines from the terminal, with editing and a history. (By libedit: the licence
// of readline would bind the program.)
//
// Threads: any thread, one at a time; RestoreTerminal from any thread at any time.
#pragma once

#include <histedit.h>
#include <locale.h>
#include <termios.h>

#include <cstdint>
#include <string>

#include "bindings/cli/history_file.h"

namespace shoal::cli {

enum class ReadResult : std::uint8_t {
  kLine,
  kEnd,        // no more input
  kAbandoned,  // Ctrl-C
};

class LineEditor {
 public:
  LineEditor();
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  // Blocks until a line has been typed; it has no newline at its end.
  ReadResult Read(const char* prompt, std::string& line);
  void Remember(const std::string& statement);
  // Leaves the terminal as it was found: for a program that exits while a line is being read.
  void RestoreTerminal() const;

 private:
  static char* Prompt(EditLine* editor);
  static unsigned char Abandon(EditLine* editor, int key);
  static unsigned char Suspend(EditLine* editor, int key);
  void LoadHistory();

  const locale_t locale_;
  termios found_{};
  EditLine* editor_ = nullptr;
  History* history_ = nullptr;
  HistoryFile file_;
  std::string prompt_;
  bool abandoned_ = false;
};

}  // namespace shoal::cli
