// The latent parts of rows (family/latent.hpp), drawn again along with the rows' clusters. Each row
// that has one leaves its cluster and joins one by its conditional given what is known of it,
//
//   cluster c:  kappa(|c|+1, u)/kappa(|c|, u) P(known of x_i | X_c)      new:  kappa(1, u) P(known)
//
// (c without the row, its rows as they are now); then its latent part is drawn given that and the
// cluster. A Gibbs step on both together: a row of which little is known can move freely, though
// with its latent part given it could not.
//
// Where P(known of x_i | X_c) has no form, it is given parameters of the clusters, drawn before all
// rows and then forgotten; rows then move among the clusters that there are, and those that are
// alone stay. In a product, what other parts know of the row is as above, their rows being X_c.
// Some families draw all latent parts at once, too, given such parameters.
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

#include "mixwood/archive.hpp"
#include "mixwood/family/latent.hpp"
#include "mixwood/move/pick.hpp"
#include "mixwood/move/report.hpp"
#include "mixwood/numerics/kernels.hpp"
#include "mixwood/random/stream.hpp"

namespace mixwood {

// S is the state, F its family.
template <class S, LatentFamily F>
class LatentRefresh {
 public:
  explicit LatentRefresh(const F& family) : latents_(family), statistic_(family.statistic_size()) {}

  // Visits rows that have a latent part, from where the last iteration stopped: all of them, unless
  // that is many for an iteration that visits `row_visits` rows otherwise. (How many must not look
  // at the state.) Returns those visited. `family` is that of the state.
  std::span<const int> operator()(S& state, F& family, int row_visits, Stream& random,
                                  MoveReport& report) {
    const Timed timed(report);
    const int each = latents_.given_atoms() ? rows_per_visit_given_atoms : rows_per_visit;
    const int most = std::clamp(row_visits / each, least_visits, most_visits);
    const auto rows = family.latent_rows();
    if (next_ >= static_cast<std::int64_t>(rows.size())) next_ = 0;
    const auto first = static_cast<std::size_t>(next_);
    const auto visited =
        rows.subspan(first, std::min(static_cast<std::size_t>(most), rows.size() - first));
    read_clusters(state);
    draw_atoms(state, random);
    for (const int row : visited) {
      ++report.proposed;
      report.accepted += visit(state, family, row, random);
    }
    write_clusters(state);
    next_ += static_cast<std::int64_t>(visited.size());
    return visited;
  }

  // All latent numbers at once, where the family can; what is kept of statistics is then to follow.
  void redraw(const S& state, F& family, Stream& random, MoveReport& report) {
    if constexpr (RedrawnAtOnce<F>) {
      const Timed timed(report);
      const auto& active = state.partition.active();
      clusters_.resize(static_cast<std::size_t>(family.n_rows()));
      for (int row = 0; row < family.n_rows(); ++row)
        clusters_[row] = state.partition.position(state.partition.slot_of(row));
      family.redraw_latents({static_cast<int>(active.size()),
                             [&](int k) {
                               state.clusters.read(active[k], statistic_.data());
                               return statistic_.data();
                             }},
                            clusters_, random);
    }
  }

  // For `log_weights`: the clusters as they are now.
  void read_clusters(S& state) {
    latents_.start(state.partition.n_slots());
    for (const int slot : state.partition.active()) {
      state.clusters.read(slot, statistic_.data());
      latents_.assign(slot, statistic_.data());
    }
    changed_.assign(state.partition.n_slots(), 0);
    alone_ = {};  // which another caller has kept
  }

  // For `log_weights` where those are given parameters: draws these. `alone` has the log density of
  // each row in a new cluster, of what is given parameters; the caller keeps it.
  void read_clusters(S& state, Stream& random, std::span<const double> alone) {
    if (latents_.given_atoms() &&
        alone.size() != static_cast<std::size_t>(state.partition.n_rows()))
      throw std::invalid_argument("alone must have the density of each row in a new cluster");
    read_clusters(state);
    draw_atoms(state, random);
    alone_ = alone;
  }

  // The log weights of one row: one for each cluster in list order, and the new cluster's last.
  std::vector<double> log_weights(S& state, int row) {
    if (latents_.given_atoms() && alone_.empty())
      throw std::invalid_argument("these rows have no weights without parameters of clusters");
    latents_.load(row);
    fill_all_weights(state, row);
    if (latents_.given_atoms()) weights_.back() += alone_[row];
    return weights_;
  }

  template <class Archive>
  void archive(Archive& a) {
    a.value(next_);
    a.require(next_ >= 0, "a counter is out of range");
  }

 private:
  // A visit costs as much as some ten rows that are scored a block at a time.
  static constexpr int rows_per_visit = 32, least_visits = 16, most_visits = 20000;
  // Where atoms are drawn for it, it should be worth it.
  static constexpr int rows_per_visit_given_atoms = 4;

  void draw_atoms(const S& state, Stream& random) {
    for (const int slot : state.partition.active()) latents_.draw_atom(slot, random);
  }

  void write_clusters(S& state) {
    for (const int slot : state.partition.active()) {
      if (!changed_[slot]) continue;
      latents_.read(slot, statistic_.data());
      state.clusters.assign(slot, statistic_.data());
    }
  }

  // Of the clusters that the row may go to.
  void fill_weights(const S& state, int row) {
    if (latents_.given_atoms() && state.partition.size(state.partition.slot_of(row)) == 1) {
      // it stays: in a new cluster, which is its old one
      weights_.assign(state.partition.active().size() + 1,
                      -std::numeric_limits<double>::infinity());
      weights_.back() = 0;
      return;
    }
    fill_all_weights(state, row);
    if (latents_.given_atoms()) weights_.back() = -std::numeric_limits<double>::infinity();
  }

  void fill_all_weights(const S& state, int row) {
    if (state.prior.has_groups())
      fill_group_weights(state, row);
    else
      fill_plain_weights(state, row);
  }

  void fill_plain_weights(const S& state, int row) {
    const auto& active = state.partition.active();
    const int own = state.partition.slot_of(row);
    weights_.resize(active.size() + 1);
    for (std::size_t a = 0; a < active.size(); ++a)
      if (active[a] != own)
        weights_[a] =
            state.prior.log_join(state.partition.size(active[a])) + latents_.score(active[a]);
    const double others = state.partition.size(own) - 1;
    weights_[state.partition.position(own)] =
        others == 0 ? -std::numeric_limits<double>::infinity()
                    : state.prior.log_join(others) + latents_.score_without(own);
    weights_.back() = state.prior.log_new() + latents_.score_alone();
  }

  void fill_group_weights(const S& state, int row) {
    const auto& active = state.partition.active();
    const int own = state.partition.slot_of(row);
    state.prior.by_group().fill_weights(state.partition, state.partition.groups()->of_row(row), own,
                                        weights_);
    for (std::size_t a = 0; a < active.size(); ++a)
      if (active[a] != own) weights_[a] += latents_.score(active[a]);
    double& stays = weights_[state.partition.position(own)];
    stays = state.partition.size(own) == 1 ? -std::numeric_limits<double>::infinity()
                                           : stays + latents_.score_without(own);
    weights_.back() += latents_.score_alone();
  }

  // Whether the row has changed its cluster.
  bool visit(S& state, F& family, int row, Stream& random) {
    latents_.load(row);
    fill_weights(state, row);
    const int count = static_cast<int>(weights_.size());
    const int choice = pick_cluster(kernels_, weights_, random.uniform());
    const int own = state.partition.slot_of(row);
    int to = choice < count - 1 ? state.partition.active()[choice] : own;
    if (choice == count - 1 && state.partition.size(own) > 1) to = open(state);
    latents_.forget(own);
    values_.resize(static_cast<std::size_t>(family.latent_size(row)));
    latents_.draw(to, random, values_.data());
    family.set_latent_of_row(row, values_.data());
    latents_.observe(to);
    changed_[own] = changed_[to] = 1;
    if (to == own) return false;
    state.partition.move(row, to);
    if (state.partition.size(own) == 0) state.partition.close(own);
    return true;
  }

  int open(S& state) {
    const int slot = state.open_cluster();
    changed_.resize(state.partition.n_slots(), 0);
    std::fill(statistic_.begin(), statistic_.end(), 0.0);
    latents_.assign(slot, statistic_.data());
    return slot;
  }

  const Kernels& kernels_ = kernels();
  typename F::Latents latents_;
  std::vector<double> statistic_, weights_, values_;
  std::span<const double> alone_;  // while weights are asked for
  std::vector<int> clusters_;      // of the rows, by their place in the list
  std::vector<char> changed_;      // the clusters that rows have left or joined
  std::int64_t next_ = 0;
};

}  // namespace mixwood
