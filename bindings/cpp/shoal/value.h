// SPDX-License-Identifier: MIT
/// \file
/// Value is a Lua value outside Lua.
#pragma once

#include <shoal/buffer.h>
#include <shoal/handle.h>
#include <shoal/table.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace shoal {

namespace embed {
class Parcel;
}  // namespace embed

/// How values of a type of yours become Lua values and back. Specialise it, with both functions or
/// one of them:
///
///     template <>
///     struct shoal::Convert<Point> {
///       static shoal::Value ToValue(const Point& p);
///       static std::optional<Point> FromValue(const shoal::Value& value);
///     };
///
/// `shoal/convert.h` has those of optional, vector, map, pair, tuple and array.
template <class T>
struct Convert {};

/// What a Value can be made of by Convert.
template <class T>
concept ConvertsToValue = requires(const T& t) {
  Convert<T>::ToValue(t);
};
/// What a Value can be read as by Convert.
template <class T>
concept ConvertsFromValue = requires(const Value& v) {
  Convert<T>::FromValue(v);
};

/// A value that means something in Lua only: a function, a value of a module, the globals, what a
/// `__transfer` has made, or something that could not travel. It can be kept and
/// sent on, within its runtime, and arrives as if it had come straight from its sender.
class Opaque {
 public:
  /// "function", "module value", "globals", "transferred value" or "stand-in".
  [[nodiscard]] const char* name() const noexcept;
  /// Both are the same value of the same message.
  friend bool operator==(const Opaque& a, const Opaque& b) noexcept = default;

  /// For the library.
  Opaque(std::shared_ptr<const embed::Parcel> parcel, std::size_t place) noexcept
      : parcel_(std::move(parcel)), place_(place) {}
  /// For the library.
  [[nodiscard]] const embed::Parcel& parcel() const noexcept { return *parcel_; }
  /// For the library.
  [[nodiscard]] const std::shared_ptr<const embed::Parcel>& shared_parcel() const noexcept {
    return parcel_;
  }
  /// For the library.
  [[nodiscard]] std::size_t place() const noexcept { return place_; }

 private:
  std::shared_ptr<const embed::Parcel> parcel_;
  std::size_t place_;
};

/// An inner reference to a table: see Table.
class TableReference {
 public:
  /// To `table`. REQUIRES: it is not empty.
  explicit TableReference(const Table& table) noexcept : node_(table.node()) {}
  /// For the library.
  explicit TableReference(std::weak_ptr<TableNode> node) noexcept : node_(std::move(node)) {}
  /// The table; nothing if it is gone.
  [[nodiscard]] std::optional<Table> table() const noexcept;

 private:
  std::weak_ptr<TableNode> node_;
};

/// A Lua value outside Lua.
///
/// Memory and threads: as Table.
class Value {
 public:
  /// What it is.
  enum class Kind : std::uint8_t {
    kNil,
    kBoolean,
    kInteger,
    kNumber,  ///< A float.
    kString,
    kTable,
    kHandle,
    kPointer,  ///< Light userdata.
    kOpaque,
    kBuffer,
  };

  Value() noexcept = default;
  // NOLINTBEGIN(google-explicit-constructor): to be such a value is what it is for.
  /// Nil.
  Value(std::nullptr_t) noexcept {}
  /// A boolean, and nothing that merely converts to one.
  template <std::same_as<bool> T>
  Value(T value) noexcept : storage_(value) {}
  /// An integer. What is above 2^63 - 1 becomes a float.
  template <std::integral T>
  requires(!std::same_as<T, bool>) Value(T value) {
    if constexpr (sizeof(T) >= sizeof(std::int64_t) && std::is_unsigned_v<T>) {
      if (value > static_cast<T>(INT64_MAX)) {
        storage_ = static_cast<double>(value);
        return;
      }
    }
    storage_ = static_cast<std::int64_t>(value);
  }
  /// A float.
  template <std::floating_point T>
  Value(T value) noexcept : storage_(static_cast<double>(value)) {}
  /// A string of any bytes.
  Value(std::string value) noexcept : storage_(std::move(value)) {}
  /// The same.
  Value(std::string_view value) : storage_(std::string(value)) {}
  /// REQUIRES: not null.
  Value(const char* value) : storage_(std::string(value)) {}
  /// A table.
  Value(Table value) noexcept : storage_(std::move(value)) {}
  /// An inner reference to a table.
  Value(TableReference value) noexcept : storage_(std::move(value)) {}
  /// Channel, Process, Pool. Nil, if it stands for nothing.
  Value(const Handle& value) {
    if (value) storage_ = value;
  }
  /// A value that has come from Lua.
  Value(Opaque value) noexcept : storage_(std::move(value)) {}
  /// A buffer.
  Value(Buffer value) noexcept : storage_(std::move(value)) {}
  /// Light userdata: an address that Lua does not look into.
  [[nodiscard]] static Value Pointer(void* value) {
    Value pointer;
    pointer.storage_ = value;
    return pointer;
  }
  /// What Convert makes of it.
  template <ConvertsToValue T>
  Value(const T& value) : Value(Convert<T>::ToValue(value)) {}
  /// No pointer is a boolean by chance: see Pointer.
  template <class T>
  Value(T*) = delete;

  // NOLINTEND(google-explicit-constructor)

  /// What it is.
  [[nodiscard]] Kind kind() const noexcept;
  /// Whether it is nil.
  [[nodiscard]] bool is_nil() const noexcept { return kind() == Kind::kNil; }

  /// The value as a T, nothing if it is none. T is
  ///   bool                     booleans only
  ///   an integral type         a number that is an integer, and in its range
  ///   a floating-point type    a number
  ///   std::string              a string
  ///   std::string_view         the same: looks into this Value
  ///   Table                    a table (that is no Opaque)
  ///   Handle, Channel, …       a handle of that kind
  ///   void*                    light userdata
  ///   Buffer                   a buffer
  ///   Opaque, Value            the value as it is
  ///   or what Convert knows.
  template <class T>
  [[nodiscard]] std::optional<T> get() const {
    if constexpr (std::same_as<T, bool>) {
      return AsBoolean();
    } else if constexpr (std::integral<T>) {
      const std::optional<std::int64_t> integer = AsInteger();
      if (!integer || !std::in_range<T>(*integer)) return std::nullopt;
      return static_cast<T>(*integer);
    } else if constexpr (std::floating_point<T>) {
      const std::optional<double> number = AsNumber();
      if (!number) return std::nullopt;
      return static_cast<T>(*number);
    } else if constexpr (std::same_as<T, std::string_view>) {
      return AsText();
    } else if constexpr (std::same_as<T, std::string>) {
      const std::optional<std::string_view> text = AsText();
      if (!text) return std::nullopt;
      return std::string(*text);
    } else if constexpr (std::same_as<T, Table>) {
      return AsTable();
    } else if constexpr (std::derived_from<T, Handle>) {
      const Handle* handle = std::get_if<Handle>(&storage_);
      if (handle == nullptr || !T::Accepts(handle->kind())) return std::nullopt;
      return T(*handle);
    } else if constexpr (std::same_as<T, void*>) {
      void* const* pointer = std::get_if<void*>(&storage_);
      if (pointer == nullptr) return std::nullopt;
      return *pointer;
    } else if constexpr (std::same_as<T, Opaque>) {
      const Opaque* opaque = std::get_if<Opaque>(&storage_);
      if (opaque == nullptr) return std::nullopt;
      return *opaque;
    } else if constexpr (std::same_as<T, Buffer>) {
      const Buffer* buffer = std::get_if<Buffer>(&storage_);
      if (buffer == nullptr) return std::nullopt;
      return *buffer;
    } else if constexpr (std::same_as<T, Value>) {
      return *this;
    } else {
      static_assert(ConvertsFromValue<T>, "specialise shoal::Convert for this type");
      return Convert<T>::FromValue(*this);
    }
  }

  /// What Lua's `tostring` would make of it, nearly: for people.
  [[nodiscard]] std::string ToText() const;

  /// Lua's `==` for all but tables, which are compared by what is in them.
  friend bool operator==(const Value& a, const Value& b);

  /// For the library.
  using Storage = std::variant<std::monostate, bool, std::int64_t, double, std::string, Table,
                               TableReference, Handle, void*, Opaque, Buffer>;
  /// For the library.
  [[nodiscard]] const Storage& storage() const noexcept { return storage_; }

 private:
  [[nodiscard]] std::optional<bool> AsBoolean() const noexcept;
  [[nodiscard]] std::optional<std::int64_t> AsInteger() const noexcept;
  [[nodiscard]] std::optional<double> AsNumber() const noexcept;
  [[nodiscard]] std::optional<std::string_view> AsText() const noexcept;
  [[nodiscard]] std::optional<Table> AsTable() const noexcept;

  Storage storage_;
};

/// A key and its value.
struct TableEntry {
  Value key;    ///< Not nil, not NaN: else the entry is left out.
  Value value;  ///< Nil: the entry is left out.
};

/// For the library: what a Table holds.
struct TableNode {
  std::vector<Value> list;                  ///< Under 1 … n.
  std::map<Value, Value, ValueLess> pairs;  ///< The others.
  std::unique_ptr<Value> meta;              ///< The metatable; null: none.
  /// Where it came from, until it is changed: what else came with it may refer to it. Null:
  /// nowhere.
  std::shared_ptr<const embed::Parcel> parcel;
  std::size_t place = 0;  ///< In that.

  TableNode() = default;
  /// A copy, to be changed: it comes from nowhere.
  TableNode(const TableNode& other);
  TableNode& operator=(const TableNode&) = delete;
  /// However deep it is nested, the stack does not grow with it.
  ~TableNode();
};

namespace embed {
// Puts `value` under `key`, which is one as Lua has it.
void InsertInto(TableNode& node, Value key, Value value);
}  // namespace embed

template <class T>
std::optional<T> Table::get(const Value& key) const {
  return (*this)[key].get<T>();
}

}  // namespace shoal
