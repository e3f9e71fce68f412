// SPDX-License-Identifier: MIT
// client:receive([pattern [, prefix]]).
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "bindings/lua/socket_error.h"
#include "bindings/lua/socket_stream.h"
#include "bindings/lua/socket_wait.h"
#include "runtime/process/suspend.h"

namespace shoal::bindings {

using core::Direction;
using core::Status;
using core::WaitReason;

namespace {

constexpr int kPattern = 2;
constexpr int kPrefix = 3;
// What one read asks for, if the pattern does not ask for more.
constexpr std::size_t kStep = 8192;
constexpr std::size_t kLargestStep = 1 << 20;

enum class Form { kCount, kLine, kAll };

// What the arguments ask for: made anew whenever the call goes on.
struct Wanted {
  Form form;
  std::size_t count;  // bytes besides the prefix
};

Wanted CheckWanted(lua_State* L) {
  if (lua_isnumber(L, kPattern) != 0) {
    const double number = lua_tonumber(L, kPattern);
    luaL_argcheck(L, number >= 0, kPattern, "invalid receive pattern");
    constexpr double kMost = 1LL << 62;
    const auto count = static_cast<std::size_t>(std::min(number, kMost));
    const std::size_t prefix = lua_rawlen(L, kPrefix);
    return {Form::kCount, count > prefix ? count - prefix : 0};
  }
  const char* const pattern = luaL_optstring(L, kPattern, "*l");
  if (pattern[0] == '*' && pattern[1] == 'l') return {Form::kLine, 0};
  luaL_argcheck(L, pattern[0] == '*' && pattern[1] == 'a', kPattern, "invalid receive pattern");
  return {Form::kAll, 0};
}

// The bytes that have come, and what is to be given of them.
struct Bytes {
  char* first;
  std::size_t size;
};

std::size_t DropReturns(char* first, std::size_t size) {
  if (size == 0) return 0;
  auto* const found = static_cast<char*>(std::memchr(first, '\r', size));
  if (found == nullptr) return size;
  return static_cast<std::size_t>(std::remove(found, first + size, '\r') - first);
}

// Finds what is wanted at the front of `bytes`, of which the first `seen` are known to hold no end
// of a line. True: the first `*given` bytes are the answer, after the first `*taken` have been
// taken.
bool Find(const Wanted& wanted, Bytes bytes, std::size_t seen, std::size_t* given,
          std::size_t* taken) {
  switch (wanted.form) {
    case Form::kCount:
      // Nothing is not to be had before there is something.
      if (bytes.size < std::max<std::size_t>(wanted.count, 1)) return false;
      *given = *taken = wanted.count;
      return true;
    case Form::kLine: {
      if (bytes.size == seen) return false;
      const void* const end = std::memchr(bytes.first + seen, '\n', bytes.size - seen);
      if (end == nullptr) return false;
      const auto length = static_cast<std::size_t>(static_cast<const char*>(end) - bytes.first);
      *taken = length + 1;
      *given = DropReturns(bytes.first, length);
      return true;
    }
    case Form::kAll:
      break;
  }
  return false;
}

// Pushes the prefix and the bytes as one string. [-0, +1, m]
void PushJoined(lua_State* L, const char* bytes, std::size_t size) {
  if (lua_rawlen(L, kPrefix) == 0) {
    lua_pushlstring(L, bytes, size);
    return;
  }
  lua_pushvalue(L, kPrefix);
  lua_pushlstring(L, bytes, size);
  lua_concat(L, 2);
}

int PushReceived(lua_State* L, const char* bytes, std::size_t size) {
  PushJoined(L, bytes, size);
  lua_pushnil(L);
  lua_pushnil(L);
  return 3;
}

// The call has failed: all that has come is taken as a part of it.
int PushPartial(lua_State* L, Socket& socket, const Wanted& wanted, const char* word) {
  SocketBuffer& buffer = socket.buffer;
  const std::size_t size = buffer.size();
  if (word == kClosedWord && wanted.form == Form::kAll && size > 0) {
    const int count = PushReceived(L, buffer.data(), size);
    socket.received += static_cast<double>(size);
    buffer.Skip(L, size);
    return count;
  }
  lua_pushnil(L);
  lua_pushstring(L, word);
  const std::size_t given = wanted.form == Form::kLine ? DropReturns(buffer.data(), size) : size;
  PushJoined(L, buffer.data(), given);
  socket.received += static_cast<double>(size);
  buffer.Skip(L, size);
  return 3;
}

int ReceiveOn(lua_State* L, Socket& socket, std::size_t seen);

int ReceiveAgain(lua_State* L, int, lua_KContext) {
  Socket& socket = SocketAt1(L);
  return Receive(L, socket);
}

int ReceiveDone(lua_State* L, int, lua_KContext seen) {
  Socket& socket = SocketAt1(L);
  const Status status = EndSocketWait(L, socket, Direction::kRead);
  if (status == Status::kOk) return ReceiveOn(L, socket, static_cast<std::size_t>(seen));
  return PushPartial(L, socket, CheckWanted(L),
                     status == Status::kTimeout ? kTimeoutWord : kClosedWord);
}

// How much room a read gets, when so much is there.
std::size_t StepFor(const Wanted& wanted, std::size_t there) {
  std::size_t step = std::min(there, kLargestStep);
  if (wanted.form == Form::kCount) step = std::min(step, wanted.count - there);
  return std::max(step, kStep);
}

ssize_t Read(const Socket& socket, char* to, std::size_t size) {
  ssize_t got = 0;
  do {
    got = recv(socket.fd, to, size, MSG_DONTWAIT);
  } while (got < 0 && errno == EINTR);
  return got;
}

// The first bytes come into the frame of the call: a message that is received as a whole needs no
// buffer, and a part of one no larger one than it is. Returns the number of results if that was
// all, 0 if not, or -1: `errno` says why. At the end of the stream, *is_end.
int ReceiveFirst(lua_State* L, Socket& socket, const Wanted& wanted, bool* is_end) {
  char bytes[kStep];
  const ssize_t got = Read(socket, bytes, sizeof(bytes));
  if (got < 0) return -1;
  *is_end = got == 0;
  const auto size = static_cast<std::size_t>(got);
  std::size_t given = 0;
  std::size_t taken = 0;
  if (!socket.buffer.empty() || !Find(wanted, {bytes, size}, 0, &given, &taken)) {
    socket.buffer.Append(L, bytes, size);
    return 0;
  }
  socket.buffer.Append(L, bytes + taken, size - taken);
  socket.received += static_cast<double>(taken);
  return PushReceived(L, bytes, given);
}

// More bytes, behind those that are there. 0, or -1: `errno` says why. At the end of the stream,
// *is_end.
int ReceiveMore(lua_State* L, Socket& socket, const Wanted& wanted, bool* is_end) {
  SocketBuffer& buffer = socket.buffer;
  char* const to = buffer.Reserve(L, StepFor(wanted, buffer.size()));
  const ssize_t got = Read(socket, to, buffer.room());
  if (got < 0) return -1;
  *is_end = got == 0;
  buffer.Grow(static_cast<std::size_t>(got));
  return 0;
}

// Goes on with the call. The first `seen` bytes of the buffer hold no end of a line.
int ReceiveOn(lua_State* L, Socket& socket, std::size_t seen) {
  const Wanted wanted = CheckWanted(L);
  SocketBuffer& buffer = socket.buffer;
  for (;;) {
    // 1 What is there may be enough.
    std::size_t given = 0;
    std::size_t taken = 0;
    if (Find(wanted, {buffer.data(), buffer.size()}, seen, &given, &taken)) {
      const int count = PushReceived(L, buffer.data(), given);
      socket.received += static_cast<double>(taken);
      buffer.Skip(L, taken);
      return count;
    }
    seen = buffer.size();
    // 2 More of it.
    if (socket.fd == kNoDescriptor) return PushPartial(L, socket, wanted, kClosedWord);
    bool is_end = false;
    const int count = buffer.size() < kStep ? ReceiveFirst(L, socket, wanted, &is_end)
                                            : ReceiveMore(L, socket, wanted, &is_end);
    if (count > 0) return count;
    if (is_end) return PushPartial(L, socket, wanted, kClosedWord);
    // 3 There is none yet, or others have waited long enough.
    if (count < 0) {
      if (errno != EAGAIN) return PushPartial(L, socket, wanted, SocketError(errno));
      if (!MayWait(socket)) return PushPartial(L, socket, wanted, kTimeoutWord);
      return WaitForSocket(L, socket, WaitReason::kReadable, static_cast<lua_KContext>(seen),
                           ReceiveDone);
    }
    if (core::BeforeWait(L)) {
      return YieldInCall(L, socket, Direction::kRead, static_cast<lua_KContext>(seen), ReceiveDone);
    }
  }
}

}  // namespace

int Receive(lua_State* L, Socket& socket) {
  lua_settop(L, kPrefix);
  luaL_optstring(L, kPrefix, "");
  if (lua_type(L, kPrefix) == LUA_TNIL) {
    lua_pushliteral(L, "");
    lua_replace(L, kPrefix);
  }
  const Wanted wanted = CheckWanted(L);
  if (IsBusy(socket, Direction::kRead)) {
    lua_pushnil(L);
    lua_pushstring(L, BusyWord(Direction::kRead));
    lua_pushvalue(L, kPrefix);
    return 3;
  }
  // The prefix alone is enough.
  if (wanted.form == Form::kCount && wanted.count == 0 && lua_rawlen(L, kPrefix) > 0) {
    return PushReceived(L, "", 0);
  }
  if (core::BeforeWait(L)) return core::YieldTurn(L, ReceiveAgain);
  BeginCall(L, socket, Direction::kRead);
  return ReceiveOn(L, socket, 0);
}

}  // namespace shoal::bindings
