// The normalized generalized gamma process, 0 < sigma < 1:
//
//   psi = alpha (tau^sigma - 1),
//   kappa(k) = alpha sigma Gamma(k-sigma)/Gamma(1-sigma) tau^(sigma-k)
//
// Given K clusters of n rows, v = log u comes by slice from n v + (K sigma - n) log tau
// - alpha (tau^sigma - 1), with alpha integrated out if it is random: ... - (a+K) log(b + tau^sigma
// - 1); sigma by slice likewise; then alpha ~ Gamma(a+K, b + tau^sigma - 1). Integrating alpha out
// lets u and sigma move without dragging it along.
#pragma once

#include <cmath>

#include "mixwood/numerics/special.hpp"
#include "mixwood/prior/law.hpp"
#include "mixwood/prior/sigma_slice.hpp"
#include "mixwood/random/slice_sampling.hpp"

namespace mixwood {

struct GeneralizedGamma {
  static constexpr const char* name = "generalized_gamma";

  static const char* fault(const PriorValues& values) {
    if (!(values.sigma > 0 && values.sigma < 1)) return "sigma is out of range";
    return values.theta >= 0 ? nullptr : "theta is out of range";
  }

  static double psi(const PriorValues& values, double log_tau) {
    const double alpha = std::exp(values.log_alpha);
    // In one exponential: alpha may be tiny just where tau^sigma is huge.
    const double z = values.sigma * log_tau;
    if (z > 30) return std::exp(values.log_alpha + z) - alpha;
    return alpha * std::expm1(z);
  }
  static Kernel kernel(const PriorValues& values, double log_tau) {
    return {.discount = values.sigma,
            .log_new = values.log_alpha + std::log(values.sigma) + values.sigma * log_tau};
  }
  static double log_nonempty(const PriorValues&) { return 0; }

  static void start(const PriorHyper& hyper, PriorValues& values, const ClusterSizes& clusters,
                    Stream& random) {
    slice_u(hyper, values, clusters, random);
  }
  static void update(const PriorHyper& hyper, PriorValues& values, const ClusterSizes& clusters,
                     Stream& random) {
    slice_u(hyper, values, clusters, random);
    if (hyper.sigma) update_sigma(hyper, values, clusters, random);
    if (hyper.alpha) draw_alpha(*hyper.alpha, values, clusters, random);
  }

 private:
  // -alpha (tau^sigma - 1), or with alpha ~ Gamma(a, b) integrated out over its K powers.
  static double log_mass_term(const PriorHyper& hyper, double log_alpha, double z, double K) {
    if (hyper.alpha) return -(hyper.alpha->shape + K) * log_shifted_exp(hyper.alpha->rate, z);
    return -std::exp(log_alpha) * std::expm1(z);
  }

  static void slice_u(const PriorHyper& hyper, PriorValues& values, const ClusterSizes& clusters,
                      Stream& random) {
    const double n = clusters.n_points;
    const double K = clusters.n_clusters();
    const double sigma = values.sigma;
    auto log_density = [&](double v) {
      const double log_tau = softplus(v);
      return n * v + (K * sigma - n) * log_tau +
             log_mass_term(hyper, values.log_alpha, sigma * log_tau, K);
    };
    values.log_u = slice_on_line(values.log_u, 3.0, 2.0, log_density, random);
  }

  static void update_sigma(const PriorHyper& hyper, PriorValues& values,
                           const ClusterSizes& clusters, Stream& random) {
    const double K = clusters.n_clusters();
    const double log_tau = softplus(values.log_u);
    auto with_rest = [&](double log_sizes, double sigma) {
      return log_sizes + K * std::log(sigma) + K * sigma * log_tau +
             log_mass_term(hyper, values.log_alpha, sigma * log_tau, K);
    };
    values.sigma = slice_sigma(*hyper.sigma, values.sigma, clusters, with_rest, random);
  }

  static void draw_alpha(const GammaHyper& hyper, PriorValues& values, const ClusterSizes& clusters,
                         Stream& random) {
    const double log_rate = log_shifted_exp(hyper.rate, values.sigma * softplus(values.log_u));
    const double draw = random.log_gamma_draw(hyper.shape + clusters.n_clusters());
    values.log_alpha = draw - log_rate;
  }
};

static_assert(PriorLaw<GeneralizedGamma>);

}  // namespace mixwood
