// SPDX-License-Identifier: MIT
// SpawnOptions is all that a new process is given.
#pragma once

#include <cstdint>
#include <lua.hpp>
#include <optional>
#include <string>

#include "runtime/base/ref_counted.h"
#include "runtime/lua/state.h"
#include "runtime/message/message.h"
#include "runtime/process/limits.h"

namespace shoal::core {

// Where `require` looks. Shared, because most processes look where their creator does.
class SearchPaths final : public RefCounted {
 public:
  SearchPaths(std::string lua, std::string native)
      : path(std::move(lua)), cpath(std::move(native)) {}
  const std::string path;
  const std::string cpath;
};

struct SpawnOptions {
  std::string name;
  bool daemon = false;
  // An error in the new process or this one ends the other (link.h); may be null.
  Ref<RefCounted> linked;
  // The first process of the program: its error ends the program.
  bool script = false;
  LibrarySet libraries = kAllLibraries;
  Limits limits;
  Reach reach;
  // Of math.random; else each process has its own.
  std::optional<lua_Integer> seed;
  // "generational" as the stock interpreter runs a script; else incremental with stock parameters.
  bool generational = false;
  Ref<SearchPaths> paths;  // null: the defaults of the build

  // What it runs: a function of the program, called with `main_context` as light userdata, which
  // itself calls what may raise by lua_pcallk; or a message of one function and one of its
  // arguments.
  lua_CFunction main = nullptr;
  void* main_context = nullptr;
  // In place of a body: a C function that is called with the arguments.
  lua_CFunction function = nullptr;
  MessagePtr body;
  MessagePtr arguments;
  MessagePtr globals;  // one table, copied into the globals; may be null
  MessagePtr preload;  // one table, copied into package.preload; may be null
};

}  // namespace shoal::core
