// What the clusters of several families share: the block of rows that is being scored, and
// statistics that are refreshed whenever a row comes or goes.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "mixwood/archive.hpp"
#include "mixwood/numerics/kernels.hpp"

namespace mixwood {

// Rows column by column, entry (j, b) at [j * block_rows + b]; a missing entry (NaN) is a 0 that
// is not present.
class RowBlock {
 public:
  explicit RowBlock(int d)
      : d_(d),
        values_(static_cast<std::size_t>(d) * block_rows),
        present_(static_cast<std::size_t>(d) * block_rows) {}

  template <class F>
  void load(const F& family, std::span<const int> rows) {
    rows_.assign(rows.begin(), rows.end());
    for (std::size_t b = 0; b < rows.size(); ++b)
      for (int j = 0; j < d_; ++j) {
        const double x = family.row(rows[b])[j];
        values_[at(j, b)] = std::isnan(x) ? 0.0 : x;
        present_[at(j, b)] = std::isnan(x) ? 0.0 : 1.0;
      }
  }

  int count() const { return static_cast<int>(rows_.size()); }
  int row(int b) const { return rows_[b]; }
  double value(int j, int b) const { return values_[at(j, b)]; }
  bool present(int j, int b) const { return present_[at(j, b)] != 0; }
  const double* values() const { return values_.data(); }
  const double* presence() const { return present_.data(); }

 private:
  static std::size_t at(int j, std::size_t b) {
    return static_cast<std::size_t>(j) * block_rows + b;
  }

  int d_;
  std::vector<double> values_, present_;
  std::vector<int> rows_;
};

// The statistics of many clusters, one per slot. `Derived` has refresh(slot), which recomputes what
// it keeps next to a statistic that has changed.
template <class F, class Derived>
class RefreshedClusters {
 public:
  static constexpr int rows_at_once = block_rows;

  void clear(int slot) {
    std::fill_n(statistic(slot), family_.statistic_size(), 0.0);
    refreshed(slot);
  }
  void observe(int slot, int row) {
    family_.observe(statistic(slot), row);
    refreshed(slot);
  }
  void forget(int slot, int row) {
    family_.forget(statistic(slot), row);
    refreshed(slot);
  }
  void assign(int slot, const double* s) {
    std::copy_n(s, family_.statistic_size(), statistic(slot));
    refreshed(slot);
  }
  void merge(int slot, const double* s) {
    family_.merge(statistic(slot), s);
    refreshed(slot);
  }
  void subtract(int slot, const double* s) {
    family_.subtract(statistic(slot), s);
    refreshed(slot);
  }
  const double* statistic(int slot) const {
    return statistics_.data() + static_cast<std::size_t>(slot) * family_.statistic_size();
  }
  void read(int slot, double* s) const {
    std::copy_n(statistic(slot), family_.statistic_size(), s);
  }
  void load(std::span<const int> rows) { block_.load(family_, rows); }
  void take_base(std::span<const int> slots) {
    for (const int slot : slots) refreshed(slot);
  }

  template <class Archive>
  void archive(Archive& a, int slot, const double* fresh) {
    if constexpr (Archive::loading) std::copy_n(fresh, family_.statistic_size(), statistic(slot));
    archive_statistic(a, family_, statistic(slot));
    if constexpr (Archive::loading) refreshed(slot);
  }

 protected:
  explicit RefreshedClusters(const F& family)
      : family_(family), d_(family.d()), block_(family.d()), spare_(family.statistic_size()) {}

  // Makes room; true if there was too little, so that the rest must grow too, to slots_.
  bool grow_statistics(int slots) {
    if (slots <= slots_) return false;
    slots_ = std::max(slots, 2 * slots_);
    statistics_.resize(static_cast<std::size_t>(slots_) * family_.statistic_size());
    return true;
  }

  double* statistic(int slot) {
    return statistics_.data() + static_cast<std::size_t>(slot) * family_.statistic_size();
  }

  // log P(x_b | rest of its slot) with the row really taken out, on the side: for where shortcuts
  // cancel.
  double score_without_slowly(int slot, int b) {
    std::copy_n(statistic(slot), spare_.size(), spare_.begin());
    family_.forget(spare_.data(), block_.row(b));
    return family_.log_marginal(statistic(slot)) - family_.log_marginal(spare_.data());
  }

  const F& family_;
  int d_;
  int slots_ = 0;
  const Kernels& kernels_ = kernels();
  RowBlock block_;
  std::vector<double> spare_;  // a statistic

 private:
  void refreshed(int slot) { static_cast<Derived&>(*this).refresh(slot); }

  std::vector<double> statistics_;
};

}  // namespace mixwood
