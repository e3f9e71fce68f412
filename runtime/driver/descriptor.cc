// SPDX-License-Identifier: MIT
#include "runtime/driver/descriptor.h"

#include <unistd.h>

#include <cerrno>
#include <new>
#include <utility>

#include "runtime/base/check.h"
#include "runtime/driver/poller.h"

namespace shoal::core {

Ref<Descriptor> Descriptor::Adopt(Poller& poller, int fd) {
  SHOAL_DCHECK(fd >= 0);
  if (!poller.Open()) return {};
  PollSlot* const slot = poller.slots_.Take();
  if (slot == nullptr) {
    errno = ENOMEM;
    return {};
  }
  auto* const made = new (std::nothrow) Descriptor(poller, *slot, fd);
  if (made == nullptr) {
    poller.slots_.GiveBack(*slot);
    errno = ENOMEM;
    return {};
  }
  MutexLock lock(slot->mu);
  slot->fd = fd;
  return Ref<Descriptor>::Adopt(made);
}

Descriptor::~Descriptor() { Close(); }

Status Descriptor::Await(WaitNode& node, Direction direction) {
  const auto side = static_cast<std::size_t>(direction);
  MutexLock lock(slot_.mu);
  if (fd() < 0) return Status::kClosed;
  // An edge that this brings is told to a thread that has to take the lock first.
  const Status watched = poller_.Watch(slot_, direction);
  if (watched != Status::kPending) return watched;
  if (std::exchange(slot_.ready[side], false)) return Status::kOk;
  node.place = this;
  slot_.waits[side].PushBack(node);
  poller_.BeginWait();
  return Status::kPending;
}

Status Descriptor::Expect(Direction direction) {
  MutexLock lock(slot_.mu);
  if (fd() < 0) return Status::kClosed;
  const Status watched = poller_.Watch(slot_, direction);
  slot_.ready[static_cast<std::size_t>(direction)] = false;
  return watched == Status::kPending ? Status::kOk : watched;
}

void Descriptor::Withdraw(WaitNode& node) {
  MutexLock lock(slot_.mu);
  if (!node.linked()) return;
  node.Unlink();
  poller_.EndWaits(1);
}

void Descriptor::Close() {
  const int fd = Detach();
  if (fd >= 0) ::close(fd);
}

int Descriptor::Detach() {
  WakeList woken;
  int ended = 0;
  int fd = -1;
  {
    MutexLock lock(slot_.mu);
    fd = fd_.exchange(-1, std::memory_order_relaxed);
    if (fd < 0) return -1;
    // Also where the file is closed next: a copy of it, in a child, would keep it registered.
    poller_.Forget(slot_);
    for (auto& waits : slot_.waits) {
      while (WaitNode* node = waits.PopFront()) {
        ++ended;
        if (!node->waiter->TryClaim()) continue;
        node->waiter->SetOutcome(Status::kClosed, node->index);
        woken.Add(*node->waiter);
      }
    }
  }
  poller_.slots_.GiveBack(slot_);
  woken.Flush();
  // Not before: see IdleSource::Armed.
  if (ended > 0) poller_.EndWaits(ended);
  return fd;
}

}  // namespace shoal::core
