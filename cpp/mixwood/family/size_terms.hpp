// A term of log P(X_c) that depends on the size of the cluster alone: a table for sizes up to the
// number of rows, a formula for the larger ones that weighted leaves can have.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <vector>

namespace mixwood {

class SizeTerms {
 public:
  template <class Formula>
  void fill(int largest, Formula&& formula) {
    table_.resize(static_cast<std::size_t>(largest) + 1);
    for (int size = 0; size <= largest; ++size) table_[size] = formula(size);
  }

  double operator[](int size) const { return table_[size]; }

  // For a size read from a statistic, which may be anything.
  template <class Formula>
  double at(double size, Formula&& formula) const {
    if (!(size >= 0)) throw std::out_of_range("a statistic has a negative size");
    if (size < static_cast<double>(table_.size())) return table_[static_cast<std::size_t>(size)];
    return formula(size);
  }

 private:
  std::vector<double> table_;
};

}  // namespace mixwood
