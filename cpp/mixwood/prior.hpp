// Priors on partitions: normalized random measures, and Pitman-Yor as one with a random mass.
//
//   p(X, Pi, u) = u^(n-1) exp(-psi(u)) / Gamma(n) * prod_c kappa(|c|, u) P(X_c),   tau = 1 + u
//   DP:    psi = alpha log tau,           kappa(k) = alpha Gamma(k) tau^-k
//   NGGP:  psi = alpha (tau^sigma - 1),
//          kappa(k) = alpha sigma Gamma(k-sigma)/Gamma(1-sigma) tau^(sigma-k)
//
// u and alpha are kept in logs: with a random alpha, u can be astronomically large.
#pragma once

#include <cmath>
#include <optional>

#include "mixwood/archive.hpp"
#include "mixwood/numerics/special.hpp"

namespace mixwood {

enum class PriorKind { dirichlet_process, generalized_gamma, pitman_yor };

struct GammaHyper {
  double shape;
  double rate;
};
struct BetaHyper {
  double a;
  double b;
};

// What the user said: which prior, and which of its parameters are random.
struct PriorSettings {
  PriorKind kind;
  std::optional<GammaHyper> alpha;
  std::optional<BetaHyper> sigma;
  std::optional<GammaHyper> theta;
};

// The current values. sigma is 0 for the Dirichlet process; theta is used by Pitman-Yor alone.
struct PriorValues {
  double log_u = 0;
  double log_alpha = 0;
  double sigma = 0;
  double theta = 0;
};

class Prior {
 public:
  Prior(PriorSettings settings, PriorValues values) : settings_(settings) { set(values); }

  const PriorSettings& settings() const { return settings_; }
  const PriorValues& values() const { return values_; }

  void set(PriorValues values) {
    values_ = values;
    log_tau_ = softplus(values.log_u);
    if (is_dirichlet()) {
      log_new_ = values.log_alpha;
      log_gamma_one_ = 0;
    } else {
      log_new_ = values.log_alpha + std::log(values.sigma) + values.sigma * log_tau_;
      log_gamma_one_ = log_gamma(1 - values.sigma);
    }
  }

  // The values; the settings are the chain's own.
  template <class Archive>
  void archive(Archive& a) {
    PriorValues values = values_;
    for (double* entry : {&values.log_u, &values.log_alpha, &values.sigma, &values.theta})
      archive_finite(a, *entry);
    a.require(values.sigma < 1 && (is_dirichlet() ? values.sigma == 0 : values.sigma > 0),
              "sigma is out of range");
    a.require(values.theta >= 0 && (settings_.kind != PriorKind::pitman_yor || values.theta > 0),
              "theta is out of range");
    if constexpr (Archive::loading) set(values);
  }

  bool is_dirichlet() const { return settings_.kind == PriorKind::dirichlet_process; }

  double log_tau() const { return log_tau_; }

  double psi() const {
    const double alpha = std::exp(values_.log_alpha);
    if (is_dirichlet()) return alpha * log_tau_;
    // In one exponential: alpha may be tiny just where tau^sigma is huge.
    const double z = values_.sigma * log_tau_;
    if (z > 30) return std::exp(values_.log_alpha + z) - alpha;
    return alpha * std::expm1(z);
  }

  double log_kappa(double size) const {
    return log_new_ + log_gamma(size - values_.sigma) - log_gamma_one_ - size * log_tau_;
  }

  // log kappa(k+1)/kappa(k) and log kappa(1), their common factor 1/tau left out.
  double log_join(double size) const { return std::log(size - values_.sigma); }
  double log_new() const { return log_new_; }

  // Given u, the jumps w that no row is in have, with x = tau w, the intensity
  // rate x^(-1-sigma) e^-x. This is log rate.
  double log_jump_rate() const { return log_new_ - log_gamma_one_; }

 private:
  PriorSettings settings_;
  PriorValues values_;
  double log_tau_ = 0;
  double log_new_ = 0;
  double log_gamma_one_ = 0;
};

}  // namespace mixwood
