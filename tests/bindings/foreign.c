// SPDX-License-Identifier: MIT
// A Lua module in C that knows nothing of Shoal, and does to Lua code what such modules do.
#include <errno.h>
#include <lauxlib.h>
#include <lua.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/time.h>
#include <time.h>

// resume(co, ...): as coroutine.resume, by the C API.
static int Resume(lua_State* L) {
  lua_State* co = lua_tothread(L, 1);
  luaL_argcheck(L, co != NULL, 1, "coroutine expected");
  const int arguments = lua_gettop(L) - 1;
  if (lua_status(co) == LUA_OK && lua_gettop(co) == 0) {
    lua_pushboolean(L, 0);
    lua_pushliteral(L, "cannot resume dead coroutine");
    return 2;
  }
  lua_xmove(L, co, arguments);
  int results = 0;
  const int status = lua_resume(co, L, arguments, &results);
  lua_pushboolean(L, status == LUA_OK || status == LUA_YIELD);
  if (status != LUA_OK && status != LUA_YIELD) results = 1;
  lua_xmove(co, L, results);
  return results + 1;
}

// run(f, ...): calls f in a coroutine of its own, which it resumes until it has ended. Returns how
// often it yielded, and the results.
static int Run(lua_State* L) {
  const int arguments = lua_gettop(L) - 1;
  lua_State* co = lua_newthread(L);
  lua_insert(L, 1);
  lua_xmove(L, co, arguments + 1);
  lua_Integer yields = 0;
  int results = 0;
  int status = lua_resume(co, L, arguments, &results);
  while (status == LUA_YIELD) {
    ++yields;
    lua_pop(co, results);
    status = lua_resume(co, L, 0, &results);
  }
  lua_pushinteger(L, yields);
  if (status != LUA_OK) {
    lua_xmove(co, L, 1);
    return lua_error(L);
  }
  lua_xmove(co, L, results);
  return results + 1;
}

// call(f, ...): without a continuation, so that f cannot yield.
static int Call(lua_State* L) {
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

static int ProtectedCall(lua_State* L) {
  const int status = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
  lua_pushboolean(L, status == LUA_OK);
  lua_insert(L, 1);
  return lua_gettop(L);
}

static int Continue(lua_State* L, int status, lua_KContext context) {
  (void)status;
  (void)context;
  return lua_gettop(L);
}

// callk(f, ...): with a continuation, so that f can yield.
static int CallWithContinuation(lua_State* L) {
  lua_callk(L, lua_gettop(L) - 1, LUA_MULTRET, 0, Continue);
  return Continue(L, LUA_OK, 0);
}

// yield(...): lua_yield, wherever it is called.
static int Yield(lua_State* L) { return lua_yield(L, lua_gettop(L)); }

// keep(f), kept(...): a function in the registry.
static int Keep(lua_State* L) {
  lua_settop(L, 1);
  lua_setfield(L, LUA_REGISTRYINDEX, "foreign.kept");
  return 0;
}

static int Kept(lua_State* L) {
  lua_getfield(L, LUA_REGISTRYINDEX, "foreign.kept");
  lua_insert(L, 1);
  return Call(L);
}

// object(): a full userdata with a metatable that no module has.
static int Object(lua_State* L) {
  lua_newuserdatauv(L, 8, 0);
  luaL_newmetatable(L, "foreign.object");
  lua_setmetatable(L, -2);
  return 1;
}

// pointer(n): a light userdata.
static int Pointer(lua_State* L) {
  lua_pushlightuserdata(L, (void*)(intptr_t)luaL_checkinteger(L, 1));
  return 1;
}

// closure(v): a C closure with an upvalue, which no module has.
static int Upvalue(lua_State* L) {
  lua_pushvalue(L, lua_upvalueindex(1));
  return 1;
}

static int Closure(lua_State* L) {
  luaL_checkany(L, 1);
  lua_settop(L, 1);
  lua_pushcclosure(L, Upvalue, 1);
  return 1;
}

// nap(s): blocks its thread.
static int Nap(lua_State* L) {
  const double seconds = luaL_checknumber(L, 1);
  struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
  nanosleep(&time, NULL);
  return 0;
}

static double Now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

// poll(s): sleeps in poll(2) until so many seconds have passed. Returns how often that was
// interrupted.
static int Poll(lua_State* L) {
  const double end = Now() + luaL_checknumber(L, 1);
  lua_Integer interrupted = 0;
  for (double left = end - Now(); left > 0; left = end - Now()) {
    if (poll(NULL, 0, (int)(left * 1000) + 1) < 0 && errno == EINTR) ++interrupted;
  }
  lua_pushinteger(L, interrupted);
  return 1;
}

// doze(s): the same in nanosleep(2).
static int Doze(lua_State* L) {
  const double seconds = luaL_checknumber(L, 1);
  struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
  lua_Integer interrupted = 0;
  while (nanosleep(&time, &time) != 0 && errno == EINTR) ++interrupted;
  lua_pushinteger(L, interrupted);
  return 1;
}

// compute(s): computes without a look at anything else.
static int Compute(lua_State* L) {
  const double end = Now() + luaL_checknumber(L, 1);
  while (Now() < end) {
  }
  return 0;
}

// sethook(n): a hook in C, called at each n instructions of this coroutine; 0: none. Returns how
// often it has been called so far.
static int hook_calls;

static void CountCalls(lua_State* L, lua_Debug* frame) {
  (void)L;
  (void)frame;
  ++hook_calls;
}

static int SetHook(lua_State* L) {
  const int count = (int)luaL_checkinteger(L, 1);
  lua_sethook(L, count > 0 ? CountCalls : NULL, count > 0 ? LUA_MASKCOUNT : 0, count);
  lua_pushinteger(L, hook_calls);
  return 1;
}

// alarm(n): SIGALRM so many times in a second; 0: no more. Returns how many have come.
static atomic_int alarms;  // SIGALRM comes to any thread

static void OnAlarm(int number) {
  (void)number;
  ++alarms;
}

static int Alarm(lua_State* L) {
  const lua_Integer rate = luaL_checkinteger(L, 1);
  if (rate > 0) signal(SIGALRM, OnAlarm);
  const struct timeval period = {0, rate > 0 ? 1000000 / rate : 0};
  const struct itimerval timer = {period, period};
  setitimer(ITIMER_REAL, &timer, NULL);
  lua_pushinteger(L, alarms);
  return 1;
}

__attribute__((visibility("default"))) int luaopen_foreign(lua_State* L) {
  static const luaL_Reg kFunctions[] = {{"resume", Resume},
                                        {"run", Run},
                                        {"call", Call},
                                        {"pcall", ProtectedCall},
                                        {"callk", CallWithContinuation},
                                        {"yield", Yield},
                                        {"keep", Keep},
                                        {"kept", Kept},
                                        {"object", Object},
                                        {"pointer", Pointer},
                                        {"closure", Closure},
                                        {"nap", Nap},
                                        {"poll", Poll},
                                        {"doze", Doze},
                                        {"compute", Compute},
                                        {"sethook", SetHook},
                                        {"alarm", Alarm},
                                        {NULL, NULL}};
  luaL_newlib(L, kFunctions);
  return 1;
}
