// SPDX-License-Identifier: MIT
#include "runtime/process/monitor.h"

#include <utility>

#include "runtime/process/exit_notice.h"

namespace shoal::core {

void Monitor::OnExit(ExitKind kind, const Message* message, const Ref<Failure>&) {
  MessagePtr notice = form_ == Form::kNumber ? MakeNumberNotice(static_cast<std::int64_t>(number_))
                                             : MakeExitNotice(number_, kind, message);
  if (notice == nullptr) return;
  MessageList messages;
  messages.PushBack(std::move(notice));
  static_cast<void>(channel_->SendAnyway(key_.view(), messages));
}

}  // namespace shoal::core
