// SPDX-License-Identifier: MIT
#include "bindings/cli/line_editor.h"

#include <langinfo.h>
#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>

#include "bindings/cli/command_line.h"

namespace shoal::cli {

namespace {

constexpr int kMostEntries = 1000;

// libedit works in wide characters and takes their encoding from the locale, which for scripts is
// "C", as in the stock interpreter. So the editor has one of its own.
locale_t EditorLocale() {
  locale_t locale = newlocale(LC_CTYPE_MASK, "", nullptr);
  if (locale != nullptr && std::strcmp(nl_langinfo_l(CODESET, locale), "ANSI_X3.4-1968") != 0) {
    return locale;
  }
  if (locale != nullptr) freelocale(locale);
  return newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
}

// The locale of this thread for as long as it lives; nullptr: as it is.
class LocaleScope {
 public:
  explicit LocaleScope(locale_t locale) : before_(uselocale(locale)) {}
  ~LocaleScope() { uselocale(before_); }
  LocaleScope(const LocaleScope&) = delete;
  LocaleScope& operator=(const LocaleScope&) = delete;

 private:
  const locale_t before_;
};

}  // namespace

LineEditor::LineEditor() : locale_(EditorLocale()), file_(HistoryFile::DefaultPath()) {
  const LocaleScope scope(locale_);
  tcgetattr(STDIN_FILENO, &found_);
  editor_ = el_init(kProgramName, stdin, stdout, stderr);
  history_ = history_init();
  if (editor_ == nullptr) return;
  el_set(editor_, EL_CLIENTDATA, this);
  el_set(editor_, EL_PROMPT, Prompt);
  el_set(editor_, EL_EDITOR, "emacs");
  if (history_ != nullptr) {
    LoadHistory();
    el_set(editor_, EL_HIST, history, history_);
  }
  el_source(editor_, nullptr);
  // While a line is edited, Ctrl-C and Ctrl-Z are keys: this thread blocks all signals.
  el_set(editor_, EL_SETTY, "-d", "-isig", nullptr);
  // Wide, because libedit leaks the names that it has to convert.
  el_wset(editor_, EL_ADDFN, L"shoal-abandon", L"Abandon the statement", Abandon);
  el_set(editor_, EL_BIND, "^C", "shoal-abandon", nullptr);
  el_wset(editor_, EL_ADDFN, L"shoal-suspend", L"Suspend the program", Suspend);
  el_set(editor_, EL_BIND, "^Z", "shoal-suspend", nullptr);
}

LineEditor::~LineEditor() {
  if (editor_ != nullptr) el_end(editor_);
  if (history_ != nullptr) history_end(history_);
  if (locale_ != nullptr) freelocale(locale_);
}

void LineEditor::LoadHistory() {
  HistEvent event;
  history(history_, &event, H_SETSIZE, kMostEntries);
  history(history_, &event, H_SETUNIQUE, 1);
  for (const std::string& entry : file_.Load(kMostEntries)) {
    history(history_, &event, H_ENTER, entry.c_str());
  }
}

ReadResult LineEditor::Read(const char* prompt, std::string& line) {
  if (editor_ == nullptr) return ReadResult::kEnd;
  const LocaleScope scope(locale_);
  prompt_ = prompt;
  abandoned_ = false;
  // The window may have changed its size, and another program the terminal.
  el_resize(editor_);
  // Before the prompt is shown: what is typed from then on are keys.
  el_set(editor_, EL_PREP_TERM, 1);
  int count = 0;
  const char* const text = el_gets(editor_, &count);
  if (abandoned_) return ReadResult::kAbandoned;
  if (text == nullptr || count <= 0) return ReadResult::kEnd;
  line.assign(text);
  if (!line.empty() && line.back() == '\n') line.pop_back();
  return ReadResult::kLine;
}

void LineEditor::Remember(const std::string& statement) {
  if (history_ == nullptr) return;
  const LocaleScope scope(locale_);
  HistEvent event;
  // 0: it is the same as the one before.
  if (history(history_, &event, H_ENTER, statement.c_str()) > 0) file_.Add(statement);
}

void LineEditor::RestoreTerminal() const { tcsetattr(STDIN_FILENO, TCSANOW, &found_); }

char* LineEditor::Prompt(EditLine* editor) {
  LineEditor* self = nullptr;
  el_get(editor, EL_CLIENTDATA, &self);
  return self->prompt_.data();
}

unsigned char LineEditor::Abandon(EditLine* editor, int) {
  LineEditor* self = nullptr;
  el_get(editor, EL_CLIENTDATA, &self);
  self->abandoned_ = true;
  std::fputs("^C\r\n", stdout);
  std::fflush(stdout);
  return CC_NEWLINE;
}

unsigned char LineEditor::Suspend(EditLine* editor, int) {
  el_set(editor, EL_PREP_TERM, 0);
  // To this thread, and not blocked in it: the program stops right here.
  sigset_t stop;
  sigset_t before;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  pthread_sigmask(SIG_UNBLOCK, &stop, &before);
  pthread_kill(pthread_self(), SIGTSTP);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  el_set(editor, EL_PREP_TERM, 1);
  return CC_REDISPLAY;
}

}  // namespace shoal::cli
