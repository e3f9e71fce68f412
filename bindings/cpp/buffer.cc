// SPDX-License-Identifier: MIT
#include "runtime/message/buffer.h"

#include <shoal/buffer.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace shoal {

using core::Ref;

namespace {

// What keeps the bytes of a view.
template <class T>
class Owner final : public core::RefCounted {
 public:
  explicit Owner(T&& kept) noexcept : kept_(std::move(kept)) {}
  [[nodiscard]] const T& kept() const { return kept_; }

 private:
  const T kept_;
};

Buffer Checked(Ref<core::Buffer> object) {
  if (!object) throw std::bad_alloc();
  return Buffer(object.Leak());
}

// A string of few bytes moves them with it, so they are looked for where it is kept.
template <class T>
Buffer AdoptRange(T&& range) {
  const auto owner = Ref<Owner<T>>::Adopt(new Owner<T>(std::forward<T>(range)));
  const auto bytes = std::as_bytes(std::span(owner->kept().data(), owner->kept().size()));
  return Checked(core::Buffer::View(bytes, Ref<core::RefCounted>::Share(owner.get())));
}

}  // namespace

Buffer Buffer::Copy(std::span<const std::byte> bytes) {
  Buffer copy = Checked(core::Buffer::New(bytes.size()));
  if (!bytes.empty()) std::memcpy(copy.object_->room(), bytes.data(), bytes.size());
  return copy;
}

Buffer Buffer::Copy(std::string_view bytes) {
  return Copy(std::as_bytes(std::span(bytes.data(), bytes.size())));
}

Buffer Buffer::Adopt(std::string&& bytes) { return AdoptRange(std::move(bytes)); }
Buffer Buffer::Adopt(std::vector<std::byte>&& bytes) { return AdoptRange(std::move(bytes)); }
Buffer Buffer::Adopt(std::vector<std::uint8_t>&& bytes) { return AdoptRange(std::move(bytes)); }

Buffer Buffer::View(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  using Shared = Owner<std::shared_ptr<const void>>;
  return Checked(
      core::Buffer::View(bytes, Ref<core::RefCounted>::Adopt(new Shared(std::move(owner)))));
}

Buffer::Buffer(const Buffer& other) noexcept : object_(other.object_) {
  if (object_ != nullptr) object_->AddRef();
}

Buffer& Buffer::operator=(const Buffer& other) noexcept {
  if (this == &other) return *this;
  if (other.object_ != nullptr) other.object_->AddRef();
  if (object_ != nullptr) object_->Release();
  object_ = other.object_;
  return *this;
}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  if (this == &other) return *this;
  if (object_ != nullptr) object_->Release();
  object_ = std::exchange(other.object_, nullptr);
  return *this;
}

Buffer::~Buffer() {
  if (object_ != nullptr) object_->Release();
}

std::span<const std::byte> Buffer::bytes() const noexcept {
  return object_ == nullptr ? std::span<const std::byte>() : object_->bytes();
}

std::string_view Buffer::text() const noexcept {
  const std::span<const std::byte> all = bytes();
  return {reinterpret_cast<const char*>(all.data()), all.size()};
}

Buffer Buffer::Slice(std::size_t offset, std::size_t size) const {
  if (object_ == nullptr) return {};
  offset = std::min(offset, object_->size());
  return Checked(object_->Slice(offset, std::min(size, object_->size() - offset)));
}

}  // namespace shoal
