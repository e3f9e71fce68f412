// SPDX-License-Identifier: MIT
// A Monitor sends a message to a channel when a process or task ends.
//
// The send takes no notice of limits and never waits; if the channel has been closed, or memory is
// short, nothing is sent.
#pragma once

#include <cstdint>

#include "runtime/channel/channel.h"
#include "runtime/channel/key_name.h"
#include "runtime/process/exit.h"

namespace shoal::core {

class Monitor final : public ExitWatch {
 public:
  enum class Form : std::uint8_t {
    kNotice,  // see exit_notice.h
    kNumber,  // the number alone
  };

  // `number` is the id of the process.
  Monitor(Channel& channel, const KeyName& key, std::uint64_t number, Form form)
      : channel_(Ref<Channel>::Share(&channel)), key_(key), number_(number), form_(form) {}

  void OnExit(ExitKind kind, const Message* message, const Ref<Failure>& failure) override;
  [[nodiscard]] bool joins() const override { return true; }

 private:
  const Ref<Channel> channel_;
  const StoredKeyName key_;
  const std::uint64_t number_;
  const Form form_;
};

}  // namespace shoal::core
