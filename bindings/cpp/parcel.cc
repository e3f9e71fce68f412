// SPDX-License-Identifier: MIT
#include "bindings/cpp/parcel.h"

#include <algorithm>

#include "runtime/message/wire.h"

namespace shoal::embed {

namespace wire = core::wire;

namespace {

// What is still to be passed over at one level.
struct Level {
  std::uint64_t values = 0;    // then …
  bool has_pairs = false;      // … pairs up to a nil in place of a key, then …
  bool has_meta = false;       // … one value
  std::uint64_t upvalues = 0;  // instead of all that
  bool is_at_key = true;
};

bool SkipTexts(core::WireReader& reader, std::uint64_t count) {
  std::string_view text;
  for (; count != 0; --count) {
    if (!reader.Text(text)) return false;
  }
  return true;
}

// The tag has been read. Opens a level for what holds values.
bool SkipTagged(std::uint8_t tag, core::WireReader& reader, const std::uint8_t* start,
                std::vector<std::size_t>* handles, std::vector<Level>& levels) {
  std::size_t size = 0;
  std::string_view bytes;
  std::uint64_t number = 0;
  std::uint8_t byte = 0;
  std::uint32_t code = 0;
  if (ScalarSize(tag, reader, &size)) return reader.Bytes(size, bytes);
  switch (tag) {
    case wire::kLongString:
      return reader.Text(bytes);
    case wire::kHandle:
      if (handles != nullptr) {
        handles->push_back(static_cast<std::size_t>(reader.at - start) - 1);
      }
      return true;
    case wire::kGlobals:
      return true;
    case wire::kBackReference:
    case wire::kSharedUpvalue:
      return reader.Varint(number);
    default:
      break;
  }
  switch (tag & ~wire::kShared) {
    case wire::kTable:
    case wire::kTableWithMeta:
      if (!reader.Varint(number) || !reader.Fixed(byte)) return false;
      levels.push_back({.values = number,
                        .has_pairs = true,
                        .has_meta = (tag & ~wire::kShared) == wire::kTableWithMeta});
      return true;
    case wire::kFunction:
      if (!reader.Fixed(code) || !reader.Bytes(code, bytes) || !reader.Fixed(byte)) return false;
      levels.push_back({.upvalues = byte});
      return true;
    case wire::kModule:
      return reader.Text(bytes) && reader.Varint(number) && SkipTexts(reader, number);
    case wire::kTransfer:
      levels.push_back({.values = 2});
      return true;
    case wire::kUpvalue:
      levels.push_back({.values = 1});
      return true;
    case wire::kStandIn:
      return reader.Text(bytes);
    default:
      return false;
  }
}

}  // namespace

bool ScalarSize(std::uint8_t tag, const core::WireReader& reader, std::size_t* size) {
  *size = 0;
  if ((tag & 0xc0) == wire::kShortString) {
    *size = tag & wire::kShortStringMax;
  } else if (static_cast<std::int8_t>(tag) < wire::kSmallIntegerMin) {
    switch (tag) {
      case wire::kNil:
      case wire::kFalse:
      case wire::kTrue:
        break;
      case wire::kInt8:
        *size = 1;
        break;
      case wire::kInt16:
        *size = 2;
        break;
      case wire::kInt32:
        *size = 4;
        break;
      case wire::kInt64:
      case wire::kDouble:
      case wire::kLightUserdata:
        *size = 8;
        break;
      default:
        return false;
    }
  }
  return *size <= reader.left();
}

bool SkipValue(core::WireReader& reader, const std::uint8_t* start,
               std::vector<std::size_t>* handles) {
  std::vector<Level> levels;
  levels.push_back({.values = 1});
  while (!levels.empty()) {
    Level& level = levels.back();
    if (level.upvalues != 0) {
      --level.upvalues;
    } else if (level.values != 0) {
      --level.values;
    } else if (level.has_pairs) {
      if (reader.at == reader.end) return false;
      if (level.is_at_key && *reader.at == wire::kNil) {
        ++reader.at;
        level.has_pairs = false;
        level.values = level.has_meta ? 1 : 0;
        continue;
      }
      level.is_at_key = !level.is_at_key;
    } else {
      levels.pop_back();
      continue;
    }
    std::uint8_t tag = 0;
    if (!reader.Fixed(tag) || !SkipTagged(tag, reader, start, handles, levels)) return false;
  }
  return true;
}

bool Parcel::Fill(std::span<const std::byte> message, const core::WireReader& values) {
  const auto* const start = reinterpret_cast<const std::uint8_t*>(message.data());
  bytes_.assign(start, start + message.size());
  end_ = static_cast<std::size_t>(values.end - start);
  core::WireReader reader = ReaderAt(static_cast<std::size_t>(values.at - start));
  while (reader.at != reader.end) {
    if (!SkipValue(reader, begin(), &handle_places_)) return false;
  }
  return true;
}

std::size_t Parcel::HandleIndex(std::size_t place) const {
  const auto found = std::lower_bound(handle_places_.begin(), handle_places_.end(), place);
  return static_cast<std::size_t>(found - handle_places_.begin());
}

}  // namespace shoal::embed
