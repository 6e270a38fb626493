// Marginal Gibbs: each row in turn leaves its cluster and joins one by its conditional,
//
//   cluster c:  kappa(|c|+1, u)/kappa(|c|, u) P(x_i | X_c)      new:  kappa(1, u) P(x_i)
//
// (c without the row). Rows are scored in blocks against clusters as they stand; when a row moves,
// the two clusters that changed are scored again for the rest of the block.
#pragma once

#include <algorithm>
#include <atomic>
#include <limits>
#include <span>
#include <vector>

#include "mixwood/move/pick.hpp"
#include "mixwood/move/report.hpp"
#include "mixwood/move/uncertainty.hpp"
#include "mixwood/numerics/kernels.hpp"
#include "mixwood/random/stream.hpp"
#include "mixwood/state/state.hpp"

namespace mixwood {

// S is the state: State<F>, or another that offers the same.
template <class S>
class GibbsSweep {
 public:
  // Visits `rows` in order; leaves early, at a block's edge, if `stop` is set.
  void operator()(S& state, std::span<const int> rows, Stream& random,
                  const std::atomic<bool>& stop, MoveReport& report) {
    const Timed timed(report);
    log_joins_.resize(state.partition.n_slots());
    for (const int slot : state.partition.active()) refresh_join(state, slot);
    const int block = block_of(state);
    for (std::size_t start = 0; start < rows.size() && !stop; start += block) {
      const auto part = rows.subspan(start, std::min<std::size_t>(block, rows.size() - start));
      score_block(state, part);
      for (std::size_t b = 0; b < part.size(); ++b) {
        const int target = draw(state, part[b], static_cast<int>(b), random);
        ++report.proposed;
        if (target == stay) continue;
        ++report.accepted;
        move(state, part[b], target, static_cast<int>(b) + 1, part.size());
      }
    }
  }

  // From now on keeps, for each row, a running mean of the probability that it changes cluster when
  // visited (below 0: never visited); null ends it.
  void learn_into(std::vector<float>* uncertainty) { uncertainty_ = uncertainty; }

  // The log weights of one row: one for each cluster in list order, and the new cluster's last.
  std::vector<double> log_weights(S& state, int row) {
    log_joins_.resize(state.partition.n_slots());
    for (const int slot : state.partition.active()) refresh_join(state, slot);
    score_block(state, std::span<const int>(&row, 1));
    fill_weights(state, row, 0);
    weights_.resize(state.partition.active().size() + 1);
    return weights_;
  }

 private:
  static constexpr int stay = -1;
  static constexpr int fresh = -2;
  static constexpr double never = -std::numeric_limits<double>::infinity();

  // A constant, unless the family is an erased one.
  static int block_of(const S& state) { return state.clusters.rows_at_once; }

  void refresh_join(const S& state, int slot) {
    log_joins_[slot] = state.prior.log_join(state.partition.size(slot));
  }

  void score_block(S& state, std::span<const int> rows) {
    state.clusters.load(rows);
    scores_.resize(static_cast<std::size_t>(state.partition.n_slots()) * block_of(state));
    state.clusters.score(state.partition.active(), scores_.data());
    if constexpr (requires { state.clusters.score_alone(scores_.data()); }) {
      // A base measure that moves takes what was known of single rows with it: a block at a time.
      if (state.family.base_size() == 0) return;
      alone_.resize(block_of(state));
      state.clusters.score_alone(alone_.data());
    }
  }

  double log_alone(const S& state, int row, int b) const {
    return alone_.empty() ? state.family.log_alone(row) : alone_[b];
  }

  void fill_weights(S& state, int row, int b) {
    if (state.prior.has_groups()) return fill_group_weights(state, row, b);
    if (row_size(state.family, row) != 1) return fill_leaf_weights(state, row, b);
    const auto& active = state.partition.active();
    const int block = block_of(state);
    weights_.resize(active.size() + 1);
    for (std::size_t a = 0; a < active.size(); ++a)
      weights_[a] =
          log_joins_[active[a]] + scores_[static_cast<std::size_t>(active[a]) * block + b];
    const int own = state.partition.slot_of(row);
    const double others = state.partition.size(own) - 1;
    weights_[state.partition.position(own)] =
        others == 0 ? never : state.prior.log_join(others) + state.clusters.score_without(own, b);
    weights_.back() = state.prior.log_new() + log_alone(state, row, b);
    forbid_marked(state, row);
  }

  // No weight for clusters with a mark if the row has one (LeafSums).
  void forbid_marked(const S& state, int row) {
    if (row_marks(state.family, row) == 0) return;
    const auto& active = state.partition.active();
    const int own = state.partition.slot_of(row);
    for (std::size_t a = 0; a < active.size(); ++a)
      if (active[a] != own && !state.partition.may_join(active[a], 1)) weights_[a] = never;
  }

  // A row that stands for m: kappa(|c|+m, u)/kappa(|c|, u) P(x_i | X_c); new: kappa(m, u) P(x_i).
  void fill_leaf_weights(S& state, int row, int b) {
    const auto& active = state.partition.active();
    const int block = block_of(state);
    const double size = row_size(state.family, row);
    weights_.resize(active.size() + 1);
    for (std::size_t a = 0; a < active.size(); ++a) {
      const double there = state.partition.size(active[a]);
      weights_[a] = state.prior.log_kappa(there + size) - state.prior.log_kappa(there) +
                    scores_[static_cast<std::size_t>(active[a]) * block + b];
    }
    const int own = state.partition.slot_of(row);
    const double there = state.partition.size(own);
    weights_[state.partition.position(own)] =
        there == size ? never
                      : state.prior.log_kappa(there) - state.prior.log_kappa(there - size) +
                            state.clusters.score_without(own, b);
    weights_.back() = state.prior.log_kappa(size) + log_alone(state, row, b);
    forbid_marked(state, row);
  }

  // The same of rows in groups: kappa of a vector of counts (prior/group_terms.hpp).
  void fill_group_weights(S& state, int row, int b) {
    const auto& active = state.partition.active();
    const int block = block_of(state);
    const int own = state.partition.slot_of(row);
    state.prior.by_group().fill_weights(state.partition, state.partition.groups()->of_row(row), own,
                                        weights_);
    for (std::size_t a = 0; a < active.size(); ++a)
      if (active[a] != own) weights_[a] += scores_[static_cast<std::size_t>(active[a]) * block + b];
    double& stays = weights_[state.partition.position(own)];
    stays = is_alone(state, row, own) ? never : stays + state.clusters.score_without(own, b);
    weights_.back() += log_alone(state, row, b);
    forbid_marked(state, row);
  }

  static bool is_alone(const S& state, int row, int own) {
    return state.partition.size(own) == row_size(state.family, row);
  }

  // Where the row goes: a slot, or `stay`, or `fresh` for a new cluster.
  int draw(S& state, int row, int b, Stream& random) {
    fill_weights(state, row, b);
    const int count = static_cast<int>(weights_.size());
    const int choice = pick_cluster(kernels_, weights_, random.uniform());
    const int own = state.partition.slot_of(row);
    if (uncertainty_ != nullptr) learn(state, row, own);
    if (choice == count - 1) return is_alone(state, row, own) ? stay : fresh;
    const int slot = state.partition.active()[choice];
    return slot == own ? stay : slot;
  }

  // `pick` has left the weights themselves where their logs were.
  void learn(const S& state, int row, int own) {
    const bool alone = is_alone(state, row, own);
    const int stays = alone ? static_cast<int>(weights_.size()) - 1 : state.partition.position(own);
    add_to_mean((*uncertainty_)[row], chance_of_others(weights_, stays));
  }

  // Those that come after it in the block, from `next` on, are scored again.
  void move(S& state, int row, int target, int next, std::size_t count) {
    const int from = state.partition.slot_of(row);
    const int to = target == fresh ? state.open_cluster() : target;
    state.move_row(row, to);
    const bool left_some = state.partition.size(from) > 0;
    log_joins_.resize(state.partition.n_slots());
    if (left_some) refresh_join(state, from);
    refresh_join(state, to);
    if (static_cast<std::size_t>(next) == count) return;
    scores_.resize(static_cast<std::size_t>(state.partition.n_slots()) * block_of(state));
    const int changed[] = {to, from};
    score_from(state.clusters, next, std::span<const int>(changed, left_some ? 2 : 1),
               scores_.data());
  }

  const Kernels& kernels_ = kernels();
  std::vector<double> log_joins_, scores_, weights_, alone_;
  std::vector<float>* uncertainty_ = nullptr;
};

}  // namespace mixwood
