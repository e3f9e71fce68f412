// SPDX-License-Identifier: MIT
#include "bindings/cpp/value_reader.h"

#include <cstring>
#include <string>
#include <utility>

#include "bindings/cpp/cell.h"
#include "runtime/base/enough_memory.h"
#include "runtime/lua/codec_scratch.h"
#include "runtime/lua/decoder.h"
#include "runtime/message/buffer.h"
#include "runtime/message/wire.h"

namespace shoal::embed {

namespace wire = core::wire;

namespace {

template <class T>
[[nodiscard]] bool ReadFixed(core::WireReader& source, Value* value) {
  T number;
  if (!source.Fixed(number)) return false;
  *value = Value(number);
  return true;
}

// A scalar or string, whose tag has been read. `found` is false if it is something else.
bool ReadScalar(std::uint8_t tag, core::WireReader& source, Value* value, bool* found) {
  *found = true;
  std::string_view text;
  if ((tag & 0xc0) == wire::kShortString) {
    if (!source.Bytes(tag & wire::kShortStringMax, text)) return false;
    *value = Value(text);
    return true;
  }
  if (static_cast<std::int8_t>(tag) >= wire::kSmallIntegerMin) {
    *value = Value(static_cast<std::int64_t>(static_cast<std::int8_t>(tag)));
    return true;
  }
  switch (tag) {
    case wire::kNil:
      *value = Value();
      return true;
    case wire::kFalse:
    case wire::kTrue:
      *value = Value(tag == wire::kTrue);
      return true;
    case wire::kInt8:
      return ReadFixed<std::int8_t>(source, value);
    case wire::kInt16:
      return ReadFixed<std::int16_t>(source, value);
    case wire::kInt32:
      return ReadFixed<std::int32_t>(source, value);
    case wire::kInt64:
      return ReadFixed<std::int64_t>(source, value);
    case wire::kDouble:
      return ReadFixed<double>(source, value);
    case wire::kLightUserdata: {
      void* pointer = nullptr;
      if (!source.Fixed(pointer)) return false;
      *value = Value::Pointer(pointer);
      return true;
    }
    case wire::kLongString:
      if (!source.Text(text)) return false;
      *value = Value(text);
      return true;
    default:
      *found = false;
      return true;
  }
}

}  // namespace

Result<Values> DecodeValues(const core::Message& message, Gate& gate) {
  std::vector<Value> values;
  bool well_formed = false;
  const bool enough = core::EnoughMemory([&] {
    ValueReader reader(message, gate);
    well_formed = reader.Read(&values);
  });
  if (!enough) return Status::kNoMemory;
  if (!well_formed) return Error(Status::kError, "malformed message");
  return Values(std::move(values));
}

bool ValueReader::Read(std::vector<Value>* values) {
  core::MessageParts parts;
  if (!core::ReadParts(message_, parts)) return false;
  start_ = reinterpret_cast<const std::uint8_t*>(message_.bytes().data());
  all_ = parts.values;
  core::WireReader source = all_;
  values->reserve(static_cast<std::size_t>(parts.count));
  for (std::uint64_t i = 0; i < parts.count; ++i) {
    Value& value = values->emplace_back();
    bool opened = false;
    if (!ReadValue(source, true, &value, &opened)) return false;
    if (opened && !Finish(source, &value)) return false;
  }
  if (parcel_ == nullptr) return true;
  // What was not met by the way, inside of what Lua alone understands.
  for (std::size_t i = 0; i < message_.references().size(); ++i) {
    static_cast<void>(HandleAt(i));
  }
  parcel_->SetReferences(std::move(handles_));
  for (auto& [place, known] : known_) {
    if (known.node == nullptr) continue;
    known.node->parcel = parcel_;
    known.node->place = place;
  }
  return true;
}

// A frame was opened for a value that stands in none: reads that to its end.
bool ValueReader::Finish(core::WireReader& source, Value* value) {
  const std::shared_ptr<TableNode> node = frames_.front().node;
  const bool stands_here = frames_.front().stands_here;
  const std::uint8_t* at = nullptr;
  while (!frames_.empty()) {
    at = frames_.front().source.at;
    if (!Continue()) return false;
  }
  if (stands_here) source.at = at;
  *value = Table(node);
  return true;
}

bool ValueReader::Continue() {
  using Phase = Frame::Phase;
  const std::size_t index = frames_.size() - 1;
  Frame& frame = frames_[index];
  switch (frame.phase) {
    case Phase::kItems:
      if (frame.left == 0) {
        frame.phase = Phase::kKey;
        return true;
      }
      break;
    case Phase::kKey:
      if (frame.source.left() == 0) return false;
      if (*frame.source.at != wire::kNil) break;
      ++frame.source.at;
      frame.phase = frame.has_meta ? Phase::kMeta : Phase::kEnd;
      return true;
    case Phase::kValue:
    case Phase::kMeta:
      break;
    case Phase::kEnd: {
      TableNode& node = *frame.node;
      while (!node.list.empty() && node.list.back().is_nil()) node.list.pop_back();
      if (frame.place != 0) known_[frame.place].is_open = false;
      const Frame closed = std::move(frame);
      frames_.pop_back();
      if (frames_.empty()) return true;
      if (closed.stands_here) frames_.back().source.at = closed.source.at;
      Take(Table(closed.node));
      return true;
    }
  }
  core::WireReader source = frame.source;
  Value value;
  bool opened = false;
  if (!ReadValue(source, true, &value, &opened)) return false;
  // The frame may have moved.
  frames_[index].source = source;
  if (!opened) Take(std::move(value));
  return true;
}

void ValueReader::Take(Value value) {
  using Phase = Frame::Phase;
  Frame& frame = frames_.back();
  TableNode& node = *frame.node;
  switch (frame.phase) {
    case Phase::kItems:
      --frame.left;
      node.list.push_back(std::move(value));
      return;
    case Phase::kKey:
      frame.key = std::move(value);
      frame.phase = Phase::kValue;
      return;
    case Phase::kValue:
      frame.phase = Phase::kKey;
      // A handle of what is gone is nil.
      if (!frame.key.is_nil()) InsertInto(node, std::move(frame.key), std::move(value));
      return;
    case Phase::kMeta:
      frame.phase = Phase::kEnd;
      if (!value.is_nil()) node.meta = std::make_unique<Value>(std::move(value));
      return;
    case Phase::kEnd:
      return;
  }
}

bool ValueReader::ReadValue(core::WireReader& source, bool stands_here, Value* value,
                            bool* opened) {
  const std::size_t at = PlaceOf(source.at);
  std::uint8_t tag = 0;
  if (!source.Fixed(tag)) return false;
  bool found = false;
  if (!ReadScalar(tag, source, value, &found)) return false;
  return found || ReadObject(tag, at, source, stands_here, value, opened);
}

bool ValueReader::ReadObject(std::uint8_t tag, std::size_t at, core::WireReader& source,
                             bool stands_here, Value* value, bool* opened) {
  std::uint64_t place = 0;
  switch (tag) {
    case wire::kHandle: {
      const std::size_t index = parcel_ != nullptr ? parcel_->HandleIndex(at) : next_handle_++;
      if (index >= message_.references().size()) return false;
      *value = ReferenceAt(index);
      return true;
    }
    case wire::kBackReference:
      return source.Varint(place) && ReadReference(static_cast<std::size_t>(place), value, opened);
    case wire::kGlobals:
      if (!NeedParcel()) return false;
      *value = Opaque(parcel_, at);
      return true;
    default:
      break;
  }
  const auto plain = static_cast<std::uint8_t>(tag & ~wire::kShared);
  if (plain == wire::kTable || plain == wire::kTableWithMeta) {
    *opened = true;
    return OpenTable(tag, at, source, stands_here);
  }
  // Its handles are counted with those of all others from here on.
  if (plain == wire::kUpvalue || !NeedParcel()) return false;
  --source.at;
  if (!SkipValue(source, start_, nullptr)) return false;
  *value = Opaque(parcel_, at);
  return true;
}

bool ValueReader::ReadReference(std::size_t place, Value* value, bool* opened) {
  const auto found = known_.find(place);
  if (found != known_.end()) {
    // To one in which it stands: without keeping it.
    if (found->second.is_open) {
      *value = TableReference(std::weak_ptr<TableNode>(found->second.node));
    } else {
      *value = Table(found->second.node);
    }
    return true;
  }
  if (place == 0 || place >= PlaceOf(all_.end)) return false;
  core::WireReader source{start_ + place, all_.end};
  const std::uint8_t tag = *source.at;
  const auto plain = static_cast<std::uint8_t>(tag & ~wire::kShared);
  const bool is_table = plain == wire::kTable || plain == wire::kTableWithMeta;
  if (is_table) {
    // It stands inside of a function, say.
    ++source.at;
    *opened = true;
    return NeedParcel() && OpenTable(tag | wire::kShared, place, source, false);
  }
  if (plain < wire::kFunction || plain == wire::kUpvalue || !NeedParcel()) return false;
  *value = Opaque(parcel_, place);
  return true;
}

bool ValueReader::OpenTable(std::uint8_t tag, std::size_t at, core::WireReader& source,
                            bool stands_here) {
  Frame frame;
  std::uint8_t hint = 0;
  if (frames_.size() == core::kMaxDepth || !source.Varint(frame.left) || !source.Fixed(hint) ||
      frame.left > source.left()) {
    return false;
  }
  frame.node = std::make_shared<TableNode>();
  frame.node->list.reserve(static_cast<std::size_t>(frame.left));
  frame.has_meta = (tag & ~wire::kShared) == wire::kTableWithMeta;
  frame.stands_here = stands_here;
  frame.source = source;
  if ((tag & wire::kShared) != 0) {
    frame.place = at;
    known_[at] = {frame.node, true};
  }
  frames_.push_back(std::move(frame));
  return true;
}

Value ValueReader::ReferenceAt(std::size_t index) {
  core::RefCounted* const object = message_.references()[index];
  if (object == nullptr || object->kind() != core::RefCounted::Kind::kBuffer) {
    return HandleAt(index);
  }
  object->AddRef();
  return Buffer(static_cast<core::Buffer*>(object));
}

Handle ValueReader::HandleAt(std::size_t index) {
  if (handles_.empty()) handles_.resize(message_.references().size());
  core::RefCounted* const object = message_.references()[index];
  if (!handles_[index] && object != nullptr) {
    handles_[index] = Cell::MakeHandle(gate_, core::Ref<core::RefCounted>::Share(object));
    if (!handles_[index]) throw std::bad_alloc();
  }
  return handles_[index];
}

bool ValueReader::NeedParcel() {
  if (parcel_ != nullptr) return true;
  parcel_ = std::make_shared<Parcel>();
  return parcel_->Fill(message_.bytes(), all_);
}

std::size_t ValueReader::PlaceOf(const std::uint8_t* at) const {
  return static_cast<std::size_t>(at - start_);
}

}  // namespace shoal::embed
