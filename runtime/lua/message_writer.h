// SPDX-License-Identifier: MIT
// MessageWriter writes the bytes of one message into a CodecScratch. It knows what stands around
// the values, not what they are.
//
// Raises if memory is short, or if the message exceeds the limit of the state; then the scratch is
// clear.
//
// Threads: the one that runs the state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lua.hpp>

#include "runtime/lua/codec_scratch.h"
#include "runtime/lua/state_record.h"
#include "runtime/lua/wire_bytes.h"

namespace shoal::core {

class MessageWriter {
 public:
  // Raises `what`, with the place in what is sent. [-0, +0, v]
  using Refuse = void (*)(void* context, const char* what);

  // Without `refuse`, it raises without a place.
  MessageWriter(lua_State* L, CodecScratch& scratch, Refuse refuse = nullptr,
                void* context = nullptr)
      : L_(L),
        scratch_(scratch),
        limit_(RecordOf(L).message_limit),
        refuse_(refuse),
        context_(context) {}

  // Once, before all else and after it.
  void Begin(int count);
  void End();

  // Makes room for `size` more bytes, for Put….
  void Need(std::size_t size) {
    if (static_cast<std::size_t>(end_ - at_) < size && !TryGrow(size)) RaiseShort();
  }
  void Byte(std::uint8_t byte) {
    Need(1);
    *at_++ = byte;
  }
  void Varint(std::uint64_t value) {
    Need(kMaxVarint);
    at_ = PutVarint(at_, value);
  }
  void Integer(std::int64_t value) {
    Need(kMaxNumber);
    at_ = PutInteger(at_, value);
  }
  template <class T>
  void Tagged(wire::Tag tag, T value) {
    static_assert(sizeof value < kMaxNumber);
    Need(kMaxNumber);
    at_ = PutTagged(at_, tag, value);
  }
  void Bytes(const void* bytes, std::size_t size) {
    Need(size);
    std::memcpy(at_, bytes, size);
    at_ += size;
  }
  void Text(const char* text, std::size_t size) {
    Need(kMaxVarint + size);
    at_ = PutVarint(at_, size);
    std::memcpy(at_, text, size);
    at_ += size;
  }
  // A whole string value.
  void String(const char* text, std::size_t size) {
    if (size <= wire::kShortStringMax) {
      Need(1 + size);
      *at_ = static_cast<std::uint8_t>(wire::kShortString | size);
      std::memcpy(at_ + 1, text, size);
      at_ += 1 + size;
    } else {
      Byte(wire::kLongString);
      Text(text, size);
    }
  }
  // As Bytes, but returns false if memory is short: for callbacks that may not raise.
  [[nodiscard]] bool TryBytes(const void* bytes, std::size_t size);
  // After TryBytes has failed, or what else needs memory has.
  [[noreturn]] void RaiseShort();
  // Between two values: Need asks for more than is written, so it lets a little pass.
  void CheckLimit() {
    if (place() > limit_ || buffer_bytes_ > limit_ - place()) RaiseLarge();
  }
  // The bytes of a buffer that is referred to count for the limit as if they were written.
  void CountBuffer(std::size_t size) {
    buffer_bytes_ += size;
    CheckLimit();
  }

  // Bytes so far; the place of what comes next.
  [[nodiscard]] std::size_t place() const { return static_cast<std::size_t>(at_ - start_); }
  // What has been written before. Valid till the next call.
  [[nodiscard]] std::uint8_t* at(std::size_t place) { return start_ + place; }

  // Refers to the object at `place` by a kBackReference or kSharedUpvalue.
  void Reference(wire::Tag tag, std::size_t place);

  // A value by name: a whole kModule or kStandIn.
  void Name(const char* wire, std::size_t size);
  // A value by name, from its module and one field.
  void Field(const char* module, std::size_t module_size, const char* field,
             std::size_t field_size);

 private:
  // False if memory is short, or the limit reached.
  [[nodiscard]] bool TryGrow(std::size_t size);
  [[noreturn]] void RaiseLarge();
  // The name of a module stands at `place`: it goes into the trailer.
  void AddModule(std::size_t place, std::size_t size);
  void Trailer();

  lua_State* const L_;
  CodecScratch& scratch_;
  const std::size_t limit_;
  const Refuse refuse_;
  void* const context_;
  bool is_too_large_ = false;
  std::size_t buffer_bytes_ = 0;
  std::uint8_t* start_ = nullptr;  // of the message's bytes in the scratch
  std::uint8_t* at_ = nullptr;
  std::uint8_t* end_ = nullptr;
  std::uint8_t flags_ = wire::kAllocates;
};

}  // namespace shoal::core
