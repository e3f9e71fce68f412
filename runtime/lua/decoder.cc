// SPDX-License-Identifier: MIT
#include "runtime/lua/decoder.h"

#include <algorithm>
#include <climits>

#include "runtime/lua/module_values.h"
#include "runtime/lua/scalar.h"
#include "runtime/lua/stand_in.h"
#include "runtime/lua/state_record.h"

namespace shoal::core {
namespace {

bool IsShared(std::uint8_t tag) { return (tag & wire::kShared) != 0; }

std::uint64_t PairsOf(std::uint8_t hint) {
  if (hint < wire::kLargeHint) return hint;
  const int log = hint - wire::kLargeHint;
  return log < 31 ? std::uint64_t{1} << log : INT_MAX;
}

}  // namespace

bool ReadParts(const Message& message, MessageParts& parts) {
  const auto bytes = message.bytes();
  const auto* const start = reinterpret_cast<const std::uint8_t*>(bytes.data());
  WireReader reader{start, start + bytes.size()};
  parts.modules = {nullptr, nullptr};
  if (!reader.Fixed(parts.flags) || !reader.Varint(parts.count)) return false;
  if ((parts.flags & wire::kNeedsModules) != 0) {
    std::uint64_t trailer = 0;
    if (reader.left() < sizeof trailer) return false;
    reader.end -= sizeof trailer;
    WireReader last{reader.end, reader.end + sizeof trailer};
    if (!last.Fixed(trailer) || trailer > static_cast<std::size_t>(reader.end - start) ||
        start + trailer < reader.at) {
      return false;
    }
    parts.modules = {start + trailer, reader.end};
    reader.end = start + trailer;
  }
  parts.values = reader;
  return parts.count <= reader.left();
}

void RaiseMalformed(lua_State* L) {
  luaL_error(L, "malformed message");
  __builtin_unreachable();
}

// The whole ---------------------------------------------------------------------------------------

void Decoder::Run(std::uint64_t count) {
  if ((flags_ & wire::kHasShared) != 0) {
    lua_newtable(L_);
    seen_ = lua_gettop(L_);
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    if (Value() == Step::kOpened) Finish();
  }
  if (scratch_ != nullptr) ReleaseScratch(*scratch_);
  if (seen_ != 0) lua_remove(L_, seen_);
}

void Decoder::Finish() {
  while (scratch_->frames.size() != 0) {
    Step step = Step::kDone;
    switch (scratch_->frames.back().kind) {
      case CodecFrame::Kind::kTable:
        step = ContinueTable();
        break;
      case CodecFrame::Kind::kFunction:
        step = ContinueFunction();
        break;
      case CodecFrame::Kind::kTransfer:
        step = ContinueTransfer();
        break;
    }
    if (step == Step::kDone) scratch_->frames.Pop();
  }
}

Decoder::Step Decoder::Value() {
  if (reader_.at == reader_.end) RaiseMalformed(L_);
  const std::uint8_t tag = *reader_.at++;
  if ((tag & 0xc0) == wire::kShortString) {
    const std::size_t size = tag & wire::kShortStringMax;
    if (reader_.left() < size) RaiseMalformed(L_);
    lua_pushlstring(L_, reinterpret_cast<const char*>(reader_.at), size);
    reader_.at += size;
    return Step::kDone;
  }
  switch (PushScalar(L_, tag, reader_)) {
    case ScalarRead::kPushed:
      return Step::kDone;
    case ScalarRead::kNone:
      return Object(tag);
    case ScalarRead::kCutOff:
      break;
  }
  RaiseMalformed(L_);
}

Decoder::Step Decoder::Object(std::uint8_t tag) {
  const auto place = static_cast<std::size_t>(reader_.at - start_) - 1;
  switch (tag & ~wire::kShared) {
    case wire::kLongString & ~wire::kShared:
      if (tag != wire::kLongString) break;
      LongString();
      return Step::kDone;
    case wire::kHandle & ~wire::kShared:
      if (tag == wire::kHandle) {
        Handle();
      } else {
        lua_pushglobaltable(L_);
      }
      return Step::kDone;
    case wire::kBackReference & ~wire::kShared:
      if (tag != wire::kBackReference) break;
      BackReference();
      return Step::kDone;
    case wire::kTable:
    case wire::kTableWithMeta:
      return Table(IsShared(tag), (tag & ~wire::kShared) == wire::kTableWithMeta, place);
    case wire::kFunction:
      return Function(IsShared(tag), place);
    case wire::kModule:
      Module();
      if (IsShared(tag)) Register(lua_gettop(L_), place);
      return Step::kDone;
    case wire::kTransfer:
      Open(CodecFrame::Kind::kTransfer, lua_gettop(L_) + 1).place = IsShared(tag) ? place : 0;
      return Step::kOpened;
    case wire::kStandIn:
      StandIn();
      if (IsShared(tag)) Register(lua_gettop(L_), place);
      return Step::kDone;
    default:
      break;
  }
  RaiseMalformed(L_);
}

int Decoder::Presize(std::uint64_t count, std::size_t bytes) {
  const std::uint64_t presized = std::min<std::uint64_t>({count, presized_left_ / bytes, INT_MAX});
  presized_left_ -= presized * bytes;
  return static_cast<int>(presized);
}

CodecFrame& Decoder::Open(CodecFrame::Kind kind, int base) {
  if (scratch_ == nullptr) scratch_ = &AcquireScratch(L_, user_);
  if (lua_checkstack(L_, kSlots) == 0) luaL_error(L_, "stack overflow");
  if (scratch_->frames.size() == kMaxDepth) RaiseMalformed(L_);
  CodecFrame* const frame = scratch_->frames.Add();
  if (frame == nullptr) RaiseNoMemory(L_);
  frame->kind = kind;
  frame->phase = CodecFrame::Phase::kItem;
  frame->base = base;
  frame->count = 0;
  return *frame;
}

// Objects -----------------------------------------------------------------------------------------

void Decoder::Register(int index, std::size_t place) {
  if (seen_ == 0) RaiseMalformed(L_);
  lua_pushvalue(L_, index);
  lua_rawseti(L_, seen_, static_cast<lua_Integer>(place));
}

void Decoder::BackReference() {
  const std::uint64_t place = Varint();
  if (seen_ == 0 || lua_rawgeti(L_, seen_, static_cast<lua_Integer>(place)) == LUA_TNIL) {
    RaiseMalformed(L_);
  }
}

void Decoder::LongString() {
  const std::string_view text = Text();
  lua_pushlstring(L_, text.data(), text.size());
}

void Decoder::Handle() {
  const auto references = message_.references();
  StateHost* const host = RecordOf(L_).host;
  if (next_reference_ == references.size() || host == nullptr) RaiseMalformed(L_);
  RefCounted* const object = references[next_reference_++];
  if (object == nullptr) {
    lua_pushnil(L_);
  } else {
    host->PushReference(L_, object);
  }
}

void Decoder::Module() {
  if (!PushModuleValue(L_, reader_)) RaiseMalformed(L_);
}

void Decoder::StandIn() { PushStandIn(L_, {}, Text()); }

Decoder::Step Decoder::Table(bool is_shared, bool has_meta, std::size_t place) {
  CodecFrame& frame = Open(CodecFrame::Kind::kTable, lua_gettop(L_) + 1);
  frame.has_meta = has_meta;
  frame.limit = Varint();
  const auto hint = Fixed<std::uint8_t>();
  if (frame.limit > reader_.left()) RaiseMalformed(L_);
  const int values = Presize(frame.limit, 1);
  lua_createtable(L_, values, Presize(PairsOf(hint), 2));
  if (is_shared) Register(frame.base, place);
  return Step::kOpened;
}

// Stack: the table at frame.base; above it, if a value was opened, the key and the value.
Decoder::Step Decoder::ContinueTable() {
  CodecFrame& frame = scratch_->frames.back();
  const int base = frame.base;
  using Phase = CodecFrame::Phase;
  switch (frame.phase) {
    case Phase::kItem:
      if (lua_gettop(L_) > base) lua_rawseti(L_, base, static_cast<lua_Integer>(frame.count));
      break;
    case Phase::kKey:
      frame.phase = Phase::kValue;
      if (Value() == Step::kOpened) return Step::kOpened;
      [[fallthrough]];
    case Phase::kValue:
      lua_rawset(L_, base);
      break;
    default:
      return SetMeta();
  }
  while (frame.count < frame.limit) {
    ++frame.count;
    if (Value() == Step::kOpened) return Step::kOpened;
    lua_rawseti(L_, base, static_cast<lua_Integer>(frame.count));
  }
  for (;;) {
    if (reader_.at == reader_.end) RaiseMalformed(L_);
    if (*reader_.at == wire::kNil) break;
    frame.phase = Phase::kKey;
    if (Value() == Step::kOpened) return Step::kOpened;
    frame.phase = Phase::kValue;
    if (Value() == Step::kOpened) return Step::kOpened;
    lua_rawset(L_, base);
  }
  ++reader_.at;
  if (!frame.has_meta) return Step::kDone;
  frame.phase = Phase::kMeta;
  return Value() == Step::kOpened ? Step::kOpened : SetMeta();
}

// Stack: the metatable above the table.
Decoder::Step Decoder::SetMeta() {
  const int base = scratch_->frames.back().base;
  if (lua_type(L_, -1) == LUA_TUSERDATA && IsStandIn(L_, -1) && lua_getmetatable(L_, -1) != 0) {
    // Whatever is done to the table, except to read its fields, raises the reason.
    lua_remove(L_, -2);
  }
  if (lua_istable(L_, -1)) {
    lua_setmetatable(L_, base);
  } else {
    lua_pop(L_, 1);
  }
  return Step::kDone;
}

Decoder::Step Decoder::Function(bool is_shared, std::size_t place) {
  CodecFrame& frame = Open(CodecFrame::Kind::kFunction, lua_gettop(L_) + 1);
  const auto size = Fixed<std::uint32_t>();
  std::string_view code;
  if (!reader_.Bytes(size, code)) RaiseMalformed(L_);
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
  RaiseMalformed(L_);  // Lua trusts compiled code
#endif
  const int status = luaL_loadbufferx(L_, code.data(), code.size(), "=message", "b");
  if (status == LUA_ERRMEM) RaiseNoMemory(L_);
  if (status != LUA_OK) RaiseMalformed(L_);
  frame.limit = Fixed<std::uint8_t>();
  if (is_shared) Register(frame.base, place);
  return Step::kOpened;
}

// Stack: the function at frame.base; above it, if one was opened, the value of an upvalue.
Decoder::Step Decoder::ContinueFunction() {
  CodecFrame& frame = scratch_->frames.back();
  if (frame.phase == CodecFrame::Phase::kValue) {
    Upvalue(frame, static_cast<int>(frame.count));
  }
  while (frame.count < frame.limit) {
    const int n = static_cast<int>(++frame.count);
    frame.phase = CodecFrame::Phase::kItem;
    if (SharedUpvalue(frame, n)) continue;
    frame.phase = CodecFrame::Phase::kValue;
    if (Value() == Step::kOpened) return Step::kOpened;
    Upvalue(frame, n);
  }
  return Step::kDone;
}

// The value on top becomes upvalue `n`.
void Decoder::Upvalue(CodecFrame& frame, int n) {
  if (lua_setupvalue(L_, frame.base, n) == nullptr) RaiseMalformed(L_);
}

// True if upvalue `n` is one of another function, and has been joined to it. If not, its value
// follows, and in the table of shared objects [place] is its function and [-place] its number.
bool Decoder::SharedUpvalue(CodecFrame& frame, int n) {
  const auto place = static_cast<lua_Integer>(reader_.at - start_);
  const auto tag = Fixed<std::uint8_t>();
  if ((tag & ~wire::kShared) == wire::kUpvalue) {
    if (IsShared(tag)) {
      Register(frame.base, static_cast<std::size_t>(place));
      lua_pushinteger(L_, n);
      lua_rawseti(L_, seen_, -place);
    }
    return false;
  }
  if (tag != wire::kSharedUpvalue || seen_ == 0) RaiseMalformed(L_);
  const auto other = static_cast<lua_Integer>(Varint());
  lua_rawgeti(L_, seen_, other);
  lua_rawgeti(L_, seen_, static_cast<lua_Integer>(0 - static_cast<std::uint64_t>(other)));
  const int other_n = static_cast<int>(lua_tointeger(L_, -1));
  if (!lua_isfunction(L_, -2) || lua_iscfunction(L_, -2) ||
      lua_upvalueid(L_, -2, other_n) == nullptr || lua_upvalueid(L_, frame.base, n) == nullptr) {
    RaiseMalformed(L_);
  }
  lua_upvaluejoin(L_, frame.base, n, -2, other_n);
  lua_pop(L_, 2);
  return true;
}

// Stack: from frame.base on, the loader and the value.
Decoder::Step Decoder::ContinueTransfer() {
  CodecFrame& frame = scratch_->frames.back();
  using Phase = CodecFrame::Phase;
  if (frame.phase == Phase::kItem) {
    frame.phase = Phase::kLoader;
    if (Value() == Step::kOpened) return Step::kOpened;
  }
  if (frame.phase == Phase::kLoader) {
    frame.phase = Phase::kValue;
    if (Value() == Step::kOpened) return Step::kOpened;
  }
  CallForValue(L_, 1, {}, "a transferred value");
  if (frame.place != 0) Register(frame.base, frame.place);
  return Step::kDone;
}

}  // namespace shoal::core
