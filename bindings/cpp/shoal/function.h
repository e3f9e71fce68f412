// SPDX-License-Identifier: MIT
/// \file
/// Function is a C++ function that Lua code calls; AsyncFunction, one that ends later.
#pragma once

#include <shoal/result.h>
#include <shoal/values.h>

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace shoal {

namespace embed {
class AsyncCall;
}  // namespace embed

/// A C++ function that Lua code calls. It gets the arguments, and returns the results.
///
/// An Error that it returns goes to Lua as a call of Shoal would put it: kError, kMisuse, kNoMemory
/// and kNoThread are raised (kError: with Error::value), all others are returned as `nil` and the
/// word for them, such as "timeout". What it throws is raised, with the text of the exception.
///
/// Threads: called on the threads of the runtime, by as many processes at once as there are
///          workers. It must not wait, nor take long, but in a section of Blocking.
using Function = std::function<Result<Values>(const Values& arguments)>;

/// Takes the results of one call of an AsyncFunction. The first Complete counts; when the last copy
/// goes without one, the call fails. It may be kept for as long as one likes, also when the runtime
/// has ended: then nothing happens.
///
/// Threads: any thread may call any member.
class Completion {
 public:
  /// The same call.
  Completion(const Completion& other) noexcept;
  /// The same call; `other` has none any more.
  Completion(Completion&& other) noexcept;
  /// As the constructors; the call that it had loses one of its copies.
  Completion& operator=(const Completion& other) noexcept;
  /// The same.
  Completion& operator=(Completion&& other) noexcept;
  /// If it was the last copy, and nobody has completed the call, that fails.
  ~Completion();

  /// The call returns these results, or fails as a Function does that returns that error. True: it
  /// was the first, and the runtime has not ended.
  bool Complete(const Result<Values>& results) const noexcept;
  /// Nobody waits for the results any more: the task was cancelled, or the runtime has ended. A
  /// hint, for work that can be given up.
  [[nodiscard]] bool abandoned() const noexcept;

  /// For the library.
  explicit Completion(std::shared_ptr<embed::AsyncCall> call) noexcept : call_(std::move(call)) {}

 private:
  std::shared_ptr<embed::AsyncCall> call_;
};

/// A C++ function that begins something and returns, and of which Lua code sees a call that waits:
/// the process and its thread do other things until `completion` is told the results, on whatever
/// thread. What it throws, it fails with.
///
/// Threads: as Function.
using AsyncFunction = std::function<void(const Values& arguments, const Completion& completion)>;

namespace embed {

/// \cond
// What is called, as std::function sees it: R(A...).
template <class F>
struct Signature : Signature<decltype(&F::operator())> {};
template <class R, class... A>
struct Signature<R (*)(A...)> {
  using Return = R;
  using Arguments = std::tuple<std::decay_t<A>...>;
};
template <class R, class... A>
struct Signature<R (*)(A...) noexcept> : Signature<R (*)(A...)> {};
template <class C, class R, class... A>
struct Signature<R (C::*)(A...)> : Signature<R (*)(A...)> {};
template <class C, class R, class... A>
struct Signature<R (C::*)(A...) const> : Signature<R (*)(A...)> {};
template <class C, class R, class... A>
struct Signature<R (C::*)(A...) noexcept> : Signature<R (*)(A...)> {};
template <class C, class R, class... A>
struct Signature<R (C::*)(A...) const noexcept> : Signature<R (*)(A...)> {};
/// \endcond

// The error for the argument at `index`, from 0, that does not convert.
Error BadArgument(std::size_t index, const Value& value);

// What a function has returned, as Values.
inline Result<Values> ToResults(Result<Values> results) { return results; }
inline Result<Values> ToResults(Values values) { return values; }
inline Result<Values> ToResults(Error error) {
  if (error.status() == Status::kOk) return Values();
  return error;
}
inline Result<Values> ToResults(Status status) { return ToResults(Error(status)); }
template <class... T>
Result<Values> ToResults(const std::tuple<T...>& several) {
  return std::apply([](const T&... each) { return Values{Value(each)...}; }, several);
}
template <class T>
requires std::constructible_from<Value, T> Result<Values> ToResults(const T& one) {
  return Values{Value(one)};
}

template <class T>
Result<Values> ToResults(const Result<T>& result) {
  if (!result) return result.error();
  if constexpr (std::is_void_v<T>) {
    return Values();
  } else {
    return ToResults(*result);
  }
}
template <class F, class... Fixed>
Result<Values> CallAndConvert(F& function, Fixed&&... arguments) {
  if constexpr (std::is_void_v<std::invoke_result_t<F&, Fixed...>>) {
    std::invoke(function, std::forward<Fixed>(arguments)...);
    return Values();
  } else {
    return ToResults(std::invoke(function, std::forward<Fixed>(arguments)...));
  }
}

// Calls `function` with `first...` and then the arguments, each as what it takes there.
template <class F, class Tuple, std::size_t... kIndex, class... First>
Result<Values> CallTyped(F& function, const Values& arguments, std::index_sequence<kIndex...>,
                         First&... first) {
  constexpr std::size_t kSkip = sizeof...(First);
  [[maybe_unused]] std::tuple<std::optional<std::tuple_element_t<kIndex + kSkip, Tuple>>...>
  converted(arguments.get<std::tuple_element_t<kIndex + kSkip, Tuple>>(kIndex)...);
  std::size_t bad = sizeof...(kIndex);
  static_cast<void>(((std::get<kIndex>(converted).has_value() || (bad = kIndex, false)) && ...));
  if (bad != sizeof...(kIndex)) return BadArgument(bad, arguments[bad]);
  return CallAndConvert(function, first..., std::move(*std::get<kIndex>(converted))...);
}

}  // namespace embed

/// Makes a Function of a callable with typed parameters: `[](int a, std::string b) { return a; }`.
/// Parameters are any types of Value::get; std::optional for those that may be missing. The result
/// is nothing, what a Value can be made of, a std::tuple of such, Values, or a Result of one of
/// these. Arguments beyond the last are ignored; one that does not convert is raised.
template <class F>
[[nodiscard]] Function MakeFunction(F function) {
  if constexpr (std::is_convertible_v<F, Function> && std::is_invocable_v<F&, const Values&>) {
    return Function(std::move(function));
  } else if constexpr (std::is_same_v<typename embed::Signature<F>::Arguments,
                                      std::tuple<Values>>) {
    return [function = std::move(function)](const Values& arguments) mutable -> Result<Values> {
      return embed::CallAndConvert(function, arguments);
    };
  } else {
    using Arguments = typename embed::Signature<F>::Arguments;
    return [function = std::move(function)](const Values& arguments) mutable -> Result<Values> {
      return embed::CallTyped<F, Arguments>(
          function, arguments, std::make_index_sequence<std::tuple_size_v<Arguments>>());
    };
  }
}

}  // namespace shoal
