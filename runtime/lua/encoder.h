// SPDX-License-Identifier: MIT
// Encoder writes Lua values into a CodecScratch, in one pass and without recursion.
//
// An attempt can end early: what the writer must know (names of modules) or do (keep objects alive
// while a __transfer runs) it learns from the values. Nothing before that point calls user code or
// lets Lua collect garbage; so addresses stand for objects, and the attempt is begun again.
//
// Threads: the one that runs the state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lua.hpp>

#include "runtime/lua/codec_scratch.h"
#include "runtime/lua/message_writer.h"

namespace shoal::core {

class Encoder {
 public:
  // What earlier attempts have found out.
  struct Knowledge {
    bool names_are_current = false;  // the names of module values are up to date
    bool names_are_new = false;      // they were made in this call: a value without name has none
    bool keeps_objects = false;      // a __transfer will be called
  };
  enum class Result : std::uint8_t { kDone, kNeedsNames, kNeedsNewNames, kNeedsObjects };

  // `root`: what paths start with; nullptr: the position of the value.
  Encoder(lua_State* L, CodecScratch& scratch, const char* root, Knowledge knowledge)
      : L_(L),
        scratch_(scratch),
        out_(L, scratch, RefuseLarge, this),
        memory_(MemoryOf(L)),
        root_(root),
        knowledge_(knowledge) {}

  // Writes the `count` values from `first` on. The stack may hold more than before. [-0, +?, e]
  Result Run(int first, int count);

 private:
  // In the map of objects seen: the object's __transfer has been called, and its result is still
  // being written.
  static constexpr std::size_t kOpenTransfer = ~(SIZE_MAX >> 1);

  // What became of a value: it is written, it has a frame of its own now, or the attempt ends.
  enum class Step : std::uint8_t { kDone, kOpened, kEnd };

  // The whole of what stands on the frames. Step::kDone or kEnd.
  Step Finish();
  Step Value(int index);
  Step Table(int index);
  Step Function(int index);
  Step Userdata(int index);
  Step Named(int index, const char* refused);
  bool WriteName(int index);  // false: it has none, nothing is written
  Step Transfer(int index, std::size_t place);
  Step ContinueTable();
  Step ContinueFunction();
  Step ContinueTransfer();
  Step EndTable();
  Step Fails(Result result) {
    result_ = result;
    return Step::kEnd;
  }

  void Loader(int index);
  bool HasTransfer();
  // True if the object has been met before: then the reference is written.
  bool Seen(const void* object, int index, wire::Tag reference);
  CodecFrame& Open(CodecFrame::Kind kind, int base);
  bool NamesAreCurrent();

  static int Dump(lua_State* L, const void* bytes, std::size_t size, void* encoder);
  // For the writer.
  static void RefuseLarge(void* encoder, const char* what) {
    static_cast<Encoder*>(encoder)->RaiseAt(what);
  }
  [[noreturn]] void NoMemory() { out_.RaiseShort(); }
  // Raises "cannot send … (at …)".
  [[noreturn]] void Refuse(const char* what);
  [[noreturn]] void RaiseAt(const char* what);

  lua_State* const L_;
  CodecScratch& scratch_;
  MessageWriter out_;
  CodecMemory& memory_;
  const char* const root_;
  Knowledge knowledge_;
  Result result_ = Result::kDone;

  int position_ = 0;                  // of the value of the tuple that is being written
  const void* globals_ = nullptr;     // the globals table
  const void* plain_meta_ = nullptr;  // a metatable that has no __transfer
  int objects_ = 0;                   // stack index of the table that keeps objects alive
  lua_Integer object_count_ = 0;
};

}  // namespace shoal::core
