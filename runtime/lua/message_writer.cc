// SPDX-License-Identifier: MIT
#include "runtime/lua/message_writer.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include "runtime/message/message.h"

namespace shoal::core {

void MessageWriter::Begin(int count) {
  if (!TryGrow(1 + kMaxVarint)) RaiseShort();
  *at_++ = 0;  // the flags
  at_ = PutVarint(at_, static_cast<std::uint64_t>(count));
}

void MessageWriter::End() {
  if (scratch_.modules.size() != 0) Trailer();
  CheckLimit();
  *start_ = flags_;
  scratch_.bytes.set_size(Message::kHeaderRoom + place());
}

bool MessageWriter::TryGrow(std::size_t size) {
  const std::size_t used = place();
  // Need may ask for more than is then written, by so much.
  constexpr std::size_t kMargin = kMaxVarint;
  const std::size_t most = limit_ < SIZE_MAX - kMargin ? limit_ + kMargin : SIZE_MAX;
  if (used + size > most) {
    is_too_large_ = true;
    return false;
  }
  if (!scratch_.bytes.Reserve(Message::kHeaderRoom + used + size)) return false;
  start_ = scratch_.bytes.begin() + Message::kHeaderRoom;
  at_ = start_ + used;
  // Room beyond the limit is not used: what would stand there comes here.
  end_ = start_ + std::min(scratch_.bytes.capacity() - Message::kHeaderRoom, most);
  return true;
}

void MessageWriter::RaiseShort() {
  if (is_too_large_) RaiseLarge();
  scratch_.Clear();
  RaiseNoMemory(L_);
}

void MessageWriter::RaiseLarge() {
  char text[80];
  std::snprintf(text, sizeof text, "message larger than the limit of %zu bytes", limit_);
  if (refuse_ != nullptr) refuse_(context_, text);
  scratch_.Clear();
  luaL_error(L_, "%s", text);
  __builtin_unreachable();
}

bool MessageWriter::TryBytes(const void* bytes, std::size_t size) {
  if (static_cast<std::size_t>(end_ - at_) < size && !TryGrow(size)) return false;
  std::memcpy(at_, bytes, size);
  at_ += size;
  return true;
}

void MessageWriter::Reference(wire::Tag tag, std::size_t place) {
  Byte(tag);
  Varint(place);
  start_[place] |= wire::kShared;
  flags_ |= wire::kHasShared;
}

void MessageWriter::Name(const char* wire, std::size_t size) {
  const std::size_t tag = place();
  Bytes(wire, size);
  if (static_cast<std::uint8_t>(*wire) != wire::kModule) return;
  WireReader reader{start_ + tag + 1, at_};
  std::string_view module;
  if (reader.Text(module)) {
    AddModule(static_cast<std::size_t>(reader.at - start_) - module.size(), module.size());
  }
}

void MessageWriter::Field(const char* module, std::size_t module_size, const char* field,
                          std::size_t field_size) {
  Byte(wire::kModule);
  Text(module, module_size);
  AddModule(place() - module_size, module_size);
  Varint(1);
  Text(field, field_size);
}

void MessageWriter::AddModule(std::size_t place, std::size_t size) {
  const auto name_at = [this](std::size_t name, std::size_t length) {
    return std::string_view(reinterpret_cast<const char*>(start_ + name), length);
  };
  const std::string_view name = name_at(place, size);
  if (name == LUA_GNAME) return;  // always there
  for (const CodecScratch::Place& other : scratch_.modules) {
    if (name_at(other.place, other.size) == name) return;
  }
  CodecScratch::Place* const added = scratch_.modules.Add();
  if (added == nullptr) RaiseShort();
  *added = {place, size};
}

void MessageWriter::Trailer() {
  const std::uint64_t trailer = place();
  Varint(scratch_.modules.size());
  for (const CodecScratch::Place& module : scratch_.modules) {
    Need(kMaxVarint + module.size);  // may move the bytes, so it comes before the name is looked up
    Text(reinterpret_cast<const char*>(start_ + module.place), module.size);
  }
  Bytes(&trailer, sizeof trailer);
  flags_ |= wire::kNeedsModules;
}

}  // namespace shoal::core
