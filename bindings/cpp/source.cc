// SPDX-License-Identifier: MIT
#include "bindings/cpp/source.h"

#include <cstdint>
#include <limits>
#include <lua.hpp>
#include <memory>
#include <utility>
#include <vector>

#include "bindings/cpp/value_writer.h"
#include "runtime/base/enough_memory.h"
#include "runtime/lua/state.h"
#include "runtime/lua/wire_bytes.h"
#include "runtime/message/wire.h"

namespace shoal::embed {

namespace wire = core::wire;

namespace {

struct StateDeleter {
  void operator()(lua_State* L) const { lua_close(L); }
};

// Writes the code of a chunk behind what stands in the vector. Nothing may be thrown through Lua.
int AppendCode(lua_State* /*L*/, const void* code, std::size_t size, void* bytes) {
  auto& to = *static_cast<std::vector<std::uint8_t>*>(bytes);
  const auto* const from = static_cast<const std::uint8_t*>(code);
  return core::EnoughMemory([&] { to.insert(to.end(), from, from + size); }) ? 0 : 1;
}

// The message of the one function that the chunk on top of `L` is: its upvalue is the globals of
// whoever gets it. Null if memory is short.
core::MessagePtr MessageOfChunk(lua_State* L) {
  std::vector<std::uint8_t> bytes{wire::kAllocates, 1, wire::kFunction, 0, 0, 0, 0};
  const std::size_t code = bytes.size();
  if (lua_dump(L, AppendCode, &bytes, 0) != 0) return nullptr;
  const std::size_t size = bytes.size() - code;
  if (size > std::numeric_limits<std::uint32_t>::max()) return nullptr;
  core::PutFixed(bytes.data() + code - sizeof(std::uint32_t), static_cast<std::uint32_t>(size));
  bytes.insert(bytes.end(), {1, wire::kUpvalue, wire::kGlobals});
  return core::Message::New({reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()}, {});
}

// Compiles in a state of its own, so that a mistake is known before anything is started.
Error Compile(const Source& source, core::MessagePtr* body) {
  const std::unique_ptr<lua_State, StateDeleter> state(luaL_newstate());
  if (state == nullptr) return Status::kNoMemory;
  lua_State* const L = state.get();
  const std::string& text = source.text();
  // The text is the chunk's name, as for `load`.
  const int status = source.kind() == Source::Kind::kFile
                         ? luaL_loadfilex(L, text.c_str(), "t")
                         : luaL_loadbufferx(L, text.data(), text.size(), text.c_str(), "t");
  if (status == LUA_ERRMEM) return Status::kNoMemory;
  if (status != LUA_OK) {
    std::size_t size = 0;
    const char* const message = lua_tolstring(L, -1, &size);
    const std::string_view what(message, size);
    return Error(Value(what), what, {});
  }
  *body = MessageOfChunk(L);
  return *body == nullptr ? Error(Status::kNoMemory) : Error();
}

Error TakeLibraries(const std::vector<std::string>& names, core::SpawnOptions* options) {
  options->libraries = 0;
  options->reach.confined = true;
  for (const std::string& name : names) {
    const core::LibrarySet library = core::LibraryOf(name.c_str());
    if (library == 0) {
      return Error(Status::kMisuse, "SpawnOptions::libs: there is no library '" + name + "'");
    }
    options->libraries |= library;
  }
  return Error();
}

}  // namespace

Error TakeSource(const Source& source, Gate& gate, core::SpawnOptions* options) {
  switch (source.kind()) {
    case Source::Kind::kText:
    case Source::Kind::kFile:
      return Compile(source, &options->body);
    case Source::Kind::kFunction:
      if (source.function() == nullptr) return Error(Status::kMisuse, "the C function is null");
      options->function = source.function();
      return Error();
    case Source::Kind::kValue:
      break;
  }
  const std::optional<Opaque> function = source.value().get<Opaque>();
  if (!function) return Error(Status::kMisuse, "the value to be run is no function");
  Error error;
  options->body = EncodeValues({&source.value(), 1}, gate, &error);
  return error;
}

Error TakeOptions(const SpawnOptions& given, Gate& gate, core::SpawnOptions* options) {
  options->name = given.name;
  options->daemon = given.daemon;
  options->seed = given.seed;
  if (given.libs) {
    Error error = TakeLibraries(*given.libs, options);
    if (error.status() != Status::kOk) return error;
  }
  // Who names the libraries names the channels as well.
  if (given.channels || given.libs) {
    options->reach.channels = core::Ref<core::NameSet>::Adopt(
        new core::NameSet(given.channels.value_or(std::vector<std::string>())));
  }
  if (given.memory_limit) options->limits.memory = *given.memory_limit;
  if (given.message_limit) options->limits.message = *given.message_limit;
  if (given.cpu_limit) {
    if (*given.cpu_limit <= std::chrono::nanoseconds::zero()) {
      return Error(Status::kMisuse, "SpawnOptions::cpu_limit must be larger than 0");
    }
    options->limits.cpu = *given.cpu_limit;
  }
  if (!given.path.empty() || !given.cpath.empty()) {
    options->paths = core::Ref<core::SearchPaths>::Adopt(
        new core::SearchPaths(given.path.empty() ? LUA_PATH_DEFAULT : given.path,
                              given.cpath.empty() ? LUA_CPATH_DEFAULT : given.cpath));
  }
  if (given.globals.empty()) return Error();
  Error error;
  const Value globals(given.globals);
  options->globals = EncodeValues({&globals, 1}, gate, &error);
  return error;
}

}  // namespace shoal::embed
