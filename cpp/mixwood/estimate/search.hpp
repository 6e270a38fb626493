// A randomized greedy search for the partition of least expected loss (after Dahl, Johnson and
// Mueller, 2022): items are allocated one after the other, visited again until none moves, and
// whole clusters are taken apart and allocated again. What was found with some of the draws is
// polished with all.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "mixwood/estimate/contingency.hpp"
#include "mixwood/estimate/draw_table.hpp"
#include "mixwood/estimate/loss.hpp"
#include "mixwood/random/stream.hpp"

namespace mixwood {

class PartitionSearch {
 public:
  // At most `most` clusters; it ends early, with a partition nobody wants, when `stop` is set.
  PartitionSearch(const DrawTable& draws, const LossTable& table, int most, Stream stream,
                  const std::atomic<bool>& stop)
      : table_(table),
        stream_(stream),
        stop_(stop),
        tolerance_(1e-9 * table.unit()),
        contingency_(draws, most),
        labels_(static_cast<std::size_t>(draws.n_items()), -1),
        sizes_(static_cast<std::size_t>(most)),
        affinities_(static_cast<std::size_t>(most)) {}

  // From the given labels, below `most`, or from an allocation in random order if there are none.
  // All items are visited at most `sweeps` times, and with `rebuild` that often again after every
  // cluster was taken apart.
  std::vector<std::int32_t> run(std::span<const std::int32_t> start, int sweeps, bool rebuild) {
    std::vector<int> items(labels_.size());
    std::iota(items.begin(), items.end(), 0);
    if (start.empty())
      allocate(items);
    else
      for (const int item : items) place(item, start[index(item)]);
    settle(items, sweeps);
    if (rebuild && rebuild_clusters(sweeps)) settle(items, sweeps);
    return labels_;
  }

  // From labels that are nearly the best: only items that want to move are visited, again and
  // again, until there are none or they were looked for `sweeps` times.
  std::vector<std::int32_t> polish(std::span<const std::int32_t> start, int sweeps) {
    contingency_.add_all(start, table_);
    for (std::size_t i = 0; i < start.size(); ++i) {
      labels_[i] = start[i];
      sizes_[index(start[i])] += table_.sizes()[i];
    }
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      std::vector<int> items = restless();
      if (items.empty() || stop_) break;
      settle(items, sweeps);
    }
    return labels_;
  }

 private:
  void shuffle(std::vector<int>& items) {
    stream_.shuffle_front(items, static_cast<int>(items.size()));
  }

  // What Z E(loss) grows by when an item joins a cluster of `others` rows rather than being alone.
  double cost(int item, int others, double affinity) const {
    return table_.together(others, table_.size(item)) - 2 * affinity;
  }

  void place(int item, int cluster) {
    const double affinity = contingency_.add(item, cluster, table_);
    loss_ += cost(item, sizes_[index(cluster)], affinity);
    sizes_[index(cluster)] += table_.size(item);
    labels_[index(item)] = cluster;
  }

  void take_out(int item) {
    std::int32_t& label = labels_[index(item)];
    const double affinity = contingency_.remove(item, label, table_);
    sizes_[index(label)] -= table_.size(item);
    loss_ -= cost(item, sizes_[index(label)], affinity);
    label = -1;
  }

  // Where the item costs least. Of equals it stays where it is; else the first is taken.
  int cheapest(int item) {
    contingency_.affinities(std::array{item}, labels_, table_, affinities_);
    return cheapest(item, affinities_);
  }

  int cheapest(int item, std::span<const double> affinities) const {
    const int own = labels_[index(item)];
    int best = own;
    double least = infinity;
    if (own >= 0)
      least = cost(item, sizes_[index(own)] - table_.size(item), affinities[index(own)]);
    int empty = -1;
    for (int k = 0; k < static_cast<int>(sizes_.size()); ++k) {
      if (sizes_[index(k)] == 0) empty = empty < 0 ? k : empty;
      if (sizes_[index(k)] == 0 || k == own) continue;
      const double here = cost(item, sizes_[index(k)], affinities[index(k)]);
      if (here < least - tolerance_) {
        least = here;
        best = k;
      }
    }
    return empty >= 0 && 0 < least - tolerance_ ? empty : best;  // alone it costs nothing
  }

  // The items that would be better off elsewhere, all others staying where they are: faster to
  // find than to visit one item after the other, since nothing changes meanwhile.
  std::vector<int> restless() {
    const std::size_t most = sizes_.size();
    const std::size_t at_once = std::max<std::size_t>(1, (1 << 15) / most);
    std::vector<int> found;
    std::vector<double> affinities(at_once * most);
    for (std::size_t first = 0; first < labels_.size() && !stop_; first += at_once) {
      std::vector<int> items(std::min(at_once, labels_.size() - first));
      std::iota(items.begin(), items.end(), static_cast<int>(first));
      const std::span used = std::span(affinities).first(items.size() * most);
      contingency_.affinities(items, labels_, table_, used);
      for (std::size_t i = 0; i < items.size(); ++i)
        if (cheapest(items[i], used.subspan(i * most, most)) != labels_[index(items[i])])
          found.push_back(items[i]);
    }
    return found;
  }

  void allocate(std::vector<int>& items) {
    shuffle(items);
    for (const int item : items) {
      if (stop_) return;
      place(item, cheapest(item));
    }
  }

  // Visits the items in random order until none moves.
  void settle(std::vector<int>& items, int sweeps) {
    bool moved = true;
    for (int sweep = 0; moved && sweep < sweeps; ++sweep) {
      moved = false;
      shuffle(items);
      for (const int item : items) {
        if (stop_) return;
        const int best = cheapest(item);
        if (best == labels_[index(item)]) continue;
        take_out(item);
        place(item, best);
        moved = true;
      }
    }
  }

  // Takes every cluster apart in turn; returns whether that helped.
  bool rebuild_clusters(int sweeps) {
    std::vector<int> clusters(sizes_.size());
    std::iota(clusters.begin(), clusters.end(), 0);
    shuffle(clusters);
    bool helped = false;
    for (const int cluster : clusters)
      if (!stop_ && sizes_[index(cluster)] > 0 && rebuild(cluster, sweeps)) helped = true;
    return helped;
  }

  // Allocates the items of a cluster again; what does not lower the loss is undone.
  bool rebuild(int cluster, int sweeps) {
    std::vector<int> members;
    for (std::size_t i = 0; i < labels_.size(); ++i)
      if (labels_[i] == cluster) members.push_back(static_cast<int>(i));
    const double before = loss_;
    for (const int item : members) take_out(item);
    allocate(members);
    settle(members, sweeps);
    if (stop_) return false;
    if (loss_ < before - tolerance_) return true;
    for (const int item : members) take_out(item);
    for (const int item : members) place(item, cluster);
    loss_ = before;
    return false;
  }

  static std::size_t index(int k) { return static_cast<std::size_t>(k); }

  static constexpr double infinity = std::numeric_limits<double>::infinity();

  const LossTable& table_;
  Stream stream_;
  const std::atomic<bool>& stop_;
  double tolerance_;
  Contingency contingency_;
  std::vector<std::int32_t> labels_;
  std::vector<std::int32_t> sizes_;  // of the clusters, in rows
  std::vector<double> affinities_;
  double loss_ = 0;  // Z E(loss), up to a constant
};

}  // namespace mixwood
