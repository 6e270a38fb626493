// What a move did, added up over a chain.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>

namespace mixwood {

struct MoveReport {
  explicit MoveReport(const char* the_name) : name(the_name) {}

  const char* name;
  std::int64_t proposed = 0;
  std::int64_t accepted = 0;
  double seconds = 0;

  // The log of an acceptance ratio, where the move has one. Mean and spread are kept up to date
  // number by number (Welford): sums of squares would cancel.
  void add_log_ratio(double log_ratio) {
    if (!std::isfinite(log_ratio)) return;
    const double difference = log_ratio - mean_;
    mean_ += difference / static_cast<double>(++ratios_);
    squares_ += difference * (log_ratio - mean_);
  }
  template <class Archive>
  void archive(Archive& a) {
    a.value(proposed);
    a.value(accepted);
    a.value(seconds);
    a.value(ratios_);
    a.value(mean_);
    a.value(squares_);
  }

  double mean_log_ratio() const { return ratios_ > 0 ? mean_ : nothing; }
  double sd_log_ratio() const {
    return ratios_ > 1 ? std::sqrt(squares_ / static_cast<double>(ratios_ - 1)) : nothing;
  }

 private:
  static constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
  std::int64_t ratios_ = 0;
  double mean_ = 0;
  double squares_ = 0;
};

// Adds the time of its own life to a report. Only reported: no draw depends on the clock.
class Timed {
 public:
  explicit Timed(MoveReport& report) : report_(&report) {}
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;
  ~Timed() { report_->seconds += std::chrono::duration<double>(Clock::now() - start_).count(); }

  // All of it counts for this report instead.
  void count_for(MoveReport& report) { report_ = &report; }

 private:
  using Clock = std::chrono::steady_clock;
  MoveReport* report_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace mixwood
