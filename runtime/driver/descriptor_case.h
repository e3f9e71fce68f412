// SPDX-License-Identifier: MIT
// The case of a select in which a file descriptor is ready.
//
// Threads:   the owner of the waiter.
// Ownership: the maker keeps the descriptor.
#pragma once

#include "runtime/driver/descriptor.h"
#include "runtime/wait/select.h"

namespace shoal::core {

// Nothing is read or written: it looks by poll(2). An edge is no more than a reason to look, as it
// may be older than the last look, or another one may have taken what came.
class DescriptorCase final : public SelectCase {
 public:
  DescriptorCase(Descriptor& descriptor, Direction direction)
      : descriptor_(descriptor), direction_(direction) {}
  // Also kClosed.
  Status Try(WaitNode& node) override;
  Attempt Publish(WaitNode& node) override;
  Status Completed(WaitNode& node, Status outcome) override;

 private:
  [[nodiscard]] Status Look() const;

  Descriptor& descriptor_;
  const Direction direction_;
};

}  // namespace shoal::core
