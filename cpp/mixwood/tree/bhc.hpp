// Bayesian hierarchical clustering (Heller and Ghahramani): again and again the two trees of
// smallest d become one.
//
// Every pair is evaluated once. A node keeps the pairs with the nodes older than itself in a heap;
// pairs with a node that is gone are thrown out when they come to the top. So n items take O(n^2)
// evaluations, O(n^2 log n) time and O(n^2) memory at the worst.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "mixwood/tree/forest.hpp"

namespace mixwood {

template <Family F>
class GreedyClustering {
 public:
  explicit GreedyClustering(Forest<F>& forest) : forest_(forest) {}

  // Joins the roots, none of them in the forest's list, until one is left, or until the smallest d
  // exceeds 1 if `stop_at_one` says so. Returns the roots that remain, oldest first.
  std::vector<int> operator()(const std::vector<int>& roots, bool stop_at_one) {
    for (const int root : roots) add(root);
    while (alive_.size() > 1) {
      const auto [newer, older, log_d] = closest();
      if (stop_at_one && log_d > 0) break;
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
    double log_dissimilarity;
    int older;
    bool operator<(const Pair& other) const {  // the smallest on top of the heap
      return log_dissimilarity > other.log_dissimilarity;
    }
  };
  struct Candidate {
    int node;
    bool alive;
    std::vector<Pair> heap;
  };
  struct Closest {
    int newer, older;
    double log_dissimilarity;
  };

  void add(int node) {
    Candidate candidate{node, true, {}};
    candidate.heap.reserve(alive_.size());
    forest_.load(node, item_);
    for (const int k : alive_) {
      const int other = candidates_[k].node;
      const double log_marginal = forest_.log_marginal_of_union(other, item_);
      candidate.heap.push_back({forest_.log_dissimilarity(other, node, log_marginal), k});
    }
    std::make_heap(candidate.heap.begin(), candidate.heap.end());
    alive_.push_back(static_cast<int>(candidates_.size()));
    candidates_.push_back(std::move(candidate));
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
      const double log_d = heap.front().log_dissimilarity;
      if (best.newer < 0 || log_d < best.log_dissimilarity) best = {k, heap.front().older, log_d};
    }
    return best;
  }

  Forest<F>& forest_;
  typename Forest<F>::Item item_;  // the one that is being compared with the others
  std::vector<Candidate> candidates_;
  std::vector<int> alive_;  // in order of age, hence sorted
};

}  // namespace mixwood
