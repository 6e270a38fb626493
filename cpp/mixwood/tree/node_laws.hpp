// The laws by which moves draw nodes of a guide tree: functions of the tree alone.
//
// Going down from the root, a tree is cut where it is judged one cluster. With log d of a node
// softened, so that far from 0 it decides less than it claims,
//
//   s(v) = 1/(1 + d~),   d~ = (1 + |log d|)^(sign of log d)        (1 for a leaf)
//   reach(v) = product over the ancestors a of 1 - s(a)
//
// reach(v) s(v) is how much one expects the cut at v, reach(v) s(v) (1 - s(v)) how much one doubts
// whether it is there. A floor lets every node be drawn.
//
// Of what is below a node that is judged one cluster, next to nothing is reached. But a few rows at
// its edge may well be a cluster of their own: with e of detachment.hpp,
//
//   detached(v) = p (1 - p),   p = 1/(1 + exp(-e(v)))
//
// is how much one doubts that. Half of the blocks are drawn by it, and half of the nodes for
// anchored split-merge: the parent of a v that is drawn. Leaves are left to the leaf scan.
//
// What the tree does not doubt may be wrong all the same: of a cluster that is judged many, only
// its parts are drawn. So there is a law of sizes, too: of a row drawn uniformly, one of the nodes
// above it in whose smaller half it is, which are the leaf's parent and some of those above. Halves
// of any size are then drawn about as often.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "mixwood/random/cumulative.hpp"
#include "mixwood/random/stream.hpp"
#include "mixwood/tree/shape.hpp"

namespace mixwood {

class NodeLaws {
 public:
  NodeLaws() = default;

  NodeLaws(const TreeShape& shape, const std::vector<double>& log_dissimilarity,
           const std::vector<double>& log_detachment) {
    const int nodes = shape.n_nodes();
    std::vector<double> blocks(nodes), pairs(nodes);
    auto& reach = blocks;  // of the nodes that are still to come
    if (nodes > 0) reach[0] = 1;
    double all_blocks = 0, all_pairs = 0;
    for (int node = 0; node < nodes; ++node) {
      const double one = judged_one(shape.is_leaf(node), log_dissimilarity[node]);
      const double here = reach[node];
      blocks[node] = here * one;
      pairs[node] = shape.is_leaf(node) ? 0.0 : here * one * (1 - one);
      all_blocks += blocks[node];
      all_pairs += pairs[node];
      if (shape.is_leaf(node)) continue;
      reach[shape.left(node)] = reach[shape.right(node)] = here * (1 - one);
    }
    for (int node = 0; node < nodes; ++node) {
      blocks[node] += floor * all_blocks / nodes;
      if (!shape.is_leaf(node)) pairs[node] += floor * all_pairs / nodes;
    }
    expected_clusters_ = all_blocks;
    std::vector<double> detached(nodes, 0.0), above(nodes, 0.0);
    for (int node = 1; node < nodes; ++node) {
      if (shape.is_leaf(node)) continue;
      detached[node] = doubt(log_detachment[node]);
      above[shape.parent[node]] += detached[node];
    }
    blocks_.set(half_and_half(std::move(blocks), detached));
    splits_.set(half_and_half(pairs, above));
    pairs_.set(std::move(pairs));
  }

  const CumulativeLaw& blocks() const { return blocks_; }  // for subtree Gibbs
  const CumulativeLaw& splits() const { return splits_; }  // for anchored split-merge
  const CumulativeLaw& pairs() const { return pairs_; }    // by the tree's doubts alone

  // A node for fitted split-merge: by one of the two laws, which is drawn first.
  int draw_anchored(const TreeShape& shape, Stream& random) const {
    return random.uniform() < by_size ? draw_by_size(shape, random) : pairs_.draw(random);
  }

  // The sum of reach(v) s(v): into how many clusters the tree is expected to be cut.
  double expected_clusters() const { return expected_clusters_; }

 private:
  static constexpr double floor = 0.1;
  static constexpr double by_size = 0.25;      // of nodes for fitted split-merge
  static constexpr double least_doubt = 1e-3;  // in all: below it nothing is worth a try

  // There must be two leaves.
  static int draw_by_size(const TreeShape& shape, Stream& random) {
    const int leaf = shape.leaf_of_row[random.below(shape.n_rows())];
    int halves = 0;
    each_above(shape, leaf, [&](int) { ++halves; });
    std::int64_t wanted = random.below(halves);
    int drawn = TreeShape::none;
    each_above(shape, leaf, [&](int node) {
      if (wanted-- == 0) drawn = node;
    });
    return drawn;
  }

  // The nodes above a leaf in whose smaller half it is, or in one of two that are equal.
  template <class Visit>
  static void each_above(const TreeShape& shape, int leaf, Visit&& visit) {
    for (int node = leaf; shape.parent[node] != TreeShape::none; node = shape.parent[node])
      if (shape.leaves[node] <= shape.leaves[shape.sibling(node)]) visit(shape.parent[node]);
  }

  // p (1 - p), p = 1/(1 + exp(-log_odds)).
  static double doubt(double log_odds) {
    const double odds = std::exp(-std::abs(log_odds));
    return odds / ((1 + odds) * (1 + odds));
  }

  // A mixture of two laws, given by weights: the first alone if the second has none.
  static std::vector<double> half_and_half(std::vector<double> first,
                                           const std::vector<double>& second) {
    const double all = std::accumulate(first.begin(), first.end(), 0.0);
    const double others = std::accumulate(second.begin(), second.end(), 0.0);
    if (!(others > least_doubt)) return first;
    for (std::size_t node = 0; node < first.size(); ++node)
      first[node] = first[node] / all + second[node] / others;
    return first;
  }

  static double judged_one(bool leaf, double log_d) {
    if (leaf) return 1;
    if (!std::isfinite(log_d)) return log_d < 0 ? 1 : 0;
    const double odds = 1 + std::abs(log_d);
    return log_d < 0 ? odds / (1 + odds) : 1 / (1 + odds);
  }

  double expected_clusters_ = 1;
  CumulativeLaw blocks_, pairs_, splits_;
};

}  // namespace mixwood
