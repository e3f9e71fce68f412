// SPDX-License-Identifier: MIT
#include "bindings/cpp/host_call.h"

#include <string>
#include <utility>

#include "bindings/cpp/channel_wait.h"
#include "bindings/cpp/host_wait.h"
#include "bindings/cpp/outcome.h"
#include "bindings/cpp/value_reader.h"
#include "bindings/cpp/value_writer.h"
#include "runtime/base/enough_memory.h"

namespace shoal::embed {

namespace {

// Where the error value stands in what a failed call leaves: behind an id and a status.
constexpr std::size_t kErrorValue = 2;

// Why a message was not sent.
Error WhyNotSent(core::Status status, Timeout timeout) {
  switch (status) {
    case core::Status::kPending:
      return NoWaitHere();
    case core::Status::kClosed:
      return Error(Status::kClosed, "the pool is closed");
    case core::Status::kTimeout:
      if (timeout.time() == core::Duration::zero()) return Status::kFull;
      return Status::kTimeout;
    default:
      return ErrorOf(status);
  }
}

// The error value as text.
std::string TextOf(const Value& value) {
  static constexpr const char* kTypes[] = {"nil",   "boolean",  "number",   "number",  "string",
                                           "table", "userdata", "userdata", "function"};
  if (value.kind() == Value::Kind::kString) return value.ToText();
  return std::string("(error object is a ") + kTypes[static_cast<int>(value.kind())] + " value)";
}

}  // namespace

core::Ref<core::Call> MakeCall(Gate& gate, std::span<const Value> values, Error* error) {
  core::MessagePtr message = EncodeValues(values, gate, error);
  if (message == nullptr) return {};
  auto call = core::Ref<core::Call>::Adopt(core::TryNew<core::Call>(std::move(message)));
  if (!call) *error = Status::kNoMemory;
  return call;
}

Error SendCall(Gate& gate, core::Channel& channel, const core::KeyName& key, core::Call& call,
               Timeout timeout) {
  core::MessagePtr answer = core::MakeAnswerMessage(call);
  if (answer == nullptr) {
    call.Close();
    return Status::kNoMemory;
  }
  // Where it is not sent, the answer is dropped with it, and that closes the call.
  core::MessageList messages;
  messages.PushBack(std::move(answer));
  const core::Status status = SendOrWait(gate, channel, key, messages, timeout);
  return status == core::Status::kOk ? Error() : WhyNotSent(status, timeout);
}

Error AwaitExit(Gate& gate, core::Exit& exit, Timeout timeout, core::TimePoint deadline) {
  if (exit.kind() != core::ExitKind::kNone) return Error();
  if (timeout.time() == core::Duration::zero()) return Status::kTimeout;
  if (!HostWait::IsAllowedHere()) return NoWaitHere();
  HostWait wait(gate);
  core::WaitNode node;
  node.waiter = &wait.waiter();
  wait.waiter().Open(core::WaitReason::kJoin);
  if (exit.JoinOrWait(node) == core::Status::kOk) return Error();
  const core::Status status = wait.Await(deadline, {&node, 1});
  return status == core::Status::kOk ? Error() : ErrorOf(status);
}

Error FailureOf(Gate& gate, core::Exit& exit) {
  if (exit.message() == nullptr) return Error(Status::kError, "not enough memory");
  const Result<Values> notice = DecodeValues(*exit.message(), gate);
  if (!notice) return notice.error();
  const Value& value = (*notice)[kErrorValue];
  std::string text;
  if (!core::EnoughMemory([&] { text = TextOf(value); })) return Status::kNoMemory;
  return Error(value, text, exit.traceback());
}

Result<Values> ResultOf(Gate& gate, core::Call& call) {
  core::Exit& exit = call.exit();
  switch (exit.kind()) {
    case core::ExitKind::kDone:
      if (exit.message() == nullptr) return Status::kNoMemory;
      return DecodeValues(*exit.message(), gate);
    case core::ExitKind::kCancelled:
    case core::ExitKind::kNone:
      return Status::kCancelled;
    case core::ExitKind::kError:
      break;
  }
  if (call.closed()) return Error(Status::kClosed, "the pool is closed");
  return FailureOf(gate, exit);
}

}  // namespace shoal::embed
