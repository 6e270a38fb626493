// A term of log P(X_c) that depends on the size of the cluster alone: a table for sizes up to the
// number of rows, a formula for the larger ones, and those that are not whole, that weighted leaves
// can have.
#pragma once

#include <cstddef>
#include <stdexcept>

#include "mixwood/numerics/lazy_table.hpp"

namespace mixwood {

class SizeTerms {
 public:
  template <class Formula>
  void fill(int largest, Formula&& formula) {
    table_.fill(entries(largest),
                [&](std::size_t size) { return formula(static_cast<int>(size)); });
  }
  // The formula has changed: terms are computed when they are asked for.
  void forget(int largest) { table_.forget(entries(largest)); }

  // For a size read from a statistic, which may be anything.
  template <class Formula>
  double at(double size, Formula&& formula) const {
    if (!(size >= 0)) throw std::out_of_range("a statistic has a negative size");
    if (!(size < static_cast<double>(table_.size()))) return formula(size);
    const auto whole = static_cast<std::size_t>(size);
    if (static_cast<double>(whole) != size) return formula(size);
    return table_.at(whole, [&](std::size_t any) { return formula(static_cast<double>(any)); });
  }

 private:
  static std::size_t entries(int largest) { return static_cast<std::size_t>(largest) + 1; }

  LazyTable table_;
};

}  // namespace mixwood
