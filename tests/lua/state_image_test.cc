// SPDX-License-Identifier: MIT
#include "runtime/lua/state_image.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "runtime/lua/state.h"

namespace shoal::core {
namespace {

// What is opened: the libraries, and what a script makes.
struct Source {
  std::string script;
  LibrarySet libraries = kAllLibraries;
};

void OpenSource(lua_State* L, void* context) {
  const auto& source = *static_cast<const Source*>(context);
  OpenLibraries(L, source.libraries);
  if (luaL_loadstring(L, source.script.c_str()) != LUA_OK) lua_error(L);
  lua_call(L, 0, 0);
}

int OpenProtected(lua_State* L) {
  OpenSource(L, lua_touserdata(L, 1));
  return 0;
}

// A state with what goes with it.
class Subject {
 public:
  Subject() = default;
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;
  ~Subject() { Close(); }

  void Open(Source& source) {
    L = NewState(&allocator, &record);
    lua_pushcfunction(L, OpenProtected);
    lua_pushlightuserdata(L, &source);
    REQUIRE(lua_pcall(L, 1, 0, 0) == LUA_OK);
  }
  void Copy(const StateImage& image) {
    L = image.Copy(&allocator, &record, 0);
    REQUIRE(L != nullptr);
  }
  void Close() {
    if (L != nullptr) CloseState(std::exchange(L, nullptr));
  }
  // What the script returns, as a string.
  std::string Run(const std::string& script) {
    lua_settop(L, 0);
    const bool done = luaL_dostring(L, script.c_str()) == LUA_OK;
    std::string result = luaL_tolstring(L, -1, nullptr);
    INFO(result);
    REQUIRE(done);
    lua_settop(L, 0);
    return result;
  }

  Allocator allocator;
  StateRecord record;
  lua_State* L = nullptr;
};

struct Images {
  std::unique_ptr<StateImage> Make(Source& source) {
    return StateImage::Make(slots, OpenSource, &source, &why);
  }
  StateSlots slots{1};
  std::string why;
};

TEST_CASE("a copy is a state like others") {
  Images images;
  Source source;
  const auto image = images.Make(source);
  INFO(images.why);
  REQUIRE(image != nullptr);
  CHECK(image->size() < 30000);
  CHECK(image->moved() > 500);
  Subject copy;
  copy.Copy(*image);
  CHECK(copy.record.main == copy.L);
  CHECK(&RecordOf(copy.L) == &copy.record);
  CHECK(AllocatorOf(copy.L) == &copy.allocator);
  const auto counted = static_cast<std::size_t>(lua_gc(copy.L, LUA_GCCOUNT)) * 1024 +
                       static_cast<std::size_t>(lua_gc(copy.L, LUA_GCCOUNTB));
  CHECK(copy.allocator.used == counted);
  CHECK(copy.Run(R"lua(
    local t = {}
    for i = 1, 2000 do t[i] = ("%d:%s"):format(i, ("x"):rep(i % 50)) end
    table.sort(t)
    local co = coroutine.wrap(function(a) for _ = 1, 100 do a = coroutine.yield(a + 1) end end)
    local x = 0
    for _ = 1, 100 do x = co(x) end
    local ok, e = pcall(error, { 1, 2 })
    assert(not ok and e[2] == 2)
    collectgarbage("generational")
    for i = 1, 2000 do local q = { i, { i } } end
    collectgarbage("incremental")
    assert(os.time() > 0 and math.sin(0) == 0 and utf8.char(72) == "H" and io.stdout)
    assert(load("return ...")(5) == 5 and require("string") == string)
    return x .. #table.concat(t)
  )lua") == "10057893");
  copy.Close();
  CHECK(copy.allocator.used == 0);
  CHECK(copy.allocator.outside == 0);
}

TEST_CASE("copies do not see what others do") {
  Images images;
  Source source{"shared = { 1, 2, 3, name = 'x' }"};
  const auto image = images.Make(source);
  REQUIRE(image != nullptr);
  std::vector<std::unique_ptr<Subject>> copies;
  for (int i = 0; i < 50; ++i) {
    copies.push_back(std::make_unique<Subject>());
    copies.back()->Copy(*image);
    copies.back()->Run("shared[1] = " + std::to_string(i) + " string.x" + std::to_string(i) +
                       " = 1");
  }
  for (int i = 0; i < 50; ++i) {
    CHECK(copies[i]->Run("local n = 0 for k in pairs(string) do n = n + 1 end "
                         "collectgarbage() return shared[1] .. ' ' .. n") ==
          std::to_string(i) + " " +
              copies[0]->Run("local n = 0 for k in pairs(string) do n = n + 1 "
                             "end return n"));
  }
}

TEST_CASE("a copy is dropped without a look at its objects, if none of them has to be told") {
  Images images;
  Source source;
  const auto image = images.Make(source);
  REQUIRE(image != nullptr);
  const auto is_dropped = [&](const char* script) {
    Subject copy;
    copy.Copy(*image);
    static_cast<void>(copy.Run(script));
    const bool dropped = image->Drop(copy.L, 0);
    if (dropped) copy.L = nullptr;
    return dropped;
  };
  CHECK(is_dropped(""));
  CHECK(is_dropped("local t = {} for i = 1, 20 do t[i] = { tostring(i) } end x = t"));
  CHECK(is_dropped("x = coroutine.wrap(function() coroutine.yield() end) x()"));
  CHECK(is_dropped("setmetatable({}, { __gc = function() end }) collectgarbage()"));
  CHECK_FALSE(is_dropped("x = setmetatable({}, { __gc = function() end })"));
  CHECK_FALSE(is_dropped("local x <const> = setmetatable({}, { __gc = function() end })"));
  CHECK_FALSE(is_dropped("x = io.tmpfile()"));
  CHECK_FALSE(
      is_dropped("io = nil package.loaded.io = nil debug.getregistry()['FILE*'] = nil "
                 "collectgarbage() collectgarbage() x = setmetatable({}, {__gc = print})"));
  CHECK_FALSE(is_dropped("x = ('x'):rep(200000)"));
}

int finalizers_called = 0;
int CountFinalizer(lua_State*) {
  ++finalizers_called;
  return 0;
}

TEST_CASE("finalizers of a copy are called when it is closed") {
  Images images;
  Source source;
  const auto image = images.Make(source);
  REQUIRE(image != nullptr);
  finalizers_called = 0;
  Subject copy;
  copy.Copy(*image);
  lua_register(copy.L, "count", CountFinalizer);
  copy.Run("for i = 1, 7 do _G['x' .. i] = setmetatable({}, { __gc = count }) end");
  copy.Close();
  CHECK(finalizers_called == 7);
}

TEST_CASE("a copy that does not fit into its limit is refused, and one that does keeps to it") {
  Images images;
  Source source;
  const auto image = images.Make(source);
  REQUIRE(image != nullptr);
  Allocator small;
  small.limit = 10'000;
  StateRecord record;
  CHECK(image->Copy(&small, &record, 0) == nullptr);
  Subject copy;
  copy.allocator.limit = 200'000;
  copy.Copy(*image);
  CHECK(copy.Run("return select(2, pcall(function() local t = {} for i = 1, 1e8 do t[i] = i end "
                 "end))") == "not enough memory");
  CHECK(copy.allocator.used <= 200'000);
}

TEST_CASE("an image that is larger than a slot has copies, too") {
  Images images;
  Source source{"x = {} for i = 1, 1000 do x[i] = { 'y' .. i } end"};
  const auto image = images.Make(source);
  INFO(images.why);
  REQUIRE(image != nullptr);
  CHECK(image->size() > StateSlots::kSize);
  for (int i = 0; i < 10; ++i) {
    Subject copy;
    copy.Copy(*image);
    CHECK(copy.Run("for i = 1, 500 do x[#x + 1] = i end return #x .. x[777][1]") == "1500y777");
  }
  CHECK(images.slots.reserved() == 0);
}

TEST_CASE("what cannot be copied is refused, and it is said where it is") {
  struct Row {
    const char* script;
    const char* why;
  };
  const Row rows[] = {
      {"x = coroutine.create(print)", "a coroutine, in registry"},
      {"x = { y = { [{}] = 1 } }", "a table with a key whose place depends on its address"},
      {"x = { [print] = 1, [function() end] = 1 }", "a table with a key whose place depends"},
      {"x = io.tmpfile()", "a userdata, in registry"},
      {"local c = coroutine.wrap(print) function f() c() end", "a coroutine, in registry"},
      {"setmetatable(string, { [{}] = 1 })", "(metatable)"},
      {"debug.setmetatable(nil, { [{}] = 1 })", "the metatable of a type"},
      {"error('no')", "no"},
      {"error({})", "an error that is no string"},
      {"x = ('x'):rep(1000000)", "not enough memory"},
  };
  for (const Row& row : rows) {
    INFO(row.script);
    Images images;
    Source source{row.script};
    CHECK(images.Make(source) == nullptr);
    INFO(images.why);
    CHECK(images.why.find(row.why) != std::string::npos);
  }
}

TEST_CASE("copies are made on several threads at a time") {
  StateSlots slots(4);
  Source source;
  std::string why;
  const auto image = StateImage::Make(slots, OpenSource, &source, &why);
  REQUIRE(image != nullptr);
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 100; ++i) {
        Allocator allocator;
        StateRecord record;
        lua_State* const L = image->Copy(&allocator, &record, t);
        if (luaL_dostring(L, "local s = '' for i = 1, 50 do s = s .. i end return #s") != LUA_OK ||
            lua_tointeger(L, -1) != 91) {
          failed.fetch_add(1);
        }
        CloseState(L, t);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(failed == 0);
}

// Makes a graph of tables, closures and metatables by chance, changes it, and says what it is.
constexpr char kGraph[] = R"lua(
  local state = SEED
  local function below(n)
    state = (state * 1103515245 + 12345) & 0x7fffffff
    return (state >> 8) % n
  end
  local objects = {}
  local function some() return objects[below(#objects) + 1] end
  local function scalar()
    local kind = below(7)
    if kind == 0 then return below(50) end
    if kind == 1 then return below(1000) / 8 end
    if kind == 2 then return below(2) == 0 end
    if kind == 3 then return "s" .. below(40) end
    if kind == 4 then return ("long"):rep(20 + below(5)) end
    if kind == 5 then return print end
    return -below(10)
  end
  local function value() return #objects > 0 and below(3) == 0 and some() or scalar() end
  local function make()
    local kind = below(4)
    if kind == 0 then
      local a, b = value(), value()
      return function(x) if x then a, b = b, x end return a, b end
    elseif kind == 1 and #objects > 0 then
      return setmetatable({}, { __index = some(), name = scalar() })
    end
    local t = {}
    for _ = 1, below(12) do
      local key = scalar()
      if below(2) == 0 then t[#t + 1] = value() else t[key] = value() end
    end
    return t
  end
  function change(count)
    for _ = 1, count do
      local what = below(4)
      local object = #objects > 0 and some()
      if what == 0 or not object then
        objects[#objects + 1] = make()
      elseif what == 1 and #objects > 30 then
        table.remove(objects, below(#objects) + 1)
      elseif type(object) == "function" then
        object(value())
      elseif what == 2 then
        rawset(object, scalar(), nil)
      else
        rawset(object, scalar(), value())
      end
    end
  end
  function describe()
    local ids, out, count = {}, {}, 0
    local function order(a, b)
      local ta, tb = math.type(a) or type(a), math.type(b) or type(b)
      if ta ~= tb then return ta < tb end
      if type(a) == "number" or type(a) == "string" then return a < b end
      return tostring(a) < tostring(b)
    end
    local visit
    local function show(v)
      local kind = type(v)
      if v == print then out[#out + 1] = "print" return end
      if kind == "table" or kind == "function" then return visit(v) end
      out[#out + 1] = kind .. ":" .. tostring(v)
    end
    function visit(v)
      if ids[v] then out[#out + 1] = "#" .. ids[v] return end
      count = count + 1
      ids[v] = count
      if type(v) == "function" then
        out[#out + 1] = "f("
        local a, b = v()
        show(a)
        show(b)
      else
        out[#out + 1] = "{"
        local keys = {}
        for k in next, v do keys[#keys + 1] = k end
        table.sort(keys, order)
        for _, k in ipairs(keys) do
          show(k)
          out[#out + 1] = "="
          show(rawget(v, k))
        end
        local mt = getmetatable(v)
        if mt then visit(mt) end
      end
      out[#out + 1] = ")"
    end
    for _, object in ipairs(objects) do visit(object) end
    return table.concat(out, " ")
  end
  change(60)
)lua";

TEST_CASE("copies of random states are and become what the states are and become") {
  int made = 0;
  for (int seed = 1; seed <= 60; ++seed) {
    INFO("seed " << seed);
    Images images;
    std::string script = kGraph;
    script.replace(script.find("SEED"), 4, std::to_string(seed));
    Source source{script, kLibTable | kLibString | kLibMath};
    const auto image = images.Make(source);
    INFO(images.why);
    REQUIRE(image != nullptr);
    ++made;
    Subject ordinary;
    ordinary.Open(source);
    Subject copy;
    copy.Copy(*image);
    Subject other;
    other.Copy(*image);
    for (int round = 0; round < 6; ++round) {
      const std::string expected = ordinary.Run("return describe()");
      REQUIRE(copy.Run("return describe()") == expected);
      static_cast<void>(ordinary.Run("change(40)"));
      static_cast<void>(copy.Run("change(40) collectgarbage('step')"));
      if (round == 2) copy.Run("collectgarbage()");
      if (round == 4) copy.Run("collectgarbage('generational')");
      static_cast<void>(other.Run("change(7)"));
    }
  }
  CHECK(made == 60);
}

}  // namespace
}  // namespace shoal::core
