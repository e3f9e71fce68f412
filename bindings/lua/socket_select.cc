// SPDX-License-Identifier: MIT
// socket.select(receivers, senders [, timeout]).
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "bindings/lua/socket_core.h"
#include "bindings/lua/socket_object.h"
#include "bindings/lua/socket_wait.h"
#include "runtime/process/process.h"
#include "runtime/process/suspend.h"

namespace shoal::bindings {

using core::Descriptor;
using core::Direction;
using core::Process;
using core::Ref;
using core::Status;
using core::Task;
using core::TimePoint;
using core::WaitReason;

namespace {

// The stack of a call.
constexpr int kReceivers = 1;
constexpr int kSenders = 2;
constexpr int kTimeout = 3;
constexpr int kReadable = 4;  // the results
constexpr int kWritable = 5;
constexpr int kObjects = 6;    // a list of the objects that are looked at
constexpr int kSelection = 7;  // the same, as a Selection
constexpr int kWatches = 8;    // when it waits: what it waits for

// --- What is looked at

// Each object once for each list in which it stands, in their order. In userdata.
struct Selection {
  int capacity;
  int count;
  int receivers;  // so many of them; the rest are senders
  bool has_dirty;
  pollfd* looks() { return reinterpret_cast<pollfd*>(this + 1); }
};

Selection& SelectionOf(lua_State* L) {
  return *static_cast<Selection*>(lua_touserdata(L, kSelection));
}

// Puts a selection with more room at kSelection. [-0, +0, m]
Selection& Enlarge(lua_State* L, int capacity) {
  auto* const larger = static_cast<Selection*>(lua_newuserdatauv(
      L, sizeof(Selection) + static_cast<std::size_t>(capacity) * sizeof(pollfd), 0));
  *larger = {};
  if (auto* const old = static_cast<Selection*>(lua_touserdata(L, kSelection))) {
    *larger = *old;
    std::memcpy(larger->looks(), old->looks(),
                static_cast<std::size_t>(old->count) * sizeof(pollfd));
  }
  larger->capacity = capacity;
  lua_replace(L, kSelection);
  return *larger;
}

// The descriptor of the object on the top: of whatever has the method `getfd`. [-0, +0, e]
int ReadFd(lua_State* L) {
  if (const Socket* const socket = ToSocket(L, -1)) return socket->fd;
  int fd = kNoDescriptor;
  if (lua_getfield(L, -1, "getfd") != LUA_TNIL) {
    lua_pushvalue(L, -2);
    lua_call(L, 1, 1);
    if (lua_isnumber(L, -1) != 0) {
      const double number = lua_tonumber(L, -1);
      if (number >= 0 && number <= INT32_MAX) fd = static_cast<int>(number);
    }
  }
  lua_pop(L, 1);
  return fd;
}

// Whether the object on the top has something to read that the system knows nothing of. [-0, +0, e]
bool ReadDirty(lua_State* L) {
  if (const Socket* const socket = ToSocket(L, -1)) return !socket->buffer.empty();
  bool is_dirty = false;
  if (lua_getfield(L, -1, "dirty") != LUA_TNIL) {
    lua_pushvalue(L, -2);
    lua_call(L, 1, 1);
    is_dirty = lua_toboolean(L, -1) != 0;
  }
  lua_pop(L, 1);
  return is_dirty;
}

// Appends the value on the top to the list at `list`, and gives it its place there as its field.
// [-1, +0, m]
void AppendResult(lua_State* L, int list) {
  const auto place = static_cast<lua_Integer>(lua_rawlen(L, list)) + 1;
  lua_pushvalue(L, -1);
  lua_rawseti(L, list, place);
  lua_pushinteger(L, place);
  lua_rawset(L, list);
}

// Adds the objects of one list. [-0, +0, e]
void Collect(lua_State* L, int list, short events) {
  if (lua_isnil(L, list)) return;
  for (lua_Integer i = 1; lua_geti(L, list, i) != LUA_TNIL; ++i) {
    const int fd = ReadFd(L);
    if (fd == kNoDescriptor) {
      lua_pop(L, 1);
    } else if (list == kReceivers && ReadDirty(L)) {
      SelectionOf(L).has_dirty = true;
      AppendResult(L, kReadable);
    } else {
      Selection* selection = &SelectionOf(L);
      if (selection->count == selection->capacity) {
        selection = &Enlarge(L, 2 * selection->capacity + 8);
      }
      selection->looks()[selection->count++] = {fd, events, 0};
      lua_rawseti(L, kObjects, selection->count);
    }
  }
  lua_pop(L, 1);
}

// --- The answer

// Looks without waiting. True: the results are complete.
bool Look(lua_State* L) {
  Selection& selection = SelectionOf(L);
  pollfd* const looks = selection.looks();
  int ready = 0;
  do {
    ready = poll(looks, static_cast<nfds_t>(selection.count), 0);
  } while (ready < 0 && errno == EINTR);
  if (ready < 0) luaL_error(L, "select failed");
  for (int i = 0; i < selection.count && ready > 0; ++i) {
    if (looks[i].revents == 0) continue;
    if ((looks[i].revents & POLLNVAL) != 0) luaL_error(L, "select failed");
    lua_rawgeti(L, kObjects, i + 1);
    AppendResult(L, i < selection.receivers ? kReadable : kWritable);
    --ready;
    selection.has_dirty = true;
  }
  return selection.has_dirty;
}

// Sockets that another task has closed since: their calls need not wait, so they are ready. The
// number of their descriptor may be that of another file by now.
void FindClosed(lua_State* L) {
  Selection& selection = SelectionOf(L);
  for (int i = 0; i < selection.count; ++i) {
    pollfd& look = selection.looks()[i];
    lua_rawgeti(L, kObjects, i + 1);
    const Socket* const socket = ToSocket(L, -1);
    if (socket != nullptr && look.fd != kNoDescriptor && socket->fd != look.fd) {
      look.fd = kNoDescriptor;
      selection.has_dirty = true;
      AppendResult(L, i < selection.receivers ? kReadable : kWritable);
    } else {
      lua_pop(L, 1);
    }
  }
}

int PushReady(lua_State* L) {
  lua_settop(L, kWritable);
  return 2;
}

int PushNothing(lua_State* L) {
  lua_settop(L, kWritable);
  lua_pushstring(L, "timeout");
  return 3;
}

// --- Waiting

// What is waited for, with a reference each; nullptr: not yet. In userdata.
struct Watches {
  TimePoint deadline;
  int count;
  Descriptor** items() { return reinterpret_cast<Descriptor**>(this + 1); }
};

int CollectWatches(lua_State* L) {
  auto* const watches = static_cast<Watches*>(lua_touserdata(L, 1));
  for (int i = 0; i < watches->count; ++i) {
    if (watches->items()[i] != nullptr) std::exchange(watches->items()[i], nullptr)->Release();
  }
  return 0;
}

Watches& WatchesOf(lua_State* L) { return *static_cast<Watches*>(lua_touserdata(L, kWatches)); }

Direction DirectionOf(const Selection& selection, int i) {
  return i < selection.receivers ? Direction::kRead : Direction::kWrite;
}

// A descriptor of our own for the file of `fd`, which somebody else owns.
// nullptr: out of files or memory.
Descriptor* Duplicate(lua_State* L, int fd) {
  const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) return nullptr;
  Ref<Descriptor> made = core::NewDescriptor(L, copy);
  if (!made) {
    close(copy);
    return nullptr;
  }
  made->AddRef();
  return made.get();
}

// Puts the watches on the top, with a descriptor for each object. [-0, +1, e]
void PushWatches(lua_State* L, TimePoint deadline) {
  Selection& selection = SelectionOf(L);
  const auto count = static_cast<std::size_t>(selection.count);
  auto* const watches =
      static_cast<Watches*>(lua_newuserdatauv(L, sizeof(Watches) + count * sizeof(Descriptor*), 0));
  watches->deadline = deadline;
  watches->count = selection.count;
  std::memset(watches->items(), 0, count * sizeof(Descriptor*));
  if (luaL_newmetatable(L, "shoal.select") != 0) {
    lua_pushcfunction(L, CollectWatches);
    lua_setfield(L, -2, "__gc");
  }
  lua_setmetatable(L, -2);
  for (int i = 0; i < selection.count; ++i) {
    const int fd = selection.looks()[i].fd;
    lua_rawgeti(L, kObjects, i + 1);
    Socket* const socket = ToSocket(L, -1);
    Descriptor* item = nullptr;
    if (socket != nullptr && socket->fd == fd) {
      item = DescriptorOf(L, *socket);
      if (item != nullptr) item->AddRef();
    } else {
      item = Duplicate(L, fd);
    }
    lua_pop(L, 1);
    if (item == nullptr) luaL_error(L, "select failed");
    watches->items()[i] = item;
  }
}

void Describe(lua_State* L, std::string& text) {
  const auto* const selection = static_cast<Selection*>(lua_touserdata(L, kSelection));
  if (selection == nullptr) return;
  text += " on one of " + std::to_string(selection->count) + " sockets";
}

// Publishes the wait in all places. kPending; kOk: something has happened meanwhile, look again.
Status Await(const Selection& selection, Watches& watches, Task& task) {
  const std::span<core::WaitNode> nodes = task.Nodes(static_cast<std::size_t>(selection.count));
  if (nodes.empty()) return Status::kNoMemory;
  for (int i = 0; i < selection.count; ++i) {
    const Status status =
        watches.items()[i]->Await(nodes[static_cast<std::size_t>(i)], DirectionOf(selection, i));
    if (status != Status::kPending) return status == Status::kNoMemory ? status : Status::kOk;
  }
  return Status::kPending;
}

int Waited(lua_State* L, int, lua_KContext);

// Looks and waits, until something is ready or the time is over.
int LookAndWait(lua_State* L) {
  Selection& selection = SelectionOf(L);
  Watches& watches = WatchesOf(L);
  for (;;) {
    // 1 What has happened up to here is forgotten, then seen by looking: see descriptor.h.
    FindClosed(L);
    for (int i = 0; i < selection.count; ++i) {
      if (watches.items()[i]->Expect(DirectionOf(selection, i)) == Status::kNoMemory) {
        return luaL_error(L, "select failed");
      }
    }
    if (Look(L)) return PushReady(L);
    // 2 Nothing is ready.
    Task& task = core::BeginWait(L, WaitReason::kReadable, Describe);
    const Status status = Await(selection, watches, task);
    if (status == Status::kPending) {
      core::ArmDeadline(L, watches.deadline);
      return core::Suspend(L, 0, Waited);
    }
    // 3 Not all is published. If what is has been found by somebody, he is about to say so.
    if (!task.TryClaim()) return core::Suspend(L, 0, Waited);
    core::DropWait(L);
    if (status == Status::kNoMemory) return luaL_error(L, "select failed");
    if (core::BeforeWait(L)) return core::YieldTurn(L, 1, Waited);
  }
}

// The context: 0 after a wait, 1 after a turn of others.
int Waited(lua_State* L, int, lua_KContext context) {
  if (context == 0 && core::EndWait(L) == Status::kTimeout) {
    FindClosed(L);
    return Look(L) ? PushReady(L) : PushNothing(L);
  }
  return LookAndWait(L);
}

int Slept(lua_State* L, int, lua_KContext) {
  static_cast<void>(core::EndWait(L));
  return PushNothing(L);
}

int SelectAgain(lua_State* L, int, lua_KContext);

int Select(lua_State* L) {
  const double time = luaL_optnumber(L, kTimeout, -1);
  lua_settop(L, kTimeout);
  if (!lua_isnil(L, kReceivers)) luaL_checktype(L, kReceivers, LUA_TTABLE);
  if (!lua_isnil(L, kSenders)) luaL_checktype(L, kSenders, LUA_TTABLE);
  if (core::BeforeWait(L)) return core::YieldTurn(L, SelectAgain);
  // 1 What is to be looked at.
  const TimePoint deadline =
      time > 0 ? core::DeadlineAfter(Process::Of(L).machine().clock.Now(), ToDuration(time))
               : core::kNever;
  lua_newtable(L);
  lua_newtable(L);
  lua_newtable(L);
  lua_pushnil(L);
  const std::size_t count = lua_rawlen(L, kReceivers) + lua_rawlen(L, kSenders);
  Enlarge(L, static_cast<int>(count));
  Collect(L, kReceivers, POLLIN);
  SelectionOf(L).receivers = SelectionOf(L).count;
  Collect(L, kSenders, POLLOUT);
  // 2 Something is ready, or the caller does not wait.
  if (Look(L)) return PushReady(L);
  if (time == 0) return PushNothing(L);
  // 3 Nothing is.
  if (SelectionOf(L).count == 0) {
    core::BeginWait(L, WaitReason::kSleep, nullptr);
    core::ArmDeadline(L, deadline);
    return core::Suspend(L, 0, Slept);
  }
  PushWatches(L, deadline);
  return LookAndWait(L);
}

int SelectAgain(lua_State* L, int, lua_KContext) { return Select(L); }

}  // namespace

void OpenSelect(lua_State* L) {
  lua_pushcfunction(L, Select);
  lua_setfield(L, -2, "select");
  // Said as LuaSocket says it, but nothing depends on it.
  lua_pushinteger(L, 1024);
  lua_setfield(L, -2, "_SETSIZE");
  lua_pushinteger(L, kNoDescriptor);
  lua_setfield(L, -2, "_SOCKETINVALID");
}

}  // namespace shoal::bindings
