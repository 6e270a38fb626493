// Gibbs restricted to two clusters, A and B: the proposals of split-merge (Jain and Neal 2004).
//
// Of a set of rows two, the anchors, stay where they are, one on each side; the others, the items,
// are visited in turn and join a side with weight kappa(n_A + 1, u)/kappa(n_A, u) P(x | X_A).
// Nothing here knows the current partition, so a launch state cannot depend on it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "mixwood/family/family.hpp"
#include "mixwood/numerics/special.hpp"
#include "mixwood/prior/prior.hpp"
#include "mixwood/random/stream.hpp"

namespace mixwood {

enum Side : int { side_a = 0, side_b = 1 };

template <Family F>
class RestrictedScan {
 public:
  explicit RestrictedScan(const F& family)
      : clusters_(family), block_(clusters_.rows_at_once), scores_(2 * block_) {
    clusters_.grow(2);
  }

  // The launch state: sides by the toss of a coin, then `scans` scans.
  void launch(int anchor_a, int anchor_b, std::span<const int> items, int scans, const Prior& prior,
              Stream& random, const std::atomic<bool>& stop) {
    begin(anchor_a, anchor_b, items, prior);
    for (std::size_t k = 0; k < items.size(); ++k) put(k, random.uniform() < 0.5 ? side_a : side_b);
    for (int scan = 0; scan < scans && !stop; ++scan) draw(prior, random);
  }

  // Likewise, from the side that `near` says; who is near nowhere follows in turn, by its weights.
  // The first `few` items alone come first, and are scanned `coarse` times: that finds where the
  // sides are. The others follow then, each by its weights, and all are scanned once.
  void launch_near(int anchor_a, int anchor_b, std::span<const int> items,
                   std::span<const int> near, std::size_t few, int coarse, const Prior& prior,
                   Stream& random, const std::atomic<bool>& stop) {
    begin(anchor_a, anchor_b, items, prior);
    for (std::size_t k = 0; k < few; ++k)
      if (near[k] != nowhere) put(k, static_cast<Side>(near[k]));
    for (std::size_t k = 0; k < few && !stop; ++k)
      if (near[k] == nowhere) follow(k, prior, random);
    placed_ = few;
    for (int scan = 0; scan < coarse && !stop; ++scan) draw(prior, random);
    for (; placed_ < items_.size() && !stop; ++placed_) follow(placed_, prior, random);
    if (!stop) draw(prior, random);
  }
  static constexpr int nowhere = -1;

  // One scan whose choices are drawn; returns the log of their probability.
  double draw(const Prior& prior, Stream& random) {
    return scan(prior, [&](std::size_t, double log_odds) {
      return random.uniform() < 1 / (1 + std::exp(-log_odds)) ? side_a : side_b;
    });
  }

  // The same scan with its choices given; returns the log of the probability of drawing them.
  double replay(const Prior& prior, std::span<const Side> sides) {
    return scan(prior, [&](std::size_t k, double) { return sides[k]; });
  }

  // Rows scored against a side so far, or put on one or taken away, which costs about as much.
  std::int64_t scored() const { return scored_; }

  int anchor(Side side) const { return anchors_[side]; }
  std::span<const int> items() const { return items_; }
  // Where each item is now.
  std::span<const Side> sides() const { return sides_; }
  int size(Side side) const { return sizes_[side]; }
  // How many rows of each group, where they come in groups.
  const std::vector<double>& groups(Side side) const { return counts_[side]; }

  // The statistics of both sides, from the rows themselves: what scans forget leaves rounding.
  void sum_sides(const F& family, std::vector<double>* statistics) const {
    for (const Side side : {side_a, side_b}) {
      std::fill(statistics[side].begin(), statistics[side].end(), 0.0);
      family.observe(statistics[side].data(), anchors_[side]);
    }
    for (std::size_t k = 0; k < items_.size(); ++k)
      family.observe(statistics[sides_[k]].data(), items_[k]);
  }

 private:
  void begin(int anchor_a, int anchor_b, std::span<const int> items, const Prior& prior) {
    groups_ = prior.by_group().groups().get();
    anchors_[side_a] = anchor_a;
    anchors_[side_b] = anchor_b;
    for (const Side side : {side_a, side_b}) {
      clusters_.clear(side);
      clusters_.observe(side, anchors_[side]);
      sizes_[side] = 1;
      if (groups_ == nullptr) continue;
      counts_[side].assign(groups_->n_groups(), 0.0);
      count(side, anchors_[side], 1);
    }
    items_.assign(items.begin(), items.end());
    sides_.resize(items.size());
    placed_ = items.size();
  }

  // Puts an item that has no side yet on one, by its weights.
  void follow(std::size_t k, const Prior& prior, Stream& random) {
    clusters_.load(std::span<const int>(items_).subspan(k, 1));
    scored_ += 2;
    score_block(0);
    const double log_odds = log_join(prior, side_a, k) + scores_[side_a * block_] -
                            log_join(prior, side_b, k) - scores_[side_b * block_];
    put(k, random.uniform() < 1 / (1 + std::exp(-log_odds)) ? side_a : side_b);
  }

  void put(std::size_t k, Side side) {
    sides_[k] = side;
    ++scored_;
    clusters_.observe(side, items_[k]);
    ++sizes_[side];
    if (groups_ != nullptr) count(side, items_[k], 1);
  }

  void count(Side side, int row, double sign) {
    for (const GroupCount& entry : groups_->of_row(row))
      counts_[side][entry.group] += sign * entry.count;
  }

  // What the prior says of item k on a side that does not have it.
  double log_join(const Prior& prior, Side side, std::size_t k) const {
    if (groups_ == nullptr) return prior.log_join(sizes_[side]);
    return prior.by_group().log_join(groups_->of_row(items_[k]),
                                     [&](int group) { return counts_[side][group]; });
  }
  // ... and of one that does, without it.
  double log_join_back(const Prior& prior, Side side, std::size_t k) const {
    if (groups_ == nullptr) return prior.log_join(sizes_[side] - 1);
    double total = 0;
    for (const auto& [group, own] : groups_->of_row(items_[k]))
      total += prior.by_group().log_join(group, counts_[side][group] - own, own);
    return total;
  }

  static constexpr int both[] = {side_a, side_b};

  // `choose` gets an item's place and its log odds of A against B. As in the Gibbs sweep, a block
  // is scored at once, and again when one of its rows has moved.
  template <class Choose>
  double scan(const Prior& prior, Choose&& choose) {
    double log_q = 0;
    for (std::size_t start = 0; start < placed_; start += block_) {
      const std::size_t end = std::min(start + block_, placed_);
      clusters_.load(std::span<const int>(items_).subspan(start, end - start));
      scored_ += 2 * static_cast<std::int64_t>(end - start);
      score_block(0);
      for (std::size_t k = start; k < end; ++k) {
        const double log_odds = odds(prior, k, k - start);
        const Side side = choose(k, log_odds);
        log_q -= softplus(side == side_a ? -log_odds : log_odds);
        if (side == sides_[k]) continue;
        move(k, side);
        if (k + 1 < end) score_block(k + 1 - start);
      }
    }
    return log_q;
  }

  // The rows of the block from `first` on.
  void score_block(std::size_t first) {
    score_from(clusters_, static_cast<int>(first), both, scores_.data());
  }

  double odds(const Prior& prior, std::size_t k, std::size_t b) {
    double weights[2];
    for (const Side side : {side_a, side_b})
      weights[side] = side == sides_[k] ? log_join_back(prior, side, k) +
                                              clusters_.score_without(side, static_cast<int>(b))
                                        : log_join(prior, side, k) + scores_[side * block_ + b];
    const double log_odds = weights[side_a] - weights[side_b];
    if (std::isnan(log_odds))
      throw std::runtime_error(
          "the weights of a row's clusters are not numbers; rescale X or choose a less extreme "
          "prior");
    return log_odds;
  }

  void move(std::size_t k, Side to) {
    scored_ += 2;
    clusters_.forget(sides_[k], items_[k]);
    clusters_.observe(to, items_[k]);
    --sizes_[sides_[k]];
    ++sizes_[to];
    if (groups_ != nullptr) {
      count(sides_[k], items_[k], -1);
      count(to, items_[k], 1);
    }
    sides_[k] = to;
  }

  typename F::Clusters clusters_;
  int anchors_[2] = {0, 0}, sizes_[2] = {0, 0};
  const RowGroups* groups_ = nullptr;
  std::vector<double> counts_[2];
  std::size_t block_;  // rows scored at once
  std::int64_t scored_ = 0;
  std::vector<double> scores_;
  std::vector<int> items_;
  std::vector<Side> sides_;
  std::size_t placed_ = 0;  // items that have a side: all but in a launch
};

}  // namespace mixwood
