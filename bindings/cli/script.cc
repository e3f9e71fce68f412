// SPDX-License-Identifier: MIT
#include "bindings/cli/script.h"

#include <cstdlib>
#include <cstring>

#include "bindings/cli/chunk_error.h"
#include "bindings/cli/prompt.h"
#include "bindings/lua/shoal_library.h"
#include "runtime/process/process.h"

namespace shoal::cli {

namespace {

// The stack during a step: the script, the message handler, and what the step needs.
constexpr int kScript = 1;
constexpr int kHandler = 2;

// The global `arg`: the script is at index 0, what stands before it at negative ones. [-0, +0, m]
void SetArgumentTable(lua_State* L, const CommandLine& line) {
  lua_createtable(L, line.count - line.script - 1, line.script + 1);
  for (int i = 0; i < line.count; ++i) {
    lua_pushstring(L, line.arguments[i]);
    lua_rawseti(L, -2, i - line.script);
  }
  lua_setglobal(L, "arg");
}

// Pushes what is in `arg` now: a chunk before the script may have changed it. [-0, +n|1, e]
int PushArguments(lua_State* L) {
  if (lua_getglobal(L, "arg") != LUA_TTABLE) {
    lua_pushstring(L, "'arg' is not a table");
    return LUA_ERRRUN;
  }
  const int table = lua_gettop(L);
  const auto count = static_cast<int>(luaL_len(L, table));
  luaL_checkstack(L, count + 3, "too many arguments to script");
  for (int i = 1; i <= count; ++i) lua_rawgeti(L, table, i);
  lua_remove(L, table);
  return LUA_OK;
}

// Pushes `require` and the module's name; the global's name is not needed before it has returned.
void PushRequire(lua_State* L, const char* text) {
  const char* const equals = std::strchr(text, '=');
  lua_getglobal(L, "require");
  lua_pushstring(L, equals != nullptr ? equals + 1 : text);
}

// Sets the global that a kLibrary step names to the value on top of the stack. [-1, +0, e]
void SetLibraryGlobal(lua_State* L, const char* text) {
  const char* const equals = std::strchr(text, '=');
  lua_pushglobaltable(L);
  lua_pushlstring(L, text,
                  equals != nullptr ? static_cast<std::size_t>(equals - text) : std::strlen(text));
  lua_pushvalue(L, -3);
  lua_settable(L, -3);
}

// Prints "Shoal …  (Lua …)".
void PrintVersion() {
  lua_writestring(bindings::kVersion, sizeof bindings::kVersion - 1);
  constexpr char kLua[] = "  (" LUA_COPYRIGHT ")";
  lua_writestring(kLua, sizeof kLua - 1);
  lua_writeline();
}

// Here, and in all processes that will be.
void TurnWarningsOn(lua_State* L) {
  lua_warning(L, "@on", 0);
  core::Process::Of(L).machine().warnings_on.store(true, std::memory_order_relaxed);
}

// Pushes the function of the step and its arguments, or the message that tells why there is none.
// [-0, +n, e]
int LoadStep(lua_State* L, const Step& step) {
  int status = LUA_OK;
  switch (step.kind) {
    case StepKind::kText:
      return luaL_loadbuffer(L, step.text, std::strlen(step.text), step.name);
    case StepKind::kFile:
      return luaL_loadfile(L, step.text);
    case StepKind::kScript:
      status = luaL_loadfile(L, step.text);
      return status == LUA_OK ? PushArguments(L) : status;
    case StepKind::kLibrary:
      PushRequire(L, step.text);
      return LUA_OK;
    default:
      return LUA_OK;
  }
}

// The step has ended. False if it failed, with the message on top: then the program ends.
bool FinishStep(lua_State* L, const Script& script, const Step& step, int status) {
  if (Failed(L, status)) {
    script.log.Write(core::LogLevel::kError, ErrorText(L));
    core::Process& process = core::Process::Of(L);
    process.machine().program_end.RequestExit(EXIT_FAILURE, process, core::CloseStates::kYes);
    return false;
  }
  if (step.kind == StepKind::kLibrary) SetLibraryGlobal(L, step.text);
  return true;
}

int StepDone(lua_State* L, int status, lua_KContext);

// Does what is left to do, from script.next_step on.
int DoSteps(lua_State* L, Script& script) {
  const std::vector<Step>& steps = script.command_line.steps;
  while (script.next_step < steps.size()) {
    lua_settop(L, kScript);
    const Step& step = steps[script.next_step++];
    switch (step.kind) {
      case StepKind::kVersion:
        PrintVersion();
        continue;
      case StepKind::kWarnings:
        TurnWarningsOn(L);
        continue;
      case StepKind::kPrompt:
        return RunPrompt(L, script.reader, script.signals);  // always the last
      default:
        break;
    }
    lua_pushcfunction(L, DescribeError);
    int status = LoadStep(L, step);
    if (status == LUA_OK) {
      const int results = step.kind == StepKind::kLibrary ? 1 : 0;
      status = lua_pcallk(L, lua_gettop(L) - kHandler - 1, results, kHandler, 0, StepDone);
    }
    if (!FinishStep(L, script, step, status)) return 0;
  }
  return 0;
}

// The continuation of a step in which the process has waited.
int StepDone(lua_State* L, int status, lua_KContext) {
  auto& script = *static_cast<Script*>(lua_touserdata(L, kScript));
  const Step& step = script.command_line.steps[script.next_step - 1];
  return FinishStep(L, script, step, status) ? DoSteps(L, script) : 0;
}

}  // namespace

int RunScript(lua_State* L) {
  auto& script = *static_cast<Script*>(lua_touserdata(L, kScript));
  SetArgumentTable(L, script.command_line);
  return DoSteps(L, script);
}

}  // namespace shoal::cli
