// The base measure given the clusters: how it moves is the family's own affair (family/).
#pragma once

#include <vector>

#include "mixwood/family/base_measure.hpp"
#include "mixwood/family/family.hpp"
#include "mixwood/move/report.hpp"
#include "mixwood/random/stream.hpp"

namespace mixwood {

class BaseUpdate {
 public:
  // `family` is that of the state. Afterwards whatever the state keeps of its clusters is as the
  // new base measure says.
  template <class S, Family F>
  void operator()(S& state, F& family, Stream& random, MoveReport& report) {
    const Timed timed(report);
    const auto& active = state.partition.active();
    statistic_.resize(static_cast<std::size_t>(family.statistic_size()));
    const BaseMoves moves = family.update_base({static_cast<int>(active.size()),
                                                [&](int k) {
                                                  state.clusters.read(active[k], statistic_.data());
                                                  return statistic_.data();
                                                }},
                                               random);
    state.clusters.take_base(active);
    report.proposed += moves.proposed;
    report.accepted += moves.accepted;
  }

 private:
  std::vector<double> statistic_;
};

}  // namespace mixwood
