// Gaussian clusters by mean and precision. Given n rows, Lambda ~ Wishart(Psi_n^-1, nu + n) and
// mean ~ N(m_n, ((r + n) Lambda)^-1), m_n = n xbar / (r + n).
//
// With Psi_n = L L' and T'T ~ Wishart(I, nu + n), T lower triangular, Lambda = L^-T T'T L^-1: so
// G = L T^-1 is the Cholesky factor of the covariance, which is what the kernel solves with.
#pragma once

#include <cmath>
#include <numbers>
#include <span>
#include <vector>

#include "mixwood/family/gaussian.hpp"
#include "mixwood/random/precision.hpp"

namespace mixwood {

class Gaussian::Atoms {
 public:
  static constexpr int rows_at_once = block_rows;

  explicit Atoms(const Gaussian& family)
      : family_(family),
        d_(family.d()),
        block_(d_),
        scratch_(static_cast<std::size_t>(d_) * block_rows),
        root_(static_cast<std::size_t>(d_) * d_) {}

  void resize(int count) {
    factors_.resize(static_cast<std::size_t>(count) * d_ * d_);
    means_.resize(static_cast<std::size_t>(count) * d_);
    bases_.resize(count);
  }

  void draw(int atom, const double* s, Stream& random) { draw(atom, s[0], s, random); }
  // ... of rows of any weight: their number, and the weight, mean and scatter.
  void draw(int atom, double size, const double* s, Stream& random) {
    family_.posterior_factor(s, factor(atom));
    draw_wishart_root(d_, family_.nu() + size, root_.data(), random);
    divide_by_root(factor(atom));
    draw_mean(atom, s, random);
  }

  // (x - mean)' Lambda (x - mean) of a row.
  double squared_distance(int atom, int row) {
    double* x = scratch_.data();
    for (int j = 0; j < d_; ++j) x[j] = family_.row(row)[j] - mean(atom)[j];
    return cholesky_solve_squared(d_, factor(atom), x);
  }
  double log_at_mean(int atom) const { return bases_[atom]; }

  void load(std::span<const int> rows) { block_.load(family_, rows); }

  void score(int count, double* scores) {
    for (int atom = 0; atom < count; ++atom)
      kernels_.normal(d_, factor(atom), mean(atom), block_.values(), bases_[atom], scratch_.data(),
                      scores + static_cast<std::size_t>(atom) * block_rows);
  }

 private:
  double* factor(int atom) { return factors_.data() + static_cast<std::size_t>(atom) * d_ * d_; }
  double* mean(int atom) { return means_.data() + static_cast<std::size_t>(atom) * d_; }

  // G T = L, solved for the columns of G from the last to the first. Both keep 1/G(j, j) and
  // 1/L(j, j) on the diagonal.
  void divide_by_root(double* factor) {
    for (int j = d_ - 1; j >= 0; --j) {
      double* column = factor + j * d_;
      const double* root = root_.data() + j * d_;
      for (int k = j + 1; k < d_; ++k) {
        const double* solved = factor + k * d_;
        column[k] -= root[k] / solved[k];
        for (int i = k + 1; i < d_; ++i) column[i] -= root[k] * solved[i];
      }
      for (int i = j + 1; i < d_; ++i) column[i] /= root[j];
      column[j] *= root[j];
    }
  }

  void draw_mean(int atom, const double* s, Stream& random) {
    const double kappa = family_.r() + s[0];
    const double scale = 1 / std::sqrt(kappa);
    bases_[atom] = -0.5 * d_ * std::log(2 * std::numbers::pi);
    for (int j = 0; j < d_; ++j) mean(atom)[j] = s[1 + j] * s[0] / kappa;
    for (int j = 0; j < d_; ++j) {
      const double* column = factor(atom) + j * d_;
      const double z = scale * random.normal();
      mean(atom)[j] += z / column[j];
      for (int i = j + 1; i < d_; ++i) mean(atom)[i] += z * column[i];
      bases_[atom] += std::log(column[j]);
    }
  }

  const Gaussian& family_;
  int d_;
  const Kernels& kernels_ = kernels();
  RowBlock block_;
  std::vector<double> factors_, means_, bases_, scratch_, root_;
};

static_assert(AtomFamily<Gaussian>);

}  // namespace mixwood
