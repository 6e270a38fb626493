// How often items are in one cluster, over many draws. Labels are compared 16 bits wide, a block
// of the table at a time, so that the counts stay in the nearest cache.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace mixwood {

// The counts of one block of the table of pairs.
class PairCounts {
 public:
  static constexpr std::size_t rows = 16;
  static constexpr std::size_t columns = 512;

  // Counts the draws (`labels` are draws x n) in which items first_row + i and first_column + j
  // agree. There are `width` <= columns columns and `height` <= rows rows.
  void count(std::span<const std::uint16_t> labels, std::size_t n, std::size_t first_row,
             std::size_t height, std::size_t first_column, std::size_t width) {
    total_ = {};
    const std::size_t draws = labels.size() / n;
    for (std::size_t start = 0; start < draws; start += longest) {
      few_ = {};
      for (std::size_t d = start; d < std::min(start + longest, draws); ++d) {
        const std::uint16_t* draw = labels.data() + d * n;
        for (std::size_t i = 0; i < height; ++i)
          compare(draw[first_row + i], draw + first_column, few_.data() + i * columns, width);
      }
      for (std::size_t cell = 0; cell < few_.size(); ++cell) total_[cell] += few_[cell];
    }
  }

  std::uint32_t at(std::size_t i, std::size_t j) const { return total_[i * columns + j]; }

 private:
  static constexpr std::size_t longest = 65535;  // draws that 16 bits can count

  static void compare(std::uint16_t label, const std::uint16_t* others, std::uint16_t* counts,
                      std::size_t width) {
    for (std::size_t j = 0; j < width; ++j)
      counts[j] = static_cast<std::uint16_t>(counts[j] + (others[j] == label ? 1 : 0));
  }

  std::array<std::uint16_t, rows * columns> few_;
  std::array<std::uint32_t, rows * columns> total_;
};

// Writes the shares of the draws in which rows `first` to `last` - 1 agree with the items from the
// diagonal on into the n x n table, and the columns that mirror them. Calls for disjoint rows may
// run at the same time.
template <class Real>
void write_similarity(std::span<const std::uint16_t> labels, std::size_t n, std::size_t first,
                      std::size_t last, Real* table) {
  PairCounts counts;
  const double draws = static_cast<double>(labels.size() / n);
  for (std::size_t row = first; row < last; row += PairCounts::rows) {
    const std::size_t height = std::min(PairCounts::rows, last - row);
    for (std::size_t column = row; column < n; column += PairCounts::columns) {
      const std::size_t width = std::min(PairCounts::columns, n - column);
      counts.count(labels, n, row, height, column, width);
      for (std::size_t i = 0; i < height; ++i)
        for (std::size_t j = 0; j < width; ++j) {
          const Real share = static_cast<Real>(counts.at(i, j) / draws);
          table[(row + i) * n + column + j] = share;
          table[(column + j) * n + row + i] = share;
        }
    }
  }
}

}  // namespace mixwood
