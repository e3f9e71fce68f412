// SPDX-License-Identifier: MIT
/// \file
/// Convert for the types of the standard library: optional, vector, array, span, map,
/// unordered_map, pair, tuple.
///
/// A sequence becomes a table with the list of its elements; a map, a table of its pairs; a pair or
/// tuple, a list; an empty optional, nil. They are read the same way: a sequence from a table that
/// has nothing but a list, of which each element converts.
#pragma once

#include <shoal/value.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace shoal {

namespace embed {

template <class Range>
Value ListOf(const Range& range) {
  std::vector<Value> list;
  list.reserve(range.size());
  for (const auto& element : range) list.emplace_back(element);
  return Table::List(std::move(list));
}

template <class Map>
Value PairsOf(const Map& map) {
  Table table;
  for (const auto& [key, value] : map) static_cast<void>(table.Set(key, value));
  return table;
}

template <class Map>
std::optional<Map> MapFrom(const Value& value) {
  const std::optional<Table> table = value.get<Table>();
  if (!table) return std::nullopt;
  Map map;
  const auto add = [&map](const Value& key, const Value& element) {
    auto k = key.get<typename Map::key_type>();
    auto v = element.get<typename Map::mapped_type>();
    if (!k || !v) return false;
    map.emplace(std::move(*k), std::move(*v));
    return true;
  };
  std::int64_t position = 0;
  for (const Value& element : table->list()) {
    ++position;
    if (!element.is_nil() && !add(position, element)) return std::nullopt;
  }
  for (const auto& [key, element] : table->pairs()) {
    if (!add(key, element)) return std::nullopt;
  }
  return map;
}

// The list of `value`, if it is a table that has nothing else.
inline std::optional<Table> OnlyList(const Value& value) {
  std::optional<Table> table = value.get<Table>();
  if (table && !table->pairs().empty()) table.reset();
  return table;
}

template <class Tuple, std::size_t... kIndex>
std::optional<Tuple> TupleFrom(const Value& value, std::index_sequence<kIndex...> /*indices*/) {
  const std::optional<Table> table = OnlyList(value);
  if (!table || table->list().size() > sizeof...(kIndex)) return std::nullopt;
  const auto at = [&table](std::size_t index) -> const Value& {
    static const Value kNil;
    return index < table->list().size() ? table->list()[index] : kNil;
  };
  std::tuple<std::optional<std::tuple_element_t<kIndex, Tuple>>...> elements(
      at(kIndex).template get<std::tuple_element_t<kIndex, Tuple>>()...);
  if (!(std::get<kIndex>(elements).has_value() && ...)) return std::nullopt;
  return Tuple{std::move(*std::get<kIndex>(elements))...};
}

}  // namespace embed

/// Nil, if it is empty.
template <class T>
struct Convert<std::optional<T>> {
  static Value ToValue(const std::optional<T>& value) { return value ? Value(*value) : Value(); }
  static std::optional<std::optional<T>> FromValue(const Value& value) {
    if (value.is_nil()) return std::optional<T>();
    std::optional<T> inner = value.get<T>();
    if (!inner) return std::nullopt;
    return inner;
  }
};

/// A list.
template <class T>
struct Convert<std::vector<T>> {
  static Value ToValue(const std::vector<T>& value) { return embed::ListOf(value); }
  static std::optional<std::vector<T>> FromValue(const Value& value) {
    const std::optional<Table> table = embed::OnlyList(value);
    if (!table) return std::nullopt;
    std::vector<T> elements;
    elements.reserve(table->list().size());
    for (const Value& element : table->list()) {
      std::optional<T> converted = element.get<T>();
      if (!converted) return std::nullopt;
      elements.push_back(std::move(*converted));
    }
    return elements;
  }
};

/// A list of exactly so many.
template <class T, std::size_t kSize>
struct Convert<std::array<T, kSize>> {
  static Value ToValue(const std::array<T, kSize>& value) { return embed::ListOf(value); }
  static std::optional<std::array<T, kSize>> FromValue(const Value& value) {
    return embed::TupleFrom<std::array<T, kSize>>(value, std::make_index_sequence<kSize>());
  }
};

/// A list; it cannot be read as a span.
template <class T>
struct Convert<std::span<T>> {
  static Value ToValue(const std::span<T>& value) { return embed::ListOf(value); }
};

/// A table of its pairs.
template <class K, class T, class Less, class Allocator>
struct Convert<std::map<K, T, Less, Allocator>> {
  using Map = std::map<K, T, Less, Allocator>;
  static Value ToValue(const Map& value) { return embed::PairsOf(value); }
  static std::optional<Map> FromValue(const Value& value) { return embed::MapFrom<Map>(value); }
};

/// A table of its pairs.
template <class K, class T, class Hash, class Equal, class Allocator>
struct Convert<std::unordered_map<K, T, Hash, Equal, Allocator>> {
  using Map = std::unordered_map<K, T, Hash, Equal, Allocator>;
  static Value ToValue(const Map& value) { return embed::PairsOf(value); }
  static std::optional<Map> FromValue(const Value& value) { return embed::MapFrom<Map>(value); }
};

/// A list of two.
template <class A, class B>
struct Convert<std::pair<A, B>> {
  static Value ToValue(const std::pair<A, B>& value) {
    return Table::List({Value(value.first), Value(value.second)});
  }
  static std::optional<std::pair<A, B>> FromValue(const Value& value) {
    return embed::TupleFrom<std::pair<A, B>>(value, std::make_index_sequence<2>());
  }
};

/// A list.
template <class... T>
struct Convert<std::tuple<T...>> {
  static Value ToValue(const std::tuple<T...>& value) {
    return std::apply([](const T&... element) { return Table::List({Value(element)...}); }, value);
  }
  static std::optional<std::tuple<T...>> FromValue(const Value& value) {
    return embed::TupleFrom<std::tuple<T...>>(value, std::index_sequence_for<T...>());
  }
};

}  // namespace shoal
