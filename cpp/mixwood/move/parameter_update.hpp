// u and the prior's parameters given the partition: how they are drawn is the prior's own affair
// (prior/).
#pragma once

#include "mixwood/move/report.hpp"
#include "mixwood/prior/prior.hpp"
#include "mixwood/random/stream.hpp"
#include "mixwood/state/slots.hpp"

namespace mixwood {

class ParameterUpdate {
 public:
  void operator()(Prior& prior, const Slots& partition, Stream& random, MoveReport& report) {
    const Timed timed(report);
    prior.update(sizes_of(partition), random);
    ++report.proposed;
    ++report.accepted;
  }

  // u alone, at the start of a chain.
  void start(Prior& prior, const Slots& partition, Stream& random) {
    prior.start(sizes_of(partition), random);
  }

 private:
  const ClusterSizes& sizes_of(const Slots& partition) {
    clusters_.n_points = partition.n_points();
    clusters_.sizes.clear();
    for (const int slot : partition.active()) clusters_.sizes.push_back(partition.size(slot));
    clusters_.groups = partition.groups();
    clusters_.counts = &partition.cluster_groups();
    return clusters_;
  }

  ClusterSizes clusters_{};
};

}  // namespace mixwood
