// SPDX-License-Identifier: MIT
#include "bindings/cli/line_reader.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace shoal::cli {

LineReader::~LineReader() = default;

ReadResult LineReader::Read(const char* prompt) {
  if (!opened_) {
    opened_ = true;
    if (isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0) {
      editor_ = std::make_unique<LineEditor>();
      published_.store(editor_.get());
    }
  }
  return editor_ ? editor_->Read(prompt, line_) : ReadPlain(prompt);
}

ReadResult LineReader::ReadPlain(const char* prompt) {
  std::fputs(prompt, stdout);
  std::fflush(stdout);
  char* text = nullptr;
  std::size_t capacity = 0;
  const ssize_t size = getline(&text, &capacity, stdin);
  if (size >= 0) line_.assign(text, static_cast<std::size_t>(size));
  std::free(text);
  if (size < 0) return ReadResult::kEnd;
  if (!line_.empty() && line_.back() == '\n') line_.pop_back();
  return ReadResult::kLine;
}

void LineReader::Remember(const std::string& statement) {
  if (editor_) editor_->Remember(statement);
}

void LineReader::RestoreTerminal() const {
  const LineEditor* const editor = published_.load();
  if (editor != nullptr) editor->RestoreTerminal();
}

}  // namespace shoal::cli
