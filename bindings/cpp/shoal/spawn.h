// SPDX-License-Identifier: MIT
/// \file
/// Source and SpawnOptions: what a new process is given.
#pragma once

#include <shoal/table.h>
#include <shoal/value.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct lua_State;

namespace shoal {

/// What a process runs: Lua source, a file of it, a C function, or a function that has come from
/// another process.
class Source {
 public:
  /// A function for Lua, as lua_CFunction.
  using CFunction = int (*)(lua_State*);

  // NOLINTBEGIN(google-explicit-constructor): sources are written as what they are.
  /// Lua source text.
  Source(std::string text) noexcept : text_(std::move(text)) {}
  /// The same.
  Source(std::string_view text) : text_(text) {}
  /// The same.
  Source(const char* text) : text_(text) {}
  /// A C function. It waits as Lua's own functions do: by lua_yieldk and the like.
  Source(CFunction given) noexcept : kind_(Kind::kFunction), function_(given) {}
  /// A function that has come in a message: Value::Kind::kOpaque.
  Source(Value given) noexcept : kind_(Kind::kValue), value_(std::move(given)) {}
  // NOLINTEND(google-explicit-constructor)
  /// A file of Lua source.
  [[nodiscard]] static Source File(std::string path) noexcept {
    Source source(std::move(path));
    source.kind_ = Kind::kFile;
    return source;
  }

  /// What it is.
  enum class Kind : std::uint8_t { kText, kFile, kFunction, kValue };
  /// What it is.
  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  /// The text, or the path.
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  /// The C function.
  [[nodiscard]] CFunction function() const noexcept { return function_; }
  /// The function from Lua.
  [[nodiscard]] const Value& value() const noexcept { return value_; }

 private:
  Kind kind_ = Kind::kText;
  std::string text_;
  CFunction function_ = nullptr;
  Value value_;
};

/// What a process is given besides what it runs. All has a default.
struct SpawnOptions {
  /// For messages, and Runtime::FindProcess. Need not be unique.
  std::string name = {};
  /// True: Runtime::Wait does not wait for its end.
  bool daemon = false;
  /// Globals, which are copied into the new process.
  Table globals = {};
  /// The libraries that it and its descendants get: "package", "coroutine", "table", "io", "os",
  /// "string", "math", "utf8", "debug", "shoal", "socket". Nothing: all.
  std::optional<std::vector<std::string>> libs = std::nullopt;
  /// The only names under which it can open channels. Nothing: all; or none, if `libs` is given.
  std::optional<std::vector<std::string>> channels = std::nullopt;
  /// Bytes of its Lua state.
  std::optional<std::size_t> memory_limit = std::nullopt;
  /// Bytes of each message that it sends.
  std::optional<std::size_t> message_limit = std::nullopt;
  /// How long its turns may take, all together.
  std::optional<std::chrono::nanoseconds> cpu_limit = std::nullopt;
  /// Of math.random. Nothing: each process has its own.
  std::optional<std::int64_t> seed = std::nullopt;
  /// Where `require` looks; empty: where the stock interpreter does.
  std::string path = {};
  /// The same for C modules.
  std::string cpath = {};
};

}  // namespace shoal
