// What makes it quick to compare statistics with items again and again as trees grow, for the
// families that have such factors (ErasedFamily::factor_size). With a covariance matrix factored, a
// comparison takes time in proportion to d^2 instead of d^3; with the totals of its columns at
// hand, to the columns of categories instead of to all categories. A factor is made when it is
// first asked for, and follows as few rows at a time come.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "mixwood/tree/forest.hpp"

namespace mixwood {

class NodeFactors {
 public:
  using Item = Forest::Item;
  using Factor = std::vector<double>;  // empty: not made yet

  explicit NodeFactors(Forest& forest) : forest_(forest) {}

  // Before trees are looked at: if somebody else has changed them, nothing of before is true.
  void begin() {
    const ErasedFamily& family = forest_.family();
    if (&family == family_.get() && seen_ == forest_.version() && released_ == forest_.released())
      return;
    family_ = forest_.shared_family();
    size_ = static_cast<std::size_t>(family.factor_size());
    nodes_.clear();
    places_.clear();
    kept_.clear();
    own_row_ = Arena::none;
    is_wide_ = !family.is_sparse() && family.statistic_size() >= wide;
    if (!pays() && !is_wide_) return;
    own_statistic_.assign(static_cast<std::size_t>(family.statistic_size()), 0.0);
    spare_ = own_statistic_;
    if (!pays()) return;
    scratch_.assign(static_cast<std::size_t>(family.factor_scratch()), 0.0);
    of_nothing_.resize(size_);
    family.make_factor(own_statistic_.data(), of_nothing_.data());
  }
  // After they were changed by who owns this, and told of it.
  void end() {
    seen_ = forest_.version();
    released_ = forest_.released();
  }

  bool pays() const { return size_ > 0; }

  // The same as the forest's, up to rounding.
  double log_marginal_of_union(int node, const Item& item) {
    const int row = forest_.nodes().row[node];
    if (!pays() && (row < 0 || !is_wide_)) return forest_.log_marginal_of_union(node, item);
    if (!pays()) {
      // The statistic of the item, which is there, instead of that of each row that it meets.
      if (item.row >= 0) own(item.row);
      return family_->log_marginal_with(
          item.row >= 0 ? own_statistic_.data() : item.statistic.values.data(), row, spare_.data());
    }
    const std::vector<double>& log_marginal = forest_.nodes().log_marginal;
    if (!item.few.empty() && row < 0)
      return family_->log_marginal_with(forest_.statistic(node), log_marginal[node], of(node),
                                        item.few, scratch_.data());
    if (row < 0) return forest_.log_marginal_of_union(node, item);
    const std::span<const int> rows(&row, 1);
    if (item.row < 0)
      return family_->log_marginal_with(forest_.statistic(item.node), log_marginal[item.node],
                                        of(item.node), rows, scratch_.data());
    own(item.row);
    return family_->log_marginal_with(own_statistic_.data(), log_marginal[item.node], own_.data(),
                                      rows, scratch_.data());
  }
  // ... with any rows that have this statistic, log marginal and factor.
  double log_marginal_of_union(const double* s, double log_marginal, Factor& factor,
                               const Item& item) {
    if (!pays() || item.few.empty()) return forest_.log_marginal_of_union(s, log_marginal, item);
    if (factor.empty()) {
      factor.resize(size_);
      family_->make_factor(s, factor.data());
    }
    return family_->log_marginal_with(s, log_marginal, factor.data(), item.few, scratch_.data());
  }

  // The item is about to come to a node, or to a statistic.
  void include(int node, const Item& item) {
    if (!has(node)) return;
    if (item.few.empty()) return drop(node);
    family_->update_factor(forest_.statistic(node), place(nodes_[node]), item.few, scratch_.data());
  }
  void include(const double* s, Factor& factor, const Item& item) {
    if (factor.empty()) return;
    if (item.few.empty()) return factor.clear();
    family_->update_factor(s, factor.data(), item.few, scratch_.data());
  }
  // The node is no more.
  void drop(int node) {
    if (has(node)) nodes_[node] = Arena::none;
  }

 private:
  static constexpr int wide = 32;  // numbers of a statistic that takes time to make
  static constexpr std::size_t most_bytes = std::size_t{64} << 20;

  bool has(int node) const {
    return node < static_cast<int>(nodes_.size()) && nodes_[node] != Arena::none;
  }
  double* place(int k) { return places_.data() + static_cast<std::size_t>(k) * size_; }

  // Of an inner node, or a leaf of many rows.
  const double* of(int node) {
    if (has(node)) return place(nodes_[node]);
    const int k = new_place();
    if (static_cast<int>(nodes_.size()) <= node)
      nodes_.resize(static_cast<std::size_t>(forest_.nodes().n_slots()), Arena::none);
    nodes_[node] = k;
    kept_[k] = node;
    family_->make_factor(forest_.statistic(node), place(k));
    return place(k);
  }
  // Statistic and factor of a single row, which most items are.
  void own(int row) {
    if (row == own_row_) return;
    if (own_row_ != Arena::none && family_->is_whole())
      family_->forget(own_statistic_.data(), own_row_);
    else
      std::fill(own_statistic_.begin(), own_statistic_.end(), 0.0);
    own_ = of_nothing_;
    if (pays())
      family_->update_factor(own_statistic_.data(), own_.data(), std::span<const int>(&row, 1),
                             scratch_.data());
    family_->observe(own_statistic_.data(), row);
    own_row_ = row;
  }

  // The oldest go where there is no more room.
  int new_place() {
    const std::size_t most = std::max<std::size_t>(16, most_bytes / (size_ * sizeof(double)));
    if (kept_.size() < most) {
      kept_.push_back(Arena::none);
      places_.resize(kept_.size() * size_);
      return static_cast<int>(kept_.size()) - 1;
    }
    oldest_ = (oldest_ + 1) % static_cast<int>(most);
    if (const int node = kept_[oldest_]; nodes_[node] == oldest_) nodes_[node] = Arena::none;
    return oldest_;
  }

  Forest& forest_;
  std::shared_ptr<const ErasedFamily> family_;
  std::size_t size_ = 0;
  std::uint64_t seen_ = 0, released_ = 0;
  int oldest_ = 0;
  std::vector<int> nodes_;  // the place of a node's factor, or none
  std::vector<int> kept_;   // the node of a place
  std::vector<double> places_, scratch_;
  Factor of_nothing_, own_;  // of no rows, and of a single one
  std::vector<double> own_statistic_, spare_;
  bool is_wide_ = false;
  int own_row_ = Arena::none;
};

}  // namespace mixwood
