// Trees over the rows, with what model.md calls potentials at every node:
//
//   phi(h) = kappa(size, u) P(X)              all rows below in one cluster
//   phi(t) = phi(h) + phi(t_l) phi(t_r)       (a leaf: phi(t) = phi(h))
//   d(l, r) = phi(t_l) phi(t_r) / phi(h_{l+r})
//
// all in logs. This file knows nodes and their numbers; how trees are grown is in ibhc.hpp and
// bhc.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "mixwood/family/family.hpp"
#include "mixwood/prior/prior.hpp"
#include "mixwood/tree/arena.hpp"
#include "mixwood/tree/kappa_table.hpp"
#include "mixwood/tree/stored.hpp"

namespace mixwood {

inline double log_sum(double a, double b) {
  const double high = std::max(a, b);
  return high + std::log1p(std::exp(std::min(a, b) - high));
}

template <Family F>
class Forest {
 public:
  Forest(std::shared_ptr<const F> family, Prior prior)
      : family_(std::move(family)),
        prior_(prior),
        leaf_of_row_(family_->n_rows(), Arena::none),
        smallest_stored_(smallest_stored(family_->statistic_size(), family_->n_rows())) {}

  const F& family() const { return *family_; }
  const Prior& prior() const { return prior_; }
  const Arena& nodes() const { return nodes_; }
  const std::vector<int>& trees() const { return trees_; }
  const std::vector<int>& leaf_of_row() const { return leaf_of_row_; }
  int n_leaves() const { return n_leaves_; }
  // Changes whenever a row goes in, or a tree comes or goes.
  std::uint64_t version() const { return version_; }

  int make_leaf(int row) {
    const int node = nodes_.allocate(row);
    nodes_.size[node] = row_size(*family_, row);
    nodes_.log_marginal[node] = family_->log_alone(row);
    nodes_.log_apart[node] = row_log_apart(*family_, row);
    if constexpr (has_row_totals<F>) set_weight(node, std::max(1.0, family_->row_total(row)));
    refresh(node);
    leaf_of_row_[row] = node;
    ++n_leaves_;
    return node;
  }

  // A weighted leaf of these rows.
  int make_block(std::span<const int> rows) {
    if (rows.size() == 1) return make_leaf(rows[0]);
    const int node = nodes_.allocate(Arena::weighted);
    std::fill(union_.begin(), union_.end(), 0.0);
    nodes_.size[node] = 0;
    nodes_.log_apart[node] = 0;
    for (const int row : rows) {
      family_->observe(union_.data(), row);
      nodes_.size[node] += row_size(*family_, row);
      nodes_.log_apart[node] += row_log_apart(*family_, row);
      leaf_of_row_[row] = node;
    }
    if constexpr (has_row_totals<F>) {
      double weight = 0;
      for (const int row : rows) weight += std::max(1.0, family_->row_total(row));
      set_weight(node, weight);
    }
    store(node, union_.data());
    nodes_.log_marginal[node] = family_->log_marginal(union_.data());
    refresh(node);
    ++n_leaves_;
    return node;
  }

  // A new node above two roots of trees, whose union has this log marginal.
  int join(int left, int right, double log_marginal) {
    const int node = nodes_.allocate(Arena::inner);
    nodes_.left[node] = left;
    nodes_.right[node] = right;
    nodes_.parent[left] = nodes_.parent[right] = node;
    nodes_.size[node] = nodes_.size[left] + nodes_.size[right];
    nodes_.log_marginal[node] = log_marginal;
    nodes_.log_apart[node] = nodes_.log_apart[left] + nodes_.log_apart[right];
    if constexpr (has_row_totals<F>) set_weight(node, weights_[left] + weights_[right]);
    store_if_large(node);
    refresh(node);
    return node;
  }

  // Takes away an inner node; its children are left without a parent.
  void dissolve(int node) {
    let_go(node);
    drop_statistic(node);
    nodes_.release(node);
  }

  // For proposals that may be taken back. The children of an inner node are left without a parent,
  // while the node itself is kept; and they are its own again.
  void let_go(int node) { set_parent_of_children(node, Arena::none); }
  void adopt(int node) { set_parent_of_children(node, node); }

  // A copy of an inner node takes its place; the node itself is kept as it is.
  int put_copy_in_place(int node) {
    const int copy = nodes_.allocate(Arena::inner);
    for (auto* links : {&nodes_.left, &nodes_.right, &nodes_.size}) (*links)[copy] = (*links)[node];
    for (auto* logs : {&nodes_.log_marginal, &nodes_.log_apart, &nodes_.log_one, &nodes_.log_tree})
      (*logs)[copy] = (*logs)[node];
    if constexpr (has_row_totals<F>) set_weight(copy, weights_[node]);
    if (nodes_.place[node] != Arena::none) {
      copy_into(union_, stored(node));
      store(copy, union_.data());
    }
    adopt(copy);
    if (nodes_.parent[node] == Arena::none)
      replace_tree(node, copy);
    else
      nodes_.replace_child(nodes_.parent[node], node, copy);
    return copy;
  }

  // The statistic of a node's rows, until the forest is asked for something else.
  const double* statistic(int node) { return statistic(node, first_); }

  // Where the statistic is stored, or null where it is made from the rows.
  double* stored_statistic(int node) {
    return nodes_.place[node] == Arena::none ? nullptr : stored(node);
  }

  void add_tree(int root) {
    ++version_;
    if (static_cast<int>(position_.size()) < nodes_.n_slots()) position_.resize(nodes_.n_slots());
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
    if (static_cast<int>(position_.size()) < nodes_.n_slots()) position_.resize(nodes_.n_slots());
    trees_[position_[root]] = other;
    position_[other] = position_[root];
  }

  // A node to be compared with many others: what is the same every time, made once.
  struct Item {
    int node = Arena::none;
    int row = Arena::inner;         // as in the arena
    std::vector<double> statistic;  // where it is not a single row
    typename SparseOf<F>::type sparse;
  };
  void load(int node, Item& item) {
    item.node = node;
    item.row = nodes_.row[node];
    if (item.row >= 0) return;
    const double* s = statistic(node, first_);
    item.statistic.assign(s, s + family_->statistic_size());
    if constexpr (has_sparse_statistics<F>) family_->gather(s, item.sparse);
  }

  // log P(X_a and X_b together).
  double log_marginal_of_union(int a, int b) {
    if (nodes_.row[b] < 0) std::swap(a, b);
    load(b, pair_);
    return log_marginal_of_union(a, pair_);
  }
  double log_marginal_of_union(int node, const Item& item) {
    if constexpr (has_log_predictive<F>)
      if (nodes_.row[node] >= 0 && item.row < 0)
        return nodes_.log_marginal[item.node] +
               family_->log_predictive(item.statistic.data(), nodes_.row[node]);
    return log_marginal_of_union(statistic(node, first_), nodes_.log_marginal[node], item);
  }
  // Of any rows with this statistic and log marginal, and the item.
  double log_marginal_of_union(const double* s, double log_marginal, const Item& item) {
    if constexpr (has_log_predictive<F>)
      if (item.row >= 0) return log_marginal + family_->log_predictive(s, item.row);
    if constexpr (has_sparse_statistics<F>)
      if (item.row < 0) return log_marginal + family_->log_predictive(s, item.sparse);
    copy_into(union_, s);
    include(union_.data(), item);
    return family_->log_marginal(union_.data());
  }
  // s becomes that of the item's rows, too.
  void include(double* s, const Item& item) const {
    if (item.row >= 0)
      family_->observe(s, item.row);
    else
      family_->merge(s, item.statistic.data());
  }

  void prefetch_statistic(int node) {
    if (nodes_.place[node] == Arena::none) return;
    __builtin_prefetch(stored(node));
    __builtin_prefetch(stored(node) + 8);
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
    if (above == Arena::none)
      replace_tree(node, joint);
    else
      nodes_.replace_child(above, node, joint);
    for (const Step& step : path) {
      nodes_.size[step.node] += nodes_.size[item];
      nodes_.log_marginal[step.node] = step.log_marginal;
      nodes_.log_apart[step.node] += nodes_.log_apart[item];
      if constexpr (has_row_totals<F>) weights_[step.node] += weights_[item];
      if (nodes_.place[step.node] == Arena::none)
        store_if_large(step.node);
      else if (nodes_.row[item] >= 0)
        family_->observe(stored(step.node), nodes_.row[item]);
      else
        family_->merge(stored(step.node), statistic(item, second_));
    }
    for (std::size_t k = path.size(); k-- > 0;) refresh(path[k].node);
    return joint;
  }

  // How much there is below a node: points, or counts where rows have many or few of them.
  double weight(int node) const {
    if constexpr (has_row_totals<F>)
      return weights_[node];
    else
      return nodes_.size[node];
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

  // New values of u and the parameters: every potential anew.
  void set_parameters(PriorValues values) {
    prior_.set(values);
    refresh_all();
  }

  void refresh_all() {
    for (const int root : trees_)
      for (const int node : nodes_.bottom_up(root)) refresh(node);
  }

  // Turns the subtree into one leaf that keeps only its statistic.
  void collapse(int node) {
    if (nodes_.place[node] == Arena::none) {
      copy_into(union_, statistic(node, first_));
      store(node, union_.data());
    }
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

  // Replaces leaf numbers of rows by `now[leaf]` where that is not `none`.
  void rename_leaves(const std::vector<int>& now) {
    for (int& leaf : leaf_of_row_)
      if (leaf != Arena::none && now[leaf] != Arena::none) leaf = now[leaf];
  }

  // Goes on over other data: the leaf of old row i is row rows[i] there; none: not needed.
  void rebind(std::shared_ptr<const F> family, std::span<const std::int64_t> rows) {
    std::vector<int> leaf_of_row(family->n_rows(), Arena::none);
    for (std::size_t i = 0; i < leaf_of_row_.size(); ++i) {
      const int leaf = leaf_of_row_[i];
      if (leaf == Arena::none) continue;
      const bool alone = nodes_.row[leaf] >= 0;
      const bool kept = rows[i] >= 0 && rows[i] < family->n_rows();
      if (alone && !kept) throw std::invalid_argument("a row that is still a leaf is missing");
    }
    for (std::size_t i = 0; i < leaf_of_row_.size(); ++i) {
      const int leaf = leaf_of_row_[i];
      if (leaf == Arena::none || rows[i] < 0) continue;
      leaf_of_row[rows[i]] = leaf;
      if (nodes_.row[leaf] >= 0) nodes_.row[leaf] = static_cast<int>(rows[i]);
    }
    leaf_of_row_ = std::move(leaf_of_row);
    family_ = std::move(family);
  }

  // Debug: recomputes sizes, statistics and potentials of every node and throws where they differ.
  void check(double tolerance = 1e-6) {
    int live = 0, leaves = 0;
    std::vector<double> fresh(family_->statistic_size());
    for (std::size_t t = 0; t < trees_.size(); ++t) {
      if (position_[trees_[t]] != static_cast<int>(t) || nodes_.parent[trees_[t]] != Arena::none)
        throw std::logic_error("forest: a tree is out of place or has a parent");
      for (const int node : nodes_.bottom_up(trees_[t])) {
        ++live;
        leaves += nodes_.is_leaf(node);
        check_node(node, fresh, tolerance);
      }
    }
    if (live != nodes_.n_live()) throw std::logic_error("forest: nodes outside of all trees");
    if (leaves != n_leaves_) throw std::logic_error("forest: the count of leaves is wrong");
    if (live > 2 * leaves) throw std::logic_error("forest: too many nodes");
  }

 private:
  double log_kappa(int size) { return kappas_(prior_, size); }

  void set_parent_of_children(int node, int parent) {
    nodes_.parent[nodes_.left[node]] = nodes_.parent[nodes_.right[node]] = parent;
  }

  void set_weight(int node, double weight) {
    weights_.resize(nodes_.n_slots());
    weights_[node] = weight;
  }

  double* stored(int node) {
    return statistics_.data() +
           static_cast<std::size_t>(nodes_.place[node]) * family_->statistic_size();
  }

  // The node's statistic: where it is stored, or made from its leaves in `scratch`.
  const double* statistic(int node, std::vector<double>& scratch) {
    if (nodes_.place[node] != Arena::none) return stored(node);
    scratch.assign(family_->statistic_size(), 0.0);
    if (nodes_.row[node] >= 0) {
      family_->observe(scratch.data(), nodes_.row[node]);
      return scratch.data();
    }
    nodes_.each_leaf(node, [&](int leaf) {
      if (nodes_.row[leaf] >= 0)
        family_->observe(scratch.data(), nodes_.row[leaf]);
      else
        family_->merge(scratch.data(), stored(leaf));
    });
    return scratch.data();
  }

  static void copy_into(std::vector<double>& target, const double* s) {
    target.assign(s, s + target.size());
  }

  void store_if_large(int node) {
    if (nodes_.size[node] < smallest_stored_) return;
    if (nodes_.is_leaf(node)) return;
    const double* s = statistic(nodes_.left[node], first_);
    copy_into(union_, s);
    family_->merge(union_.data(), statistic(nodes_.right[node], second_));
    store(node, union_.data());
  }

  void store(int node, const double* s) {
    const std::size_t size = family_->statistic_size();
    if (free_places_.empty()) {
      nodes_.place[node] = static_cast<int>(statistics_.size() / size);
      statistics_.resize(statistics_.size() + size);
    } else {
      nodes_.place[node] = free_places_.back();
      free_places_.pop_back();
    }
    std::copy_n(s, size, stored(node));
  }

  void drop_statistic(int node) {
    if (nodes_.place[node] == Arena::none) return;
    free_places_.push_back(nodes_.place[node]);
    nodes_.place[node] = Arena::none;
  }

  void check_node(int node, std::vector<double>& scratch, double tolerance) {
    auto differs = [tolerance](double kept, double fresh) {
      return !(std::abs(kept - fresh) <= tolerance * (1 + std::abs(fresh)));
    };
    const std::string name = "forest: node " + std::to_string(node);
    if (nodes_.row[node] >= 0 && leaf_of_row_[nodes_.row[node]] != node)
      throw std::logic_error(name + " is not the leaf of its row");
    std::fill(scratch.begin(), scratch.end(), 0.0);
    int size = 0;
    double apart = 0, below = 0;
    nodes_.each_leaf(node, [&](int leaf) {
      size += nodes_.size[leaf];
      apart += nodes_.log_apart[leaf];
      below += weight(leaf);
      if (nodes_.row[leaf] >= 0)
        family_->observe(scratch.data(), nodes_.row[leaf]);
      else
        family_->merge(scratch.data(), stored(leaf));
    });
    const double fresh = family_->log_marginal(scratch.data());
    if (size != nodes_.size[node] || differs(weight(node), below))
      throw std::logic_error(name + " has a wrong size");
    if (differs(nodes_.log_apart[node], apart) ||
        (nodes_.row[node] >= 0 &&
         nodes_.log_apart[node] != row_log_apart(*family_, nodes_.row[node])))
      throw std::logic_error(name + " has a wrong sum of log P(x)");
    if (differs(nodes_.log_marginal[node], fresh))
      throw std::logic_error(name + " has a wrong marginal");
    if (nodes_.place[node] != Arena::none && differs(family_->log_marginal(stored(node)), fresh))
      throw std::logic_error(name + " has a wrong statistic");
    const double one = prior_.log_kappa(size) + fresh;
    double tree = one;
    if (!nodes_.is_leaf(node)) {
      for (const int child : {nodes_.left[node], nodes_.right[node]})
        if (nodes_.parent[child] != node) throw std::logic_error(name + " has a stray child");
      tree = log_sum(one, nodes_.log_tree[nodes_.left[node]] + nodes_.log_tree[nodes_.right[node]]);
    }
    if (differs(nodes_.log_one[node], one) || differs(nodes_.log_tree[node], tree))
      throw std::logic_error(name + " has wrong potentials");
  }

  std::shared_ptr<const F> family_;
  Prior prior_;
  Arena nodes_;
  std::vector<int> trees_, position_, leaf_of_row_;
  int smallest_stored_;
  int n_leaves_ = 0;
  std::uint64_t version_ = 0;
  Item pair_;
  KappaTable kappas_{1 << 16};  // few nodes are larger
  std::vector<double> statistics_, weights_;
  std::vector<int> free_places_;
  std::vector<double> first_ = std::vector<double>(family_->statistic_size());
  std::vector<double> second_ = std::vector<double>(family_->statistic_size());
  std::vector<double> union_ = std::vector<double>(family_->statistic_size());
};

}  // namespace mixwood
