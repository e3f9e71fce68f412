// SPDX-License-Identifier: MIT
#include "runtime/process/monitor.h"

#include <catch2/catch.hpp>

#include "runtime/base/clock.h"
#include "runtime/channel/channel.h"
#include "runtime/message/number.h"

using namespace shoal::core;

TEST_CASE("a monitor sends beyond the limit, and nothing to a closed channel") {
  const ManualClock clock;
  ChannelRegistry registry(clock, 1 << 20);
  const Ref<Channel> channel = registry.Make({.limit = 0});
  const KeyName key = KeyName::Integer(5);
  const auto monitor =
      Ref<Monitor>::Adopt(new Monitor(*channel, key, 1234567, Monitor::Form::kNumber));
  monitor->OnExit(ExitKind::kDone, nullptr, {});
  monitor->OnExit(ExitKind::kError, nullptr, {});
  REQUIRE(channel->Count(key) == 2);
  MessageList messages;
  REQUIRE(channel->Receive(key, 1, 1, &messages) == Status::kOk);
  REQUIRE(NumberOf(*messages.front()) == Number(std::int64_t{1234567}));
  channel->Close();
  monitor->OnExit(ExitKind::kDone, nullptr, {});
  REQUIRE(channel->Count(key) == 1);
}
