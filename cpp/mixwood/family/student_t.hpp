// Student t rows, Normal-Wishart prior with mean 0 (the rows come centred on the prior mean). Each
// row has a scale q of its own, which is part of a chain's state:
//
//   q_i ~ Gamma(a/2, a/2),   x_i ~ N(mean_c, Sigma_c / q_i)
//
//   P(X_c | q) = pi^(-nd/2) prod q_i^(d/2) (r/(r+Q))^(d/2) |Psi|^(nu/2) |Psi_n|^(-(nu+n)/2)
//                * Gamma_d((nu+n)/2) / Gamma_d(nu/2),       Q = sum q_i
//   Psi_n = Psi + S + r Q/(r+Q) xbar xbar',  xbar and S weighted by q
//
// Statistic: n, sum ln q, then Q, xbar (d) and the lower triangle of S, as in gaussian.hpp.
//
// The base measure, where it is learned: that of the Gaussian, if that is, and ln a, if it is. The
// scales and a are drawn again along with the chain (student_t_latents.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "mixwood/family/factored_clusters.hpp"
#include "mixwood/family/family.hpp"
#include "mixwood/family/gaussian.hpp"
#include "mixwood/family/gaussian_base.hpp"
#include "mixwood/numerics/kernels.hpp"
#include "mixwood/numerics/lazy_table.hpp"
#include "mixwood/random/hyperprior.hpp"

namespace mixwood {

// The degrees of freedom: where they start, and their law.
struct Freedom {
  double df;
  Hyperprior law;
};

class StudentT {
 public:
  class Clusters;
  class Atoms;
  class Latents;

  static constexpr int moments_at = 2;

  // All scales are 1 at first: a chain's guide trees are grown over these.
  StudentT(Gaussian normal, Freedom freedom)
      : normal_(std::move(normal)),
        law_(freedom.law),
        log_df_(std::log(freedom.df)),
        scales_(static_cast<std::size_t>(normal_.n_rows()), 1.0),
        rows_(scales_.size()) {
    if (!(freedom.df > 0) || !std::isfinite(freedom.df))
      throw std::invalid_argument("df must be positive");
    std::iota(rows_.begin(), rows_.end(), 0);
    alone_.forget(scales_.size());
  }

  // --- the base measure
  int base_size() const { return normal_.base_size() + (law_.is_random() ? 1 : 0); }
  void read_base(double* to) const {
    normal_.read_base(to);
    if (law_.is_random()) to[normal_.base_size()] = log_df_;
  }
  void set_base(const double* base) {
    if (law_.is_random()) set_log_df(base[normal_.base_size()]);
    if (normal_.base_size() == 0) return;
    normal_.set_base(base);
    alone_.forget(scales_.size());
  }
  double log_base() const {
    return (normal_.base_size() > 0 ? normal_.log_base() : 0.0) + law_.log_density(log_df_);
  }
  // The degrees of freedom move along with the scales.
  BaseMoves update_base(const ClusterStatistics& clusters, Stream& random) {
    if (normal_.base_size() == 0) return {};
    const BaseMoves moves = normal_.update_base(clusters, random, moments_at);
    alone_.forget(scales_.size());
    return moves;
  }
  const Hyperprior& law() const { return law_; }
  double log_df() const { return log_df_; }
  double df() const { return std::exp(log_df_); }
  void set_log_df(double log_df) {
    if (!std::isfinite(log_df) || !std::isfinite(std::exp(log_df)) || !(std::exp(log_df) > 0))
      throw std::invalid_argument("degrees of freedom must be positive and finite");
    log_df_ = log_df;
  }

  int n_rows() const { return normal_.n_rows(); }
  int d() const { return normal_.d(); }
  double r() const { return normal_.r(); }
  double nu() const { return normal_.nu(); }
  const double* row(int i) const { return normal_.row(i); }
  const Gaussian& normal() const { return normal_; }
  double weight(int i) const { return scales_[i]; }
  double log_alone(int i) const {
    return alone_.at(static_cast<std::size_t>(i),
                     [this](std::size_t any) { return compute_alone(static_cast<int>(any)); });
  }

  // --- the scales, one for each row; see latent.hpp
  int latent_size() const { return n_rows(); }
  static constexpr int latent_size(int) { return 1; }
  std::span<const int> latent_rows() const { return rows_; }
  void read_latent(double* to) const { std::copy(scales_.begin(), scales_.end(), to); }
  void set_latent(const double* from) {
    for (const int i : rows_) set_latent_of_row(i, from + i);
  }
  void set_latent_of_row(int i, const double* from) {
    if (!(*from > 0) || !std::isfinite(*from))
      throw std::invalid_argument("the scale of a row must be positive and finite");
    scales_[i] = *from;
    alone_.forget_one(static_cast<std::size_t>(i));
  }
  inline void redraw_latents(const ClusterStatistics& clusters, std::span<const int> cluster_of_row,
                             Stream& random);

  int statistic_size() const { return moments_at + normal_.statistic_size(); }
  bool is_count(int entry) const { return entry == 0; }

  const double* psi() const { return normal_.psi(); }
  const double* least_pivots() const { return normal_.least_pivots(); }
  double posterior_factor(const double* moments, double* factor) const {
    return normal_.posterior_factor(moments, factor);
  }
  double size_term(double size) const { return normal_.size_term(size); }

  void observe(double* s, int i) const {
    normal_.moments().observe(s + moments_at, row(i), scales_[i]);
    s[0] += 1;
    s[1] += std::log(scales_[i]);
  }
  void forget(double* s, int i) const {
    if (s[0] <= 1) return clear(s);
    normal_.moments().forget(s + moments_at, row(i), scales_[i], left(s[moments_at], scales_[i]));
    s[0] -= 1;
    s[1] -= std::log(scales_[i]);
    end_rounding(s);
  }
  void merge(double* s, const double* t) const {
    normal_.moments().merge(s + moments_at, t + moments_at);
    s[0] += t[0];
    s[1] += t[1];
  }
  void subtract(double* s, const double* t) const {
    if (s[0] <= t[0]) return clear(s);
    if (t[0] == 0) return;
    normal_.moments().subtract(s + moments_at, t + moments_at, left(s[moments_at], t[moments_at]));
    s[0] -= t[0];
    s[1] -= t[1];
    end_rounding(s);
  }

  double log_marginal(const double* s) const {
    return log_marginal(s, normal_.posterior_log_determinant(s + moments_at));
  }
  double log_marginal(const double* s, double log_determinant) const {
    return log_marginal(s[0], s[1], s[moments_at], log_determinant);
  }
  double log_marginal_of_union(const double* s, const double* t, double log_determinant) const {
    return log_marginal(s[0] + t[0], s[1] + t[1], s[moments_at] + t[moments_at], log_determinant);
  }
  std::pair<double, double> log_marginals_with(const double* first, const double* second,
                                               const double* t) const {
    const auto [one, other] =
        normal_.log_determinants_with(first + moments_at, second + moments_at, t + moments_at);
    return {log_marginal_of_union(first, t, one), log_marginal_of_union(second, t, other)};
  }

  int factor_size() const { return normal_.factor_size(); }
  int factor_rows() const { return normal_.factor_rows(); }
  int factor_scratch() const { return normal_.factor_scratch(); }
  void make_factor(const double* s, double* factor) const {
    normal_.make_factor(s + moments_at, factor);
  }
  void update_factor(const double* s, double* factor, std::span<const int> rows,
                     double* scratch) const {
    normal_.update_factor(s + moments_at, factor, rows, scales_.data(), scratch);
  }
  double log_marginal_with(const double* s, double, const double* factor, std::span<const int> rows,
                           double* scratch) const {
    double log_scales = s[1], total = s[moments_at];
    for (const int i : rows) {
      log_scales += std::log(scales_[i]);
      total += scales_[i];
    }
    return log_marginal(
        s[0] + static_cast<double>(rows.size()), log_scales, total,
        normal_.log_determinant_with(s + moments_at, factor, rows, scales_.data(), scratch));
  }

 private:
  // The Gaussian's has (r/(r+n))^(d/2).
  double log_marginal(double size, double log_scales, double total, double log_determinant) const {
    if (size == 0) return 0;
    return normal_.log_marginal(size, log_determinant) +
           0.5 * d() * (std::log((r() + size) / (r() + total)) + log_scales);
  }

  double compute_alone(int i) const {
    const double q = scales_[i];
    return size_term(1) - 0.5 * (nu() + 1) * normal_.log_determinant() +
           0.5 * d() * std::log(q * (r() + 1) / (r() + q)) -
           0.5 * (nu() + 1) * std::log1p(r() * q / (r() + q) * normal_.squared_from_origin(i));
  }

  void clear(double* s) const { std::fill(s, s + statistic_size(), 0.0); }

  // What is left of a sum of weights: where that is less than the rounding of the sum, rows of no
  // weight are left, and nothing is lost if they are given a little.
  static double left(double total, double part) { return std::max(total - part, 1e-13 * total); }
  void end_rounding(double* s) const {
    if (s[0] == 1) std::fill(s + moments_at + 1 + d(), s + statistic_size(), 0.0);
  }

  Gaussian normal_;
  Hyperprior law_;
  double log_df_;
  std::vector<double> scales_;
  std::vector<int> rows_;
  LazyTable alone_;
};

class StudentT::Clusters : public FactoredClusters<StudentT, StudentT::Clusters> {
 public:
  explicit Clusters(const StudentT& family) : FactoredClusters(family), weights_(block_rows, 1.0) {}

  void load(std::span<const int> rows) {
    FactoredClusters::load(rows);
    for (std::size_t b = 0; b < rows.size(); ++b) weights_[b] = family_.weight(rows[b]);
  }

  void score(std::span<const int> slots, double* scores) {
    for (const int slot : slots) {
      const std::size_t at = static_cast<std::size_t>(slot) * block_rows;
      kernels_.scaled_gaussian(d_, factor(slot), mean(slot), block_.values(), weights_.data(),
                               terms_[slot], scratch_.data(), quadratic_.data() + at, scores + at);
    }
  }

  double score_without(int slot, int b) {
    const double q = weights_[b];
    const auto rest = without(slot, q, quadratic_[static_cast<std::size_t>(slot) * block_rows + b]);
    if (!rest.is_safe) return score_without_slowly(slot, b);
    const ScaledTerms& terms = rest.terms;
    const double fraction = terms.kappa * q / (terms.kappa + q);
    return terms.base + terms.half_columns * std::log(fraction) -
           terms.half * std::log1p(fraction * rest.squared);
  }

  // A slot and a row: the terms of its predictive, and how far away the row is.
  struct Comparison {
    ScaledTerms terms;
    double squared;
    bool is_safe;  // else rounding has spoilt it
  };
  Comparison compared(int slot, int row) {
    return {terms_[slot], squared_distance(slot, row), true};
  }

  // The same with the row, of weight q, taken out of the slot: with c = q kappa/kappa_-,
  // x - m_- = kappa/kappa_- (x - m) and Psi_- = Psi_n - c (x - m)(x - m)'.
  Comparison compared_without(int slot, int row, double q) {
    return without(slot, q, squared_distance(slot, row));
  }

 private:
  friend FactoredClusters;

  Comparison without(int slot, double q, double squared) const {
    const double size = statistic(slot)[0] - 1;
    const double kappa = kappa_of(slot), less = kappa - q;
    const double inside = 1 - q * kappa / less * squared;
    // cancels: the row has to be taken out for real
    if (!(inside > 1e-6) || !(less > 1e-9 * kappa)) return {{}, 0, false};
    return {terms(size, log_determinants_[slot] + std::log(inside), less),
            kappa / less * (kappa / less) * squared / inside, true};
  }

  // log P(x | q, X_c) = size ratio + d/2 log f - log|Psi_n|/2 - (nu+n+1)/2 log(1 + f squared),
  // f = kappa q / (kappa + q).
  ScaledTerms terms(double size, double log_determinant, double kappa) const {
    const double r = family_.r();
    return {family_.size_term(size + 1) - family_.size_term(size) +
                0.5 * d_ * std::log((r + size + 1) / (r + size)) - 0.5 * log_determinant,
            0.5 * d_, 0.5 * (family_.nu() + size + 1), kappa};
  }

  void grow_terms(std::size_t count) { terms_.resize(count); }
  void refresh_terms(int slot) {
    const double kappa = refresh_mean(slot);
    terms_[slot] = terms(statistic(slot)[0], log_determinants_[slot], kappa);
  }

  std::vector<ScaledTerms> terms_;
  std::vector<double> weights_;  // of the rows that were loaded
};

static_assert(Family<StudentT> && ClusterScores<StudentT::Clusters, StudentT>);

}  // namespace mixwood
