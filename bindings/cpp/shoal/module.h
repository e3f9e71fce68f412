// SPDX-License-Identifier: MIT
/// \file
/// Module is what `require` of a name brings to Lua code: functions and values of the program.
#pragma once

#include <shoal/function.h>
#include <shoal/value.h>

#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace shoal {

/// A table of functions and values, for Runtime::AddModule.
///
///     runtime.AddModule(shoal::Module("image")
///                           .Add("version", 3)
///                           .Add("scale", [](double x, std::optional<double> by) { … })
///                           .AddAsync("load", [&](const shoal::Values& v, shoal::Completion done)
///                           {
///                             pool.Submit([=] { done.Complete(Load(v)); });
///                           }));
///
/// Threads: one at a time.
class Module {
 public:
  /// A function that goes on after it has returned.
  struct Later {
    AsyncFunction function;  ///< What is called.
  };
  /// What stands under a name.
  using Member = std::variant<Value, Function, Later>;

  /// `name` is what `require` is called with.
  explicit Module(std::string name) : name_(std::move(name)) {}

  /// Under `name` stands a function, as of MakeFunction, or a value.
  template <class T>
  Module& Add(std::string name, T member) & {
    if constexpr (std::is_constructible_v<Value, T>) {
      members_.emplace_back(std::move(name), Value(std::move(member)));
    } else {
      members_.emplace_back(std::move(name), MakeFunction(std::move(member)));
    }
    return *this;
  }
  /// The same.
  template <class T>
  Module&& Add(std::string name, T member) && {
    return std::move(Add(std::move(name), std::move(member)));
  }
  /// Under `name` stands an AsyncFunction.
  Module& AddAsync(std::string name, AsyncFunction function) & {
    members_.emplace_back(std::move(name), Later{std::move(function)});
    return *this;
  }
  /// The same.
  Module&& AddAsync(std::string name, AsyncFunction function) && {
    return std::move(AddAsync(std::move(name), std::move(function)));
  }

  /// The name.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// What it holds, in the order of the calls. Of two under one name, the later one counts.
  [[nodiscard]] std::vector<std::pair<std::string, Member>>& members() noexcept { return members_; }

 private:
  std::string name_;
  std::vector<std::pair<std::string, Member>> members_;
};

}  // namespace shoal
