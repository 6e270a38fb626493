// The global move of the paper. A tree c is picked uniformly, and each other c' comes into M with
// probability 1/(1 + d(c, c')). If M is empty, a split of c is proposed, else a merge of c and M.
//
// Split: SampleSub draws an inner node of c; its two children are S, what hangs beside the way up
// from there goes into S by StocInsert, from the bottom up. Merge: a cascade of the trees in the
// order of their list, the first two at the bottom. The reverse of a split is to pick any tree of S
// and collect just the others; that of a merge, to pick the merged tree, collect nothing, draw the
// bottom of the cascade, and let StocInsert make every other piece a tree of its own. Accepted with
//
//   r = p(X, u, Pi*) q(Pi | Pi*) / (p(X, u, Pi) q(Pi* | Pi)),
//
// which is not exact: the trees after a move and its reverse are not those before.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "mixwood/move/report.hpp"
#include "mixwood/numerics/special.hpp"
#include "mixwood/random/stream.hpp"
#include "mixwood/state/forest_state.hpp"
#include "mixwood/tree/sample_sub.hpp"
#include "mixwood/tree/stoc_insert.hpp"

namespace mixwood {

class PaperGlobalMove {
 public:
  void operator()(ForestState& state, Stream& random, MoveReport& split, MoveReport& merge) {
    Timed timed(split);
    const int picked = static_cast<int>(random.below(n_trees(state.forest)));
    log_d_to_picked_.resize(n_trees(state.forest));
    members_.assign(1, picked);
    for (int k = 0; k < n_trees(state.forest); ++k)
      if (k != picked) log_d_to_picked_[k] = log_d(state.forest, picked, k);
    for (int k = 0; k < n_trees(state.forest); ++k)
      if (k != picked && random.uniform() < 1 / (1 + std::exp(log_d_to_picked_[k])))
        members_.push_back(k);
    if (members_.size() > 1) {
      timed.count_for(merge);
      std::sort(members_.begin(), members_.end());
      propose_merge(state, picked, random, merge);
    } else if (!state.forest.nodes().is_leaf(state.forest.trees()[picked])) {
      propose_split(state, picked, random, split);
    }
  }

 private:
  static int n_trees(const Forest& forest) { return static_cast<int>(forest.trees().size()); }
  static double log_d(Forest& forest, int a, int b) {
    return forest.log_dissimilarity(forest.trees()[a], forest.trees()[b]);
  }

  static bool accepts(double log_ratio, Stream& random, MoveReport& report) {
    ++report.proposed;
    report.add_log_ratio(log_ratio);
    const bool accepted = std::log(random.positive_uniform()) < log_ratio;
    report.accepted += accepted;
    return accepted;
  }

  // log probability that any one of the members, trees of the list, is picked and collects just the
  // others. Dissimilarities to `known` are at hand.
  double log_gather(Forest& forest, std::span<const int> members, int known) {
    const int K = n_trees(forest);
    is_member_.assign(K, 0);
    for (const int k : members) is_member_[k] = 1;
    double total = -std::numeric_limits<double>::infinity();
    for (const int c : members) {
      double log_way = 0;
      for (int k = 0; k < K; ++k) {
        if (k == c) continue;
        const double d = c == known ? log_d_to_picked_[k] : log_d(forest, c, k);
        log_way -= softplus(is_member_[k] ? d : -d);
      }
      total = log_sum(total, log_way);
    }
    return total - std::log(K);
  }

  void propose_split(ForestState& state, int picked, Stream& random, MoveReport& report) {
    Forest& forest = state.forest;
    const int root = forest.trees()[picked];
    const int before = n_trees(forest);
    double log_forward = -std::log(before);
    for (int k = 0; k < before; ++k)
      if (k != picked) log_forward -= softplus(-log_d_to_picked_[k]);
    sample_sub_.load(forest, root, Subtrees::inner);
    const int star = sample_sub_.draw(random);
    log_forward += sample_sub_.log_probability(star);
    cut(forest, root, star);
    for (const int item : waiting_) log_forward += insert(state, picked, before, item, random);

    members_.assign(1, picked);
    for (int k = before; k < n_trees(forest); ++k) members_.push_back(k);
    double log_joints = -forest.nodes().log_one[root];
    for (const int k : members_) log_joints += forest.nodes().log_one[forest.trees()[k]];
    const double log_reverse = log_gather(forest, members_, Arena::none);
    if (accepts(log_joints + log_reverse - log_forward, random, report)) {
      for (const int node : old_) forest.dissolve(node);
      for (const int node : made_) forest.adopt(node);
      state.follow_split(picked);
    } else {
      while (n_trees(forest) > before) forest.remove_tree(forest.trees().back());
      forest.replace_tree(forest.trees()[picked], root);
      for (const int node : made_) forest.dissolve(node);
      for (const int node : old_) forest.adopt(node);
    }
    for (const int node : made_) is_made_[node] = 0;
  }

  // Puts the children of `star` into the list, for the tree and at the end; what hung beside the
  // way up waits, from the bottom up. The nodes that are gone are kept until all is decided.
  void cut(Forest& forest, int root, int star) {
    const Arena& nodes = forest.nodes();
    waiting_.clear();
    made_.clear();
    old_.assign(1, star);
    for (int node = star; node != root; node = nodes.parent[node]) {
      waiting_.push_back(nodes.sibling(node));
      old_.push_back(nodes.parent[node]);
    }
    for (const int node : old_) forest.let_go(node);
    forest.replace_tree(root, nodes.left[star]);
    forest.add_tree(nodes.right[star]);
  }

  // StocInsert of one item; returns the log probability of what it drew. Nodes of the old tree are
  // copied before they change.
  double insert(ForestState& state, int picked, int before, int item, Stream& random) {
    Forest& forest = state.forest;
    roots_.assign(1, forest.trees()[picked]);
    roots_.insert(roots_.end(), forest.trees().begin() + before, forest.trees().end());
    stoc_insert_.load(forest, roots_, item);
    const int choice = stoc_insert_.draw(random);
    const double log_probability = stoc_insert_.log_probability(choice);
    if (choice == stoc_insert_.fresh()) {
      forest.add_tree(item);
      return log_probability;
    }
    const auto place =
        state.seq_insert.find(forest, roots_[choice], item, stoc_insert_.log_marginal(choice));
    for (auto& step : place.path) {
      if (is_made(step.node)) continue;
      old_.push_back(step.node);
      step.node = made(forest.put_copy_in_place(step.node));
    }
    made(forest.hang_beside(place.node, item, place.log_marginal, place.path));
    return log_probability;
  }

  bool is_made(int node) const {
    return node < static_cast<int>(is_made_.size()) && is_made_[node] != 0;
  }
  int made(int node) {
    if (node >= static_cast<int>(is_made_.size())) is_made_.resize(node + 1, 0);
    is_made_[node] = 1;
    made_.push_back(node);
    return node;
  }

  void propose_merge(ForestState& state, int picked, Stream& random, MoveReport& report) {
    Forest& forest = state.forest;
    const double log_forward = log_gather(forest, members_, picked);
    roots_.clear();
    for (const int k : members_) roots_.push_back(forest.trees()[k]);
    double log_joints = 0;
    for (const int root : roots_) log_joints -= forest.nodes().log_one[root];
    double log_reverse = -std::log(n_trees(forest) - static_cast<int>(members_.size()) + 1);
    for (std::size_t i = 2; i < roots_.size(); ++i) {
      stoc_insert_.load(forest, std::span(roots_).first(i), roots_[i]);
      log_reverse += stoc_insert_.log_probability(stoc_insert_.fresh());
    }
    made_.clear();
    int merged = roots_[0];
    for (std::size_t i = 1; i < roots_.size(); ++i) {
      merged = forest.join(merged, roots_[i], forest.log_marginal_of_union(merged, roots_[i]));
      made_.push_back(merged);
    }
    log_joints += forest.nodes().log_one[merged];
    for (int k = 0; k < n_trees(forest); ++k)
      if (!is_member_[k])
        log_reverse -= softplus(-forest.log_dissimilarity(merged, forest.trees()[k]));
    sample_sub_.load(forest, merged, Subtrees::inner);
    log_reverse += sample_sub_.log_probability(made_[0]);
    if (accepts(log_joints + log_reverse - log_forward, random, report))
      state.merge(members_, merged);
    else
      for (const int node : made_) forest.dissolve(node);
  }

  SampleSub sample_sub_;
  StocInsert stoc_insert_;
  std::vector<double> log_d_to_picked_;
  std::vector<int> members_, roots_, waiting_;
  std::vector<int> made_, old_;  // nodes of the proposal alone, and of the old tree alone
  std::vector<char> is_member_, is_made_;
};

}  // namespace mixwood
