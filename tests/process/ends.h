// SPDX-License-Identifier: MIT
// The module `ends`, for scripts of tests: ends of socket pairs, and jobs that block, as a binding
// makes them of descriptor_wait.h.
//
//   a, b = ends.pair(), e = ends.adopt(fd)
//   e:read([timeout]) → bytes · nil, "timeout" · nil, "closed"
//   e:write(bytes [, timeout]) → true · the same     (of one byte after the other, if need be)
//   e:fill() → true                                   (writes till it would block)
//   e:close()
//   e:pass() → pointer, ends.take(pointer) → e        (to another process; once for each)
//   ends.select(timeout, e...) → index · nil, "timeout" · nil, "closed"
//   ends.block(e [, timeout]) → byte · nil, "timeout" (a job that blocks till there is a byte)
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <lua.hpp>
#include <mutex>
#include <string>

#include "runtime/process/descriptor_wait.h"
#include "runtime/process/machine.h"
#include "runtime/process/process.h"
#include "tests/support/script_runner.h"

namespace shoal::test {

namespace ends {

using core::Descriptor;
using core::Direction;
using core::Status;

inline constexpr const char* kType = "ends.end";

inline Descriptor& Check(lua_State* L, int index) {
  return **static_cast<Descriptor**>(luaL_checkudata(L, index, kType));
}

// Ends may belong to two processes here (pass), and one may close what the other reads: not during
// the system call, as Descriptor::fd() asks for. None of them blocks, and none raises in Lua.
inline std::mutex number_mu;

inline ssize_t Receive(Descriptor& end, char* bytes, std::size_t size) {
  const std::lock_guard<std::mutex> lock(number_mu);
  return ::recv(end.fd(), bytes, size, 0);
}
inline ssize_t Send(Descriptor& end, const char* bytes, std::size_t size) {
  const std::lock_guard<std::mutex> lock(number_mu);
  return ::send(end.fd(), bytes, size, MSG_NOSIGNAL);
}
inline void CloseNumber(Descriptor& end) {
  const std::lock_guard<std::mutex> lock(number_mu);
  end.Close();
}

// A handle for the reference that the caller gives away.
inline void Push(lua_State* L, Descriptor* descriptor) {
  *static_cast<Descriptor**>(lua_newuserdatauv(L, sizeof descriptor, 0)) = descriptor;
  luaL_setmetatable(L, kType);
}

inline int Outcome(lua_State* L, Status status) {
  lua_pushnil(L);
  lua_pushstring(L, ToString(status));
  return 2;
}

inline void Describe(lua_State*, std::string& text) { text += " on an end"; }

// Replaces the timeout at `index`, the last argument, by the deadline.
inline void SetDeadline(lua_State* L, int index) {
  lua_settop(L, index);
  core::TimePoint deadline = core::kNever;
  if (!lua_isnoneornil(L, index)) {
    const auto timeout = static_cast<std::int64_t>(luaL_checknumber(L, index) * 1e9);
    deadline =
        core::DeadlineAfter(core::Process::Of(L).machine().clock.Now(), core::Duration(timeout));
  }
  lua_pushinteger(L, deadline.time_since_epoch().count());
  lua_replace(L, index);
}

inline core::TimePoint DeadlineAt(lua_State* L, int index) {
  return core::TimePoint(core::Duration(lua_tointeger(L, index)));
}

inline int Pair(lua_State* L) {
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) != 0) {
    return luaL_error(L, "no sockets left");
  }
  for (int fd : fds) Push(L, core::NewDescriptor(L, fd).Leak());
  return 2;
}

inline int Adopt(lua_State* L) {
  Push(L, core::NewDescriptor(L, static_cast<int>(luaL_checkinteger(L, 1))).Leak());
  return 1;
}

inline int ReadDone(lua_State* L, int, lua_KContext);
inline int TryRead(lua_State* L) {
  Descriptor& end = Check(L, 1);
  for (;;) {
    char bytes[64];
    const ssize_t count = Receive(end, bytes, sizeof bytes);
    if (count > 0) {
      lua_pushlstring(L, bytes, static_cast<std::size_t>(count));
      return 1;
    }
    if (count == 0 || errno != EAGAIN) return Outcome(L, Status::kClosed);
    const Status status = AwaitDescriptor(L, end, Direction::kRead, DeadlineAt(L, 2),
                                          core::WaitReason::kReadable, Describe);
    if (status == Status::kPending) return core::Suspend(L, 0, ReadDone);
    if (status != Status::kOk) return Outcome(L, status);
  }
}
inline int ReadDone(lua_State* L, int, lua_KContext) {
  const Status status = core::EndWait(L);
  return status == Status::kOk ? TryRead(L) : Outcome(L, status);
}
inline int ReadAgain(lua_State* L, int, lua_KContext);
inline int BeginRead(lua_State* L) {
  if (core::BeforeWait(L)) return core::YieldTurn(L, ReadAgain);
  return TryRead(L);
}
inline int ReadAgain(lua_State* L, int, lua_KContext) { return BeginRead(L); }
inline int Read(lua_State* L) {
  SetDeadline(L, 2);
  return BeginRead(L);
}

inline int WriteDone(lua_State* L, int, lua_KContext);
inline int TryWrite(lua_State* L, std::size_t written) {
  Descriptor& end = Check(L, 1);
  std::size_t size = 0;
  const char* bytes = luaL_checklstring(L, 2, &size);
  while (written < size) {
    const ssize_t count = Send(end, bytes + written, size - written);
    if (count > 0) {
      written += static_cast<std::size_t>(count);
      continue;
    }
    if (errno != EAGAIN) return Outcome(L, Status::kClosed);
    const Status status = AwaitDescriptor(L, end, Direction::kWrite, DeadlineAt(L, 3),
                                          core::WaitReason::kWritable, Describe);
    if (status == Status::kPending) {
      return core::Suspend(L, static_cast<lua_KContext>(written), WriteDone);
    }
    if (status != Status::kOk) return Outcome(L, status);
  }
  lua_pushboolean(L, 1);
  return 1;
}
inline int WriteDone(lua_State* L, int, lua_KContext written) {
  const Status status = core::EndWait(L);
  if (status != Status::kOk) return Outcome(L, status);
  return TryWrite(L, static_cast<std::size_t>(written));
}
inline int Write(lua_State* L) {
  SetDeadline(L, 3);
  return TryWrite(L, 0);
}

inline int Fill(lua_State* L) {
  const char block[1024] = "";
  while (Send(Check(L, 1), block, sizeof block) > 0) {
  }
  lua_pushboolean(L, 1);
  return 1;
}

inline int Close(lua_State* L) {
  CloseNumber(Check(L, 1));
  return 0;
}
inline int Collect(lua_State* L) {
  Check(L, 1).Release();
  return 0;
}
inline int Pass(lua_State* L) {
  Descriptor& end = Check(L, 1);
  end.AddRef();
  lua_pushlightuserdata(L, &end);
  return 1;
}
inline int Take(lua_State* L) {
  Push(L, static_cast<Descriptor*>(lua_touserdata(L, 1)));
  return 1;
}

// The index of a descriptor that can be read from by now; 0: none.
inline int Readable(lua_State* L, int count) {
  for (int i = 1; i <= count; ++i) {
    pollfd look{.fd = Check(L, i + 1).fd(), .events = POLLIN, .revents = 0};
    if (look.fd < 0) return i;
    if (::poll(&look, 1, 0) > 0) return i;
  }
  return 0;
}

inline int SelectDone(lua_State* L, int, lua_KContext);
inline int TrySelect(lua_State* L, int count) {
  for (;;) {
    for (int i = 1; i <= count; ++i) {
      if (Check(L, i + 1).Expect(Direction::kRead) == Status::kClosed) {
        return Outcome(L, Status::kClosed);
      }
    }
    if (const int index = Readable(L, count)) {
      lua_pushinteger(L, index);
      return 1;
    }
    core::Task& task = core::BeginWait(L, core::WaitReason::kReadable, Describe);
    const auto nodes = task.Nodes(static_cast<std::size_t>(count));
    Status status = Status::kPending;
    for (int i = 0; i < count && status == Status::kPending; ++i) {
      status = Check(L, i + 2).Await(nodes[static_cast<std::size_t>(i)], Direction::kRead);
    }
    if (status == Status::kPending) {
      core::ArmDeadline(L, DeadlineAt(L, 1));
      return core::Suspend(L, count, SelectDone);
    }
    // Some have been published, and may have completed meanwhile.
    if (!task.TryClaim()) return core::Suspend(L, count, SelectDone);
    core::DropWait(L);
    if (status != Status::kOk) return Outcome(L, status);
  }
}
inline int SelectDone(lua_State* L, int, lua_KContext count) {
  const Status status = core::EndWait(L);
  return status == Status::kOk ? TrySelect(L, static_cast<int>(count)) : Outcome(L, status);
}
inline int Select(lua_State* L) {
  const int count = lua_gettop(L) - 1;
  core::TimePoint deadline = core::kNever;
  if (!lua_isnil(L, 1)) {
    const auto timeout = static_cast<std::int64_t>(luaL_checknumber(L, 1) * 1e9);
    deadline =
        core::DeadlineAfter(core::Process::Of(L).machine().clock.Now(), core::Duration(timeout));
  }
  lua_pushinteger(L, deadline.time_since_epoch().count());
  lua_replace(L, 1);
  return TrySelect(L, count);
}

// Blocks until a byte can be read from its own copy of the descriptor.
class ReadByte final : public core::BlockingJob {
 public:
  explicit ReadByte(int fd) : fd_(dup(fd)) {}
  ~ReadByte() override { ::close(fd_); }
  void Run() override {
    pollfd look{.fd = fd_, .events = POLLIN, .revents = 0};
    ::poll(&look, 1, -1);
    if (::recv(fd_, &byte, 1, 0) != 1) byte = '?';
  }
  char byte = 0;

 private:
  const int fd_;
};

inline constexpr const char* kJob = "ends.job";
inline int CollectJob(lua_State* L) {
  (*static_cast<ReadByte**>(lua_touserdata(L, 1)))->Release();
  return 0;
}
inline int BlockDone(lua_State* L, int, lua_KContext at_once) {
  const Status status = at_once != 0 ? Status::kOk : core::EndWait(L);
  if (status != Status::kOk) return Outcome(L, status);
  lua_pushlstring(L, &(*static_cast<ReadByte**>(lua_touserdata(L, 3)))->byte, 1);
  return 1;
}
inline int Block(lua_State* L) {
  SetDeadline(L, 2);
  auto* const job = new ReadByte(Check(L, 1).fd());
  *static_cast<ReadByte**>(lua_newuserdatauv(L, sizeof job, 0)) = job;
  luaL_setmetatable(L, kJob);
  Status status = core::StartJob(L, *job);
  if (status == Status::kOk) status = AwaitJob(L, *job, DeadlineAt(L, 2), Describe);
  if (status == Status::kPending) return core::Suspend(L, 0, BlockDone);
  return status == Status::kOk ? BlockDone(L, LUA_OK, 1) : Outcome(L, status);
}

inline int Open(lua_State* L) {
  luaL_newmetatable(L, kJob);
  lua_pushcfunction(L, CollectJob);
  lua_setfield(L, -2, "__gc");
  luaL_newmetatable(L, kType);
  const luaL_Reg methods[] = {{"read", Read},    {"write", Write}, {"fill", Fill},
                              {"close", Close},  {"pass", Pass},   {"__gc", Collect},
                              {nullptr, nullptr}};
  luaL_setfuncs(L, methods, 0);
  lua_pushvalue(L, -1);
  lua_setfield(L, -2, "__index");
  const luaL_Reg functions[] = {{"pair", Pair},     {"adopt", Adopt}, {"take", Take},
                                {"select", Select}, {"block", Block}, {nullptr, nullptr}};
  luaL_newlib(L, functions);
  return 1;
}

inline void Preload(lua_State* L) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  lua_pushcfunction(L, Open);
  lua_setfield(L, -2, "ends");
  lua_pop(L, 1);
}

}  // namespace ends

// RunScript with the module; `times` is how often scripts are to repeat what takes long.
inline RunResult RunWithEnds(const std::string& source, RunOptions options = {}) {
#ifdef NDEBUG
  constexpr int kTimes = 1000;
#else
  constexpr int kTimes = 100;
#endif
  options.open = ends::Preload;
  return RunScript("local times = " + std::to_string(kTimes) +
                       " local shoal, ends = require 'shoal', require 'ends' " + source,
                   options);
}

}  // namespace shoal::test
