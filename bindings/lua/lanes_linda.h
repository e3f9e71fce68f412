// SPDX-License-Identifier: MIT
// A Linda is the channel of the module `lanes`: a channel with a name, that can be cancelled and
// used again, and whose keys can be restricted. Its methods are those of Lanes; bindings/README.md
// has what differs.
//
// Threads:   any thread may call any member of Linda; the functions of Lua, the owner of the
//            process.
// Ownership: shared by its handles and by messages.
// Locks:     mu_ (kLeaf).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <lua.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/base/mutex.h"
#include "runtime/base/ref_counted.h"
#include "runtime/channel/channel.h"

namespace shoal::bindings {

// Whose conventions hold for what calls return.
enum class LanesApi : std::uint8_t { k3 = 3, k4 = 4 };

// What may be done under a key; the order is that of kRestrictions.
enum class Restriction : std::uint8_t { kNone, kSetGet, kSendReceive };
inline constexpr const char* kRestrictions[] = {"none", "set/get", "send/receive", nullptr};

// Which waits a cancel ends; the order is that of kCancelHints.
enum class CancelHint : std::uint8_t { kRead, kWrite, kBoth, kNone };

class Linda final : public core::RefCounted {
 public:
  struct Options {
    std::string name;
    LanesApi api = LanesApi::k4;
    bool verbose = false;  // errors say where the value stands that cannot be sent
  };

  // `control` is a channel of its own, in which nothing is ever sent.
  Linda(core::Ref<core::Channel> channel, core::Ref<core::Channel> control, Options options)
      : RefCounted(Kind::kLinda),
        channel_(std::move(channel)),
        control_(std::move(control)),
        options_(std::move(options)) {}

  [[nodiscard]] core::Channel& channel() const { return *channel_; }
  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] bool is_v4() const { return options_.api == LanesApi::k4; }

  // --- Cancelling: all calls but a few return at once while it lasts.

  [[nodiscard]] bool cancelled() const { return (state_.load() & 1) != 0; }
  // Begins it and ends the waits of that kind; kNone ends it.
  void Cancel(CancelHint hint);
  // A wait ends when the key `CancelKey` of the channel `control` is closed. Taken before the look
  // at cancelled(): a cancel between the two, or behind both, closes that key.
  enum class Wait : std::uint8_t { kRead, kWrite };
  [[nodiscard]] core::Channel& control() const { return *control_; }
  [[nodiscard]] core::KeyName CancelKey(Wait wait) const { return KeyOf(state_.load() >> 1, wait); }

  // --- Keys. Lanes lists the keys that have been used, also when they are empty.

  // More than these are forgotten, so that a linda with ever new keys does not grow.
  static constexpr std::size_t kMostNotes = 1000;
  // The key has been used. May throw bad_alloc.
  void Note(const core::KeyName& key) SHOAL_EXCLUDES_LOCK(mu_);
  [[nodiscard]] bool IsNoted(const core::KeyName& key) SHOAL_EXCLUDES_LOCK(mu_);
  // Those that have been used, and those under which something stands. May throw bad_alloc.
  [[nodiscard]] std::vector<core::StoredKeyName> Keys() SHOAL_EXCLUDES_LOCK(mu_);
  [[nodiscard]] Restriction restriction(const core::KeyName& key) SHOAL_EXCLUDES_LOCK(mu_);
  // May throw bad_alloc.
  void Restrict(const core::KeyName& key, Restriction restriction) SHOAL_EXCLUDES_LOCK(mu_);

 private:
  struct Hash {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): of the standard
    std::size_t operator()(const core::KeyName& name) const { return name.Hash(); }
    std::size_t operator()(const core::StoredKeyName& name) const { return name.view().Hash(); }
  };
  struct Equal {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): of the standard
    static core::KeyName View(const core::KeyName& name) { return name; }
    static core::KeyName View(const core::StoredKeyName& name) { return name.view(); }
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return View(a) == View(b);
    }
  };

  static core::KeyName KeyOf(std::uint64_t generation, Wait wait) {
    return core::KeyName::Integer(
        static_cast<std::int64_t>(generation * 2 + (wait == Wait::kWrite ? 1 : 0)));
  }

  const core::Ref<core::Channel> channel_;
  const core::Ref<core::Channel> control_;
  const Options options_;
  // The number of cancels that have ended, and in the lowest bit whether one lasts. A waiter reads
  // it before it waits; the key that a cancel closes afterwards is what wakes it.
  std::atomic<std::uint64_t> state_{0};
  core::Mutex mu_{core::LockRank::kLeaf};
  std::unordered_map<core::StoredKeyName, Restriction, Hash, Equal> notes_ SHOAL_GUARDED_BY(mu_);
  std::atomic<bool> restricts_{false};  // a hint: some key is restricted, or was
};

// --- Handles: one full userdata for each linda and state.

// The linda of the handle at `index`, or nullptr.
Linda* ToLinda(lua_State* L, int index);
// Raises if argument 1 is none. [-0, +0, v]
Linda& CheckLinda(lua_State* L);
// [-0, +1, m]
void PushLinda(lua_State* L, Linda& linda);
// (options): a new one: name (a string), api (3 or 4), verbose; close_handler, a function that is
// called where the scope of a `<close>` variable is left, in this state. [-0, +1, v]
int NewLinda(lua_State* L);

// --- Arguments and results.

// The slot at `index`; a number needs a timeout before it, see TakeTimeout. Raises as Lanes does.
core::KeyName CheckSlot(lua_State* L, const Linda& linda, int index);
// The timeout at index 2, if it is a number or nil: returns the index behind it. [-0, +0, v]
int TakeTimeout(lua_State* L, const Linda& linda, core::Duration* timeout);
// The linda is cancelled, or this lane has been asked to end.
bool IsCancelled(lua_State* L, const Linda& linda);
// What a call returns that finds it so: [nil,] cancel_error. [-0, +n, -]
int PushCancelError(lua_State* L, const Linda& linda);
// Raises "Key is restricted" if the key is for the other kind of calls. [-0, +0, e]
void CheckRestriction(lua_State* L, Linda& linda, const core::KeyName& key, Restriction use);
// Notes the key; raises for lack of memory. [-0, +0, e]
void NoteKey(lua_State* L, Linda& linda, const core::KeyName& key);
// Encodes the values from `first` on, each as a message, into a box that it leaves on the top.
// lanes.null is nil. `count` may be larger than their number: the rest is nil. Raises what Lanes
// says of values that cannot travel. [-0, +1, e]
core::MessageList& EncodeValues(lua_State* L, const Linda& linda, int first, int count);

// --- Methods. lanes_linda_wait.cc, lanes_linda_store.cc.

int LindaSend(lua_State* L);
int LindaReceive(lua_State* L);
int LindaReceiveBatched(lua_State* L);
int LindaSet(lua_State* L);
int LindaGet(lua_State* L);
int LindaLimit(lua_State* L);
int LindaRestrict(lua_State* L);
int LindaCount(lua_State* L);
int LindaDump(lua_State* L);

}  // namespace shoal::bindings
