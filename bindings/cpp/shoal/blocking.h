// SPDX-License-Identifier: MIT
/// \file
/// Blocking is a section of a C function in which its thread may block; Guarded turns exceptions
/// into Lua errors.
#pragma once

#include <cstddef>
#include <cstring>
#include <exception>

struct lua_State;

namespace shoal {

namespace embed {
// Raises an error of Lua with this text, behind the place of the call.
[[noreturn]] void RaiseText(lua_State* L, const char* text);
}  // namespace embed

/// A section of a function that a process calls, in which the thread may block: read a file, lock,
/// wait for a message. It gives its worker to another thread meanwhile, so the other processes go
/// on; the calling process itself, with its tasks, stands still.
///
///     int Load(lua_State* L) {
///       const char* name = luaL_checkstring(L, 1);
///       Image image;
///       {
///         const shoal::Blocking blocking(L);
///         Read(name, &image);           // no call of Lua in here
///       }
///       …
///     }
///
/// REQUIRES: between constructor and destructor, nothing is done with the lua_State, so nothing can
///           raise, and no exception of yours is lost: it leaves the section as usual.
class Blocking {
 public:
  /// In a Function, an AsyncFunction or a method. Elsewhere, it does nothing: the threads of the
  /// program may block anyway.
  Blocking() noexcept;
  /// In a lua_CFunction that was called with `L`. Nothing, if that is the state of a host.
  explicit Blocking(lua_State* L) noexcept;
  /// Waits for a worker.
  ~Blocking();
  Blocking(const Blocking&) = delete;
  Blocking& operator=(const Blocking&) = delete;

  /// Whether the thread may block here, and wait by calls of this library. Not if it still has its
  /// worker: the runtime has no threads of its own, too many are blocked, or the system refuses
  /// another one. Then what blocks holds up all processes of that worker.
  [[nodiscard]] explicit operator bool() const noexcept { return may_block_; }

 private:
  void Begin(lua_State* L) noexcept;

  void* process_ = nullptr;  // which has given away its worker
  bool may_block_ = true;
};

/// A lua_CFunction that calls another one, and turns what that throws into a Lua error: exceptions
/// must not pass through Lua. `{"load", shoal::Guarded<Load>}`
template <int (*kFunction)(lua_State*)>
int Guarded(lua_State* L) {
  char text[256];
  try {
    return kFunction(L);
  } catch (const std::exception& error) {
    std::strncpy(text, error.what(), sizeof text - 1);
    text[sizeof text - 1] = '\0';
  } catch (const char* error) {
    std::strncpy(text, error, sizeof text - 1);
    text[sizeof text - 1] = '\0';
  } catch (...) {
    std::strcpy(text, "an exception of a type that is not known");
  }
  // The exception is gone by now: the error is a longjmp.
  embed::RaiseText(L, text);
}

}  // namespace shoal
