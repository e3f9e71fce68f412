// SPDX-License-Identifier: MIT
#include "runtime/process/exit_notice.h"

#include <catch2/catch.hpp>
#include <string>
#include <string_view>

using namespace shoal::core;

namespace {
std::string_view Text(const MessagePtr& message) {
  return {reinterpret_cast<const char*>(message->bytes().data()), message->bytes().size()};
}
}  // namespace

TEST_CASE("a notice holds the id and the status") {
  using namespace std::string_view_literals;
  REQUIRE(Text(MakeExitNotice(7, ExitKind::kDone, nullptr)) ==
          "\x01\x02\x07\x84"
          "done"sv);
  REQUIRE(Text(MakeExitNotice(7, ExitKind::kCancelled, nullptr)) ==
          "\x01\x02\x07\x89"
          "cancelled"sv);
  REQUIRE(Text(MakeNumberNotice(7)) == "\0\x01\x07"sv);
}

TEST_CASE("a notice of an error is a copy of the exit message, or says that memory was short") {
  const MessagePtr error = MakeNumberNotice(1);
  REQUIRE(Text(MakeExitNotice(7, ExitKind::kError, error.get())) == Text(error));
  const MessagePtr none = MakeExitNotice(7, ExitKind::kError, nullptr);
  REQUIRE(Text(none).find("error") != std::string_view::npos);
  REQUIRE(Text(none).find("not enough memory") != std::string_view::npos);
}

TEST_CASE("a notice of an error can be made of a text, without a state") {
  for (const std::string& text : {std::string(), std::string("a\0b", 3), std::string(5000, 'x')}) {
    const MessagePtr message = MakeErrorNotice(7, text);
    const std::string_view notice = Text(message);
    REQUIRE(notice.substr(0, 9) == std::string_view("\x01\x03\x07\x85"
                                                    "error",
                                                    9));
    REQUIRE(notice.substr(notice.size() - text.size()) == text);
  }
}
