// SPDX-License-Identifier: MIT
#include "bindings/cli/history_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace shoal::cli {

namespace {

std::string EncodeEntry(std::string_view entry) {
  std::string line;
  for (const char c : entry) {
    if (c == '\n') {
      line += "\\n";
    } else {
      if (c == '\\') line += '\\';
      line += c;
    }
  }
  line += '\n';
  return line;
}

std::string DecodeEntry(std::string_view line) {
  std::string entry;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\' || i + 1 == line.size()) {
      entry += line[i];
    } else {
      ++i;
      entry += line[i] == 'n' ? '\n' : line[i];
    }
  }
  return entry;
}

// Others must not read what somebody types.
bool WriteFile(const std::string& path, int flags, std::string_view text) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, S_IRUSR | S_IWUSR);
  if (file < 0) return false;
  // One call, so that entries of several prompts do not mix.
  const bool written = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  return close(file) == 0 && written;
}

}  // namespace

std::string HistoryFile::DefaultPath() {
  constexpr char kName[] = "/shoal/history";
  const char* const state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && state[0] == '/') return std::string(state) + kName;
  const char* const home = std::getenv("HOME");
  if (home == nullptr || home[0] == '\0') return "";
  return std::string(home) + "/.local/state" + kName;
}

std::vector<std::string> HistoryFile::Load(std::size_t most) {
  std::vector<std::string> entries;
  if (path_.empty()) return entries;
  std::ifstream file(path_);
  for (std::string line; std::getline(file, line);) entries.push_back(DecodeEntry(line));
  const std::size_t found = entries.size();
  if (found <= most) return entries;
  entries.erase(entries.begin(), entries.end() - static_cast<std::ptrdiff_t>(most));
  if (found > 2 * most) Rewrite(entries);
  return entries;
}

void HistoryFile::Add(std::string_view entry) {
  if (path_.empty()) return;
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), ignored);
  static_cast<void>(WriteFile(path_, O_APPEND, EncodeEntry(entry)));
}

void HistoryFile::Rewrite(const std::vector<std::string>& entries) {
  std::string text;
  for (const std::string& entry : entries) text += EncodeEntry(entry);
  const std::string fresh = path_ + ".new";
  std::error_code ignored;
  if (WriteFile(fresh, O_TRUNC, text)) std::filesystem::rename(fresh, path_, ignored);
}

}  // namespace shoal::cli
