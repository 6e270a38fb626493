// Clusters of counts by the parameters of each column, drawn by its law.
#pragma once

#include <span>
#include <vector>

#include "mixwood/family/counted_columns.hpp"

namespace mixwood {

template <CountLaw Law>
class CountedColumns<Law>::Atoms {
 public:
  static constexpr int rows_at_once = block_rows;

  explicit Atoms(const CountedColumns& family)
      : family_(family), d_(family.d()), block_(family.d()) {}

  void resize(int count) {
    slopes_.resize(static_cast<std::size_t>(count) * d_);
    rests_.resize(static_cast<std::size_t>(count) * d_);
  }

  void draw(int atom, const double* s, Stream& random) {
    for (int j = 0; j < d_; ++j, s += 2) {
      const std::size_t at = static_cast<std::size_t>(atom) * d_ + j;
      const CountAtom drawn = family_.law().draw_atom(j, s[0], s[1], random);
      slopes_[at] = drawn.slope;
      rests_[at] = drawn.rest;
    }
  }

  void load(std::span<const int> rows) {
    block_.load(family_, rows);
    exposures_.load(family_.exposures(), rows);
  }

  void score(int count, double* scores) {
    for (int atom = 0; atom < count; ++atom) {
      const std::size_t at = static_cast<std::size_t>(atom) * d_;
      kernels_.poisson_columns(d_, &slopes_[at], &rests_[at], exposures_.data(), block_.values(),
                               block_.presence(),
                               scores + static_cast<std::size_t>(atom) * block_rows);
    }
  }

 private:
  const CountedColumns& family_;
  int d_;
  const Kernels& kernels_ = kernels();
  RowBlock block_;
  ExposureBlock exposures_;
  std::vector<double> slopes_, rests_;
};

}  // namespace mixwood
