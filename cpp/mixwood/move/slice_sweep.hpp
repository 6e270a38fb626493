// The slice sampler's sweep (Griffin and Walker 2011; Favaro and Teh 2013): given u,
//
// 1. each cluster gets its jump, x = tau w ~ Gamma(|c| - discount, 1), and its parameters given
// X_c;
// 2. each row a slice s_i ~ Uniform(0, x of its cluster); rows with s_i below a floor stay put;
// 3. all other jumps above the smallest slice of the rest, with parameters from the prior;
// 4. each row that may move joins an atom with x > s_i, with weight f(x_i | parameters).
//
// Jumps, slices and parameters are then forgotten. Which rows may move depends on the slices
// alone, not on where the rows are.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <span>
#include <vector>

#include "mixwood/family/erased.hpp"
#include "mixwood/move/jumps.hpp"
#include "mixwood/move/pick.hpp"
#include "mixwood/move/report.hpp"
#include "mixwood/numerics/kernels.hpp"
#include "mixwood/random/stream.hpp"
#include "mixwood/state/state.hpp"

namespace mixwood {

class SliceSweep {
 public:
  explicit SliceSweep(const ErasedFamily& family)
      : atoms_(family), statistic_(family.statistic_size()) {}

  // Leaves rows where they are if `stop` is set on the way.
  void operator()(State<ErasedFamily>& state, Stream& random, const std::atomic<bool>& stop,
                  MoveReport& report) {
    const Timed timed(report);
    const Jumps jumps(state.prior);
    draw_cluster_jumps(state, random);
    draw_slices(state.partition, jumps.floor(state.partition.n_rows()), random);
    if (movers_.empty()) return;
    double least = movers_.front().slice;
    for (const Mover& mover : movers_) least = std::min(least, mover.slice);
    add_free_jumps(jumps, least, random);
    draw_atoms(state, least, random);
    for (Mover& mover : movers_) mover.uniform = random.uniform();
    choose(stop);
    if (stop) return;
    report.proposed += static_cast<std::int64_t>(movers_.size());
    report.accepted += move_rows(state);
  }

 private:
  static constexpr int nobody = -1;

  struct Jump {
    double size;
    int slot;  // of its cluster, or nobody
  };
  struct Mover {
    int row;
    double slice;
    double uniform;
    int choice;
  };

  // Clusters in order of appearance.
  void draw_cluster_jumps(const State<ErasedFamily>& state, Stream& random) {
    jump_of_slot_.assign(state.partition.n_slots(), nobody);
    jumps_.clear();
    for (int row = 0; row < state.partition.n_rows(); ++row) {
      const int slot = state.partition.slot_of(row);
      if (jump_of_slot_[slot] != nobody) continue;
      jump_of_slot_[slot] = static_cast<int>(jumps_.size());
      const double shape = state.partition.size(slot) - state.prior.kernel().discount;
      jumps_.push_back({std::exp(random.log_gamma_draw(shape)), slot});
    }
  }

  void draw_slices(const Partition& partition, double floor, Stream& random) {
    movers_.clear();
    for (int row = 0; row < partition.n_rows(); ++row) {
      const double slice = random.uniform() * jumps_[jump_of_slot_[partition.slot_of(row)]].size;
      if (slice >= floor) movers_.push_back({row, slice, 0.0, nobody});
    }
  }

  void add_free_jumps(const Jumps& jumps, double least, Stream& random) {
    free_jumps_.clear();
    jumps.draw_above(least, random, free_jumps_);
    for (const double size : free_jumps_) jumps_.push_back({size, nobody});
    // The largest first, so that the atoms that a row may join always come first.
    std::sort(jumps_.begin(), jumps_.end(),
              [](const Jump& a, const Jump& b) { return a.size > b.size; });
    for (std::size_t a = 0; a < jumps_.size(); ++a)
      if (jumps_[a].slot != nobody) jump_of_slot_[jumps_[a].slot] = static_cast<int>(a);
  }

  // The parameters of every atom that some row may join.
  void draw_atoms(State<ErasedFamily>& state, double least, Stream& random) {
    int count = 0;
    while (may_join(count, least)) ++count;
    atoms_.resize(count);
    scores_.resize(static_cast<std::size_t>(count) * atoms_.rows_at_once);
    for (int a = 0; a < count; ++a) {
      if (jumps_[a].slot == nobody)
        std::fill(statistic_.begin(), statistic_.end(), 0.0);
      else
        state.clusters.read(jumps_[a].slot, statistic_.data());
      atoms_.draw(a, statistic_.data(), random);
    }
  }

  bool may_join(int atom, double slice) const {
    return atom < static_cast<int>(jumps_.size()) && jumps_[atom].size > slice;
  }

  // Rows by falling slice: a block's rows then have about the same atoms to choose from.
  void choose(const std::atomic<bool>& stop) {
    std::sort(movers_.begin(), movers_.end(),
              [](const Mover& a, const Mover& b) { return a.slice > b.slice; });
    const int block = atoms_.rows_at_once;
    int scored = 0;
    int allowed = 0;
    for (std::size_t start = 0; start < movers_.size() && !stop; start += block) {
      const std::size_t end = std::min<std::size_t>(start + block, movers_.size());
      rows_.clear();
      for (std::size_t k = start; k < end; ++k) rows_.push_back(movers_[k].row);
      while (may_join(scored, movers_[end - 1].slice)) ++scored;
      atoms_.load(rows_);
      atoms_.score(scored, scores_.data());
      for (std::size_t k = start; k < end; ++k) {
        Mover& mover = movers_[k];
        while (may_join(allowed, mover.slice)) ++allowed;
        mover.choice = pick(allowed, static_cast<int>(k - start), mover.uniform);
      }
    }
  }

  int pick(int count, int b, double uniform) {
    weights_.resize(count);
    for (int a = 0; a < count; ++a)
      weights_[a] = scores_[static_cast<std::size_t>(a) * atoms_.rows_at_once + b];
    return pick_cluster(kernels_, weights_, uniform);
  }

  // A cluster may lose its last row before another comes: its atom then opens a new one.
  std::int64_t move_rows(State<ErasedFamily>& state) {
    std::int64_t moved = 0;
    for (const Mover& mover : movers_) {
      const int from = state.partition.slot_of(mover.row);
      int& slot = jumps_[mover.choice].slot;
      if (slot == from) continue;
      ++moved;
      if (slot == nobody) {
        slot = state.open_cluster();
        jump_of_slot_.resize(state.partition.n_slots(), nobody);
        jump_of_slot_[slot] = mover.choice;
      }
      state.move_row(mover.row, slot);
      if (state.partition.size(from) == 0) jumps_[jump_of_slot_[from]].slot = nobody;
    }
    return moved;
  }

  const Kernels& kernels_ = kernels();
  ErasedFamily::Atoms atoms_;
  std::vector<Jump> jumps_;
  std::vector<Mover> movers_;
  std::vector<int> jump_of_slot_, rows_;
  std::vector<double> statistic_, free_jumps_, scores_, weights_;
};

}  // namespace mixwood
