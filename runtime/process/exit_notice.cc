// SPDX-License-Identifier: MIT
#include "runtime/process/exit_notice.h"

#include <cstdlib>
#include <cstring>

#include "runtime/lua/wire_bytes.h"
#include "runtime/message/wire.h"

namespace shoal::core {

namespace {

constexpr std::string_view kNoMemory = "not enough memory";

std::uint8_t* PutShortString(std::uint8_t* at, std::string_view text) {
  *at++ = static_cast<std::uint8_t>(wire::kShortString | text.size());
  std::memcpy(at, text.data(), text.size());
  return at + text.size();
}

}  // namespace

const char* ToString(ExitKind kind) {
  switch (kind) {
    case ExitKind::kDone:
      return "done";
    case ExitKind::kError:
      return "error";
    case ExitKind::kCancelled:
      return "cancelled";
    case ExitKind::kNone:
      break;
  }
  return nullptr;
}

MessagePtr MakeNumberNotice(std::int64_t number) {
  MessagePtr message = Message::NewDraft();
  if (message == nullptr) return nullptr;
  auto* const start = reinterpret_cast<std::uint8_t*>(message->draft());
  start[0] = wire::kPlain;
  start[1] = 1;
  message->Finish(static_cast<std::size_t>(PutInteger(start + 2, number) - start));
  return message;
}

MessagePtr MakeErrorNotice(std::uint64_t id, std::string_view text) {
  // The number of values, the id, the status, and what stands before the text.
  constexpr std::size_t kMostBefore = 64;
  const std::size_t room = Message::kHeaderRoom + kMostBefore + text.size();
  auto* const block = static_cast<std::uint8_t*>(std::malloc(room));
  if (block == nullptr) return nullptr;
  std::uint8_t* const start = block + Message::kHeaderRoom;
  start[0] = wire::kAllocates;
  start[1] = 3;
  std::uint8_t* at = PutInteger(start + 2, static_cast<std::int64_t>(id));
  at = PutShortString(at, ToString(ExitKind::kError));
  *at++ = wire::kLongString;
  at = PutVarint(at, text.size());
  std::memcpy(at, text.data(), text.size());
  const auto size = static_cast<std::size_t>(at - start) + text.size();
  MessagePtr message = Message::Adopt(block, size, {});
  if (message == nullptr) std::free(block);
  return message;
}

MessagePtr MakeExitNotice(std::uint64_t id, ExitKind kind, const Message* error) {
  if (kind == ExitKind::kError && error != nullptr) {
    return Message::New(error->bytes(), error->references());
  }
  MessagePtr message = Message::NewDraft();
  if (message == nullptr) return nullptr;
  auto* const start = reinterpret_cast<std::uint8_t*>(message->draft());
  start[0] = wire::kAllocates;
  start[1] = kind == ExitKind::kError ? 3 : 2;
  std::uint8_t* at = PutInteger(start + 2, static_cast<std::int64_t>(id));
  at = PutShortString(at, ToString(kind));
  if (kind == ExitKind::kError) at = PutShortString(at, kNoMemory);
  message->Finish(static_cast<std::size_t>(at - start));
  return message;
}

}  // namespace shoal::core
