// The clusters of categorical rows: their counts, and the logarithms that a row is a sum of.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "mixwood/family/categorical.hpp"
#include "mixwood/numerics/kernels.hpp"

namespace mixwood {

class Categorical::Clusters {
 public:
  static constexpr int rows_at_once = block_rows;

  explicit Clusters(const Categorical& family)
      : family_(family),
        size_(family.statistic_size()),
        d_(family.d()),
        kernels_(kernels()),
        places_(static_cast<std::size_t>(d_) * block_rows, 0) {}

  void grow(int slots) {
    if (slots <= slots_) return;
    slots_ = std::max(slots, 2 * slots_);
    counts_.resize(static_cast<std::size_t>(slots_) * size_);
    column_counts_.resize(static_cast<std::size_t>(slots_) * d_);
    logs_.resize(static_cast<std::size_t>(slots_) * (size_ + d_));
    sums_of_logs_.resize(slots_);
    emptied_at_.resize(slots_, 0);
  }

  // A slot that rows have left one by one is as empty as before, if the base measure is the same:
  // there may be many categories.
  void clear(int slot) {
    const double* columns = column_counts(slot);
    if (emptied_at_[slot] == family_.base_version() &&
        std::all_of(columns, columns + d_, [](double n) { return n == 0; }))
      return;
    std::fill_n(counts(slot), size_, 0.0);
    refresh(slot);
    emptied_at_[slot] = family_.base_version();
  }
  void observe(int slot, int row) { add(slot, row, 1); }
  void forget(int slot, int row) { add(slot, row, -1); }

  void assign(int slot, const double* s) {
    std::copy_n(s, size_, counts(slot));
    refresh(slot);
  }
  void merge(int slot, const double* s) {
    family_.merge(counts(slot), s);
    refresh(slot);
  }
  void subtract(int slot, const double* s) {
    family_.subtract(counts(slot), s);
    refresh(slot);
  }
  void read(int slot, double* s) const { std::copy_n(statistic(slot), size_, s); }
  void take_base(std::span<const int> slots) {
    for (const int slot : slots) refresh(slot);
  }

  const double* statistic(int slot) const {
    return counts_.data() + static_cast<std::size_t>(slot) * size_;
  }
  double log_marginal(int slot) const { return family_.log_marginal(statistic(slot)); }

  void load(std::span<const int> rows) {
    for (std::size_t b = 0; b < rows.size(); ++b)
      for (int j = 0; j < d_; ++j) {
        const int l = family_.place(rows[b], j);
        places_[j * block_rows + b] = l < size_ ? l : size_ + j;
      }
  }

  void score(std::span<const int> slots, double* scores) {
    for (const int slot : slots) {
      double* target = scores + static_cast<std::size_t>(slot) * block_rows;
      kernels_.table_sums(d_, logs(slot), places_.data(), target);
      for (int b = 0; b < block_rows; ++b) target[b] -= sums_of_logs_[slot];
    }
  }

  template <class Archive>
  void archive(Archive&, int slot, const double* fresh) {
    if constexpr (Archive::loading) assign(slot, fresh);
  }

  // The product of the entries' probabilities with the row taken out, logged before it underflows.
  double score_without(int slot, int b) {
    double total = 0;
    double product = 1;
    for (int j = 0; j < d_; ++j) {
      const int l = places_[j * block_rows + b];
      if (l >= size_) continue;
      product *= (family_.pseudo_count(l) + (counts(slot)[l] - 1)) /
                 (family_.column_sum(j) + (column_counts(slot)[j] - 1));
      if (product > 1e-200) continue;
      total += std::log(product);
      product = 1;
    }
    return total + std::log(product);
  }

 private:
  double* counts(int slot) { return counts_.data() + static_cast<std::size_t>(slot) * size_; }
  double* column_counts(int slot) {
    return column_counts_.data() + static_cast<std::size_t>(slot) * d_;
  }
  // log(pseudo-count + count) of every category, and then log of the sum over those of every
  // column. A probability is the ratio of the two; a missing entry has the second in place of the
  // first, and adds nothing.
  double* logs(int slot) { return logs_.data() + static_cast<std::size_t>(slot) * (size_ + d_); }

  void add(int slot, int row, double amount) {
    for (int j = 0; j < d_; ++j) {
      const int l = family_.place(row, j);
      if (l == size_) continue;
      counts(slot)[l] += amount;
      column_counts(slot)[j] += amount;
      refresh_entry(slot, l);
      refresh_column(slot, j);
    }
    refresh_sum(slot);
  }

  void refresh(int slot) {
    for (int j = 0; j < d_; ++j) {
      const double* first = counts(slot) + family_.offset(j);
      column_counts(slot)[j] =
          std::accumulate(first, first + (family_.offset(j + 1) - family_.offset(j)), 0.0);
      for (int l = family_.offset(j); l < family_.offset(j + 1); ++l) refresh_entry(slot, l);
    }
    for (int j = 0; j < d_; ++j) refresh_column(slot, j);
    refresh_sum(slot);
    emptied_at_[slot] = 0;
  }

  void refresh_entry(int slot, int l) {
    logs(slot)[l] = std::log(family_.pseudo_count(l) + counts(slot)[l]);
  }
  void refresh_column(int slot, int j) {
    logs(slot)[size_ + j] = std::log(family_.column_sum(j) + column_counts(slot)[j]);
  }
  void refresh_sum(int slot) {
    const double* columns = logs(slot) + size_;
    sums_of_logs_[slot] = std::accumulate(columns, columns + d_, 0.0);
  }

  const Categorical& family_;
  int size_, d_, slots_ = 0;
  const Kernels& kernels_;
  std::vector<double> counts_, column_counts_, logs_, sums_of_logs_;
  std::vector<std::uint64_t> emptied_at_;  // the base measure's version then; 0 if not empty
  std::vector<std::int32_t> places_;
};

static_assert(ClusterScores<Categorical::Clusters, Categorical>);

}  // namespace mixwood
