// Subtree Gibbs: a node of the guide tree, all of it in one cluster, leaves that cluster as one
// block and joins one by its conditional,
//
//   cluster c:  phi(h_{c+v}) / phi(h_c)      new:  phi(h_v)
//
// (c without the block). Which node is drawn does not depend on the partition, and the node is in
// one cluster before and after: so the move leaves the posterior as it is. A node that is in
// several clusters is left alone. Where rows are marked (LeafSums), a block with a marked row has
// weight 0 for clusters that have another: the conditional of the posterior given that they stay
// apart.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "mixwood/family/blocks.hpp"
#include "mixwood/move/pick.hpp"
#include "mixwood/move/report.hpp"
#include "mixwood/move/uncertainty.hpp"
#include "mixwood/numerics/kernels.hpp"
#include "mixwood/random/stream.hpp"
#include "mixwood/state/guided_state.hpp"

namespace mixwood {

template <Family F>
class SubtreeGibbs {
 public:
  explicit SubtreeGibbs(const F& family) : block_scores_(family) {}

  void operator()(GuidedState<F>& state, int node, Stream& random, MoveReport& report) {
    ++report.proposed;
    const int own = state.partition.slot_of_node(node);
    if (own == TreePartition::mixed) return;
    const Block<F> block = state.tree->blocks.of(node, scratch_);
    fill_weights(state, node, own, block);
    const int count = static_cast<int>(weights_.size());
    compared_ += count;
    const int choice = pick_cluster(kernels_, weights_, random.uniform(), "block");
    const bool whole = state.partition.size(own) == state.tree->shape.size[node];
    stays_ = whole ? count - 1 : state.partition.position(own);
    if (choice == stays_) return;
    const int to = choice == count - 1 ? state.open_cluster() : state.partition.active()[choice];
    state.move_node(node, own, to, block);
    ++report.accepted;
  }

  // Blocks compared with a cluster so far.
  std::int64_t compared() const { return compared_; }

  // The probability with which the last block that was drawn would change cluster: `pick` has left
  // the weights themselves where their logs were.
  double uncertainty() const { return chance_of_others(weights_, stays_); }

 private:
  void fill_weights(GuidedState<F>& state, int node, int own, const Block<F>& block) {
    if (state.prior.has_groups()) return fill_group_weights(state, node, own, block);
    const auto& active = state.partition.active();
    const double size = state.tree->shape.size[node];
    const int marks = state.tree->shape.marks_of(node);
    scores_.resize(state.partition.n_slots());
    score_others(state, own, block);
    weights_.resize(active.size() + 1);
    for (std::size_t a = 0; a < active.size(); ++a) {
      const double there = state.partition.size(active[a]);
      weights_[a] =
          state.partition.may_join(active[a], marks)
              ? scores_[active[a]] + state.log_kappa(there + size) - state.log_kappa(there)
              : never;
    }
    const double there = state.partition.size(own);
    weights_[state.partition.position(own)] =
        there == size ? never
                      : state.log_kappa(there) - state.log_kappa(there - size) +
                            block_scores_.score_without(state.clusters, own, block);
    weights_.back() = state.log_kappa(size) + state.log_marginal(node, block);
  }

  // ... of the block's own cluster nobody asks with the block inside.
  void score_others(GuidedState<F>& state, int own, const Block<F>& block) {
    others_.clear();
    for (const int slot : state.partition.active())
      if (slot != own) others_.push_back(slot);
    if (!others_.empty()) block_scores_.score(state.clusters, block, others_, scores_.data());
  }

  // The same of rows in groups.
  void fill_group_weights(GuidedState<F>& state, int node, int own, const Block<F>& block) {
    const auto& active = state.partition.active();
    const TreeShape& shape = state.tree->shape;
    state.prior.by_group().fill_weights(state.partition, state.partition.groups_below(node), own,
                                        weights_);
    scores_.resize(state.partition.n_slots());
    score_others(state, own, block);
    for (std::size_t a = 0; a < active.size(); ++a) {
      if (active[a] == own) continue;
      weights_[a] = state.partition.may_join(active[a], shape.marks_of(node))
                        ? weights_[a] + scores_[active[a]]
                        : never;
    }
    double& stays = weights_[state.partition.position(own)];
    stays = state.partition.size(own) == shape.size[node]
                ? never
                : stays + block_scores_.score_without(state.clusters, own, block);
    weights_.back() += state.log_marginal(node, block);
  }

  static constexpr double never = -std::numeric_limits<double>::infinity();

  const Kernels& kernels_ = kernels();
  BlockScores<F> block_scores_;
  typename NodeBlocks<F>::Scratch scratch_;
  std::vector<double> scores_, weights_;
  std::vector<int> others_;
  std::int64_t compared_ = 0;
  int stays_ = 0;  // the choice that leaves the block where it is
};

}  // namespace mixwood
