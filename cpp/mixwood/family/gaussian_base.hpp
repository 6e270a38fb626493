// The learned base measure of Gaussian clusters and its update given the clusters:
//
// 1. ln nu' by slice, of sum_k log P(X_k) and its hyperprior; ln r likewise, or where r is tied to
//    Omega the factor by which it differs;
// 2. the size of Omega by slice: Omega -> e^l Omega has Jacobian e^(l d(d+1)/2);
// 3. Omega row by row, at most 32 of them in turn. With Lambda_k ~ Wishart(nu + n_k, Psi_k^-1),
//    drawn for every cluster and then forgotten, and r aside, Omega is Wishart with
//
//      density |Omega|^a exp(-tr(G Omega)/2),  a = (degrees + K nu - d - 1)/2,
//      G = degrees R^-1/fraction + nu' sum_k Lambda_k,
//
//    so that of a row, w its entries beside the diagonal and B the rest of Omega,
//    s = Omega_jj - w'B^-1 w ~ Gamma(a + 1, G_jj/2) and w ~ N(-B g/G_jj, B/G_jj). Both are
//    proposed above the floors. Where r is tied to Omega they are accepted with e^(h(r*) - h(r)),
//
//      h(r) = sum_k d/2 ln(r/(r+n_k)) - r n_k/(r+n_k) xbar_k' Lambda_k xbar_k / 2.
//
//    (One proposal for all of Omega would be refused for good where a floor holds some direction:
//    columns with ties.)
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "mixwood/family/gaussian.hpp"
#include "mixwood/random/precision.hpp"
#include "mixwood/random/truncated_gamma.hpp"

namespace mixwood {

// Symmetric matrices are d x d, both triangles filled.
inline double trace_of_product(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t e = 0; e < a.size(); ++e) sum += a[e] * b[e];
  return sum;
}

inline void Gaussian::set_base(const double* base) {
  std::copy_n(base, base_.size(), base_.begin());
  for (const double entry : base_)
    if (!std::isfinite(entry)) throw std::invalid_argument("a base measure must be finite");
  const double log_nu = base_[base_.size() - 2];
  const double nu = std::exp(log_nu);
  const double* entry = base_.data();
  for (int j = 0; j < d_; ++j)
    for (int i = j; i < d_; ++i) psi_[j * d_ + i] = psi_[i * d_ + j] = *entry++;
  r_ = std::exp(base_.back());
  if (hyper_->r.is_tied())
    r_ *= trace_of_product(hyper_->spread_inverse, psi_) / (d_ * hyper_->tau);
  nu_ = nu + d_ + 1;
  for (double& value : psi_) value *= nu;
  factor_psi();
  if (!(r_ > 0) || !std::isfinite(r_) || !std::isfinite(nu_))
    throw std::invalid_argument("a base measure must have a positive r and nu");
  size_terms_.forget(n_);
  if (latent_size() > 0) gamma_halves_.forget(n_ + d_);
  alone_.forget(static_cast<std::size_t>(n_));
}

inline double Gaussian::log_base() const {
  const double log_nu = base_[base_.size() - 2];
  const double scale = std::exp(-log_nu);
  return 0.5 * (hyper_->degrees - d_ - 1) * (log_determinant_ - d_ * log_nu) -
         0.5 * hyper_->degrees / hyper_->fraction * scale *
             trace_of_product(hyper_->spread_inverse, psi_) +
         hyper_->nu.log_density(log_nu) + hyper_->r.log_density(base_.back());
}

class GaussianBaseUpdate {
 public:
  // The size of a cluster is in front of its statistic; its weight, mean and scatter, which begin
  // at `moments`, take the place of size, mean and scatter everywhere but in degrees of freedom.
  GaussianBaseUpdate(const Gaussian& family, const ClusterStatistics& clusters, int moments)
      : hyper_(family.hyper()),
        d_(family.d()),
        base_(static_cast<std::size_t>(family.base_size())),
        omega_(square()),
        psi_(square()),
        pivots_(static_cast<std::size_t>(d_)),
        empty_(static_cast<std::size_t>(family.statistic_size()), 0.0),
        scratch_(static_cast<std::size_t>(d_ + 1) * (d_ + 2) / 2 * widest_vector) {
    take_statistics(clusters, moments);
    family.read_base(base_.data());
    const double* entry = base_.data();
    for (int j = 0; j < d_; ++j)
      for (int i = j; i < d_; ++i) omega_[j * d_ + i] = omega_[i * d_ + j] = *entry++;
    log_nu_ = base_[base_.size() - 2];
    follow_width();
  }

  BaseMoves operator()(Stream& random) {
    BaseMoves moves;
    move_numbers(random);
    move_size(random);
    if (d_ > 1) move_rows(random, moves);
    return moves;
  }

  const std::vector<double>& base() {
    double* entry = base_.data();
    for (int j = 0; j < d_; ++j)
      for (int i = j; i < d_; ++i) *entry++ = omega_[j * d_ + i];
    *entry = log_nu_;
    return base_;
  }

 private:
  void move_numbers(Stream& random) {
    if (hyper_.nu.is_random()) {
      log_nu_ = slice_coordinate(
          log_nu_, 2.0, hyper_.nu,
          [&](double x) {
            return is_above(hyper_.tie_floor, std::exp(x)) ? log_likelihood(x, log_r_, 0) : never;
          },
          random);
    }
    if (hyper_.r.is_random()) {
      const double offset = log_r_ - base_.back();
      base_.back() = slice_coordinate(
          base_.back(), 2.0, hyper_.r,
          [&](double x) { return log_likelihood(log_nu_, offset + x, 0); }, random);
      follow_width();
    }
  }

  // How many rows of Omega move at most, from one drawn at random: all would take d^4 steps.
  static constexpr int most_rows = 32;
  static constexpr double never = -std::numeric_limits<double>::infinity();

  std::size_t square() const { return static_cast<std::size_t>(d_) * d_; }
  double trace() const { return trace_of_product(hyper_.spread_inverse, omega_); }
  double tied_r(double trace) const { return std::exp(base_.back()) * trace / (d_ * hyper_.tau); }
  void follow_width() { log_r_ = hyper_.r.is_tied() ? std::log(tied_r(trace())) : base_.back(); }
  double nu() const { return std::exp(log_nu_) + d_ + 1; }

  // As part of a product, a cluster may have no row with these columns: it says nothing.
  void take_statistics(const ClusterStatistics& clusters, int moments) {
    const std::size_t size = empty_.size();
    statistics_.reserve(size * static_cast<std::size_t>(clusters.count));
    for (int k = 0; k < clusters.count; ++k) {
      const double* s = clusters.read(k);
      if (!(s[0] > 0)) continue;
      sizes_.push_back(s[0]);
      statistics_.insert(statistics_.end(), s + moments, s + moments + size);
    }
    for (std::size_t at = 0; at < statistics_.size(); at += size)
      pointers_.push_back(statistics_.data() + at);
    log_determinants_.resize(pointers_.size());
  }

  // sum_k log P(X_k) at Psi = nu' e^l Omega, without terms that never change.
  double log_likelihood(double log_nu, double log_r, double l) {
    const double scale = std::exp(log_nu + l);
    const double r = std::exp(log_r);
    const double nu = std::exp(log_nu) + d_ + 1;
    psi_ = omega_;
    for (double& entry : psi_) entry *= scale;
    factor_ = psi_;
    const double log_determinant = cholesky_factor(d_, factor_.data());
    if (!std::isfinite(log_determinant)) return never;
    for (int j = 0; j < d_; ++j) pivots_[j] = 1 / (factor_[j * d_ + j] * factor_[j * d_ + j]);
    kernels().gaussian_unions(d_, count(), pointers_.data(), empty_.data(), psi_.data(),
                              pivots_.data(), r, scratch_.data(), log_determinants_.data());
    double total = size_terms(nu) + 0.5 * nu * count() * log_determinant;
    for (int k = 0; k < count(); ++k) {
      total += 0.5 * d_ * std::log(r / (r + pointers_[k][0])) -
               0.5 * (nu + sizes_[k]) * log_determinants_[k];
    }
    return total;
  }

  // sum_k log Gamma_d((nu + n_k)/2) / Gamma_d(nu/2); asked for the same nu again and again.
  double size_terms(double nu) {
    if (nu == nu_of_terms_) return size_terms_;
    size_terms_ = -count() * log_multivariate_gamma_by_pairs(d_, 0.5 * nu);
    for (const double size : sizes_)
      size_terms_ += log_multivariate_gamma_by_pairs(d_, 0.5 * (nu + size));
    nu_of_terms_ = nu;
    return size_terms_;
  }

  int count() const { return static_cast<int>(pointers_.size()); }

  void move_size(Stream& random) {
    factor_ = omega_;
    const double log_determinant = cholesky_factor(d_, factor_.data());
    const double spread = trace();
    const double l = slice_on_line(
        0.0, 1.0, 1.0,
        [&](double x) {
          if (!is_above(hyper_.floor, std::exp(x)) ||
              !is_above(hyper_.tie_floor, std::exp(log_nu_ + x)))
            return never;
          return log_likelihood(log_nu_, hyper_.r.is_tied() ? log_r_ + x : log_r_, x) +
                 0.5 * (hyper_.degrees - d_ - 1) * (log_determinant + d_ * x) -
                 0.5 * hyper_.degrees / hyper_.fraction * std::exp(x) * spread +
                 0.5 * x * d_ * (d_ + 1);
        },
        random);
    for (double& entry : omega_) entry *= std::exp(l);
    follow_width();
  }

  // Whether scale Omega is above a floor.
  bool is_above(const std::vector<double>& floor, double scale) {
    factor_.resize(square());
    for (std::size_t e = 0; e < square(); ++e) factor_[e] = scale * omega_[e] - floor[e];
    return std::isfinite(cholesky_factor(d_, factor_.data()));
  }

  // --- Omega row by row

  void move_rows(Stream& random, BaseMoves& moves) {
    floors_[0].matrix = hyper_.floor;
    floors_[1].matrix = hyper_.tie_floor;
    for (double& entry : floors_[1].matrix) entry *= std::exp(-log_nu_);
    draw_precisions(random);
    const double shape = 0.5 * (hyper_.degrees + count() * nu() - d_ - 1) + 1;
    const int rows = std::min(d_, most_rows);
    const auto first = rows < d_ ? static_cast<int>(random.below(d_)) : 0;
    for (int k = 0; k < rows; ++k) {
      const int j = (first + k) % d_;
      if (load_row(j)) move_row(j, shape, random, moves);
    }
  }

  // G, and xbar' Lambda xbar of every cluster.
  void draw_precisions(Stream& random) {
    g_ = hyper_.spread_inverse;
    for (double& entry : g_) entry *= hyper_.degrees / hyper_.fraction;
    quadratics_.clear();
    sum_.assign(square(), 0.0);
    root_.resize(square());
    std::vector<double> row(static_cast<std::size_t>(d_));
    for (int k = 0; k < count(); ++k) {
      const double* s = pointers_[k];
      posterior_factor(s);
      draw_wishart_root(d_, nu() + sizes_[k], root_.data(), random);
      divide_root();
      double squared = 0;
      for (int i = 0; i < d_; ++i) {
        double along = 0;
        for (int a = 0; a <= i; ++a) {
          row[a] = root_[a * d_ + i];
          along += row[a] * s[1 + a];
        }
        squared += along * along;
        for (int a = 0; a <= i; ++a)
          for (int b = 0; b <= a; ++b) sum_[a * d_ + b] += row[a] * row[b];
      }
      quadratics_.push_back(squared);
    }
    const double nu_above = std::exp(log_nu_);
    for (int a = 0; a < d_; ++a)
      for (int b = 0; b <= a; ++b) {
        g_[a * d_ + b] += nu_above * sum_[a * d_ + b];
        if (a != b) g_[b * d_ + a] += nu_above * sum_[a * d_ + b];
      }
  }

  // factor_ becomes that of Psi_k.
  void posterior_factor(const double* s) {
    const double r = std::exp(log_r_);
    const double weight = r * s[0] / (r + s[0]);
    const double scale = std::exp(log_nu_);
    const double* scatter = s + 1 + d_;
    for (int j = 0; j < d_; ++j) {
      for (int i = j; i < d_; ++i)
        factor_[j * d_ + i] =
            scale * omega_[j * d_ + i] + *scatter++ + weight * s[1 + i] * s[1 + j];
    }
    if (!std::isfinite(cholesky_factor(d_, factor_.data())))
      throw std::runtime_error("a cluster's scale matrix is not finite; rescale X");
  }

  // root_ becomes M = T L^-1, with Lambda = M'M: M L = T, solved for the columns of M from the
  // last.
  void divide_root() {
    for (int c = d_ - 1; c >= 0; --c) {
      double* column = root_.data() + c * d_;
      for (int k = c + 1; k < d_; ++k) {
        const double* solved = root_.data() + k * d_;
        const double entry = factor_[c * d_ + k];
        for (int i = k; i < d_; ++i) column[i] -= entry * solved[i];
      }
      for (int i = c; i < d_; ++i) column[i] *= factor_[c * d_ + c];
    }
  }

  // A floor of Omega; B less its part of it, factored; its row j without the diagonal.
  struct Floor {
    std::vector<double> matrix, above, row;
  };

  // B and B less its floors, all factored, w and the parts of G and of the floors that belong to
  // them; false where rounding has spoilt one of them: the row is then left as it is.
  bool load_row(int j) {
    const int m = d_ - 1;
    b_.resize(static_cast<std::size_t>(m) * m);
    for (auto* part : {&w_, &g_row_}) part->resize(static_cast<std::size_t>(m));
    for (int k = 0; k < m; ++k) {
      const int from = k < j ? k : k + 1;
      w_[k] = omega_[from * d_ + j];
      g_row_[k] = g_[from * d_ + j];
      for (int i = 0; i < m; ++i) b_[k * m + i] = omega_[from * d_ + (i < j ? i : i + 1)];
    }
    b_factor_ = b_;
    return std::isfinite(cholesky_factor(m, b_factor_.data())) && load_floor(j, floors_[0]) &&
           load_floor(j, floors_[1]);
  }

  bool load_floor(int j, Floor& floor) {
    const int m = d_ - 1;
    floor.above = b_;
    floor.row.resize(static_cast<std::size_t>(m));
    for (int k = 0; k < m; ++k) {
      const int from = k < j ? k : k + 1;
      floor.row[k] = floor.matrix[from * d_ + j];
      for (int i = 0; i < m; ++i)
        floor.above[k * m + i] -= floor.matrix[from * d_ + (i < j ? i : i + 1)];
    }
    return std::isfinite(cholesky_factor(m, floor.above.data()));
  }

  void move_row(int j, double shape, Stream& random, BaseMoves& moves) {
    const double g = g_[j * d_ + j];
    double explained = squared_by(b_factor_, w_);
    double s = omega_[j * d_ + j] - explained;
    if (!(s > 0)) return;
    // tr(R^-1 Omega) without what this row adds.
    const double others = trace() - trace_of_row(j, w_, s + explained);
    double log_h = h(others + trace_of_row(j, w_, s + explained));

    const std::vector<double> proposed = draw_row(g, random);
    const double log_uniform = std::log(random.positive_uniform());
    const double explained_there = squared_by(b_factor_, proposed);
    const double h_there = h(others + trace_of_row(j, proposed, s + explained_there));
    ++moves.proposed;
    if (s >= least_rest(j, proposed, explained_there) && log_uniform <= h_there - log_h) {
      ++moves.accepted;
      w_ = proposed;
      explained = explained_there;
      log_h = h_there;
    }

    const double low = least_rest(j, w_, explained);
    const double rest = draw_truncated_gamma(shape, 0.5 * g, low, random);
    ++moves.proposed;
    if (std::log(random.positive_uniform()) <=
        h(others + trace_of_row(j, w_, rest + explained)) - log_h) {
      ++moves.accepted;
      s = rest;
    }
    store_row(j, s + explained);
  }

  // w ~ N(-B g/G_jj, B/G_jj).
  std::vector<double> draw_row(double g, Stream& random) {
    const int m = d_ - 1;
    std::vector<double> result(static_cast<std::size_t>(m), 0.0);
    for (int k = 0; k < m; ++k)
      for (int i = 0; i < m; ++i) result[i] -= b_[k * m + i] * g_row_[k] / g;
    const double scale = 1 / std::sqrt(g);
    for (int k = 0; k < m; ++k) {
      const double z = scale * random.normal();
      result[k] += z / b_factor_[k * m + k];
      for (int i = k + 1; i < m; ++i) result[i] += z * b_factor_[k * m + i];
    }
    return result;
  }

  // The least s with which Omega is not below its floors.
  double least_rest(int j, const std::vector<double>& w, double explained) const {
    double least = 0;
    for (const Floor& floor : floors_) {
      std::vector<double> above = w;
      for (std::size_t k = 0; k < above.size(); ++k) above[k] -= floor.row[k];
      const double needed = squared_by(floor.above, std::move(above));
      least = std::max(least, floor.matrix[j * d_ + j] + needed - explained);
    }
    return least;
  }

  double trace_of_row(int j, const std::vector<double>& w, double diagonal) const {
    double sum = hyper_.spread_inverse[j * d_ + j] * diagonal;
    for (int k = 0; k < d_ - 1; ++k)
      sum += 2 * hyper_.spread_inverse[(k < j ? k : k + 1) * d_ + j] * w[k];
    return sum;
  }

  // h(r) at this trace of R^-1 Omega; 0 where r is not tied to it.
  double h(double trace) const {
    if (!hyper_.r.is_tied()) return 0;
    const double r = tied_r(trace);
    double total = 0;
    for (int k = 0; k < count(); ++k) {
      const double n = pointers_[k][0];
      total += 0.5 * d_ * std::log(r / (r + n)) - 0.5 * r * n / (r + n) * quadratics_[k];
    }
    return total;
  }

  void store_row(int j, double diagonal) {
    for (int k = 0; k < d_ - 1; ++k) {
      const int at = k < j ? k : k + 1;
      omega_[at * d_ + j] = omega_[j * d_ + at] = w_[k];
    }
    omega_[j * d_ + j] = diagonal;
    follow_width();
  }

  static double squared_by(const std::vector<double>& factor, std::vector<double> x) {
    return cholesky_solve_squared(static_cast<int>(x.size()), factor.data(), x.data());
  }

  const GaussianHyper& hyper_;
  int d_;
  std::vector<double> base_, omega_, psi_, pivots_, empty_, scratch_;
  double log_nu_ = 0, log_r_ = 0;
  std::vector<double> sizes_, statistics_, log_determinants_, factor_;
  std::vector<const double*> pointers_;
  double nu_of_terms_ = -1, size_terms_ = 0;
  std::vector<double> g_, quadratics_, root_, sum_;
  std::vector<double> b_, b_factor_, w_, g_row_;
  Floor floors_[2];
};

inline BaseMoves Gaussian::update_base(const ClusterStatistics& clusters, Stream& random,
                                       int moments) {
  GaussianBaseUpdate update(*this, clusters, moments);
  const BaseMoves moves = update(random);
  set_base(update.base().data());
  return moves;
}

}  // namespace mixwood
