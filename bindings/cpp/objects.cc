// SPDX-License-Identifier: MIT
#include "bindings/cpp/objects.h"

#include "bindings/cpp/cell.h"
#include "runtime/base/enough_memory.h"
#include "runtime/lua/state_record.h"
#include "runtime/lua/weak_table.h"

namespace shoal {

std::shared_ptr<void> Object::Find(std::type_index type) const noexcept {
  const embed::Entry entry(*this, Kind::kObject);
  if (!entry) return nullptr;
  const auto& object = entry.object<embed::SharedObject>();
  return object.of()->type() == type ? object.shared() : nullptr;
}

namespace embed {

namespace {

// Its address marks our userdata, and names the table object → userdata in the registry.
const char kMark = 0;

struct Box {
  const void* mark;
  SharedObject* object;  // with a reference
};

Box* ToBox(lua_State* L, int index) {
  if (lua_rawlen(L, index) != sizeof(Box)) return nullptr;
  auto* const box = static_cast<Box*>(lua_touserdata(L, index));
  return box != nullptr && box->mark == &kMark ? box : nullptr;
}

int Collect(lua_State* L) {
  Box* const box = ToBox(L, 1);
  if (box == nullptr) return 0;
  SharedObject* const object = std::exchange(box->object, nullptr);
  core::StateRecord& record = core::RecordOf(L);
  // In a child that was forked, locks may be held by threads that are not there.
  if (object == nullptr || record.host == nullptr) return 0;
  --record.handles;
  object->Release();
  return 0;
}

// "image: 0x55…", as of other userdata.
int ToString(lua_State* L) {
  const SharedObject* const object = ToObject(L, 1);
  if (object == nullptr) return luaL_error(L, "this is no object");
  lua_pushfstring(L, "%s: %p", object->of()->name().c_str(), object->pointer());
  return 1;
}

// [-0, +1, m]
void PushMetatable(lua_State* L, const ObjectClass& known) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &known) == LUA_TTABLE) return;
  lua_pop(L, 1);
  lua_newtable(L);
  lua_pushcfunction(L, ToString);
  lua_setfield(L, -2, "__tostring");
  lua_newtable(L);
  for (const ObjectClass::Member& member : known.members()) {
    PushMethod(L, member.method);
    lua_setfield(L, member.name.compare(0, 2, "__") == 0 ? -3 : -2, member.name.c_str());
  }
  lua_setfield(L, -2, "__index");
  lua_pushcfunction(L, Collect);
  lua_setfield(L, -2, "__gc");
  lua_pushstring(L, known.name().c_str());
  lua_setfield(L, -2, "__name");
  lua_pushstring(L, known.name().c_str());
  lua_setfield(L, -2, "__metatable");
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &known);
}

}  // namespace

ObjectClass::ObjectClass(const std::shared_ptr<Gate>& gate, ClassDraft&& draft)
    : gate_(gate), name_(std::move(draft.name)), type_(draft.type) {
  for (auto& [name, method] : draft.methods) {
    members_.push_back({std::move(name), {*gate_, this, std::move(method)}});
  }
}

SharedObject* ToObject(lua_State* L, int index) {
  const Box* const box = ToBox(L, index);
  return box == nullptr ? nullptr : box->object;
}

void PushObject(lua_State* L, SharedObject& object) {
  core::PushWeakTable(L, &kMark, "v");
  lua_rawgetp(L, -1, &object);
  // As with all handles, one may stand here that has been collected: see bindings/lua/handles.cc.
  const auto* const known = static_cast<const Box*>(lua_touserdata(L, -1));
  if (known == nullptr || known->object != &object) {
    lua_pop(L, 1);
    core::StateRecord& record = core::RecordOf(L);
    if (record.is_closing) luaL_error(L, "no handle can be made: the process has ended");
    auto* const box = static_cast<Box*>(lua_newuserdatauv(L, sizeof(Box), 0));
    box->mark = &kMark;
    box->object = nullptr;
    PushMetatable(L, *object.of());
    lua_setmetatable(L, -2);
    object.AddRef();
    box->object = &object;
    ++record.handles;
    lua_pushvalue(L, -1);
    lua_rawsetp(L, -3, &object);
  }
  lua_remove(L, -2);
}

Object WrapObject(const std::shared_ptr<const ObjectClass>& known,
                  std::shared_ptr<void> pointer) noexcept {
  if (known == nullptr || pointer == nullptr) return Object();
  const Entry entry(known->gate());
  if (!entry) return Object();
  auto made =
      core::Ref<core::RefCounted>::Adopt(core::TryNew<SharedObject>(known, std::move(pointer)));
  if (!made) return Object();
  return Object(Cell::MakeHandle(known->gate(), std::move(made)));
}

}  // namespace embed

}  // namespace shoal
