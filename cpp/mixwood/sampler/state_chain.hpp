// What the chains share whose state is a partition of the rows and the prior's values.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "mixwood/chain.hpp"
#include "mixwood/move/gibbs_sweep.hpp"
#include "mixwood/move/parameter_update.hpp"
#include "mixwood/random/stream.hpp"
#include "mixwood/state/state.hpp"

namespace mixwood {

// S is the state: State<F>, or another that offers the same.
template <Family F, class S = State<F>>
class StateChain : public AnyChain {
 public:
  void assign(std::span<const std::int32_t> labels, PriorValues values) override {
    state_.assign(labels, values);
    since_rebuild_ = 0;
  }
  void write_labels(std::int32_t* labels) const override { state_.partition.write_labels(labels); }
  const PriorValues& values() const override { return state_.prior.values(); }
  int n_rows() const override { return family_->n_rows(); }
  int n_clusters() const override { return state_.partition.n_clusters(); }
  double log_joint() override { return state_.log_joint(); }
  void check(double tolerance) override { state_.check(tolerance); }
  std::vector<double> log_weights(int row) override {
    if (is_weighted(*family_))
      throw std::invalid_argument("weighted leaves do not move row by row");
    return sweep_.log_weights(state_, row);
  }

  // log p(x_i | X_-i, Pi_-i, u) = log[u/((n-1) tau) * sum of the row's Gibbs weights] for each row,
  // the 1/tau being the factor that those weights leave out.
  std::vector<double> log_ordinates() override {
    const int n = n_rows();
    if (n == 1) return {family_->log_alone(0)};
    std::vector<double> ordinates(n);
    for (int row = 0; row < n; ++row) {
      const std::vector<double> weights = log_weights(row);
      const double largest = *std::max_element(weights.begin(), weights.end());
      double sum = 0;
      for (const double weight : weights) sum += std::exp(weight - largest);
      ordinates[row] =
          values().log_u - std::log(n - 1) - state_.prior.log_tau() + largest + std::log(sum);
    }
    return ordinates;
  }

 protected:
  template <class... More>
  StateChain(std::shared_ptr<const F> family, Prior prior, std::span<const std::int32_t> labels,
             Stream random, More&&... more)
      : family_(std::move(family)),
        state_(*family_, prior, labels, std::forward<More>(more)...),
        random_(random) {
    parameters_.start(state_.prior, state_.partition, random_);
  }

  // u and the prior's parameters, and statistics made afresh now and then: at fixed iterations, or
  // when too many slots are empty.
  void end_iteration() {
    parameters_(state_.prior, state_.partition, random_, parameter_report_);
    const auto& partition = state_.partition;
    const bool many_holes = 4 * partition.n_slots() > 5 * partition.n_clusters() + 64;
    if (++since_rebuild_ == iterations_between_rebuilds || many_holes) {
      state_.rebuild();
      since_rebuild_ = 0;
    }
  }

  static constexpr int iterations_between_rebuilds = 64;

  // What every such chain has; the derived ones add theirs.
  template <class Archive>
  void archive_shared(Archive& a) {
    state_.archive(a);
    a.value(since_rebuild_);
    a.require(since_rebuild_ >= 0 && since_rebuild_ < iterations_between_rebuilds,
              "a counter is out of range");
    parameter_report_.archive(a);
  }

  std::shared_ptr<const F> family_;
  S state_;
  Stream random_;
  int since_rebuild_ = 0;
  GibbsSweep<S> sweep_;
  ParameterUpdate parameters_;
  MoveReport parameter_report_{"parameters"};
};

}  // namespace mixwood
