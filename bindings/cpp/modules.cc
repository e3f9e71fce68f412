// SPDX-License-Identifier: MIT
#include "bindings/cpp/modules.h"

#include <new>
#include <utility>
#include <variant>

#include "bindings/cpp/value_writer.h"
#include "runtime/base/enough_memory.h"
#include "runtime/lua/codec.h"
#include "runtime/message/wire.h"

namespace shoal::embed {

using core::MessagePtr;

// A name in a module, or a global.
struct Modules::Member {
  std::string name;
  MessagePtr value;                        // one value; null: it is
  std::unique_ptr<HostFunction> function;  // … a function
};

struct Modules::Entry {
  enum class Kind : std::uint8_t { kOpen, kSource, kTable, kGlobal };
  Kind kind;
  std::string name;
  lua_CFunction open = nullptr;  // kOpen
  std::string source;            // kSource
  std::list<Member> members;     // kTable; kGlobal: one
  std::atomic<Entry*> next{nullptr};
};

Modules::Modules() = default;

Modules::~Modules() {
  Entry* next = first_.load(std::memory_order_relaxed);
  while (next != nullptr) {
    const std::unique_ptr<Entry> entry(next);
    next = entry->next.load(std::memory_order_relaxed);
  }
}

// Adding ------------------------------------------------------------------------------------------

Error Modules::Publish(std::unique_ptr<Entry> entry) {
  if (entry->name.empty()) return Error(Status::kMisuse, "a name must not be empty");
  if (entry->kind != Entry::Kind::kGlobal &&
      (entry->name == "shoal" || entry->name.compare(0, 6, "shoal.") == 0)) {
    return Error(Status::kMisuse, "modules named 'shoal' and 'shoal.…' are the library's own");
  }
  core::MutexLock lock(mu_);
  if (entry->kind != Entry::Kind::kGlobal) {
    for (Entry* known = first_.load(std::memory_order_relaxed); known != nullptr;
         known = known->next.load(std::memory_order_relaxed)) {
      if (known->kind != Entry::Kind::kGlobal && known->name == entry->name) {
        return Error(Status::kExists, "there is a module of that name already");
      }
    }
  }
  Entry* const added = entry.release();
  end_->store(added, std::memory_order_release);
  end_ = &added->next;
  return Status::kOk;
}

Error Modules::MakeMember(Gate& gate, std::string name, Module::Member&& from, Member* member) {
  member->name = std::move(name);
  if (auto* value = std::get_if<Value>(&from)) {
    Error error;
    member->value = EncodeValues({value, 1}, gate, &error);
    if (member->value == nullptr) return error;
    const auto flags = static_cast<std::uint8_t>(member->value->bytes()[0]);
    if ((flags & core::wire::kNeedsModules) != 0) {
      return Error(Status::kWrongType, "'" + member->name + "' is a value of a Lua module");
    }
    return Status::kOk;
  }
  auto made = std::make_unique<HostFunction>(HostFunction{gate, member->name, nullptr, nullptr});
  if (auto* function = std::get_if<Function>(&from)) {
    made->function = std::move(*function);
  } else {
    made->later = std::move(std::get<Module::Later>(from).function);
  }
  if (!made->function && !made->later) {
    return Error(Status::kMisuse, "the function '" + member->name + "' is empty");
  }
  member->function = std::move(made);
  return Status::kOk;
}

Error Modules::Add(std::string name, lua_CFunction open) {
  if (open == nullptr) return Error(Status::kMisuse, "the function of a module must not be null");
  auto entry = std::make_unique<Entry>();
  entry->kind = Entry::Kind::kOpen;
  entry->name = std::move(name);
  entry->open = open;
  return Publish(std::move(entry));
}

Error Modules::AddSource(std::string name, std::string source) {
  auto entry = std::make_unique<Entry>();
  entry->kind = Entry::Kind::kSource;
  entry->name = std::move(name);
  entry->source = std::move(source);
  return Publish(std::move(entry));
}

Error Modules::Add(Gate& gate, Module&& module) {
  auto entry = std::make_unique<Entry>();
  entry->kind = Entry::Kind::kTable;
  entry->name = module.name();
  for (auto& [name, from] : module.members()) {
    Error error = MakeMember(gate, name, std::move(from), &entry->members.emplace_back());
    if (error.status() != Status::kOk) return error;
  }
  return Publish(std::move(entry));
}

Error Modules::SetGlobal(Gate& gate, std::string name, Module::Member&& member) {
  auto entry = std::make_unique<Entry>();
  entry->kind = Entry::Kind::kGlobal;
  entry->name = name;
  Error error =
      MakeMember(gate, std::move(name), std::move(member), &entry->members.emplace_back());
  if (error.status() != Status::kOk) return error;
  return Publish(std::move(entry));
}

std::shared_ptr<const ObjectClass> Modules::Add(Gate& gate, ClassDraft&& draft) {
  auto made = std::make_shared<const ObjectClass>(gate.shared_from_this(), std::move(draft));
  core::MutexLock lock(mu_);
  classes_.push_back(made);
  return made;
}

void Modules::Drop() {
  for (Entry* entry = first_.load(); entry != nullptr; entry = entry->next.load()) {
    for (Member& member : entry->members) member.value.reset();
  }
}

// In states ---------------------------------------------------------------------------------------

namespace {

int LoadedSource(lua_State* L, int /*status*/, lua_KContext /*context*/) {
  return lua_gettop(L) - 1;
}

}  // namespace

// Called by `require` with the name; upvalue: the entry. What the module does may wait.
int Modules::LoadSource(lua_State* L) {
  const auto& entry = *static_cast<const Entry*>(lua_touserdata(L, lua_upvalueindex(1)));
  lua_settop(L, 2);
  lua_pushfstring(L, "@%s", entry.name.c_str());
  lua_replace(L, 1);
  if (luaL_loadbufferx(L, entry.source.data(), entry.source.size(), lua_tostring(L, 1), "bt") !=
      LUA_OK) {
    return lua_error(L);
  }
  lua_insert(L, 2);
  lua_pushstring(L, entry.name.c_str());
  lua_insert(L, 3);
  lua_callk(L, 2, LUA_MULTRET, 0, LoadedSource);
  return LoadedSource(L, LUA_OK, 0);
}

void Modules::PushMember(lua_State* L, const Member& member) {
  if (member.function != nullptr) return PushFunction(L, *member.function);
  // None, at the very end.
  if (member.value == nullptr) return lua_pushnil(L);
  core::Decode(L, *member.value);
}

int Modules::LoadTable(lua_State* L) {
  const auto& entry = *static_cast<const Entry*>(lua_touserdata(L, lua_upvalueindex(1)));
  lua_createtable(L, 0, static_cast<int>(entry.members.size()));
  for (const Member& member : entry.members) {
    PushMember(L, member);
    lua_setfield(L, -2, member.name.c_str());
  }
  return 1;
}

void Modules::Open(lua_State* L) const {
  const Entry* entry = first_.load(std::memory_order_acquire);
  if (entry == nullptr) return;
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  for (; entry != nullptr; entry = entry->next.load(std::memory_order_acquire)) {
    switch (entry->kind) {
      case Entry::Kind::kGlobal:
        PushMember(L, entry->members.front());
        lua_setglobal(L, entry->name.c_str());
        continue;
      case Entry::Kind::kOpen:
        lua_pushcfunction(L, entry->open);
        break;
      case Entry::Kind::kSource:
      case Entry::Kind::kTable:
        lua_pushlightuserdata(L, const_cast<Entry*>(entry));
        lua_pushcclosure(L, entry->kind == Entry::Kind::kSource ? LoadSource : LoadTable, 1);
        break;
    }
    lua_setfield(L, -2, entry->name.c_str());
  }
  lua_pop(L, 1);
}

}  // namespace shoal::embed
