// SPDX-License-Identifier: MIT
// TwoStates sends the results of one script, as a message, to another script in another state.
//
// Scripts of both find `handle(n)`: a handle of the object number n, the same for the same number
// in both states; and `orphan()`: a handle that alone keeps its object.
#pragma once

#include <array>
#include <catch2/catch.hpp>
#include <lua.hpp>
#include <string>

#include "runtime/base/ref_counted.h"
#include "runtime/lua/codec.h"
#include "runtime/lua/state_record.h"
#include "runtime/message/message.h"

namespace shoal::core {

class TestObject final : public RefCounted {
 public:
  // Counts itself in `alive`.
  explicit TestObject(int* alive) : alive_(alive) { ++*alive_; }
  ~TestObject() override { --*alive_; }
  TestObject(const TestObject&) = delete;
  TestObject& operator=(const TestObject&) = delete;

 private:
  int* alive_;
};

// A host that knows handles only: userdata "test.handle" with a pointer to the object.
class HandleHost final : public StateHost {
 public:
  const void* CurrentTask() override { return this; }
  int WaitForLoads(lua_State* L, lua_KContext, lua_KFunction) override {
    return luaL_error(L, "nothing waits here");
  }
  void LoadsChanged() override {}
  RefCounted* ToReference(lua_State* L, int index) override {
    void* const handle = luaL_testudata(L, index, kName);
    return handle == nullptr ? nullptr : *static_cast<RefCounted**>(handle);
  }
  void PushReference(lua_State* L, RefCounted* object) override {
    luaL_checkstack(L, 5, nullptr);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, "test.handles");
    if (lua_rawgetp(L, -1, object) == LUA_TNIL) {
      lua_pop(L, 1);
      if (lua_getmetatable(L, -1) == 0) {
        lua_createtable(L, 0, 1);
        lua_pushliteral(L, "v");
        lua_setfield(L, -2, "__mode");
        lua_setmetatable(L, -2);
      } else {
        lua_pop(L, 1);
      }
      auto** const handle = static_cast<RefCounted**>(lua_newuserdatauv(L, sizeof(void*), 0));
      *handle = nullptr;
      if (luaL_newmetatable(L, kName) != 0) {
        lua_pushcfunction(L, Collect);
        lua_setfield(L, -2, "__gc");
      }
      lua_setmetatable(L, -2);
      object->AddRef();
      *handle = object;
      lua_pushvalue(L, -1);
      lua_rawsetp(L, -3, object);
    }
    lua_remove(L, -2);
  }

 private:
  static constexpr const char* kName = "test.handle";
  static int Collect(lua_State* L) {
    auto* const object = *static_cast<RefCounted**>(lua_touserdata(L, 1));
    if (object != nullptr) object->Release();
    return 0;
  }
};

// One state with its standard libraries.
class CodecState {
 public:
  CodecState() {
    record_.main = record_.task = record_.current = lua_;
    record_.host = &host_;
    SetRecord(lua_, &record_);
    luaL_openlibs(lua_);
  }
  ~CodecState() {
    lua_close(lua_);
    FreeCodecScratch(record_.codec_scratch);
  }
  CodecState(const CodecState&) = delete;
  CodecState& operator=(const CodecState&) = delete;

  // Runs the script; its results are all that stands on the stack.
  void Run(const std::string& script) {
    lua_settop(lua_, 0);
    if (luaL_loadstring(lua_, script.c_str()) != LUA_OK ||
        lua_pcall(lua_, 0, LUA_MULTRET, 0) != LUA_OK) {
      FAIL(lua_tostring(lua_, -1));
    }
  }

  // Encodes all that stands on the stack, in protected mode. On errors the message is null and the
  // error stands on the stack.
  MessagePtr Encode() {
    Message* message = nullptr;
    lua_pushlightuserdata(lua_, &message);
    lua_insert(lua_, 1);
    lua_pushcfunction(lua_, EncodeCall);
    lua_insert(lua_, 1);
    const int status = lua_pcall(lua_, lua_gettop(lua_) - 1, 0, 0);
    return MessagePtr(status == LUA_OK ? message : nullptr);
  }

  // Leaves the values on the stack, or the error: then false.
  bool Decode(const Message& message) {
    lua_settop(lua_, 0);
    lua_pushcfunction(lua_, DecodeCall);
    lua_pushlightuserdata(lua_, const_cast<Message*>(&message));
    return lua_pcall(lua_, 1, LUA_MULTRET, 0) == LUA_OK;
  }

  // Calls the script with what stands on the stack; its results, by tostring, with blanks between.
  std::string Call(const std::string& script) {
    REQUIRE(luaL_loadstring(lua_, script.c_str()) == LUA_OK);
    lua_insert(lua_, 1);
    if (lua_pcall(lua_, lua_gettop(lua_) - 1, LUA_MULTRET, 0) != LUA_OK) {
      return std::string("error: ") + lua_tostring(lua_, -1);
    }
    std::string all;
    const int count = lua_gettop(lua_);
    for (int i = 1; i <= count; ++i) {
      std::size_t size = 0;
      const char* const text = luaL_tolstring(lua_, i, &size);
      if (i > 1) all += ' ';
      all.append(text, size);
    }
    lua_settop(lua_, 0);
    return all;
  }

  lua_State* lua() { return lua_; }
  StateRecord& record() { return record_; }
  HandleHost& host() { return host_; }

 private:
  static int EncodeCall(lua_State* L) {
    auto** const message = static_cast<Message**>(lua_touserdata(L, 1));
    *message = core::Encode(L, 2, lua_gettop(L) - 1);
    return 0;
  }
  static int DecodeCall(lua_State* L) {
    auto* const message = static_cast<Message*>(lua_touserdata(L, 1));
    lua_settop(L, 0);
    if (!NeedsModules(L, *message)) return core::Decode(L, *message);
    return RequireModules(L, *message, reinterpret_cast<lua_KContext>(message), Continue);
  }
  static int Continue(lua_State* L, int /*status*/, lua_KContext message) {
    return core::Decode(L, *reinterpret_cast<Message*>(message));
  }

  HandleHost host_;
  StateRecord record_;

  lua_State* const lua_ = luaL_newstate();
};

class TwoStates {
 public:
  TwoStates() {
    for (TestObject*& object : objects_) object = new TestObject(&objects_alive_.count);
    for (CodecState* state : {&sender, &receiver}) {
      lua_pushlightuserdata(state->lua(), this);
      lua_pushcclosure(state->lua(), PushHandle, 1);
      lua_setglobal(state->lua(), "handle");
      lua_pushlightuserdata(state->lua(), this);
      lua_pushcclosure(state->lua(), PushOrphan, 1);
      lua_setglobal(state->lua(), "orphan");
    }
  }
  ~TwoStates() {
    for (TestObject* object : objects_) object->Release();
  }
  TwoStates(const TwoStates&) = delete;
  TwoStates& operator=(const TwoStates&) = delete;

  // The message of the script's results. They must be such as may travel.
  MessagePtr Send(const std::string& script) {
    sender.Run(script);
    MessagePtr message = sender.Encode();
    if (message == nullptr) FAIL(lua_tostring(sender.lua(), -1));
    return message;
  }
  // The error of sending them.
  std::string SendError(const std::string& script) {
    sender.Run(script);
    return sender.Encode() != nullptr ? "none" : lua_tostring(sender.lua(), -1);
  }
  // What the script makes of the message.
  std::string Receive(const Message& message, const std::string& script) {
    if (!receiver.Decode(message)) return std::string("error: ") + lua_tostring(receiver.lua(), -1);
    return receiver.Call(script);
  }
  std::string Pass(const std::string& send, const std::string& receive) {
    const MessagePtr message = Send(send);
    return Receive(*message, receive);
  }

  // How many objects behind handles there are.
  [[nodiscard]] int alive() const { return objects_alive_.count; }

 private:
  static int PushHandle(lua_State* L) {
    auto* const self = static_cast<TwoStates*>(lua_touserdata(L, lua_upvalueindex(1)));
    const auto n = static_cast<std::size_t>(luaL_checkinteger(L, 1));
    RecordOf(L).host->PushReference(L, self->objects_.at(n));
    return 1;
  }

  static int PushOrphan(lua_State* L) {
    auto* const self = static_cast<TwoStates*>(lua_touserdata(L, lua_upvalueindex(1)));
    auto* const object = new TestObject(&self->objects_alive_.count);
    RecordOf(L).host->PushReference(L, object);
    object->Release();
    return 1;
  }

  // Goes after the states and their messages: then all objects must have gone.
  struct Count {
    int count = 0;
    Count() = default;
    Count(const Count&) = delete;
    Count& operator=(const Count&) = delete;
    ~Count() { CHECK(count == 0); }
  };
  Count objects_alive_;
  std::array<TestObject*, 4> objects_{};

 public:
  CodecState sender;
  CodecState receiver;
};

}  // namespace shoal::core
