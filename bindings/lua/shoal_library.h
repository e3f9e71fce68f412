// SPDX-License-Identifier: MIT
// The module `shoal` in the states of processes.
//
// Threads: the owner of the process.
#pragma once

#include "bindings/lua/built_in.h"
#include "bindings/lua/socket_lookup.h"
#include "runtime/process/machine.h"

namespace shoal::bindings {

// `shoal._VERSION`.
inline constexpr char kVersion[] = "Shoal 0.1";

// shoal.workers.
int Workers(lua_State* L);

// The loader of `require "shoal"`.
int LoadShoal(lua_State* L);

// What goes with "shoal": sets the loaders in package.preload. [-0, +0, m]
void PreloadModules(lua_State* L, PlainNames plain);

// A module by its plain name, that of a library of others. In processes these names always mean
// ours, in a host after shoal.compat.
struct PlainModule {
  const char* drop_in;  // what shoal.compat calls it
  const char* name;
  lua_CFunction load;  // nullptr: it is that of the module "shoal." and the name
};
extern const PlainModule kPlainModules[4];
// The name of a drop-in at `arg`; raises. [-0, +0, v]
const char* CheckDropIn(lua_State* L, int arg);

// What the runtime is given by the bindings. Libraries that add to it are derived: all that a
// Machine of processes with Shoal has is one.
class ShoalLibrary : public core::ScriptLibrary {
 public:
  void Open(lua_State* L, core::LibrarySet libraries) const override;
  core::RefCounted* ToReference(lua_State* L, int index) const override;
  void PushReference(lua_State* L, core::RefCounted* object) const override;
  bool PushTransfer(lua_State* L) const override;
  void PushCancelled(lua_State* L) const override;

  // For sockets. Any thread.
  [[nodiscard]] Lookups& lookups() const { return lookups_; }

 private:
  mutable Lookups lookups_;
};

}  // namespace shoal::bindings
