// The missing entries of Gaussian rows. Given the n rows of a cluster, with
// kappa = r + n, m_n = n xbar / kappa, the next row is t distributed, and so are its observed
// entries o (d_o of them) on their own and its missing ones m given those:
//
//   x_o        ~ t(f, m_o, (kappa+1)/(kappa f) Psi_oo),      f = nu + n - d + 1
//   x_m | x_o  = m_m + L_mo w + L_mm z sqrt(((kappa+1)/kappa + w'w) / c),
//
// where L is the Cholesky factor of Psi_n with the observed columns first, w = L_oo^-1 (x_o - m_o),
// z standard normal and c a chi-square of f + d_o degrees of freedom.
#pragma once

#include <cmath>
#include <numbers>
#include <vector>

#include "mixwood/family/gaussian.hpp"
#include "mixwood/family/latent.hpp"

namespace mixwood {

class Gaussian::Latents {
 public:
  explicit Latents(const Gaussian& family)
      : family_(family),
        d_(family.d()),
        order_(d_),
        floors_(d_),
        mean_(d_),
        away_(d_),
        factor_(static_cast<std::size_t>(d_) * d_) {}

  // The observed columns come first.
  void load(int row) {
    row_ = family_.row(row);
    const auto missing = family_.missing(row);
    observed_ = d_ - static_cast<int>(missing.size());
    int next = 0;
    std::size_t m = 0;
    for (int j = 0; j < d_; ++j) {
      if (m < missing.size() && missing[m] == j)
        order_[observed_ + static_cast<int>(m++)] = j;
      else
        order_[next++] = j;
    }
    for (int k = 0; k < d_; ++k) floors_[k] = family_.any_order_pivots()[order_[k]];
  }

  double score(const double* s) {
    if (observed_ == 0) return 0;
    const double log_determinant = factor(s, observed_);
    const double kappa = family_.r() + s[0];
    const double squared = cholesky_solve_squared(observed_, factor_.data(), away_.data());
    return family_.log_gamma_half(s[0] + observed_) - family_.log_gamma_half(s[0]) -
           0.5 * observed_ * (std::log(std::numbers::pi) + std::log1p(1 / kappa)) -
           0.5 * log_determinant -
           0.5 * (freedom(s) + observed_) * std::log1p(kappa / (kappa + 1) * squared);
  }

  void draw(const double* s, Stream& random, double* to) {
    factor(s, d_);
    double squared = 0;
    for (int k = observed_; k < d_; ++k) away_[k] = 0;
    for (int k = 0; k < observed_; ++k) {
      const double* column = factor_.data() + k * d_;
      const double w = away_[k] * column[k];
      squared += w * w;
      for (int i = k + 1; i < d_; ++i) away_[i] -= column[i] * w;  // of missing ones: -L_mo w
    }
    const double chi_square = 2 * std::exp(random.log_gamma_draw(0.5 * (freedom(s) + observed_)));
    const double scale = std::sqrt((1 + 1 / (family_.r() + s[0]) + squared) / chi_square);
    for (int k = observed_; k < d_; ++k) to[k - observed_] = mean_[k] - away_[k];
    for (int k = observed_; k < d_; ++k) {
      const double* column = factor_.data() + k * d_;
      const double z = scale * random.normal();
      to[k - observed_] += z / column[k];
      for (int i = k + 1; i < d_; ++i) to[i - observed_] += z * column[i];
    }
  }

 private:
  double freedom(const double* s) const { return family_.nu() + s[0] - d_ + 1; }

  // Factors Psi_n of the first `count` columns and returns its log-determinant; away_ becomes
  // x - m_n of them.
  double factor(const double* s, int count) {
    const double n = s[0], kappa = family_.r() + n;
    const double weight = family_.r() * n / kappa;
    const double* scatter = s + 1 + d_;
    for (int k = 0; k < count; ++k) {
      const int j = order_[k];
      mean_[k] = s[1 + j] * n / kappa;
      away_[k] = row_[j] - mean_[k];
      double* column = factor_.data() + k * count;
      for (int l = k; l < count; ++l) {
        const int i = order_[l];
        const int low = i < j ? i : j, high = i < j ? j : i;
        column[l] = family_.psi()[j * d_ + i] + scatter[low * d_ - low * (low + 1) / 2 + high] +
                    weight * s[1 + i] * s[1 + j];
      }
    }
    const double log_determinant = cholesky_factor(count, factor_.data(), floors_.data());
    if (!std::isfinite(log_determinant))
      throw std::runtime_error("a cluster's scale matrix is not finite; rescale X");
    return log_determinant;
  }

  const Gaussian& family_;
  int d_;
  const double* row_ = nullptr;
  int observed_ = 0;
  std::vector<int> order_;
  std::vector<double> floors_, mean_, away_, factor_;
};

static_assert(LatentFamily<Gaussian>);

}  // namespace mixwood
