// A partition that is kept on a tree over the rows. A node is pure if all rows below it are in one
// cluster; the highest pure nodes are the pieces of that cluster. Every node has a label: its slot,
// or `mixed`. The nodes below a node are neighbours, so that a block which moves is relabelled by
// one fill of its own range; above it only what changes is touched.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include "mixwood/archive.hpp"
#include "mixwood/state/slots.hpp"
#include "mixwood/tree/shape.hpp"

namespace mixwood {

class TreePartition : public Slots {
 public:
  static constexpr int mixed = -1;

  TreePartition(std::span<const std::int32_t> labels, std::shared_ptr<const TreeShape> shape,
                std::shared_ptr<const RowGroups> groups = nullptr)
      : Slots(std::move(groups)), shape_(std::move(shape)) {
    assign(labels);
  }

  // Any labels in 0..n-1; slots are numbered in order of appearance. A weighted leaf whose rows
  // differ goes where most of them are.
  void assign(std::span<const std::int32_t> labels) {
    const std::size_t n = labels.size();
    for (const std::int32_t label : labels)
      if (label < 0 || static_cast<std::size_t>(label) >= n)
        throw std::invalid_argument("labels must lie in 0..n-1");
    std::vector<int> slots(labels.begin(), labels.end());
    make_leaves_whole(slots);
    clear_slots(shape_->n_rows(), shape_->size[0]);
    std::vector<int> slot_of_label(n, -1);
    for (int& slot : slots) {
      int& number = slot_of_label[slot];
      if (number < 0) number = open();
      slot = number;
    }
    label_nodes(slots);
    for (const int slot : active()) each_piece(slot, [&](int piece) { add_node(slot, piece); });
  }

  const TreeShape& shape() const { return *shape_; }

  // Continues with the same clusters on another tree over the same rows (and weighted leaves).
  // Before it has grown, only the rows' slots are kept: there are labels then, and no moves.
  void leave_tree() {
    between_ = slots_of_rows();
    shape_.reset();
    groups_of_node_.clear();
    for (auto* links : {&label_, &next_, &previous_}) *links = std::vector<int>();
  }
  void change_tree(std::shared_ptr<const TreeShape> shape) {
    const std::vector<int> slots = std::move(between_);
    shape_ = std::move(shape);
    label_nodes(slots);
  }

  // Where rows come in groups: how many of each are below a node; good until the next call. Those
  // of large nodes are kept from the first time that they are asked for.
  std::span<const GroupCount> groups_below(int node) {
    const std::span<const int> rows = shape_->rows_below(node);
    if (rows.size() < many_rows) return group_sum_(*groups(), rows);
    std::vector<GroupCount>& kept = groups_of_node_[node];
    if (kept.empty()) {
      const std::span<const GroupCount> counts = group_sum_(*groups(), rows);
      kept.assign(counts.begin(), counts.end());
    }
    return kept;
  }

  // The slot of all rows below, or `mixed`.
  int slot_of_node(int node) const { return label_[node]; }
  int slot_of(int row) const { return label_[shape_->leaf_of_row[row]]; }

  // The piece that a pure node is in.
  int piece_of(int node) const {
    const int slot = label_[node];
    for (int above = shape_->parent[node]; above != TreeShape::none && label_[above] == slot;
         above = shape_->parent[node])
      node = above;
    return node;
  }

  template <class Visit>
  void each_piece(int slot, Visit&& visit) const {
    for (int piece = first_piece_[slot]; piece != TreeShape::none; piece = next_[piece])
      visit(piece);
  }

  // Takes all rows below a pure node to another slot.
  void move_node(int node, int to) {
    const int from = label_[node];
    const int piece = piece_of(node);
    unlink(piece);
    for (int below = node; below != piece; below = shape_->parent[below]) {
      link(shape_->sibling(below));
      label_[shape_->parent[below]] = mixed;
    }
    std::fill(label_.begin() + node, label_.begin() + shape_->end(node), to);
    add_size(from, -shape_->size[node], -shape_->marks_of(node));
    add_size(to, shape_->size[node], shape_->marks_of(node));
    if (groups() != nullptr) move_groups(from, to, groups_below(node));
    while (shape_->parent[node] != TreeShape::none && label_[shape_->sibling(node)] == to) {
      unlink(shape_->sibling(node));
      node = shape_->parent[node];
      label_[node] = to;
    }
    link(node);
  }
  void move(int row, int to) { move_node(shape_->leaf_of_row[row], to); }

  // Renumbers the slots in list order, so that none is free.
  void compact() {
    if (n_slots() == n_clusters() && std::ranges::is_sorted(active())) return;
    const std::vector<int> number = renumber_slots();
    std::vector<int> first(n_slots(), TreeShape::none);
    for (std::size_t old = 0; old < number.size(); ++old)
      if (first_piece_[old] != TreeShape::none) first[number[old]] = first_piece_[old];
    first_piece_ = std::move(first);
    for (int& label : label_)
      if (label != mixed) label = number[label];
  }

  int open() {
    const int slot = Slots::open();
    if (slot == static_cast<int>(first_piece_.size())) first_piece_.push_back(TreeShape::none);
    return slot;
  }

  // Writes labels 0..K-1 in order of appearance.
  void write_labels(std::int32_t* labels) const { write_in_order(slots_of_rows(), labels); }

  // The tree comes first and on its own: see `plant`.
  template <class Archive>
  void archive(Archive& a) {
    archive_slots(a);
    std::vector<int> counts, pieces;  // of each listed cluster, in the order of its list
    if constexpr (!Archive::loading)
      for (const int slot : active()) {
        const std::size_t before = pieces.size();
        each_piece(slot, [&](int piece) { pieces.push_back(piece); });
        counts.push_back(static_cast<int>(pieces.size() - before));
      }
    a.list(counts, active().size());
    a.list(pieces, 1, static_cast<std::size_t>(shape_->n_nodes()));
    if constexpr (Archive::loading) {
      take_pieces(a, counts, pieces);
      check();
    }
  }

  // Another tree, without a look at the clusters: to be followed by loading them.
  void plant(std::shared_ptr<const TreeShape> shape) {
    shape_ = std::move(shape);
    groups_of_node_.clear();
  }

  // Debug: recounts everything and throws where an invariant does not hold.
  void check() const {
    const std::vector<int> slots = slots_of_rows();
    std::vector<double> counted(n_slots(), 0);
    std::vector<int> marked(n_slots(), 0);
    for (int node = 0; node < shape_->n_nodes(); ++node)
      if (shape_->is_leaf(node)) {
        const int slot = slots[shape_->rows[shape_->first[node]]];
        counted.at(slot) += shape_->size[node];
        marked.at(slot) += shape_->marks_of(node);
      }
    check_slots(counted, marked);
    check_groups(slots);
    for (int node = 0; node < shape_->n_nodes(); ++node) {
      const auto rows = shape_->rows_below(node);
      const int slot = slots[rows[0]];
      const bool pure = std::ranges::all_of(rows, [&](int row) { return slots[row] == slot; });
      if (slot_of_node(node) != (pure ? slot : mixed))
        throw std::logic_error("tree partition: a node's label is wrong");
    }
    for (const int slot : active()) each_piece(slot, [&](int piece) { check_piece(piece, slot); });
  }

 private:
  void check_piece(int piece, int slot) const {
    const int above = shape_->parent[piece];
    if (label_[piece] != slot || (above != TreeShape::none && slot_of_node(above) != mixed))
      throw std::logic_error("tree partition: a piece is not the highest pure node");
  }

  void add_node(int slot, int node) {
    add_size(slot, shape_->size[node], shape_->marks_of(node));
    if (groups() != nullptr) add_groups(slot, shape_->rows_below(node));
  }

  // Labels and lists from pieces that may be anything.
  void take_pieces(const Reader& a, const std::vector<int>& counts,
                   const std::vector<int>& pieces) {
    const int nodes = shape_->n_nodes();
    label_.assign(nodes, mixed);
    next_.assign(nodes, TreeShape::none);
    previous_.assign(nodes, TreeShape::none);
    first_piece_.assign(n_slots(), TreeShape::none);
    std::size_t end = 0;
    double points = 0;
    for (std::size_t k = 0; k < counts.size(); ++k) {
      const std::size_t start = end;
      a.require(counts[k] >= 1 && static_cast<std::size_t>(counts[k]) <= pieces.size() - start,
                "a cluster has no piece");
      end += static_cast<std::size_t>(counts[k]);
      for (std::size_t p = end; p-- > start;) {  // a piece is put in front of the others
        const int piece = pieces[p];
        a.require(piece >= 0 && piece < nodes, "a piece is no node");
        const auto first = label_.begin() + piece, last = label_.begin() + shape_->end(piece);
        a.require(std::all_of(first, last, [](int label) { return label == mixed; }),
                  "two pieces overlap");
        std::fill(first, last, active()[k]);
        link(piece);
        add_node(active()[k], piece);
        points += shape_->size[piece];
      }
    }
    a.require(end == pieces.size() && points == n_points(), "the pieces are not all rows");
  }

  void make_leaves_whole(std::vector<int>& slots) const {
    std::vector<int> counts(slots.size(), 0);
    for (int node = 0; node < shape_->n_nodes(); ++node) {
      const auto rows = shape_->rows_below(node);
      if (!shape_->is_leaf(node) || rows.size() == 1) continue;
      int best = slots[rows[0]];
      for (const int row : rows)
        if (++counts[slots[row]] > counts[best]) best = slots[row];
      for (const int row : rows) counts[slots[row]] = 0;
      for (const int row : rows) slots[row] = best;
    }
  }

  std::vector<int> slots_of_rows() const {
    if (!shape_) return between_;
    std::vector<int> slots(shape_->n_rows());
    for (const int slot : active())
      each_piece(slot, [&](int piece) {
        for (const int row : shape_->rows_below(piece)) slots[row] = slot;
      });
    return slots;
  }

  // Children come after their parents: backwards finds them first.
  void label_nodes(const std::vector<int>& slots) {
    const int nodes = shape_->n_nodes();
    label_.resize(nodes);
    next_.resize(nodes);
    previous_.resize(nodes);
    for (int node = nodes - 1; node >= 0; --node) {
      if (shape_->is_leaf(node)) {
        label_[node] = slots[shape_->rows[shape_->first[node]]];
      } else {
        const int left = label_[shape_->left(node)];
        label_[node] = left == label_[shape_->right(node)] ? left : mixed;
      }
    }
    first_piece_.assign(n_slots(), TreeShape::none);
    for (int node = 0; node < nodes;) {
      if (label_[node] == mixed) {
        ++node;
      } else {
        link(node);
        node = shape_->end(node);
      }
    }
  }

  void link(int piece) {
    int& first = first_piece_[label_[piece]];
    next_[piece] = first;
    previous_[piece] = TreeShape::none;
    if (first != TreeShape::none) previous_[first] = piece;
    first = piece;
  }

  void unlink(int piece) {
    const int before = previous_[piece], after = next_[piece];
    if (before != TreeShape::none)
      next_[before] = after;
    else
      first_piece_[label_[piece]] = after;
    if (after != TreeShape::none) previous_[after] = before;
  }

  static constexpr std::size_t many_rows = 64;

  std::shared_ptr<const TreeShape> shape_;
  GroupSum group_sum_;
  std::unordered_map<int, std::vector<GroupCount>> groups_of_node_;
  std::vector<int> between_;  // slots of the rows, while there is no tree
  std::vector<int> label_;
  std::vector<int> next_, previous_;  // pieces of a slot are a list
  std::vector<int> first_piece_;      // of each slot
};

}  // namespace mixwood
