// SPDX-License-Identifier: MIT
#include "runtime/process/expiry.h"

#include <utility>

#include "runtime/base/enough_memory.h"
#include "runtime/process/process.h"

namespace shoal::core {

namespace {

// Shared by the wheel, until it has fired, and by the key, until that drops it. Whoever takes the
// mark waiting_ away decides whether it fires.
class KeyExpiry final : public RefCounted, public TimerNode, public TtlTimer {
 public:
  KeyExpiry(Channel& channel, const KeyName& key, std::uint32_t generation)
      : channel_(Ref<Channel>::Share(&channel)), key_(key), generation_(generation) {}
  bool OnDue() override { return waiting_.exchange(false); }
  void Fire() override {
    // Not kept any longer: at the end of the runtime the ttl goes on, and with it this object.
    const Ref<Channel> channel = std::move(channel_);
    channel->ExpireNow(key_.view(), generation_);
    Release();
  }
  void Drop() override {
    if (waiting_.exchange(false)) {
      TimerWheel::Disarm(*this);
      Release();
    }
    Release();
  }

 private:
  Ref<Channel> channel_;
  const StoredKeyName key_;
  const std::uint32_t generation_;
  // Publishes nothing.
  std::atomic<bool> waiting_{true};
};

}  // namespace

Expiries::~Expiries() {
  ended_.store(true, std::memory_order_relaxed);
  // All of them: their time has come with the end of the runtime.
  wheel_.Advance(kNever - std::chrono::hours(1));
}

void Expiries::Arm(Channel& channel, const KeyName& key, TimePoint at, std::uint32_t generation) {
  if (at == kNever) return;
  auto* expiry = TryNew<KeyExpiry>(channel, key, generation);
  if (expiry == nullptr) return;
  // For the key. It is armed before the key has it, since it can be dropped from then on.
  expiry->AddRef();
  wheel_.Arm(*expiry, at);
  if (!channel.KeepTimer(key, generation, *expiry)) expiry->Drop();
}

void ArmExpiry(lua_State* L, Channel& channel, const KeyName& key, TimePoint at,
               std::uint32_t generation) {
  Machine& machine = Process::Of(L).machine();
  machine.expiries.Arm(channel, key, at, generation);
  machine.NoteDeadline(at);
}

}  // namespace shoal::core
