// SPDX-License-Identifier: MIT
// A Message is an immutable tuple of values, outside any lua_State: bytes and counted references.
//
// What the bytes mean is said in runtime/message/wire.h; the codec in runtime/lua writes and reads
// them. References (to channels, processes, …) stand beside the bytes in the order of their use.
//
// Threads:   immutable after it was made; one owner at a time moves it along.
// Ownership: MessagePtr owns one; a MessageList owns those that stand in it. A message holds its
//            references, except those released by ReleaseSelfReferences.
//
// Memory: all small messages take nodes of one size. A thread keeps up to 64 free ones for those
// that it makes next, since malloc and free cost more than all else that is done for a message;
// what goes beyond is freed, so a thread that only receives keeps no more than that. Builds with a
// sanitizer keep none, for it to see each use after the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "runtime/base/ref_counted.h"

namespace shoal::core {

class Message;
struct MessageDeleter {
  void operator()(Message* message) const;
};
using MessagePtr = std::unique_ptr<Message, MessageDeleter>;

class Message {
 public:
  // What fits the smallest node: bytes, and 8 more for each reference.
  static constexpr std::size_t kInlineBytes = 112;
  static constexpr std::size_t kNodeSize = 128;

  // Copies `bytes`, and adds a reference for each of `references`. nullptr if memory is short.
  // One allocation; up to 112 bytes in all fit a node of 128.
  static MessagePtr New(std::span<const std::byte> bytes, std::span<RefCounted* const> references);

  // A message without references whose maker writes its bytes in place: at most kInlineBytes to
  // draft(), then Finish. nullptr if memory is short.
  static MessagePtr NewDraft();
  [[nodiscard]] std::byte* draft() { return storage(); }
  void Finish(std::size_t size) { size_ = size; }

  // As New, without a copy: `memory` is a block of malloc with kHeaderRoom bytes for the message
  // and then its `size` bytes. The message takes it over. nullptr if memory is short: then the
  // block still belongs to the caller.
  static constexpr std::size_t kHeaderRoom = 16;
  static MessagePtr Adopt(void* memory, std::size_t size, std::span<RefCounted* const> references);

  [[nodiscard]] std::span<const std::byte> bytes() const { return {storage(), size_}; }
  [[nodiscard]] std::span<RefCounted* const> references() const {
    return {reference_array(), reference_count_};
  }

  // Bytes of memory that the message takes, for budgets: with those of the buffers that it refers
  // to, as if they were its own.
  [[nodiscard]] std::size_t footprint() const {
    return block_size() + (refers_to_buffers_ != 0 ? BufferBytes() : 0);
  }

  // A message that goes into the channel `self` must not keep that channel alive: its references
  // to `self` are no longer counted, until RestoreSelfReferences when it leaves the channel, or
  // ForgetSelfReferences when it is dropped there (then they are null).
  // REQUIRES: the caller holds a reference to `self` during the call (not for Forget…).
  void ReleaseSelfReferences(RefCounted* self);
  void RestoreSelfReferences(RefCounted* self);
  void ForgetSelfReferences(RefCounted* self);

 private:
  friend class MessageList;
  friend struct MessageDeleter;
  friend class NumberMessage;

  Message() = default;
  [[nodiscard]] std::size_t block_size() const {
    const std::size_t content = ReferenceOffset(size_) + reference_count_ * sizeof(RefCounted*);
    return sizeof(Message) + (content < kInlineBytes ? kInlineBytes : content);
  }
  [[nodiscard]] std::size_t BufferBytes() const;
  // All but the bytes. Returns this.
  Message* Fill(std::size_t size, std::span<RefCounted* const> references);
  [[nodiscard]] const std::byte* storage() const {
    return reinterpret_cast<const std::byte*>(this + 1);
  }
  [[nodiscard]] std::byte* storage() { return reinterpret_cast<std::byte*>(this + 1); }
  [[nodiscard]] RefCounted* const* reference_array() const {
    return reinterpret_cast<RefCounted* const*>(storage() + ReferenceOffset(size_));
  }
  // The references stand behind the bytes, aligned.
  static constexpr std::size_t ReferenceOffset(std::size_t size) {
    return (size + alignof(RefCounted*) - 1) & ~(alignof(RefCounted*) - 1);
  }

  // The header is 16 bytes: sizes beyond these widths are refused by New like a lack of memory.
  static constexpr int kSizeBits = 40;
  static constexpr int kReferenceBits = 23;
  Message* next_ = nullptr;  // in a MessageList
  std::uint64_t size_ : kSizeBits = 0;
  std::uint64_t reference_count_ : kReferenceBits = 0;
  std::uint64_t refers_to_buffers_ : 1 = 0;
};
static_assert(sizeof(Message) == Message::kHeaderRoom);

// A FIFO of messages; the links stand in them.
class MessageList {
 public:
  MessageList() = default;
  MessageList(MessageList&& other) noexcept
      : first_(std::exchange(other.first_, nullptr)),
        last_(std::exchange(other.last_, nullptr)),
        count_(std::exchange(other.count_, 0)),
        footprint_(std::exchange(other.footprint_, 0)) {}
  MessageList& operator=(MessageList&& other) noexcept {
    if (this != &other) {
      Clear();
      Append(std::move(other));
    }
    return *this;
  }
  ~MessageList() { Clear(); }  // frees what stands in it

  [[nodiscard]] bool empty() const { return first_ == nullptr; }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] Message* front() const { return first_; }
  [[nodiscard]] static Message* Next(const Message& message) { return message.next_; }
  void PushBack(MessagePtr message) {
    Message* added = message.release();
    added->next_ = nullptr;
    (first_ == nullptr ? first_ : last_->next_) = added;
    last_ = added;
    ++count_;
    footprint_ += added->footprint();
  }
  void PushFront(MessagePtr message);
  MessagePtr PopFront();              // nullptr if empty
  void Append(MessageList&& other) {  // O(1)
    if (other.first_ == nullptr) return;
    (first_ == nullptr ? first_ : last_->next_) = other.first_;
    last_ = std::exchange(other.last_, nullptr);
    other.first_ = nullptr;
    count_ += std::exchange(other.count_, 0);
    footprint_ += std::exchange(other.footprint_, 0);
  }
  MessageList TakeFirst(std::size_t count);  // at most `count`
  // As Append(other.TakeFirst(count)).
  void AppendFirst(MessageList& other, std::size_t count) {
    if (count >= other.count_) return Append(std::move(other));
    Append(other.TakeFirst(count));
  }
  [[nodiscard]] std::size_t footprint() const { return footprint_; }  // sum over its messages
  void Clear() {
    if (first_ != nullptr) ClearSome();
  }

 private:
  void ClearSome();

  Message* first_ = nullptr;
  Message* last_ = nullptr;
  std::size_t count_ = 0;
  std::size_t footprint_ = 0;
};

}  // namespace shoal::core
