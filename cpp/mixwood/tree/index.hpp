// An index of a forest's trees, to find those near an item without a look at every one.
//
// The trees lie in groups of similar trees, each with the statistic of all its rows. The item is
// compared with every group, and then with the trees of the few groups under which it has the
// highest predictive. With K trees in sqrt(K nearest_groups) groups that takes O(sqrt K) instead of
// O(K) comparisons, and may miss the nearest tree.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "mixwood/tree/forest.hpp"
#include "mixwood/tree/node_factors.hpp"

namespace mixwood {

class TreeIndex {
 public:
  using Item = Forest::Item;

  TreeIndex(Forest& forest, NodeFactors& factors) : forest_(forest), factors_(factors) {}

  // Whether there are enough trees. Where there are not, the index is given up.
  bool pays() {
    const std::size_t fewest = groups_.empty() ? 64 : 32;  // not built again and again
    if (forest_.trees().size() >= fewest) return true;
    groups_.clear();
    return false;
  }

  // Calls visit(root) for the trees near the item.
  template <class Visit>
  void each_near(const Item& item, Visit&& visit) {
    if (is_stale()) build();
    score(item);
    for (const int g : nearest_)
      for (const int root : groups_[g].roots) visit(root);
  }

  // What became of the item that was looked for last: it is a tree of its own, or went into the
  // tree `root`, whose root is `now`.
  void added(int root) {
    if (!is_kept()) return;
    include_item(nearest_[0]);
    insert(root, nearest_[0]);
    if (static_cast<double>(groups_[nearest_[0]].roots.size()) > 2 * group_size())
      split(nearest_[0]);
    seen_ = forest_.version();
  }
  void grown(int root, int now) {
    if (!is_kept()) return;
    const int g = group_of_[root];
    include_item(g);
    if (now != root) {
      erase(root, g);
      insert(now, g);
    }
    seen_ = forest_.version();
  }
  // The tree is not in the forest any more, and its root still a node.
  void removed(int root) {
    if (!is_kept()) return;
    const int g = group_of_[root];
    erase(root, g);
    if (groups_[g].roots.empty())
      drop(g);
    else
      gather(groups_[g]);
    seen_ = forest_.version();
  }

  // Debug: every tree in one group, and the groups' statistics as made from their trees.
  void check() {
    if (is_stale()) return;
    std::size_t count = 0;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      Group fresh{groups_[g].roots, {}, 0, {}};
      gather(fresh);
      if (!(std::abs(fresh.log_marginal - groups_[g].log_marginal) <=
            1e-6 * (1 + std::abs(fresh.log_marginal))))
        throw std::logic_error("index: group " + std::to_string(g) + " has a wrong statistic");
      for (const int root : fresh.roots)
        if (group_of_[root] != static_cast<int>(g))
          throw std::logic_error("index: tree " + std::to_string(root) + " is in another group");
      count += fresh.roots.size();
    }
    for (const int root : forest_.trees())
      if (group_of_[root] < 0) throw std::logic_error("index: a tree is missing");
    if (count != forest_.trees().size()) throw std::logic_error("index: trees that are gone");
  }

 private:
  struct Group {
    std::vector<int> roots;
    std::vector<double> statistic;
    double log_marginal = 0;
    NodeFactors::Factor factor;  // of the statistic
  };

  static constexpr int nearest_groups = 8;

  // Whether the last change of the forest was the one that is being told.
  bool is_kept() const { return !groups_.empty() && seen_ + 1 == forest_.version(); }
  bool is_stale() const {
    const std::size_t trees = forest_.trees().size();
    // Groups split as they grow, and empty ones go: it is built again for better groups.
    return groups_.empty() || seen_ != forest_.version() || trees > 4 * built_for_ ||
           4 * trees < built_for_;
  }

  double group_size() const {
    return std::max(4.0, std::sqrt(static_cast<double>(forest_.trees().size()) / nearest_groups));
  }

  // Halves groups, from one of all trees on, until they are small.
  void build() {
    built_for_ = forest_.trees().size();
    group_of_.assign(forest_.nodes().n_slots(), -1);
    groups_.assign(1, {forest_.trees(), {}, 0, {}});
    const double largest = 1.5 * group_size();
    for (std::size_t g = 0; g < groups_.size(); ++g)
      while (static_cast<double>(groups_[g].roots.size()) > largest) split(static_cast<int>(g));
    seen_ = forest_.version();
  }

  void insert(int root, int g) {
    if (static_cast<int>(group_of_.size()) < forest_.nodes().n_slots())
      group_of_.resize(forest_.nodes().n_slots(), -1);
    group_of_[root] = g;
    groups_[g].roots.push_back(root);
  }
  void erase(int root, int g) {
    auto& roots = groups_[g].roots;
    roots.erase(std::find(roots.begin(), roots.end(), root));
    group_of_[root] = -1;
  }
  void drop(int g) {
    groups_[g] = std::move(groups_.back());
    groups_.pop_back();
    if (g == static_cast<int>(groups_.size())) return;
    for (const int root : groups_[g].roots) group_of_[root] = g;
  }

  // The group's statistic from its trees.
  void gather(Group& group) {
    group.statistic.assign(forest_.family().statistic_size(), 0.0);
    for (const int root : group.roots) forest_.include(group.statistic.data(), root);
    group.log_marginal = forest_.family().log_marginal(group.statistic.data());
    group.factor.clear();
  }

  // The groups with the highest predictive of the item, the best first.
  void score(const Item& item) {
    item_ = &item;
    unions_.resize(groups_.size());
    nearest_.resize(groups_.size());
    std::iota(nearest_.begin(), nearest_.end(), 0);
    for (std::size_t g = 0; g < groups_.size(); ++g)
      unions_[g] = factors_.log_marginal_of_union(groups_[g].statistic.data(),
                                                  groups_[g].log_marginal, groups_[g].factor, item);
    const auto most = std::min<std::size_t>(nearest_groups, groups_.size());
    std::partial_sort(nearest_.begin(), nearest_.begin() + static_cast<std::ptrdiff_t>(most),
                      nearest_.end(), [&](int a, int b) {
                        return unions_[a] - groups_[a].log_marginal >
                               unions_[b] - groups_[b].log_marginal;
                      });
    nearest_.resize(most);
  }

  void include_item(int g) {
    factors_.include(groups_[g].statistic.data(), groups_[g].factor, *item_);
    forest_.include(groups_[g].statistic.data(), *item_);
    groups_[g].log_marginal = unions_[g];
  }

  // Halves the group at the median of how much better a tree fits one of two trees far apart, and
  // once more by how much better it fits one half.
  void split(int g) {
    std::vector<int> roots = std::move(groups_[g].roots);
    Group left = seed(farthest(roots, roots[0])), right = seed(farthest(roots, left.roots[0]));
    for (int round = 0; round < 2; ++round) halve(roots, left, right);
    groups_[g] = std::move(left);
    groups_.push_back(std::move(right));
    for (const int root : groups_[g].roots) group_of_[root] = g;
    for (const int root : groups_.back().roots)
      group_of_[root] = static_cast<int>(groups_.size()) - 1;
  }

  Group seed(int root) {
    Group group{{root}, {}, 0, {}};
    gather(group);
    return group;
  }

  int farthest(const std::vector<int>& roots, int from) {
    Group group = seed(from);
    int result = roots[0];
    double lowest = std::numeric_limits<double>::infinity();
    for (const int root : roots) {
      if (root == from) continue;
      forest_.load(root, other_);
      const double here = fit(root, group);
      if (here < lowest) {
        lowest = here;
        result = root;
      }
    }
    return result;
  }

  // The log predictive of the tree's rows given the group's, against that of their own, per row.
  // The tree is the one in `other_`.
  double fit(int root, Group& group) {
    const double together = factors_.log_marginal_of_union(
        group.statistic.data(), group.log_marginal, group.factor, other_);
    return (together - group.log_marginal - forest_.nodes().log_marginal[root]) /
           forest_.nodes().size[root];
  }

  void halve(const std::vector<int>& roots, Group& left, Group& right) {
    std::vector<std::pair<double, int>> order;
    for (const int root : roots) {
      forest_.load(root, other_);
      const double key = fit(root, right) - fit(root, left);
      order.emplace_back(std::isnan(key) ? 0.0 : key, root);  // NaN has no place in an order
    }
    const std::size_t half = roots.size() / 2;
    std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(half), order.end());
    left.roots.clear();
    right.roots.clear();
    for (std::size_t k = 0; k < order.size(); ++k)
      (k < half ? left : right).roots.push_back(order[k].second);
    gather(left);
    gather(right);
  }

  Forest& forest_;
  NodeFactors& factors_;
  std::vector<Group> groups_;
  std::vector<int> group_of_;  // of a root
  std::size_t built_for_ = 0;
  std::uint64_t seen_ = 0;
  // Of the item that was looked for last:
  const Item* item_ = nullptr;
  std::vector<double> unions_;  // log marginal of each group with it
  std::vector<int> nearest_;
  Item other_;
};

}  // namespace mixwood
