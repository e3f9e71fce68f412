// SPDX-License-Identifier: MIT
#include "bindings/cpp/value_writer.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <new>
#include <string>

#include "bindings/cpp/cell.h"
#include "runtime/base/enough_memory.h"
#include "runtime/lua/wire_bytes.h"

namespace shoal::embed {

namespace wire = core::wire;

namespace {

constexpr std::size_t kAdopted = std::size_t{16} * 1024;
constexpr std::string_view kAlwaysThere = "_G";

std::uint8_t SizeHint(std::size_t pairs) {
  if (pairs < wire::kLargeHint) return static_cast<std::uint8_t>(pairs);
  return static_cast<std::uint8_t>(wire::kLargeHint | std::bit_width(pairs - 1));
}

}  // namespace

std::size_t EncodeShort(std::span<const Value> values, std::uint8_t* bytes) {
  const std::uint8_t* const end = bytes + core::Message::kInlineBytes;
  if (values.size() > core::Message::kInlineBytes) return 0;
  std::uint8_t* at = core::PutVarint(bytes + 1, values.size());
  std::uint8_t flags = wire::kPlain;
  for (const Value& value : values) {
    const Value::Storage& storage = value.storage();
    const auto left = static_cast<std::size_t>(end - at);
    if (left < core::kMaxNumber) return 0;
    switch (value.kind()) {
      case Value::Kind::kNil:
        *at++ = wire::kNil;
        break;
      case Value::Kind::kBoolean:
        *at++ = std::get<bool>(storage) ? wire::kTrue : wire::kFalse;
        break;
      case Value::Kind::kInteger:
        at = core::PutInteger(at, std::get<std::int64_t>(storage));
        break;
      case Value::Kind::kNumber:
        at = core::PutTagged(at, wire::kDouble, std::get<double>(storage));
        break;
      case Value::Kind::kPointer:
        at = core::PutTagged(at, wire::kLightUserdata, std::get<void*>(storage));
        break;
      case Value::Kind::kString: {
        const std::string& text = std::get<std::string>(storage);
        if (text.size() > wire::kShortStringMax || text.size() >= left) return 0;
        *at++ = static_cast<std::uint8_t>(wire::kShortString | text.size());
        std::copy_n(text.data(), text.size(), at);
        at += text.size();
        flags = wire::kAllocates;
        break;
      }
      default:
        return 0;
    }
  }
  bytes[0] = flags;
  return static_cast<std::size_t>(at - bytes);
}

core::MessagePtr EncodeValues(std::span<const Value> values, Gate& gate, Error* error) {
  core::MessagePtr message = core::Message::NewDraft();
  if (message != nullptr) {
    const std::size_t size = EncodeShort(values, reinterpret_cast<std::uint8_t*>(message->draft()));
    if (size != 0) {
      message->Finish(size);
      return message;
    }
    message->Finish(0);
    message = nullptr;
    const bool enough = core::EnoughMemory([&] {
      ValueWriter writer(gate);
      if (writer.Write(values)) {
        message = writer.Take();
      } else {
        *error = writer.error();
      }
    });
    if (enough && (message != nullptr || error->status() != Status::kOk)) return message;
  }
  *error = Status::kNoMemory;
  return nullptr;
}

// The whole ---------------------------------------------------------------------------------------

bool ValueWriter::Write(std::span<const Value> values) {
  PutByte(0);  // the flags
  PutVarint(values.size());
  for (const Value& value : values) {
    ++position_;
    if (!WriteValue(value) || !Finish()) return false;
  }
  if (!modules_.empty()) PutTrailer();
  bytes_[core::Message::kHeaderRoom] = flags_;
  return true;
}

core::MessagePtr ValueWriter::Take() {
  const std::size_t size = place();
  if (size < kAdopted) {
    return core::Message::New(
        {reinterpret_cast<const std::byte*>(bytes_.begin() + core::Message::kHeaderRoom), size},
        references_);
  }
  core::MessagePtr message = core::Message::Adopt(bytes_.begin(), size, references_);
  if (message != nullptr) bytes_.Forget();
  return message;
}

bool ValueWriter::Finish() {
  while (!frames_.empty()) {
    if (!Continue(frames_.size() - 1)) return false;
  }
  return true;
}

bool ValueWriter::Continue(std::size_t frame) {
  switch (frames_[frame].kind) {
    case Frame::Kind::kTable:
      return ContinueTable(frame);
    case Frame::Kind::kCopiedTable:
      return ContinueCopiedTable(frame);
    case Frame::Kind::kCopiedFunction:
    case Frame::Kind::kCopiedValues:
      break;
  }
  if (frames_[frame].left == 0) {
    Close();
    return true;
  }
  --frames_[frame].left;
  // What is opened for it moves the frames.
  const std::shared_ptr<const Parcel> parcel = frames_[frame].parcel;
  core::WireReader source = frames_[frame].source;
  const bool is_function = frames_[frame].kind == Frame::Kind::kCopiedFunction;
  const bool done = is_function ? CopyUpvalue(parcel, source) : CopyValue(parcel, source);
  frames_[frame].source = source;
  return done;
}

// The frame on top is complete.
void ValueWriter::Close() {
  const Frame closed = std::move(frames_.back());
  frames_.pop_back();
  if (closed.stands_here) frames_.back().source.at = closed.source.at;
}

bool ValueWriter::Open(Frame frame) {
  if (frames_.size() == core::kMaxDepth) return Fail("a table is nested deeper than 10000");
  frames_.push_back(std::move(frame));
  return true;
}

bool ValueWriter::Fail(std::string_view what) {
  error_ = Error(Status::kMisuse, "value " + std::to_string(position_) + ": " + std::string(what));
  return false;
}

// Values ------------------------------------------------------------------------------------------

bool ValueWriter::WriteValue(const Value& value) {
  const Value::Storage& storage = value.storage();
  switch (value.kind()) {
    case Value::Kind::kNil:
      PutByte(wire::kNil);
      return true;
    case Value::Kind::kBoolean:
      PutByte(std::get<bool>(storage) ? wire::kTrue : wire::kFalse);
      return true;
    case Value::Kind::kInteger: {
      std::uint8_t* const at = Need(core::kMaxNumber);
      const std::uint8_t* const end = core::PutInteger(at, std::get<std::int64_t>(storage));
      bytes_.set_size(bytes_.size() - core::kMaxNumber + static_cast<std::size_t>(end - at));
      return true;
    }
    case Value::Kind::kNumber:
      PutTagged(wire::kDouble, std::get<double>(storage));
      return true;
    case Value::Kind::kString:
      PutString(std::get<std::string>(storage));
      return true;
    case Value::Kind::kPointer:
      PutTagged(wire::kLightUserdata, std::get<void*>(storage));
      return true;
    case Value::Kind::kTable: {
      const std::optional<Table> table = value.get<Table>();
      if (table) return WriteTable(table->node());
      PutByte(wire::kNil);
      return true;
    }
    case Value::Kind::kHandle:
      return WriteHandle(std::get<Handle>(storage));
    case Value::Kind::kBuffer:
      return WriteBuffer(std::get<Buffer>(storage));
    case Value::Kind::kOpaque: {
      const Opaque& opaque = std::get<Opaque>(storage);
      const std::shared_ptr<const Parcel>& parcel = opaque.shared_parcel();
      if (parcel->byte(opaque.place()) != wire::kGlobals) {
        return CopyObject(parcel, opaque.place(), nullptr);
      }
      PutByte(wire::kGlobals);
      return true;
    }
  }
  return false;
}

bool ValueWriter::WriteBuffer(const Buffer& buffer) {
  core::Buffer* object = buffer.object();
  if (object == nullptr) {
    if (!empty_) empty_ = core::Buffer::New(0);
    if (!empty_) throw std::bad_alloc();
    object = empty_.get();
  }
  references_.push_back(object);
  PutByte(wire::kHandle);
  return true;
}

bool ValueWriter::WriteHandle(const Handle& handle) {
  Cell* const cell = handle.cell();
  if (cell == nullptr || cell->gate() == nullptr) {
    PutByte(wire::kNil);
    return true;
  }
  if (cell->gate().get() != &gate_) return Fail("a handle of another runtime cannot be sent");
  references_.push_back(cell->object());
  PutByte(wire::kHandle);
  return true;
}

bool ValueWriter::WriteTable(const std::shared_ptr<TableNode>& node) {
  const std::size_t at = place();
  if (node != nullptr) {
    const auto [known, is_new] = tables_.try_emplace(node.get(), at);
    if (!is_new) {
      PutReference(wire::kBackReference, known->second);
      return true;
    }
    if (node->parcel != nullptr) {
      // What is copied of its message may refer to it, too.
      const auto [copy, is_first] = copies_.try_emplace({node->parcel.get(), node->place}, at);
      if (!is_first) {
        known->second = copy->second;
        PutReference(wire::kBackReference, copy->second);
        return true;
      }
      parcels_.push_back(node->parcel);
    }
  }
  const bool has_meta = node != nullptr && node->meta != nullptr;
  PutByte(has_meta ? wire::kTableWithMeta : wire::kTable);
  PutVarint(node == nullptr ? 0 : node->list.size());
  PutByte(node == nullptr ? 0 : SizeHint(node->pairs.size()));
  if (node != nullptr) {
    return Open({.has_meta = has_meta, .node = node, .pair = node->pairs.begin()});
  }
  PutByte(wire::kNil);
  return true;
}

bool ValueWriter::ContinueTable(std::size_t index) {
  using Phase = Frame::Phase;
  // Kept by the frame; the frame itself may move.
  const TableNode& node = *frames_[index].node;
  for (;;) {
    Frame& frame = frames_[index];
    const Value* value = nullptr;
    switch (frame.phase) {
      case Phase::kItems:
        if (frame.next == node.list.size()) {
          frame.phase = Phase::kKey;
          continue;
        }
        value = &node.list[frame.next++];
        break;
      case Phase::kKey:
        if (frame.pair == node.pairs.end()) {
          PutByte(wire::kNil);
          frame.phase = Phase::kMeta;
          continue;
        }
        // A reference to a table that is gone is no key.
        if (frame.pair->first.kind() == Value::Kind::kTable && !frame.pair->first.get<Table>()) {
          ++frame.pair;
          continue;
        }
        value = &frame.pair->first;
        frame.phase = Phase::kValue;
        break;
      case Phase::kValue:
        value = &frame.pair->second;
        ++frame.pair;
        frame.phase = Phase::kKey;
        break;
      case Phase::kMeta:
        frame.phase = Phase::kEnd;
        if (!frame.has_meta) continue;
        value = node.meta.get();
        break;
      case Phase::kEnd:
        Close();
        return true;
    }
    if (!WriteValue(*value)) return false;
    if (frames_.size() != index + 1) return true;
  }
}

// Copies ------------------------------------------------------------------------------------------

bool ValueWriter::CopyValue(const std::shared_ptr<const Parcel>& parcel, core::WireReader& source) {
  const std::size_t at = parcel->PlaceOf(source.at);
  std::uint8_t tag = 0;
  if (!source.Fixed(tag)) return FailMalformed();
  std::size_t size = 0;
  if (ScalarSize(tag, source, &size)) {
    PutByte(tag);
    PutBytes(source.at, size);
    source.at += size;
    return true;
  }
  std::string_view text;
  std::uint64_t place = 0;
  switch (tag) {
    case wire::kLongString:
      if (!source.Text(text)) return FailMalformed();
      PutString(text);
      return true;
    case wire::kGlobals:
      PutByte(tag);
      return true;
    case wire::kHandle: {
      const std::size_t index = parcel->HandleIndex(at);
      if (index >= parcel->references().size()) return FailMalformed();
      return WriteHandle(parcel->references()[index]);
    }
    case wire::kBackReference:
      if (!source.Varint(place)) return FailMalformed();
      return CopyObject(parcel, static_cast<std::size_t>(place), nullptr);
    default:
      --source.at;
      return CopyObject(parcel, at, &source);
  }
}

// The object at `place`. `here`: that is where its reader stands, which goes on behind it.
bool ValueWriter::CopyObject(const std::shared_ptr<const Parcel>& parcel, std::size_t place,
                             core::WireReader* here) {
  const auto [known, is_new] = copies_.try_emplace({parcel.get(), place}, this->place());
  if (!is_new) {
    PutReference(wire::kBackReference, known->second);
    return here == nullptr || SkipValue(*here, parcel->begin(), nullptr) || FailMalformed();
  }
  if (parcels_.empty() || parcels_.back() != parcel) parcels_.push_back(parcel);
  core::WireReader source = parcel->ReaderAt(place);
  std::uint8_t tag = 0;
  if (!source.Fixed(tag)) return FailMalformed();
  tag &= static_cast<std::uint8_t>(~wire::kShared);
  PutByte(tag);
  Frame frame{.kind = Frame::Kind::kCopiedValues, .parcel = parcel};
  std::uint8_t byte = 0;
  std::uint32_t size = 0;
  std::string_view bytes;
  switch (tag) {
    case wire::kTable:
    case wire::kTableWithMeta:
      if (!source.Varint(frame.left) || !source.Fixed(byte)) return FailMalformed();
      PutVarint(frame.left);
      PutByte(byte);
      frame.kind = Frame::Kind::kCopiedTable;
      frame.has_meta = tag == wire::kTableWithMeta;
      break;
    case wire::kFunction:
      if (!source.Fixed(size) || !source.Bytes(size, bytes) || !source.Fixed(byte)) {
        return FailMalformed();
      }
      PutBytes(&size, sizeof size);
      PutBytes(bytes.data(), bytes.size());
      PutByte(byte);
      frame.kind = Frame::Kind::kCopiedFunction;
      frame.left = byte;
      break;
    case wire::kTransfer:
      frame.left = 2;
      break;
    case wire::kModule:
      if (!CopyModule(source)) return FailMalformed();
      break;
    case wire::kStandIn:
      if (!source.Text(bytes)) return FailMalformed();
      PutText(bytes);
      break;
    default:
      return FailMalformed();
  }
  frame.source = source;
  if (tag == wire::kModule || tag == wire::kStandIn) {
    if (here != nullptr) here->at = source.at;
    return true;
  }
  frame.stands_here = here != nullptr;
  return Open(std::move(frame));
}

bool ValueWriter::CopyModule(core::WireReader& source) {
  std::string_view text;
  std::uint64_t fields = 0;
  if (!source.Text(text) || !source.Varint(fields)) return false;
  const bool is_known = std::find(modules_.begin(), modules_.end(), text) != modules_.end();
  if (!is_known && text != kAlwaysThere) modules_.push_back(text);
  PutText(text);
  PutVarint(fields);
  for (; fields != 0; --fields) {
    if (!source.Text(text)) return false;
    PutText(text);
  }
  return true;
}

bool ValueWriter::CopyUpvalue(const std::shared_ptr<const Parcel>& parcel,
                              core::WireReader& source) {
  std::size_t at = parcel->PlaceOf(source.at);
  std::uint8_t tag = 0;
  if (!source.Fixed(tag)) return FailMalformed();
  const bool stands_here = (tag & ~wire::kShared) == wire::kUpvalue;
  if (!stands_here) {
    std::uint64_t other = 0;
    if (tag != wire::kSharedUpvalue || !source.Varint(other)) return FailMalformed();
    at = static_cast<std::size_t>(other);
  }
  const auto [known, is_new] = copies_.try_emplace({parcel.get(), at}, place());
  if (!is_new) {
    PutReference(wire::kSharedUpvalue, known->second);
    return !stands_here || SkipValue(source, parcel->begin(), nullptr) || FailMalformed();
  }
  PutByte(wire::kUpvalue);
  if (stands_here) return CopyValue(parcel, source);
  return Open({.kind = Frame::Kind::kCopiedValues,
               .parcel = parcel,
               .source = parcel->ReaderAt(at + 1),
               .left = 1});
}

bool ValueWriter::ContinueCopiedTable(std::size_t index) {
  using Phase = Frame::Phase;
  Frame& frame = frames_[index];
  switch (frame.phase) {
    case Phase::kItems:
      if (frame.left == 0) {
        frame.phase = Phase::kKey;
        return true;
      }
      --frame.left;
      break;
    case Phase::kKey:
      if (frame.source.left() == 0) return FailMalformed();
      if (*frame.source.at == wire::kNil) {
        ++frame.source.at;
        PutByte(wire::kNil);
        frame.phase = frame.has_meta ? Phase::kMeta : Phase::kEnd;
        return true;
      }
      frame.phase = Phase::kValue;
      break;
    case Phase::kValue:
      frame.phase = Phase::kKey;
      break;
    case Phase::kMeta:
      frame.phase = Phase::kEnd;
      break;
    case Phase::kEnd:
      Close();
      return true;
  }
  const std::shared_ptr<const Parcel> parcel = frame.parcel;
  core::WireReader source = frame.source;
  const bool done = CopyValue(parcel, source);
  frames_[index].source = source;
  return done;
}

// Bytes -------------------------------------------------------------------------------------------

std::size_t ValueWriter::place() const { return bytes_.size() - core::Message::kHeaderRoom; }

std::uint8_t* ValueWriter::Need(std::size_t size) {
  if (bytes_.size() == 0) {
    if (!bytes_.Reserve(core::Message::kHeaderRoom)) throw std::bad_alloc();
    bytes_.set_size(core::Message::kHeaderRoom);
  }
  if (!bytes_.Reserve(bytes_.size() + size)) throw std::bad_alloc();
  std::uint8_t* const at = bytes_.end();
  bytes_.set_size(bytes_.size() + size);
  return at;
}

void ValueWriter::PutBytes(const void* from, std::size_t size) {
  if (size != 0) std::memcpy(Need(size), from, size);
}

void ValueWriter::PutVarint(std::uint64_t value) {
  std::uint8_t* const at = Need(core::kMaxVarint);
  const std::uint8_t* const end = core::PutVarint(at, value);
  bytes_.set_size(bytes_.size() - core::kMaxVarint + static_cast<std::size_t>(end - at));
}

void ValueWriter::PutText(std::string_view text) {
  PutVarint(text.size());
  PutBytes(text.data(), text.size());
}

void ValueWriter::PutString(std::string_view text) {
  if (text.size() <= wire::kShortStringMax) {
    PutByte(static_cast<std::uint8_t>(wire::kShortString | text.size()));
    PutBytes(text.data(), text.size());
  } else {
    PutByte(wire::kLongString);
    PutText(text);
  }
}

template <class T>
void ValueWriter::PutTagged(wire::Tag tag, T value) {
  core::PutTagged(Need(1 + sizeof value), tag, value);
}

void ValueWriter::PutReference(wire::Tag tag, std::size_t place) {
  PutByte(tag);
  PutVarint(place);
  bytes_[core::Message::kHeaderRoom + place] |= wire::kShared;
  flags_ |= wire::kHasShared;
}

void ValueWriter::PutTrailer() {
  const std::uint64_t trailer = place();
  PutVarint(modules_.size());
  for (const std::string_view module : modules_) PutText(module);
  PutBytes(&trailer, sizeof trailer);
  flags_ |= wire::kNeedsModules;
}

}  // namespace shoal::embed
