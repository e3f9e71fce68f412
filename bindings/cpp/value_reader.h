// SPDX-License-Identifier: MIT
// A ValueReader makes C++ values of a message, without recursion. No lua_State is needed. What
// means something in Lua only stays in a Parcel: a copy of the message.
//
// Threads: one.
#pragma once

#include <shoal/result.h>
#include <shoal/values.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bindings/cpp/gate.h"
#include "bindings/cpp/parcel.h"
#include "runtime/lua/wire_bytes.h"
#include "runtime/message/message.h"

namespace shoal::embed {

// The values of `message`, which stays as it is. kNoMemory; kError: it is malformed. REQUIRES:
// inside the gate.
[[nodiscard]] Result<Values> DecodeValues(const core::Message& message, Gate& gate);

class ValueReader {
 public:
  ValueReader(const core::Message& message, Gate& gate) : message_(message), gate_(gate) {}
  ValueReader(const ValueReader&) = delete;
  ValueReader& operator=(const ValueReader&) = delete;

  // False: the message is malformed. May throw std::bad_alloc. Once.
  [[nodiscard]] bool Read(std::vector<Value>* values);

 private:
  // A table that is being read.
  struct Frame {
    enum class Phase : std::uint8_t { kItems, kKey, kValue, kMeta, kEnd };
    Phase phase = Phase::kItems;
    bool has_meta = false;
    bool stands_here = false;  // the reader below goes on behind it
    std::size_t place = 0;     // 0: it is not referred to
    std::shared_ptr<TableNode> node = nullptr;
    std::uint64_t left = 0;
    core::WireReader source{nullptr, nullptr};
    Value key = {};
  };
  // What was read at a place to which others refer.
  struct Known {
    std::shared_ptr<TableNode> node;
    bool is_open = true;  // it stands in frames_
  };

  // Reads one value into `value`; or opens a frame for it, whose table goes into the frame below,
  // or into `value` if there is none. False: malformed.
  [[nodiscard]] bool ReadValue(core::WireReader& source, bool stands_here, Value* value,
                               bool* opened);
  [[nodiscard]] bool ReadObject(std::uint8_t tag, std::size_t at, core::WireReader& source,
                                bool stands_here, Value* value, bool* opened);
  [[nodiscard]] bool ReadReference(std::size_t place, Value* value, bool* opened);
  [[nodiscard]] bool OpenTable(std::uint8_t tag, std::size_t at, core::WireReader& source,
                               bool stands_here);
  [[nodiscard]] bool Finish(core::WireReader& source, Value* value);
  [[nodiscard]] bool Continue();
  // A value of the topmost frame.
  void Take(Value value);
  // A handle or a buffer.
  [[nodiscard]] Value ReferenceAt(std::size_t index);
  [[nodiscard]] Handle HandleAt(std::size_t index);
  // The parcel, which is made at the first use. False: malformed.
  [[nodiscard]] bool NeedParcel();
  [[nodiscard]] std::size_t PlaceOf(const std::uint8_t* at) const;

  const core::Message& message_;
  Gate& gate_;
  const std::uint8_t* start_ = nullptr;
  core::WireReader all_{nullptr, nullptr};  // all values
  std::shared_ptr<Parcel> parcel_;          // null until it is needed
  std::vector<Handle> handles_;             // made so far, by their number
  std::size_t next_handle_ = 0;             // while there is no parcel
  std::vector<Frame> frames_;
  std::unordered_map<std::size_t, Known> known_;  // by place
};

}  // namespace shoal::embed
