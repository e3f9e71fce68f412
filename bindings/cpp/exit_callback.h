// SPDX-License-Identifier: MIT
// An ExitCallback tells the program of the end of a call or a process, wherever that comes.
//
// Threads:   made by any; told on the thread on which the end comes.
// Ownership: keeps what is to end, until it has ended; so that lives as long as somebody is to be
//            told.
#pragma once

#include <shoal/awaiter.h>
#include <shoal/result.h>
#include <shoal/status.h>

#include <memory>

#include "bindings/cpp/cell.h"
#include "bindings/cpp/gate.h"
#include "runtime/base/ref_counted.h"
#include "runtime/process/exit.h"

namespace shoal::embed {

class ExitCallback final : public core::ExitWatch {
 public:
  // What `object` has come to. REQUIRES: inside the gate; it has ended.
  using ResultOf = Result<Values> (*)(Gate& gate, core::RefCounted& object);

  ExitCallback(ResultCallback callback, core::RefCounted& object, ResultOf result_of,
               std::shared_ptr<Gate> gate);

  // Of what the handle stands for, whose end is `exit`. kOk: `callback` will be called, or has
  // been; kNoMemory. REQUIRES: `entry` is inside.
  static Status Add(const Entry& entry, core::RefCounted& object, core::Exit& exit,
                    ResultOf result_of, ResultCallback callback);
  // At once, for what does not exist. kOk.
  static Status CallNow(const ResultCallback& callback, Error error);

  void OnExit(core::ExitKind kind, const core::Message* message,
              const core::Ref<core::Failure>& failure) override;
  [[nodiscard]] bool joins() const override { return true; }

 private:
  ResultCallback callback_;
  core::Ref<core::RefCounted> object_;
  const ResultOf result_of_;
  const std::shared_ptr<Gate> gate_;
};

}  // namespace shoal::embed
