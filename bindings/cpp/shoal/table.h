// SPDX-License-Identifier: MIT
/// \file
/// Table is a Lua table outside Lua.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace shoal {

class Value;
struct TableEntry;
struct TableNode;
/// The order of the keys in Table::pairs().
struct ValueLess {
  /// Whether `a` comes before `b`.
  bool operator()(const Value& a, const Value& b) const;
};

/// A Lua table outside Lua: a value, as a std::map is. A copy is another table (it costs nothing
/// until one of the two is changed).
///
///     shoal::Table job{{"id", 7}, {"file", "a.png"}};
///     job.Set("tags", shoal::Table::List({"red", "blue"}));
///     std::optional<int> id = job.get<int>("id");
///
/// As in Lua, keys are any values but nil and NaN, a float that is an integer is that integer, and
/// setting a key to nil removes it. What stands under 1 … n is the list.
///
/// In a message, tables may refer to each other in rings. Such an inner reference, from a table to
/// one in which it stands, does not keep that one: hold on to the outermost table while you follow
/// it. Where that one is gone, the reference is one to nothing: get<Table> finds none, and a
/// message has nil there.
///
/// Memory: allocates as the containers of the standard library do, and like them throws
/// std::bad_alloc where memory is short.
/// Threads: as for a std::map.
class Table {
 public:
  /// An empty table.
  Table() noexcept;
  /// Of these keys and values.
  Table(std::initializer_list<TableEntry> entries);
  /// A copy.
  Table(const Table& other) noexcept;
  /// Takes over what the other one has, which is empty then.
  Table(Table&& other) noexcept;
  /// A copy.
  Table& operator=(const Table& other) noexcept;
  /// Takes over what the other one has, which is empty then.
  Table& operator=(Table&& other) noexcept;
  ~Table();

  /// The table of these values under 1 … n.
  [[nodiscard]] static Table List(std::initializer_list<Value> values);
  /// The same.
  [[nodiscard]] static Table List(std::vector<Value> values);

  /// What stands under `key`; nil if nothing does. Valid until the table is changed.
  [[nodiscard]] const Value& operator[](const Value& key) const;
  /// The same as a T, if it is one.
  template <class T>
  [[nodiscard]] std::optional<T> get(const Value& key) const;
  /// Puts `value` under `key`. False: the key is nil or NaN, and nothing has changed.
  bool Set(const Value& key, Value value);
  /// Puts `value` behind the list. (Nil is nothing: then nothing changes.)
  void Append(Value value);
  /// Removes everything.
  void Clear() noexcept;

  /// What stands under 1 … n. There may be nils in between, but not at the end.
  [[nodiscard]] const std::vector<Value>& list() const noexcept;
  /// All others, ordered: by their type, then by their value.
  [[nodiscard]] const std::map<Value, Value, ValueLess>& pairs() const noexcept;
  /// Its metatable, nil if it has none. It goes where the table goes, and so do functions in it.
  [[nodiscard]] const Value& metatable() const noexcept;
  /// How many keys there are; each nil in the list counts.
  [[nodiscard]] std::size_t size() const noexcept;
  /// Whether there are none.
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }

  /// The same keys with equal values; metatables are not looked at.
  friend bool operator==(const Table& a, const Table& b);

  /// For the library: null if it is empty.
  [[nodiscard]] const std::shared_ptr<TableNode>& node() const noexcept { return node_; }
  /// For the library.
  explicit Table(std::shared_ptr<TableNode> node) noexcept;

 private:
  TableNode& Own();

  std::shared_ptr<TableNode> node_;
};

}  // namespace shoal
