// SPDX-License-Identifier: MIT
#include "bindings/cli/prompt.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "bindings/cli/chunk_error.h"
#include "bindings/lua/stderr_log.h"
#include "runtime/process/process.h"
#include "runtime/process/suspend.h"

namespace shoal::cli {

namespace {

// The stack: the LineReader, the Signals, the message handler, and the chunk or its results.
constexpr int kReader = 1;
constexpr int kSignals = 2;
constexpr int kHandler = 3;

constexpr char kChunkName[] = "=stdin";
// How the message ends when more lines may complete a statement.
constexpr std::string_view kAtEnd = "<eof>";

enum class Position : std::uint8_t { kFirst, kMore };

LineReader& ReaderOf(lua_State* L) { return *static_cast<LineReader*>(lua_touserdata(L, kReader)); }

// --- Reading

struct ReadRequest {
  LineReader& reader;
  const char* prompt;
  ReadResult result;
};

// Reads without a seat: other processes go on.
ReadResult Read(lua_State* L, const char* prompt) {
  ReadRequest request{ReaderOf(L), prompt, ReadResult::kEnd};
  const auto section = [](void* argument) {
    auto& read = *static_cast<ReadRequest*>(argument);
    read.result = read.reader.Read(read.prompt);
  };
  // If no other thread can be had, the others wait.
  static_cast<void>(core::Process::Of(L).BlockingSection(section, &request));
  return request.result;
}

// Pushes a line, if there is one. [-0, +0|1, e]
ReadResult PushLine(lua_State* L, Position position) {
  const bool first = position == Position::kFirst;
  const char* prompt = first ? "> " : ">> ";
  if (lua_getglobal(L, first ? "_PROMPT" : "_PROMPT2") != LUA_TNIL) {
    prompt = luaL_tolstring(L, -1, nullptr);
    lua_remove(L, -2);
  }
  const ReadResult result = Read(L, prompt);
  lua_pop(L, 1);
  if (result != ReadResult::kLine) return result;
  const std::string& line = ReaderOf(L).line();
  if (first && line[0] == '=') {
    lua_pushfstring(L, "return %s", line.c_str() + 1);
  } else {
    lua_pushlstring(L, line.data(), line.size());
  }
  return result;
}

bool IsIncomplete(lua_State* L, int status) {
  if (status != LUA_ERRSYNTAX) return false;
  const std::string_view message = ErrorText(L);
  return message.size() >= kAtEnd.size() &&
         message.substr(message.size() - kAtEnd.size()) == kAtEnd;
}

// The statement at `index` goes into the history.
void Remember(lua_State* L, int index) {
  const char* const statement = lua_tostring(L, index);
  if (statement[0] != '\0') ReaderOf(L).Remember(statement);
}

// Loads the line on top as an expression. [-0, +0|1, e]
bool LoadExpression(lua_State* L) {
  const char* const code = lua_pushfstring(L, "return %s;", lua_tostring(L, -1));
  if (luaL_loadbuffer(L, code, std::strlen(code), kChunkName) != LUA_OK) {
    lua_pop(L, 2);
    return false;
  }
  lua_remove(L, -2);
  return true;
}

// Replaces the line on top by the chunk that it begins, or by the message that tells what is wrong
// with it. [-1, +0|1, e]
ReadResult LoadStatement(lua_State* L, int* status) {
  const int text = lua_gettop(L);
  for (;;) {
    std::size_t size = 0;
    const char* const code = lua_tolstring(L, text, &size);
    *status = luaL_loadbuffer(L, code, size, kChunkName);
    if (!IsIncomplete(L, *status)) break;
    const ReadResult result = PushLine(L, Position::kMore);
    if (result == ReadResult::kAbandoned) return result;
    if (result == ReadResult::kEnd) break;
    lua_remove(L, -2);
    lua_pushstring(L, "\n");
    lua_insert(L, -2);
    lua_concat(L, 3);
  }
  Remember(L, text);
  lua_remove(L, text);
  return ReadResult::kLine;
}

// Reads until there is a chunk, or a message in its place (see `status`). [-0, +0|1, e]
ReadResult PushStatement(lua_State* L, int* status) {
  const ReadResult result = PushLine(L, Position::kFirst);
  if (result != ReadResult::kLine) return result;
  if (!LoadExpression(L)) return LoadStatement(L, status);
  *status = LUA_OK;
  Remember(L, -2);
  lua_remove(L, -2);
  return result;
}

// --- Running

int ReadAndRun(lua_State* L, int, lua_KContext);
int PrintDone(lua_State* L, int status, lua_KContext);

// An interrupt that came before this was for the last statement.
void ForgetInterrupts(lua_State* L) {
  static_cast<void>(core::Process::Of(L).TakeInterrupt());
  static_cast<Signals*>(lua_touserdata(L, kSignals))->Forgive();
}

// Before each statement, the process' other tasks have their turn.
int NextStatement(lua_State* L) {
  ForgetInterrupts(L);
  static_cast<void>(core::BeforeWait(L));
  return core::YieldTurn(L, ReadAndRun);
}

int StatementDone(lua_State* L, int status, lua_KContext) {
  if (Failed(L, status)) {
    bindings::WriteToStderr(ErrorText(L));
    return NextStatement(L);
  }
  const int count = lua_gettop(L) - kHandler;
  if (count == 0) return NextStatement(L);
  luaL_checkstack(L, LUA_MINSTACK, "too many results to print");
  lua_getglobal(L, "print");
  lua_insert(L, kHandler + 1);
  return PrintDone(L, lua_pcallk(L, count, 0, 0, 0, PrintDone), 0);
}

int PrintDone(lua_State* L, int status, lua_KContext) {
  if (Failed(L, status)) {
    lua_pushfstring(L, "error calling 'print' (%s)", lua_tostring(L, -1));
    bindings::WriteToStderr(ErrorText(L));
  }
  return NextStatement(L);
}

int ReadAndRun(lua_State* L, int, lua_KContext) {
  lua_settop(L, kSignals);
  lua_pushcfunction(L, DescribeError);
  int status = LUA_OK;
  switch (PushStatement(L, &status)) {
    case ReadResult::kEnd:
      lua_writeline();
      return 0;
    case ReadResult::kAbandoned:
      return NextStatement(L);
    case ReadResult::kLine:
      break;
  }
  ForgetInterrupts(L);
  if (status == LUA_OK) status = lua_pcallk(L, 0, LUA_MULTRET, kHandler, 0, StatementDone);
  return StatementDone(L, status, 0);
}

}  // namespace

int RunPrompt(lua_State* L, LineReader& reader, Signals& signals) {
  lua_settop(L, 0);
  lua_pushlightuserdata(L, &reader);
  lua_pushlightuserdata(L, &signals);
  return ReadAndRun(L, LUA_OK, 0);
}

}  // namespace shoal::cli
