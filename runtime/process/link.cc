// SPDX-License-Identifier: MIT
#include "runtime/process/link.h"

#include <new>
#include <utility>

namespace shoal::core {

namespace {

// One half: watches one process for the other. The halves refer to each other as long as both are
// watched; the one that is told first takes the other back, which breaks the circle.
class LinkEnd final : public ExitWatch {
 public:
  explicit LinkEnd(Process& other) : other_(Ref<Process>::Share(&other)) {}
  void SetPeer(Ref<LinkEnd> peer) { peer_ = std::move(peer); }
  void Untie() { peer_ = Ref<LinkEnd>(); }

  void OnExit(ExitKind kind, const Message*, const Ref<Failure>& failure) override {
    if (kind == ExitKind::kError) other_->EndLinked(failure);
    if (kind == ExitKind::kCancelled) other_->Cancel();
    // If the other one ends at this moment, it tells its half itself: each tells the other then,
    // who takes no notice of it any more.
    if (other_->exit().Unwatch(*peer_)) peer_->Untie();
    peer_ = Ref<LinkEnd>();
  }
  // The failure goes on to the other process; if that one knows it, so does somebody.
  [[nodiscard]] bool joins() const override { return false; }

 private:
  const Ref<Process> other_;
  Ref<LinkEnd> peer_;  // written before either is watched, then by the thread that unwatched it
};

}  // namespace

bool LinkProcesses(Process& a, Process& b) {
  const auto of_a = Ref<LinkEnd>::Adopt(new (std::nothrow) LinkEnd(b));
  const auto of_b = Ref<LinkEnd>::Adopt(new (std::nothrow) LinkEnd(a));
  if (!of_a || !of_b) return false;
  of_a->SetPeer(of_b);
  of_b->SetPeer(of_a);
  static_cast<void>(a.exit().Watch(*of_a));
  static_cast<void>(b.exit().Watch(*of_b));
  return true;
}

}  // namespace shoal::core
