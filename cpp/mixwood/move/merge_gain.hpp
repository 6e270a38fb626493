// What merging two clusters would gain.
#pragma once

#include <vector>

#include "mixwood/state/guided_state.hpp"

namespace mixwood {

// log phi(h_{a+b}) - log phi(h_a) - log phi(h_b); leaves the statistic of both in `both`.
template <Family F>
double log_gain_of_merging(GuidedState<F>& state, int a, int b, std::vector<double>& both,
                           std::vector<double>& other) {
  both.resize(state.family.statistic_size());
  other.resize(state.family.statistic_size());
  state.clusters.read(a, both.data());
  state.clusters.read(b, other.data());
  state.family.merge(both.data(), static_cast<const double*>(other.data()));
  if (state.prior.has_groups()) {
    const ClusterGroups& counts = state.partition.cluster_groups();
    return state.prior.by_group().log_merge(counts.of_slot(a), counts.of_slot(b)) +
           state.family.log_marginal(both.data()) - state.clusters.log_marginal(a) -
           state.clusters.log_marginal(b);
  }
  const double size_a = state.partition.size(a), size_b = state.partition.size(b);
  return state.log_kappa(size_a + size_b) + state.family.log_marginal(both.data()) -
         state.log_kappa(size_a) - state.clusters.log_marginal(a) - state.log_kappa(size_b) -
         state.clusters.log_marginal(b);
}

}  // namespace mixwood
