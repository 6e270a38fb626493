// A chain whatever its sampler: warm-up and thinning, and where draws are written. The samplers
// themselves are in sampler/.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "mixwood/move/report.hpp"
#include "mixwood/prior.hpp"
#include "mixwood/tree/shape.hpp"

namespace mixwood {

// Where draws go: arrays with room for every draw of the chain.
struct Sink {
  std::int32_t* labels;  // draws x n
  double* log_joint;
  double* log_u;
  double* log_alpha;
  double* sigma;
  double* theta;
};

// How long to run: draw k is the state after iteration warmup + (k+1) thin.
struct Plan {
  std::int64_t warmup;
  std::int64_t draws;
  std::int64_t thin;
};

// The tree that guides a chain, for those who look at it; nothing where there is none.
struct GuideView {
  const TreeShape* shape = nullptr;
  const std::vector<double>* log_marginal = nullptr;
  const std::vector<double>* log_dissimilarity = nullptr;
};

// A chain whatever its family and sampler: what the bindings hold.
class AnyChain {
 public:
  AnyChain() = default;
  AnyChain(const AnyChain&) = delete;
  AnyChain& operator=(const AnyChain&) = delete;
  virtual ~AnyChain() = default;

  virtual void iterate() = 0;
  // Warm-up is over: whatever the sampler learns from its own past stays as it is from here on.
  virtual void freeze() {}
  virtual void assign(std::span<const std::int32_t> labels, PriorValues values) = 0;
  virtual void write_labels(std::int32_t* labels) const = 0;
  virtual const PriorValues& values() const = 0;
  virtual int n_rows() const = 0;
  virtual int n_clusters() const = 0;
  virtual double log_joint() = 0;
  virtual void check() = 0;
  virtual std::vector<double> log_weights(int row) = 0;
  virtual std::vector<double> log_ordinates() = 0;
  virtual std::vector<MoveReport> reports() const = 0;
  virtual GuideView guide() const { return {}; }

  // Runs until the plan is done, `seconds` have passed or `stop` was called; returns the
  // iterations done so far in all. The clock decides only when to come back, never what is drawn.
  std::int64_t run(const Plan& plan, const Sink& sink, double seconds) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::duration<double>(seconds);
    while (iterations_ < plan.warmup + plan.draws * plan.thin) {
      if (iterations_ == plan.warmup) freeze();
      iterate();
      if (stop_) break;  // the iteration may have been cut short: it does not count
      ++iterations_;
      const std::int64_t kept = iterations_ - plan.warmup;
      if (kept > 0 && kept % plan.thin == 0) record(sink, kept / plan.thin - 1);
      if (Clock::now() >= end) break;
    }
    return iterations_;
  }

  void stop() { stop_ = true; }
  std::int64_t iterations() const { return iterations_; }

 protected:
  std::atomic<bool> stop_ = false;

 private:
  void record(const Sink& sink, std::int64_t draw) {
    write_labels(sink.labels + draw * n_rows());
    sink.log_joint[draw] = log_joint();
    sink.log_u[draw] = values().log_u;
    sink.log_alpha[draw] = values().log_alpha;
    sink.sigma[draw] = values().sigma;
    sink.theta[draw] = values().theta;
  }

  std::int64_t iterations_ = 0;
};

}  // namespace mixwood
