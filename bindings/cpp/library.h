// SPDX-License-Identifier: MIT
// What the processes of a program's runtime see: the modules of Shoal, and those of the program.
// os.exit is an error in them.
//
// Threads: as of core::ScriptLibrary.
#pragma once

#include <lua.hpp>

#include "bindings/cpp/modules.h"
#include "bindings/cpp/objects.h"
#include "bindings/lua/shoal_library.h"
#include "runtime/process/machine.h"

namespace shoal::embed {

class Library final : public bindings::ShoalLibrary {
 public:
  explicit Library(const Modules& modules) : modules_(modules) {}

  void Open(lua_State* L, core::LibrarySet libraries) const override;
  void Add(lua_State* L) const override;
  core::RefCounted* ToReference(lua_State* L, int index) const override {
    if (SharedObject* const object = ToObject(L, index)) return object;
    return ShoalLibrary::ToReference(L, index);
  }
  void PushReference(lua_State* L, core::RefCounted* object) const override {
    if (object->kind() == core::RefCounted::Kind::kObject) {
      return PushObject(L, static_cast<SharedObject&>(*object));
    }
    ShoalLibrary::PushReference(L, object);
  }

 private:
  const Modules& modules_;
};

}  // namespace shoal::embed
