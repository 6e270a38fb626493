// SampleSub of the paper: draws a subtree with probability proportional to d + epsilon, d being the
// dissimilarity of its children, 0 for a leaf, and epsilon the largest d of the tree. So no subtree
// is more than twice as probable as another, and leaves can be drawn, too.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "mixwood/random/stream.hpp"
#include "mixwood/tree/forest.hpp"

namespace mixwood {

enum class Subtrees { all, inner };  // a split draws among the inner ones

class SampleSub {
 public:
  // Weighs the subtrees, level by level. A tree of one leaf has that as its only subtree.
  void load(const Forest& forest, int root, Subtrees which) {
    const Arena& nodes = forest.nodes();
    nodes_.assign(1, root);
    for (std::size_t k = 0; k < nodes_.size(); ++k) {
      if (nodes.is_leaf(nodes_[k])) continue;
      for (const int child : {nodes.left[nodes_[k]], nodes.right[nodes_[k]]})
        if (which == Subtrees::all || !nodes.is_leaf(child)) nodes_.push_back(child);
    }
    weights_.resize(nodes_.size());
    double epsilon = nothing;
    for (std::size_t k = 0; k < nodes_.size(); ++k) {
      const bool leaf = nodes.is_leaf(nodes_[k]);
      weights_[k] = leaf ? nothing : forest.log_dissimilarity(nodes_[k]);
      epsilon = std::max(epsilon, weights_[k]);
    }
    total_ = 0;
    for (double& weight : weights_) {
      weight = weight == nothing ? 1 : 1 + std::exp(weight - epsilon);
      total_ += weight;
    }
    if (!std::isfinite(total_))
      throw std::runtime_error(
          "the dissimilarities in a tree are not numbers; rescale X or choose a less extreme "
          "prior");
  }

  int draw(Stream& random) const {
    double rest = random.uniform() * total_;
    for (std::size_t k = 0; k + 1 < nodes_.size(); ++k) {
      rest -= weights_[k];
      if (rest < 0) return nodes_[k];
    }
    return nodes_.back();
  }

  double log_probability(int node) const {
    const auto found = std::find(nodes_.begin(), nodes_.end(), node) - nodes_.begin();
    return std::log(weights_[found] / total_);
  }

 private:
  static constexpr double nothing = -std::numeric_limits<double>::infinity();

  std::vector<int> nodes_;
  std::vector<double> weights_;
  double total_ = 0;
};

}  // namespace mixwood
