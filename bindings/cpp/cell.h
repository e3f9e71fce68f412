// SPDX-License-Identifier: MIT
// A Cell is what handles hold: a counted reference to a thing of the core, which the end of the
// runtime takes away; or, in place of it, why there is none.
//
// Threads:   any. object_ is read inside the gate only, and cleared when nobody is inside.
// Ownership: counted by handles. A cell whose last handle goes while the runtime ends is freed by
//            that end.
#pragma once

#include <shoal/handle.h>
#include <shoal/result.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "bindings/cpp/gate.h"
#include "runtime/base/intrusive_list.h"
#include "runtime/base/ref_counted.h"

namespace shoal::embed {

class Cell final : public core::ListLink<CellTag> {
 public:
  // A handle of `object`; an empty one without memory for it. REQUIRES: inside the gate.
  static Handle MakeHandle(Gate& gate, core::Ref<core::RefCounted> object);
  // A handle that stands for nothing, because of `error`.
  static Handle MakeHandle(Error error);

  Cell(const Cell&) = delete;
  Cell& operator=(const Cell&) = delete;

  void AddRef() { count_.fetch_add(1, std::memory_order_relaxed); }
  void Release() {
    // acq_rel: all uses by other handles come before the end.
    if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1) Gate::Drop(*this);
  }

  [[nodiscard]] Handle::Kind kind() const { return kind_; }
  [[nodiscard]] std::uintptr_t identity() const { return identity_; }
  [[nodiscard]] const Error& error() const { return error_; }
  [[nodiscard]] const std::shared_ptr<Gate>& gate() const { return gate_; }  // null: an error
  // REQUIRES: inside the gate.
  [[nodiscard]] core::RefCounted* object() const { return object_.get(); }

 private:
  friend class Gate;
  Cell(std::shared_ptr<Gate> gate, core::Ref<core::RefCounted> object);
  explicit Cell(Error error) : error_(std::move(error)) {}
  ~Cell() = default;

  std::atomic<std::uint32_t> count_{1};
  const std::shared_ptr<Gate> gate_;
  core::Ref<core::RefCounted> object_;
  const Handle::Kind kind_ = Handle::Kind::kNone;
  const std::uintptr_t identity_ = 0;
  const Error error_;
  bool dropped_ = false;  // guarded by the gate's lock: no handle is left
};

// A call of a handle, or of a runtime, which is inside the gate for as long as the Entry lives.
class Entry {
 public:
  // Of a handle that has to be of that kind.
  Entry(const Handle& handle, Handle::Kind kind);
  // REQUIRES: the gate lives as long.
  explicit Entry(Gate& gate);
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;
  ~Entry() {
    if (inside_) gate_->Leave();
  }

  // Whether it is inside; else error() says why not.
  [[nodiscard]] explicit operator bool() const { return inside_; }
  [[nodiscard]] const Error& error() const { return error_; }
  [[nodiscard]] Gate& gate() const { return *gate_; }
  [[nodiscard]] core::Machine& machine() const { return gate_->machine(); }
  // What the handle stands for. REQUIRES: inside, by a handle of a T.
  template <class T>
  [[nodiscard]] T& object() const {
    return static_cast<T&>(*object_);
  }

 private:
  Gate* gate_ = nullptr;
  core::RefCounted* object_ = nullptr;
  bool inside_ = false;
  Error error_;
};

}  // namespace shoal::embed
