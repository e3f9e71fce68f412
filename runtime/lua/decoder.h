// SPDX-License-Identifier: MIT
// Decoder makes Lua values of a message's bytes, without recursion.
//
// It believes nothing that it reads, except the code of functions, which Lua cannot check.
//
// Threads: the one that runs the state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lua.hpp>
#include <string_view>

#include "runtime/lua/codec_scratch.h"
#include "runtime/lua/wire_bytes.h"
#include "runtime/message/message.h"

namespace shoal::core {

// What stands before and behind the values.
struct MessageParts {
  std::uint8_t flags;
  std::uint64_t count;
  WireReader values;
  WireReader modules;  // varint n, n texts; empty if there are none
};
// False if the message is malformed.
[[nodiscard]] bool ReadParts(const Message& message, MessageParts& parts);

[[noreturn]] void RaiseMalformed(lua_State* L);

class Decoder {
 public:
  // Stack slots for a level of nesting: object, key, value, and what registering takes.
  static constexpr int kSlots = 6;

  // `user`: the frame of the call, for AcquireScratch.
  Decoder(lua_State* L, const Message& message, const MessageParts& parts, const void* user)
      : L_(L),
        message_(message),
        user_(user),
        start_(reinterpret_cast<const std::uint8_t*>(message.bytes().data())),
        flags_(parts.flags),
        reader_(parts.values),
        presized_left_(2 * parts.values.left()) {}

  // Pushes `count` values. REQUIRES: there is room for them and kSlots more on the stack. [-0,
  // +count, m]
  void Run(std::uint64_t count);

 private:
  // What became of a value: it stands on the stack, or a frame was opened for it.
  enum class Step : std::uint8_t { kDone, kOpened };

  void Finish();
  Step Value();
  Step Object(std::uint8_t tag);
  Step Table(bool is_shared, bool has_meta, std::size_t place);
  Step Function(bool is_shared, std::size_t place);
  Step ContinueTable();
  Step ContinueFunction();
  Step ContinueTransfer();
  Step SetMeta();
  void BackReference();
  void Handle();
  void Module();
  void StandIn();
  void LongString();
  void Upvalue(CodecFrame& frame, int n);
  bool SharedUpvalue(CodecFrame& frame, int n);

  // How much of `count` is allocated ahead.
  int Presize(std::uint64_t count, std::size_t bytes);
  CodecFrame& Open(CodecFrame::Kind kind, int base);
  void Register(int index, std::size_t place);

  template <class T>
  T Fixed() {
    T value;
    if (!reader_.Fixed(value)) RaiseMalformed(L_);
    return value;
  }
  std::uint64_t Varint() {
    std::uint64_t value = 0;
    if (!reader_.Varint(value)) RaiseMalformed(L_);
    return value;
  }
  std::string_view Text() {
    std::string_view text;
    if (!reader_.Text(text)) RaiseMalformed(L_);
    return text;
  }

  lua_State* const L_;
  const Message& message_;
  const void* const user_;
  const std::uint8_t* const start_;
  const std::uint8_t flags_;
  WireReader reader_;
  CodecScratch* scratch_ = nullptr;  // acquired at the first frame
  std::size_t next_reference_ = 0;
  // A value takes at least a byte, and hints are at most twice what is there. So this much, and no
  // more, is allocated ahead of what has been read, over all tables.
  std::size_t presized_left_;
  int seen_ = 0;  // stack index of the table of shared objects: place → object
};

}  // namespace shoal::core
