// SPDX-License-Identifier: MIT
#include <shoal/value.h>
#include <shoal/values.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <utility>

#include "bindings/cpp/parcel.h"
#include "runtime/message/wire.h"

namespace shoal {

namespace {

// Two tables that are to be compared. Those that have been met once are taken for equal, so rings
// have an end.
using Pair = std::pair<const TableNode*, const TableNode*>;
struct Comparison {
  std::vector<std::pair<Table, Table>> open;  // kept while they are looked at
  std::set<Pair> met;
};

bool SameScalar(const Value& a, const Value& b) {
  const Value::Storage& x = a.storage();
  const Value::Storage& y = b.storage();
  if (x.index() != y.index()) {
    // 1 == 1.0
    const auto* const integer = std::get_if<std::int64_t>(x.index() < y.index() ? &x : &y);
    const auto* const number = std::get_if<double>(x.index() < y.index() ? &y : &x);
    if (integer == nullptr || number == nullptr) return false;
    const std::optional<std::int64_t> exact = Value(*number).get<std::int64_t>();
    return exact && *exact == *integer;
  }
  switch (a.kind()) {
    case Value::Kind::kNil:
      return true;
    case Value::Kind::kBoolean:
      return std::get<bool>(x) == std::get<bool>(y);
    case Value::Kind::kInteger:
      return std::get<std::int64_t>(x) == std::get<std::int64_t>(y);
    case Value::Kind::kNumber:
      return std::get<double>(x) == std::get<double>(y);
    case Value::Kind::kString:
      return std::get<std::string>(x) == std::get<std::string>(y);
    case Value::Kind::kHandle:
      return std::get<Handle>(x) == std::get<Handle>(y);
    case Value::Kind::kPointer:
      return std::get<void*>(x) == std::get<void*>(y);
    case Value::Kind::kOpaque:
      return std::get<Opaque>(x) == std::get<Opaque>(y);
    case Value::Kind::kBuffer:
      return std::get<Buffer>(x) == std::get<Buffer>(y);
    case Value::Kind::kTable:
      break;
  }
  return false;
}

// Looks at two values; tables are put off.
bool MayBeEqual(const Value& a, const Value& b, Comparison& comparison) {
  if (a.kind() != Value::Kind::kTable || b.kind() != Value::Kind::kTable) return SameScalar(a, b);
  std::optional<Table> x = a.get<Table>();
  std::optional<Table> y = b.get<Table>();
  if (!x || !y) return !x && !y;
  if (x->node() == y->node()) return true;
  if (x->size() != y->size()) return false;
  if (!comparison.met.emplace(x->node().get(), y->node().get()).second) return true;
  comparison.open.emplace_back(std::move(*x), std::move(*y));
  return true;
}

bool Finish(Comparison& comparison) {
  while (!comparison.open.empty()) {
    const auto [x, y] = std::move(comparison.open.back());
    comparison.open.pop_back();
    if (x.list().size() != y.list().size()) return false;
    for (std::size_t i = 0; i < x.list().size(); ++i) {
      if (!MayBeEqual(x.list()[i], y.list()[i], comparison)) return false;
    }
    for (const auto& [key, value] : x.pairs()) {
      const Value& other = y[key];
      if (other.is_nil() || !MayBeEqual(value, other, comparison)) return false;
    }
  }
  return true;
}

std::string NumberText(double number) {
  char text[40];
  std::snprintf(text, sizeof text, "%.14g", number);
  const std::string_view digits = text;
  // As Lua does, so that it looks like a float.
  if (digits.find_first_not_of("-0123456789") == std::string_view::npos) {
    return std::string(digits) + ".0";
  }
  return std::string(digits);
}

std::string AddressText(const char* name, const void* address) {
  char text[80];
  std::snprintf(text, sizeof text, "%s: %p", name, address);
  return text;
}

}  // namespace

// Values ------------------------------------------------------------------------------------------

Value::Kind Value::kind() const noexcept {
  static constexpr Kind kKinds[] = {Kind::kNil,     Kind::kBoolean, Kind::kInteger, Kind::kNumber,
                                    Kind::kString,  Kind::kTable,   Kind::kTable,   Kind::kHandle,
                                    Kind::kPointer, Kind::kOpaque,  Kind::kBuffer};
  static_assert(std::size(kKinds) == std::variant_size_v<Storage>);
  return kKinds[storage_.index()];
}

std::optional<bool> Value::AsBoolean() const noexcept {
  const bool* const boolean = std::get_if<bool>(&storage_);
  if (boolean == nullptr) return std::nullopt;
  return *boolean;
}

std::optional<std::int64_t> Value::AsInteger() const noexcept {
  if (const auto* const integer = std::get_if<std::int64_t>(&storage_)) return *integer;
  const double* const number = std::get_if<double>(&storage_);
  // 2^63 is the first that is too large.
  if (number == nullptr || !(*number >= -0x1p63 && *number < 0x1p63)) return std::nullopt;
  const auto integer = static_cast<std::int64_t>(*number);
  if (static_cast<double>(integer) != *number) return std::nullopt;
  return integer;
}

std::optional<double> Value::AsNumber() const noexcept {
  if (const double* const number = std::get_if<double>(&storage_)) return *number;
  const auto* const integer = std::get_if<std::int64_t>(&storage_);
  if (integer == nullptr) return std::nullopt;
  return static_cast<double>(*integer);
}

std::optional<std::string_view> Value::AsText() const noexcept {
  const std::string* const text = std::get_if<std::string>(&storage_);
  if (text == nullptr) return std::nullopt;
  return *text;
}

std::optional<Table> Value::AsTable() const noexcept {
  if (const Table* const table = std::get_if<Table>(&storage_)) return *table;
  const auto* const reference = std::get_if<TableReference>(&storage_);
  return reference == nullptr ? std::nullopt : reference->table();
}

std::string Value::ToText() const {
  switch (kind()) {
    case Kind::kNil:
      return "nil";
    case Kind::kBoolean:
      return std::get<bool>(storage_) ? "true" : "false";
    case Kind::kInteger:
      return std::to_string(std::get<std::int64_t>(storage_));
    case Kind::kNumber:
      return NumberText(std::get<double>(storage_));
    case Kind::kString:
      return std::get<std::string>(storage_);
    case Kind::kTable: {
      const std::optional<Table> table = AsTable();
      return AddressText("table", table ? table->node().get() : nullptr);
    }
    case Kind::kHandle: {
      const Handle& handle = std::get<Handle>(storage_);
      static constexpr const char* kNames[] = {"nothing", "channel", "process", "pool", "handle"};
      return AddressText(kNames[static_cast<int>(handle.kind())],
                         reinterpret_cast<const void*>(handle.identity()));
    }
    case Kind::kBuffer:
      return "buffer: " + std::to_string(std::get<Buffer>(storage_).size()) + " bytes";
    case Kind::kPointer:
      return AddressText("userdata", std::get<void*>(storage_));
    case Kind::kOpaque: {
      const Opaque& opaque = std::get<Opaque>(storage_);
      return AddressText(opaque.name(), opaque.parcel().begin() + opaque.place());
    }
  }
  return "unknown";
}

bool operator==(const Value& a, const Value& b) {
  Comparison comparison;
  return MayBeEqual(a, b, comparison) && Finish(comparison);
}

bool operator==(const Table& a, const Table& b) {
  Comparison comparison;
  return MayBeEqual(Value(a), Value(b), comparison) && Finish(comparison);
}

const Value& Values::operator[](std::size_t index) const noexcept {
  static const Value kNil;
  return index < values_.size() ? values_[index] : kNil;
}

// References, opaque values -----------------------------------------------------------------------

std::optional<Table> TableReference::table() const noexcept {
  std::shared_ptr<TableNode> node = node_.lock();
  if (node == nullptr) return std::nullopt;
  return Table(std::move(node));
}

const char* Opaque::name() const noexcept {
  switch (parcel_->byte(place_) & ~core::wire::kShared) {
    case core::wire::kFunction:
      return "function";
    case core::wire::kModule:
      return "module value";
    case core::wire::kTransfer:
      return "transferred value";
    case core::wire::kGlobals & ~core::wire::kShared:
      return "globals";
    default:
      return "stand-in";
  }
}

}  // namespace shoal
