// Leaf scan: Gibbs steps on leaves of the guide tree. The leaves lie on a line, each with a length
// of at least 1, and are visited at places one apart, from a random start below 1 to the line's end
// and then again: an iteration resumes where the last one stopped. So no leaf is left out, and one
// of length 3 is visited three times per round. (Leaves drawn one by one are missed and visited
// twice, which costs effective samples.) The lengths are learned in warm-up and frozen after it:
// leaves whose cluster is uncertain are longer.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "mixwood/move/gibbs_sweep.hpp"
#include "mixwood/move/subtree_gibbs.hpp"
#include "mixwood/move/uncertainty.hpp"
#include "mixwood/tree/guide.hpp"

namespace mixwood {

template <Family F>
class LeafScan {
 public:
  // `sets` are the rows that stay together; none if every row is a leaf.
  LeafScan(const LeafSets& sets, int n_rows)
      : sets_(sets),
        uncertainty_(n_rows, never),
        n_leaves_(sets.empty() ? n_rows : static_cast<int>(sets.size())) {
    lay_out(std::vector<double>(n_leaves_, 1.0));
  }

  // Visits `count` leaves.
  void operator()(GuidedState<F>& state, int count, GibbsSweep<GuidedState<F>>& sweep,
                  SubtreeGibbs<F>& subtree, Stream& random, const std::atomic<bool>& stop,
                  MoveReport& report) {
    for (std::int64_t done = 0; done < count && !stop; done += portion) {
      list_next(static_cast<int>(std::min<std::int64_t>(portion, count - done)), random);
      visit(state, sweep, subtree, random, stop, report);
    }
  }

  // Visits every leaf once and learns how uncertain it is.
  void visit_all(GuidedState<F>& state, GibbsSweep<GuidedState<F>>& sweep, SubtreeGibbs<F>& subtree,
                 Stream& random, const std::atomic<bool>& stop, MoveReport& report) {
    leaves_.resize(n_leaves_);
    std::iota(leaves_.begin(), leaves_.end(), 0);
    visit(state, sweep, subtree, random, stop, report);
    leaves_ = std::vector<int>();  // never as many again
  }

  void learn(GibbsSweep<GuidedState<F>>& sweep) {
    learning_ = true;
    sweep.learn_into(&uncertainty_);
  }
  // Nothing is visited before lengths are set again.
  void forget_lengths() { ends_ = std::vector<double>(); }
  // Sets the lengths for good.
  void stop_learning(GibbsSweep<GuidedState<F>>& sweep, double clusters) {
    set_lengths(clusters);
    learning_ = false;
    sweep.learn_into(nullptr);
  }

  // Which leaves there are is known already.
  template <class Archive>
  void archive(Archive& a, GibbsSweep<GuidedState<F>>& sweep) {
    if constexpr (Archive::loading)
      if (!sets_.empty()) n_leaves_ = static_cast<int>(sets_.size());
    a.list(uncertainty_, uncertainty_.size());
    a.value(learning_);
    archive_finite(a, expected_changes_);
    a.list(ends_, static_cast<std::size_t>(n_leaves_));
    archive_finite(a, place_);
    a.value(leaf_);
    if constexpr (Archive::loading) {
      double before = 0;
      for (const double end : ends_) {
        a.require(end >= before + 0.5 && std::isfinite(end), "a leaf has no length");
        before = end;
      }
      for (const float learned : uncertainty_)
        a.require(std::isfinite(learned), "an uncertainty is not a number");
      a.require(expected_changes_ >= 0 && place_ >= 0, "a leaf scan is out of range");
      a.require(leaf_ >= 0 && leaf_ < n_leaves_, "a leaf scan is nowhere");
      sweep.learn_into(learning_ ? &uncertainty_ : nullptr);
    }
  }

  // How many visits an iteration should make: a round of all leaves, unless that is expensive and
  // few of them would change cluster, or they are many. `clusters` is about how many there are to
  // compare a leaf with.
  int advised_visits(double clusters) const {
    const double wanted = std::max(
        {visits_per_change * expected_changes_, cheap_comparisons / clusters, least_visits});
    return static_cast<int>(std::min({wanted, static_cast<double>(n_leaves_), most_visits}));
  }

  // Lengths from what was learned. Where an iteration visits all leaves, they are equal; else half
  // of the line is for the uncertain ones.
  void set_lengths(double clusters) {
    std::vector<double> lengths(n_leaves_);
    double sum = 0;
    for (int leaf = 0; leaf < n_leaves_; ++leaf) {
      const float learned = uncertainty_[first_row(leaf)];
      lengths[leaf] = learned < 0 ? 1.0f : learned;
      sum += lengths[leaf];
    }
    expected_changes_ = sum;
    const double scale = advised_visits(clusters) < n_leaves_ && sum > 0 ? n_leaves_ / sum : 0.0;
    for (double& length : lengths) length = 1 + scale * length;
    lay_out(lengths);
  }

 private:
  static constexpr float never = -1;
  static constexpr int portion = 1 << 16;  // visits that are listed at once
  static constexpr double visits_per_change = 8;
  static constexpr double cheap_comparisons = 20000;
  static constexpr double least_visits = 256;
  static constexpr double most_visits = 20000;

  void lay_out(const std::vector<double>& lengths) {
    ends_.resize(lengths.size());
    std::partial_sum(lengths.begin(), lengths.end(), ends_.begin());
    place_ = ends_.back();  // at the end: the next round begins
  }

  // The leaves of the next `count` visits.
  void list_next(int count, Stream& random) {
    leaves_.clear();
    again_.clear();
    for (int k = 0; k < count; ++k) {
      const int leaf = next_leaf(random);
      // Twice in a row is in vain: the second visit waits for the others.
      (leaves_.empty() || leaf != leaves_.back() ? leaves_ : again_).push_back(leaf);
    }
    leaves_.insert(leaves_.end(), again_.begin(), again_.end());
  }

  int next_leaf(Stream& random) {
    place_ += 1;
    if (!(place_ < ends_.back())) {
      place_ = random.uniform();
      leaf_ = 0;
    }
    if (place_ >= ends_[leaf_]) ++leaf_;  // once is enough: no leaf is shorter than a step
    return leaf_;
  }

  int first_row(int leaf) const { return sets_.empty() ? leaf : sets_[leaf][0]; }

  void visit(GuidedState<F>& state, GibbsSweep<GuidedState<F>>& sweep, SubtreeGibbs<F>& subtree,
             Stream& random, const std::atomic<bool>& stop, MoveReport& report) {
    if (sets_.empty() && has_single_rows(state.family))
      return sweep(state, leaves_, random, stop, report);
    const Timed timed(report);
    for (const int leaf : leaves_) {
      if (stop) return;
      const int row = first_row(leaf);
      subtree(state, state.tree->shape.leaf_of_row[row], random, report);
      if (learning_) add_to_mean(uncertainty_[row], subtree.uncertainty());
    }
  }

  const LeafSets& sets_;
  std::vector<float> uncertainty_;
  int n_leaves_;
  bool learning_ = false;
  double expected_changes_ = n_leaves_;
  std::vector<int> leaves_, again_;
  std::vector<double> ends_;  // of the leaves on the line
  double place_ = 0;
  int leaf_ = 0;
};

}  // namespace mixwood
