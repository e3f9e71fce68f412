// SPDX-License-Identifier: MIT
// The byte format of a message: what stands in Message::bytes().
//
//   message   = flags (1 byte)  count (varint)  value * count  [trailer]
//   value     = tag (1 byte), then what the tag says
//   varint    = 7 bits a byte, the lowest first, the high bit set in all bytes but the last; some
//               are written before their value is known, then high bytes may be zero
//   text      = varint length, the bytes
//   numbers   = little endian, as in memory; bytes are not aligned
//   trailer   = with kNeedsModules: varint n, n texts (names of modules), and 8 bytes: where the
//               trailer starts, counted from the first byte of the message
//
// Identity: an object that is met again is written as the place of its tag in the message. Its tag
// then gets kShared, so that the reader keeps in mind only what it will be asked for.
//
// The format never leaves the program, so it has no version. References (handles) stand beside the
// bytes: the k-th kHandle in the bytes is the k-th of Message::references().
#pragma once

#include <cstdint>

namespace shoal::core::wire {

// The first byte of a message.
enum Flags : std::uint8_t {
  kPlain = 0,               // scalars only: nil, booleans, numbers, light userdata
  kAllocates = 1U << 0,     // decoding makes strings, tables, …, so it can run out of memory
  kNeedsModules = 1U << 1,  // modules are named: they are required before decoding
  kHasShared = 1U << 2,     // some tags have kShared
};

// Tags. Three ranges hold a number in the tag itself:
//   0x00–0x7f  the integer 0…127
//   0x80–0xbf  a string of 0…63 bytes, which follow
//   0xe0–0xff  the integer -32…-1
// so a tag outside the string range that is an integer is that integer as int8_t.
inline constexpr std::uint8_t kLargestSmallInteger = 0x7f;
inline constexpr std::uint8_t kShortString = 0x80;
inline constexpr std::uint8_t kShortStringMax = 63;
inline constexpr std::uint8_t kSmallNegative = 0xe0;
inline constexpr std::int64_t kSmallIntegerMin = -32;
inline constexpr std::int64_t kSmallIntegerMax = 127;

enum Tag : std::uint8_t {
  kNil = 0xc0,
  kFalse = 0xc1,
  kTrue = 0xc2,
  kInt8 = 0xc3,    // 1 byte, signed
  kInt16 = 0xc4,   // 2 bytes, signed
  kInt32 = 0xc5,   // 4 bytes, signed
  kInt64 = 0xc6,   // 8 bytes, signed
  kDouble = 0xc7,  // 8 bytes, IEEE 754

  kLongString = 0xc8,     // text
  kLightUserdata = 0xc9,  // 8 bytes, the pointer
  kHandle = 0xca,         // the next one of the references
  kGlobals = 0xcb,        // the globals table of the receiver
  kBackReference = 0xcc,  // varint place of the object
  kSharedUpvalue = 0xcd,  // varint place of a kUpvalue

  // Objects. Each may have kShared.
  kTable = 0xd0,          // varint n, size hint (1 byte), n values (1…n), pairs of key and value,
                          // kNil in place of a key
  kTableWithMeta = 0xd2,  // the same, then the metatable (a value)
  kFunction = 0xd4,       // 4 bytes length of its code, the code, 1 byte n, n upvalues
  kModule = 0xd6,         // a value by name: module (text), varint n, n fields (texts)
  kTransfer = 0xd8,       // __transfer: loader, value
  kUpvalue = 0xda,        // an upvalue that is met for the first time: its value
  kStandIn = 0xdc,        // a value that could not be rebuilt: the reason (text)
};
inline constexpr std::uint8_t kShared = 1;

// A size hint of a table: the number of pairs, or, with the high bit, its logarithm rounded up.
inline constexpr std::uint8_t kLargeHint = 0x80;

}  // namespace shoal::core::wire
