// StocInsert of the paper: an item goes into a tree c' of S with probability proportional to
// 1/d(c', item), or becomes a tree of its own with one proportional to 1.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>
#include <vector>

#include "mixwood/numerics/kernels.hpp"
#include "mixwood/random/stream.hpp"
#include "mixwood/tree/forest.hpp"

namespace mixwood {

class StocInsert {
 public:
  void load(Forest& forest, std::span<const int> roots, int item) {
    log_marginals_.resize(roots.size());
    log_weights_.assign(roots.size() + 1, 0.0);
    for (std::size_t k = 0; k < roots.size(); ++k) {
      log_marginals_[k] = forest.log_marginal_of_union(roots[k], item);
      log_weights_[k] = -forest.log_dissimilarity(roots[k], item, log_marginals_[k]);
    }
    const double largest = *std::max_element(log_weights_.begin(), log_weights_.end());
    double sum = 0;
    for (const double weight : log_weights_) sum += std::exp(weight - largest);
    log_total_ = largest + std::log(sum);
  }

  // A number of a tree, or `fresh()`.
  int draw(Stream& random) {
    scratch_ = log_weights_;
    const int choice =
        kernels_.pick(static_cast<int>(scratch_.size()), scratch_.data(), random.uniform());
    if (choice < 0)
      throw std::runtime_error(
          "the dissimilarities of trees are not numbers; rescale X or choose a less extreme prior");
    return choice;
  }
  int fresh() const { return static_cast<int>(log_marginals_.size()); }

  double log_probability(int choice) const { return log_weights_[choice] - log_total_; }

  // Of the item together with the tree.
  double log_marginal(int choice) const { return log_marginals_[choice]; }

 private:
  const Kernels& kernels_ = kernels();
  std::vector<double> log_marginals_, log_weights_, scratch_;
  double log_total_ = 0;
};

}  // namespace mixwood
