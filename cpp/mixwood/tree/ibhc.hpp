// Incremental Bayesian hierarchical clustering: one item after the other goes into the nearest
// tree.
//
// 1. The tree of smallest d to the item takes it, if d <= 1; else it is a tree of its own.
// 2. Its place is found going down. Published rule: of d(l, r), d(l, item), d(r, item) the smallest
//    decides between the top, the left and the right. Inside a homogeneous cluster d(l, r) of two
//    large halves is always the smallest, which grows caterpillars. The balanced rule keeps that
//    comparison for nodes with d > 1 and otherwise goes to the child that the item fits better.
// 3. Where d exceeds 1 on the way up, the tree is cut and the pieces are put in again.
//
// Step 1 looks at every tree, documents at all of them at once, or at those that an index of the
// trees finds.
//
// It ends: by the balanced rule all items may cause a quarter as many cuts as they are, one of them
// at least one and at most `most_cuts`; by the published rule each may cause that many. Where the
// rows are hardly better seen as two clusters than as one, pieces go together again as they were,
// and would be cut again and again. At the last cut what hung beside the way up is joined again, as
// far as it is judged one cluster, and pieces that are still to be put in go on top of their
// nearest tree. That leaves every node with the d it had, and gives the new root the d <= 1 by
// which that tree was chosen: nothing is left to cut.
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "mixwood/interrupt.hpp"
#include "mixwood/tree/bhc.hpp"
#include "mixwood/tree/count_table.hpp"
#include "mixwood/tree/forest.hpp"
#include "mixwood/tree/index.hpp"
#include "mixwood/tree/node_factors.hpp"

namespace mixwood {

enum class DescentRule { balanced, paper };

// The balanced rule grows trees near u = 0, where near points like to join; they are judged at
// another u.
inline constexpr double growth_log_u = -5;

// `compared` answers as `index` does and counts how often `exact` would have answered otherwise.
enum class TreeSearch { index, exact, compared };

class IncrementalClustering {
 public:
  IncrementalClustering(Forest& forest, DescentRule rule, TreeSearch search = TreeSearch::index)
      : forest_(forest),
        rule_(rule),
        search_(search),
        factors_(forest),
        index_(forest, factors_),
        counts_of_trees_(forest) {}

  void insert(int item) {
    Interrupt::of_thread().tick();
    factors_.begin();
    waiting_.assign(1, item);
    const int most = rule_ == DescentRule::balanced
                         ? std::clamp(static_cast<int>(cuts_left_ += cuts_per_item), 1, most_cuts)
                         : most_cuts;
    int cuts = 0;
    for (std::size_t next = 0; next < waiting_.size(); ++next) {
      if (cuts == most)
        hang_on_top(waiting_[next]);
      else if (const int joint = put(waiting_[next]); joint != Arena::none)
        cuts += cut_above(joint, waiting_, cuts + 1 == most);
    }
    cuts_left_ -= cuts;
    factors_.end();
  }

  // The paper's bad start: on top of the nearest tree, wherever that is, and never cut.
  void insert_on_top(int item) {
    Interrupt::of_thread().tick();
    factors_.begin();
    hang_on_top(item);
    factors_.end();
  }

  // Joins a tree to its nearest, if log d is at most that; says whether.
  bool join_nearest(int root, double largest) {
    Interrupt::of_thread().tick(0);
    factors_.begin();
    remove_tree(root);
    const Nearest nearest = nearest_tree(root);
    if (nearest.log_dissimilarity > largest) {
      add_tree(root);
      factors_.end();
      return false;
    }
    if (nearest.root == Arena::none)
      throw std::runtime_error(
          "X has rows so far apart that the density of all of them together is not a finite "
          "number; rescale X or choose a less extreme prior");
    path_.clear();
    hang_beside(nearest.root, nearest.root, root, nearest.log_marginal);
    factors_.end();
    return true;
  }

  struct SearchCounts {
    std::int64_t searches = 0, differing = 0;
  };
  SearchCounts search_counts() const { return counts_; }
  void check() { index_.check(); }

 private:
  struct Nearest {
    int root = Arena::none;
    double log_dissimilarity = std::numeric_limits<double>::infinity();
    double log_marginal = 0;
  };

  Nearest nearest_tree(int item) {
    forest_.load(item, item_);
    if (search_ == TreeSearch::exact) return nearest_of_all(item);
    Nearest best;
    if (counts_of_trees_.pays())
      counts_of_trees_.each(
          item_, [&](int root, double log_marginal) { consider(root, item, log_marginal, best); });
    else if (index_.pays())
      index_.each_near(item_, [&](int root) { consider(root, item, best); });
    else
      return nearest_of_all(item);
    if (search_ == TreeSearch::compared) {
      ++counts_.searches;
      counts_.differing += target(nearest_of_all(item)) != target(best);
    }
    return best;
  }
  Nearest nearest_of_all(int item) {
    Nearest best;
    for (const int root : forest_.trees()) consider(root, item, best);
    return best;
  }
  void consider(int root, int item, Nearest& best) {
    consider(root, item, factors_.log_marginal_of_union(root, item_), best);
  }
  void consider(int root, int item, double log_marginal, Nearest& best) {
    const double log_d = forest_.log_dissimilarity(root, item, log_marginal);
    if (log_d < best.log_dissimilarity) best = {root, log_d, log_marginal};
  }
  static int target(const Nearest& nearest) {
    return nearest.log_dissimilarity > 0 ? Arena::none : nearest.root;
  }

  void add_tree(int item) {
    forest_.add_tree(item);
    index_.added(item);
    counts_of_trees_.added(item);
  }
  void remove_tree(int root) {
    forest_.remove_tree(root);
    index_.removed(root);
    counts_of_trees_.removed(root);
  }
  int hang_beside(int root, int node, int item, double log_marginal) {
    for (const Forest::Step& step : path_) factors_.include(step.node, item_);
    const int joint = forest_.hang_beside(node, item, log_marginal, path_);
    const int now = node == root ? joint : root;
    index_.grown(root, now);
    counts_of_trees_.grown(root, now);
    return joint;
  }

  void hang_on_top(int item) {
    const Nearest nearest = nearest_tree(item);
    if (nearest.log_dissimilarity > 0) return add_tree(item);
    path_.clear();
    hang_beside(nearest.root, nearest.root, item, nearest.log_marginal);
  }

  // Steps 1 and 2. Returns the node above the item, none if it is a tree of its own.
  int put(int item) {
    const Nearest nearest = nearest_tree(item);
    if (nearest.log_dissimilarity > 0) {
      add_tree(item);
      return Arena::none;
    }
    int node = nearest.root;
    double log_marginal = nearest.log_marginal;
    path_.clear();
    while (step_down(node, item, log_marginal)) {
    }
    return hang_beside(nearest.root, node, item, log_marginal);
  }

  // One level down from `node`, if the rule says so; `log_marginal` is that of node and item.
  bool step_down(int& node, int item, double& log_marginal) {
    const Arena& nodes = forest_.nodes();
    if (nodes.is_leaf(node)) return false;
    // A piece as large as what it goes into belongs beside it: deep down it would only add depth.
    if (rule_ == DescentRule::balanced && nodes.size[node] <= nodes.size[item]) return false;
    const int left = nodes.left[node], right = nodes.right[node];
    nodes.prefetch(left);
    nodes.prefetch(right);
    forest_.prefetch_statistic(left);
    forest_.prefetch_statistic(right);
    const auto [with_left, with_right] =
        factors_.pays() ? std::pair(factors_.log_marginal_of_union(left, item_),
                                    factors_.log_marginal_of_union(right, item_))
                        : forest_.log_marginals_of_unions(left, right, item_);
    bool go_left;
    const double own = forest_.log_dissimilarity(node);
    if (rule_ == DescentRule::balanced && own <= 0) {
      go_left = fit(left, item, with_left) >= fit(right, item, with_right);
    } else {
      const double to_left = forest_.log_dissimilarity(left, item, with_left);
      const double to_right = forest_.log_dissimilarity(right, item, with_right);
      if (own <= to_left && own <= to_right) return false;
      go_left = to_left <= to_right;
    }
    path_.push_back({node, log_marginal});
    node = go_left ? left : right;
    log_marginal = go_left ? with_left : with_right;
    return true;
  }

  // How well the item fits a node: its log predictive against what the node's own rows have on
  // average. The predictive alone favours the larger child, whose parameters are better known, and
  // grows caterpillars inside a homogeneous cluster. Both are taken against P(x) and by weight,
  // since large or incomplete rows, and documents of many words, have another density anywhere.
  // (The item's own log P(x) is the same for both children.)
  double fit(int node, int item, double log_marginal) const {
    const Arena& nodes = forest_.nodes();
    const double own = nodes.log_marginal[node];
    return (log_marginal - own) / forest_.weight(item) -
           (own - nodes.log_apart[node]) / forest_.weight(node);
  }

  // Step 3: cuts at the deepest node on the way up that is judged more than one cluster. Its two
  // children, and what hung beside the way up from there, are pieces to be put in again.
  bool cut_above(int node, std::vector<int>& pieces, bool is_last) {
    const Arena& nodes = forest_.nodes();
    while (node != Arena::none && forest_.log_dissimilarity(node) <= 0) node = nodes.parent[node];
    if (node == Arena::none) return false;
    const std::size_t first = pieces.size();
    pieces.push_back(nodes.left[node]);
    pieces.push_back(nodes.right[node]);
    std::vector<int> gone{node};
    beside_.clear();
    for (; nodes.parent[node] != Arena::none; node = nodes.parent[node]) {
      beside_.push_back(nodes.sibling(node));
      gone.push_back(nodes.parent[node]);
    }
    remove_tree(node);
    for (const int above : gone) {
      factors_.drop(above);
      forest_.dissolve(above);
    }
    if (is_last)
      join_beside(pieces);
    else
      pieces.insert(pieces.end(), beside_.begin(), beside_.end());
    // The largest first: a small piece that finds no tree yet would stay alone.
    std::stable_sort(pieces.begin() + static_cast<std::ptrdiff_t>(first), pieces.end(),
                     [&](int a, int b) { return nodes.size[a] > nodes.size[b]; });
    return true;
  }

  // Joins what hung beside the way up, from the root down, while that is judged one cluster; of two
  // that are not, the smaller becomes a piece of its own.
  void join_beside(std::vector<int>& pieces) {
    const Arena& nodes = forest_.nodes();
    if (beside_.empty()) return;
    int rest = beside_.back();
    for (std::size_t k = beside_.size() - 1; k-- > 0;) {
      int next = beside_[k];
      const double log_marginal = forest_.log_marginal_of_union(rest, next);
      if (forest_.log_dissimilarity(rest, next, log_marginal) <= 0) {
        rest = forest_.join(rest, next, log_marginal);
      } else {
        if (nodes.size[next] > nodes.size[rest]) std::swap(next, rest);
        pieces.push_back(next);
      }
    }
    pieces.push_back(rest);
  }

  static constexpr int most_cuts = 16;
  static constexpr double cuts_per_item = 0.25;

  Forest& forest_;
  DescentRule rule_;
  TreeSearch search_;
  NodeFactors factors_;
  TreeIndex index_;
  CountTable counts_of_trees_;
  SearchCounts counts_;
  Forest::Item item_;  // the one that is being put in
  std::vector<int> waiting_, beside_;
  double cuts_left_ = most_cuts;
  std::vector<Forest::Step> path_;
};

// Joins the lightest trees to their nearest, whatever their d, until at most this many are left.
inline void join_lightest(Forest& forest, IncrementalClustering& growth, std::size_t most) {
  const Arena& nodes = forest.nodes();
  while (forest.trees().size() > most) {
    std::vector<int> roots = forest.trees();
    std::stable_sort(roots.begin(), roots.end(),
                     [&](int a, int b) { return nodes.size[a] < nodes.size[b]; });
    for (const int root : roots)
      if (forest.trees().size() > most && nodes.parent[root] == Arena::none)
        growth.join_nearest(root, std::numeric_limits<double>::infinity());
  }
}

// Joins trees while two have d <= 1: the parts of a cluster that began at several places stay apart
// when rows come one by one. Many trees are not compared all with all; each then goes to its
// nearest, the lightest first.
inline void join_near_trees(Forest& forest, IncrementalClustering& growth) {
  constexpr std::size_t most_compared = 200;
  std::vector<int> roots = forest.trees();
  if (roots.size() > most_compared) {
    const Arena& nodes = forest.nodes();
    std::stable_sort(roots.begin(), roots.end(),
                     [&](int a, int b) { return nodes.size[a] < nodes.size[b]; });
    for (const int root : roots)
      if (nodes.parent[root] == Arena::none) growth.join_nearest(root, 0.0);
    return;
  }
  for (const int root : roots) forest.remove_tree(root);
  for (const int root : GreedyClustering(forest)(roots, true)) forest.add_tree(root);
}

}  // namespace mixwood
