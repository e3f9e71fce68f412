// SPDX-License-Identifier: MIT
#include "runtime/lua/encoder.h"

#include <cstring>

#include "runtime/lua/module_names.h"
#include "runtime/lua/state_record.h"
#include "runtime/lua/value_path.h"
#include "runtime/message/buffer.h"

namespace shoal::core {
namespace {

// Stack slots for a level of nesting: key, value, metatable, and what a name or a call takes.
constexpr int kSlots = 10;

// Nil in a sequence costs a byte, ending the sequence a key for each value behind it.
constexpr std::uint64_t kMaxGap = 8;

std::uint8_t SizeHint(std::uint64_t pairs) {
  if (pairs < wire::kLargeHint) return static_cast<std::uint8_t>(pairs);
  return static_cast<std::uint8_t>(wire::kLargeHint | (64 - __builtin_clzll(pairs - 1)));
}

}  // namespace

// The whole ---------------------------------------------------------------------------------------

Encoder::Result Encoder::Run(int first, int count) {
  if (lua_checkstack(L_, kSlots) == 0) RaiseAt("stack overflow");
  lua_pushglobaltable(L_);
  globals_ = lua_topointer(L_, -1);
  lua_pop(L_, 1);
  if (knowledge_.keeps_objects) {
    lua_newtable(L_);
    objects_ = lua_gettop(L_);
  }
  out_.Begin(count);
  for (position_ = 1; position_ <= count; ++position_) {
    Step step = Value(first + position_ - 1);
    if (step == Step::kOpened) step = Finish();
    if (step == Step::kEnd) return result_;
    out_.CheckLimit();
  }
  position_ = count;
  out_.End();
  return Result::kDone;
}

Encoder::Step Encoder::Finish() {
  while (scratch_.frames.size() != 0) {
    Step step = Step::kDone;
    switch (scratch_.frames.back().kind) {
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
    if (step == Step::kEnd) return step;
    if (step == Step::kDone) scratch_.frames.Pop();
  }
  return Step::kDone;
}

Encoder::Step Encoder::Value(int index) {
  switch (lua_type(L_, index)) {
    case LUA_TNIL:
      out_.Byte(wire::kNil);
      return Step::kDone;
    case LUA_TBOOLEAN:
      out_.Byte(lua_toboolean(L_, index) ? wire::kTrue : wire::kFalse);
      return Step::kDone;
    case LUA_TNUMBER:
      if (lua_isinteger(L_, index)) {
        out_.Integer(lua_tointeger(L_, index));
      } else {
        out_.Tagged(wire::kDouble, lua_tonumber(L_, index));
      }
      return Step::kDone;
    case LUA_TSTRING: {
      std::size_t size = 0;
      const char* const text = lua_tolstring(L_, index, &size);
      out_.String(text, size);
      return Step::kDone;
    }
    case LUA_TLIGHTUSERDATA:
      out_.Tagged(wire::kLightUserdata, lua_touserdata(L_, index));
      return Step::kDone;
    case LUA_TTABLE:
      return Table(index);
    case LUA_TFUNCTION:
      return Function(index);
    case LUA_TUSERDATA:
      return Userdata(index);
    default:
      Refuse("a coroutine");
  }
}

// Objects -----------------------------------------------------------------------------------------

bool Encoder::Seen(const void* object, int index, wire::Tag reference) {
  bool is_new = false;
  const std::size_t* const found = scratch_.seen.Insert(object, out_.place(), is_new);
  if (found == nullptr) NoMemory();
  if (is_new) {
    if (objects_ != 0) {
      lua_pushvalue(L_, index);
      lua_rawseti(L_, objects_, ++object_count_);
    }
    return false;
  }
  if ((*found & kOpenTransfer) != 0) RaiseAt("cannot send a table that its __transfer refers to");
  out_.Reference(reference, *found);
  return true;
}

CodecFrame& Encoder::Open(CodecFrame::Kind kind, int base) {
  if (scratch_.frames.size() == kMaxDepth) RaiseAt("table nested deeper than 10000");
  if (lua_checkstack(L_, kSlots) == 0) RaiseAt("stack overflow");
  CodecFrame* const frame = scratch_.frames.Add();
  if (frame == nullptr) NoMemory();
  frame->kind = kind;
  frame->phase = CodecFrame::Phase::kItem;
  frame->has_meta = false;
  frame->base = base;
  frame->slot = lua_gettop(L_) + 1;
  frame->count = frame->pairs = 0;
  return *frame;
}

Encoder::Step Encoder::Table(int index) {
  const void* const table = lua_topointer(L_, index);
  if (table == globals_) {
    out_.Byte(wire::kGlobals);
    return Step::kDone;
  }
  const std::size_t at = out_.place();
  if (Seen(table, index, wire::kBackReference)) return Step::kDone;
  if (memory_.has_stand_ins || memory_.named_tables.Contains(table)) {
    // What was loaded may have changed since the names were made.
    if (!NamesAreCurrent()) return Fails(Result::kNeedsNames);
    if (WriteName(index)) return Step::kDone;
  }
  const bool has_meta = lua_getmetatable(L_, index) != 0;
  if (has_meta) {
    if (!NamesAreCurrent()) return Fails(Result::kNeedsNames);
    if (HasTransfer()) return Transfer(index, at);
    lua_pop(L_, 1);
  }
  const std::uint64_t length = lua_rawlen(L_, index);
  CodecFrame& frame = Open(CodecFrame::Kind::kTable, index);
  frame.has_meta = has_meta;
  frame.limit = length;
  out_.Byte(has_meta ? wire::kTableWithMeta : wire::kTable);
  frame.place = out_.place();
  out_.Varint(length);
  frame.width = static_cast<std::uint8_t>(out_.place() - frame.place);
  out_.Byte(0);  // the size hint
  lua_pushnil(L_);
  return Step::kOpened;
}

// Stack: key in frame.slot, value above.
Encoder::Step Encoder::ContinueTable() {
  CodecFrame& frame = scratch_.frames.back();
  const int slot = frame.slot;
  using Phase = CodecFrame::Phase;
  switch (frame.phase) {
    case Phase::kMeta:
      lua_settop(L_, slot - 1);
      return Step::kDone;
    case Phase::kKey:
      frame.phase = Phase::kValue;
      if (const Step step = Value(slot + 1); step != Step::kDone) return step;
      [[fallthrough]];
    case Phase::kValue:
      lua_settop(L_, slot);
      break;
    default:
      break;
  }
  while (lua_next(L_, frame.base) != 0) {
    if (frame.count < frame.limit) {
      if (lua_isinteger(L_, slot)) {
        // Integers below 1 are large here.
        const auto key = static_cast<std::uint64_t>(lua_tointeger(L_, slot));
        if (key > frame.count && key <= frame.limit && key - frame.count <= kMaxGap) {
          while (++frame.count < key) out_.Byte(wire::kNil);
          frame.phase = Phase::kValue;
          if (const Step step = Value(slot + 1); step != Step::kDone) return step;
          lua_settop(L_, slot);
          continue;
        }
      }
      RewriteVarint(out_.at(frame.place), frame.width, frame.count);
      frame.limit = frame.count;
    }
    ++frame.pairs;
    frame.phase = Phase::kKey;
    if (const Step step = Value(slot); step != Step::kDone) return step;
    frame.phase = Phase::kValue;
    if (const Step step = Value(slot + 1); step != Step::kDone) return step;
    lua_settop(L_, slot);
  }
  return EndTable();
}

// Stack: the key is gone.
Encoder::Step Encoder::EndTable() {
  CodecFrame& frame = scratch_.frames.back();
  if (frame.count < frame.limit) {
    RewriteVarint(out_.at(frame.place), frame.width, frame.count);
  }
  *out_.at(frame.place + frame.width) = SizeHint(frame.pairs);
  out_.Byte(wire::kNil);
  if (!frame.has_meta) return Step::kDone;
  frame.phase = CodecFrame::Phase::kMeta;
  // A __transfer may have taken it away.
  if (lua_getmetatable(L_, frame.base) == 0) lua_pushnil(L_);
  const int slot = frame.slot;
  const Step step = Value(slot);
  if (step == Step::kDone) lua_settop(L_, slot - 1);
  return step;
}

// Functions ---------------------------------------------------------------------------------------

// Nothing may raise in here; lua_dump passes on a result that is not 0.
int Encoder::Dump(lua_State* /*L*/, const void* bytes, std::size_t size, void* encoder) {
  return static_cast<Encoder*>(encoder)->out_.TryBytes(bytes, size) ? 0 : 1;
}

Encoder::Step Encoder::Function(int index) {
  if (!NamesAreCurrent()) return Fails(Result::kNeedsNames);
  const bool is_native = lua_iscfunction(L_, index) != 0;
  if (Seen(lua_topointer(L_, index), index, wire::kBackReference)) return Step::kDone;
  if (is_native) return Named(index, "a C function");
  if (WriteName(index)) return Step::kDone;

  // With its debug information, so that errors in it say file and line.
  CodecFrame& frame = Open(CodecFrame::Kind::kFunction, index);
  out_.Byte(wire::kFunction);
  std::uint32_t size = 0;
  out_.Bytes(&size, sizeof size);
  const std::size_t code = out_.place();
  lua_pushvalue(L_, index);
  if (lua_dump(L_, Dump, this, 0) != 0 || out_.place() - code > UINT32_MAX) NoMemory();
  lua_pop(L_, 1);
  size = static_cast<std::uint32_t>(out_.place() - code);
  PutFixed(out_.at(code - sizeof size), size);
  frame.limit = 0;
  while (lua_upvalueid(L_, index, static_cast<int>(frame.limit) + 1) != nullptr) ++frame.limit;
  out_.Byte(static_cast<std::uint8_t>(frame.limit));
  return Step::kOpened;
}

// Stack: the upvalue in frame.slot.
Encoder::Step Encoder::ContinueFunction() {
  CodecFrame& frame = scratch_.frames.back();
  const int slot = frame.slot;
  while (frame.count < frame.limit) {
    lua_settop(L_, slot - 1);
    const int n = static_cast<int>(++frame.count);
    if (Seen(lua_upvalueid(L_, frame.base, n), frame.base, wire::kSharedUpvalue)) continue;
    out_.Byte(wire::kUpvalue);
    lua_getupvalue(L_, frame.base, n);
    if (const Step step = Value(slot); step != Step::kDone) return step;
  }
  lua_settop(L_, slot - 1);
  return Step::kDone;
}

// Userdata, values by name ------------------------------------------------------------------------

Encoder::Step Encoder::Userdata(int index) {
  StateHost* const host = RecordOf(L_).host;
  RefCounted* const reference = host != nullptr ? host->ToReference(L_, index) : nullptr;
  if (reference != nullptr) {
    RefCounted** const place = scratch_.references.Add();
    if (place == nullptr) NoMemory();
    reference->AddRef();
    *place = reference;
    out_.Byte(wire::kHandle);
    if (reference->kind() == RefCounted::Kind::kBuffer) {
      out_.CountBuffer(static_cast<const Buffer*>(reference)->size());
    }
    return Step::kDone;
  }
  if (!NamesAreCurrent()) return Fails(Result::kNeedsNames);
  if (Seen(lua_topointer(L_, index), index, wire::kBackReference)) return Step::kDone;
  return Named(index, "a userdata");
}

bool Encoder::NamesAreCurrent() {
  if (!knowledge_.names_are_current) {
    knowledge_.names_are_current = ModuleNamesAreCurrent(L_, memory_);
  }
  return knowledge_.names_are_current;
}

bool Encoder::WriteName(int index) {
  std::size_t size = 0;
  const char* const name = PushModuleName(L_, memory_, index, size);
  if (name != nullptr) out_.Name(name, size);
  lua_pop(L_, 1);
  return name != nullptr;
}

Encoder::Step Encoder::Named(int index, const char* refused) {
  if (WriteName(index)) return Step::kDone;
  if (!knowledge_.names_are_new) {
    // It may have been put into its module since. Where objects are kept, garbage may be collected.
    if (!knowledge_.keeps_objects) return Fails(Result::kNeedsNewNames);
    knowledge_.names_are_new = true;
    MakeModuleNames(L_, memory_);
    return Named(index, refused);
  }
  if (lua_type(L_, index) == LUA_TUSERDATA && luaL_getmetafield(L_, index, "__name") != 0) {
    if (lua_type(L_, -1) == LUA_TSTRING) {
      lua_pushfstring(L_, "%s '%s'", refused, lua_tostring(L_, -1));
      Refuse(lua_tostring(L_, -1));
    }
    lua_pop(L_, 1);
  }
  Refuse(refused);
}

// Memory and errors -------------------------------------------------------------------------------

void Encoder::Refuse(const char* what) {
  char text[200] = "cannot send ";
  std::strncat(text, what, sizeof text - std::strlen(text) - 1);
  RaiseAt(text);
}

void Encoder::RaiseAt(const char* what) {
  ValuePath path;
  if (root_ != nullptr) {
    path.Add(root_);
  } else {
    path.AddPosition(position_);
  }
  path.AddFrames(L_, scratch_.frames.begin(), scratch_.frames.size());
  scratch_.Clear();
  luaL_error(L_, "%s (at %s)", what, path.text());
  __builtin_unreachable();
}

}  // namespace shoal::core
