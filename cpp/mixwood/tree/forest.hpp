// Trees over the rows, with what model.md calls potentials at every node:
//
//   phi(h) = kappa(size, u) P(X)              all rows below in one cluster
//   phi(t) = phi(h) + phi(t_l) phi(t_r)       (a leaf: phi(t) = phi(h))
//   d(l, r) = phi(t_l) phi(t_r) / phi(h_{l+r})
//
// all in logs. How nodes hang together is in forest_topology.hpp, what is known of their rows in
// node_statistics.hpp; how trees are grown, in ibhc.hpp and bhc.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "mixwood/family/erased.hpp"
#include "mixwood/prior/prior.hpp"
#include "mixwood/tree/arena.hpp"
#include "mixwood/tree/kappa_table.hpp"
#include "mixwood/tree/node_statistics.hpp"

namespace mixwood {

inline double log_sum(double a, double b) {
  const double high = std::max(a, b);
  return high + std::log1p(std::exp(std::min(a, b) - high));
}

class Forest : public NodeStatistics {
 public:
  Forest(const std::shared_ptr<const ErasedFamily>& family, Prior prior)
      : Forest(family, prior, family->n_rows()) {}

  // An empty one for some of the rows, whose trees another will take over. It stores all
  // statistics, and does not know which leaf a row is in: that would take a place for each row of
  // the family.
  static Forest part_of(const Forest& whole) { return Forest(whole.family_, whole.prior_, 0); }

  const Prior& prior() const { return prior_; }

  // The nodes, without all else: the forest is at its end.
  Arena take_nodes() && {
    drop_statistics();
    return std::move(nodes_);
  }

  // Makes room for so many more rows at once, whose trees are grown in parts: hardly anybody asks
  // for the statistics of small nodes of the whole.
  void expect(std::size_t rows) {
    if (knows_rows()) store_from(smallest_stored_of_whole);
    nodes_.reserve(2 * rows);
    reserve_statistics(rows);
  }

  int make_leaf(int row) {
    const int node = nodes_.allocate(row);
    nodes_.size[node] = row_size(*family_, row);
    nodes_.log_marginal[node] = family_->log_alone(row);
    nodes_.log_apart[node] = row_log_apart(*family_, row);
    weigh_row(node, row);
    refresh(node);
    if (knows_rows()) leaf_of_row_[row] = node;
    ++n_leaves_;
    return node;
  }

  // A weighted leaf of these rows.
  int make_block(std::span<const int> rows) {
    if (rows.size() == 1) return make_leaf(rows[0]);
    const int node = nodes_.allocate(Arena::weighted);
    nodes_.log_marginal[node] = gather_rows(node, rows);
    for (const int row : rows) leaf_of_row_[row] = node;
    refresh(node);
    ++n_leaves_;
    return node;
  }

  // A new node above two roots of trees, whose union has this log marginal.
  int join(int left, int right, double log_marginal) {
    const int node = allocate_inner(left, right);
    nodes_.log_marginal[node] = log_marginal;
    nodes_.log_apart[node] = nodes_.log_apart[left] + nodes_.log_apart[right];
    weigh_joint(node, left, right);
    store_if_large(node);
    refresh(node);
    return node;
  }

  // Takes away an inner node; its children are left without a parent.
  void dissolve(int node) {
    ++released_;
    let_go(node);
    drop_statistic(node);
    nodes_.release(node);
  }

  // A copy of an inner node takes its place; the node itself is kept as it is.
  int put_copy_in_place(int node) {
    const int copy = nodes_.allocate(Arena::inner);
    for (auto* links : {&nodes_.left, &nodes_.right}) (*links)[copy] = (*links)[node];
    nodes_.size[copy] = nodes_.size[node];
    for (auto* logs : {&nodes_.log_marginal, &nodes_.log_apart, &nodes_.log_one, &nodes_.log_tree})
      (*logs)[copy] = (*logs)[node];
    weigh_copy(copy, node);
    store_copy(copy, node);
    adopt(copy);
    put_in_place(nodes_.parent[node], node, copy);
    return copy;
  }

  // Copies a tree of single rows from a part; returns its root, which is not among the trees yet.
  int take_over(const Forest& part, int root) {
    const Arena& there = part.nodes();
    int first = Arena::none;
    std::vector<std::pair<int, int>> stack{{root, Arena::none}};  // node there, parent here
    while (!stack.empty()) {
      const auto [node, above] = stack.back();
      stack.pop_back();
      const int copy = copy_of(part, node);
      nodes_.parent[copy] = above;
      if (above == Arena::none)
        first = copy;
      else
        (nodes_.left[above] == Arena::none ? nodes_.left : nodes_.right)[above] = copy;
      if (there.is_leaf(node)) continue;
      stack.push_back({there.right[node], copy});
      stack.push_back({there.left[node], copy});
    }
    return first;
  }

  // log d(a, b) given the log marginal of the union.
  double log_dissimilarity(int a, int b, double log_marginal) {
    return nodes_.log_tree[a] + nodes_.log_tree[b] - log_kappa(nodes_.size[a] + nodes_.size[b]) -
           log_marginal;
  }
  double log_dissimilarity(int a, int b) {
    return log_dissimilarity(a, b, log_marginal_of_union(a, b));
  }
  // log d of an inner node's own children.
  double log_dissimilarity(int node) const {
    return nodes_.log_tree[nodes_.left[node]] + nodes_.log_tree[nodes_.right[node]] -
           nodes_.log_one[node];
  }

  // Hangs `item` beside `node`; `path` holds the inner nodes from the root down to above `node`
  // with the log marginals that they will have. Returns the node that joins the two.
  struct Step {
    int node;
    double log_marginal;
  };
  int hang_beside(int node, int item, double log_marginal, std::span<const Step> path) {
    ++version_;
    const int above = nodes_.parent[node];
    const int joint = join(node, item, log_marginal);
    put_in_place(above, node, joint);
    for (const Step& step : path) {
      nodes_.size[step.node] += nodes_.size[item];
      nodes_.log_marginal[step.node] = step.log_marginal;
      nodes_.log_apart[step.node] += nodes_.log_apart[item];
      add_weight(step.node, item);
      add_statistic(step.node, item);
    }
    for (std::size_t k = path.size(); k-- > 0;) refresh(path[k].node);
    return joint;
  }

  // Potentials of one node from its children's.
  void refresh(int node) {
    nodes_.log_one[node] = log_kappa(nodes_.size[node]) + nodes_.log_marginal[node];
    nodes_.log_tree[node] = nodes_.log_one[node];
    if (!nodes_.is_leaf(node))
      nodes_.log_tree[node] =
          log_sum(nodes_.log_one[node],
                  nodes_.log_tree[nodes_.left[node]] + nodes_.log_tree[nodes_.right[node]]);
  }

  // New values of u and the parameters: every potential is computed again.
  void set_parameters(PriorValues values) {
    prior_.set(values);
    refresh_all();
  }

  // The family's base measure has changed: every marginal and potential is computed again.
  void refresh_marginals() {
    for (const int root : trees())
      for (const int node : nodes_.bottom_up(root)) {
        const int row = nodes_.row[node];
        if (row >= 0) {
          nodes_.log_marginal[node] = family_->log_alone(row);
          nodes_.log_apart[node] = row_log_apart(*family_, row);
        } else {
          nodes_.log_marginal[node] = family_->log_marginal(statistic(node));
          nodes_.log_apart[node] =
              nodes_.log_apart[nodes_.left[node]] + nodes_.log_apart[nodes_.right[node]];
        }
        refresh(node);
      }
  }

  void refresh_all() {
    for (const int root : trees())
      for (const int node : nodes_.bottom_up(root)) refresh(node);
  }

  // Turns the subtree into one leaf that keeps only its statistic.
  void collapse(int node) {
    ++released_;
    store_now(node);
    for (const int below : nodes_.bottom_up(node)) {
      if (nodes_.is_leaf(below)) --n_leaves_;
      if (below == node) continue;
      drop_statistic(below);
      nodes_.release(below);
    }
    ++n_leaves_;
    nodes_.left[node] = nodes_.right[node] = Arena::none;
    nodes_.row[node] = Arena::weighted;
    refresh(node);
  }

  // Continues over other data: the leaf of old row i is row rows[i] there; none: not needed.
  void rebind(std::shared_ptr<const ErasedFamily> family, std::span<const std::int64_t> rows) {
    renumber_rows(rows, family->n_rows());
    family_ = std::move(family);
  }

 private:
  static constexpr int smallest_stored_of_whole = 16;

  Forest(const std::shared_ptr<const ErasedFamily>& family, Prior prior, int known_rows)
      : NodeStatistics(family, known_rows), prior_(prior) {}

  // A node without links that is as one of a part.
  int copy_of(const Forest& part, int node) {
    const Arena& there = part.nodes();
    const int copy = nodes_.allocate(there.row[node]);
    nodes_.size[copy] = there.size[node];
    nodes_.log_marginal[copy] = there.log_marginal[node];
    nodes_.log_apart[copy] = there.log_apart[node];
    nodes_.log_one[copy] = there.log_one[node];
    nodes_.log_tree[copy] = there.log_tree[node];
    copy_statistic(copy, part, node);
    if (there.row[node] < 0) return copy;
    if (knows_rows()) leaf_of_row_[there.row[node]] = copy;
    ++n_leaves_;
    return copy;
  }

  double log_kappa(double size) { return kappas_(prior_, size); }

  Prior prior_;
  KappaTable kappas_{1 << 16};  // few nodes are larger
};

}  // namespace mixwood
