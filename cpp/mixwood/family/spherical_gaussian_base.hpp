// The learned base measure of round Gaussian clusters, and its update given the clusters, by
// slices: ln omega, ln nu', and ln r where it has a hyperprior.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "mixwood/family/spherical_gaussian.hpp"

namespace mixwood {

inline void SphericalGaussian::set_base(const double* base) {
  std::copy_n(base, base_.size(), base_.begin());
  for (const double entry : base_)
    if (!std::isfinite(entry)) throw std::invalid_argument("a base measure must be finite");
  nu_ = std::exp(base_[1]) + 2;
  psi_ = std::exp(base_[0] + base_[1]);
  r_ = hyper_->r_of(base_[0], base_[2]);
  if (!(psi_ > 0 && r_ > 0) || !std::isfinite(psi_ * r_ * nu_))
    throw std::invalid_argument("a base measure must have a positive variance, r and nu");
  size_terms_.forget(n_);
  alone_.forget(static_cast<std::size_t>(n_));
}

inline double SphericalGaussian::log_base() const {
  return hyper_->log_density(0, base_[0], base_[1]) + hyper_->nu.log_density(base_[1]) +
         hyper_->r.log_density(base_[2]);
}

class SphericalBaseUpdate {
 public:
  SphericalBaseUpdate(int d, const VarianceHyper& hyper, std::vector<double>& base,
                      const ClusterStatistics& clusters)
      : d_(d), hyper_(hyper), base_(base) {
    for (int k = 0; k < clusters.count; ++k) {
      const double* s = clusters.read(k);
      if (s[0] == 0) continue;
      double squared = 0;
      for (int j = 0; j < d; ++j) squared += s[1 + j] * s[1 + j];
      clusters_.push_back({s[0], squared, s[1 + d]});
    }
  }

  void operator()(Stream& random) {
    base_[0] = slice_on_line(
        base_[0], 1.0, 1.0, [&](double x) { return with_prior(x, base_[1]); }, random);
    if (hyper_.nu.is_random())
      base_[1] = slice_coordinate(
          base_[1], 2.0, hyper_.nu,
          [&](double x) { return size_terms(x) + with_prior(base_[0], x); }, random);
    if (hyper_.r.is_random())
      base_[2] = slice_coordinate(
          base_[2], 2.0, hyper_.r, [&](double x) { return log_likelihood(base_[0], base_[1], x); },
          random);
  }

 private:
  struct Moments {
    double n, squared_mean, scatter;
  };

  double with_prior(double log_omega, double log_nu) const {
    const double prior = hyper_.log_density(0, log_omega, log_nu);
    return std::isfinite(prior) ? prior + log_likelihood(log_omega, log_nu, base_[2]) : prior;
  }

  // Without Gamma functions, which depend on nu alone.
  double log_likelihood(double log_omega, double log_nu, double log_r) const {
    const double log_psi = log_nu + log_omega;
    const double psi = std::exp(log_psi);
    const double nu = std::exp(log_nu) + 2;
    const double r = hyper_.r_of(log_omega, log_r);
    double total = 0.5 * nu * log_psi * static_cast<double>(clusters_.size());
    for (const Moments& m : clusters_)
      total +=
          0.5 * d_ * std::log(r / (r + m.n)) -
          0.5 * (nu + m.n * d_) * std::log(psi + m.scatter + r * m.n / (r + m.n) * m.squared_mean);
    return total;
  }

  double size_terms(double log_nu) const {
    const double nu = std::exp(log_nu) + 2;
    double total = -static_cast<double>(clusters_.size()) * log_gamma(0.5 * nu);
    for (const Moments& m : clusters_) total += log_gamma(0.5 * (nu + m.n * d_));
    return total;
  }

  int d_;
  const VarianceHyper& hyper_;
  std::vector<double>& base_;
  std::vector<Moments> clusters_;
};

inline BaseMoves SphericalGaussian::update_base(const ClusterStatistics& clusters, Stream& random) {
  std::vector<double> base = base_;
  SphericalBaseUpdate(d_, *hyper_, base, clusters)(random);
  set_base(base.data());
  return {};
}

}  // namespace mixwood
