// Nodes of binary trees in parallel arrays with a free list: never one heap object per node.
#pragma once

#include <cstdint>
#include <vector>

namespace mixwood {

class Arena {
 public:
  static constexpr int none = -1;
  // What `row` says of a node that is not a leaf of one row.
  static constexpr int inner = -1;
  static constexpr int weighted = -2;

  std::vector<int> left, right, parent;
  std::vector<int> row;              // of a leaf of one row; else `inner` or `weighted`
  std::vector<int> place;            // of the statistic in the block; none where it is not stored
  std::vector<double> size;          // points below
  std::vector<double> log_marginal;  // log P(X)
  std::vector<double> log_apart;     // the sum of log P(x) over the rows
  std::vector<double> log_one;       // log phi(h): all of it one cluster
  std::vector<double> log_tree;      // log phi(t)

  int allocate(int the_row) {
    int node;
    if (free_.empty()) {
      node = static_cast<int>(left.size());
      for (auto* values : {&left, &right, &parent, &row, &place}) values->push_back(none);
      for (auto* values : {&size, &log_marginal, &log_apart, &log_one, &log_tree})
        values->push_back(0);
    } else {
      node = free_.back();
      free_.pop_back();
    }
    left[node] = right[node] = parent[node] = place[node] = none;
    row[node] = the_row;
    ++live_;
    return node;
  }

  // Makes room for so many more nodes at once.
  void reserve(std::size_t more) {
    for (auto* values : {&left, &right, &parent, &row, &place})
      values->reserve(values->size() + more);
    for (auto* values : {&size, &log_marginal, &log_apart, &log_one, &log_tree})
      values->reserve(values->size() + more);
  }

  void release(int node) {
    size[node] = 0;
    free_.push_back(node);
    --live_;
  }

  bool is_leaf(int node) const { return left[node] == none; }
  int n_slots() const { return static_cast<int>(left.size()); }
  int n_live() const { return live_; }
  bool is_live(int node) const { return size[node] > 0; }

  int sibling(int node) const {
    const int above = parent[node];
    return left[above] == node ? right[above] : left[above];
  }

  // Puts `other` where `node` hangs.
  void replace_child(int above, int node, int other) {
    (left[above] == node ? left[above] : right[above]) = other;
    parent[other] = above;
  }

  // Asks the memory for what going down to the node will read: in large trees that is what takes
  // the time, so all of it is asked for at once.
  void prefetch(int node) const {
    for (const auto* values : {&left, &right, &row, &place})
      __builtin_prefetch(values->data() + node);
    for (const auto* values : {&size, &log_marginal, &log_apart, &log_one, &log_tree})
      __builtin_prefetch(values->data() + node);
  }

  // Calls visit(leaf) for every leaf below, left to right, without recursion: trees can be deep.
  template <class Visit>
  void each_leaf(int node, Visit&& visit) const {
    std::vector<int> stack{node};
    while (!stack.empty()) {
      const int next = stack.back();
      stack.pop_back();
      if (is_leaf(next)) {
        visit(next);
      } else {
        stack.push_back(right[next]);
        stack.push_back(left[next]);
      }
    }
  }

  // The nodes below and `node` itself, children before their parent.
  std::vector<int> bottom_up(int node) const {
    std::vector<int> order{node};
    for (std::size_t k = 0; k < order.size(); ++k)
      if (!is_leaf(order[k])) {
        order.push_back(left[order[k]]);
        order.push_back(right[order[k]]);
      }
    return {order.rbegin(), order.rend()};
  }

 private:
  std::vector<int> free_;
  int live_ = 0;
};

}  // namespace mixwood
