// Weighted leaves as the rows of a family: a leaf stands for many rows, of which only the statistic
// and a few sums are kept. A partition of the leaves is one of the rows that keeps every leaf
// whole; sizes count rows. (Leaves of a sparse family are rows of that family themselves: see
// erased_of.hpp.)
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "mixwood/family/erased.hpp"
#include "mixwood/numerics/lazy_table.hpp"

namespace mixwood {

class Leaves final : public ErasedFamily {
 public:
  // `rows` is the family of the rows themselves, not sparse, bound to none of them or to those that
  // `sums.rows` has; `statistics` has one for each leaf, kept by the caller.
  Leaves(std::shared_ptr<ErasedFamily> rows, std::span<const double> statistics, LeafSums sums)
      : ErasedFamily(static_cast<int>(sums.sizes.size()), rows->statistic_size(), false, sums),
        rows_(std::move(rows)),
        statistics_(statistics) {
    const auto is_whole = [](double size) { return size == std::floor(size); };
    if (!std::all_of(sums.sizes.begin(), sums.sizes.end(), is_whole)) rows_->allow_parts();
    weigh_rows_of(sums);
    if (rows_->base_size() > 0)
      alone_.forget(sums.sizes.size());
    else
      alone_.fill(sums.sizes.size(),
                  [this](std::size_t leaf) { return compute_alone(static_cast<int>(leaf)); });
  }

  std::shared_ptr<ErasedFamily> copy() const override {
    return std::make_shared<Leaves>(rows_->copy(), statistics_, *sums());
  }
  int base_size() const override { return rows_->base_size(); }
  void read_base(double* to) const override { rows_->read_base(to); }
  void set_base(const double* base) override {
    rows_->set_base(base);
    alone_.forget(static_cast<std::size_t>(n_rows()));
  }
  double log_base() const override { return rows_->log_base(); }
  BaseMoves update_base(const ClusterStatistics& clusters, Stream& random) override {
    const BaseMoves moves = rows_->update_base(clusters, random);
    alone_.forget(static_cast<std::size_t>(n_rows()));
    return moves;
  }

  // A leaf's is the sum of its rows', as often as each counts.
  double row_term(int leaf) const override {
    double total = 0;
    if (!first_.empty())
      for (int k = first_[leaf]; k < first_[leaf + 1]; ++k)
        total += sums()->row_weights[members_[k]] * rows_->row_term(members_[k]);
    return total;
  }
  double log_rows() const override { return rows_->log_rows(); }

  const double* statistic(int leaf) const {
    return statistics_.data() + static_cast<std::size_t>(leaf) * statistic_size();
  }

  bool is_count(int entry) const override { return rows_->is_count(entry); }
  void observe(double* s, int leaf) const override { rows_->merge(s, statistic(leaf)); }
  void forget(double* s, int leaf) const override { rows_->subtract(s, statistic(leaf)); }
  void merge(double* s, const double* t) const override { rows_->merge(s, t); }
  void subtract(double* s, const double* t) const override { rows_->subtract(s, t); }
  double log_marginal(const double* s) const override { return rows_->log_marginal(s); }
  double log_alone(int leaf) const override {
    return alone_.at(static_cast<std::size_t>(leaf),
                     [this](std::size_t any) { return compute_alone(static_cast<int>(any)); });
  }
  double log_marginal_with(const double* s, int leaf, double* spare) const override {
    const int row = row_of(leaf);
    return row >= 0 ? rows_->log_marginal_with(s, row, spare)
                    : rows_->log_marginal_with(s, statistic(leaf), spare);
  }
  double log_marginal_with(const double* s, const double* t, double* spare) const override {
    return rows_->log_marginal_with(s, t, spare);
  }

  bool has_atoms() const override { return false; }
  std::unique_ptr<ErasedClusters> clusters() const override;
  std::unique_ptr<ErasedAtoms> atoms() const override { return nullptr; }

  bool is_same_kind(const ErasedFamily& other) const override {
    const auto* leaves = dynamic_cast<const Leaves*>(&other);
    return leaves != nullptr && rows_->is_same_kind(*leaves->rows_);
  }

 private:
  class LeafClusters;

  // The row that the leaf is, below 0 where it is none or several.
  int row_of(int leaf) const { return sums()->rows.empty() ? -1 : sums()->rows[leaf]; }

  // Only the rows of leaves count; and of each leaf its rows are listed.
  void weigh_rows_of(const LeafSums& sums) {
    if (sums.leaf_of_row.empty()) return;
    std::vector<double> weights(sums.row_weights.begin(), sums.row_weights.end());
    first_.assign(sums.sizes.size() + 1, 0);
    for (std::size_t row = 0; row < weights.size(); ++row)
      if (sums.leaf_of_row[row] < 0)
        weights[row] = 0;
      else
        ++first_[static_cast<std::size_t>(sums.leaf_of_row[row]) + 1];
    rows_->weigh_rows(weights);
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    members_.resize(static_cast<std::size_t>(first_.back()));
    std::vector<int> next(first_.begin(), first_.end() - 1);
    for (std::size_t row = 0; row < weights.size(); ++row)
      if (sums.leaf_of_row[row] >= 0)
        members_[next[sums.leaf_of_row[row]]++] = static_cast<int>(row);
  }

  double compute_alone(int leaf) const {
    const int row = row_of(leaf);
    return row >= 0 ? rows_->log_alone(row) : rows_->log_marginal(statistic(leaf));
  }

  std::shared_ptr<ErasedFamily> rows_;
  std::span<const double> statistics_;
  std::vector<int> first_, members_;  // the rows of leaf l: members_[first_[l]] to [first_[l + 1]]
  LazyTable alone_;
};

// The clusters of the rows; a leaf that comes or goes is a block of them, or one row.
class Leaves::LeafClusters final : public ErasedClusters {
 public:
  explicit LeafClusters(const Leaves& family) : LeafClusters(family, family.rows_->clusters()) {}

  void observe(int slot, int leaf) override {
    const int row = family_.row_of(leaf);
    if (row >= 0)
      rows_->observe(slot, row);
    else
      rows_->merge(slot, block_of(leaf));
  }
  void forget(int slot, int leaf) override {
    const int row = family_.row_of(leaf);
    if (row >= 0)
      rows_->forget(slot, row);
    else
      rows_->subtract(slot, block_of(leaf));
  }
  void load(std::span<const int> leaves) override {
    leaves_.assign(leaves.begin(), leaves.end());
    within_.assign(leaves.size(), -1);
    single_.clear();
    for (std::size_t b = 0; b < leaves.size(); ++b) {
      const int row = family_.row_of(leaves[b]);
      if (row < 0) continue;
      within_[b] = static_cast<int>(single_.size());
      single_.push_back(row);
    }
    if (!single_.empty()) rows_->load(single_);
  }
  void score(std::span<const int> slots, double* scores) override {
    if (single_.size() == leaves_.size()) return rows_->score(slots, scores);
    scores_.resize(static_cast<std::size_t>(slots_) * rows_at_once);
    if (!single_.empty()) rows_->score(slots, scores_.data());
    for (std::size_t b = 0; b < leaves_.size(); ++b)
      if (within_[b] >= 0)
        for (const int slot : slots)
          scores[place(slot, b)] = scores_[place(slot, static_cast<std::size_t>(within_[b]))];
    for (std::size_t b = 0; b < leaves_.size(); ++b) {
      if (within_[b] >= 0) continue;
      rows_->score_block(block_of(leaves_[b]), slots, scores_.data());
      for (const int slot : slots) scores[place(slot, b)] = scores_[slot];
    }
  }
  double score_without(int slot, int b) override {
    return within_[b] >= 0 ? rows_->score_without(slot, within_[b])
                           : rows_->score_block_without(slot, block_of(leaves_[b]));
  }

  void grow(int slots) override {
    slots_ = std::max(slots_, slots);
    rows_->grow(slots);
  }
  void clear(int slot) override { rows_->clear(slot); }
  void assign(int slot, const double* s) override { rows_->assign(slot, s); }
  void merge(int slot, const Block& block) override { rows_->merge(slot, block); }
  void subtract(int slot, const Block& block) override { rows_->subtract(slot, block); }
  void read(int slot, double* s) const override { rows_->read(slot, s); }
  void take_base(std::span<const int> slots) override { rows_->take_base(slots); }
  double log_marginal(int slot) override { return rows_->log_marginal(slot); }
  void score_block(const Block& block, std::span<const int> slots, double* scores) override {
    rows_->score_block(block, slots, scores);
  }
  double score_block_without(int slot, const Block& block) override {
    return rows_->score_block_without(slot, block);
  }
  void archive(Writer& a, int slot, const double* fresh) override {
    rows_->archive(a, slot, fresh);
  }
  void archive(Reader& a, int slot, const double* fresh) override {
    rows_->archive(a, slot, fresh);
  }

 private:
  LeafClusters(const Leaves& family, std::unique_ptr<ErasedClusters> rows)
      : ErasedClusters(family.has_single_rows() ? rows->rows_at_once : 1),
        family_(family),
        rows_(std::move(rows)) {}

  Block block_of(int leaf) const { return {.statistic = family_.statistic(leaf), .counts = {}}; }
  std::size_t place(int slot, std::size_t b) const {
    return static_cast<std::size_t>(slot) * static_cast<std::size_t>(rows_at_once) + b;
  }

  const Leaves& family_;
  std::unique_ptr<ErasedClusters> rows_;
  int slots_ = 0;
  std::vector<int> leaves_, single_;  // what is loaded; of these the rows of single ones
  std::vector<int> within_;           // which of the single ones each is, below 0 for none
  std::vector<double> scores_;
};

inline std::unique_ptr<ErasedClusters> Leaves::clusters() const {
  return std::make_unique<LeafClusters>(*this);
}

}  // namespace mixwood
