// What a move did, added up over a chain.
#pragma once

#include <chrono>
#include <cstdint>

namespace mixwood {

struct MoveReport {
  const char* name;
  std::int64_t proposed = 0;
  std::int64_t accepted = 0;
  double seconds = 0;
};

// Adds the time of its own life to a report. Only reported: no draw depends on the clock.
class Timed {
 public:
  explicit Timed(MoveReport& report) : report_(report) {}
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;
  ~Timed() { report_.seconds += std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  MoveReport& report_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace mixwood
