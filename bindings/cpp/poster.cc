// SPDX-License-Identifier: MIT
#include <shoal/poster.h>

#include <new>
#include <utility>

#include "bindings/cpp/cell.h"
#include "bindings/cpp/outcome.h"
#include "bindings/cpp/poster_state.h"
#include "bindings/cpp/value_writer.h"
#include "runtime/base/enough_memory.h"
#include "runtime/channel/channel.h"

namespace shoal {

using embed::Entry;
using embed::PosterState;

namespace embed {

PosterState::PosterState(Channel channel, const core::KeyName& key, std::size_t places)
    : channel_(std::move(channel)), key_(key), places_(std::make_unique<Place[]>(places)) {
  for (std::size_t i = 0; i < places; ++i) Return(places_[i]);
}

void PosterState::Post(std::span<const Value> values) {
  const Entry entry(channel_, Handle::Kind::kChannel);
  if (!entry) return;
  Place* const place = values.empty() || values[0].is_nil() ? nullptr : Take();
  if (place == nullptr) return CountLost();
  place->size = EncodeShort(values, place->bytes.data());
  if (place->size == 0) {
    Error error;
    place->message = EncodeValues(values, entry.gate(), &error);
    if (place->message == nullptr) {
      Return(*place);
      return CountLost();
    }
  }
  place->owner = this;
  AddRef();
  entry.gate().runtime().RunSoon(*place);
}

PosterState::Place* PosterState::Take() {
  Place* place = free_.load(std::memory_order_acquire);
  while (place != nullptr &&
         !free_.compare_exchange_weak(place, place->next, std::memory_order_acquire)) {
  }
  if (place != nullptr) return place;
  place = new (std::nothrow) Place();
  if (place != nullptr) place->is_extra = true;
  return place;
}

void PosterState::Return(Place& place) {
  if (place.is_extra) {
    delete &place;
    return;
  }
  Place* first = free_.load(std::memory_order_relaxed);
  do {
    place.next = first;
  } while (!free_.compare_exchange_weak(first, &place, std::memory_order_release));
}

void PosterState::Place::Run() {
  // The last reference may be the one that this place has.
  const auto kept = core::Ref<PosterState>::Adopt(owner);
  owner = nullptr;
  kept->Send(*this);
  kept->Return(*this);
}

void PosterState::Send(Place& place) {
  core::MessagePtr message = std::move(place.message);
  const Entry entry(channel_, Handle::Kind::kChannel);
  // The runtime ends: what was posted just before does not arrive.
  if (!entry) return;
  if (place.size != 0) {
    message = core::Message::New(
        {reinterpret_cast<const std::byte*>(place.bytes.data()), place.size}, {});
  }
  if (message == nullptr) return CountLost();
  core::MessageList messages;
  messages.PushBack(std::move(message));
  const core::Status status = entry.object<core::Channel>().SendAnyway(key_.view(), messages);
  if (status != core::Status::kOk) CountLost();
}

}  // namespace embed

Poster::Poster(const Channel& channel, const Key& key, std::size_t places) noexcept {
  const Entry entry(channel, Handle::Kind::kChannel);
  core::KeyName name = core::KeyName::Boolean(false);
  error_ = entry ? embed::ToKeyName(key, entry.gate(), &name) : entry.error();
  if (error_.status() == Status::kOk && name.kind == core::KeyName::Kind::kHandle) {
    // It would be kept beyond the end of the runtime.
    error_ = Error(Status::kMisuse, "the key of a Poster must not be a handle");
  }
  if (error_.status() != Status::kOk) return;
  state_ = core::TryNew<PosterState>(channel, name, places);
  if (state_ == nullptr) error_ = Status::kNoMemory;
}

Poster::Poster(Poster&& other) noexcept
    : state_(std::exchange(other.state_, nullptr)), error_(std::move(other.error_)) {}

Poster& Poster::operator=(Poster&& other) noexcept {
  if (this == &other) return *this;
  if (state_ != nullptr) state_->Release();
  state_ = std::exchange(other.state_, nullptr);
  error_ = std::move(other.error_);
  return *this;
}

Poster::~Poster() {
  if (state_ != nullptr) state_->Release();
}

void Poster::PostValues(std::span<const Value> values) noexcept {
  if (state_ != nullptr) state_->Post(values);
}

std::uint64_t Poster::lost() const noexcept { return state_ == nullptr ? 0 : state_->lost(); }

}  // namespace shoal
