// SPDX-License-Identifier: MIT
#include "bindings/lua/process_library.h"

#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/lua/arguments.h"
#include "bindings/lua/delivery.h"
#include "bindings/lua/ending.h"
#include "bindings/lua/handles.h"
#include "bindings/lua/monitor_library.h"
#include "runtime/base/enough_memory.h"
#include "runtime/lua/codec.h"
#include "runtime/process/exit_notice.h"
#include "runtime/process/suspend.h"

namespace shoal::bindings {

using core::Duration;
using core::Exit;
using core::ExitKind;
using core::Process;
using core::ProcessPhase;
using core::Ref;
using core::Status;
using core::WaitReason;

namespace {

constexpr int kProcess = 1;

struct ProcessEnding {
  using Handle = Process;
  static constexpr char kIsCaller[] = "a process cannot join itself";
  static Process& Check(lua_State* L) { return CheckProcess(L, kProcess); }
  static bool IsCaller(lua_State* L, Process& process) { return &process == &Process::Of(L); }
  static bool HasEnded(Process& process) { return process.exit().kind() != ExitKind::kNone; }
  static Status JoinOrWait(Process& process, core::WaitNode& node) {
    return process.exit().JoinOrWait(node);
  }
  static void Describe(lua_State* L, std::string& text);
  static void Cancel(lua_State* L, Process& process, Duration cleanup_time) {
    if (IsCaller(L, process)) {
      process.CancelSelf(cleanup_time);
    } else {
      process.Cancel(cleanup_time);
    }
  }
  static int PushEnd(lua_State* L, Want want);
  static int ErrorDecoded(lua_State* L, int, lua_KContext want);
};

void ProcessEnding::Describe(lua_State* L, std::string& text) {
  auto* process = static_cast<Process*>(ToReference(L, kProcess));
  if (process != nullptr) AppendProcess(*process, text);
}

int ProcessEnding::ErrorDecoded(lua_State* L, int, lua_KContext want) {
  return PushExitError(L, static_cast<Want>(want), Check(L).exit());
}

int ProcessEnding::PushEnd(lua_State* L, Want want) {
  Process& process = Check(L);
  Exit& exit = process.exit();
  const ExitKind kind = exit.kind();
  process.MarkJoined();
  if (kind == ExitKind::kCancelled) return PushCancellation(L, want);
  if (kind == ExitKind::kDone) {
    if (want != Want::kResult) lua_pushboolean(L, 1);
    return DeliverKept(L, *exit.message(), want == Want::kResult ? 0 : 1 + NumbersBefore(want));
  }
  const auto context = static_cast<lua_KContext>(want);
  if (exit.message() != nullptr && core::NeedsModules(L, *exit.message())) {
    return core::RequireModules(L, *exit.message(), context, ErrorDecoded);
  }
  return ErrorDecoded(L, LUA_OK, context);
}

// --- the handle

int StatusOf(lua_State* L) {
  Process& process = CheckProcess(L, kProcess);
  const ProcessPhase phase = process.phase();
  const char* status = phase == ProcessPhase::kReady     ? "ready"
                       : phase == ProcessPhase::kWaiting ? "waiting"
                                                         : "running";
  if (const char* end = core::ToString(process.exit().kind())) status = end;
  lua_pushstring(L, status);
  return 1;
}

int Field(lua_State* L) {
  const Process& process = CheckProcess(L, kProcess);
  const char* name = lua_tostring(L, 2);
  if (name == nullptr) return 0;
  const std::string_view field = name;
  if (field == "id") {
    lua_pushinteger(L, static_cast<lua_Integer>(process.id()));
    return 1;
  }
  if (field == "name" && !process.name().empty()) {
    lua_pushlstring(L, process.name().data(), process.name().size());
    return 1;
  }
  return 0;
}

int PushText(lua_State* L) {
  const Process& process = CheckProcess(L, kProcess);
  const auto id = static_cast<lua_Integer>(process.id());
  if (process.name().empty()) {
    lua_pushfstring(L, "process: %I", id);
  } else {
    lua_pushfstring(L, "process: %I (%s)", id, process.name().c_str());
  }
  return 1;
}

const luaL_Reg kMethods[] = {{"join", Ending<ProcessEnding>::Join<Want::kJoin>},
                             {"result", Ending<ProcessEnding>::Join<Want::kResult>},
                             {"cancel", Ending<ProcessEnding>::Cancel},
                             {"monitor", MonitorProcess},
                             {"status", StatusOf},
                             {"stats", ProcessStats},
                             {nullptr, nullptr}};

}  // namespace

int PushEndOfProcess(lua_State* L) { return ProcessEnding::PushEnd(L, Want::kSelect); }

const HandleKind kProcessKind = {"shoal.process", "process", kMethods,
                                 Field,           PushText,  Ending<ProcessEnding>::Close};

int Self(lua_State* L) {
  PushReference(L, &Process::Of(L));
  return 1;
}

namespace {

using Handles = std::vector<Ref<Process>>;
constexpr char kListType[] = "shoal.processes";

int CollectList(lua_State* L) {
  static_cast<Handles*>(lua_touserdata(L, 1))->~Handles();
  return 0;
}

// [-0, +1, m]: a userdata that owns references while Lua calls may raise.
Handles& PushList(lua_State* L) {
  auto* list = new (lua_newuserdatauv(L, sizeof(Handles), 0)) Handles();
  if (luaL_newmetatable(L, kListType) != 0) {
    lua_pushcfunction(L, CollectList);
    lua_setfield(L, -2, "__gc");
  }
  lua_setmetatable(L, -2);
  return *list;
}

// A confined process sees itself and its descendants.
bool MaySee(const Process& viewer, const Process& process) {
  return !viewer.reach().confined || &viewer == &process ||
         process.reach().DescendsFrom(viewer.id());
}

// All that `viewer` may see. Raises nothing; may throw bad_alloc.
Handles VisibleTo(Process& viewer) {
  Handles all = viewer.machine().processes.All();
  std::erase_if(all, [&](const Ref<Process>& process) { return !MaySee(viewer, *process); });
  return all;
}

// A name may be that of several processes: the oldest that may be seen.
Ref<Process> FindVisible(Process& viewer, const std::string& name) {
  for (Ref<Process>& process : VisibleTo(viewer)) {
    if (process->name() == name) return std::move(process);
  }
  return {};
}

// May throw bad_alloc.
void FindInto(lua_State* L, Handles& found) {
  Process& viewer = Process::Of(L);
  core::ProcessTable& processes = viewer.machine().processes;
  Ref<Process> process;
  if (lua_type(L, 1) == LUA_TSTRING) {
    const std::string name = lua_tostring(L, 1);
    process = viewer.reach().confined ? FindVisible(viewer, name) : processes.Find(name);
  } else {
    process = processes.Find(static_cast<std::uint64_t>(lua_tointeger(L, 1)));
  }
  if (process && MaySee(viewer, *process)) found.push_back(std::move(process));
}

}  // namespace

int FindProcess(lua_State* L) {
  if (lua_type(L, 1) != LUA_TSTRING && lua_isinteger(L, 1) == 0) {
    luaL_argerror(L, 1,
                  lua_pushfstring(L, "an id (integer) or a name (string) expected, got %s",
                                  luaL_typename(L, 1)));
  }
  Handles& found = PushList(L);
  CheckMemory(L, core::EnoughMemory([&] { FindInto(L, found); }));
  if (found.empty()) {
    lua_pushnil(L);
  } else {
    PushReference(L, found[0].get());
  }
  return 1;
}

int Processes(lua_State* L) {
  Handles& all = PushList(L);
  CheckMemory(L, core::EnoughMemory([&] { all = VisibleTo(Process::Of(L)); }));
  lua_createtable(L, static_cast<int>(all.size()), 0);
  for (std::size_t i = 0; i < all.size(); ++i) {
    PushReference(L, all[i].get());
    lua_rawseti(L, -2, static_cast<lua_Integer>(i) + 1);
  }
  return 1;
}

namespace {

// All have ended: nobody will join those who failed any more, it seems.
void ReportFailures(lua_State* L) { Process::Of(L).machine().error_reports.Flush(); }

int WaitDone(lua_State* L, int, lua_KContext) {
  const Status status = core::EndWait(L);
  if (status != Status::kOk) return PushOutcome(L, status);
  ReportFailures(L);
  lua_pushboolean(L, 1);
  return 1;
}

int WaitAgain(lua_State* L, int, lua_KContext) { return WaitForAll(L); }

}  // namespace

int WaitForAll(lua_State* L) {
  const Duration timeout = CheckTimeout(L, 1);
  Process& process = Process::Of(L);
  if (!process.options().script) {
    return luaL_error(L, "shoal.wait is for the first process; others join");
  }
  if (core::BeforeWait(L)) return core::YieldTurn(L, WaitAgain);
  core::Task& task = core::BeginWait(L, WaitReason::kIdle, nullptr);
  if (process.machine().processes.WaitAllOrPublish(task.Nodes(1)[0]) == Status::kOk) {
    core::DropWait(L);
    ReportFailures(L);
    lua_pushboolean(L, 1);
    return 1;
  }
  core::ArmDeadline(L, DeadlineFor(L, timeout));
  return core::Suspend(L, 0, WaitDone);
}

}  // namespace shoal::bindings
