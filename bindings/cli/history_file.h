// SPDX-License-Identifier: MIT
// The HistoryFile keeps what was typed at the prompt: one entry a line, with `\n` for a line break
// inside it and `\\` for a backslash. Several prompts may add to it at the same time.
//
// It never fails: what cannot be read is not there, and what cannot be written is forgotten.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::cli {

class HistoryFile {
 public:
  // `path` is empty: nothing is kept.
  explicit HistoryFile(std::string path) : path_(std::move(path)) {}

  // $XDG_STATE_HOME/shoal/history, or the same in ~/.local/state. Empty without a home.
  static std::string DefaultPath();

  // The last `most` entries, oldest first. Shortens the file when it has grown far beyond that.
  std::vector<std::string> Load(std::size_t most);
  void Add(std::string_view entry);

 private:
  void Rewrite(const std::vector<std::string>& entries);

  const std::string path_;
};

}  // namespace shoal::cli
