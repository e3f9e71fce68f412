// SPDX-License-Identifier: MIT
#include "runtime/lua/code_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "runtime/lua/state.h"

namespace shoal::core {
namespace {

// A file that goes with the test, written `age` seconds ago.
class SourceFile {
 public:
  SourceFile() {
    char name[] = "/tmp/code_cache_test.XXXXXX";
    close(mkstemp(name));
    path_ = name;
  }
  SourceFile(const SourceFile&) = delete;
  SourceFile& operator=(const SourceFile&) = delete;
  ~SourceFile() { std::remove(path_.c_str()); }

  void Write(const std::string& text, int age) const {
    std::ofstream(path_) << text;
    timespec times[2] = {};
    clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec -= age;
    times[1] = times[0];
    REQUIRE(utimensat(AT_FDCWD, path_.c_str(), times, 0) == 0);
  }
  [[nodiscard]] const char* path() const { return path_.c_str(); }

 private:
  std::string path_;
};

// What the file returns in a state of its own; or the error, after "error: ".
std::string Run(CodeCache& cache, const char* path) {
  lua_State* const L = luaL_newstate();
  luaL_openlibs(L);
  std::string result;
  if (cache.Load(L, path) != LUA_OK || lua_pcall(L, 0, 1, 0) != LUA_OK) result = "error: ";
  result += luaL_tolstring(L, -1, nullptr);
  lua_close(L);
  return result;
}

TEST_CASE("the code of a file is kept, with its names and lines") {
  const SourceFile file;
  file.Write(
      "#!shebang\nlocal function inner() error('here') end\nlocal ok, e = pcall(inner)\n"
      "return e .. ' ' .. debug.getinfo(1, 'S').source\n",
      10);
  CodeCache cache;
  const std::string expected = std::string(file.path()) + ":2: here @" + file.path();
  CHECK(Run(cache, file.path()) == expected);
  CHECK(cache.size() > 100);
  const std::size_t size = cache.size();
  CHECK(Run(cache, file.path()) == expected);
  CHECK(cache.size() == size);
}

TEST_CASE("what is kept is used, until the file changes") {
  const SourceFile file;
  CodeCache cache;
  file.Write("return 'old1'", 100);
  CHECK(Run(cache, file.path()) == "old1");
  // The same by all that is looked at.
  struct stat before = {};
  REQUIRE(stat(file.path(), &before) == 0);
  std::ofstream(file.path()) << "return 'new1'";
  const timespec times[2] = {before.st_atim, before.st_mtim};
  REQUIRE(utimensat(AT_FDCWD, file.path(), times, 0) == 0);
  CHECK(Run(cache, file.path()) == "old1");
  file.Write("return 'new1'", 50);
  CHECK(Run(cache, file.path()) == "new1");
  file.Write("return 'longer'", 50);
  CHECK(Run(cache, file.path()) == "longer");
  CHECK(Run(cache, file.path()) == "longer");
}

TEST_CASE("a file that has just been written is not kept") {
  const SourceFile file;
  CodeCache cache;
  file.Write("return 1", 0);
  CHECK(Run(cache, file.path()) == "1");
  CHECK(cache.size() == 0);
  file.Write("return 2", -1000);
  CHECK(Run(cache, file.path()) == "2");
  CHECK(cache.size() == 0);
}

TEST_CASE("a file that cannot be loaded gives the error of luaL_loadfile each time") {
  const SourceFile file;
  CodeCache cache;
  file.Write("return (", 10);
  for (int i = 0; i < 2; ++i) {
    CHECK(Run(cache, file.path()).find(":1: unexpected symbol near <eof>") != std::string::npos);
  }
  CHECK(Run(cache, "/nonexistent/file.lua") ==
        "error: cannot open /nonexistent/file.lua: No such file or directory");
  CHECK(cache.size() == 0);
}

TEST_CASE("no more code is kept than there is room for") {
  std::vector<SourceFile> files(5);
  std::size_t each = 0;
  {
    CodeCache one;
    files[0].Write("return 0", 10);
    CHECK(Run(one, files[0].path()) == "0");
    each = one.size();
  }
  CodeCache cache(each * 3);
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < files.size(); ++i) {
      files[i].Write("return " + std::to_string(i), 10 + round);
      CHECK(Run(cache, files[i].path()) == std::to_string(i));
    }
    CHECK(cache.size() == each * 3);
  }
}

struct Loading {
  CodeCache& cache;
  const char* path;
};

// The argument is a Loading.
int LoadAndCall(lua_State* L) {
  const auto& loading = *static_cast<Loading*>(lua_touserdata(L, 1));
  if (loading.cache.Load(L, loading.path) != LUA_OK) return lua_error(L);
  lua_call(L, 0, 1);
  return 1;
}

TEST_CASE("a state without memory does not get the code, and can try again") {
  const SourceFile file;
  file.Write("local t = {} for i = 1, 10 do t[i] = function() return i end end return #t", 10);
  CodeCache cache;
  CHECK(Run(cache, file.path()) == "10");
  Loading loading{cache, file.path()};
  Allocator allocator;
  StateRecord record;
  lua_State* const L = NewState(&allocator, &record);
  int refused = 0;
  bool loaded = false;
  for (std::size_t room = 0; !loaded; room += 64) {
    lua_pushcfunction(L, LoadAndCall);
    lua_pushlightuserdata(L, &loading);
    lua_gc(L, LUA_GCCOLLECT);
    allocator.limit = allocator.used + room;
    loaded = lua_pcall(L, 1, 1, 0) == LUA_OK;
    allocator.limit = SIZE_MAX;
    if (!loaded) ++refused;
    CHECK(std::string(lua_tostring(L, -1)) == (loaded ? "10" : "not enough memory"));
    lua_settop(L, 0);
  }
  CHECK(refused > 0);
  CloseState(L);
}

TEST_CASE("threads load and keep the same file at a time") {
  const SourceFile file;
  file.Write("return 42", 10);
  CodeCache cache;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        if (Run(cache, file.path()) != "42") wrong.fetch_add(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

}  // namespace
}  // namespace shoal::core
