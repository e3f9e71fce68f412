// SPDX-License-Identifier: MIT
// A CodeCache keeps the code of the Lua files that states of a runtime have loaded. The next state
// that loads one takes that in place of the source, which takes a fraction of the time.
//
// What is kept is as it was loaded: with names and lines. It is used as long as the file is the
// same by its number, size and time of change. A file that has changed in the last seconds is not
// kept: the next change might bear the same time.
//
// Threads: any thread may call any member. Locks: mu_ (kLeaf).
#pragma once

#include <cstddef>
#include <cstdint>
#include <lua.hpp>
#include <string>
#include <unordered_map>

#include "runtime/base/mutex.h"
#include "runtime/base/ref_counted.h"
#include "runtime/base/thread_annotations.h"

namespace shoal::core {

class CodeCache {
 public:
  // At most so many bytes of code are kept; when they are used up, the files that come are not.
  explicit CodeCache(std::size_t most = std::size_t{32} << 20) : most_(most) {}

  // As luaL_loadfile, for a file that is no standard input. [-0, +1, m]
  int Load(lua_State* L, const char* path);

  // Bytes of code.
  [[nodiscard]] std::size_t size() const;

 private:
  // What a file was when it was looked at. All zero: there was none.
  struct Stamp {
    std::uint64_t device = 0;
    std::uint64_t number = 0;
    std::int64_t size = 0;
    std::int64_t changed = 0;  // nanoseconds since 1970
    bool operator==(const Stamp&) const = default;
  };
  class Code final : public RefCounted {
   public:
    std::string bytes;
  };
  struct File {
    Stamp stamp;
    Ref<Code> code;
  };

  static Stamp Look(const char* path);
  static bool IsSettled(const Stamp& stamp);
  // Pushes the function of a file that is kept. False: it is not, or memory is short.
  bool LoadKept(lua_State* L, const char* path, const Stamp& stamp);
  // Keeps the function on top.
  void Keep(lua_State* L, const char* path, const Stamp& stamp);
  Ref<Code> Find(const std::string& path, const Stamp& stamp);

  const std::size_t most_;
  mutable Mutex mu_{LockRank::kLeaf};
  std::unordered_map<std::string, File> files_ SHOAL_GUARDED_BY(mu_);
  std::size_t size_ SHOAL_GUARDED_BY(mu_) = 0;
};

}  // namespace shoal::core
