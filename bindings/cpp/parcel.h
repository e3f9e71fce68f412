// SPDX-License-Identifier: MIT
// A Parcel is a message that holds values which mean something in Lua only. They are sent on from
// its bytes; handles in it are kept by cells, like all that stands outside.
//
// Threads: immutable.
#pragma once

#include <shoal/handle.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/lua/wire_bytes.h"

namespace shoal::embed {

class Parcel {
 public:
  Parcel() = default;
  Parcel(const Parcel&) = delete;
  Parcel& operator=(const Parcel&) = delete;

  // Copies the bytes of a message, of which the values are `values`. False: it is malformed. May
  // throw std::bad_alloc.
  [[nodiscard]] bool Fill(std::span<const std::byte> message, const core::WireReader& values);
  // One for each handle in the message, in their order; null ones for what is gone.
  void SetReferences(std::vector<Handle> references) { references_ = std::move(references); }

  // Places count from the first byte of the message.
  [[nodiscard]] std::uint8_t byte(std::size_t place) const { return bytes_[place]; }
  [[nodiscard]] const std::uint8_t* begin() const { return bytes_.data(); }
  [[nodiscard]] std::size_t PlaceOf(const std::uint8_t* at) const {
    return static_cast<std::size_t>(at - begin());
  }
  // Reads from there to the end of the values.
  [[nodiscard]] core::WireReader ReaderAt(std::size_t place) const {
    return {begin() + place, begin() + (place < end_ ? end_ : place)};
  }
  // Which of the handles stands at `place`, from 0. REQUIRES: there is one.
  [[nodiscard]] std::size_t HandleIndex(std::size_t place) const;
  [[nodiscard]] const std::vector<Handle>& references() const { return references_; }

 private:
  std::vector<std::uint8_t> bytes_;
  std::size_t end_ = 0;                     // of the values
  std::vector<std::size_t> handle_places_;  // ascending
  std::vector<Handle> references_;
};

// Passes over one value; notes in `handles`, if that is not null, where handles stand, counted from
// `start`. False: it is malformed. May throw std::bad_alloc.
[[nodiscard]] bool SkipValue(core::WireReader& reader, const std::uint8_t* start,
                             std::vector<std::size_t>* handles);

// How many bytes follow the tag of a value that is no object: a scalar or a string, whose tag has
// just been read. False: it is an object, a handle or a reference; or malformed.
[[nodiscard]] bool ScalarSize(std::uint8_t tag, const core::WireReader& reader, std::size_t* size);

}  // namespace shoal::embed
