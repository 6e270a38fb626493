// A chain: iterations of a sampler's moves, warm-up and thinning, and where draws are written.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "mixwood/move/gibbs.hpp"
#include "mixwood/move/parameters.hpp"
#include "mixwood/random/stream.hpp"
#include "mixwood/state/state.hpp"

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

// A chain whatever its family: what the bindings hold.
class AnyChain {
 public:
  AnyChain() = default;
  AnyChain(const AnyChain&) = delete;
  AnyChain& operator=(const AnyChain&) = delete;
  virtual ~AnyChain() = default;

  virtual void iterate() = 0;
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

  // Runs until the plan is done, `seconds` have passed or `stop` was called; returns the
  // iterations done so far in all. The clock decides only when to come back, never what is drawn.
  std::int64_t run(const Plan& plan, const Sink& sink, double seconds) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::duration<double>(seconds);
    while (iterations_ < plan.warmup + plan.draws * plan.thin) {
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

// The marginal Gibbs sampler: a sweep over all rows, or `subset` of them drawn uniformly, then
// the parameters.
template <Family F>
class GibbsChain final : public AnyChain {
 public:
  GibbsChain(std::shared_ptr<const F> family, Prior prior, std::span<const std::int32_t> labels,
             Stream random, int subset)
      : family_(std::move(family)),
        state_(*family_, prior, labels),
        random_(random),
        subset_(subset),
        order_(labels.size()) {
    std::iota(order_.begin(), order_.end(), 0);
    parameters_.start(state_.prior, state_.partition, random_);
  }

  void iterate() override {
    sweep_(state_, rows_to_visit(), random_, stop_, sweep_report_);
    parameters_(state_.prior, state_.partition, random_, parameter_report_);
    const Partition& partition = state_.partition;
    const bool many_holes = 4 * partition.n_slots() > 5 * partition.n_clusters() + 64;
    if (++since_rebuild_ == iterations_between_rebuilds || many_holes) {
      state_.rebuild();
      since_rebuild_ = 0;
    }
  }

  void assign(std::span<const std::int32_t> labels, PriorValues values) override {
    state_.assign(labels, values);
    since_rebuild_ = 0;
  }
  void write_labels(std::int32_t* labels) const override { state_.partition.write_labels(labels); }
  const PriorValues& values() const override { return state_.prior.values(); }
  int n_rows() const override { return state_.partition.n_rows(); }
  int n_clusters() const override { return state_.partition.n_clusters(); }
  double log_joint() override { return state_.log_joint(); }
  void check() override { state_.check(); }
  std::vector<double> log_weights(int row) override { return sweep_.log_weights(state_, row); }

  // log p(x_i | X_-i, Pi_-i, u) = log[u/((n-1) tau) * sum of the row's Gibbs weights] for each row,
  // the 1/tau being the factor that those weights leave out.
  std::vector<double> log_ordinates() override {
    const int n = n_rows();
    if (n == 1) return {family_->log_alone(0)};
    std::vector<double> ordinates(n);
    for (int row = 0; row < n; ++row) {
      const std::vector<double> weights = sweep_.log_weights(state_, row);
      const double largest = *std::max_element(weights.begin(), weights.end());
      double sum = 0;
      for (const double weight : weights) sum += std::exp(weight - largest);
      ordinates[row] =
          values().log_u - std::log(n - 1) - state_.prior.log_tau() + largest + std::log(sum);
    }
    return ordinates;
  }

  std::vector<MoveReport> reports() const override { return {sweep_report_, parameter_report_}; }

 private:
  static constexpr int iterations_between_rebuilds = 64;

  std::span<const int> rows_to_visit() {
    if (subset_ == 0) return order_;
    const std::int64_t n = n_rows();
    for (std::int64_t j = 0; j < subset_; ++j)
      std::swap(order_[j], order_[j + random_.below(n - j)]);
    return std::span<const int>(order_).first(subset_);
  }

  std::shared_ptr<const F> family_;
  State<F> state_;
  Stream random_;
  int subset_;
  int since_rebuild_ = 0;
  std::vector<int> order_;
  GibbsSweep<F> sweep_;
  ParameterUpdate parameters_;
  MoveReport sweep_report_{"gibbs"};
  MoveReport parameter_report_{"parameters"};
};

}  // namespace mixwood
