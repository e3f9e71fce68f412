// SPDX-License-Identifier: MIT
// A ValueWriter makes a message of values, in one pass and without recursion. No lua_State is
// needed.
//
// Tables that stand in several places of a message are one table where it arrives; so are tables
// and functions of a Parcel from which several values of the message come.
//
// Threads: one.
#pragma once

#include <shoal/result.h>
#include <shoal/values.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bindings/cpp/gate.h"
#include "bindings/cpp/parcel.h"
#include "runtime/lua/codec_scratch.h"
#include "runtime/message/buffer.h"
#include "runtime/message/message.h"
#include "runtime/message/wire.h"

namespace shoal::embed {

// The message; null with `error` set: kMisuse (a value cannot be sent), kClosed, kNoMemory.
// REQUIRES: inside the gate.
[[nodiscard]] core::MessagePtr EncodeValues(std::span<const Value> values, Gate& gate,
                                            Error* error);

// Writes the values at `bytes`, where there is room for Message::kInlineBytes, if all are scalars
// or short strings and fit; returns how many bytes that are, 0: they do not. This is what most
// messages are. Allocates nothing.
[[nodiscard]] std::size_t EncodeShort(std::span<const Value> values, std::uint8_t* bytes);

class ValueWriter {
 public:
  explicit ValueWriter(Gate& gate) : gate_(gate) {}
  ValueWriter(const ValueWriter&) = delete;
  ValueWriter& operator=(const ValueWriter&) = delete;

  // False with error(). May throw std::bad_alloc. Once.
  [[nodiscard]] bool Write(std::span<const Value> values);
  [[nodiscard]] const Error& error() const { return error_; }
  // What was written; null if memory is short. Once.
  [[nodiscard]] core::MessagePtr Take();

 private:
  // An object that is being written.
  struct Frame {
    enum class Kind : std::uint8_t { kTable, kCopiedTable, kCopiedFunction, kCopiedValues };
    enum class Phase : std::uint8_t { kItems, kKey, kValue, kMeta, kEnd };
    Kind kind = Kind::kTable;
    Phase phase = Phase::kItems;
    bool has_meta = false;
    // kTable
    std::shared_ptr<TableNode> node = nullptr;
    std::size_t next = 0;
    std::map<Value, Value, ValueLess>::const_iterator pair = {};
    // The others: what is still to be read there, and how many values or upvalues.
    std::shared_ptr<const Parcel> parcel = nullptr;
    core::WireReader source{nullptr, nullptr};
    std::uint64_t left = 0;
    bool stands_here = false;  // the frame below goes on behind it
  };
  // A place in a parcel.
  using Source = std::pair<const Parcel*, std::size_t>;

  // Each writes one value, or opens a frame for it. False: an error.
  [[nodiscard]] bool WriteValue(const Value& value);
  [[nodiscard]] bool WriteTable(const std::shared_ptr<TableNode>& node);
  [[nodiscard]] bool WriteHandle(const Handle& handle);
  [[nodiscard]] bool WriteBuffer(const Buffer& buffer);
  [[nodiscard]] bool CopyValue(const std::shared_ptr<const Parcel>& parcel,
                               core::WireReader& source);
  [[nodiscard]] bool CopyObject(const std::shared_ptr<const Parcel>& parcel, std::size_t place,
                                core::WireReader* here);
  [[nodiscard]] bool CopyUpvalue(const std::shared_ptr<const Parcel>& parcel,
                                 core::WireReader& source);
  [[nodiscard]] bool CopyModule(core::WireReader& source);
  [[nodiscard]] bool Finish();
  [[nodiscard]] bool Continue(std::size_t frame);
  [[nodiscard]] bool ContinueTable(std::size_t frame);
  [[nodiscard]] bool ContinueCopiedTable(std::size_t frame);
  void Close();
  [[nodiscard]] bool Open(Frame frame);
  bool Fail(std::string_view what);
  bool FailMalformed() { return Fail("a value from Lua is malformed"); }

  // --- The bytes.
  std::uint8_t* Need(std::size_t size);
  void PutByte(std::uint8_t byte) { *Need(1) = byte; }
  void PutBytes(const void* from, std::size_t size);
  void PutVarint(std::uint64_t value);
  void PutText(std::string_view text);
  void PutString(std::string_view text);
  template <class T>
  void PutTagged(core::wire::Tag tag, T value);
  void PutReference(core::wire::Tag tag, std::size_t place);
  void PutTrailer();
  [[nodiscard]] std::size_t place() const;

  Gate& gate_;
  core::PlainArray<std::uint8_t> bytes_;  // behind room for a message's header
  std::vector<core::RefCounted*> references_;
  core::Ref<core::Buffer> empty_;  // what stands for a Buffer of no bytes; null: there is none
  std::vector<Frame> frames_;
  std::unordered_map<const TableNode*, std::size_t> tables_;  // that were met, and where they stand
  std::map<Source, std::size_t> copies_;                      // the same, of what is copied
  std::vector<std::string_view> modules_;                     // that are named
  std::vector<std::shared_ptr<const Parcel>> parcels_;        // into which those look
  std::uint8_t flags_ = core::wire::kAllocates;
  std::size_t position_ = 0;  // of the value that is written, from 1
  Error error_;
};

}  // namespace shoal::embed
