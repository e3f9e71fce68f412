// SPDX-License-Identifier: MIT
// What stands behind a Poster: places for messages, which go to and fro between the thread that
// posts and the runtime's threads that send.
//
// Threads:   Post by one at a time; Return by those that send.
// Ownership: counted by the Poster, and by each place that is on its way.
#pragma once

#include <shoal/channel.h>
#include <shoal/value.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "bindings/cpp/gate.h"
#include "runtime/base/ref_counted.h"
#include "runtime/channel/key_name.h"
#include "runtime/errands.h"
#include "runtime/message/message.h"

namespace shoal::embed {

class PosterState final : public core::RefCounted {
 public:
  // May throw std::bad_alloc.
  PosterState(Channel channel, const core::KeyName& key, std::size_t places);

  void Post(std::span<const Value> values);
  [[nodiscard]] std::uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  // A message on its way.
  class Place final : public core::Errand {
   public:
    // On a thread of the runtime: sends it, and returns the place.
    void Run() override;

    PosterState* owner = nullptr;  // counted while it is on its way
    Place* next = nullptr;         // in free_
    bool is_extra = false;         // freed when it is returned
    std::size_t size = 0;          // of what stands in `bytes`; 0: in `message`
    core::MessagePtr message;
    std::array<std::uint8_t, core::Message::kInlineBytes> bytes;
  };

  ~PosterState() override = default;
  // A free place; a new one, if all are on their way; null if memory is short.
  Place* Take();
  void Return(Place& place);
  void Send(Place& place);
  void CountLost() { lost_.fetch_add(1, std::memory_order_relaxed); }

  const Channel channel_;
  const core::StoredKeyName key_;
  const std::unique_ptr<Place[]> places_;
  // A stack. Only Post takes from it, so what is first stays there until it has been taken, and no
  // compare-and-swap is deceived. The release of Return publishes the place, the acquire of Take
  // sees it.
  std::atomic<Place*> free_{nullptr};
  std::atomic<std::uint64_t> lost_{0};  // relaxed: a number to report
};

}  // namespace shoal::embed
