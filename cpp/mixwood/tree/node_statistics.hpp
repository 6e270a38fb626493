// The statistics of a forest's nodes: those of large ones are stored, those of small ones made from
// their rows when asked for. And two nodes compared: log P of both together.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "mixwood/family/erased.hpp"
#include "mixwood/tree/forest_topology.hpp"
#include "mixwood/tree/stored.hpp"

namespace mixwood {

class NodeStatistics : public ForestTopology {
 public:
  const ErasedFamily& family() const { return *family_; }
  const std::shared_ptr<const ErasedFamily>& shared_family() const { return family_; }

  // The statistic of a node's rows, until the forest is asked for something else.
  const double* statistic(int node) { return statistic(node, first_); }

  // Where the statistic is stored, or null where it is made from the rows.
  double* stored_statistic(int node) {
    return nodes_.place[node] == Arena::none ? nullptr : stored(node);
  }

  void prefetch_statistic(int node) {
    if (nodes_.place[node] == Arena::none) return;
    __builtin_prefetch(stored(node));
    __builtin_prefetch(stored(node) + 8);
  }

  // How much there is below a node: points, or counts where rows have many or few of them.
  double weight(int node) const {
    return family_->is_sparse() ? weights_[node] : nodes_.size[node];
  }

  // A statistic that is made from rows. That of counts may be long, and a row has few of them: it
  // becomes 0 again by forgetting the rows, which whole numbers allow.
  struct Scratch {
    std::vector<double> values;
    std::vector<int> rows;                     // what it is made of,
    std::weak_ptr<const ErasedFamily> family;  // of this family; none if of more than rows

    void clear(const std::shared_ptr<const ErasedFamily>& now) {
      if (now->is_whole() && !family.owner_before(now) && !now.owner_before(family))
        for (const int row : rows) now->forget(values.data(), row);
      else
        values.assign(static_cast<std::size_t>(now->statistic_size()), 0.0);
      rows.clear();
      family = now;
    }
    void observe(const ErasedFamily& now, int row) {
      now.observe(values.data(), row);
      rows.push_back(row);
    }
    void merge(const ErasedFamily& now, const double* s) {
      now.merge(values.data(), s);
      family.reset();
    }
    void assign(const double* s, int size) {
      values.assign(s, s + size);
      family.reset();
    }
  };

  // A node to be compared with many others: what is the same every time, made once.
  struct Item {
    int node = Arena::none;
    int row = Arena::inner;  // as in the arena
    Scratch statistic;       // where it is not a single row, and of a sparse family
    GatheredCounts counts;   // where it is not a single row, of a sparse family
    std::vector<int> few;    // the rows below it, if they can be compared with factors
  };
  void load(int node, Item& item) {
    item.node = node;
    item.row = nodes_.row[node];
    list_few(node, item.few);
    if (item.row >= 0 && knows_rows()) {
      if (!family_->is_sparse()) return;
      item.statistic.clear(family_);
      item.statistic.observe(*family_, item.row);
      return;
    }
    const double* s = statistic(node, first_);
    item.statistic.assign(s, family_->statistic_size());
    if (family_->is_sparse()) family_->gather(s, item.counts);
  }

  // log P(X_a and X_b together).
  double log_marginal_of_union(int a, int b) {
    if (nodes_.row[b] < 0) std::swap(a, b);
    load(b, pair_);
    return log_marginal_of_union(a, pair_);
  }
  double log_marginal_of_union(int node, const Item& item) {
    if (family_->is_sparse() && nodes_.row[node] >= 0)
      return nodes_.log_marginal[item.node] +
             family_->log_predictive(item.statistic.values.data(), nodes_.row[node]);
    return log_marginal_of_union(statistic(node, first_), nodes_.log_marginal[node], item);
  }
  // The same for two nodes. A part takes both at once: trees of few rows, which are no parts, are
  // to stay as they are to the last bit.
  std::pair<double, double> log_marginals_of_unions(int a, int b, const Item& item) {
    if (knows_rows() || family_->is_sparse())
      return {log_marginal_of_union(a, item), log_marginal_of_union(b, item)};
    return family_->log_marginals_with(statistic(a, first_), statistic(b, second_),
                                       item.statistic.values.data(), union_.data());
  }
  // Of any rows with this statistic and log marginal, and the item.
  double log_marginal_of_union(const double* s, double log_marginal, const Item& item) {
    if (family_->is_sparse())
      return log_marginal + (item.row >= 0 ? family_->log_predictive(s, item.row)
                                           : family_->log_predictive(s, CountBlock(item.counts)));
    if (item.row >= 0) return family_->log_marginal_with(s, item.row, union_.data());
    return family_->log_marginal_with(s, item.statistic.values.data(), union_.data());
  }
  // s becomes that of the node's rows, too.
  void include(double* s, int node) {
    if (family_->is_whole() && nodes_.place[node] == Arena::none)
      nodes_.each_leaf(node, [&](int leaf) {
        if (nodes_.row[leaf] >= 0)
          family_->observe(s, nodes_.row[leaf]);
        else
          family_->merge(s, stored(leaf));
      });
    else
      family_->merge(s, statistic(node, first_));
  }
  // s becomes that of the item's rows, too.
  void include(double* s, const Item& item) const {
    if (item.row >= 0)
      family_->observe(s, item.row);
    else
      family_->merge(s, item.statistic.values.data());
  }

 protected:
  NodeStatistics(std::shared_ptr<const ErasedFamily> family, int known_rows)
      : ForestTopology(known_rows),
        family_(std::move(family)),
        smallest_stored_(smallest_stored(family_->statistic_size(), known_rows)) {
    if (family_->is_whole())
      store_from(smallest_worth_storing(family_->statistic_size(), family_->row_entries()));
  }

  // Size, sums, weight and statistic of a leaf of these rows; returns its log marginal.
  double gather_rows(int node, std::span<const int> rows) {
    std::fill(union_.begin(), union_.end(), 0.0);
    nodes_.size[node] = 0;
    nodes_.log_apart[node] = 0;
    for (const int row : rows) {
      family_->observe(union_.data(), row);
      nodes_.size[node] += row_size(*family_, row);
      nodes_.log_apart[node] += row_log_apart(*family_, row);
    }
    if (family_->is_sparse()) {
      double weight = 0;
      for (const int row : rows) weight += weight_of_row(row);
      set_weight(node, weight);
    }
    store(node, union_.data());
    return family_->log_marginal(union_.data());
  }

  // The weight of a leaf of one row, of a new node above two, of a copy, and of a node that gets
  // more below it.
  void weigh_row(int node, int row) {
    if (family_->is_sparse()) set_weight(node, weight_of_row(row));
  }
  void weigh_joint(int node, int left, int right) {
    if (family_->is_sparse()) set_weight(node, weights_[left] + weights_[right]);
  }
  void weigh_copy(int copy, int node) {
    if (family_->is_sparse()) set_weight(copy, weights_[node]);
  }
  void add_weight(int node, int item) {
    if (family_->is_sparse()) weights_[node] += weights_[item];
  }

  // The rows of `item` come below an inner node.
  void add_statistic(int node, int item) {
    if (nodes_.place[node] == Arena::none)
      store_if_large(node);
    else if (nodes_.row[item] >= 0)
      family_->observe(stored(node), nodes_.row[item]);
    else
      family_->merge(stored(node), statistic(item, second_));
  }

  void list_few(int node, std::vector<int>& rows) const {
    rows.clear();
    if (family_->factor_size() == 0 || nodes_.size[node] > family_->factor_rows()) return;
    bool are_rows = true;
    nodes_.each_leaf(node, [&](int leaf) {
      are_rows = are_rows && nodes_.row[leaf] >= 0;
      rows.push_back(nodes_.row[leaf]);
    });
    if (!are_rows) rows.clear();
  }

  void store_if_large(int node) {
    if (nodes_.size[node] < smallest_stored_) return;
    if (nodes_.is_leaf(node)) return;
    const double* s = statistic(nodes_.left[node], first_);
    copy_into(union_, s);
    family_->merge(union_.data(), statistic(nodes_.right[node], second_));
    store(node, union_.data());
  }

  // Stores for `copy` what is stored for `node`, if anything is; the two may be one.
  void store_copy(int copy, int node) {
    if (nodes_.place[node] == Arena::none) return;
    copy_into(union_, stored(node));
    store(copy, union_.data());
  }
  // From now on statistics of nodes of fewer than this many rows are not stored.
  void store_from(int smallest) { smallest_stored_ = std::max(smallest_stored_, smallest); }

  // Makes room for the statistics of so many more rows.
  void reserve_statistics(std::size_t rows) {
    const std::size_t nodes = 2 * rows / static_cast<std::size_t>(smallest_stored_);
    statistics_.reserve(statistics_.size() +
                        nodes * static_cast<std::size_t>(family_->statistic_size()));
  }

  // The weight and the stored statistic of a node of another forest.
  void copy_statistic(int copy, const NodeStatistics& other, int node) {
    if (family_->is_sparse()) set_weight(copy, other.weights_[node]);
    if (other.nodes_.place[node] != Arena::none && nodes_.size[copy] >= smallest_stored_)
      store(copy, other.stored(node));
  }
  void store_now(int node) {
    if (nodes_.place[node] != Arena::none) return;
    copy_into(union_, statistic(node, first_));
    store(node, union_.data());
  }

  void drop_statistics() {
    statistics_ = std::vector<double>();
    weights_ = std::vector<double>();
    nodes_.place = std::vector<int>();
  }

  void drop_statistic(int node) {
    if (nodes_.place[node] == Arena::none) return;
    free_places_.push_back(nodes_.place[node]);
    nodes_.place[node] = Arena::none;
  }

  std::shared_ptr<const ErasedFamily> family_;

 private:
  double weight_of_row(int row) const { return std::max(1.0, family_->row_total(row)); }
  void set_weight(int node, double weight) {
    weights_.resize(nodes_.n_slots());
    weights_[node] = weight;
  }

  std::size_t offset(int node) const {
    return static_cast<std::size_t>(nodes_.place[node]) *
           static_cast<std::size_t>(family_->statistic_size());
  }
  double* stored(int node) { return statistics_.data() + offset(node); }
  const double* stored(int node) const { return statistics_.data() + offset(node); }

  // The node's statistic: where it is stored, or made from its leaves in `scratch`.
  const double* statistic(int node, Scratch& scratch) {
    if (nodes_.place[node] != Arena::none) return stored(node);
    scratch.clear(family_);
    if (nodes_.row[node] >= 0) {
      scratch.observe(*family_, nodes_.row[node]);
      return scratch.values.data();
    }
    nodes_.each_leaf(node, [&](int leaf) {
      if (nodes_.row[leaf] >= 0)
        scratch.observe(*family_, nodes_.row[leaf]);
      else
        scratch.merge(*family_, stored(leaf));
    });
    return scratch.values.data();
  }

  static void copy_into(std::vector<double>& target, const double* s) {
    target.assign(s, s + target.size());
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

  int smallest_stored_;
  Item pair_;
  std::vector<double> statistics_, weights_;
  std::vector<int> free_places_;
  Scratch first_, second_;
  std::vector<double> union_ = std::vector<double>(family_->statistic_size());
};

}  // namespace mixwood
