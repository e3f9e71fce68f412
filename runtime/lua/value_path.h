// SPDX-License-Identifier: MIT
// ValuePath is the text that says where a value stands in what is sent: [1].jobs["my key"][3].
//
// It has a fixed size and no destructor, as it is made right before an error is raised. Long paths
// are cut in the middle, long keys at the end.
#pragma once

#include <cstddef>
#include <lua.hpp>

#include "runtime/lua/codec_scratch.h"

namespace shoal::core {

class ValuePath {
 public:
  ValuePath() { text_[0] = '\0'; }

  // Adds text as it is.
  void Add(const char* text);
  // Adds a position: [3].
  void AddPosition(lua_Integer position);
  // Adds the key that stands at `index`: .name, ["odd name"], [3], [true], [table].
  void AddKey(lua_State* L, int index);
  // Adds an upvalue: (upvalue x).
  void AddUpvalue(const char* name);
  // Adds the way through the frames of an encoder to the value that it is about to write.
  void AddFrames(lua_State* L, const CodecFrame* frames, std::size_t depth);

  [[nodiscard]] const char* text() const { return text_; }

 private:
  void Add(const char* text, std::size_t size);
  void AddFrame(lua_State* L, const CodecFrame& frame);

  static constexpr std::size_t kMaxSize = 500;
  char text_[kMaxSize + 1];
  std::size_t size_ = 0;
};

}  // namespace shoal::core
