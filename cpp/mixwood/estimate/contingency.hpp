// The contingency tables of one partition with every draw. Of each cluster of a draw only the
// cells that are not empty are kept: a draw much like the partition has hardly more of them than
// clusters.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "mixwood/estimate/draw_table.hpp"
#include "mixwood/estimate/loss.hpp"

namespace mixwood {

class Contingency {
 public:
  // For a partition into clusters 0 to `most` - 1, all empty.
  Contingency(const DrawTable& draws, int most) : draws_(draws), rows_(draws.sizes().size()) {
    std::size_t room = 0;
    for (std::size_t j = 0; j < rows_.size(); ++j) {
      rows_[j].first = room;
      room += static_cast<std::size_t>(std::min(draws.sizes()[j], most));
    }
    cells_.resize(room);
  }

  // Both return the item's affinity to the cluster, itself not counted; see `affinities`.
  double add(int item, int cluster, const LossTable& table) {
    const int size = table.size(item);
    return visit(item, table, [this, cluster, size](Row& row) {
      int& count = count_in(row, cluster);
      return std::exchange(count, count + size);
    });
  }

  double remove(int item, int cluster, const LossTable& table) {
    const int size = table.size(item);
    return visit(item, table, [this, cluster, size](Row& row) {
      Cell* cell = find(row, cluster);
      const int others = cell->count -= size;
      if (others == 0) {
        *cell = *(end(row) - 1);
        --row.used;
      }
      return others;
    });
  }

  // All items at once, where there are none yet.
  void add_all(std::span<const std::int32_t> labels, const LossTable& table) {
    some_draws_at_a_time(labels.size(), [&](std::size_t i, std::size_t first, std::size_t last) {
      const auto clusters = draws_.clusters_of(static_cast<int>(i));
      for (std::size_t d = first; d < last; ++d)
        count_in(rows_[clusters[d]], labels[i]) += table.sizes()[i];
    });
  }

  // sum_d w_d {f(n_kj + s) - f(n_kj) - f(s)} for every cluster k, s the size of an item and j its
  // cluster in draw d; `sums` has a row for each item. An item that is in a cluster, its label not
  // being -1, is not counted there.
  void affinities(std::span<const int> items, std::span<const std::int32_t> labels,
                  const LossTable& table, std::span<double> sums) const {
    std::ranges::fill(sums, 0.0);
    const std::size_t most = sums.size() / items.size();
    some_draws_at_a_time(items.size(), [&](std::size_t i, std::size_t first, std::size_t last) {
      const int own = labels[static_cast<std::size_t>(items[i])];
      const int size = table.size(items[i]);
      const auto clusters = draws_.clusters_of(items[i]);
      double* of_item = sums.data() + i * most;
      for (std::size_t d = first; d < last; ++d) {
        const double weight = draws_.weights()[d];
        const Row& row = rows_[clusters[d]];
        const Cell* cell = cells_.data() + row.first;
        for (int e = 0; e < row.used; ++e, ++cell) {
          const int others = cell->count - (cell->cluster == own ? size : 0);
          of_item[cell->cluster] += weight * table.together(others, size);
        }
      }
    });
  }

 private:
  struct Cell {
    std::int32_t cluster;
    std::int32_t count;  // of rows
  };
  struct Row {
    std::size_t first = 0;
    std::int32_t used = 0;
  };

  // Calls visit(item, first draw, last draw) for all items and a few draws, then the next few: the
  // cells of those draws, which many items share, stay in the nearest cache.
  template <class Visit>
  void some_draws_at_a_time(std::size_t items, Visit visit) const {
    const std::size_t draws = draws_.weights().size();
    for (std::size_t first = 0; first < draws; first += 16)
      for (std::size_t i = 0; i < items; ++i) visit(i, first, std::min(first + 16, draws));
  }

  // The sum over the draws, where `change` returns how many other rows share the item's cell.
  template <class Change>
  double visit(int item, const LossTable& table, Change change) {
    const auto clusters = draws_.clusters_of(item);
    double sum = 0;
    for (std::size_t d = 0; d < clusters.size(); ++d)
      sum += draws_.weights()[d] * table.together(change(rows_[clusters[d]]), table.size(item));
    return sum;
  }

  // Of a cell that is made if it is not there.
  std::int32_t& count_in(Row& row, int cluster) {
    Cell* cell = find(row, cluster);
    if (cell == end(row)) {
      *cell = {cluster, 0};
      ++row.used;
    }
    return cell->count;
  }

  Cell* end(const Row& row) { return cells_.data() + row.first + row.used; }
  Cell* find(const Row& row, int cluster) {
    return std::find_if(cells_.data() + row.first, end(row),
                        [cluster](const Cell& cell) { return cell.cluster == cluster; });
  }

  const DrawTable& draws_;
  std::vector<Row> rows_;
  std::vector<Cell> cells_;
};

}  // namespace mixwood
