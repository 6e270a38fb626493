#include "mixwood/tree/detachment.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "mixwood/interrupt.hpp"

namespace mixwood {

namespace {

using Statistic = std::vector<double>;

// How many nodes are looked at before anybody asks whether the work is to stop.
constexpr int nodes_per_look = 1024;

class Detachments {
 public:
  Detachments(const ErasedFamily& family, const Prior& reference, const TreeShape& shape,
              const std::vector<double>& log_marginal)
      : family_(family), reference_(reference), shape_(shape), log_marginal_(log_marginal) {}

  // Those of the nodes below c go into `result`.
  void below(int c, std::vector<double>& result) {
    if (shape_.is_leaf(c)) return;
    // Backwards, children come before their parent, a left child last: statistics wait on a stack.
    std::vector<Statistic> waiting;
    Statistic whole(width(), 0.0);
    for (const int row : shape_.rows_below(c)) family_.observe(whole.data(), row);
    for (int node = shape_.end(c) - 1; node > c; --node) {
      if (node % nodes_per_look == 0) Interrupt::of_thread().tick(0);
      gather(node, waiting);
      if (shape_.is_leaf(node) || 2 * shape_.size[node] > shape_.size[c]) continue;
      const double e = detachment(c, whole, node, waiting.back());
      if (std::isfinite(e)) result[node] = e;
    }
  }

 private:
  std::size_t width() const { return static_cast<std::size_t>(family_.statistic_size()); }

  void gather(int node, std::vector<Statistic>& waiting) {
    if (shape_.is_leaf(node)) {
      Statistic own(width(), 0.0);
      for (const int row : shape_.rows_below(node)) family_.observe(own.data(), row);
      return waiting.push_back(std::move(own));
    }
    const Statistic left = std::move(waiting.back());
    waiting.pop_back();
    family_.merge(waiting.back().data(), left.data());
  }

  double detachment(int c, const Statistic& whole, int node, const Statistic& own) {
    rest_ = whole;
    family_.subtract(rest_.data(), own.data());
    return log_kappa(shape_.size[node]) + log_kappa(shape_.size[c] - shape_.size[node]) -
           log_kappa(shape_.size[c]) - gain_of_joining(c, node, own);
  }

  // log P(X_c) - log P(X_(c - v)) - log P(X_v). Of counts without the sums over what v does not
  // have.
  double gain_of_joining(int c, int node, const Statistic& own) {
    if (!family_.is_sparse())
      return log_marginal_[c] - family_.log_marginal(rest_.data()) - log_marginal_[node];
    family_.gather(own.data(), counts_);
    return family_.log_predictive(rest_.data(), CountBlock(counts_)) - log_marginal_[node];
  }

  double log_kappa(double size) const { return reference_.log_kappa(size); }

  const ErasedFamily& family_;
  const Prior& reference_;
  const TreeShape& shape_;
  const std::vector<double>& log_marginal_;
  Statistic rest_;
  GatheredCounts counts_;
};

}  // namespace

std::vector<double> log_detachments(const ErasedFamily& family, const Prior& reference,
                                    const TreeShape& shape, const std::vector<double>& log_marginal,
                                    const std::vector<double>& log_dissimilarity) {
  std::vector<double> result(static_cast<std::size_t>(shape.n_nodes()),
                             -std::numeric_limits<double>::infinity());
  Detachments detachments(family, reference, shape, log_marginal);
  for (int node = 0; node < shape.n_nodes();) {
    const bool is_one = shape.is_leaf(node) || log_dissimilarity[node] < 0;
    if (is_one) detachments.below(node, result);
    node = is_one ? shape.end(node) : node + 1;
  }
  return result;
}

}  // namespace mixwood
