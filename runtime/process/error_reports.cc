// SPDX-License-Identifier: MIT
#include "runtime/process/error_reports.h"

#include <new>
#include <utility>

namespace shoal::core {

namespace {

class Report final : public TimerNode {
 public:
  Report(const Ref<Failure>& failure, Log& log) : failure_(failure), log_(log) {}
  void SetText(std::string text) { text_ = std::move(text); }
  bool OnDue() override { return true; }
  void Fire() override {
    if (!failure_->joined() && failure_->MarkReported()) log_.Write(LogLevel::kError, text_);
    delete this;
  }

 private:
  const Ref<Failure> failure_;
  Log& log_;
  std::string text_;
};

}  // namespace

TimePoint ErrorReports::Add(const Ref<Failure>& failure, std::string text) {
  auto* report = new (std::nothrow) Report(failure, log_);
  if (report == nullptr) {
    if (failure->MarkReported()) log_.Write(LogLevel::kError, text);
    return kNever;
  }
  report->SetText(std::move(text));
  const TimePoint at = clock_.Now() + kDelay;
  wheel_.Arm(*report, at);
  return at;
}

}  // namespace shoal::core
