// SPDX-License-Identifier: MIT
// Objects of the program that Lua code has by reference, as userdata: one for each object and
// state.
//
// Threads: as said at each.
#pragma once

#include <shoal/object.h>

#include <list>
#include <lua.hpp>
#include <memory>
#include <string>
#include <typeindex>
#include <utility>

#include "bindings/cpp/function_call.h"
#include "bindings/cpp/gate.h"
#include "runtime/base/ref_counted.h"

namespace shoal::embed {

// What can be done with objects of a type. Immutable after it was made. The runtime keeps it until
// no process can run any more, and so does each object.
class ObjectClass {
 public:
  struct Member {
    std::string name;
    HostMethod method;
  };

  ObjectClass(const std::shared_ptr<Gate>& gate, ClassDraft&& draft);
  ObjectClass(const ObjectClass&) = delete;
  ObjectClass& operator=(const ObjectClass&) = delete;

  [[nodiscard]] Gate& gate() const { return *gate_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::type_index type() const { return type_; }
  [[nodiscard]] const std::list<Member>& members() const { return members_; }

 private:
  const std::shared_ptr<Gate> gate_;
  const std::string name_;
  const std::type_index type_;
  std::list<Member> members_;
};

// An object, as messages and states refer to it. Its end is that of the program's object, if nobody
// else has that: on any thread, without a lock.
class SharedObject final : public core::RefCounted {
 public:
  SharedObject(std::shared_ptr<const ObjectClass> known, std::shared_ptr<void> pointer)
      : RefCounted(Kind::kObject), class_(std::move(known)), pointer_(std::move(pointer)) {}

  [[nodiscard]] const std::shared_ptr<const ObjectClass>& of() const { return class_; }
  [[nodiscard]] void* pointer() const { return pointer_.get(); }
  [[nodiscard]] const std::shared_ptr<void>& shared() const { return pointer_; }

 private:
  const std::shared_ptr<const ObjectClass> class_;
  const std::shared_ptr<void> pointer_;
};

// The owner of the state. The object that stands at `index`, or nullptr. Not counted.
SharedObject* ToObject(lua_State* L, int index);
// The owner. Pushes the value for `object`: the same one as before, if the state has it still.
// [-0, +1, m]
void PushObject(lua_State* L, SharedObject& object);

}  // namespace shoal::embed
