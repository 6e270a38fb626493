// Fitted split-merge: restricted Gibbs proposals (Jain and Neal 2004) that start from the tree.
//
// A node v = (l, r) of the guide tree is drawn by a law that does not depend on the partition, then
// a row i below l and a row j below r, uniformly: the anchors. S is the union of their clusters.
// From a launch state made of the tree, (v, i, j), S and fresh randomness alone, one more
// restricted scan gives two sides A and B: it is drawn if i and j are in one cluster, which this
// would split, and replayed to their two clusters otherwise, which may merge. With q the
// probability of that scan, r is as in split_merge.hpp.
//
// The launch: some rows of S come first, drawn by chance. What is below l goes with i, what is
// below r with j, the others in turn by their weights; then come some scans of these rows. They
// settle what the blocks of the tree leave in doubt, and where groups overlap that takes many: a
// few rows are enough to find two sides, and cost little. Then the other rows, each by its weights,
// and one scan of all.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "mixwood/move/items.hpp"
#include "mixwood/move/merge_gain.hpp"
#include "mixwood/move/report.hpp"
#include "mixwood/move/restricted_scan.hpp"
#include "mixwood/move/split_off.hpp"
#include "mixwood/random/stream.hpp"
#include "mixwood/state/guided_state.hpp"

namespace mixwood {

template <Family F>
class FittedSplitMerge {
 public:
  explicit FittedSplitMerge(const F& family)
      : scan_(family), both_(family.statistic_size()), statistics_{both_, both_} {}

  // Every leaf of the tree must be one row. Leaves the state as it is if `stop` is set meanwhile.
  void operator()(GuidedState<F>& state, int node, Stream& random, const std::atomic<bool>& stop,
                  MoveReport& splits, MoveReport& merges) {
    const TreeShape& shape = state.tree->shape;
    const std::span<const int> left = shape.rows_below(shape.left(node));
    const std::span<const int> right = shape.rows_below(shape.right(node));
    const int i = left[random.below(left.size())];
    const int j = right[random.below(right.size())];
    const double threshold = std::log(random.positive_uniform());
    const int a = state.partition.slot_of(i), b = state.partition.slot_of(j);
    MoveReport& report = a == b ? splits : merges;
    ++report.proposed;
    double gain = 0;
    if (a != b) {
      gain = log_gain_of_merging(state, a, b, both_, statistics_[side_a]);
      // q is at most 1: what is hopeless already needs no launch.
      if (!(threshold <= gain)) return report.add_log_ratio(gain);
    }
    collect_items(state.partition, node, i, j);
    scan_.launch_near(i, j, items_, near_, put_few_first(random), coarse_scans, state.prior, random,
                      stop);
    if (stop) return;
    const double log_q = a == b ? scan_.draw(state.prior, random)
                                : scan_.replay(state.prior, current_sides(state, a));
    const double log_ratio = a == b ? log_gain_of_split(state, a) - log_q : gain + log_q;
    report.add_log_ratio(log_ratio);
    if (!(threshold <= log_ratio)) return;
    ++report.accepted;
    if (a == b)
      split_off(state, scan_, statistics_);
    else
      merge(state, a, b);
  }

  // Rows scored against a side, or moved, so far.
  std::int64_t scored() const { return scan_.scored(); }
  // ... in a proposal for so many rows: each of a scan's against two sides.
  static double work(double rows) {
    const double few = std::min(most_few, largest_share * rows);
    return 2 * ((coarse_scans + 1) * few + 3 * rows);
  }

 private:
  // A launch begins with about so many rows, and at most this share of all: its many scans then
  // cost no more than three of all rows.
  static constexpr double most_few = 60, largest_share = 0.25;
  static constexpr int coarse_scans = 12;

  // S without i and j in the order of the tree, and which of v's children each is below.
  void collect_items(const TreePartition& partition, int node, int i, int j) {
    const TreeShape& shape = partition.shape();
    const int a = partition.slot_of(i), b = partition.slot_of(j);
    pieces_ = Items::list_of_pieces(partition, a);
    if (a != b) partition.each_piece(b, [&](int piece) { pieces_.push_back(piece); });
    std::sort(pieces_.begin(), pieces_.end());  // depth first: the order of their rows, too
    items_.clear();
    near_.clear();
    const int first = shape.left(node), second = shape.right(node), end = shape.end(node);
    for (const int piece : pieces_)
      for (const int row : shape.rows_below(piece)) {
        if (row == i || row == j) continue;
        const int leaf = shape.leaf_of_row[row];
        items_.push_back(row);
        near_.push_back(leaf < first || leaf >= end ? RestrictedScan<F>::nowhere
                        : leaf < second             ? side_a
                                                    : side_b);
      }
  }

  // Draws which items a launch begins with, puts them first, and returns how many they are. What
  // the others are near to is forgotten.
  std::size_t put_few_first(Stream& random) {
    const double n = static_cast<double>(items_.size());
    const double expected = std::min(most_few, largest_share * n);
    std::size_t count = 0;
    later_.clear();
    for (std::size_t k = 0; k < items_.size(); ++k) {
      if (random.uniform() * n < expected) {
        items_[count] = items_[k];
        near_[count++] = near_[k];
      } else {
        later_.push_back(items_[k]);
      }
    }
    std::copy(later_.begin(), later_.end(), items_.begin() + static_cast<std::ptrdiff_t>(count));
    return count;
  }

  std::span<const Side> current_sides(const GuidedState<F>& state, int a) {
    sides_.clear();
    for (const int row : items_)
      sides_.push_back(state.partition.slot_of(row) == a ? side_a : side_b);
    return sides_;
  }

  // log of phi(h_A) phi(h_B) / phi(h_c).
  double log_gain_of_split(GuidedState<F>& state, int cluster) {
    scan_.sum_sides(state.family, statistics_);
    double gain = -state.log_kappa_of(cluster) - state.clusters.log_marginal(cluster);
    for (const Side side : {side_a, side_b}) {
      const double log_kappa = state.prior.has_groups()
                                   ? state.prior.by_group().log_kappa(scan_.groups(side))
                                   : state.log_kappa(scan_.size(side));
      gain += log_kappa + state.family.log_marginal(statistics_[side].data());
    }
    return gain;
  }

  // The cluster of j goes into that of i.
  void merge(GuidedState<F>& state, int a, int b) {
    for (const int piece : Items::list_of_pieces(state.partition, b))
      state.partition.move_node(piece, a);
    state.partition.close(b);
    state.clusters.assign(a, both_.data());
  }

  RestrictedScan<F> scan_;
  std::vector<int> pieces_, items_, near_, later_;
  std::vector<Side> sides_;
  std::vector<double> both_, statistics_[2];
};

}  // namespace mixwood
