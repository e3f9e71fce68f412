// SPDX-License-Identifier: MIT
#include <shoal/table.h>
#include <shoal/value.h>

#include <cmath>
#include <functional>
#include <new>
#include <utility>

namespace shoal {

namespace {

const Value& Nil() {
  static const Value kNil;
  return kNil;
}

// A key as Lua has it: a float that is an integer is one. Nothing: it is no key.
std::optional<Value> KeyOf(const Value& key) {
  if (key.is_nil()) return std::nullopt;
  if (key.kind() != Value::Kind::kNumber) return key;
  if (const std::optional<std::int64_t> integer = key.get<std::int64_t>()) return Value(*integer);
  if (std::isnan(*key.get<double>())) return std::nullopt;
  return key;
}

// Where `key` stands in a list of `size`, from 0; `size`: it would be the next one; larger: not
// there.
std::size_t ListIndex(const Value& key, std::size_t size) {
  const std::int64_t* const integer = std::get_if<std::int64_t>(&key.storage());
  if (integer == nullptr || *integer < 1) return SIZE_MAX;
  const auto index = static_cast<std::uint64_t>(*integer) - 1;
  return index <= size ? static_cast<std::size_t>(index) : SIZE_MAX;
}

// What stands in `pairs` under the numbers behind the list goes into it.
void Extend(TableNode& node) {
  while (!node.pairs.empty()) {
    const auto next = node.pairs.find(Value(node.list.size() + 1));
    if (next == node.pairs.end()) return;
    node.list.push_back(std::move(next->second));
    node.pairs.erase(next);
  }
}

// The tables that a dying one has held, of which this thread is the last owner. Freed one by one by
// the outermost, so the stack does not grow with the depth.
thread_local std::vector<std::shared_ptr<TableNode>>* dying = nullptr;

void TakeTables(const Value& value, std::vector<std::shared_ptr<TableNode>>& into) {
  const Table* const table = std::get_if<Table>(&value.storage());
  if (table == nullptr || table->node() == nullptr || table->node().use_count() != 1) return;
  into.push_back(table->node());
}

}  // namespace

bool ValueLess::operator()(const Value& a, const Value& b) const {
  if (a.kind() != b.kind()) return a.kind() < b.kind();
  switch (a.kind()) {
    case Value::Kind::kBoolean:
      return std::get<bool>(a.storage()) < std::get<bool>(b.storage());
    case Value::Kind::kInteger:
      return std::get<std::int64_t>(a.storage()) < std::get<std::int64_t>(b.storage());
    case Value::Kind::kNumber:
      return std::get<double>(a.storage()) < std::get<double>(b.storage());
    case Value::Kind::kString:
      return std::get<std::string>(a.storage()) < std::get<std::string>(b.storage());
    case Value::Kind::kHandle:
      return std::get<Handle>(a.storage()).identity() < std::get<Handle>(b.storage()).identity();
    case Value::Kind::kPointer:
      return std::less<>()(std::get<void*>(a.storage()), std::get<void*>(b.storage()));
    case Value::Kind::kTable: {
      // By their identity, as in Lua.
      const auto node = [](const Value& value) -> const void* {
        const std::optional<Table> table = value.get<Table>();
        return table ? table->node().get() : nullptr;
      };
      return std::less<>()(node(a), node(b));
    }
    case Value::Kind::kOpaque: {
      const auto& x = std::get<Opaque>(a.storage());
      const auto& y = std::get<Opaque>(b.storage());
      if (&x.parcel() != &y.parcel()) return std::less<>()(&x.parcel(), &y.parcel());
      return x.place() < y.place();
    }
    case Value::Kind::kBuffer:
      // As Lua has it, each is a key of its own.
      return std::less<>()(std::get<Buffer>(a.storage()).object(),
                           std::get<Buffer>(b.storage()).object());
    case Value::Kind::kNil:
      break;
  }
  return false;
}

TableNode::TableNode(const TableNode& other)
    : list(other.list),
      pairs(other.pairs),
      meta(other.meta == nullptr ? nullptr : std::make_unique<Value>(*other.meta)) {}

TableNode::~TableNode() {
  std::vector<std::shared_ptr<TableNode>> mine;
  const bool outermost = dying == nullptr;
  if (outermost) dying = &mine;
  try {
    for (Value& value : list) TakeTables(value, *dying);
    for (auto& [key, value] : pairs) TakeTables(value, *dying);
    if (meta != nullptr) TakeTables(*meta, *dying);
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): the stack has to do
  }
  list.clear();
  pairs.clear();
  meta.reset();
  if (!outermost) return;
  while (!mine.empty()) {
    // The node goes with this share, and leaves its own tables in `mine`.
    const std::shared_ptr<TableNode> next = std::move(mine.back());
    mine.pop_back();
  }
  dying = nullptr;
}

Table::Table() noexcept = default;
Table::Table(std::shared_ptr<TableNode> node) noexcept : node_(std::move(node)) {}
Table::Table(const Table& other) noexcept = default;
Table::Table(Table&& other) noexcept = default;
Table& Table::operator=(const Table& other) noexcept = default;
Table& Table::operator=(Table&& other) noexcept = default;
Table::~Table() = default;

Table::Table(std::initializer_list<TableEntry> entries) {
  for (const TableEntry& entry : entries) static_cast<void>(Set(entry.key, entry.value));
}

Table Table::List(std::initializer_list<Value> values) { return List(std::vector<Value>(values)); }

Table Table::List(std::vector<Value> values) {
  while (!values.empty() && values.back().is_nil()) values.pop_back();
  Table table;
  if (!values.empty()) table.Own().list = std::move(values);
  return table;
}

// The node, for a change: this table's alone.
TableNode& Table::Own() {
  if (node_ == nullptr) {
    node_ = std::make_shared<TableNode>();
  } else if (node_.use_count() != 1) {
    node_ = std::make_shared<TableNode>(*node_);
  } else {
    // The count was read without order; this orders what other threads did with copies that they
    // had before the change.
    static_cast<void>(std::weak_ptr<TableNode>(node_).lock());
  }
  // A changed table is another one than that which came with others.
  node_->parcel.reset();
  return *node_;
}

const Value& Table::operator[](const Value& key) const {
  if (node_ == nullptr) return Nil();
  std::size_t index = ListIndex(key, node_->list.size());
  if (index < node_->list.size()) return node_->list[index];
  auto found = node_->pairs.find(key);
  if (found == node_->pairs.end() && key.kind() == Value::Kind::kNumber) {
    // A float may be the name of an integer.
    const std::optional<std::int64_t> integer = key.get<std::int64_t>();
    if (!integer) return Nil();
    index = ListIndex(Value(*integer), node_->list.size());
    if (index < node_->list.size()) return node_->list[index];
    found = node_->pairs.find(Value(*integer));
  }
  return found == node_->pairs.end() ? Nil() : found->second;
}

void embed::InsertInto(TableNode& node, Value key, Value value) {
  const std::size_t index = ListIndex(key, node.list.size());
  if (index < node.list.size()) {
    node.list[index] = std::move(value);
    while (!node.list.empty() && node.list.back().is_nil()) node.list.pop_back();
  } else if (index == node.list.size() && !value.is_nil()) {
    node.list.push_back(std::move(value));
    Extend(node);
  } else if (value.is_nil()) {
    node.pairs.erase(key);
  } else {
    node.pairs.insert_or_assign(std::move(key), std::move(value));
  }
}

bool Table::Set(const Value& given, Value value) {
  std::optional<Value> key = KeyOf(given);
  if (!key) return false;
  if (!value.is_nil() || !(*this)[*key].is_nil()) {
    embed::InsertInto(Own(), std::move(*key), std::move(value));
  }
  return true;
}

void Table::Append(Value value) {
  if (value.is_nil()) return;
  TableNode& node = Own();
  node.list.push_back(std::move(value));
  Extend(node);
}

void Table::Clear() noexcept { node_.reset(); }

const std::vector<Value>& Table::list() const noexcept {
  static const std::vector<Value> kEmpty;
  return node_ == nullptr ? kEmpty : node_->list;
}

const std::map<Value, Value, ValueLess>& Table::pairs() const noexcept {
  static const std::map<Value, Value, ValueLess> kEmpty;
  return node_ == nullptr ? kEmpty : node_->pairs;
}

const Value& Table::metatable() const noexcept {
  return node_ == nullptr || node_->meta == nullptr ? Nil() : *node_->meta;
}

std::size_t Table::size() const noexcept { return list().size() + pairs().size(); }

}  // namespace shoal
