// Weighted leaves as the rows of a family: a leaf stands for many rows, of which only the statistic
// and a few sums are kept. A partition of the leaves is one of the rows that keeps every leaf
// whole; sizes count rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "mixwood/family/blocks.hpp"
#include "mixwood/family/family.hpp"

namespace mixwood {

// The sums over the rows of each leaf, one array each, kept by the caller.
struct LeafSums {
  std::span<const std::int64_t> sizes;  // how many rows
  std::span<const double> log_apart;    // sum of log P(x)
  std::span<const double> weights;      // as forests weigh their nodes
};

// How many rows all leaves stand for.
inline int total_size(const LeafSums& sums) {
  std::int64_t total = 0;
  for (const std::int64_t size : sums.sizes) {
    if (size < 1) throw std::invalid_argument("a leaf's size must be at least 1");
    total += size;
    if (total > std::numeric_limits<std::int32_t>::max())
      throw std::invalid_argument("the leaves must stand for fewer than 2^31 rows");
  }
  return static_cast<int>(total);
}

// `Rows` is the family of the rows themselves, bound to none of them.
template <Family Rows>
class Leaves {
 public:
  class Clusters;

  // `statistics` has one for each leaf, kept by the caller.
  Leaves(std::shared_ptr<const Rows> rows, std::span<const double> statistics, LeafSums sums)
      : rows_(std::move(rows)),
        statistics_(statistics),
        sums_(sums),
        n_points_(total_size(sums)),
        alone_(sums.sizes.size()) {
    for (int leaf = 0; leaf < n_rows(); ++leaf) alone_[leaf] = rows_->log_marginal(statistic(leaf));
  }

  const Rows& rows() const { return *rows_; }
  const double* statistic(int leaf) const {
    return statistics_.data() + static_cast<std::size_t>(leaf) * statistic_size();
  }

  int n_rows() const { return static_cast<int>(alone_.size()); }
  int n_points() const { return n_points_; }
  int row_size(int leaf) const { return static_cast<int>(sums_.sizes[leaf]); }
  double row_log_apart(int leaf) const { return sums_.log_apart[leaf]; }
  double row_total(int leaf) const
    requires has_row_totals<Rows>
  {
    return sums_.weights[leaf];
  }

  int statistic_size() const { return rows_->statistic_size(); }
  void observe(double* s, int leaf) const { rows_->merge(s, statistic(leaf)); }
  void forget(double* s, int leaf) const { rows_->subtract(s, statistic(leaf)); }
  void merge(double* s, const double* t) const { rows_->merge(s, t); }
  void subtract(double* s, const double* t) const { rows_->subtract(s, t); }
  double log_marginal(const double* s) const { return rows_->log_marginal(s); }
  double log_alone(int leaf) const { return alone_[leaf]; }

 private:
  std::shared_ptr<const Rows> rows_;
  std::span<const double> statistics_;
  LeafSums sums_;
  int n_points_;
  std::vector<double> alone_;
};

template <Family Rows>
class Leaves<Rows>::Clusters : public Rows::Clusters {
  using Base = typename Rows::Clusters;

 public:
  static constexpr int rows_at_once = 1;

  explicit Clusters(const Leaves& family)
      : Base(family.rows()), family_(family), scores_(family.rows()) {}

  void observe(int slot, int leaf) { Base::merge(slot, family_.statistic(leaf)); }
  void forget(int slot, int leaf) { Base::subtract(slot, family_.statistic(leaf)); }

  void load(std::span<const int> leaves) { leaf_ = leaves[0]; }
  void score(std::span<const int> slots, double* scores) {
    scores_.score(*this, family_.statistic(leaf_), slots, scores);
  }
  double score_without(int slot, int) {
    return scores_.score_without(*this, slot, family_.statistic(leaf_));
  }

 private:
  const Leaves& family_;
  BlockScores<Rows> scores_;
  int leaf_ = 0;
};

}  // namespace mixwood
