// Numbers by index that are computed when first asked for. Threads may ask for them at once: those
// that find nothing all compute the same number.
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
    double value;
    __atomic_load(&values_[i], &value, __ATOMIC_RELAXED);
    if (std::isnan(value)) {
      value = formula(i);
      __atomic_store(&values_[i], &value, __ATOMIC_RELAXED);
    }
    return value;
  }

 private:
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  mutable std::vector<double> values_;
};

}  // namespace mixwood
