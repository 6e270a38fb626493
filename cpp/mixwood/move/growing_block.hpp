// Blocks of rows that grow by nodes of a guide tree: what moves that allocate portions share.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "mixwood/family/blocks.hpp"
#include "mixwood/state/guided_state.hpp"

namespace mixwood {

struct GrowingBlock {
  std::vector<double> statistic;
  double log_marginal = 0;
  double size = 0;
  int marks = 0;
  std::vector<double> groups;  // where rows come in groups: how many of each,
  double log_kappa = 0;        // ... and kappa of these
  std::vector<int> nodes;
};

// What a node would make of a block, or on its own.
struct BlockScore {
  double log_marginal = 0;  // of both together
  double log_kappa = 0;     // by how much kappa changes, where rows come in groups
  double log_gain = 0;      // by how much phi does
};

template <Family F>
class BlockGrowth {
 public:
  explicit BlockGrowth(const F& family) : family_(family), block_scores_(family) {}

  // The node that the functions below are about.
  void take(GuidedState<F>& state, int node) {
    node_ = node;
    size_ = state.tree->shape.size[node];
    block_ = state.tree->blocks.of(node, scratch_);
    if (state.prior.has_groups()) groups_ = state.partition.groups_below(node);
  }

  BlockScore score(GuidedState<F>& state, const GrowingBlock& to) {
    return scored(state, to, block_scores_.log_union(to.statistic.data(), to.log_marginal, block_));
  }

  // ... of each of two blocks.
  void score(GuidedState<F>& state, const GrowingBlock (&to)[2], BlockScore (&scores)[2]) {
    const auto [first, second] =
        block_scores_.log_unions(to[0].statistic.data(), to[0].log_marginal, to[1].statistic.data(),
                                 to[1].log_marginal, block_);
    scores[0] = scored(state, to[0], first);
    scores[1] = scored(state, to[1], second);
  }

  BlockScore score_alone(GuidedState<F>& state) {
    BlockScore score;
    score.log_marginal = state.log_marginal(node_, block_);
    if (state.prior.has_groups()) {
      score.log_kappa = state.prior.by_group().log_component() +
                        state.prior.by_group().log_join(groups_, [](int) { return 0.0; });
      score.log_gain = score.log_kappa + score.log_marginal;
    } else {
      score.log_gain = state.log_kappa(size_) + score.log_marginal;
    }
    return score;
  }

  void start(const GuidedState<F>& state, GrowingBlock& block, const BlockScore& score) {
    block.statistic.assign(family_.statistic_size(), 0.0);
    block.size = block.log_kappa = 0;
    block.marks = 0;
    block.nodes.clear();
    if (state.prior.has_groups()) block.groups.assign(state.partition.groups()->n_groups(), 0.0);
    join(state, block, score);
  }

  void join(const GuidedState<F>& state, GrowingBlock& block, const BlockScore& score) {
    family_.merge(block.statistic.data(), block_);
    block.log_marginal = score.log_marginal;
    block.size += size_;
    block.marks += state.tree->shape.marks_of(node_);
    block.nodes.push_back(node_);
    if (!state.prior.has_groups()) return;
    block.log_kappa += score.log_kappa;
    for (const GroupCount& entry : groups_) block.groups[entry.group] += entry.count;
  }

  // By how much kappa of groups grows; 0 where it is one of sizes.
  double log_kappa_of_joining(const GuidedState<F>& state, const GrowingBlock& to) const {
    if (!state.prior.has_groups()) return 0;
    return state.prior.by_group().log_join(groups_, [&](int group) { return to.groups[group]; });
  }

  double log_potential(GuidedState<F>& state, const GrowingBlock& block) {
    if (state.prior.has_groups()) return block.log_kappa + block.log_marginal;
    return state.log_kappa(block.size) + block.log_marginal;
  }

  // d/(1+d) of the node, kept off 0 and 1; no leaf is opened.
  double chance_of_opening(const GuidedState<F>& state) const {
    if (state.tree->shape.is_leaf(node_)) return 0;
    const double open = 1 / (1 + std::exp(-state.tree->log_dissimilarity[node_]));
    return std::clamp(open, smallest_open, 1 - smallest_open);
  }

 private:
  static constexpr double smallest_open = 1e-3;

  // Given the log marginal of both together.
  BlockScore scored(GuidedState<F>& state, const GrowingBlock& to, double log_marginal) {
    BlockScore score;
    score.log_marginal = log_marginal;
    if (state.prior.has_groups()) {
      score.log_kappa = log_kappa_of_joining(state, to);
      score.log_gain = score.log_marginal - to.log_marginal + score.log_kappa;
    } else {
      score.log_gain = score.log_marginal - to.log_marginal + state.log_kappa(to.size + size_) -
                       state.log_kappa(to.size);
    }
    return score;
  }

  const F& family_;
  BlockScores<F> block_scores_;
  int node_ = 0;
  double size_ = 0;
  Block<F> block_{};
  std::span<const GroupCount> groups_;
  typename NodeBlocks<F>::Scratch scratch_;
};

}  // namespace mixwood
