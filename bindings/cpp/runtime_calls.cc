// SPDX-License-Identifier: MIT
// The members of Runtime that make and find things.
#include <shoal/runtime.h>

#include <new>
#include <utility>

#include "bindings/cpp/cell.h"
#include "bindings/cpp/host_wait.h"
#include "bindings/cpp/outcome.h"
#include "bindings/cpp/runtime_state.h"
#include "bindings/cpp/source.h"
#include "bindings/cpp/value_writer.h"
#include "runtime/base/enough_memory.h"
#include "runtime/process/process.h"

namespace shoal {

using embed::Cell;
using embed::Entry;

namespace {

// Of a channel or process; a handle that says so, if memory for it is short.
template <class T, class Object>
T HandleOf(embed::Gate& gate, core::Ref<Object> object) {
  Handle handle = Cell::MakeHandle(gate, core::Ref<core::RefCounted>::Adopt(object.Leak()));
  return T(handle ? std::move(handle) : Cell::MakeHandle(Status::kNoMemory));
}

Error SpawnIn(embed::Gate& gate, const SpawnOptions& given, const Source& source,
              const Values& arguments, core::Ref<core::Process>* process) {
  core::SpawnOptions options;
  Error error = embed::TakeOptions(given, gate, &options);
  if (error.status() == Status::kOk) error = embed::TakeSource(source, gate, &options);
  if (error.status() != Status::kOk) return error;
  options.arguments = embed::EncodeValues(arguments.vector(), gate, &error);
  if (options.arguments == nullptr) return error;
  const core::Status status = core::Process::Spawn(gate.machine(), std::move(options), process);
  return status == core::Status::kOk ? Error() : embed::ErrorOf(status);
}

}  // namespace

Process Runtime::Spawn(const SpawnOptions& options, const Source& source,
                       const Values& arguments) noexcept {
  if (!*this) return Process(Cell::MakeHandle(error()));
  const Entry entry(*state_->gate);
  if (!entry) return Process(Cell::MakeHandle(entry.error()));
  core::Ref<core::Process> process;
  Error error = Status::kNoMemory;
  static_cast<void>(core::EnoughMemory(
      [&] { error = SpawnIn(entry.gate(), options, source, arguments, &process); }));
  if (error.status() != Status::kOk) return Process(Cell::MakeHandle(std::move(error)));
  return HandleOf<Process>(entry.gate(), std::move(process));
}

Result<Process> Runtime::FindProcess(std::uint64_t id) noexcept {
  if (!*this) return error();
  const Entry entry(*state_->gate);
  if (!entry) return entry.error();
  core::Ref<core::Process> process = entry.machine().processes.Find(id);
  if (!process) return Status::kNotFound;
  return HandleOf<Process>(entry.gate(), std::move(process));
}

Result<Process> Runtime::FindProcess(std::string_view name) noexcept {
  if (!*this) return error();
  const Entry entry(*state_->gate);
  if (!entry) return entry.error();
  core::Ref<core::Process> process;
  const bool enough =
      core::EnoughMemory([&] { process = entry.machine().processes.Find(std::string(name)); });
  if (!enough) return Status::kNoMemory;
  if (!process) return Status::kNotFound;
  return HandleOf<Process>(entry.gate(), std::move(process));
}

Result<std::vector<Process>> Runtime::Processes() noexcept {
  if (!*this) return error();
  const Entry entry(*state_->gate);
  if (!entry) return entry.error();
  std::vector<Process> all;
  const bool enough = core::EnoughMemory([&] {
    for (core::Ref<core::Process>& process : entry.machine().processes.All()) {
      all.push_back(HandleOf<Process>(entry.gate(), std::move(process)));
    }
  });
  if (!enough) return Status::kNoMemory;
  return all;
}

Result<void> Runtime::Wait(Timeout timeout) noexcept {
  if (!*this) return error();
  const Entry entry(*state_->gate);
  if (!entry) return entry.error();
  Error error = embed::CheckTimeout(timeout);
  if (error.status() != Status::kOk) return error;
  if (entry.machine().processes.live() == 0) return {};
  if (timeout.time() == core::Duration::zero()) return Status::kTimeout;
  if (!embed::HostWait::IsAllowedHere()) return embed::NoWaitHere();
  const core::TimePoint deadline = embed::DeadlineOf(timeout);
  embed::HostWait wait(entry.gate());
  core::WaitNode node;
  node.waiter = &wait.waiter();
  wait.waiter().Open(core::WaitReason::kIdle);
  if (entry.machine().processes.WaitAllOrPublish(node) == core::Status::kOk) return {};
  return embed::ErrorOf(wait.Await(deadline, {&node, 1}));
}

Channel Runtime::OpenChannel(std::string_view name) noexcept {
  ChannelOptions options;
  if (!core::EnoughMemory([&] { options.name = name; })) {
    return Channel(Cell::MakeHandle(Status::kNoMemory));
  }
  return OpenChannel(options);
}

Channel Runtime::OpenChannel(const ChannelOptions& given) noexcept {
  if (!*this) return Channel(Cell::MakeHandle(error()));
  const Entry entry(*state_->gate);
  if (!entry) return Channel(Cell::MakeHandle(entry.error()));
  core::ChannelRegistry& channels = entry.machine().channels;
  core::Channel::Options options = channels.defaults();
  if (given.limit) options.limit = *given.limit;
  if (given.bytes) options.bytes = *given.bytes;
  core::Ref<core::Channel> channel;
  core::Status status = core::Status::kNoMemory;
  static_cast<void>(core::EnoughMemory([&] {
    if (given.name.empty()) {
      channel = channels.Make(options);
      status = channel ? core::Status::kOk : core::Status::kNoMemory;
    } else {
      status = channels.Open(given.name, given.limit || given.bytes ? &options : nullptr, &channel);
    }
  }));
  if (status == core::Status::kOk) return HandleOf<Channel>(entry.gate(), std::move(channel));
  if (status != core::Status::kExists) return Channel(Cell::MakeHandle(embed::ErrorOf(status)));
  return Channel(
      Cell::MakeHandle(Error(Status::kExists, "a channel of that name exists with another limit")));
}

}  // namespace shoal
