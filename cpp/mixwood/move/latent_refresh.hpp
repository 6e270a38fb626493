// The latent parts of rows (family/latent.hpp), drawn again along with the rows' clusters. Each row
// that has one leaves its cluster and joins one by its conditional given what is known of it,
//
//   cluster c:  kappa(|c|+1, u)/kappa(|c|, u) P(known of x_i | X_c)      new:  kappa(1, u) P(known)
//
// (c without the row, its rows as they are now); then its latent part is drawn given that and the
// cluster. A Gibbs step on both together: a row of which little is known can move freely, though
// with its latent part given it could not.
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

#include "mixwood/archive.hpp"
#include "mixwood/family/latent.hpp"
#include "mixwood/move/report.hpp"
#include "mixwood/numerics/kernels.hpp"
#include "mixwood/random/stream.hpp"

namespace mixwood {

// S is the state, F its family.
template <class S, LatentFamily F>
class LatentRefresh {
 public:
  explicit LatentRefresh(const F& family)
      : latents_(family), statistic_(family.statistic_size()), rest_(family.statistic_size()) {}

  // Visits the rows that have a latent part, at most `most_visits` of them: the next iteration
  // then continues. Returns those visited. `family` is that of the state.
  std::span<const int> operator()(S& state, F& family, Stream& random, MoveReport& report) {
    const Timed timed(report);
    const auto rows = family.latent_rows();
    if (next_ >= static_cast<std::int64_t>(rows.size())) next_ = 0;
    const auto visited = rows.subspan(
        next_, std::min<std::size_t>(most_visits, rows.size() - static_cast<std::size_t>(next_)));
    for (const int row : visited) {
      ++report.proposed;
      report.accepted += visit(state, family, row, random);
    }
    next_ += static_cast<std::int64_t>(visited.size());
    return visited;
  }

  // The log weights of one row: one for each cluster in list order, and the new cluster's last.
  std::vector<double> log_weights(S& state, int row) {
    latents_.load(row);
    fill_weights(state, row);
    return weights_;
  }

  template <class Archive>
  void archive(Archive& a) {
    a.value(next_);
    a.require(next_ >= 0, "a counter is out of range");
  }

 private:
  static constexpr std::size_t most_visits = 20000;

  // Leaves the statistic of the row's cluster without the row in rest_.
  void fill_weights(S& state, int row) {
    const auto& active = state.partition.active();
    const int own = state.partition.slot_of(row);
    weights_.resize(active.size() + 1);
    for (std::size_t a = 0; a < active.size(); ++a) {
      const int slot = active[a];
      if (slot == own) continue;
      state.clusters.read(slot, statistic_.data());
      weights_[a] =
          state.prior.log_join(state.partition.size(slot)) + latents_.score(statistic_.data());
    }
    state.clusters.read(own, rest_.data());
    state.family.forget(rest_.data(), row);
    const int others = state.partition.size(own) - 1;
    weights_[state.partition.position(own)] =
        others == 0 ? -std::numeric_limits<double>::infinity()
                    : state.prior.log_join(others) + latents_.score(rest_.data());
    std::fill(statistic_.begin(), statistic_.end(), 0.0);
    weights_.back() = state.prior.log_new() + latents_.score(statistic_.data());
  }

  // Whether the row has changed its cluster.
  bool visit(S& state, F& family, int row, Stream& random) {
    latents_.load(row);
    fill_weights(state, row);
    const int count = static_cast<int>(weights_.size());
    const int choice = kernels_.pick(count, weights_.data(), random.uniform());
    if (choice < 0)
      throw std::runtime_error(
          "the weights of a row's clusters are not numbers; rescale X or choose a less extreme "
          "prior");
    const int own = state.partition.slot_of(row);
    const bool fresh = choice == count - 1;
    int to = fresh ? own : state.partition.active()[choice];
    if (to == own && !fresh)
      statistic_ = rest_;
    else if (fresh)
      std::fill(statistic_.begin(), statistic_.end(), 0.0);
    else
      state.clusters.read(to, statistic_.data());
    values_.resize(static_cast<std::size_t>(family.latent_size(row)));
    latents_.draw(statistic_.data(), random, values_.data());
    if (fresh && state.partition.size(own) > 1) to = state.open_cluster();
    state.clusters.forget(own, row);
    family.set_latent_of_row(row, values_.data());
    state.clusters.observe(to, row);
    if (to == own) return false;
    state.partition.move(row, to);
    if (state.partition.size(own) == 0) state.partition.close(own);
    return true;
  }

  const Kernels& kernels_ = kernels();
  typename F::Latents latents_;
  std::vector<double> statistic_, rest_, weights_, values_;
  std::int64_t next_ = 0;
};

}  // namespace mixwood
