// SPDX-License-Identifier: MIT
/// \file
/// Result is what a call returns that may fail; Error is why it has.
#pragma once

#include <shoal/status.h>
#include <shoal/value.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace shoal {

/// Why a call has failed. Copies are cheap.
class Error {
 public:
  /// No error: kOk.
  Error() noexcept = default;
  /// Without a message of its own.
  // NOLINTNEXTLINE(google-explicit-constructor): a Status is an error without more
  Error(Status status) noexcept : status_(status) {}
  /// With a sentence for people. (Without memory for it, without.)
  Error(Status status, std::string_view message) noexcept;
  /// What Lua code has raised: kError. The message is the value as text.
  Error(Value value, std::string_view message, std::string_view traceback) noexcept;

  /// Which kind of failure it is; kOk: none.
  [[nodiscard]] Status status() const noexcept { return status_; }
  /// What went wrong, for people. For kError, the error value as text.
  [[nodiscard]] std::string_view message() const noexcept;
  /// Where it was raised, across processes; empty unless kError.
  [[nodiscard]] std::string_view traceback() const noexcept;
  /// For kError, the value that was raised, tables too; else nil.
  [[nodiscard]] const Value& value() const noexcept;

 private:
  struct Details {
    std::string message;
    std::string traceback;
    Value value;
  };
  Status status_ = Status::kOk;
  std::shared_ptr<const Details> details_;
};

namespace embed {
// Ends the program with a sentence: a result was used that is not there.
[[noreturn]] void NoResult(const Error& error) noexcept;
}  // namespace embed

/// A T, or why there is none.
///
///     shoal::Result<shoal::Values> r = jobs.Receive("result", 500ms);
///     if (r) std::cout << r->get<int>(0).value_or(-1) << '\n';
///     else if (r == shoal::Status::kTimeout) …
///
/// To use a value that is not there ends the program with a sentence on stderr.
template <class T>
class [[nodiscard]] Result {
 public:
  // NOLINTBEGIN(google-explicit-constructor): either is a result.
  /// The value.
  Result(T value) noexcept : value_(std::move(value)) {}
  /// REQUIRES: not kOk.
  Result(Error error) noexcept : error_(std::move(error)) {}
  /// REQUIRES: not kOk.
  Result(Status status) noexcept : error_(status) {}

  // NOLINTEND(google-explicit-constructor)

  /// Whether the call has succeeded.
  [[nodiscard]] bool ok() const noexcept { return value_.has_value(); }
  /// The same.
  [[nodiscard]] explicit operator bool() const noexcept { return ok(); }
  /// How it has ended.
  [[nodiscard]] Status status() const noexcept { return error_.status(); }
  /// Why it has failed.
  [[nodiscard]] const Error& error() const noexcept { return error_; }
  /// Whether it has ended in that way.
  friend bool operator==(const Result& result, Status status) noexcept {
    return result.status() == status;
  }

  /// The value.
  [[nodiscard]] T& operator*() & noexcept { return Checked(); }
  /// The value.
  [[nodiscard]] const T& operator*() const& noexcept { return Checked(); }
  /// The value.
  [[nodiscard]] T&& operator*() && noexcept { return std::move(Checked()); }
  /// The value.
  [[nodiscard]] T* operator->() noexcept { return &Checked(); }
  /// The value.
  [[nodiscard]] const T* operator->() const noexcept { return &Checked(); }
  /// The value, or `other` if there is none.
  [[nodiscard]] T value_or(T other) const& { return ok() ? *value_ : std::move(other); }

 private:
  T& Checked() noexcept {
    if (!value_) embed::NoResult(error_);
    return *value_;
  }
  const T& Checked() const noexcept {
    if (!value_) embed::NoResult(error_);
    return *value_;
  }

  std::optional<T> value_;
  Error error_;
};

/// Of a call that returns nothing.
template <>
class [[nodiscard]] Result<void> {
 public:
  /// kOk.
  Result() noexcept = default;
  // NOLINTBEGIN(google-explicit-constructor): either is a result.
  /// An error; kOk: none.
  Result(Error error) noexcept : error_(std::move(error)) {}
  /// The same.
  Result(Status status) noexcept : error_(status) {}

  // NOLINTEND(google-explicit-constructor)

  /// Whether the call has succeeded.
  [[nodiscard]] bool ok() const noexcept { return error_.status() == Status::kOk; }
  /// The same.
  [[nodiscard]] explicit operator bool() const noexcept { return ok(); }
  /// How it has ended.
  [[nodiscard]] Status status() const noexcept { return error_.status(); }
  /// Why it has failed.
  [[nodiscard]] const Error& error() const noexcept { return error_; }
  /// Whether it has ended in that way.
  friend bool operator==(const Result& result, Status status) noexcept {
    return result.status() == status;
  }

 private:
  Error error_;
};

}  // namespace shoal
