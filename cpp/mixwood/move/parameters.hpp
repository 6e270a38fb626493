// u and the prior's parameters given the partition. With K clusters, v = log u, tau = 1 + u:
//
// DP          u/(1+u) ~ Beta(n, alpha);  alpha ~ Gamma(a+K, b + log tau)
// NGGP        v by slice, n v + (K sigma - n) log tau - alpha (tau^sigma - 1), alpha integrated out
//             if random: ... - (a+K) log(b + tau^sigma - 1); sigma by slice likewise;
//             then alpha ~ Gamma(a+K, b + tau^sigma - 1)
// Pitman-Yor  on the partition law, theta through x ~ Beta(theta+1, n-1) and, for 0 < j < K,
//             y_j ~ Bernoulli(theta/(theta + j sigma)): Gamma(a + sum y, b - log x) (Teh 2006);
//             sigma by slice; then u/(1+u) ~ Beta(n, theta), alpha ~ Gamma(theta/sigma + K,
//             tau^sigma)
//
// Integrating alpha out where it is random lets u and sigma move without dragging it along.
#pragma once

#include <algorithm>
#include <cmath>

#include "mixwood/move/report.hpp"
#include "mixwood/numerics/special.hpp"
#include "mixwood/prior.hpp"
#include "mixwood/random/slice.hpp"
#include "mixwood/random/stream.hpp"
#include "mixwood/state/slots.hpp"

namespace mixwood {

class ParameterUpdate {
 public:
  void operator()(Prior& prior, const Slots& partition, Stream& random, MoveReport& report) {
    const Timed timed(report);
    PriorValues values = prior.values();
    switch (prior.settings().kind) {
      case PriorKind::dirichlet_process:
        draw_dirichlet_u(values, partition, random);
        draw_alpha(prior.settings(), values, partition, random);
        break;
      case PriorKind::generalized_gamma:
        slice_u(prior.settings(), values, partition, random);
        slice_sigma(prior.settings(), values, partition, random);
        draw_alpha(prior.settings(), values, partition, random);
        break;
      case PriorKind::pitman_yor:
        draw_theta(prior.settings(), values, partition, random);
        slice_pitman_yor_sigma(prior.settings(), values, partition, random);
        draw_pitman_yor_mass(values, partition, random);
        break;
    }
    prior.set(values);
    ++report.proposed;
    ++report.accepted;
  }

  // u alone, at the start of a chain (for Pitman-Yor with its latent alpha).
  void start(Prior& prior, const Slots& partition, Stream& random) {
    PriorValues values = prior.values();
    values.log_u = std::log(partition.n_rows());
    switch (prior.settings().kind) {
      case PriorKind::dirichlet_process:
        draw_dirichlet_u(values, partition, random);
        break;
      case PriorKind::generalized_gamma:
        slice_u(prior.settings(), values, partition, random);
        break;
      case PriorKind::pitman_yor:
        draw_pitman_yor_mass(values, partition, random);
        break;
    }
    prior.set(values);
  }

 private:
  // Under a vague hyperprior a mass can run to where floating point ends; it stops here, some
  // e^50 above that, and so does a discount.
  static constexpr double smallest_log = -650;
  static constexpr double smallest_sigma = 1e-100;

  static void draw_dirichlet_u(PriorValues& values, const Slots& partition, Stream& random) {
    const double above = random.log_gamma_draw(partition.n_rows());
    values.log_u = above - random.log_gamma_draw(std::exp(values.log_alpha));
  }

  // -alpha (tau^sigma - 1), or with alpha ~ Gamma(a, b) integrated out over its K powers.
  static double log_mass_term(const PriorSettings& settings, double log_alpha, double z, double K) {
    if (settings.alpha)
      return -(settings.alpha->shape + K) * log_shifted_exp(settings.alpha->rate, z);
    return -std::exp(log_alpha) * std::expm1(z);
  }

  static void slice_u(const PriorSettings& settings, PriorValues& values, const Slots& partition,
                      Stream& random) {
    const double n = partition.n_rows();
    const double K = partition.n_clusters();
    const double sigma = values.sigma;
    auto log_density = [&](double v) {
      const double log_tau = softplus(v);
      return n * v + (K * sigma - n) * log_tau +
             log_mass_term(settings, values.log_alpha, sigma * log_tau, K);
    };
    values.log_u = slice_on_line(values.log_u, 3.0, 2.0, log_density, random);
  }

  static void slice_sigma(const PriorSettings& settings, PriorValues& values,
                          const Slots& partition, Stream& random) {
    if (!settings.sigma) return;
    const double K = partition.n_clusters();
    const double log_tau = softplus(values.log_u);
    auto log_density = [&](double sigma) {
      return log_sigma_sizes(*settings.sigma, sigma, partition) + K * std::log(sigma) +
             K * sigma * log_tau + log_mass_term(settings, values.log_alpha, sigma * log_tau, K);
    };
    values.sigma = std::max(slice_on_unit(values.sigma, log_density, random), smallest_sigma);
  }

  static void draw_alpha(const PriorSettings& settings, PriorValues& values, const Slots& partition,
                         Stream& random) {
    if (!settings.alpha) return;
    const double log_tau = softplus(values.log_u);
    const double log_rate = settings.kind == PriorKind::dirichlet_process
                                ? std::log(settings.alpha->rate + log_tau)
                                : log_shifted_exp(settings.alpha->rate, values.sigma * log_tau);
    const double draw = random.log_gamma_draw(settings.alpha->shape + partition.n_clusters());
    values.log_alpha = draw - log_rate;
    // Only the Dirichlet process needs alpha itself, as a shape.
    if (settings.kind == PriorKind::dirichlet_process)
      values.log_alpha = std::max(values.log_alpha, smallest_log);
  }

  // Not by a slice of log theta: one at a low level, as after a large change of the partition, has
  // a long left tail, and from a theta of 1e-98 follow a u and an alpha that are all rounding.
  static void draw_theta(const PriorSettings& settings, PriorValues& values, const Slots& partition,
                         Stream& random) {
    if (!settings.theta) return;
    const double theta = values.theta;
    double minus_log_x = 0;
    if (partition.n_rows() > 1) {
      const double above = random.log_gamma_draw(partition.n_rows() - 1);
      minus_log_x = softplus(above - random.log_gamma_draw(theta + 1));
    }
    int ones = 0;
    for (int j = 1; j < partition.n_clusters(); ++j)
      ones += random.uniform() * (theta + j * values.sigma) < theta;
    const double draw = random.log_gamma_draw(settings.theta->shape + ones) -
                        std::log(settings.theta->rate + minus_log_x);
    values.theta = std::exp(std::max(draw, smallest_log));
  }

  static void slice_pitman_yor_sigma(const PriorSettings& settings, PriorValues& values,
                                     const Slots& partition, Stream& random) {
    if (!settings.sigma) return;
    auto log_density = [&](double sigma) {
      return log_sigma_sizes(*settings.sigma, sigma, partition) +
             log_new_clusters(values.theta, sigma, partition);
    };
    values.sigma = std::max(slice_on_unit(values.sigma, log_density, random), smallest_sigma);
  }

  static void draw_pitman_yor_mass(PriorValues& values, const Slots& partition, Stream& random) {
    const double above = random.log_gamma_draw(partition.n_rows());
    values.log_u = above - random.log_gamma_draw(values.theta);
    values.log_alpha = random.log_gamma_draw(values.theta / values.sigma + partition.n_clusters()) -
                       values.sigma * softplus(values.log_u);
  }

  // log of sigma^K Gamma(theta/sigma + K)/Gamma(theta/sigma) = prod_{j<K} (theta + j sigma).
  static double log_new_clusters(double theta, double sigma, const Slots& partition) {
    double total = 0;
    for (int j = 0; j < partition.n_clusters(); ++j) total += std::log(theta + j * sigma);
    return total;
  }

  // log p(sigma) + sum_c log Gamma(|c|-sigma)/Gamma(1-sigma).
  static double log_sigma_sizes(const BetaHyper& hyper, double sigma, const Slots& partition) {
    double total = (hyper.a - 1) * std::log(sigma) + (hyper.b - 1) * std::log1p(-sigma) -
                   partition.n_clusters() * log_gamma(1 - sigma);
    for (const int slot : partition.active()) total += log_gamma(partition.size(slot) - sigma);
    return total;
  }
};

}  // namespace mixwood
