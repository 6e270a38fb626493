// Leaf scan: Gibbs steps on leaves of the guide tree, drawn with replacement by weights that are
// learned in warm-up and frozen after it: leaves whose cluster is uncertain are visited more often.
#pragma once

#include <algorithm>
#include <atomic>
#include <numeric>
#include <vector>

#include "mixwood/move/gibbs.hpp"
#include "mixwood/move/subtree_gibbs.hpp"
#include "mixwood/random/cumulative.hpp"
#include "mixwood/tree/guide.hpp"

namespace mixwood {

template <Family F>
class LeafScan {
 public:
  // `sets` are the rows that stay together; none if every row is a leaf.
  LeafScan(const LeafSets& sets, int n_rows)
      : sets_(sets),
        uncertainty_(n_rows, never),
        n_leaves_(sets.empty() ? n_rows : static_cast<int>(sets.size())) {}

  // Visits `count` leaves.
  void operator()(GuidedState<F>& state, int count, GibbsSweep<GuidedState<F>>& sweep,
                  SubtreeGibbs<F>& subtree, Stream& random, const std::atomic<bool>& stop,
                  MoveReport& report) {
    leaves_.clear();
    for (int k = 0; k < count; ++k)
      leaves_.push_back(law_.empty() ? static_cast<int>(random.below(n_leaves_))
                                     : law_.draw(random));
    visit(state, sweep, subtree, random, stop, report);
  }

  // Visits every leaf once and learns how uncertain it is.
  void visit_all(GuidedState<F>& state, GibbsSweep<GuidedState<F>>& sweep, SubtreeGibbs<F>& subtree,
                 Stream& random, const std::atomic<bool>& stop, MoveReport& report) {
    leaves_.resize(n_leaves_);
    std::iota(leaves_.begin(), leaves_.end(), 0);
    visit(state, sweep, subtree, random, stop, report);
  }

  std::vector<float>* uncertainty() { return &uncertainty_; }

  // How many visits an iteration should make: some for every leaf that would change cluster.
  int advised_visits() const {
    const double wanted = std::max(visits_a_change * expected_changes_, 64.0);
    return static_cast<int>(std::min({wanted, static_cast<double>(n_leaves_), most_visits}));
  }

  // Weights from what was learned: half of the visits are spread evenly.
  void set_weights() {
    std::vector<double> weights(n_leaves_, 0.0);
    double sum = 0;
    for (int leaf = 0; leaf < n_leaves_; ++leaf) {
      const float learned = uncertainty_[first_row(leaf)];
      weights[leaf] = learned < 0 ? 1.0f : learned;
      sum += weights[leaf];
    }
    expected_changes_ = sum;
    const double even = sum > 0 ? sum / n_leaves_ : 1.0;
    for (double& weight : weights) weight += even;
    law_.set(weights);
  }

 private:
  static constexpr float never = -1;
  static constexpr double visits_a_change = 8;
  static constexpr double most_visits = 4000;

  int first_row(int leaf) const { return sets_.empty() ? leaf : sets_[leaf][0]; }

  void visit(GuidedState<F>& state, GibbsSweep<GuidedState<F>>& sweep, SubtreeGibbs<F>& subtree,
             Stream& random, const std::atomic<bool>& stop, MoveReport& report) {
    if (sets_.empty()) return sweep(state, leaves_, random, stop, report);
    const Timed timed(report);
    for (const int leaf : leaves_)
      subtree(state, state.tree->shape.leaf_of_row[first_row(leaf)], random, report);
  }

  const LeafSets& sets_;
  std::vector<float> uncertainty_;
  int n_leaves_;
  double expected_changes_ = n_leaves_;
  std::vector<int> leaves_;
  CumulativeLaw law_;
};

}  // namespace mixwood
