// SPDX-License-Identifier: MIT
// What the program adds to what processes find: modules for `require`, and globals.
//
// Threads: any thread may add; Open by those that make states, at the same time. A process has what
//          had been added when its state was made.
// Locks:   mu_ (kLeaf), for those that add.
#pragma once

#include <shoal/module.h>
#include <shoal/object.h>
#include <shoal/result.h>
#include <shoal/value.h>

#include <atomic>
#include <list>
#include <lua.hpp>
#include <memory>
#include <string>

#include "bindings/cpp/function_call.h"
#include "bindings/cpp/gate.h"
#include "bindings/cpp/objects.h"
#include "runtime/base/lock_rank.h"
#include "runtime/base/mutex.h"

namespace shoal::embed {

class Modules {
 public:
  Modules();
  ~Modules();
  Modules(const Modules&) = delete;
  Modules& operator=(const Modules&) = delete;

  // Inside the gate; they may throw std::bad_alloc. kOk; kExists: there is one of that name;
  // kMisuse, kNoMemory.
  Error Add(std::string name, lua_CFunction open);
  Error AddSource(std::string name, std::string source);
  Error Add(Gate& gate, Module&& module);
  // A global of that name, in place of an older one: a value, or a function.
  Error SetGlobal(Gate& gate, std::string name, Module::Member&& member);
  std::shared_ptr<const ObjectClass> Add(Gate& gate, ClassDraft&& draft);

  // A new state, whose libraries have been opened. [-0, +0, e]
  void Open(lua_State* L) const;

  // No process runs any more: what refers to things of the runtime goes.
  void Drop();

 private:
  struct Member;
  struct Entry;

  static int LoadSource(lua_State* L);
  static int LoadTable(lua_State* L);
  static void PushMember(lua_State* L, const Member& member);
  static void SetPath(lua_State* L, const Entry& entry);

  Error Publish(std::unique_ptr<Entry> entry);
  [[nodiscard]] static Error MakeMember(Gate& gate, std::string name, Module::Member&& from,
                                        Member* member);

  core::Mutex mu_{core::LockRank::kLeaf};
  // In the order in which they were added. Entries stay; their links are written once, with
  // release, which publishes the entry to the acquire in Open.
  std::atomic<Entry*> first_{nullptr};
  std::atomic<Entry*>* end_ SHOAL_GUARDED_BY(mu_) = &first_;
  std::list<std::shared_ptr<const ObjectClass>> classes_ SHOAL_GUARDED_BY(mu_);
};

}  // namespace shoal::embed
