// The Dirichlet process:
//
//   psi = alpha log tau,   kappa(k) = alpha Gamma(k) tau^-k
//
// Given K clusters of n rows, u/(1+u) ~ Beta(n, alpha) and alpha ~ Gamma(a+K, b + log tau).
#pragma once

#include <algorithm>
#include <cmath>

#include "mixwood/numerics/special.hpp"
#include "mixwood/prior/law.hpp"

namespace mixwood {

struct DirichletProcess {
  static constexpr const char* name = "dirichlet_process";

  static const char* fault(const PriorValues& values) {
    if (values.sigma != 0) return "sigma is out of range";
    return values.theta >= 0 ? nullptr : "theta is out of range";
  }

  static double psi(const PriorValues& values, double log_tau) {
    return std::exp(values.log_alpha) * log_tau;
  }
  static Kernel kernel(const PriorValues& values, double) {
    return {.discount = 0, .log_new = values.log_alpha};
  }
  static double log_nonempty(const PriorValues&) { return 0; }

  static void start(const PriorHyper&, PriorValues& values, const ClusterSizes& clusters,
                    Stream& random) {
    draw_u(values, clusters, random);
  }
  static void update(const PriorHyper& hyper, PriorValues& values, const ClusterSizes& clusters,
                     Stream& random) {
    draw_u(values, clusters, random);
    if (hyper.alpha) draw_alpha(*hyper.alpha, values, clusters, random);
  }

 private:
  static void draw_u(PriorValues& values, const ClusterSizes& clusters, Stream& random) {
    const double above = random.log_gamma_draw(clusters.n_points);
    values.log_u = above - random.log_gamma_draw(std::exp(values.log_alpha));
  }

  // alpha itself is needed, as a shape: so it may not be too small for a double.
  static void draw_alpha(const GammaHyper& hyper, PriorValues& values, const ClusterSizes& clusters,
                         Stream& random) {
    const double log_rate = std::log(hyper.rate + softplus(values.log_u));
    const double draw = random.log_gamma_draw(hyper.shape + clusters.n_clusters());
    values.log_alpha = std::max(draw - log_rate, smallest_log_mass);
  }
};

static_assert(PriorLaw<DirichletProcess>);

}  // namespace mixwood
