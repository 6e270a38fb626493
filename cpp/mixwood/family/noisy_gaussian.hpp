// Gaussian rows that are seen with errors of known covariances:
//
//   x_i ~ N(y_i, E_i),   y_i a row of its cluster as in gaussian.hpp
//
// The true positions y are latent, all entries of all rows; a chain's guide trees are grown over
// y = x. Once per iteration a mean and a covariance are drawn for every cluster, and given these
// rows in turn draw their cluster, among those that there are, by x ~ N(mean, Sigma + E), and then
// their position (move/latent_refresh.hpp). With y' ~ N(mean, Sigma) and e' ~ N(0, E),
//
//   y = y' + Sigma (Sigma + E)^-1 (x - y' - e')
//
// is such a position, also where E has no inverse. Means and covariances are forgotten.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "mixwood/family/gaussian.hpp"
#include "mixwood/family/gaussian_atoms.hpp"
#include "mixwood/family/latent.hpp"
#include "mixwood/numerics/cholesky.hpp"

namespace mixwood {

class NoisyGaussian : public Gaussian {
 public:
  class Latents;

  // `positions` has all entries missing, and filled in with those of `observed` (n x d). Of each
  // row `factors` has a lower triangular F, d x d row by row, with E = F F'. The caller keeps both.
  NoisyGaussian(Gaussian positions, std::span<const double> observed,
                std::span<const double> factors)
      : Gaussian(std::move(positions)), observed_(observed), factors_(factors) {
    const auto entries = static_cast<std::size_t>(n_rows()) * d();
    if (observed.size() != entries || factors.size() != entries * d() ||
        static_cast<std::size_t>(latent_size()) != entries)
      throw std::invalid_argument("errors must have a d x d factor for each row");
  }

  const double* observed(int i) const {
    return observed_.data() + static_cast<std::size_t>(i) * d();
  }
  const double* error_factor(int i) const {
    return factors_.data() + static_cast<std::size_t>(i) * d() * d();
  }

 private:
  std::span<const double> observed_, factors_;
};

class NoisyGaussian::Latents {
 public:
  explicit Latents(const NoisyGaussian& family)
      : family_(family),
        d_(family.d()),
        size_(family.statistic_size()),
        atoms_(family),
        error_(square()),
        sum_(square()),
        drawn_(d_),
        rest_(d_) {}

  static constexpr bool given_atoms() { return true; }

  void start(int slots) {
    if (slots <= slots_) return;
    slots_ = std::max(slots, 2 * slots_);
    statistics_.resize(static_cast<std::size_t>(slots_) * size_);
    covariances_.resize(static_cast<std::size_t>(slots_) * square());
    atoms_.resize(slots_);
  }
  void assign(int slot, const double* s) {
    start(slot + 1);
    std::copy_n(s, size_, statistic(slot));
  }
  void read(int slot, double* s) const {
    std::copy_n(statistics_.data() + static_cast<std::size_t>(slot) * size_, size_, s);
  }
  void draw_atom(int slot, Stream& random) {
    atoms_.draw(slot, statistic(slot), random);
    const double* factor = atoms_.factor(slot);
    double* sigma = covariances_.data() + slot * square();
    for (int i = 0; i < d_; ++i)
      for (int j = 0; j <= i; ++j) {
        double sum = 0;
        for (int k = 0; k <= j; ++k) sum += entry(factor, i, k) * entry(factor, j, k);
        sigma[i * d_ + j] = sigma[j * d_ + i] = sum;
      }
  }

  void load(int row) {
    row_ = row;
    const double* factor = family_.error_factor(row);
    for (int i = 0; i < d_; ++i)
      for (int j = 0; j <= i; ++j) {
        double sum = 0;
        for (int k = 0; k <= j; ++k) sum += factor[i * d_ + k] * factor[j * d_ + k];
        error_[j * d_ + i] = sum;
      }
  }

  double score(int slot) {
    const double log_determinant = factor_sum(slot);
    const double* x = family_.observed(row_);
    for (int j = 0; j < d_; ++j) rest_[j] = x[j] - atoms_.mean(slot)[j];
    const double squared = cholesky_solve_squared(d_, sum_.data(), rest_.data());
    return -0.5 * (d_ * std::log(2 * std::numbers::pi) + log_determinant + squared);
  }
  // Given its parameters, a cluster does not depend on the row; and a new one has none.
  double score_without(int slot) { return score(slot); }
  static constexpr double score_alone() { return 0; }

  void forget(int slot) { family_.forget(statistic(slot), row_); }
  void observe(int slot) { family_.observe(statistic(slot), row_); }

  void draw(int slot, Stream& random, double* to) {
    factor_sum(slot);
    const double* factor = atoms_.factor(slot);
    const double* error = family_.error_factor(row_);
    const double* x = family_.observed(row_);
    for (double& z : drawn_) z = random.normal();
    for (int i = 0; i < d_; ++i) {
      to[i] = atoms_.mean(slot)[i];
      for (int k = 0; k <= i; ++k) to[i] += entry(factor, i, k) * drawn_[k];
      rest_[i] = x[i] - to[i];
    }
    for (double& z : drawn_) z = random.normal();
    for (int i = 0; i < d_; ++i)
      for (int k = 0; k <= i; ++k) rest_[i] -= error[i * d_ + k] * drawn_[k];
    solve_sum();
    const double* sigma = covariances_.data() + slot * square();
    for (int i = 0; i < d_; ++i)
      for (int k = 0; k < d_; ++k) to[i] += sigma[i * d_ + k] * rest_[k];
  }

 private:
  std::size_t square() const { return static_cast<std::size_t>(d_) * d_; }
  double* statistic(int slot) {
    return statistics_.data() + static_cast<std::size_t>(slot) * size_;
  }
  // Of a factor whose diagonal is inverted; i >= k.
  double entry(const double* factor, int i, int k) const {
    return i == k ? 1 / factor[k * d_ + k] : factor[k * d_ + i];
  }

  // sum_ becomes the factor of Sigma + E; returns the log-determinant of that.
  double factor_sum(int slot) {
    const double* sigma = covariances_.data() + slot * square();
    for (std::size_t e = 0; e < square(); ++e) sum_[e] = sigma[e] + error_[e];
    const double log_determinant = cholesky_factor(d_, sum_.data());
    if (!std::isfinite(log_determinant))
      throw std::runtime_error("a cluster's covariance is not finite; rescale X");
    return log_determinant;
  }

  // rest_ becomes (Sigma + E)^-1 rest_.
  void solve_sum() {
    cholesky_solve_squared(d_, sum_.data(), rest_.data());
    for (int j = d_ - 1; j >= 0; --j) {
      const double* column = sum_.data() + j * d_;
      for (int i = j + 1; i < d_; ++i) rest_[j] -= column[i] * rest_[i];
      rest_[j] *= column[j];
    }
  }

  const NoisyGaussian& family_;
  int d_;
  int size_;
  int slots_ = 0, row_ = 0;
  Gaussian::Atoms atoms_;
  std::vector<double> statistics_, covariances_, error_, sum_, drawn_, rest_;
};

static_assert(LatentFamily<NoisyGaussian>);

}  // namespace mixwood
