// SPDX-License-Identifier: MIT
// TaskRunner runs scripts in a state of ours: a scheduler just large enough to see how waits,
// coroutines and tasks go together. RunStock runs the same scripts in a stock state, to compare.
//
// Scripts of both find these globals:
//   out(...)   appends its arguments, by tostring, and a newline to the output
//   wait(...)  waits, then returns its arguments (stock: just returns them)
//   foreign(f) a C module that runs f in a coroutine of its own, and resumes it until it ends
//   leak(k)    a C module that calls lua_yield; with a true k also gives a continuation
#pragma once

#include <lua.hpp>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "runtime/lua/slice.h"
#include "runtime/lua/state.h"
#include "runtime/lua/state_record.h"

namespace shoal::core {

// A C function that gets the std::string of the output as its upvalue. [-0, +0, e]
inline int AppendOutput(lua_State* L) {
  auto& output = *static_cast<std::string*>(lua_touserdata(L, lua_upvalueindex(1)));
  const int count = lua_gettop(L);
  luaL_checkstack(L, count + 4, nullptr);
  for (int i = 1; i <= count; ++i) luaL_tolstring(L, i, nullptr);
  for (int i = 1; i <= count; ++i) {
    std::size_t size = 0;
    const char* const text = lua_tolstring(L, count + i, &size);
    if (i > 1) output += ' ';
    output.append(text, size);
  }
  output += '\n';
  return 0;
}

inline int ForeignRun(lua_State* L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_State* const co = lua_newthread(L);
  lua_pushvalue(L, 1);
  lua_xmove(L, co, 1);
  int yields = 0;
  int results = 0;
  int status = LUA_YIELD;
  while ((status = lua_resume(co, L, 0, &results)) == LUA_YIELD) {
    lua_pop(co, results);
    ++yields;
  }
  if (status != LUA_OK) {
    lua_xmove(co, L, 1);
    return lua_error(L);
  }
  lua_pushinteger(L, yields);
  return 1;
}

inline int AfterLeak(lua_State* L, int /*status*/, lua_KContext /*context*/) {
  lua_pushliteral(L, "continued");
  return 1;
}
inline int Leak(lua_State* L) {
  if (lua_toboolean(L, 1) != 0) return lua_yieldk(L, 0, 0, AfterLeak);
  lua_settop(L, 0);
  lua_pushinteger(L, 1);
  return lua_yield(L, 1);
}

inline void SetGlobals(lua_State* L, std::string* output, lua_CFunction wait) {
  lua_pushlightuserdata(L, output);
  lua_pushcclosure(L, AppendOutput, 1);
  lua_setglobal(L, "out");
  lua_register(L, "wait", wait);
  lua_register(L, "foreign", ForeignRun);
  lua_register(L, "leak", Leak);
}

inline int ReturnArguments(lua_State* L) { return lua_gettop(L); }

// What a script writes in a stock state, and how it ended.
inline std::string RunStock(const std::string& script) {
  std::string output;
  lua_State* const L = luaL_newstate();
  luaL_openlibs(L);
  SetGlobals(L, &output, ReturnArguments);
  if (luaL_loadbuffer(L, script.data(), script.size(), "=script") != LUA_OK ||
      lua_pcall(L, 0, 0, 0) != LUA_OK) {
    output += "error: ";
    output += luaL_tolstring(L, -1, nullptr);
  }
  lua_close(L);
  return output;
}

class TaskRunner final : private StateHost {
 public:
  struct Task {
    lua_State* co = nullptr;
    std::string output;
    bool is_done = false;
    std::uint32_t unwinding = 0;
    bool waits_for_loads = false;
    std::string error;  // how it ended
  };

  explicit TaskRunner(unsigned seed = 1, LibrarySet libraries = kAllLibraries) : random_(seed) {
    L_ = NewState(&allocator_, &record_);
    record_.host = this;
    lua_pushcfunction(L_, Open);
    lua_pushinteger(L_, libraries);
    // As in a process: inside lua_resume on the main thread.
    int results = 0;
    lua_resume(L_, nullptr, 1, &results);
    lua_settop(L_, 0);
  }
  ~TaskRunner() { CloseState(L_); }
  TaskRunner(const TaskRunner&) = delete;
  TaskRunner& operator=(const TaskRunner&) = delete;

  // The body runs on the main thread; a task in a coroutine. To be run by RunAll.
  Task& AddBody(const std::string& script) { return Add(L_, script); }
  Task& AddTask(const std::string& script) {
    lua_State* const co = lua_newthread(L_);
    luaL_ref(L_, LUA_REGISTRYINDEX);
    return Add(co, script);
  }

  // Resumes tasks that can go on, drawn at random, until none can.
  void RunAll() {
    while (Task* const task = Draw()) ResumeTask(*task);
  }
  // Resumes it once.
  void ResumeTask(Task& task) {
    const StateRecord saved = record_;
    Task* const before = std::exchange(current_, &task);
    record_.task = record_.current = task.co;
    record_.barrier = 0;
    record_.unwinding = task.unwinding;
    MarkSuspendedChain(task.co, false);
    ++resumes_;
    int results = 0;
    const int status = lua_resume(task.co, before != nullptr ? before->co : nullptr, 0, &results);
    token_ = std::exchange(record_.token, SwitchToken::kNone);
    if (status == LUA_YIELD) {
      lua_pop(task.co, results);
      if (token_ == SwitchToken::kNone && on_leak_ != nullptr) on_leak_(task.co);
      MarkSuspendedChain(task.co, true);
    } else {
      task.is_done = true;
      if (status != LUA_OK) {
        lua_resetthread(task.co);
        task.error = lua_tostring(task.co, -1) != nullptr ? lua_tostring(task.co, -1) : "(value)";
        task.output += "error: " + task.error;
      }
      lua_settop(task.co, 0);
    }
    current_ = before;
    record_.task = saved.task;
    record_.current = saved.current;
    record_.barrier = saved.barrier;
    record_.unwinding = saved.unwinding;
  }

  // One of `percent` waits suspends the task, the others return at once.
  void WaitSometimes(int percent) { percent_ = percent; }
  // The slice hook stays armed, and each time it is called, ends the slice.
  void EndSliceEvery(int count) { slice_ = count; }
  // Called at the end of each slice.
  void OnSlice(void (*function)(lua_State*)) { on_slice_ = function; }
  // Makes each wait for a load end by an error.
  void CancelLoadWaits() { cancels_loads_ = true; }
  // Called with the base coroutine when a task has yielded without a token.
  void OnLeak(void (*function)(lua_State*)) { on_leak_ = function; }

  lua_State* state() { return L_; }
  StateRecord& record() { return record_; }
  Task& current() { return *current_; }
  [[nodiscard]] int resumes() const { return resumes_; }
  [[nodiscard]] int suspensions() const { return suspensions_; }
  // Waits in frames that could not be suspended: other tasks ran nested once instead.
  [[nodiscard]] int nested_waits() const { return nested_waits_; }
  // How often requests were looked for: once at the end of a slice, and again after giving way.
  [[nodiscard]] int slices() const { return slices_; }
  // Those in which the task was suspended, and those in which it could not be.
  [[nodiscard]] int ended_slices() const { return slices_ - 2 * skipped_slices_; }
  [[nodiscard]] int skipped_slices() const { return skipped_slices_; }

 private:
  static TaskRunner& Of(lua_State* L) { return *static_cast<TaskRunner*>(RecordOf(L).host); }

  static int Open(lua_State* L) {
    const auto libraries = static_cast<LibrarySet>(lua_tointeger(L, 1));
    lua_settop(L, 0);
    OpenLibraries(L, libraries);
    SetGlobals(L, nullptr, Wait);
    lua_register(L, "out", Output);
    return 0;
  }

  Task& Add(lua_State* co, const std::string& script) {
    tasks_.push_back(std::make_unique<Task>());
    Task& task = *tasks_.back();
    task.co = co;
    if (luaL_loadbuffer(co, script.data(), script.size(), "=script") != LUA_OK) {
      task.output = lua_tostring(co, -1);
      task.is_done = true;
    }
    if (slice_ > 0) KeepSliceHook(co, slice_);
    return task;
  }

  Task* Draw() {
    std::vector<Task*> ready;
    for (const auto& task : tasks_) {
      const bool runs = lua_status(task->co) == LUA_OK && task->co == record_.task && current_;
      if (!task->is_done && !task->waits_for_loads && !runs && !IsRunning(*task)) {
        ready.push_back(task.get());
      }
    }
    if (ready.empty()) return nullptr;
    return ready[std::uniform_int_distribution<std::size_t>(0, ready.size() - 1)(random_)];
  }
  // It runs now, or below a nested run on the C stack.
  static bool IsRunning(const Task& task) {
    lua_Debug frame;
    return lua_status(task.co) == LUA_OK && lua_getstack(task.co, 0, &frame) != 0;
  }

  static int Output(lua_State* L) {
    lua_pushlightuserdata(L, &Of(L).current_->output);
    lua_pushcclosure(L, AppendOutput, 1);
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, 0);
    return 0;
  }

  static int AfterWait(lua_State* L, int, lua_KContext) { return lua_gettop(L); }
  static int Wait(lua_State* L) {
    TaskRunner& runner = Of(L);
    if (std::uniform_int_distribution<int>(0, 99)(runner.random_) >= runner.percent_) {
      return lua_gettop(L);
    }
    if (CanSuspend(L, runner.record_)) {
      ++runner.suspensions_;
      runner.record_.token = SwitchToken::kWait;
      return lua_yieldk(L, 0, 0, AfterWait);
    }
    ++runner.nested_waits_;
    Task* const other = runner.nesting_ < 3 ? runner.Draw() : nullptr;
    if (other != nullptr) {
      ++runner.nesting_;
      runner.ResumeTask(*other);
      --runner.nesting_;
    }
    return lua_gettop(L);
  }

  const void* CurrentTask() override { return current_; }
  int WaitForLoads(lua_State* L, lua_KContext context, lua_KFunction k) override {
    if (!CanSuspend(L, record_)) return luaL_error(L, "test: cannot wait for a load here");
    current_->waits_for_loads = true;
    record_.token = SwitchToken::kWait;
    return lua_yieldk(L, 0, context, k);
  }
  void EndWaitForLoads(lua_State* L) override {
    if (cancels_loads_) luaL_error(L, "test: cancelled");
  }
  void LoadsChanged() override {
    for (const auto& task : tasks_) task->waits_for_loads = false;
  }
  SliceEnd SliceIsOver() override { return slice_ > 0 ? SliceEnd::kAsked : SliceEnd::kNo; }
  void TakeRequests(lua_State* L) override {
    ++slices_;
    if (on_slice_ != nullptr) on_slice_(L);
  }
  void PushCancelled(lua_State* L) override { lua_pushliteral(L, "cancelled"); }
  void GiveWay() override { ++skipped_slices_; }
  RefCounted* ToReference(lua_State*, int) override { return nullptr; }
  void PushReference(lua_State* L, RefCounted*) override { lua_pushnil(L); }

  Allocator allocator_;
  StateRecord record_;
  lua_State* L_ = nullptr;
  std::vector<std::unique_ptr<Task>> tasks_;
  Task* current_ = nullptr;
  std::mt19937 random_;
  SwitchToken token_ = SwitchToken::kNone;
  void (*on_leak_)(lua_State*) = nullptr;
  void (*on_slice_)(lua_State*) = nullptr;
  int slices_ = 0;
  bool cancels_loads_ = false;
  int percent_ = 100;
  int slice_ = 0;
  int nesting_ = 0;
  int resumes_ = 0;
  int suspensions_ = 0;
  int nested_waits_ = 0;
  int skipped_slices_ = 0;
};

// What a script writes as the body of a state of ours that does nothing else.
inline std::string RunOurs(const std::string& script) {
  TaskRunner runner;
  runner.WaitSometimes(0);
  TaskRunner::Task& body = runner.AddBody(script);
  runner.RunAll();
  return body.output;
}

}  // namespace shoal::core
