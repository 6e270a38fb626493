// Multiway redraw: one cluster to many and back. A node v of the guide tree is drawn by a law that
// does not depend on the partition. A is the union of the clusters that meet v, and is divided
// anew into any number of blocks, each of which meets v, so that A is the same from both ends.
//
// First v as one portion, then the highest nodes of the tree in A without v, in an order that
// depends on the tree, v and A alone. A portion w joins a block that is there, makes a new one
// (only below v), or is opened, which means that its two children take its place, at once:
//
//   P(open)  = d/(1+d), kept off 0 and 1; 0 for a leaf, and outside v while there is one block
//   P(b)     = (1 - P(open)) phi(h_{b+w})/phi(h_b) / sum        b a block that is there
//   P(new)   = (1 - P(open)) phi(h_w) / sum
//
// all kept off 0. If the first child of an opened node went, whole, into a block, there or just
// made, that block is forbidden to the second, and the other probabilities are divided by their
// sum. So every division of A whose blocks all meet v has exactly one path: what is inside one
// block goes there whole, all else is opened. With q the product along the path,
//
//   r = prod phi(new) / prod phi(old) * q(old) / q(new)
//
// One function, `allocate`, draws the path or replays it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "mixwood/move/growing_block.hpp"
#include "mixwood/move/items.hpp"
#include "mixwood/move/report.hpp"
#include "mixwood/random/stream.hpp"
#include "mixwood/state/guided_state.hpp"

namespace mixwood {

template <Family F>
class MultiwayRedraw {
 public:
  explicit MultiwayRedraw(const F& family) : grow_(family) {}

  // `node` is no leaf. Leaves the state as it is if `stop` is set meanwhile.
  void operator()(GuidedState<F>& state, int node, Stream& random, const std::atomic<bool>& stop,
                  MoveReport& report) {
    ++report.proposed;
    const double threshold = std::log(random.positive_uniform());
    find_old(state.partition, node);
    const double log_new = allocate(state, node, no_bound, stop,
                                    [&](int) { return drawn(chances_, random.uniform()); });
    if (stop || !is_allowed() || is_as_before(state.partition)) return;
    const double gain = log_potential(state) - log_potential_of_old(state) - log_new;
    // q(old) is at most 1: what is hopeless already need not be replayed (nor, below, to its end;
    // the report then gets a bound of log r).
    if (!(threshold <= gain)) return report.add_log_ratio(gain);
    std::swap(blocks_, proposed_);
    std::swap(n_blocks_, n_proposed_);
    block_of_slot_.assign(state.partition.n_slots(), nowhere);
    const double log_old = allocate(state, node, threshold - gain, stop, [&](int item) {
      return replayed(state.partition.slot_of_node(item));
    });
    if (stop) return;
    report.add_log_ratio(gain + log_old);
    if (!(threshold <= gain + log_old)) return;
    ++report.accepted;
    take_over(state);
  }

  // Portions compared with a block so far.
  std::int64_t compared() const { return compared_; }

 private:
  struct Waiting {
    int node;
    int forbidden;  // a block that the node may not join as a whole, or nowhere
    bool first;     // whether its sibling waits right below it on the stack
  };
  static constexpr int nowhere = -1;
  static constexpr double smallest_choice = 1e-9;
  static constexpr double no_bound = -std::numeric_limits<double>::infinity();

  // The clusters that meet v, and the portions of them outside it.
  void find_old(const TreePartition& partition, int node) {
    const TreeShape& shape = partition.shape();
    old_.clear();
    for (int below = node; below < shape.end(node);) {
      const int slot = partition.slot_of_node(below);
      if (slot == TreePartition::mixed) {
        ++below;
        continue;
      }
      if (std::find(old_.begin(), old_.end(), slot) == old_.end()) old_.push_back(slot);
      below = shape.end(below);
    }
    if (partition.slot_of_node(node) != TreePartition::mixed)
      items_.of_cluster(partition, node, old_[0]);
    else
      items_.of_clusters(partition, node, old_);
  }

  // Divides A and returns log q; gives up, with what it has, when that falls below `bound`.
  // `choose(node)` is asked once chances_ are there: for a block's number, that of the next block,
  // or one more, which means to open.
  template <class Choose>
  double allocate(GuidedState<F>& state, int node, double bound, const std::atomic<bool>& stop,
                  Choose&& choose) {
    n_blocks_ = 0;
    stack_.assign(1, {node, nowhere, false});
    double log_q = allocate_waiting(state, bound, true, stop, choose);
    if (n_blocks_ == 1) {  // there is no choice left
      if (old_.size() > 1) join_all(state);
      return log_q;
    }
    for (const int item : items_.list()) {
      if (stop || log_q < bound) break;
      stack_.push_back({item, nowhere, false});
      log_q += allocate_waiting(state, bound - log_q, false, stop, choose);
    }
    return log_q;
  }

  void join_all(GuidedState<F>& state) {
    for (const int item : items_.list()) {
      grow_.take(state, item);
      // Of the marginals on the way only the last is wanted, but kappa of groups is a sum.
      grow_.join(state, blocks_[0], {0, grow_.log_kappa_of_joining(state, blocks_[0]), 0});
    }
    blocks_[0].log_marginal = state.family.log_marginal(blocks_[0].statistic.data());
  }

  template <class Choose>
  double allocate_waiting(GuidedState<F>& state, double bound, bool may_be_new,
                          const std::atomic<bool>& stop, Choose&& choose) {
    const TreeShape& shape = state.tree->shape;
    double log_q = 0;
    while (!stack_.empty() && !stop && log_q >= bound) {
      const Waiting next = stack_.back();
      stack_.pop_back();
      fill_chances(state, next, may_be_new);
      const int choice = choose(next.node);
      log_q += std::log(chances_[choice]);
      if (choice > n_blocks_) {
        stack_.push_back({shape.right(next.node), nowhere, false});
        stack_.push_back({shape.left(next.node), nowhere, true});
        continue;
      }
      join(state, choice);
      if (next.first) stack_.back().forbidden = choice;
    }
    stack_.clear();
    return log_q;
  }

  // The probabilities of the blocks, of a new one and of opening.
  void fill_chances(GuidedState<F>& state, const Waiting& next, bool may_be_new) {
    const int places = n_blocks_ + (may_be_new ? 1 : 0);
    chances_.resize(n_blocks_ + 2);
    scores_.resize(n_blocks_ + 1);
    compared_ += places;
    grow_.take(state, next.node);
    for (int b = 0; b < n_blocks_; ++b) scores_[b] = grow_.score(state, blocks_[b]);
    if (may_be_new) scores_[n_blocks_] = grow_.score_alone(state);
    make_probabilities(places, grow_.chance_of_opening(state));
    if (next.forbidden == nowhere) return;
    chances_[next.forbidden] = 0;
    double total = 0;
    for (const double chance : chances_) total += chance;
    for (double& chance : chances_) chance /= total;
  }

  // From what `count` places would gain, and the probability of opening.
  void make_probabilities(int count, double open) {
    double largest = no_bound, total = 0;
    for (int b = 0; b < count; ++b) largest = std::max(largest, scores_[b].log_gain);
    for (int b = 0; b < count; ++b) total += chances_[b] = std::exp(scores_[b].log_gain - largest);
    if (!(total > 0))
      throw std::runtime_error(
          "the weights of a block's places are not numbers; rescale X or choose a less extreme "
          "prior");
    for (int b = 0; b < count; ++b)
      chances_[b] =
          (1 - open) * (chances_[b] / total + smallest_choice) / (1 + count * smallest_choice);
    for (int b = count; b <= n_blocks_; ++b) chances_[b] = 0;
    chances_[n_blocks_ + 1] = open;
  }

  // The first whose sum exceeds `at`. Rounding must not make a choice that cannot be.
  static int drawn(const std::vector<double>& chances, double at) {
    double sum = 0;
    int last = 0;
    for (int k = 0; k < static_cast<int>(chances.size()); ++k) {
      if (chances[k] == 0) continue;
      last = k;
      if (at < (sum += chances[k])) break;
    }
    return last;
  }

  int replayed(int slot) {
    if (slot == TreePartition::mixed) return n_blocks_ + 1;
    int& block = block_of_slot_[slot];
    if (block == nowhere) block = n_blocks_;
    return block;
  }

  // To be called after fill_chances for the same node.
  void join(GuidedState<F>& state, int choice) {
    if (choice < n_blocks_) return grow_.join(state, blocks_[choice], scores_[choice]);
    if (n_blocks_ == static_cast<int>(blocks_.size())) blocks_.emplace_back();
    grow_.start(state, blocks_[n_blocks_++], scores_[choice]);
  }

  // Two marked rows together are not allowed: such a proposal is refused, and q is what it is
  // without marks.
  bool is_allowed() const {
    return std::all_of(blocks_.begin(), blocks_.begin() + n_blocks_,
                       [](const GrowingBlock& block) { return block.marks <= 1; });
  }

  // Whether the blocks drawn are the old clusters.
  bool is_as_before(const TreePartition& partition) const {
    if (n_blocks_ != static_cast<int>(old_.size())) return false;
    for (int b = 0; b < n_blocks_; ++b) {
      const int slot = partition.slot_of_node(blocks_[b].nodes[0]);
      for (const int node : blocks_[b].nodes)
        if (slot == TreePartition::mixed || partition.slot_of_node(node) != slot) return false;
    }
    return true;
  }

  double log_potential(GuidedState<F>& state) {
    double total = 0;
    for (int b = 0; b < n_blocks_; ++b) total += grow_.log_potential(state, blocks_[b]);
    return total;
  }
  double log_potential_of_old(GuidedState<F>& state) const {
    double total = 0;
    for (const int slot : old_)
      total += state.log_kappa_of(slot) + state.clusters.log_marginal(slot);
    return total;
  }

  // Each block takes the cluster of its first row, if no block before it has; the others are new.
  void take_over(GuidedState<F>& state) {
    TreePartition& partition = state.partition;
    const TreeShape& shape = partition.shape();
    const std::span<GrowingBlock> blocks(proposed_.data(), n_proposed_);
    std::vector<int> slots;
    for (const GrowingBlock& block : blocks) {
      const int own = partition.slot_of(shape.rows[shape.first[block.nodes[0]]]);
      const bool taken = std::find(slots.begin(), slots.end(), own) != slots.end();
      slots.push_back(taken ? nowhere : own);
    }
    for (int& slot : slots)
      if (slot == nowhere) slot = state.open_cluster();
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      for (const int node : blocks[b].nodes) move_all(partition, node, slots[b]);
      state.clusters.assign(slots[b], blocks[b].statistic.data());
    }
    std::erase_if(old_, [&](int slot) { return partition.size(slot) > 0; });
    std::sort(old_.begin(), old_.end(),
              [&](int a, int b) { return partition.position(a) > partition.position(b); });
    for (const int slot : old_) partition.close(slot);
  }

  // Takes all rows below a node to a slot, pure node by pure node.
  static void move_all(TreePartition& partition, int node, int to) {
    const int end = partition.shape().end(node);
    while (node < end) {
      const int slot = partition.slot_of_node(node);
      if (slot == TreePartition::mixed) {
        ++node;
        continue;
      }
      const int next = partition.shape().end(node);
      if (slot != to) partition.move_node(node, to);
      node = next;
    }
  }

  BlockGrowth<F> grow_;
  Items items_;
  std::vector<int> old_;  // clusters that meet v, in the order of their first rows there
  std::vector<GrowingBlock> blocks_, proposed_;
  int n_blocks_ = 0, n_proposed_ = 0;
  std::vector<BlockScore> scores_;
  std::vector<double> chances_;
  std::vector<int> block_of_slot_;
  std::vector<Waiting> stack_;
  std::int64_t compared_ = 0;
};

}  // namespace mixwood
