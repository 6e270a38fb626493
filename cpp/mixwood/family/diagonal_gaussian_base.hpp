// The learned base measure of Gaussian clusters with independent columns, and its update given the
// clusters, by slices: ln omega of each column, all of them together, ln nu', and ln r where it has
// a hyperprior.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "mixwood/family/diagonal_gaussian.hpp"

namespace mixwood {

inline void DiagonalGaussian::set_base(const double* base) {
  std::copy_n(base, base_.size(), base_.begin());
  for (const double entry : base_)
    if (!std::isfinite(entry)) throw std::invalid_argument("a base measure must be finite");
  const double log_nu = base_[base_.size() - 2];
  nu_ = std::exp(log_nu) + 2;
  prior_terms_.resize(static_cast<std::size_t>(d_));
  has_one_r_ = true;
  prior_sum_ = 0;
  for (int j = 0; j < d_; ++j) {
    psi_[j] = std::exp(log_nu + base_[j]);
    r_[j] = hyper_->r_of(base_[j], base_.back());
    has_one_r_ = has_one_r_ && r_[j] == r_[0];
    prior_terms_[j] = 0.5 * nu_ * (log_nu + base_[j]);
    prior_sum_ += prior_terms_[j];
    if (!(psi_[j] > 0 && r_[j] > 0) || !std::isfinite(psi_[j] * r_[j] * nu_))
      throw std::invalid_argument("a base measure must have positive variances, r and nu");
  }
  size_terms_.forget(n_);
  sums_of_terms_.forget(n_);
  alone_.forget(static_cast<std::size_t>(n_));
}

inline double DiagonalGaussian::log_base() const {
  double total = hyper_->nu.log_density(base_[base_.size() - 2]);
  total += hyper_->r.log_density(base_.back());
  for (int j = 0; j < d_; ++j)
    total += hyper_->log_density(static_cast<std::size_t>(j), base_[j], base_[base_.size() - 2]);
  return total;
}

class DiagonalBaseUpdate {
 public:
  DiagonalBaseUpdate(int d, const VarianceHyper& hyper, std::vector<double>& base,
                     const ClusterStatistics& clusters)
      : d_(d), hyper_(hyper), base_(base), columns_(static_cast<std::size_t>(d)) {
    for (int k = 0; k < clusters.count; ++k) {
      const double* s = clusters.read(k);
      for (int j = 0; j < d; ++j, s += 3)
        if (s[0] > 0) columns_[j].push_back({s[0], s[1] * s[1], s[2]});
    }
    for (const auto& column : columns_)
      for (const Moments& moments : column) ++counts_of_size_[moments.n];
  }

  void operator()(Stream& random) {
    double& log_nu = base_[base_.size() - 2];
    double& log_r = base_.back();
    for (int j = 0; j < d_; ++j)
      base_[j] = slice_on_line(
          base_[j], 1.0, 1.0, [&](double x) { return with_prior(j, x, log_nu, log_r); }, random);
    if (d_ > 1) {
      const double l = slice_on_line(
          0.0, 1.0, 1.0,
          [&](double x) {
            double total = 0;
            for (int j = 0; j < d_; ++j) total += with_prior(j, base_[j] + x, log_nu, log_r);
            return total;
          },
          random);
      for (int j = 0; j < d_; ++j) base_[j] += l;
    }
    if (hyper_.nu.is_random())
      log_nu = slice_coordinate(
          log_nu, 2.0, hyper_.nu,
          [&](double x) { return size_terms(x) + all_with_prior(x, log_r); }, random);
    if (hyper_.r.is_random())
      log_r = slice_coordinate(
          log_r, 2.0, hyper_.r, [&](double x) { return all_columns(log_nu, x); }, random);
  }

 private:
  struct Moments {
    double n, squared_mean, scatter;
  };

  double with_prior(int j, double log_omega, double log_nu, double log_r) const {
    const double prior = hyper_.log_density(static_cast<std::size_t>(j), log_omega, log_nu);
    return std::isfinite(prior) ? prior + log_likelihood(j, log_omega, log_nu, log_r) : prior;
  }

  double all_with_prior(double log_nu, double log_r) const {
    double total = 0;
    for (int j = 0; j < d_; ++j) total += with_prior(j, base_[j], log_nu, log_r);
    return total;
  }

  double all_columns(double log_nu, double log_r) const {
    double total = 0;
    for (int j = 0; j < d_; ++j) total += log_likelihood(j, base_[j], log_nu, log_r);
    return total;
  }

  // Of one column, without Gamma functions, which depend on nu alone.
  double log_likelihood(int j, double log_omega, double log_nu, double log_r) const {
    const double log_psi = log_nu + log_omega;
    const double psi = std::exp(log_psi);
    const double nu = std::exp(log_nu) + 2;
    const double r = hyper_.r_of(log_omega, log_r);
    double total = 0.5 * nu * log_psi * static_cast<double>(columns_[j].size());
    for (const Moments& m : columns_[j])
      total += 0.5 * std::log(r / (r + m.n)) -
               0.5 * (nu + m.n) * std::log(psi + m.scatter + r * m.n / (r + m.n) * m.squared_mean);
    return total;
  }

  double size_terms(double log_nu) const {
    const double nu = std::exp(log_nu) + 2;
    const double empty = log_gamma(0.5 * nu);
    double total = 0;
    for (const auto& [n, count] : counts_of_size_)
      total += count * (log_gamma(0.5 * (nu + n)) - empty);
    return total;
  }

  int d_;
  const VarianceHyper& hyper_;
  std::vector<double>& base_;
  std::vector<std::vector<Moments>> columns_;  // the clusters that have an entry in the column
  std::map<double, int> counts_of_size_;
};

inline BaseMoves DiagonalGaussian::update_base(const ClusterStatistics& clusters, Stream& random) {
  std::vector<double> base = base_;
  DiagonalBaseUpdate(d_, *hyper_, base, clusters)(random);
  set_base(base.data());
  return {};
}

}  // namespace mixwood
