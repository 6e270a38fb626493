// The state of the published tree-guided sampler: a partition with one tree per cluster. The trees
// are listed in the order in which the partition lists its clusters.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "mixwood/interrupt.hpp"
#include "mixwood/state/state.hpp"
#include "mixwood/tree/forest.hpp"
#include "mixwood/tree/forest_archive.hpp"
#include "mixwood/tree/forest_check.hpp"
#include "mixwood/tree/seq_insert.hpp"

namespace mixwood {

struct ForestState : State<ErasedFamily> {
  Forest forest;
  SeqInsert seq_insert;

  ForestState(const ErasedFamily& the_family, Prior the_prior, std::span<const std::int32_t> labels,
              std::shared_ptr<const ErasedFamily> shared)
      : State<ErasedFamily>(the_family, the_prior, labels),
        forest(shared, the_prior),
        shared_(shared) {}

  void assign(std::span<const std::int32_t> labels, PriorValues values) {
    State<ErasedFamily>::assign(labels, values);
    grow();
  }

  // Trees for the clusters from nothing, row by row. The clusters must be listed in order of
  // appearance, as they are after `assign`.
  void grow() {
    forest = Forest(shared_, this->prior);
    for (int row = 0; row < this->partition.n_rows(); ++row) {
      Interrupt::of_thread().tick();
      const int leaf = forest.make_leaf(row);
      const int position = this->partition.position(this->partition.slot_of(row));
      if (position == static_cast<int>(forest.trees().size()))
        forest.add_tree(leaf);
      else
        seq_insert(forest, forest.trees()[position], leaf);
    }
  }

  // The potentials follow the prior's values.
  void refresh_potentials() { forest.set_parameters(this->prior.values()); }

  void move_row(int row, int to) {
    const int from = this->partition.slot_of(row);
    const int leaf = forest.leaf_of_row()[row];
    const bool fresh = this->partition.size(to) == 0;
    const int target = fresh ? Arena::none : forest.trees()[this->partition.position(to)];
    if (this->partition.size(from) == 1)
      forest.remove_tree(leaf);
    else
      seq_insert.take_out(forest, leaf);
    if (fresh)
      forest.add_tree(leaf);
    else
      seq_insert(forest, target, leaf);
    State<ErasedFamily>::move_row(row, to);
  }

  // The cluster at `position` was split: the trees have been put there and at the end of the list.
  void follow_split(int position) {
    take_statistic(this->partition.active()[position], forest.trees()[position]);
    while (this->partition.n_clusters() < static_cast<int>(forest.trees().size())) {
      const int root = forest.trees()[this->partition.n_clusters()];
      const int slot = this->open_cluster();
      move_leaves(root, slot);
      take_statistic(slot, root);
    }
  }

  // Merges the clusters at these positions, in rising order, whose trees are below `root`.
  void merge(std::span<const int> positions, int root) {
    const int slot = this->partition.active()[positions[0]];
    move_leaves(root, slot);
    take_statistic(slot, root);
    forest.replace_tree(forest.trees()[positions[0]], root);
    for (std::size_t k = positions.size(); k-- > 1;) {
      forest.remove_tree(forest.trees()[positions[k]]);
      this->partition.close(this->partition.active()[positions[k]]);
    }
  }

  template <class Archive>
  void archive(Archive& a) {
    State<ErasedFamily>::archive(a);
    if constexpr (Archive::loading)
      forest = load_forest(a, shared_, this->prior);
    else
      save_forest(a, forest);
  }

  // Debug: as of the state, and the trees from scratch.
  void check(double tolerance = 1e-6) {
    State<ErasedFamily>::check(tolerance);
    ForestCheck{tolerance}(forest);
    if (forest.trees().size() != this->partition.active().size())
      throw std::logic_error("forest state: not one tree per cluster");
    for (std::size_t k = 0; k < forest.trees().size(); ++k)
      forest.nodes().each_leaf(forest.trees()[k], [&](int leaf) {
        if (this->partition.slot_of(forest.nodes().row[leaf]) != this->partition.active()[k])
          throw std::logic_error("forest state: a leaf is in the tree of another cluster");
      });
  }

 private:
  void move_leaves(int root, int slot) {
    const Arena& nodes = forest.nodes();
    nodes.each_leaf(root, [&](int leaf) { this->partition.move(nodes.row[leaf], slot); });
  }
  void take_statistic(int slot, int root) { this->clusters.assign(slot, forest.statistic(root)); }

  std::shared_ptr<const ErasedFamily> shared_;
};

}  // namespace mixwood
