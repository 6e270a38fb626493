// Gaussian clusters by means and precisions of independent columns: what the atoms of the diagonal
// and the spherical family share.
#pragma once

#include <cmath>
#include <numbers>
#include <span>
#include <vector>

#include "mixwood/family/clusters.hpp"
#include "mixwood/numerics/kernels.hpp"
#include "mixwood/random/stream.hpp"

namespace mixwood {

template <class F>
class NormalColumns {
 public:
  static constexpr int rows_at_once = block_rows;

  void resize(int count) {
    for (auto* values : {&means_, &halves_, &bases_})
      values->resize(static_cast<std::size_t>(count) * d_);
  }

  void load(std::span<const int> rows) { block_.load(family_, rows); }

  void score(int count, double* scores) {
    for (int atom = 0; atom < count; ++atom) {
      const std::size_t at = static_cast<std::size_t>(atom) * d_;
      kernels_.normal_columns(d_, &means_[at], &halves_[at], &bases_[at], block_.values(),
                              block_.presence(),
                              scores + static_cast<std::size_t>(atom) * block_rows);
    }
  }

 protected:
  explicit NormalColumns(const F& family) : family_(family), d_(family.d()), block_(family.d()) {}

  // Column j of an atom: its mean is drawn about `centre` with `weight` times its precision.
  void set_column(int atom, int j, double log_precision, double centre, double weight,
                  Stream& random) {
    const std::size_t at = static_cast<std::size_t>(atom) * d_ + j;
    means_[at] = centre + random.normal() * std::exp(-0.5 * log_precision) / std::sqrt(weight);
    halves_[at] = 0.5 * std::exp(log_precision);
    bases_[at] = 0.5 * (log_precision - std::log(2 * std::numbers::pi));
  }

  const F& family_;
  int d_;

 private:
  const Kernels& kernels_ = kernels();
  RowBlock block_;
  std::vector<double> means_, halves_, bases_;
};

}  // namespace mixwood
