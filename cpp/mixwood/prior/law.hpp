// What a prior on partitions must offer. Each is a file of this folder with a struct that has the
// functions of PriorLaw, all static, and a place in registry.hpp.
//
//   p(X, Pi, u) = u^(n-1) exp(-psi(u)) / Gamma(n) * prod_c kappa(|c|, u) P(X_c) / nonempty
//   kappa(k, u) = new * Gamma(k - discount) / Gamma(1 - discount) tau^-k,   tau = 1 + u
//
// Every normalized random measure here has a kappa of that form, with its own `new` and `discount`.
// `nonempty`, the probability that the measure has a jump at all, is 1 if it has infinitely many.
// u and alpha are kept in logs: with a random alpha, u can be astronomically large.
#pragma once

#include <concepts>
#include <optional>
#include <vector>

#include "mixwood/prior/groups.hpp"
#include "mixwood/random/hyperprior.hpp"
#include "mixwood/random/stream.hpp"

namespace mixwood {

struct GammaHyper {
  double shape;
  double rate;
};
struct BetaHyper {
  double a;
  double b;
};

// The hyperpriors of the parameters that are random.
struct PriorHyper {
  std::optional<GammaHyper> alpha;
  std::optional<BetaHyper> sigma;
  std::optional<GammaHyper> theta;
  std::optional<Hyperprior> gamma;  // which is -sigma
  bool gamma_per_group = false;     // where rows come in groups
};

// The current values. Which of them a prior uses, and in which range, is for the prior to say.
struct PriorValues {
  double log_u = 0;
  double log_alpha = 0;
  double sigma = 0;
  double theta = 0;
  // Of each group, where rows come in groups; then u and sigma above are those of all together.
  std::vector<double> log_us = {}, gammas = {};
};

// The two numbers that make kappa, besides tau. The discount is negative where the measure has
// finitely many jumps.
struct Kernel {
  double discount;
  double log_new;  // log kappa(1), its factor 1/tau left out
};

// What the parameters depend on, given the partition.
struct ClusterSizes {
  double n_points;                    // rows, those of weighted leaves one by one
  std::vector<double> sizes;          // in the order in which a draw runs through the clusters
  const RowGroups* groups = nullptr;  // where rows come in groups
  const ClusterGroups* counts = nullptr;

  int n_clusters() const { return static_cast<int>(sizes.size()); }
};

template <class P>
concept PriorLaw = requires(const PriorHyper& hyper, const PriorValues& given, PriorValues& values,
                            const ClusterSizes& clusters, Stream& random, double log_tau) {
  { P::name } -> std::convertible_to<const char*>;  // as Python knows it
  // What is wrong with the values; null where nothing is.
  { P::fault(given) } -> std::same_as<const char*>;
  { P::psi(given, log_tau) } -> std::same_as<double>;
  { P::kernel(given, log_tau) } -> std::same_as<Kernel>;
  { P::log_nonempty(given) } -> std::same_as<double>;
  // u alone, at the start of a chain, with whatever else is latent.
  P::start(hyper, values, clusters, random);
  // u and the parameters that are random, given the partition.
  P::update(hyper, values, clusters, random);
};

// Under a vague hyperprior a mass can run to where floating point ends; it stops here, some e^50
// above that.
inline constexpr double smallest_log_mass = -650;

}  // namespace mixwood
