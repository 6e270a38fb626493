// The missing entries of Gaussian rows. Given the n rows of a cluster, with kappa = r + n,
// m = n xbar / kappa and f = nu + n - d + 1, the next row is t distributed, and so are its observed
// entries o (d_o of them) on their own and its missing ones h given those:
//
//   x_o        ~ t(f, m_o, (kappa+1)/(kappa f) Psi_oo)
//   x_h | x_o  = a + L z sqrt(((kappa+1)/kappa + q) / c),    q = (x_o - m_o)' Psi_oo^-1 (x_o - m_o)
//
// with a the conditional mean, L L' = Psi_hh - Psi_ho Psi_oo^-1 Psi_oh, z standard normal and c a
// chi-square of f + d_o degrees of freedom. All of it from P = Psi_n^-1, which is kept for every
// cluster: with y = x - m, whatever stands for the missing entries,
//
//   L L' = P_hh^-1,   a = x_h - P_hh^-1 b,   b = (P y)_h,   q = y'P y - b'P_hh^-1 b,
//   |Psi_oo| = |Psi_n| |P_hh|
//
// so that a row with few holes costs little more than a product of P and y. A row that comes or
// goes changes Psi_n by +-c v v', hence P by -+c P v v'P / (1 +- c v'P v).
#pragma once

#include <algorithm>
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
        size_(family.statistic_size()),
        away_(d_),
        pull_(d_),
        at_holes_(d_),
        inner_(static_cast<std::size_t>(d_) * d_),
        inverse_(static_cast<std::size_t>(d_) * d_),
        factor_(static_cast<std::size_t>(d_) * d_) {
    grow(0);
  }

  static constexpr bool given_atoms() { return false; }
  static void draw_atom(int, Stream&) {}

  void start(int slots) {
    grow(slots);
    std::fill_n(statistic(nobody), size_, 0.0);
    refresh(nobody);
  }
  void assign(int slot, const double* s) {
    grow(slot + 1);
    std::copy_n(s, size_, statistic(slot));
    refresh(slot);
  }
  void read(int slot, double* s) const { std::copy_n(statistic(slot), size_, s); }

  void load(int row) {
    row_ = row;
    x_ = family_.row(row);
    holes_ = family_.missing(row);
    observed_ = d_ - static_cast<int>(holes_.size());
  }

  double score_alone() { return score(nobody); }
  double score(int slot) {
    if (observed_ == 0) return 0;
    const double squared = distance(slot);
    for (std::size_t h = 0; h < holes_.size(); ++h) at_holes_[h] = pull_[holes_[h]];
    copy_inner(slot, 0.0);
    const double* s = statistic(slot);
    return known_density(s[0], log_determinants_[place(slot)], squared);
  }

  // Without the row, m is x - kappa/(kappa-1) y, and P as after `forget`.
  double score_without(int slot) {
    if (observed_ == 0) return 0;
    const double kappa = family_.r() + statistic(slot)[0];
    const double c = kappa / (kappa - 1);
    const double squared = distance(slot);
    const double left = 1 - c * squared;
    if (!(left > 1e-6)) {  // cancels: take the row out for real, on the side
      std::copy_n(statistic(slot), size_, statistic(spare));
      family_.forget(statistic(spare), row_);
      refresh(spare);
      return score(spare);
    }
    for (std::size_t h = 0; h < holes_.size(); ++h) at_holes_[h] = pull_[holes_[h]];
    copy_inner(slot, c / left);
    for (std::size_t h = 0; h < holes_.size(); ++h) at_holes_[h] *= c / left;
    const double* s = statistic(slot);
    return known_density(s[0] - 1, log_determinants_[place(slot)] + std::log(left),
                         c * c / left * squared);
  }

  void forget(int slot) {
    const double kappa = family_.r() + statistic(slot)[0];
    const double squared = distance(slot);
    family_.forget(statistic(slot), row_);
    update(slot, -kappa / (kappa - 1), squared);
  }
  void observe(int slot) {
    const double kappa = family_.r() + statistic(slot)[0];
    const double squared = distance(slot);
    family_.observe(statistic(slot), row_);
    update(slot, kappa / (kappa + 1), squared);
  }

  void draw(int slot, Stream& random, double* to) {
    const double squared = distance(slot);
    const auto count = static_cast<int>(holes_.size());
    for (int h = 0; h < count; ++h) at_holes_[h] = pull_[holes_[h]];
    copy_inner(slot, 0.0);
    factor_inner();
    invert(count, inner_.data(), inverse_.data());
    double at_observed = squared;
    for (int h = 0; h < count; ++h) {
      double step = 0;
      for (int k = 0; k < count; ++k) step += inverse_[h * count + k] * at_holes_[k];
      to[h] = x_[holes_[h]] - step;
      at_observed -= step * at_holes_[h];
    }
    const double* s = statistic(slot);
    const double freedom = family_.nu() + s[0] - d_ + 1;
    const double chi_square = 2 * std::exp(random.log_gamma_draw(0.5 * (freedom + observed_)));
    const double scale =
        std::sqrt((1 + 1 / (family_.r() + s[0]) + std::max(at_observed, 0.0)) / chi_square);
    if (!std::isfinite(cholesky_factor(count, inverse_.data()))) throw_not_finite();
    for (int h = 0; h < count; ++h) {
      const double* column = inverse_.data() + h * count;
      const double z = scale * random.normal();
      to[h] += z / column[h];
      for (int k = h + 1; k < count; ++k) to[k] += z * column[k];
    }
  }

 private:
  // Two slots are ours: one without rows, and one for what is tried on the side.
  static constexpr int nobody = -1, spare = -2;
  static std::size_t place(int slot) { return static_cast<std::size_t>(slot + 2); }

  double* statistic(int slot) { return statistics_.data() + place(slot) * size_; }
  const double* statistic(int slot) const { return statistics_.data() + place(slot) * size_; }
  double* precision(int slot) { return precisions_.data() + place(slot) * d_ * d_; }
  double* mean(int slot) { return means_.data() + place(slot) * d_; }

  void grow(int slots) {
    if (log_determinants_.size() >= place(slots)) return;
    const std::size_t count = std::max(place(slots), 2 * log_determinants_.size());
    statistics_.resize(count * size_);
    precisions_.resize(count * d_ * d_);
    means_.resize(count * d_);
    log_determinants_.resize(count);
  }

  [[noreturn]] static void throw_not_finite() {
    throw std::runtime_error("a cluster's scale matrix is not finite; rescale X");
  }

  // All of a slot from its statistic.
  void refresh(int slot) {
    log_determinants_[place(slot)] = family_.posterior_factor(statistic(slot), factor_.data());
    invert(d_, factor_.data(), precision(slot));
    refresh_mean(slot);
  }
  void refresh_mean(int slot) {
    const double* s = statistic(slot);
    const double share = s[0] / (family_.r() + s[0]);
    for (int j = 0; j < d_; ++j) mean(slot)[j] = share * s[1 + j];
  }

  // The statistic has changed, and Psi_n by c v v' with v = away_, P v = pull_.
  void update(int slot, double c, double squared) {
    const double ratio = 1 + c * squared;
    if (statistic(slot)[0] == 0 || !(ratio > 1e-3)) return refresh(slot);
    double* __restrict p = precision(slot);
    const double* __restrict pull = pull_.data();
    for (int j = 0; j < d_; ++j, p += d_) {
      const double scaled = c / ratio * pull[j];
      for (int i = 0; i < d_; ++i) p[i] -= scaled * pull[i];
    }
    log_determinants_[place(slot)] += std::log(ratio);
    refresh_mean(slot);
  }

  // away_ = y, pull_ = P y; returns y'P y.
  double distance(int slot) {
    const double* __restrict m = mean(slot);
    const double* __restrict p = precision(slot);
    double* __restrict pull = pull_.data();
    double* __restrict away = away_.data();
    for (int j = 0; j < d_; ++j) away[j] = x_[j] - m[j];
    std::fill_n(pull, d_, 0.0);
    for (int j = 0; j < d_; ++j, p += d_) {
      const double y = away[j];
      for (int i = 0; i < d_; ++i) pull[i] += p[i] * y;
    }
    double squared = 0;
    for (int j = 0; j < d_; ++j) squared += away[j] * pull[j];
    return squared;
  }

  // inner_ = P_hh + weight b b', b = at_holes_.
  void copy_inner(int slot, double weight) {
    const std::size_t count = holes_.size();
    const double* p = precision(slot);
    for (std::size_t h = 0; h < count; ++h)
      for (std::size_t k = 0; k < count; ++k)
        inner_[h * count + k] =
            p[holes_[h] * d_ + holes_[k]] + weight * at_holes_[h] * at_holes_[k];
  }
  double factor_inner() {
    const double log_determinant = cholesky_factor(static_cast<int>(holes_.size()), inner_.data());
    if (!std::isfinite(log_determinant)) throw_not_finite();
    return log_determinant;
  }

  // The log density of the observed entries, given n rows, |Psi_n| and y'P y of all entries; inner_
  // is P_hh and at_holes_ is b, and neither is so afterwards.
  double known_density(double n, double log_determinant, double squared) {
    const double log_inner = factor_inner();
    squared -=
        cholesky_solve_squared(static_cast<int>(holes_.size()), inner_.data(), at_holes_.data());
    const double kappa = family_.r() + n;
    const double freedom = family_.nu() + n - d_ + 1;
    return family_.log_gamma_half(n + observed_) - family_.log_gamma_half(n) -
           0.5 * observed_ * (std::log(std::numbers::pi) + std::log1p(1 / kappa)) -
           0.5 * (log_determinant + log_inner) -
           0.5 * (freedom + observed_) * std::log1p(kappa / (kappa + 1) * std::max(squared, 0.0));
  }

  // The inverse, both triangles, of the matrix of a factor.
  void invert(int d, const double* factor, double* inverse) {
    solved_.assign(static_cast<std::size_t>(d) * d, 0.0);  // the columns of L^-1
    for (int j = 0; j < d; ++j) {
      double* column = solved_.data() + j * d;
      column[j] = 1;
      for (int i = j; i < d; ++i) {
        const double value = column[i] *= factor[i * d + i];
        for (int k = i + 1; k < d; ++k) column[k] -= factor[i * d + k] * value;
      }
    }
    for (int j = 0; j < d; ++j)
      for (int i = 0; i <= j; ++i) {
        double sum = 0;
        for (int k = j; k < d; ++k) sum += solved_[i * d + k] * solved_[j * d + k];
        inverse[i * d + j] = inverse[j * d + i] = sum;
      }
  }

  const Gaussian& family_;
  int d_;
  int size_;
  int row_ = 0;
  const double* x_ = nullptr;
  std::span<const int> holes_;
  int observed_ = 0;
  std::vector<double> statistics_, precisions_, means_, log_determinants_;
  std::vector<double> away_, pull_, at_holes_, inner_, inverse_, factor_, solved_;
};

static_assert(LatentFamily<Gaussian>);

}  // namespace mixwood
