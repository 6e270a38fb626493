// Finitely many components: M ~ Poisson(rate) given M >= 1, weights Dirichlet(gamma, ..., gamma),
// that is, jumps Gamma(gamma, 1), normalized. It is the generalized gamma process's form at
// sigma = -gamma, and that is how gamma is carried; the rate is the mass, alpha:
//
//   psi = rate (1 - tau^-gamma),
//   kappa(k) = rate Gamma(k+gamma)/Gamma(gamma) tau^-(k+gamma),   nonempty = 1 - e^-rate
//
// A random rate has the density Gamma(a, b) times (1 - e^-rate), so that `nonempty` cancels. Given
// K clusters of n rows, v = log u comes by slice from n v - (n + K gamma) log tau + rate
// tau^-gamma, with the rate integrated out if it is random: ... - (a+K) log(b + 1 - tau^-gamma).
// This is not log-concave and may have two modes. log gamma by slice likewise; then rate ~
// Gamma(a+K, b + 1 - tau^-gamma).
#pragma once

#include <cmath>

#include "mixwood/numerics/special.hpp"
#include "mixwood/prior/grouped_mixture.hpp"
#include "mixwood/prior/law.hpp"
#include "mixwood/random/hyperprior.hpp"
#include "mixwood/random/slice_sampling.hpp"

namespace mixwood {

struct FiniteMixture {
  static constexpr const char* name = "finite_mixture";

  static const char* fault(const PriorValues& values) {
    if (!(values.sigma < 0)) return "sigma is out of range";
    return values.theta >= 0 ? nullptr : "theta is out of range";
  }

  static double psi(const PriorValues& values, double log_tau) {
    return -std::exp(values.log_alpha) * std::expm1(values.sigma * log_tau);
  }
  static Kernel kernel(const PriorValues& values, double log_tau) {
    return {.discount = values.sigma,
            .log_new = values.log_alpha + std::log(-values.sigma) + values.sigma * log_tau};
  }
  static double log_nonempty(const PriorValues& values) {
    // A rate may be too small for a double.
    if (values.log_alpha < -40) return values.log_alpha;
    return std::log(-std::expm1(-std::exp(values.log_alpha)));
  }

  static void start(const PriorHyper& hyper, PriorValues& values, const ClusterSizes& clusters,
                    Stream& random) {
    if (clusters.groups != nullptr) return GroupedMixture(hyper, values, clusters, random).start();
    // n / (gamma (K + rate)), which no mode is below: from far above, a slice would have no end.
    const double jumps = clusters.n_clusters() + std::exp(values.log_alpha);
    values.log_u = std::log(clusters.n_points) - std::log(-values.sigma * jumps);
    slice_u(hyper, values, clusters, random);
  }
  static void update(const PriorHyper& hyper, PriorValues& values, const ClusterSizes& clusters,
                     Stream& random) {
    if (clusters.groups != nullptr) return GroupedMixture(hyper, values, clusters, random).update();
    slice_u(hyper, values, clusters, random);
    if (hyper.gamma) slice_gamma(hyper, values, clusters, random);
    if (hyper.alpha) draw_rate(*hyper.alpha, values, clusters, random);
  }

 private:
  // -rate (1 - tau^-gamma), or with the rate integrated out over its K powers; z = gamma log tau.
  static double log_mass_term(const PriorHyper& hyper, double log_rate, double z, double K) {
    if (hyper.alpha)
      return -(hyper.alpha->shape + K) * std::log(hyper.alpha->rate - std::expm1(-z));
    return std::exp(log_rate) * std::expm1(-z);
  }

  static void slice_u(const PriorHyper& hyper, PriorValues& values, const ClusterSizes& clusters,
                      Stream& random) {
    const double n = clusters.n_points;
    const double K = clusters.n_clusters();
    const double gamma = -values.sigma;
    auto log_density = [&](double v) {
      const double log_tau = softplus(v);
      // n v - n log tau in one: far out the difference has no digits.
      return -n * softplus(-v) - K * gamma * log_tau +
             log_mass_term(hyper, values.log_alpha, gamma * log_tau, K);
    };
    // Strides do not grow, since there may be two modes; but they are as long as the right tail.
    values.log_u = slice_on_line(values.log_u, 3 + 2 / (K * gamma), 1.0, log_density, random);
  }

  static void slice_gamma(const PriorHyper& hyper, PriorValues& values,
                          const ClusterSizes& clusters, Stream& random) {
    const double K = clusters.n_clusters();
    const double log_tau = softplus(values.log_u);
    auto log_likelihood = [&](double log_gamma_now) {
      const double gamma = std::exp(log_gamma_now);
      double total = -K * (log_gamma(gamma) + gamma * log_tau) +
                     log_mass_term(hyper, values.log_alpha, gamma * log_tau, K);
      for (const double size : clusters.sizes) total += log_gamma(size + gamma);
      return total;
    };
    const double log_now = std::log(-values.sigma);
    values.sigma = -std::exp(slice_coordinate(log_now, 1.0, *hyper.gamma, log_likelihood, random));
  }

  static void draw_rate(const GammaHyper& hyper, PriorValues& values, const ClusterSizes& clusters,
                        Stream& random) {
    const double log_tau = softplus(values.log_u);
    const double log_rate = std::log(hyper.rate - std::expm1(values.sigma * log_tau));
    values.log_alpha = random.log_gamma_draw(hyper.shape + clusters.n_clusters()) - log_rate;
  }
};

static_assert(PriorLaw<FiniteMixture>);

}  // namespace mixwood
