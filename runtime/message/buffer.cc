// SPDX-License-Identifier: MIT
#include "runtime/message/buffer.h"

#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>

#include "runtime/base/check.h"

namespace shoal::core {

Buffer::Buffer(const std::byte* first, std::size_t size, Ref<RefCounted> owner)
    : RefCounted(Kind::kBuffer), first_(first), size_(size), owner_(std::move(owner)) {}

Ref<Buffer> Buffer::New(std::size_t size) {
  if (size > PTRDIFF_MAX - sizeof(Buffer)) return {};
  void* const block = std::malloc(sizeof(Buffer) + size);
  if (block == nullptr) return {};
  const auto* const first = static_cast<std::byte*>(block) + sizeof(Buffer);
  return Ref<Buffer>::Adopt(::new (block) Buffer(first, size, {}));
}

Ref<Buffer> Buffer::View(std::span<const std::byte> bytes, Ref<RefCounted> owner) {
  SHOAL_DCHECK(owner);
  void* const block = std::malloc(sizeof(Buffer));
  if (block == nullptr) return {};
  // Without bytes there may be no address either; then it is one that is not null.
  const std::byte* const first = bytes.empty() ? static_cast<std::byte*>(block) : bytes.data();
  return Ref<Buffer>::Adopt(::new (block) Buffer(first, bytes.size(), std::move(owner)));
}

Ref<Buffer> Buffer::Slice(std::size_t offset, std::size_t size) {
  SHOAL_DCHECK(offset <= size_ && size <= size_ - offset);
  if (size == size_) return Ref<Buffer>::Share(this);
  // Of a slice, the owner of the whole: so no chain of slices grows.
  return View(bytes().subspan(offset, size), owner_ ? owner_ : Ref<RefCounted>::Share(this));
}

// NOLINTNEXTLINE(misc-new-delete-overloads): malloc
void Buffer::operator delete(void* block) { std::free(block); }

}  // namespace shoal::core
