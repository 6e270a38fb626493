// The clusters of families with a Normal-Wishart prior. The statistics are the truth; the factor of
// Psi_n and the posterior mean are kept with them. A row that comes or goes is a rank-one update;
// where that is unsafe, and for all other changes, they are made afresh from the statistics.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "mixwood/archive.hpp"
#include "mixwood/family/clusters.hpp"
#include "mixwood/numerics/cholesky.hpp"
#include "mixwood/numerics/kernels.hpp"

namespace mixwood {

// F has weight(row), and in its statistics, from F::moments_at on, the sum of the weights, the
// weighted mean and the weighted scatter. `Derived` has grow_terms(count) and refresh_terms(slot),
// for whatever it keeps besides.
template <class F, class Derived>
class FactoredClusters : public RefreshedClusters<F, Derived> {
  using Base = RefreshedClusters<F, Derived>;

 public:
  using Base::statistic;

  void grow(int slots) {
    if (!this->grow_statistics(slots)) return;
    const auto count = static_cast<std::size_t>(this->slots_);
    factors_.resize(count * d_ * d_);
    means_.resize(count * d_);
    log_determinants_.resize(count);
    quadratic_.resize(count * block_rows);
    derived().grow_terms(count);
  }

  void observe(int slot, int row) {
    const double kappa = kappa_of(slot), weight = family_.weight(row);
    difference(slot, row, std::sqrt(weight * kappa / (kappa + weight)));
    family_.observe(statistic(slot), row);
    update(slot, +1);
  }

  void forget(int slot, int row) {
    const double total = moments(slot)[0], weight = family_.weight(row);
    difference(slot, row,
               std::sqrt(weight * (family_.r() + total) / (family_.r() + (total - weight))));
    family_.forget(statistic(slot), row);
    if (statistic(slot)[0] == 0) return refresh(slot);
    update(slot, -1);
  }

  double log_marginal(int slot) const {
    return family_.log_marginal(statistic(slot), log_determinants_[slot]);
  }

  // log P(block | X_slot) for each of the slots, at scores[slot].
  void score_block(const double* block, std::span<const int> slots, double* scores) {
    const int count = static_cast<int>(slots.size());
    if (block[0] == 0) {  // as part of a product: none of the rows has these columns
      for (const int slot : slots) scores[slot] = 0;
      return;
    }
    pointers_.resize(slots.size());
    union_determinants_.resize(slots.size());
    for (int k = 0; k < count; ++k) pointers_[k] = moments(slots[k]);
    this->kernels_.gaussian_unions(d_, count, pointers_.data(), block + F::moments_at,
                                   family_.psi(), family_.least_pivots(), family_.r(),
                                   union_scratch_.data(), union_determinants_.data());
    for (int k = 0; k < count; ++k)
      scores[slots[k]] =
          family_.log_marginal_of_union(statistic(slots[k]), block, union_determinants_[k]) -
          log_marginal(slots[k]);
  }

  // The factor has gathered the rounding of many updates: it is saved, too.
  template <class Archive>
  void archive(Archive& a, int slot, const double* fresh) {
    if constexpr (Archive::loading) std::copy_n(fresh, family_.statistic_size(), statistic(slot));
    archive_statistic(a, family_, statistic(slot));
    for (int e = 0; e < d_ * d_; ++e) archive_finite(a, factor(slot)[e]);
    archive_finite(a, log_determinants_[slot]);
    if constexpr (Archive::loading) derived().refresh_terms(slot);
  }

 protected:
  using Base::d_, Base::family_, Base::spare_;

  explicit FactoredClusters(const F& family)
      : Base(family),
        scratch_(static_cast<std::size_t>(d_) * block_rows),
        vector_(d_),
        union_scratch_(static_cast<std::size_t>(d_ + 1) * (d_ + 2) / 2 * widest_vector) {}

  double* factor(int slot) { return factors_.data() + static_cast<std::size_t>(slot) * d_ * d_; }
  double* mean(int slot) { return means_.data() + static_cast<std::size_t>(slot) * d_; }
  const double* moments(int slot) const { return statistic(slot) + F::moments_at; }
  double kappa_of(int slot) const { return family_.r() + moments(slot)[0]; }

  void refresh(int slot) {
    log_determinants_[slot] = family_.posterior_factor(moments(slot), factor(slot));
    derived().refresh_terms(slot);
  }

  // Returns kappa.
  double refresh_mean(int slot) {
    const double* m = moments(slot);
    const double kappa = family_.r() + m[0];
    for (int j = 0; j < d_; ++j) mean(slot)[j] = m[1 + j] * m[0] / kappa;
    return kappa;
  }

  // |L^-1 (x - posterior mean)|^2.
  double squared_distance(int slot, int row) {
    difference(slot, row, 1.0);
    return cholesky_solve_squared(d_, factor(slot), vector_.data());
  }

  std::vector<double> log_determinants_, quadratic_, scratch_;

 private:
  friend Base;

  Derived& derived() { return static_cast<Derived&>(*this); }

  // vector_ = scale (x - posterior mean).
  void difference(int slot, int row, double scale) {
    for (int j = 0; j < d_; ++j) vector_[j] = scale * (family_.row(row)[j] - mean(slot)[j]);
  }

  void update(int slot, double sign) {
    const double ratio = rank_one(slot, sign);
    if (!(ratio > least_ratio)) return refresh(slot);
    log_determinants_[slot] += std::log(ratio);
    derived().refresh_terms(slot);
  }

  // Adds sign * vector_ vector_' to what is factored, and returns by which factor the determinant
  // grows; or one that is too small, where the factor may be spoilt.
  double rank_one(int slot, double sign) {
    double* x = spare_.data();
    if (d_ >= many_columns)
      return this->kernels_.update_factor(d_, factor(slot), vector_.data(), scratch_.data(), sign,
                                          least_ratio);
    std::copy_n(vector_.data(), d_, x);
    const double ratio = 1 + sign * cholesky_solve_squared(d_, factor(slot), x);
    if (!(ratio > least_ratio)) return ratio;
    return cholesky_rank_one(d_, factor(slot), vector_.data(), sign) ? ratio : 0.0;
  }

  static constexpr double least_ratio = 1e-3;
  static constexpr int many_columns = 8;  // of fewer the compiler makes the best

  std::vector<double> factors_, means_, vector_;
  std::vector<double> union_scratch_, union_determinants_;
  std::vector<const double*> pointers_;
};

}  // namespace mixwood
