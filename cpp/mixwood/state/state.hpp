// The state of a chain: a partition, the statistics of its clusters, and the prior's values.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "mixwood/family/family.hpp"
#include "mixwood/numerics/special.hpp"
#include "mixwood/prior/prior.hpp"
#include "mixwood/state/partition.hpp"

namespace mixwood {

// What states share, whatever keeps their partition: P is Partition or TreePartition.
template <Family F, class P>
struct ClusterState {
  const F& family;
  P partition;
  typename F::Clusters clusters;
  Prior prior;

  ClusterState(const F& the_family, Prior the_prior, P the_partition)
      : family(the_family),
        partition(std::move(the_partition)),
        clusters(the_family),
        prior(the_prior) {}

  // Opens an empty cluster, statistics and all.
  int open_cluster() {
    const int slot = partition.open();
    clusters.grow(partition.n_slots());
    clusters.clear(slot);
    return slot;
  }

  // Takes the row, which may move on its own, from its cluster to another and closes the old one if
  // it is empty.
  void move_row(int row, int to) {
    const int from = partition.slot_of(row);
    clusters.forget(from, row);
    clusters.observe(to, row);
    partition.move(row, to);
    if (partition.size(from) == 0) partition.close(from);
  }

  // log p(X, Pi, u | the prior's parameters), row constants left out.
  double log_joint() {
    if (prior.has_groups()) return log_grouped_joint();
    const double n = partition.n_points();
    double total = (n - 1) * prior.values().log_u - prior.psi() - log_gamma(n) + log_rows(family);
    total -= prior.log_nonempty();
    for (const int slot : partition.active())
      total += prior.log_kappa(partition.size(slot)) + clusters.log_marginal(slot);
    return total;
  }

  // The same of rows in groups.
  double log_grouped_joint() {
    const GroupTerms& terms = prior.by_group();
    double total = terms.log_of_u() - prior.psi() - prior.log_nonempty() + log_rows(family);
    for (const int slot : partition.active())
      total +=
          terms.log_kappa(partition.cluster_groups().of_slot(slot)) + clusters.log_marginal(slot);
    return total;
  }

  // All of it, to the last bit: statistics have gathered the rounding of many moves. The base
  // measure comes first and on its own: it is the family's.
  template <class Archive>
  void archive(Archive& a) {
    prior.archive(a);
    partition.archive(a);
    if constexpr (Archive::loading) {
      clusters.grow(partition.n_slots());
      std::vector<std::vector<int>> rows(partition.n_slots());
      for (int row = 0; row < family.n_rows(); ++row) rows[partition.slot_of(row)].push_back(row);
      std::vector<double> fresh;
      for (const int slot : partition.active()) {
        fresh.assign(family.statistic_size(), 0.0);
        for (const int row : rows[slot]) family.observe(fresh.data(), row);
        clusters.archive(a, slot, fresh.data());
      }
    } else {
      for (const int slot : partition.active()) clusters.archive(a, slot, nullptr);
    }
  }

  // Debug: recomputes every cluster's marginal from its rows and throws where what is kept differs.
  void check(double tolerance = 1e-6) {
    partition.check();
    std::vector<double> statistics(static_cast<std::size_t>(partition.n_slots()) *
                                   family.statistic_size());
    auto of = [&](int slot) {
      return statistics.data() + static_cast<std::size_t>(slot) * family.statistic_size();
    };
    for (int row = 0; row < family.n_rows(); ++row) family.observe(of(partition.slot_of(row)), row);
    for (const int slot : partition.active()) {
      const double kept = clusters.log_marginal(slot);
      const double fresh = family.log_marginal(of(slot));
      if (!(std::abs(kept - fresh) <= tolerance * (1 + std::abs(fresh))))
        throw std::logic_error("cluster in slot " + std::to_string(slot) + ": log marginal kept " +
                               std::to_string(kept) + ", recomputed " + std::to_string(fresh));
    }
  }
};

template <Family F>
struct State : ClusterState<F, Partition> {
  State(const F& the_family, Prior the_prior, std::span<const std::int32_t> labels)
      : ClusterState<F, Partition>(
            the_family, the_prior,
            Partition(labels, row_sums(the_family), the_prior.by_group().groups())) {
    rebuild();
  }

  void assign(std::span<const std::int32_t> labels, PriorValues values) {
    this->partition.assign(labels);
    this->prior.set(values);
    rebuild();
  }

  // Statistics from the rows themselves: what rounding has added up over many moves is gone, and
  // so are slots that nobody uses.
  void rebuild() {
    this->partition.compact();
    const Partition& partition = this->partition;
    this->clusters.grow(partition.n_slots());
    for (int slot = 0; slot < partition.n_slots(); ++slot) this->clusters.clear(slot);
    for (int row = 0; row < partition.n_rows(); ++row)
      this->clusters.observe(partition.slot_of(row), row);
  }

  // All rows have changed: statistics made afresh, in the same slots.
  void gather() {
    const Partition& partition = this->partition;
    const auto size = static_cast<std::size_t>(this->family.statistic_size());
    std::vector<double> statistics(size * partition.n_slots(), 0.0);
    for (int row = 0; row < partition.n_rows(); ++row)
      this->family.observe(statistics.data() + size * partition.slot_of(row), row);
    for (const int slot : partition.active())
      this->clusters.assign(slot, statistics.data() + size * slot);
  }
};

}  // namespace mixwood
