// Clusters of linear relations by the precision of the noise, Gamma((nu + n)/2, psi_n/2), the
// slopes, and what is expected of y where x is the posterior mean.
#pragma once

#include <cmath>
#include <numbers>
#include <span>
#include <vector>

#include "mixwood/family/regression.hpp"
#include "mixwood/random/precision.hpp"

namespace mixwood {

class Regression::Atoms {
 public:
  static constexpr int rows_at_once = block_rows;

  explicit Atoms(const Regression& family)
      : family_(family),
        d_(family.d()),
        block_(family.d()),
        factor_(static_cast<std::size_t>(d_) * d_) {}

  void resize(int count) {
    coefficients_.resize(static_cast<std::size_t>(count) * d_);
    log_precisions_.resize(static_cast<std::size_t>(count));
  }

  // With L the factor of M_n, and l its last row but for the diagonal, the slopes are L^-T (l + e)
  // with e normal.
  void draw(int atom, const double* s, Stream& random) {
    const Prior& prior = family_.prior();
    const double log_scale = family_.posterior_factor(s, prior, factor_.data()).second;
    log_precisions_[atom] =
        draw_log_precision(0.5 * (prior.nu + s[0]), 0.5 * std::exp(log_scale), random);
    const double deviation = std::exp(-0.5 * log_precisions_[atom]);
    const int p = d_ - 1;
    double* slopes = &coefficients_[static_cast<std::size_t>(atom) * d_];
    for (int j = 0; j < p; ++j) slopes[j] = factor_[j * d_ + p] + deviation * random.normal();
    for (int j = p - 1; j >= 0; --j) {
      for (int i = j + 1; i < p; ++i) slopes[j] -= factor_[j * d_ + i] * slopes[i];
      slopes[j] *= factor_[j * d_ + j];
    }
    const double kappa = prior.r + s[0];
    double intercept = s[1 + p] * s[0] / kappa + deviation * random.normal() / std::sqrt(kappa);
    for (int j = 0; j < p; ++j) intercept -= slopes[j] * s[1 + j] * s[0] / kappa;
    slopes[p] = intercept;
  }

  void load(std::span<const int> rows) {
    block_.load(family_, rows);
    loaded_ = static_cast<int>(rows.size());
  }

  void score(int count, double* scores) {
    const int p = d_ - 1;
    for (int atom = 0; atom < count; ++atom) {
      const double* slopes = &coefficients_[static_cast<std::size_t>(atom) * d_];
      const double precision = std::exp(log_precisions_[atom]);
      for (int b = 0; b < loaded_; ++b) {
        double& score = scores[static_cast<std::size_t>(atom) * block_rows + b];
        score = 0;
        if (!block_.present(p, b)) continue;
        double residual = block_.value(p, b) - slopes[p];
        for (int j = 0; j < p; ++j) residual -= slopes[j] * block_.value(j, b);
        score = 0.5 * (log_precisions_[atom] - std::log(2 * std::numbers::pi)) -
                0.5 * precision * residual * residual;
      }
    }
  }

 private:
  const Regression& family_;
  int d_, loaded_ = 0;
  RowBlock block_;
  std::vector<double> factor_, coefficients_, log_precisions_;  // slopes, then the intercept
};

static_assert(AtomFamily<Regression>);

}  // namespace mixwood
