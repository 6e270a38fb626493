// Weighted leaves of rows of counts. The rows of a leaf count as one row that has all their counts:
// P(X_c) sees nothing else of them. So leaves stay sparse.
#pragma once

#include <algorithm>

#include "mixwood/family/leaves.hpp"
#include "mixwood/family/multinomial.hpp"

namespace mixwood {

class MultinomialLeaves : public Multinomial {
 public:
  MultinomialLeaves(std::span<const std::int64_t> starts, std::span<const std::int32_t> words,
                    std::span<const std::int32_t> counts, int width, double beta, LeafSums sums)
      : Multinomial(starts, words, counts, width, beta), sums_(sums), n_points_(total_size(sums)) {}

  int n_points() const { return n_points_; }
  int row_size(int leaf) const { return static_cast<int>(sums_.sizes[leaf]); }
  double row_log_apart(int leaf) const { return sums_.log_apart[leaf]; }
  double row_total(int leaf) const { return sums_.weights[leaf]; }

 private:
  LeafSums sums_;
  int n_points_;
};

static_assert(Family<MultinomialLeaves> && WeightedFamily<MultinomialLeaves>);

}  // namespace mixwood
