// Bayesian hierarchical clustering (Heller and Ghahramani): again and again the two nearest trees
// become one.
//
// Published: the nearest are those of smallest d. But log d grows with the points, so that a merge
// of two large trees which is barely right comes before that of two neighbours which is clearly so,
// and a broad cluster that formed early takes in everything near it. The balanced order is by
// log d / sqrt(n_l n_r), which has the same sign and grows clusters side by side.
//
// Every pair is evaluated once. A node keeps the pairs with the nodes older than itself in a heap;
// pairs with a node that is gone are thrown out when they come to the top. So n items take O(n^2)
// evaluations, O(n^2 log n) time and O(n^2) memory at worst.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "mixwood/interrupt.hpp"
#include "mixwood/tree/forest.hpp"

namespace mixwood {

enum class MergeOrder { published, balanced };

class GreedyClustering {
 public:
  explicit GreedyClustering(Forest& forest, MergeOrder order = MergeOrder::published)
      : forest_(forest), order_(order) {}

  // Joins the roots, none of them in the forest's list, until one is left, or until every d
  // exceeds 1 if `stop_at_one` says so. Returns the roots that remain, oldest first.
  std::vector<int> operator()(const std::vector<int>& roots, bool stop_at_one) {
    // Only growth is interrupted: who joins all to one root takes that back again.
    Interrupt& interrupt = Interrupt::of_thread();
    for (const int root : roots) {
      if (stop_at_one) interrupt.tick(0);
      add(root);
    }
    while (alive_.size() > 1) {
      if (stop_at_one) interrupt.tick(0);
      const auto [newer, older, distance] = closest();
      if (stop_at_one && distance > 0) break;
      const int a = candidates_[older].node, b = candidates_[newer].node;
      const double log_marginal = forest_.log_marginal_of_union(a, b);
      remove(newer);
      remove(older);
      add(forest_.join(a, b, log_marginal));
    }
    std::vector<int> left;
    for (const int k : alive_) left.push_back(candidates_[k].node);
    return left;
  }

 private:
  // Packed: there are n^2 / 2 of them.
  struct __attribute__((packed)) Pair {
    double distance;
    int older;
    bool operator<(const Pair& other) const {  // the smallest on top of the heap
      return distance > other.distance;
    }
  };
  struct Candidate {
    int node;
    bool alive;
    std::vector<Pair> heap;
  };
  struct Closest {
    int newer, older;
    double distance;
  };

  void add(int node) {
    Candidate candidate{node, true, {}};
    candidate.heap.reserve(alive_.size());
    forest_.load(node, item_);
    for (const int k : alive_) candidate.heap.push_back({distance(candidates_[k].node, node), k});
    std::make_heap(candidate.heap.begin(), candidate.heap.end());
    alive_.push_back(static_cast<int>(candidates_.size()));
    candidates_.push_back(std::move(candidate));
  }

  // Between a tree and the one in item_: at most 0 where d is at most 1.
  double distance(int other, int node) {
    const double log_d =
        forest_.log_dissimilarity(other, node, forest_.log_marginal_of_union(other, item_));
    if (order_ == MergeOrder::published) return log_d;
    const auto& size = forest_.nodes().size;
    return log_d / std::sqrt(size[other] * size[node]);
  }

  void remove(int k) {
    candidates_[k].alive = false;
    candidates_[k].heap = {};
    alive_.erase(std::lower_bound(alive_.begin(), alive_.end(), k));
  }

  Closest closest() {
    Closest best{-1, -1, std::numeric_limits<double>::infinity()};
    for (const int k : alive_) {
      auto& heap = candidates_[k].heap;
      while (!heap.empty() && !candidates_[heap.front().older].alive) {
        std::pop_heap(heap.begin(), heap.end());
        heap.pop_back();
      }
      if (heap.empty()) continue;
      const double distance = heap.front().distance;
      if (best.newer < 0 || distance < best.distance) best = {k, heap.front().older, distance};
    }
    return best;
  }

  Forest& forest_;
  MergeOrder order_;
  Forest::Item item_;  // the one that is being compared with the others
  std::vector<Candidate> candidates_;
  std::vector<int> alive_;  // in order of age, hence sorted
};

}  // namespace mixwood
