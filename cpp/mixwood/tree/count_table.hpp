// The trees of a forest of documents, word by word: how often every tree has a word, side by side
// for all trees. One pass over an item's words then gives its predictive under all of them, many
// times as fast as one tree after the other, whose counts are far apart in memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "mixwood/tree/forest.hpp"

namespace mixwood {

class CountTable {
 public:
  using Item = Forest::Item;

  explicit CountTable(Forest& forest) : forest_(forest) {}

  // Whether it can take all trees of this forest. If not, it is given up.
  bool pays() {
    if (!forest_.family().is_sparse()) return false;
    const auto width = static_cast<std::size_t>(forest_.family().statistic_size());
    if ((forest_.trees().size() + 1) * width <= most_entries) return true;
    clusters_.reset();
    return false;
  }

  // Calls visit(root, log P of the tree's rows and the item's) for all trees.
  template <class Visit>
  void each(const Item& item, Visit&& visit) {
    // All slots are compared, also those whose trees are gone.
    if (is_stale() || 2 * slots_.size() + few_slots < root_of_.size()) build();
    block_ = {nullptr, counts_of(item)};
    if (slots_.empty()) return;
    clusters_->score_block(block_, slots_, scores_.data());
    for (const int slot : slots_) {
      const int root = root_of_[slot];
      visit(root, forest_.nodes().log_marginal[root] + scores_[slot]);
    }
  }

  // What became of the item that was looked for last: it is a tree of its own, or went into the
  // tree `root`, whose root is `now`.
  void added(int root) {
    if (!is_kept()) return;
    clusters_->merge(new_slot(root), block_);
    seen_ = forest_.version();
  }
  void grown(int root, int now) {
    if (!is_kept()) return;
    const int slot = slot_of_[root];
    clusters_->merge(slot, block_);
    place(now, slot);
    seen_ = forest_.version();
  }
  // The tree is not in the forest any more, and its root still a node.
  void removed(int root) {
    if (!is_kept()) return;
    const int slot = slot_of_[root];
    // To clear the slot would take a look at every word.
    forest_.load(root, other_);
    clusters_->subtract(slot, {nullptr, counts_of(other_)});
    free_.push_back(slot);
    slots_.erase(std::find(slots_.begin(), slots_.end(), slot));
    seen_ = forest_.version();
  }

 private:
  static constexpr std::size_t few_slots = 16;
  static constexpr std::size_t most_entries = std::size_t{1} << 25;  // 128 to 192 MB

  // Whether the last change of the forest was the one that is being told.
  bool is_kept() const { return clusters_ && seen_ + 1 == forest_.version(); }
  bool is_stale() const {
    return !clusters_ || seen_ != forest_.version() || family_ != forest_.shared_family();
  }

  void build() {
    family_ = forest_.shared_family();
    clusters_ = family_->clusters();
    for (auto* list : {&slots_, &free_, &root_of_, &slot_of_}) list->clear();
    clusters_->grow(static_cast<int>(forest_.trees().size()));
    for (const int root : forest_.trees()) {
      forest_.load(root, other_);
      clusters_->merge(new_slot(root), {nullptr, counts_of(other_)});
    }
    seen_ = forest_.version();
  }

  CountBlock counts_of(const Item& item) const {
    return item.row >= 0 ? forest_.family().block_of_row(item.row) : CountBlock(item.counts);
  }

  int new_slot(int root) {
    if (free_.empty()) {
      free_.push_back(static_cast<int>(root_of_.size()));
      root_of_.push_back(root);
      clusters_->grow(static_cast<int>(root_of_.size()));
      scores_.resize(root_of_.size());
    }
    const int slot = free_.back();
    free_.pop_back();
    slots_.push_back(slot);
    place(root, slot);
    return slot;
  }
  void place(int root, int slot) {
    root_of_[slot] = root;
    if (static_cast<int>(slot_of_.size()) <= root) slot_of_.resize(forest_.nodes().n_slots(), -1);
    slot_of_[root] = slot;
  }

  Forest& forest_;
  std::shared_ptr<const ErasedFamily> family_;  // that of the table
  std::unique_ptr<ErasedClusters> clusters_;    // a tree in each slot
  std::vector<int> slots_, free_;               // with a tree, and without
  std::vector<int> root_of_, slot_of_;          // of a slot, of a root
  std::uint64_t seen_ = 0;
  ErasedFamily::Block block_;   // the item that was looked for last
  std::vector<double> scores_;  // of every slot
  Item other_;
};

}  // namespace mixwood
