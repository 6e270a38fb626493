// Anchored split-merge. A node v = (l, r) of the guide tree is drawn by a law that does not depend
// on the partition. If l and r are in one cluster c, the move proposes to split c into A, around l,
// and B, around r; if they are in two clusters a and b, to merge these. (If one of them is in
// several clusters, nothing is done.)
//
// The other rows of S = c or a + b are taken as items: the highest nodes of the tree that lie in S
// without v, the same set seen from either side. Each item in turn, in an order that depends on the
// tree, v and S alone, goes to side A or B by its predictive weights, or is opened, which means
// that its two children take its place and do not both go to the same side:
//
//   P(open) = d/(1+d), kept off 0 and 1; no leaf is opened
//   P(A)    = (1 - P(open)) phi(h_{A+w})/phi(h_A) / [the same + phi(h_{B+w})/phi(h_B)]
//
// So every division of S in two has exactly one path, and q is the product of the probabilities
// along it. A split is accepted with phi(h_A) phi(h_B) / phi(h_c) / q, a merge with the inverse at
// the current a, b. One function, `allocate`, draws the path or replays it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "mixwood/move/growing_block.hpp"
#include "mixwood/move/items.hpp"
#include "mixwood/move/merge_gain.hpp"
#include "mixwood/move/report.hpp"
#include "mixwood/random/stream.hpp"
#include "mixwood/state/guided_state.hpp"

namespace mixwood {

template <Family F>
class AnchoredSplitMerge {
 public:
  explicit AnchoredSplitMerge(const F& family) : grow_(family) {}

  void operator()(GuidedState<F>& state, int node, Stream& random, MoveReport& splits,
                  MoveReport& merges, MoveReport& idle) {
    const TreeShape& shape = state.tree->shape;
    const int slots[] = {state.partition.slot_of_node(shape.left(node)),
                         state.partition.slot_of_node(shape.right(node))};
    if (slots[0] == TreePartition::mixed || slots[1] == TreePartition::mixed) {
      ++idle.proposed;
      return;
    }
    const double threshold = std::log(random.positive_uniform());
    if (slots[0] == slots[1])
      split(state, node, slots[0], threshold, random, splits);
    else
      merge(state, node, slots[0], slots[1], threshold, merges);
  }

  // Items and parts of items sent to a side so far.
  std::int64_t allocated() const { return allocated_; }

 private:
  struct Waiting {
    int node;
    int forbidden;  // a side that the node may not take as a whole, or neither
    bool first;     // whether its sibling waits right below it on the stack
  };
  static constexpr int neither = -1;
  static constexpr int opened = 2;
  static constexpr double smallest_side = 1e-9;

  void split(GuidedState<F>& state, int node, int cluster, double threshold, Stream& random,
             MoveReport& report) {
    ++report.proposed;
    items_.of_cluster(state.partition, node, cluster);
    const double together = state.log_kappa_of(cluster) + state.clusters.log_marginal(cluster);
    const double log_q = allocate(state, node, no_bound, [&](int, const double* chances) {
      return drawn(chances, random.uniform());
    });
    const double log_ratio = grow_.log_potential(state, sides_[0]) +
                             grow_.log_potential(state, sides_[1]) - together - log_q;
    report.add_log_ratio(log_ratio);
    if (!(threshold <= log_ratio)) return;
    ++report.accepted;
    // The side of fewer nodes moves out.
    const int out = sides_[1].nodes.size() <= sides_[0].nodes.size() ? 1 : 0;
    const int fresh = state.open_cluster();
    for (const int moved : sides_[out].nodes) state.partition.move_node(moved, fresh);
    state.clusters.assign(fresh, sides_[out].statistic.data());
    state.clusters.assign(cluster, sides_[1 - out].statistic.data());
  }

  void merge(GuidedState<F>& state, int node, int a, int b, double threshold, MoveReport& report) {
    ++report.proposed;
    // Each has a marked row: together they would have two. All parts of a cluster that is allowed
    // are allowed, so a split has no such case, and q is what it is without marks.
    if (!state.partition.may_join(a, state.partition.marks(b))) return;
    const double gain = log_gain_of_merging(state, a, b, union_, other_);
    // q is at most 1: what is hopeless already need not be replayed (nor, below, to its end; the
    // report then gets a bound of log r).
    if (!(threshold <= gain)) return report.add_log_ratio(gain);
    const int both[] = {a, b};
    items_.of_clusters(state.partition, node, both);
    const double log_q = allocate(state, node, threshold - gain, [&](int item, const double*) {
      const int slot = state.partition.slot_of_node(item);
      return slot == a ? 0 : slot == b ? 1 : opened;
    });
    const double log_ratio = gain + log_q;
    report.add_log_ratio(log_ratio);
    if (!(threshold <= log_ratio)) return;
    ++report.accepted;
    // The one of fewer pieces moves.
    const std::vector<int> of_a = Items::list_of_pieces(state.partition, a);
    const std::vector<int> of_b = Items::list_of_pieces(state.partition, b);
    const bool a_moves = of_a.size() < of_b.size();
    const int stay = a_moves ? b : a;
    state.clusters.assign(stay, union_.data());
    for (const int piece : a_moves ? of_a : of_b) state.partition.move_node(piece, stay);
    state.partition.close(a_moves ? a : b);
  }

  // Rounding must not make a choice that cannot be.
  static int drawn(const double* chances, double at) {
    if (at < chances[0]) return 0;
    if (at < chances[0] + chances[1] || chances[opened] == 0) return chances[1] > 0 ? 1 : 0;
    return opened;
  }

  // Sends every item to a side and returns log q; gives up, with what it has, when that falls
  // below `bound`. `choose(node, chances)` says 0, 1 or `opened`.
  template <class Choose>
  double allocate(GuidedState<F>& state, int node, double bound, Choose&& choose) {
    const TreeShape& shape = state.tree->shape;
    for (const int side : {0, 1}) {
      grow_.take(state, side == 0 ? shape.left(node) : shape.right(node));
      grow_.start(state, sides_[side], grow_.score_alone(state));
    }
    double log_q = 0;
    stack_.clear();
    for (auto item = items_.list().rbegin(); item != items_.list().rend(); ++item)
      stack_.push_back({*item, neither, false});
    while (!stack_.empty() && log_q >= bound) {
      const Waiting next = stack_.back();
      stack_.pop_back();
      double chances[3];
      ++allocated_;
      fill_chances(state, next, chances);
      const int choice = choose(next.node, chances);
      log_q += std::log(chances[choice]);
      if (choice == opened) {
        stack_.push_back({shape.right(next.node), neither, false});
        stack_.push_back({shape.left(next.node), neither, true});
      } else {
        grow_.join(state, sides_[choice], scores_[choice]);
        if (next.first) stack_.back().forbidden = choice;
      }
    }
    return log_q;
  }

  // The probabilities of side 0, side 1 and of opening the node; scores_ holds what the sides
  // would become.
  void fill_chances(GuidedState<F>& state, const Waiting& next, double* chances) {
    grow_.take(state, next.node);
    grow_.score(state, sides_, scores_);
    double first = 1 / (1 + std::exp(scores_[1].log_gain - scores_[0].log_gain));
    if (std::isnan(first))
      throw std::runtime_error(
          "the weights of a block's two sides are not numbers; rescale X or choose a less extreme "
          "prior");
    first = std::clamp(first, smallest_side, 1 - smallest_side);
    const double open = grow_.chance_of_opening(state);
    chances[0] = (1 - open) * first;
    chances[1] = (1 - open) * (1 - first);
    chances[2] = open;
    if (next.forbidden == neither) return;
    chances[next.forbidden] = 0;
    const int other = 1 - next.forbidden;
    const double total = chances[other] + open;
    chances[other] /= total;
    chances[2] /= total;
  }

  static constexpr double no_bound = -std::numeric_limits<double>::infinity();

  BlockGrowth<F> grow_;
  Items items_;
  GrowingBlock sides_[2];
  BlockScore scores_[2];
  std::vector<double> union_, other_;
  std::vector<Waiting> stack_;
  std::int64_t allocated_ = 0;
};

}  // namespace mixwood
