// SPDX-License-Identifier: MIT
#include <shoal/result.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "runtime/base/enough_memory.h"

namespace shoal {

Error::Error(Status status, std::string_view message) noexcept : status_(status) {
  static_cast<void>(core::EnoughMemory([&] {
    details_ = std::make_shared<const Details>(Details{std::string(message), {}, {}});
  }));
}

Error::Error(Value value, std::string_view message, std::string_view traceback) noexcept
    : status_(Status::kError) {
  static_cast<void>(core::EnoughMemory([&] {
    details_ = std::make_shared<const Details>(
        Details{std::string(message), std::string(traceback), std::move(value)});
  }));
}

std::string_view Error::message() const noexcept {
  return details_ == nullptr ? ToString(status_) : std::string_view(details_->message);
}

std::string_view Error::traceback() const noexcept {
  return details_ == nullptr ? std::string_view() : std::string_view(details_->traceback);
}

const Value& Error::value() const noexcept {
  static const Value kNil;
  return details_ == nullptr ? kNil : details_->value;
}

void embed::NoResult(const Error& error) noexcept {
  const std::string_view message = error.message();
  std::fprintf(stderr, "shoal: a Result was used that holds no value: %.*s\n",
               static_cast<int>(message.size()), message.data());
  std::abort();
}

}  // namespace shoal
