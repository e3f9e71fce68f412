// SPDX-License-Identifier: MIT
#include "bindings/cpp/cell.h"

#include <utility>

#include "runtime/base/enough_memory.h"

namespace shoal {

// Handles -----------------------------------------------------------------------------------------

Handle::Handle(const Handle& other) noexcept : cell_(other.cell_) {
  if (cell_ != nullptr) cell_->AddRef();
}

Handle& Handle::operator=(const Handle& other) noexcept {
  if (this == &other) return *this;
  if (other.cell_ != nullptr) other.cell_->AddRef();
  if (cell_ != nullptr) cell_->Release();
  cell_ = other.cell_;
  return *this;
}

Handle& Handle::operator=(Handle&& other) noexcept {
  if (this == &other) return *this;
  if (cell_ != nullptr) cell_->Release();
  cell_ = std::exchange(other.cell_, nullptr);
  return *this;
}

Handle::~Handle() {
  if (cell_ != nullptr) cell_->Release();
}

Handle::Kind Handle::kind() const noexcept {
  return cell_ == nullptr ? Kind::kNone : cell_->kind();
}

std::uintptr_t Handle::identity() const noexcept {
  return cell_ == nullptr ? 0 : cell_->identity();
}

namespace embed {

// Cells -------------------------------------------------------------------------------------------

namespace {

Handle::Kind KindOf(core::RefCounted::Kind kind) {
  switch (kind) {
    case core::RefCounted::Kind::kChannel:
      return Handle::Kind::kChannel;
    case core::RefCounted::Kind::kProcess:
      return Handle::Kind::kProcess;
    case core::RefCounted::Kind::kPool:
      return Handle::Kind::kPool;
    case core::RefCounted::Kind::kObject:
      return Handle::Kind::kObject;
    default:
      return Handle::Kind::kOther;
  }
}

const char* NameOf(Handle::Kind kind) {
  switch (kind) {
    case Handle::Kind::kChannel:
      return "channel";
    case Handle::Kind::kProcess:
      return "process";
    case Handle::Kind::kPool:
      return "pool";
    case Handle::Kind::kObject:
      return "object";
    default:
      return "handle";
  }
}

}  // namespace

Cell::Cell(std::shared_ptr<Gate> gate, core::Ref<core::RefCounted> object)
    : gate_(std::move(gate)),
      object_(std::move(object)),
      kind_(KindOf(object_->kind())),
      identity_(reinterpret_cast<std::uintptr_t>(object_.get())) {}

Handle Cell::MakeHandle(Gate& gate, core::Ref<core::RefCounted> object) {
  Cell* cell = nullptr;
  const bool enough =
      core::EnoughMemory([&] { cell = new Cell(gate.shared_from_this(), std::move(object)); });
  if (!enough) return Handle();
  gate.Add(*cell);
  return Handle(cell);
}

Handle Cell::MakeHandle(Error error) {
  Cell* cell = nullptr;
  static_cast<void>(core::EnoughMemory([&] { cell = new Cell(std::move(error)); }));
  return Handle(cell);
}

// Entries -----------------------------------------------------------------------------------------

Entry::Entry(Gate& gate) : gate_(&gate), inside_(gate.Enter()) {
  if (!inside_) error_ = Status::kClosed;
}

Entry::Entry(const Handle& handle, Handle::Kind kind) {
  Cell* const cell = handle.cell();
  if (cell != nullptr && cell->error().status() != Status::kOk) {
    error_ = cell->error();
    return;
  }
  if (cell == nullptr || cell->kind() != kind) {
    static_cast<void>(core::EnoughMemory([&] {
      error_ = Error(Status::kMisuse, std::string("this handle stands for no ") + NameOf(kind));
    }));
    if (error_.status() == Status::kOk) error_ = Status::kMisuse;
    return;
  }
  gate_ = cell->gate().get();
  inside_ = gate_->Enter();
  if (inside_) {
    object_ = cell->object();
  } else {
    error_ = Status::kClosed;
  }
}

}  // namespace embed

}  // namespace shoal
