// How long, or how much, each row was looked at: counts are expected in proportion to it.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "mixwood/numerics/kernels.hpp"

namespace mixwood {

class Exposures {
 public:
  Exposures() = default;
  explicit Exposures(std::optional<std::span<const double>> values) : values_(values) {}

  // Whether rows differ in it; 1 for all of them otherwise.
  bool given() const { return values_.has_value(); }
  double of(int row) const { return given() ? (*values_)[row] : 1.0; }

 private:
  std::optional<std::span<const double>> values_;
};

// Those of a block of rows.
class ExposureBlock {
 public:
  ExposureBlock() : values_(block_rows, 1.0) {}

  void load(const Exposures& exposures, std::span<const int> rows) {
    if (!exposures.given()) return;
    std::transform(rows.begin(), rows.end(), values_.begin(),
                   [&](int row) { return exposures.of(row); });
  }
  double operator[](int b) const { return values_[b]; }
  const double* data() const { return values_.data(); }

 private:
  std::vector<double> values_;
};

}  // namespace mixwood
