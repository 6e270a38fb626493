// Rows of independent categorical columns, a Dirichlet prior on each; negative codes are missing
// and skipped. Binary columns are the case of two categories. In each column, with pseudo-counts
// a_l, A = sum a_l, and counts N_l of the present entries, N = sum N_l:
//
//   P(x) = Gamma(A)/Gamma(A + N) prod_l Gamma(a_l + N_l)/Gamma(a_l)
//
// Statistic: the counts N_l of all columns, one after the other. A learned base measure is ln beta
// of every column, all of whose pseudo-counts are beta.
//
// Categories that no row has never count, and may be most of many: all of a column's can be one,
// the rest, whose pseudo-count is the sum of theirs. Nothing else changes, since a Dirichlet
// distribution with some of its categories put together is one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

#include "mixwood/family/concentration.hpp"
#include "mixwood/family/family.hpp"
#include "mixwood/numerics/lazy_table.hpp"
#include "mixwood/numerics/special.hpp"

namespace mixwood {

class Categorical {
 public:
  class Clusters;
  class Atoms;

  // `codes` is n x d, kept by the caller; the categories of column j are at offsets[j] ... in
  // `pseudo_counts`; `offsets` has d + 1 entries. `for_these_rows` puts categories that they do not
  // have together, if these are many.
  Categorical(std::span<const std::int32_t> codes, int n, int d,
              std::span<const std::int32_t> offsets, std::span<const double> pseudo_counts,
              Hyperprior hyper = {}, bool for_these_rows = false)
      : codes_(codes),
        n_(n),
        d_(d),
        offsets_(offsets.begin(), offsets.end()),
        outer_offsets_(offsets_),
        pseudo_counts_(pseudo_counts.begin(), pseudo_counts.end()),
        column_sums_(d),
        rest_(d, none),
        hyper_(hyper) {
    if (for_these_rows) put_rest_together();
    if (hyper.is_random()) {
      base_.resize(static_cast<std::size_t>(d));
      std::vector<double> start(base_.size());
      for (int j = 0; j < d; ++j) start[j] = std::log(pseudo_counts[outer_offsets_[j]]);
      set_base(start.data());
      return;
    }
    for (int j = 0; j < d; ++j)
      for (int l = offsets_[j]; l < offsets_[j + 1]; ++l) column_sums_[j] += pseudo_counts_[l];
    forget_gains();
    alone_.fill(static_cast<std::size_t>(n),
                [this](std::size_t i) { return compute_alone(static_cast<int>(i)); });
  }

  // --- the base measure
  int base_size() const { return static_cast<int>(base_.size()); }
  void read_base(double* to) const { std::copy(base_.begin(), base_.end(), to); }
  void set_base(const double* base) {
    for (int j = 0; j < d_; ++j) {
      const double beta = std::exp(base[j]);
      const double sum = beta * levels(j);
      if (!(beta > 0) || !std::isfinite(sum))
        throw std::invalid_argument("a base measure must have a positive, finite beta");
      base_[j] = base[j];
      column_sums_[j] = sum;
      std::fill(pseudo_counts_.begin() + offsets_[j], pseudo_counts_.begin() + offsets_[j + 1],
                beta);
      if (rest_[j] != none)
        pseudo_counts_[rest_[j]] = beta * (levels(j) - (rest_[j] - offsets_[j]));
    }
    alone_.forget(static_cast<std::size_t>(n_));
    forget_gains();
    ++base_version_;
  }
  double log_base() const {
    double total = 0;
    for (const double log_beta : base_) total += hyper_.log_density(log_beta);
    return total;
  }
  BaseMoves update_base(const ClusterStatistics& clusters, Stream& random) {
    std::vector<Concentration> columns;
    for (int j = 0; j < d_; ++j) columns.emplace_back(levels(j));
    for (int k = 0; k < clusters.count; ++k) {
      const double* s = clusters.read(k);
      for (int j = 0; j < d_; ++j) columns[j].add(s + offsets_[j], offsets_[j + 1] - offsets_[j]);
    }
    std::vector<double> moved(base_.size());
    for (int j = 0; j < d_; ++j) moved[j] = columns[j].move(base_[j], hyper_, random);
    set_base(moved.data());
    return {};
  }

  int n_rows() const { return n_; }
  int d() const { return d_; }
  double log_alone(int i) const {
    return alone_.at(static_cast<std::size_t>(i),
                     [this](std::size_t any) { return compute_alone(static_cast<int>(any)); });
  }
  int statistic_size() const { return offsets_.back(); }
  // All entries of a statistic are exact whole numbers.
  static constexpr bool is_whole = true;
  bool is_count(int) const { return true; }
  int row_entries() const { return d_; }
  // The statistics of all categories, and one of them with the rest put together. Rows of this
  // family, which have none of the rest, get the same probabilities from it.
  int outer_size() const { return outer_offsets_.back(); }
  void condense(const double* outer, double* s) const {
    if (inner_place_.empty()) {
      std::copy_n(outer, statistic_size(), s);
      return;
    }
    std::fill_n(s, statistic_size(), 0.0);
    for (std::size_t l = 0; l < inner_place_.size(); ++l) s[inner_place_[l]] += outer[l];
  }
  int offset(int column) const { return offsets_[column]; }
  double pseudo_count(int place) const { return pseudo_counts_[place]; }
  double column_sum(int column) const { return column_sums_[column]; }
  // Another number whenever the base measure may be another one; never 0.
  std::uint64_t base_version() const { return base_version_; }

  // Where entry (i, j) is counted: statistic_size() for a missing one.
  int place(int i, int j) const {
    const std::int32_t code = codes_[static_cast<std::size_t>(i) * d_ + j];
    return code < 0 ? statistic_size() : offsets_[j] + code;
  }

  void observe(double* s, int i) const { add(s, i, 1); }
  void forget(double* s, int i) const { add(s, i, -1); }
  void merge(double* s, const double* t) const {
    for (int l = 0; l < statistic_size(); ++l) s[l] += t[l];
  }
  void subtract(double* s, const double* t) const {
    for (int l = 0; l < statistic_size(); ++l) s[l] -= t[l];
  }

  double log_marginal(const double* s) const {
    double total = 0;
    for (int j = 0; j < d_; ++j) {
      double count = 0;
      each_seen(s, j, [&](int l) {
        count += s[l];
        total += log_gain(j, l, s[l]);
      });
      if (count > 0) total += log_gamma(column_sums_[j]) - log_gamma(column_sums_[j] + count);
    }
    return total;
  }

  // --- What comparing a few rows with a statistic takes besides it: N of every column. By the
  // chain rule each entry then is a factor, (a_l + N_l)/(A + N), however many categories there are.
  int factor_size() const { return d_; }
  static constexpr int factor_rows() { return 64; }
  int factor_scratch() const { return statistic_size() + d_; }  // counts of the rows before
  void make_factor(const double* s, double* factor) const {
    for (int j = 0; j < d_; ++j)
      factor[j] = std::accumulate(s + offsets_[j], s + offsets_[j + 1], 0.0);
  }
  void update_factor(const double*, double* factor, std::span<const int> rows, double*) const {
    for (const int i : rows)
      for (int j = 0; j < d_; ++j) factor[j] += place(i, j) < statistic_size() ? 1 : 0;
  }
  double log_marginal_with(const double* s, double log_marginal, const double* factor,
                           std::span<const int> rows, double* scratch) const {
    double* columns = scratch + statistic_size();
    double total = log_marginal;
    double product = 1;
    for (const int i : rows)
      for (int j = 0; j < d_; ++j) {
        const int l = place(i, j);
        if (l == statistic_size()) continue;
        product *=
            (pseudo_counts_[l] + s[l] + scratch[l]) / (column_sums_[j] + factor[j] + columns[j]);
        if (rows.size() > 1) {
          ++scratch[l];
          ++columns[j];
        }
        if (product > 1e-200) continue;
        total += std::log(product);
        product = 1;
      }
    if (rows.size() > 1)
      for (const int i : rows)
        for (int j = 0; j < d_; ++j) scratch[place(i, j)] = columns[j] = 0;
    return total + std::log(product);
  }

 private:
  static constexpr int none = -1;

  // How many categories a column has.
  int levels(int column) const { return outer_offsets_[column + 1] - outer_offsets_[column]; }

  void put_rest_together() {
    std::vector<std::int32_t> inner(static_cast<std::size_t>(statistic_size()), none);
    for (std::size_t e = 0; e < codes_.size(); ++e)
      if (codes_[e] >= 0) inner[offsets_[e % static_cast<std::size_t>(d_)] + codes_[e]] = 0;
    const auto seen = std::count(inner.begin(), inner.end(), 0);
    if (2 * (seen + d_) > statistic_size()) return;
    std::vector<double> pseudo_counts;
    for (int j = 0; j < d_; ++j) {
      offsets_[j] = static_cast<std::int32_t>(pseudo_counts.size());
      for (int l = outer_offsets_[j]; l < outer_offsets_[j + 1]; ++l)
        if (inner[l] != none) {
          inner[l] = static_cast<std::int32_t>(pseudo_counts.size());
          pseudo_counts.push_back(pseudo_counts_[l]);
        }
      if (static_cast<int>(pseudo_counts.size()) - offsets_[j] == levels(j)) continue;
      rest_[j] = static_cast<std::int32_t>(pseudo_counts.size());
      pseudo_counts.push_back(0);
      for (int l = outer_offsets_[j]; l < outer_offsets_[j + 1]; ++l)
        if (inner[l] == none) {
          inner[l] = rest_[j];
          pseudo_counts.back() += pseudo_counts_[l];
        }
    }
    offsets_[d_] = static_cast<std::int32_t>(pseudo_counts.size());
    auto codes = std::make_shared<std::vector<std::int32_t>>(codes_.begin(), codes_.end());
    for (std::size_t e = 0; e < codes->size(); ++e) {
      const std::size_t j = e % static_cast<std::size_t>(d_);
      std::int32_t& code = (*codes)[e];
      if (code >= 0) code = inner[outer_offsets_[j] + code] - offsets_[j];
    }
    codes_ = *codes;
    own_codes_ = std::move(codes);
    inner_place_ = std::move(inner);
    pseudo_counts_ = std::move(pseudo_counts);
  }

  double compute_alone(int i) const {
    double total = 0;
    for (int j = 0; j < d_; ++j)
      if (const int l = place(i, j); l < statistic_size())
        total += std::log(pseudo_counts_[l] / column_sums_[j]);
    return total;
  }

  // Calls visit(l) for the categories of a column that occur. Most of many do not: eight at once
  // are passed over.
  template <class Visit>
  void each_seen(const double* s, int column, Visit&& visit) const {
    constexpr int block = 8;
    const int end = offsets_[column + 1];
    int l = offsets_[column];
    for (; l + block <= end; l += block) {
      double sum = 0;  // of counts, none of which is negative
      for (int k = 0; k < block; ++k) sum += s[l + k];
      if (sum == 0) continue;
      for (int k = l; k < l + block; ++k)
        if (s[k] != 0) visit(k);
    }
    for (; l < end; ++l)
      if (s[l] != 0) visit(l);
  }

  // log Gamma(a_l + count)/Gamma(a_l): counts are mostly whole and small, and pseudo-counts the
  // same throughout a column.
  double log_gain(int column, int l, double count) const {
    const auto whole = static_cast<std::size_t>(count);
    if (!is_even_[column] || whole >= common_counts || static_cast<double>(whole) != count)
      return compute_gain(l, count);
    return log_gains_.at(static_cast<std::size_t>(column) * common_counts + whole,
                         [&](std::size_t) { return compute_gain(l, count); });
  }
  double compute_gain(int l, double count) const {
    return log_gamma(pseudo_counts_[l] + count) - log_gamma(pseudo_counts_[l]);
  }

  // Pseudo-counts have changed.
  void forget_gains() {
    is_even_.resize(static_cast<std::size_t>(d_));
    for (int j = 0; j < d_; ++j) {
      const auto first = pseudo_counts_.begin() + offsets_[j];
      // No row has any of the rest.
      const auto end = pseudo_counts_.begin() + (rest_[j] != none ? rest_[j] : offsets_[j + 1]);
      is_even_[j] = std::all_of(first, end, [&](double a) { return a == *first; });
    }
    log_gains_.forget(static_cast<std::size_t>(d_) * common_counts);
  }
  static constexpr std::size_t common_counts = 128;

  void add(double* s, int i, double amount) const {
    for (int j = 0; j < d_; ++j)
      if (const int l = place(i, j); l < statistic_size()) s[l] += amount;
  }

  std::span<const std::int32_t> codes_;
  int n_, d_;
  std::vector<std::int32_t> offsets_, outer_offsets_;
  std::vector<double> pseudo_counts_, column_sums_;
  std::vector<std::int32_t> rest_;         // the place of a column's rest, or none
  std::vector<std::int32_t> inner_place_;  // of each category, where some are put together
  std::shared_ptr<const std::vector<std::int32_t>> own_codes_;
  Hyperprior hyper_;
  std::vector<double> base_;
  std::uint64_t base_version_ = 1;
  std::vector<char> is_even_;  // columns whose pseudo-counts are all the same
  LazyTable log_gains_, alone_;
};

static_assert(Family<Categorical>);

}  // namespace mixwood
