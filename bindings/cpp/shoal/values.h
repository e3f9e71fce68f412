// SPDX-License-Identifier: MIT
/// \file
/// Values is a message, or what a call returns.
#pragma once

#include <shoal/convert.h>
#include <shoal/value.h>

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

namespace shoal {

/// The values of a message, in their order.
class Values {
 public:
  Values() = default;
  /// `{"argument", 42}`
  Values(std::initializer_list<Value> values) : values_(values) {}
  /// These.
  explicit Values(std::vector<Value> values) noexcept : values_(std::move(values)) {}
  /// One for each argument.
  template <class... T>
  [[nodiscard]] static Values Of(T&&... values) {
    Values all;
    all.values_.reserve(sizeof...(T));
    (all.values_.emplace_back(std::forward<T>(values)), ...);
    return all;
  }

  /// How many there are.
  [[nodiscard]] std::size_t size() const noexcept { return values_.size(); }
  /// Whether there are none.
  [[nodiscard]] bool empty() const noexcept { return values_.empty(); }
  /// The value at `index`, from 0; nil beyond the last.
  [[nodiscard]] const Value& operator[](std::size_t index) const noexcept;
  /// The same as a T, if it is one.
  template <class T>
  [[nodiscard]] std::optional<T> get(std::size_t index) const {
    return (*this)[index].template get<T>();
  }
  /// Adds one at the end.
  void Append(Value value) { values_.push_back(std::move(value)); }
  /// The first one.
  [[nodiscard]] auto begin() const noexcept { return values_.begin(); }
  /// The end.
  [[nodiscard]] auto end() const noexcept { return values_.end(); }
  /// All of them.
  [[nodiscard]] const std::vector<Value>& vector() const noexcept { return values_; }

  /// As many, and equal in turn.
  friend bool operator==(const Values& a, const Values& b) { return a.values_ == b.values_; }

 private:
  std::vector<Value> values_;
};

}  // namespace shoal
