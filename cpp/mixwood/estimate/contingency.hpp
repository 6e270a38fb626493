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
      Cell* cell = find(row, cluster);
      if (cell == end(row)) {
        *cell = {cluster, 0};
        ++row.used;
      }
      return std::exchange(cell->count, cell->count + size);
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

  // sum_d w_d {f(n_kj + s) - f(n_kj) - f(s)} for every cluster k, s the size of the item and j its
  // cluster in draw d. The item, if it is in cluster `own`, is not counted there (own = -1: it is
  // in none).
  void affinities(int item, int own, const LossTable& table, std::span<double> sums) const {
    std::ranges::fill(sums, 0.0);
    const auto clusters = draws_.clusters_of(item);
    const int size = table.size(item);
    for (std::size_t d = 0; d < clusters.size(); ++d) {
      const double weight = draws_.weights()[d];
      const Row& row = rows_[clusters[d]];
      const Cell* cell = cells_.data() + row.first;
      for (int e = 0; e < row.used; ++e, ++cell) {
        const int others = cell->count - (cell->cluster == own ? size : 0);
        sums[static_cast<std::size_t>(cell->cluster)] += weight * table.together(others, size);
      }
    }
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

  // The sum over the draws, where `change` returns how many other rows share the item's cell.
  template <class Change>
  double visit(int item, const LossTable& table, Change change) {
    const auto clusters = draws_.clusters_of(item);
    double sum = 0;
    for (std::size_t d = 0; d < clusters.size(); ++d)
      sum += draws_.weights()[d] * table.together(change(rows_[clusters[d]]), table.size(item));
    return sum;
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
