// Split-merge with restricted Gibbs proposals (Jain and Neal 2004), for every prior, given u.
//
// Two rows i, j are drawn; S is the union of their clusters. From a launch state made of (S, i, j)
// alone, one more restricted scan gives two sides A and B: it is drawn if i and j are in one
// cluster, which this would split, and replayed to their two clusters otherwise, which may merge.
// With q the probability of that scan,
//
//   r(split) = kappa(n_A) kappa(n_B)/kappa(n_S) * P(X_A) P(X_B)/P(X_S) / q,   r(merge) = 1/r(split)
#pragma once

#include <algorithm>
#include <atomic>
#include <vector>

#include "mixwood/move/report.hpp"
#include "mixwood/move/restricted_scan.hpp"
#include "mixwood/move/split_off.hpp"
#include "mixwood/random/stream.hpp"
#include "mixwood/state/state.hpp"

namespace mixwood {

template <Family F>
class SplitMerge {
 public:
  SplitMerge(const F& family, int scans)
      : scan_(family), scans_(scans), both_(family.statistic_size()), statistics_{both_, both_} {}

  // One proposal; there must be two rows. Leaves the state as it is if `stop` is set meanwhile.
  void operator()(State<F>& state, Stream& random, const std::atomic<bool>& stop) {
    const int n = state.partition.n_rows();
    const int i = static_cast<int>(random.below(n));
    int j = static_cast<int>(random.below(n - 1));
    j += j >= i;
    const bool together = state.partition.slot_of(i) == state.partition.slot_of(j);
    MoveReport& report = together ? split_report : merge_report;
    const Timed timed(report);
    collect_items(state.partition, i, j);
    scan_.launch(i, j, items_, scans_, state.prior, random, stop);
    if (stop) return;
    const double log_q = together ? scan_.draw(state.prior, random)
                                  : scan_.replay(state.prior, current_sides(state.partition, i));
    const double log_split = log_gain(state) - log_q;
    const double log_ratio = together ? log_split : -log_split;
    ++report.proposed;
    report.add_log_ratio(log_ratio);
    if (!(-random.exponential() < log_ratio)) return;
    ++report.accepted;
    if (together)
      split_off(state, scan_, statistics_);
    else
      merge(state, i, j);
  }

  MoveReport split_report{"split"};
  MoveReport merge_report{"merge"};

 private:
  // S without i and j, by row number: an order that does not look at the split.
  void collect_items(const Partition& partition, int i, int j) {
    items_.clear();
    const int a = partition.slot_of(i);
    const int b = partition.slot_of(j);
    for (int row = 0; row < partition.n_rows(); ++row) {
      const int slot = partition.slot_of(row);
      if ((slot == a || slot == b) && row != i && row != j) items_.push_back(row);
    }
  }

  std::span<const Side> current_sides(const Partition& partition, int i) {
    sides_.clear();
    for (const int row : items_)
      sides_.push_back(partition.slot_of(row) == partition.slot_of(i) ? side_a : side_b);
    return sides_;
  }

  // log of kappa(n_A) kappa(n_B)/kappa(n_S) * P(X_A) P(X_B)/P(X_S), from the rows themselves.
  double log_gain(const State<F>& state) {
    scan_.sum_sides(state.family, statistics_);
    both_ = statistics_[side_a];
    state.family.merge(both_.data(), statistics_[side_b].data());
    if (state.prior.has_groups()) {
      std::vector<double> counts = scan_.groups(side_a);
      for (std::size_t j = 0; j < counts.size(); ++j) counts[j] += scan_.groups(side_b)[j];
      const GroupTerms& terms = state.prior.by_group();
      return terms.log_kappa(scan_.groups(side_a)) + terms.log_kappa(scan_.groups(side_b)) -
             terms.log_kappa(counts) + state.family.log_marginal(statistics_[side_a].data()) +
             state.family.log_marginal(statistics_[side_b].data()) -
             state.family.log_marginal(both_.data());
    }
    auto log_phi = [&](int size, const std::vector<double>& statistic) {
      return state.prior.log_kappa(size) + state.family.log_marginal(statistic.data());
    };
    const int a = scan_.size(side_a), b = scan_.size(side_b);
    return log_phi(a, statistics_[side_a]) + log_phi(b, statistics_[side_b]) -
           log_phi(a + b, both_);
  }

  // The cluster of j goes into that of i.
  void merge(State<F>& state, int i, int j) {
    const int kept = state.partition.slot_of(i);
    const int gone = state.partition.slot_of(j);
    state.partition.move(j, kept);
    for (std::size_t k = 0; k < items_.size(); ++k)
      if (scan_.sides()[k] == side_b) state.partition.move(items_[k], kept);
    state.partition.close(gone);
    state.clusters.assign(kept, both_.data());
  }

  RestrictedScan<F> scan_;
  int scans_;
  std::vector<int> items_;
  std::vector<Side> sides_;
  std::vector<double> both_, statistics_[2];
};

}  // namespace mixwood
