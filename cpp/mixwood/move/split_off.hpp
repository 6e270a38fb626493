// What split-merge with restricted scans does with a split that is accepted.
#pragma once

#include <vector>

#include "mixwood/move/restricted_scan.hpp"

namespace mixwood {

// Side A stays, side B becomes a new cluster; `statistics` are those of both.
template <class S, Family F>
void split_off(S& state, const RestrictedScan<F>& scan, const std::vector<double>* statistics) {
  const int old = state.partition.slot_of(scan.anchor(side_a));
  const int fresh = state.open_cluster();
  state.partition.move(scan.anchor(side_b), fresh);
  for (std::size_t k = 0; k < scan.items().size(); ++k)
    if (scan.sides()[k] == side_b) state.partition.move(scan.items()[k], fresh);
  state.clusters.assign(old, statistics[side_a].data());
  state.clusters.assign(fresh, statistics[side_b].data());
}

}  // namespace mixwood
