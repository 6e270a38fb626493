// Numbers by index that are computed when first asked for. A table that was filled is only read,
// and may be shared by threads; one that has forgotten its numbers belongs to one chain.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace mixwood {

class LazyTable {
 public:
  template <class Formula>
  void fill(std::size_t size, Formula&& formula) {
    values_.resize(size);
    for (std::size_t i = 0; i < size; ++i) values_[i] = formula(i);
  }
  void forget(std::size_t size) { values_.assign(size, unknown); }
  void forget_one(std::size_t i) { values_[i] = unknown; }

  std::size_t size() const { return values_.size(); }

  template <class Formula>
  double at(std::size_t i, Formula&& formula) const {
    double& value = values_[i];
    if (std::isnan(value)) value = formula(i);
    return value;
  }

 private:
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  mutable std::vector<double> values_;
};

}  // namespace mixwood
