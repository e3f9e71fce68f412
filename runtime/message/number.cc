// SPDX-License-Identifier: MIT
#include "runtime/message/number.h"

#include <cstddef>
#include <cstring>
#include <limits>
#include <span>

#include "runtime/base/check.h"
#include "runtime/message/wire.h"

namespace shoal::core {

namespace {

constexpr std::byte Byte(std::uint8_t value) { return std::byte{value}; }

// flags, count, tag, and at most 8 bytes.
class NumberBytes {
 public:
  explicit NumberBytes(const Number& number) {
    Put<std::uint8_t>(wire::kPlain);
    Put<std::uint8_t>(1);
    if (const double* real = std::get_if<double>(&number)) {
      Put<std::uint8_t>(wire::kDouble);
      Put(*real);
      return;
    }
    const std::int64_t integer = std::get<std::int64_t>(number);
    if (integer >= wire::kSmallIntegerMin && integer <= wire::kSmallIntegerMax) {
      Put(static_cast<std::int8_t>(integer));
    } else if (!PutIfFits<std::int8_t>(wire::kInt8, integer) &&
               !PutIfFits<std::int16_t>(wire::kInt16, integer) &&
               !PutIfFits<std::int32_t>(wire::kInt32, integer)) {
      PutIfFits<std::int64_t>(wire::kInt64, integer);
    }
  }
  [[nodiscard]] std::span<const std::byte> span() const { return {bytes_, size_}; }

 private:
  template <class T>
  void Put(T value) {
    std::memcpy(bytes_ + size_, &value, sizeof value);
    size_ += sizeof value;
  }
  template <class T>
  bool PutIfFits(wire::Tag tag, std::int64_t integer) {
    if (integer < std::numeric_limits<T>::min() || integer > std::numeric_limits<T>::max()) {
      return false;
    }
    Put<std::uint8_t>(tag);
    Put(static_cast<T>(integer));
    return true;
  }

  std::byte bytes_[11];
  std::size_t size_ = 0;
};

// The value of type T that is all of `content`.
template <class T, class Result>
std::optional<Number> Read(std::span<const std::byte> content) {
  if (content.size() != sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, content.data(), sizeof value);
  return Number(static_cast<Result>(value));
}

}  // namespace

// Has access to the bytes of a message that its owner changes.
class NumberMessage {
 public:
  static void Rewrite(Message& message, std::span<const std::byte> bytes) {
    SHOAL_DCHECK(message.reference_count_ == 0 && bytes.size() <= Message::kInlineBytes);
    std::memcpy(message.storage(), bytes.data(), bytes.size());
    message.size_ = bytes.size();
  }
};

Number Add(const Number& a, const Number& b) {
  const auto* x = std::get_if<std::int64_t>(&a);
  const auto* y = std::get_if<std::int64_t>(&b);
  if (x != nullptr && y != nullptr) {
    // Unsigned, since only that wraps around by definition.
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(*x) +
                                     static_cast<std::uint64_t>(*y));
  }
  const auto real = [](const Number& number) {
    return std::visit([](auto value) { return static_cast<double>(value); }, number);
  };
  return real(a) + real(b);
}

MessagePtr MakeNumberMessage(const Number& number) {
  return Message::New(NumberBytes(number).span(), {});
}

std::optional<Number> NumberOf(const Message& message) {
  const std::span<const std::byte> bytes = message.bytes();
  if (bytes.size() < 3 || bytes[1] != Byte(1)) return std::nullopt;
  const auto tag = std::to_integer<std::uint8_t>(bytes[2]);
  const std::span<const std::byte> content = bytes.subspan(3);
  switch (tag) {
    case wire::kInt8:
      return Read<std::int8_t, std::int64_t>(content);
    case wire::kInt16:
      return Read<std::int16_t, std::int64_t>(content);
    case wire::kInt32:
      return Read<std::int32_t, std::int64_t>(content);
    case wire::kInt64:
      return Read<std::int64_t, std::int64_t>(content);
    case wire::kDouble:
      return Read<double, double>(content);
    default:
      break;
  }
  if (content.empty() && (tag <= wire::kLargestSmallInteger || tag >= wire::kSmallNegative)) {
    return Number(std::int64_t{static_cast<std::int8_t>(tag)});
  }
  return std::nullopt;
}

void RewriteNumber(Message& message, const Number& number) {
  NumberMessage::Rewrite(message, NumberBytes(number).span());
}

}  // namespace shoal::core
