// SPDX-License-Identifier: MIT
// Lookups of names: what getaddrinfo and its kin answer, which may take long. They run in the
// blocking pool, and equal ones at one time are one. What is but a number is answered at once.
//
// Threads:   a Lookup is filled on a thread of the pool, and read by all who wait for it after its
//            end; it never changes then. Functions with a lua_State, the owner of the process.
// Ownership: shared by its job, the boxes on the stacks of the calls that wait, and the Lookups.
#pragma once

#include <atomic>
#include <cstdint>
#include <lua.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "bindings/lua/socket_address.h"
#include "runtime/base/clock.h"
#include "runtime/base/mutex.h"
#include "runtime/base/ref_counted.h"
#include "runtime/base/thread_annotations.h"
#include "runtime/process/descriptor_wait.h"

namespace shoal::bindings {

struct LookupQuestion {
  enum class Kind : std::uint8_t {
    kAddresses,  // of a host and port: getaddrinfo
    kNames,      // of their addresses: getaddrinfo, then getnameinfo of each
    kHost,       // all of a host, by its name or IPv4 number: gethostbyname or gethostbyaddr
  };
  Kind kind = Kind::kAddresses;
  const char* host = nullptr;  // nullptr: none
  const char* port = nullptr;  // nullptr: none
  int family = 0;
  int type = 0;
  int flags = 0;
};

struct LookupAnswer {
  const char* error = nullptr;  // the word, static storage; nullptr: it has been found
  std::vector<Address> addresses;
  std::string name;                // kHost: the first name; kNames: that of the port
  std::vector<std::string> names;  // kHost: others; kNames: one for each address
};

class Lookup final : public core::BlockingJob {
 public:
  explicit Lookup(const LookupQuestion& question);
  void Run() override;
  // Answers a question that is but numbers; false if it is not. Never blocks. REQUIRES: nobody else
  // has it yet.
  [[nodiscard]] bool AnswerNumbers();
  // It will not be run.
  void GiveUp() { is_over_.store(true, std::memory_order_relaxed); }

  // The answer is there, or will never be.
  [[nodiscard]] bool is_over() const { return is_over_.load(std::memory_order_acquire); }
  // REQUIRES: is_over.
  [[nodiscard]] const LookupAnswer& answer() const { return answer_; }

 private:
  void FindAddresses(int more_flags);
  void FindNames();
  void FindHost();

  const LookupQuestion::Kind kind_;
  const bool has_host_;
  const bool has_port_;
  const std::string host_;
  const std::string port_;
  const int family_;
  const int type_;
  const int flags_;
  // Until it is found.
  LookupAnswer answer_{"temporary failure in name resolution", {}, {}, {}};
  // release in Run publishes answer_ to the acquire in is_over.
  std::atomic<bool> is_over_{false};
};

// The lookups of a program that have not ended, by their questions.
class Lookups {
 public:
  // The one that has this question; else a new one, which the caller starts: *is_new.
  core::Ref<Lookup> Find(const LookupQuestion& question, bool* is_new);

 private:
  core::Mutex mu_{core::LockRank::kLeaf};
  std::unordered_map<std::string, core::Ref<Lookup>> running_ SHOAL_GUARDED_BY(mu_);
};

// Pushes a box with the answer, or with the lookup that finds it. [-0, +1, e]
Lookup& PushLookup(lua_State* L, const LookupQuestion& question);
// The lookup of the box on the top.
inline Lookup& LookupOnTop(lua_State* L) { return **static_cast<Lookup**>(lua_touserdata(L, -1)); }
// Waits for its end, then calls k(L, …, context) with the stack as it is. [-0, +0, e]
int WaitForLookup(lua_State* L, Lookup& lookup, core::TimePoint deadline, lua_KContext context,
                  lua_KFunction k);
// First in `k`, with the status that it is given. The word with which the lookup has failed, or
// nullptr. Raises if the task is to end. [-0, +0, e]
const char* EndLookup(lua_State* L, Lookup& lookup, int status);

}  // namespace shoal::bindings
