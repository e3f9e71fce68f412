// SPDX-License-Identifier: MIT
#include "runtime/message/message.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "runtime/message/buffer.h"

namespace shoal::core {

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SHOAL_KEEPS_NODES 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SHOAL_KEEPS_NODES 0
#endif
#endif
#ifndef SHOAL_KEEPS_NODES
#define SHOAL_KEEPS_NODES 1
#endif

// The free nodes of this thread, a stack. It has no destructor: so each use is a few instructions,
// without asking whether it was initialised. FreeNodesEnd is registered by the first node.
struct FreeNode {
  FreeNode* next;
};
struct FreeNodes {
  FreeNode* first;
  std::uint32_t count;
  std::uint32_t room;  // 0 before the first node, and again when the thread ends
};
constexpr std::uint32_t kMaxFreeNodes = SHOAL_KEEPS_NODES == 1 ? 64 : 0;
constinit thread_local FreeNodes free_nodes = {nullptr, 0, 0};

struct FreeNodesEnd {
  FreeNodesEnd() { free_nodes.room = kMaxFreeNodes; }
  ~FreeNodesEnd() {
    free_nodes.room = 0;
    while (FreeNode* node = free_nodes.first) {
      free_nodes.first = node->next;
      std::free(node);
    }
    free_nodes.count = 0;
  }
};

// There is no room: or this is the first one.
[[gnu::noinline]] void PassNode(void* memory) {
  // Constructed once; a later call, also one in the middle of the thread's end, only frees.
  thread_local FreeNodesEnd end;
  static_cast<void>(end);
  std::free(memory);
}

void FreeNodeMemory(void* memory) {
  FreeNodes& nodes = free_nodes;
  if (nodes.count == nodes.room) return PassNode(memory);
  nodes.first = new (memory) FreeNode{nodes.first};
  ++nodes.count;
}

void* NewNodeMemory() {
  FreeNodes& nodes = free_nodes;
  FreeNode* const node = nodes.first;
  if (node == nullptr) return std::malloc(Message::kNodeSize);
  nodes.first = node->next;
  --nodes.count;
  return node;
}

}  // namespace

void MessageDeleter::operator()(Message* message) const {
  const bool is_node = message->block_size() == Message::kNodeSize;
  for (RefCounted* reference : message->references()) {
    if (reference != nullptr) reference->Release();
  }
  message->~Message();
  if (is_node) {
    FreeNodeMemory(message);
  } else {
    std::free(message);
  }
}

MessagePtr Message::NewDraft() {
  void* memory = NewNodeMemory();
  return MessagePtr(memory == nullptr ? nullptr : new (memory) Message);
}

Message* Message::Fill(std::size_t size, std::span<RefCounted* const> references) {
  size_ = size;
  reference_count_ = references.size();
  auto** copy = reinterpret_cast<RefCounted**>(storage() + ReferenceOffset(size));
  for (RefCounted* reference : references) {
    if (reference != nullptr) {
      reference->AddRef();
      if (reference->kind() == RefCounted::Kind::kBuffer) refers_to_buffers_ = 1;
    }
    *copy++ = reference;
  }
  return this;
}

std::size_t Message::BufferBytes() const {
  std::size_t bytes = 0;
  for (const RefCounted* reference : references()) {
    if (reference == nullptr || reference->kind() != RefCounted::Kind::kBuffer) continue;
    bytes += static_cast<const Buffer*>(reference)->size();
  }
  return bytes;
}

MessagePtr Message::New(std::span<const std::byte> bytes, std::span<RefCounted* const> references) {
  if (bytes.size() >> kSizeBits != 0 || references.size() >> kReferenceBits != 0) return nullptr;
  const std::size_t content = ReferenceOffset(bytes.size()) + references.size_bytes();
  // All small messages have one size: nodes serve all of them, and a number can be written over
  // another.
  void* memory = content <= kInlineBytes ? NewNodeMemory() : std::malloc(sizeof(Message) + content);
  if (memory == nullptr) return nullptr;
  auto* message = new (memory) Message;
  if (!bytes.empty()) std::memcpy(message->storage(), bytes.data(), bytes.size());
  return MessagePtr(message->Fill(bytes.size(), references));
}

MessagePtr Message::Adopt(void* memory, std::size_t size, std::span<RefCounted* const> references) {
  if (size >> kSizeBits != 0 || references.size() >> kReferenceBits != 0) return nullptr;
  const std::size_t content = ReferenceOffset(size) + references.size_bytes();
  memory = std::realloc(memory, sizeof(Message) + std::max(content, kInlineBytes));
  if (memory == nullptr) return nullptr;
  return MessagePtr((new (memory) Message)->Fill(size, references));
}

void Message::ReleaseSelfReferences(RefCounted* self) {
  for (RefCounted* reference : references()) {
    if (reference == self) self->Release();
  }
}

void Message::RestoreSelfReferences(RefCounted* self) {
  for (RefCounted* reference : references()) {
    if (reference == self) self->AddRef();
  }
}

void Message::ForgetSelfReferences(RefCounted* self) {
  auto** array = const_cast<RefCounted**>(reference_array());
  std::replace(array, array + reference_count_, self, static_cast<RefCounted*>(nullptr));
}

void MessageList::PushFront(MessagePtr message) {
  Message* added = message.release();
  added->next_ = first_;
  if (first_ == nullptr) last_ = added;
  first_ = added;
  ++count_;
  footprint_ += added->footprint();
}

MessagePtr MessageList::PopFront() {
  Message* front = first_;
  if (front == nullptr) return nullptr;
  first_ = front->next_;
  if (first_ == nullptr) last_ = nullptr;
  front->next_ = nullptr;
  --count_;
  footprint_ -= front->footprint();
  return MessagePtr(front);
}

MessageList MessageList::TakeFirst(std::size_t count) {
  if (count >= count_) return std::move(*this);
  MessageList taken;
  if (count == 0) return taken;
  taken.first_ = first_;
  for (std::size_t i = 0; i < count; ++i) {
    taken.last_ = first_;
    taken.footprint_ += first_->footprint();
    first_ = first_->next_;
  }
  taken.last_->next_ = nullptr;
  taken.count_ = count;
  count_ -= count;
  footprint_ -= taken.footprint_;
  return taken;
}

void MessageList::ClearSome() {
  Message* message = std::exchange(first_, nullptr);
  last_ = nullptr;
  count_ = 0;
  footprint_ = 0;
  while (message != nullptr) {
    // MessagePtr frees it.
    const MessagePtr dropped(std::exchange(message, message->next_));
  }
}

}  // namespace shoal::core
