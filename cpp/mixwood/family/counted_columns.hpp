// Rows of independent columns of counts, each with its own conjugate prior; NaN entries are
// skipped. What the columns are, Poisson or negative binomial, is their law: the prior of the
// parameters of a column's clusters, and what that makes of n present entries that sum to N.
//
// Where rows have exposures e, a count is expected in proportion to its row's, and n is the sum of
// e.
//
// Statistic: for each column n and N. What a learned base measure is, the law says.
#pragma once

#include <cmath>
#include <concepts>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "mixwood/family/clusters.hpp"
#include "mixwood/family/exposures.hpp"
#include "mixwood/family/family.hpp"
#include "mixwood/numerics/kernels.hpp"
#include "mixwood/numerics/lazy_table.hpp"
#include "mixwood/random/stream.hpp"

namespace mixwood {

// Of each column its clusters, n and N of the one, then of the next.
using ColumnSums = std::vector<std::vector<double>>;

// What is known of one atom's column: the log density of x, of exposure e, is
// x * slope - e * rest, but for what depends on the row alone.
struct CountAtom {
  double slope, rest;
};

// Rows of counts, as a law may look at them.
struct CountRows {
  std::span<const double> values;
  int n, d;
  Exposures exposures;

  const double* row(int i) const { return values.data() + static_cast<std::size_t>(i) * d; }
};

// Law::Terms are, for each slot and column, what scores a row against the slot.
template <class L>
concept CountLaw =
    requires(L law, const L& given, double* to, const double* base, int j, double n, double sum,
             const ColumnSums& sums, Stream& random) {
      { given.base_size() } -> std::same_as<int>;
      given.read_base(to);
      law.set_base(base);
      { given.log_base() } -> std::same_as<double>;
      { given.moved_base(sums, random) } -> std::same_as<std::vector<double>>;
      { given.log_marginal(j, n, sum) } -> std::same_as<double>;
      // The part of it that depends on n and N.
      { given.log_posterior(j, n, sum) } -> std::same_as<double>;
      { given.draw_atom(j, n, sum, random) } -> std::same_as<CountAtom>;
    } &&
    requires(typename L::Terms terms, const typename L::Terms& held, const L& law,
             const Kernels& with, const RowBlock& rows, const ExposureBlock* exposures,
             std::size_t at, int j, double n, double sum, bool exposed, double* scores) {
      terms.resize(at);
      // Returns log_posterior(j, n, sum).
      { terms.refresh(law, exposed, j, at, n, sum) } -> std::same_as<double>;
      // Exposures: null where all are 1.
      held.score(law, with, at, rows, exposures, scores);
    };

// A law that has learned parameters which sums over rows do not tell: it looks at the rows, which
// may weigh more or less than one (empty weights: all 1).
template <class L>
concept LawOfRows =
    CountLaw<L> && requires(L law, const L& given, const CountRows& rows,
                            std::span<const double> weights, int j, double x, double e) {
      law.take_rows(rows, weights);
      // What is left out of the density of an entry, less what that was to begin with; see
      // RowTermFamily.
      { given.entry_term(j, x, e) } -> std::same_as<double>;
      { given.log_rows() } -> std::same_as<double>;
    };

template <CountLaw Law>
class CountedColumns {
 public:
  class Clusters;
  class Atoms;

  CountedColumns(std::span<const double> rows, int n, int d, Law law,
                 std::optional<std::span<const double>> exposures)
      : rows_{rows, n, d, Exposures(exposures)}, law_(std::move(law)) {
    if constexpr (LawOfRows<Law>) law_.take_rows(rows_, {});
    alone_.forget(static_cast<std::size_t>(n));
    if (base_size() == 0)
      alone_.fill(static_cast<std::size_t>(n),
                  [this](std::size_t i) { return compute_alone(static_cast<int>(i)); });
  }

  // --- the base measure
  int base_size() const { return law_.base_size(); }
  void read_base(double* to) const { law_.read_base(to); }
  void set_base(const double* base) {
    law_.set_base(base);
    if (base_size() > 0) alone_.forget(static_cast<std::size_t>(n_rows()));
  }
  double log_base() const { return law_.log_base(); }
  BaseMoves update_base(const ClusterStatistics& clusters, Stream& random) {
    ColumnSums columns(static_cast<std::size_t>(d()));
    for (int k = 0; k < clusters.count; ++k) {
      const double* s = clusters.read(k);
      for (int j = 0; j < d(); ++j, s += 2)
        if (s[0] > 0) columns[j].insert(columns[j].end(), s, s + 2);
    }
    set_base(law_.moved_base(columns, random).data());
    return {};
  }

  double row_term(int i) const
    requires LawOfRows<Law>
  {
    double total = 0;
    for (int j = 0; j < d(); ++j)
      if (row(i)[j] > 0) total += law_.entry_term(j, row(i)[j], exposures().of(i));
    return total;
  }
  double log_rows() const
    requires LawOfRows<Law>
  {
    return law_.log_rows();
  }
  // From now on rows count as much as they weigh in what is learned from the rows themselves.
  void weigh_rows(std::span<const double> weights)
    requires LawOfRows<Law>
  {
    law_.take_rows(rows_, weights);
  }

  int n_rows() const { return rows_.n; }
  int d() const { return rows_.d; }
  const Law& law() const { return law_; }
  const Exposures& exposures() const { return rows_.exposures; }
  const double* row(int i) const { return rows_.row(i); }
  double log_alone(int i) const {
    return alone_.at(static_cast<std::size_t>(i),
                     [this](std::size_t any) { return compute_alone(static_cast<int>(any)); });
  }
  int statistic_size() const { return 2 * d(); }
  // Which entries of a statistic are exact whole numbers.
  bool is_count(int entry) const { return !exposures().given() || entry % 2 == 1; }

  void observe(double* s, int i) const { add(s, i, 1); }
  void forget(double* s, int i) const { add(s, i, -1); }
  void merge(double* s, const double* t) const {
    for (int e = 0; e < statistic_size(); ++e) s[e] += t[e];
  }
  void subtract(double* s, const double* t) const {
    for (int e = 0; e < statistic_size(); ++e) s[e] -= t[e];
  }

  double log_marginal(const double* s) const {
    double total = 0;
    for (int j = 0; j < d(); ++j, s += 2)
      if (s[0] > 0) total += law_.log_marginal(j, s[0], s[1]);
    return total;
  }

 private:
  double compute_alone(int i) const {
    std::vector<double> s(static_cast<std::size_t>(statistic_size()), 0.0);
    observe(s.data(), i);
    return log_marginal(s.data());
  }

  void add(double* s, int i, double sign) const {
    const double e = sign * exposures().of(i);
    for (int j = 0; j < d(); ++j, s += 2) {
      const double x = row(i)[j];
      if (std::isnan(x)) continue;
      s[0] += e;
      s[1] += sign * x;
    }
  }

  CountRows rows_;
  Law law_;
  LazyTable alone_;
};

template <CountLaw Law>
class CountedColumns<Law>::Clusters
    : public RefreshedClusters<CountedColumns<Law>, typename CountedColumns<Law>::Clusters> {
  using Refreshed = RefreshedClusters<CountedColumns<Law>, typename CountedColumns<Law>::Clusters>;

 public:
  explicit Clusters(const CountedColumns& family) : Refreshed(family) {}

  void grow(int slots) {
    if (!this->grow_statistics(slots)) return;
    terms_.resize(place(this->slots_));
    log_posteriors_.resize(place(this->slots_));
  }

  double log_marginal(int slot) { return this->family_.log_marginal(this->statistic(slot)); }

  void load(std::span<const int> rows) {
    this->block_.load(this->family_, rows);
    exposures_.load(this->family_.exposures(), rows);
  }

  void score(std::span<const int> slots, double* scores) {
    const ExposureBlock* exposures = this->family_.exposures().given() ? &exposures_ : nullptr;
    for (const int slot : slots)
      terms_.score(this->family_.law(), this->kernels_, place(slot), this->block_, exposures,
                   scores + static_cast<std::size_t>(slot) * block_rows);
  }

  double score_without(int slot, int b) {
    const double* s = this->statistic(slot);
    double total = 0;
    for (int j = 0; j < this->d_; ++j, s += 2)
      if (this->block_.present(j, b))
        total += log_posteriors_[place(slot) + j] -
                 this->family_.law().log_posterior(j, s[0] - exposures_[b],
                                                   s[1] - this->block_.value(j, b));
    return total;
  }

 private:
  friend Refreshed;

  std::size_t place(int slot) const { return static_cast<std::size_t>(slot) * this->d_; }

  void refresh(int slot) {
    const double* s = this->statistic(slot);
    const bool exposed = this->family_.exposures().given();
    for (int j = 0; j < this->d_; ++j, s += 2) {
      const std::size_t at = place(slot) + j;
      log_posteriors_[at] = terms_.refresh(this->family_.law(), exposed, j, at, s[0], s[1]);
    }
  }

  typename Law::Terms terms_;
  ExposureBlock exposures_;
  std::vector<double> log_posteriors_;
};

}  // namespace mixwood
