// SPDX-License-Identifier: MIT
// RefCounted is an object that handles, messages and waits share; Ref<T> is a counted pointer to
// it.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "runtime/base/check.h"

namespace shoal::core {

// Threads: AddRef, TryAddRef and Release from any thread. The last Release destroys the object.
class RefCounted {
 public:
  // What kind of handle stands for the object outside, so that it can be made again in another
  // process.
  enum class Kind : std::uint8_t {
    kOther,
    kChannel,
    kProcess,
    kSocket,
    kLinda,
    kPool,
    kAnswer,
    kBuffer,
    kObject,  // of the program, in C++
  };

  explicit RefCounted(Kind kind = Kind::kOther) : kind_(kind) {}
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;

  [[nodiscard]] Kind kind() const { return kind_; }

  // relaxed: whoever adds a reference has one, which keeps the object.
  void AddRef() const { count_.fetch_add(1, std::memory_order_relaxed); }

  // Adds a reference unless the last one has gone: for a table that points to objects without
  // keeping them. REQUIRES: the caller keeps the memory alive by the lock under which the
  // destructor leaves that table.
  [[nodiscard]] bool TryAddRef() const {
    std::uint32_t count = count_.load(std::memory_order_relaxed);
    while (count != 0) {
      if (count_.compare_exchange_weak(count, count + 1, std::memory_order_relaxed)) return true;
    }
    return false;
  }

  // How many references there are. A hint: others may add and release theirs at any time. What only
  // the caller could add to does not grow. acquire: what those did who have released theirs is
  // seen.
  [[nodiscard]] std::uint32_t references() const { return count_.load(std::memory_order_acquire); }

  void Release() const {
    // acq_rel: all uses by other holders happen before the destructor.
    if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

 protected:
  virtual ~RefCounted() = default;

 private:
  mutable std::atomic<std::uint32_t> count_{1};
  const Kind kind_;
};

// Holds one reference. A plain value: not for sharing between threads without a lock.
template <class T>
class Ref {
 public:
  Ref() = default;
  // Takes over the reference that the caller has (a new object starts with one).
  static Ref Adopt(T* object) {
    Ref ref;
    ref.object_ = object;
    return ref;
  }
  // Adds a reference.
  static Ref Share(T* object) {
    if (object != nullptr) object->AddRef();
    return Adopt(object);
  }
  Ref(const Ref& other) : object_(other.object_) {
    if (object_ != nullptr) object_->AddRef();
  }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ != nullptr) object_->Release();
  }

  [[nodiscard]] T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  // Gives the reference to the caller.
  [[nodiscard]] T* Leak() { return std::exchange(object_, nullptr); }

 private:
  T* object_ = nullptr;
};

}  // namespace shoal::core
