// Pitman-Yor, 0 < sigma < 1, theta > 0: the generalized gamma process with a random mass, which is
// the latent alpha here. psi and kappa are that process's.
//
// Given K clusters of n rows, on the partition law, theta through x ~ Beta(theta+1, n-1) and, for
// 0 < j < K, y_j ~ Bernoulli(theta/(theta + j sigma)): Gamma(a + sum y, b - log x) (Teh 2006);
// sigma by slice; then u/(1+u) ~ Beta(n, theta), alpha ~ Gamma(theta/sigma + K, tau^sigma).
#pragma once

#include <algorithm>
#include <cmath>

#include "mixwood/numerics/special.hpp"
#include "mixwood/prior/generalized_gamma.hpp"
#include "mixwood/prior/law.hpp"
#include "mixwood/prior/sigma_slice.hpp"

namespace mixwood {

struct PitmanYor {
  static constexpr const char* name = "pitman_yor";

  static const char* fault(const PriorValues& values) {
    if (!(values.sigma > 0 && values.sigma < 1)) return "sigma is out of range";
    return values.theta > 0 ? nullptr : "theta is out of range";
  }

  static double psi(const PriorValues& values, double log_tau) {
    return GeneralizedGamma::psi(values, log_tau);
  }
  static Kernel kernel(const PriorValues& values, double log_tau) {
    return GeneralizedGamma::kernel(values, log_tau);
  }
  static double log_nonempty(const PriorValues&) { return 0; }

  static void start(const PriorHyper&, PriorValues& values, const ClusterSizes& clusters,
                    Stream& random) {
    draw_mass(values, clusters, random);
  }
  static void update(const PriorHyper& hyper, PriorValues& values, const ClusterSizes& clusters,
                     Stream& random) {
    if (hyper.theta) draw_theta(*hyper.theta, values, clusters, random);
    if (hyper.sigma) update_sigma(*hyper.sigma, values, clusters, random);
    draw_mass(values, clusters, random);
  }

 private:
  // Not by a slice of log theta: one at a low level, as after a large change of the partition, has
  // a long left tail, and from a theta of 1e-98 follow a u and an alpha that are all rounding.
  static void draw_theta(const GammaHyper& hyper, PriorValues& values, const ClusterSizes& clusters,
                         Stream& random) {
    const double theta = values.theta;
    double minus_log_x = 0;
    if (clusters.n_points > 1) {
      const double above = random.log_gamma_draw(clusters.n_points - 1);
      minus_log_x = softplus(above - random.log_gamma_draw(theta + 1));
    }
    int ones = 0;
    for (int j = 1; j < clusters.n_clusters(); ++j)
      ones += random.uniform() * (theta + j * values.sigma) < theta;
    const double draw =
        random.log_gamma_draw(hyper.shape + ones) - std::log(hyper.rate + minus_log_x);
    values.theta = std::exp(std::max(draw, smallest_log_mass));
  }

  static void update_sigma(const BetaHyper& hyper, PriorValues& values,
                           const ClusterSizes& clusters, Stream& random) {
    auto with_rest = [&](double log_sizes, double sigma) {
      return log_sizes + log_new_clusters(values.theta, sigma, clusters.n_clusters());
    };
    values.sigma = slice_sigma(hyper, values.sigma, clusters, with_rest, random);
  }

  static void draw_mass(PriorValues& values, const ClusterSizes& clusters, Stream& random) {
    const double above = random.log_gamma_draw(clusters.n_points);
    values.log_u = above - random.log_gamma_draw(values.theta);
    values.log_alpha = random.log_gamma_draw(values.theta / values.sigma + clusters.n_clusters()) -
                       values.sigma * softplus(values.log_u);
  }

  // log of sigma^K Gamma(theta/sigma + K)/Gamma(theta/sigma) = prod_{j<K} (theta + j sigma).
  static double log_new_clusters(double theta, double sigma, int K) {
    double total = 0;
    for (int j = 0; j < K; ++j) total += std::log(theta + j * sigma);
    return total;
  }
};

static_assert(PriorLaw<PitmanYor>);

}  // namespace mixwood
