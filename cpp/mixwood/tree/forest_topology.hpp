// The nodes of a forest and how they hang together, without what they stand for.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "mixwood/tree/arena.hpp"

namespace mixwood {

class ForestTopology {
 public:
  const Arena& nodes() const { return nodes_; }
  const std::vector<int>& trees() const { return trees_; }
  const std::vector<int>& leaf_of_row() const { return leaf_of_row_; }
  int n_leaves() const { return n_leaves_; }
  // Changes whenever a row goes in, or a tree comes or goes.
  std::uint64_t version() const { return version_; }
  // Another number whenever nodes are gone whose numbers others may get.
  std::uint64_t released() const { return released_; }

  void add_tree(int root) {
    ++version_;
    make_room_for_positions();
    position_[root] = static_cast<int>(trees_.size());
    trees_.push_back(root);
  }
  void remove_tree(int root) {
    ++version_;
    const int last = trees_.back();
    trees_[position_[root]] = last;
    position_[last] = position_[root];
    trees_.pop_back();
  }
  void replace_tree(int root, int other) {
    make_room_for_positions();
    trees_[position_[root]] = other;
    position_[other] = position_[root];
  }

  // For proposals that may be taken back. The children of an inner node are left without a parent,
  // while the node itself is kept; and they are its own again.
  void let_go(int node) { set_parent_of_children(node, Arena::none); }
  void adopt(int node) { set_parent_of_children(node, node); }

  // Replaces leaf numbers of rows by `now[leaf]` where that is not `none`.
  void rename_leaves(const std::vector<int>& now) {
    for (int& leaf : leaf_of_row_)
      if (leaf != Arena::none && now[leaf] != Arena::none) leaf = now[leaf];
  }

 protected:
  explicit ForestTopology(int n_rows) : leaf_of_row_(n_rows, Arena::none) {}

  bool knows_rows() const { return !leaf_of_row_.empty(); }

  int allocate_inner(int left, int right) {
    const int node = nodes_.allocate(Arena::inner);
    nodes_.left[node] = left;
    nodes_.right[node] = right;
    nodes_.parent[left] = nodes_.parent[right] = node;
    nodes_.size[node] = nodes_.size[left] + nodes_.size[right];
    return node;
  }

  // Puts `other` where `node` hangs: in its parent `above`, or in the list of trees.
  void put_in_place(int above, int node, int other) {
    if (above == Arena::none)
      replace_tree(node, other);
    else
      nodes_.replace_child(above, node, other);
  }

  // Rows of other data: old row i is rows[i] there, below 0 where it is not needed.
  void renumber_rows(std::span<const std::int64_t> rows, int n_rows) {
    std::vector<int> leaf_of_row(n_rows, Arena::none);
    for (std::size_t i = 0; i < leaf_of_row_.size(); ++i) {
      const int leaf = leaf_of_row_[i];
      if (leaf == Arena::none) continue;
      const bool alone = nodes_.row[leaf] >= 0;
      const bool kept = rows[i] >= 0 && rows[i] < n_rows;
      if (alone && !kept) throw std::invalid_argument("a row that is still a leaf is missing");
    }
    for (std::size_t i = 0; i < leaf_of_row_.size(); ++i) {
      const int leaf = leaf_of_row_[i];
      if (leaf == Arena::none || rows[i] < 0) continue;
      leaf_of_row[rows[i]] = leaf;
      if (nodes_.row[leaf] >= 0) nodes_.row[leaf] = static_cast<int>(rows[i]);
    }
    leaf_of_row_ = std::move(leaf_of_row);
  }

  Arena nodes_;
  std::vector<int> leaf_of_row_;
  int n_leaves_ = 0;
  std::uint64_t version_ = 0, released_ = 0;

 private:
  friend class ForestCheck;

  void set_parent_of_children(int node, int parent) {
    nodes_.parent[nodes_.left[node]] = nodes_.parent[nodes_.right[node]] = parent;
  }

  void make_room_for_positions() {
    if (static_cast<int>(position_.size()) < nodes_.n_slots()) position_.resize(nodes_.n_slots());
  }

  std::vector<int> trees_, position_;  // the roots, and where in that list each of them is
};

}  // namespace mixwood
