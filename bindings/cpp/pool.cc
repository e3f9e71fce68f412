// SPDX-License-Identifier: MIT
// Pools, for threads of the program. What a pool is, and what stands where in its queue, is that of
// bindings/lua/pool.lua; this is a second caller of it.
#include <shoal/pool.h>
#include <shoal/runtime.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/cpp/cell.h"
#include "bindings/cpp/host_call.h"
#include "bindings/cpp/host_wait.h"
#include "bindings/cpp/outcome.h"
#include "bindings/lua/pool_library.h"
#include "runtime/base/enough_memory.h"
#include "runtime/process/process.h"

namespace shoal {

using core::KeyName;
using embed::Entry;
using embed::Gate;

namespace {

using PoolObject = bindings::Pool;

constexpr Handle::Kind kKind = Handle::Kind::kPool;
constexpr char kOrderKey[] = "order";
constexpr char kStarterKey[] = "starter";

// A call of `f`; null with `error`.
core::Ref<core::Call> Make(Gate& gate, const Value& f, std::span<const Value> arguments,
                           Error* error) {
  const bool is_callable = f.kind() == Value::Kind::kString || f.kind() == Value::Kind::kOpaque;
  if (!is_callable) {
    *error = Error(Status::kMisuse, "a pool calls a function from Lua, or the name of one");
    return {};
  }
  core::Ref<core::Call> call;
  const bool enough = core::EnoughMemory([&] {
    std::vector<Value> values;
    values.reserve(arguments.size() + 1);
    values.push_back(f);
    values.insert(values.end(), arguments.begin(), arguments.end());
    call = embed::MakeCall(gate, values, error);
  });
  if (!enough) *error = Status::kNoMemory;
  return call;
}

// Sends the starter an order. Null with `error`: there is no starter any more, or no memory.
core::Ref<core::Call> SendOrder(Gate& gate, const PoolObject& pool, const char* order,
                                Error* error) {
  core::Ref<core::Call> call;
  const bool enough = core::EnoughMemory([&] {
    const Value value(order);
    call = embed::MakeCall(gate, {&value, 1}, error);
  });
  if (!enough) *error = Status::kNoMemory;
  if (!call) return call;
  *error = embed::SendCall(gate, pool.queue(), KeyName::String(kOrderKey), *call, kForever);
  if (error->status() != Status::kOk) call = {};
  return call;
}

core::Ref<core::Process> StarterOf(const PoolObject& pool) {
  core::Ref<core::Process> starter;
  pool.queue().Peek(KeyName::String(kStarterKey), 1, [&](const core::Message& message) {
    if (message.references().empty()) return;
    // A count under the lock, which frees nothing.
    starter =
        core::Ref<core::Process>::Share(static_cast<core::Process*>(message.references().front()));
  });
  return starter;
}

}  // namespace

Error Pool::error() const noexcept {
  if (cell() == nullptr) return Error(Status::kMisuse, "this handle stands for no pool");
  return cell()->error();
}

int Pool::size() const noexcept {
  const Entry entry(*this, kKind);
  return entry ? static_cast<int>(entry.object<PoolObject>().size()) : 0;
}

Result<Values> Pool::CallValues(Timeout timeout, const Key* key, const Value& f,
                                std::span<const Value> arguments) const noexcept {
  Error error = embed::CheckTimeout(timeout);
  if (error.status() != Status::kOk) return error;
  const core::TimePoint deadline = embed::DeadlineOf(timeout);
  const Entry entry(*this, kKind);
  if (!entry) return entry.error();
  if (!embed::HostWait::IsAllowedHere()) return embed::NoWaitHere();
  Gate& gate = entry.gate();
  const auto& pool = entry.object<PoolObject>();
  // 1 To any of the processes, or to the one of that key: as call_on of Lua has it.
  KeyName name = KeyName::String(bindings::kCallKey);
  if (key != nullptr) {
    error = embed::ToKeyName(*key, gate, &name);
    if (error.status() != Status::kOk) return error;
    const auto size = static_cast<std::size_t>(pool.size());
    name = KeyName::Integer(static_cast<std::int64_t>(name.Hash() % size) + 1);
  }
  // 2
  const core::Ref<core::Call> call = Make(gate, f, arguments, &error);
  if (!call) return error;
  error = embed::SendCall(gate, pool.queue(), name, *call, timeout);
  if (error.status() != Status::kOk) {
    return error.status() == Status::kFull ? Error(Status::kTimeout) : error;
  }
  // 3
  error = embed::AwaitExit(gate, call->exit(), timeout, deadline);
  if (error.status() == Status::kOk) return embed::ResultOf(gate, *call);
  // Nobody waits for it any more.
  call->Cancel(core::DeadlineAfter(gate.machine().clock.Now(), core::Process::kCleanupTime));
  return error;
}

Future Pool::AsyncValues(Timeout timeout, const Value& f,
                         std::span<const Value> arguments) const noexcept {
  const Entry entry(*this, kKind);
  if (!entry) return entry.error();
  Error error;
  const core::Ref<core::Call> call = Make(entry.gate(), f, arguments, &error);
  if (!call) return error;
  // Before it is sent: what nobody can ask for is not called.
  Handle handle =
      embed::Cell::MakeHandle(entry.gate(), core::Ref<core::RefCounted>::Share(call.get()));
  if (!handle) return Status::kNoMemory;
  error = embed::SendCall(entry.gate(), entry.object<PoolObject>().queue(),
                          KeyName::String(bindings::kCallKey), *call, timeout);
  if (error.status() != Status::kOk) return error;
  return Future(std::move(handle));
}

Result<void> Pool::Reload() const noexcept {
  const Entry entry(*this, kKind);
  if (!entry) return entry.error();
  if (!embed::HostWait::IsAllowedHere()) return embed::NoWaitHere();
  Error error;
  const auto order = SendOrder(entry.gate(), entry.object<PoolObject>(), "reload", &error);
  if (!order) return error;
  error = embed::AwaitExit(entry.gate(), order->exit(), kForever, core::kNever);
  if (error.status() != Status::kOk) return error;
  return embed::ResultOf(entry.gate(), *order).error();
}

Result<void> Pool::Close(Timeout timeout) const noexcept {
  Error error = embed::CheckTimeout(timeout);
  if (error.status() != Status::kOk) return error;
  const core::TimePoint deadline = embed::DeadlineOf(timeout);
  const Entry entry(*this, kKind);
  if (!entry) return entry.error();
  if (!embed::HostWait::IsAllowedHere()) return embed::NoWaitHere();
  Gate& gate = entry.gate();
  auto& pool = entry.object<PoolObject>();
  const core::Ref<core::Process> starter = StarterOf(pool);
  // 1 From here on there are no more calls, even if the starter has not heard of it.
  pool.queue().CloseKey(KeyName::String(bindings::kCallKey));
  for (std::int64_t slot = 1; slot <= pool.size(); ++slot) {
    pool.queue().CloseKey(KeyName::Integer(slot));
  }
  // 2 Those that have been made are answered. Without an order, somebody has closed it before.
  const core::Ref<core::Call> order = SendOrder(gate, pool, "close", &error);
  if (!order && error.status() != Status::kClosed) return error;
  if (!starter) return {};
  error = embed::AwaitExit(gate, order ? order->exit() : starter->exit(), timeout, deadline);
  if (error.status() == Status::kTimeout && order) {
    starter->Cancel(core::Process::kCleanupTime);
    bindings::EndPool(pool);
  }
  if (error.status() != Status::kOk) return error;
  // 3 The processes have ended; the starter is about to.
  error = embed::AwaitExit(gate, starter->exit(), kForever, core::kNever);
  if (error.status() != Status::kOk) return error;
  bindings::EndPool(pool);
  return {};
}

// Making one --------------------------------------------------------------------------------------

namespace {

// Runs where options are checked as in Lua. Returns the pool; or nil, what is wrong, and whether
// that is the script.
constexpr char kMaker[] = R"lua(
local options = ...
local script, why = true, nil
if options.file then
  script, why = loadfile(options.file, "t")
elseif options.body then
  script, why = load(options.body, options.body, "t")
end
if not script then
  return nil, why, true
end
local ok, pool = pcall(require("shoal").pool, options)
if ok then
  return pool
end
return nil, pool, false
)lua";

Value ListOf(const std::optional<std::vector<std::string>>& names) {
  return names ? Value(*names) : Value();
}

// What `shoal.pool` is called with. May throw std::bad_alloc.
Table ToTable(const PoolOptions& options) {
  Table table;
  const auto set = [&table](const char* name, bool is_given, Value value) {
    if (is_given) static_cast<void>(table.Set(name, std::move(value)));
  };
  set("file", !options.file.empty(), options.file);
  set("body", !options.body.empty(), options.body);
  set("size", options.size != 0, options.size);
  set("tasks", true, options.tasks);
  set("limit", options.limit != PoolOptions::kNoLimit, options.limit);
  set("name", !options.name.empty(), options.name);
  set("env", !options.env.empty(), options.env);
  set("libs", options.libs.has_value(), ListOf(options.libs));
  set("channels", options.channels.has_value(), ListOf(options.channels));
  set("memory_limit", options.memory_limit != 0, options.memory_limit);
  set("cpu_limit", options.cpu_limit.count() != 0,
      std::chrono::duration<double>(options.cpu_limit).count());
  set("message_limit", options.message_limit != 0, options.message_limit);
  set("seed", options.seed.has_value(), options.seed.value_or(0));
  return table;
}

// Why there is no pool.
Error Complaint(const Values& values) {
  constexpr std::string_view kBefore = "bad argument #1 to 'pool' (";
  std::string_view text = values.get<std::string_view>(1).value_or("the pool cannot be made");
  if (values.get<bool>(2).value_or(false)) return Error(values[1], text, {});
  // Without the function of Lua, which nobody has called.
  const std::size_t at = text.find(kBefore);
  if (at != std::string_view::npos && text.ends_with(')')) {
    text.remove_suffix(1);
    text.remove_prefix(at + kBefore.size());
  }
  return Error(Status::kMisuse, text);
}

}  // namespace

Pool Runtime::MakePool(const PoolOptions& options) noexcept {
  const auto none = [](Error error) { return Pool(embed::Cell::MakeHandle(std::move(error))); };
  if (!*this) return none(error());
  Values arguments;
  const bool enough = core::EnoughMemory([&] { arguments = Values{ToTable(options)}; });
  if (!enough) return none(Status::kNoMemory);
  const SpawnOptions daemon{.name = "pool maker", .daemon = true};
  const Result<Values> made = Spawn(daemon, kMaker, arguments).Join();
  if (!made) return none(made.error());
  std::optional<Pool> pool = made->get<Pool>(0);
  if (!pool) return none(Complaint(*made));
  return *std::move(pool);
}

}  // namespace shoal
