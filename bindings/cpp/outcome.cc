// SPDX-License-Identifier: MIT
#include "bindings/cpp/outcome.h"

#include <string>

#include "bindings/cpp/cell.h"

namespace shoal {

Key::Key(const Value& value) noexcept {
  const Value::Storage& storage = value.storage();
  switch (value.kind()) {
    case Value::Kind::kString:
      *this = Key(std::get<std::string>(storage));
      return;
    case Value::Kind::kInteger:
      *this = Key(std::get<std::int64_t>(storage));
      return;
    case Value::Kind::kBoolean:
      *this = Key(std::get<bool>(storage));
      return;
    case Value::Kind::kPointer:
      *this = Pointer(std::get<void*>(storage));
      return;
    case Value::Kind::kHandle:
      *this = Key(std::get<Handle>(storage));
      return;
    default:
      return;
  }
}

namespace embed {

Status FromCore(core::Status status) {
  switch (status) {
    case core::Status::kOk:
      return Status::kOk;
    case core::Status::kTimeout:
      return Status::kTimeout;
    case core::Status::kClosed:
      return Status::kClosed;
    case core::Status::kFull:
      return Status::kFull;
    case core::Status::kEmpty:
      return Status::kEmpty;
    case core::Status::kExists:
      return Status::kExists;
    case core::Status::kNotFound:
      return Status::kNotFound;
    case core::Status::kNotNumber:
      return Status::kNotNumber;
    case core::Status::kCancelled:
    case core::Status::kInterrupted:
      return Status::kCancelled;
    case core::Status::kDeadlock:
      return Status::kDeadlock;
    case core::Status::kNoThread:
      return Status::kNoThread;
    case core::Status::kNoMemory:
    case core::Status::kPending:
      break;
  }
  return Status::kNoMemory;
}

Error ErrorOf(core::Status status) { return Error(FromCore(status)); }

Error NoWaitHere() {
  return Error(Status::kMisuse,
               "this call would wait on a thread that runs a process: make it in a "
               "shoal::Blocking section, or use one that does not wait");
}

Error CheckTimeout(Timeout timeout) {
  if (timeout.time() >= std::chrono::nanoseconds::zero()) return Error();
  return Error(Status::kMisuse, "a timeout must be a number that is not negative");
}

Error ToKeyName(const Key& key, Gate& gate, core::KeyName* name) {
  switch (key.kind()) {
    case Key::Kind::kString:
      *name = core::KeyName::String(key.text());
      return Error();
    case Key::Kind::kInteger:
      *name = core::KeyName::Integer(static_cast<std::int64_t>(key.number()));
      return Error();
    case Key::Kind::kBoolean:
      *name = core::KeyName::Boolean(key.number() != 0);
      return Error();
    case Key::Kind::kPointer:
      *name = core::KeyName::Pointer(reinterpret_cast<void*>(key.number()));
      return Error();
    case Key::Kind::kHandle:
      if (key.cell()->gate().get() != &gate) {
        return Error(Status::kMisuse, "a handle of another runtime is no key here");
      }
      *name = core::KeyName::Handle(key.cell()->object());
      return Error();
    case Key::Kind::kNone:
      break;
  }
  return Error(Status::kMisuse,
               "a key is a string, an integer, a boolean, light userdata or a handle");
}

Value FromKeyName(const core::KeyName& name, Gate& gate) {
  switch (name.kind) {
    case core::KeyName::Kind::kString:
      return Value(name.text);
    case core::KeyName::Kind::kInteger:
      return Value(static_cast<std::int64_t>(name.value));
    case core::KeyName::Kind::kFloat:
      return Value(name.number());
    case core::KeyName::Kind::kBoolean:
      return Value(name.value != 0);
    case core::KeyName::Kind::kPointer:
      return Value::Pointer(reinterpret_cast<void*>(name.value));
    case core::KeyName::Kind::kHandle:
      return Value(Cell::MakeHandle(gate, core::Ref<core::RefCounted>::Share(name.handle)));
  }
  return Value();
}

}  // namespace embed

}  // namespace shoal
