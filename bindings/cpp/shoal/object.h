// SPDX-License-Identifier: MIT
/// \file
/// Object is a C++ object that Lua code uses by reference; Class says what can be done with it.
#pragma once

#include <shoal/convert.h>
#include <shoal/function.h>
#include <shoal/handle.h>
#include <shoal/result.h>
#include <shoal/values.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <typeindex>
#include <typeinfo>
#include <utility>
#include <vector>

namespace shoal {

namespace embed {

struct RuntimeState;
class ObjectClass;

// A method, of which the type of the object is known to it alone.
using Method = std::function<Result<Values>(void* object, const Values& arguments)>;

struct ClassDraft {
  std::string name;
  std::type_index type;
  std::vector<std::pair<std::string, Method>> methods;
};

}  // namespace embed

/// A C++ object that Lua code has by reference. It travels between processes as handles do, in
/// messages, arguments and results, and calls go to the one object. As long as a process, a message
/// or an Object refers to it, it lives.
///
/// In one process, one Object is one value: it is equal to itself, also when it has travelled.
///
/// Threads: as Handle. Methods are called on the threads of the runtime, by several processes at
///          once: the object has to stand that.
class Object : public Handle {
 public:
  /// Stands for nothing.
  Object() noexcept = default;
  /// The same object, if it is one; else what stands for nothing.
  explicit Object(const Handle& handle) noexcept
      : Handle(Accepts(handle.kind()) ? handle : Handle()) {}

  /// The object, if it is a T (the very type of its Class); else null. Null also when the runtime
  /// has ended.
  template <class T>
  [[nodiscard]] std::shared_ptr<T> get() const noexcept {
    return std::static_pointer_cast<T>(Find(std::type_index(typeid(T))));
  }

  /// For the library.
  [[nodiscard]] static bool Accepts(Kind kind) noexcept { return kind == Kind::kObject; }

 private:
  [[nodiscard]] std::shared_ptr<void> Find(std::type_index type) const noexcept;
};

/// An object that is a T is read as a shared_ptr: `value.get<std::shared_ptr<Image>>()`.
template <class T>
struct Convert<std::shared_ptr<T>> {
  /// Null is no object.
  static std::optional<std::shared_ptr<T>> FromValue(const Value& value) {
    const std::optional<Object> object = value.get<Object>();
    std::shared_ptr<T> pointer = object ? object->template get<T>() : nullptr;
    if (pointer == nullptr) return std::nullopt;
    return pointer;
  }
};

/// What Lua code can do with objects of the type T. Runtime::AddClass takes it.
///
///     auto images = runtime.AddClass(shoal::Class<Image>("image")
///                                        .Method("width", &Image::width)
///                                        .Method("scale", [](Image& image, double by) { … }));
///     shoal::Object image = images->Wrap(std::make_shared<Image>("a.png"));
///     jobs.Send("image", image);       // in Lua: local image = jobs:receive("image")
///                                      //         image:scale(0.5)
///
/// Threads: one at a time.
template <class T>
class Class {
 public:
  /// `name` stands in error messages.
  explicit Class(std::string name) : draft_{std::move(name), typeid(T), {}} {}

  /// A method. `function` is called with a T& and then the arguments, as by MakeFunction; a member
  /// function of T will do. One with a name that begins with "__" is a metamethod ("__index" and
  /// "__gc" are the library's own).
  template <class F>
  Class& Method(std::string name, F function) & {
    draft_.methods.emplace_back(std::move(name), Bind(std::move(function)));
    return *this;
  }
  /// The same.
  template <class F>
  Class&& Method(std::string name, F function) && {
    return std::move(Method(std::move(name), std::move(function)));
  }

  /// For the library.
  [[nodiscard]] embed::ClassDraft& draft() noexcept { return draft_; }

 private:
  template <class R, class... A>
  static embed::Method Bind(R (T::*member)(A...)) {
    return BindAs<decltype(member), std::tuple<T&, std::decay_t<A>...>>(member);
  }
  template <class R, class... A>
  static embed::Method Bind(R (T::*member)(A...) const) {
    return BindAs<decltype(member), std::tuple<T&, std::decay_t<A>...>>(member);
  }
  template <class R, class... A>
  static embed::Method Bind(R (T::*member)(A...) noexcept) {
    return BindAs<decltype(member), std::tuple<T&, std::decay_t<A>...>>(member);
  }
  template <class R, class... A>
  static embed::Method Bind(R (T::*member)(A...) const noexcept) {
    return BindAs<decltype(member), std::tuple<T&, std::decay_t<A>...>>(member);
  }
  template <class F>
  static embed::Method Bind(F function) {
    return BindAs<F, typename embed::Signature<F>::Arguments>(std::move(function));
  }
  template <class F, class Arguments>
  static embed::Method BindAs(F function) {
    return [function = std::move(function)](void* object,
                                            const Values& arguments) mutable -> Result<Values> {
      return embed::CallTyped<F, Arguments>(
          function, arguments, std::make_index_sequence<std::tuple_size_v<Arguments> - 1>(),
          *static_cast<T*>(object));
    };
  }

  embed::ClassDraft draft_;
};

namespace embed {
[[nodiscard]] Object WrapObject(const std::shared_ptr<const ObjectClass>& known,
                                std::shared_ptr<void> pointer) noexcept;
}  // namespace embed

/// A Class that a runtime knows.
///
/// Threads: any thread may call any member.
template <class T>
class KnownClass {
 public:
  /// An Object that keeps `pointer`. It stands for nothing if that is null, if the runtime has
  /// ended, or without memory. Two of one pointer are two different values to Lua.
  [[nodiscard]] Object Wrap(std::shared_ptr<T> pointer) const noexcept {
    return embed::WrapObject(class_, std::move(pointer));
  }

  /// For the library.
  explicit KnownClass(std::shared_ptr<const embed::ObjectClass> known) noexcept
      : class_(std::move(known)) {}

 private:
  std::shared_ptr<const embed::ObjectClass> class_;
};

}  // namespace shoal
