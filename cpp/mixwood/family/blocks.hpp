// Blocks, rows that move together, compared with clusters: by what a family offers for it, or from
// its statistics.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "mixwood/family/family.hpp"

namespace mixwood {

// Log marginals of unions with a block. Keeps a spare statistic, so that nothing is allocated.
template <Family F>
class BlockScores {
 public:
  explicit BlockScores(const F& family) : family_(family), spare_(family.statistic_size()) {}

  // log P of the rows of `s`, whose own log marginal is given, together with the block.
  double log_union(const double* s, double log_marginal, const Block<F>& block) {
    if constexpr (SparseFamily<F>)
      if (is_sparse(family_)) return log_marginal + family_.log_predictive(s, block);
    std::copy_n(s, spare_.size(), spare_.begin());
    family_.merge(spare_.data(), block);
    return family_.log_marginal(spare_.data());
  }

  // The same of two statistics, side by side where the family can.
  std::pair<double, double> log_unions(const double* first, double first_log_marginal,
                                       const double* second, double second_log_marginal,
                                       const Block<F>& block) {
    if constexpr (requires { family_.log_marginals_with(first, second, block); })
      return family_.log_marginals_with(first, second, block);
    else
      return {log_union(first, first_log_marginal, block),
              log_union(second, second_log_marginal, block)};
  }

  // log P(block | X_slot) for each of the slots, at scores[slot].
  void score(typename F::Clusters& clusters, const Block<F>& block, std::span<const int> slots,
             double* scores) {
    if constexpr (requires { clusters.score_block(block, slots, scores); }) {
      clusters.score_block(block, slots, scores);
    } else {
      for (const int slot : slots) {
        const double own = clusters.log_marginal(slot);
        scores[slot] = log_union(std::as_const(clusters).statistic(slot), own, block) - own;
      }
    }
  }

  // log P(block | the rest of X_slot) for a block inside the slot.
  double score_without(typename F::Clusters& clusters, int slot, const Block<F>& block) {
    if constexpr (requires { clusters.score_block_without(slot, block); }) {
      return clusters.score_block_without(slot, block);
    } else {
      std::copy_n(std::as_const(clusters).statistic(slot), spare_.size(), spare_.begin());
      family_.subtract(spare_.data(), block);
      return clusters.log_marginal(slot) - family_.log_marginal(spare_.data());
    }
  }

 private:
  const F& family_;
  std::vector<double> spare_;
};

}  // namespace mixwood
