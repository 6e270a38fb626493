// Poisson clusters by the mean of each column: Gamma(shape + N, rate + n).
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "mixwood/family/poisson.hpp"

namespace mixwood {

class Poisson::Atoms {
 public:
  static constexpr int rows_at_once = block_rows;

  explicit Atoms(const Poisson& family) : family_(family), d_(family.d()), block_(family.d()) {}

  void resize(int count) {
    log_means_.resize(static_cast<std::size_t>(count) * d_);
    means_.resize(static_cast<std::size_t>(count) * d_);
  }

  void draw(int atom, const double* s, Stream& random) {
    for (int j = 0; j < d_; ++j, s += 2) {
      const std::size_t at = static_cast<std::size_t>(atom) * d_ + j;
      log_means_[at] =
          random.log_gamma_draw(family_.shape(j) + s[1]) - std::log(family_.rate(j) + s[0]);
      means_[at] = std::exp(log_means_[at]);
    }
  }

  void load(std::span<const int> rows) {
    block_.load(family_, rows);
    exposures_.load(family_.exposures(), rows);
  }

  void score(int count, double* scores) {
    for (int atom = 0; atom < count; ++atom) {
      const std::size_t at = static_cast<std::size_t>(atom) * d_;
      kernels_.poisson_columns(d_, &log_means_[at], &means_[at], exposures_.data(), block_.values(),
                               block_.presence(),
                               scores + static_cast<std::size_t>(atom) * block_rows);
    }
  }

 private:
  const Poisson& family_;
  int d_;
  const Kernels& kernels_ = kernels();
  RowBlock block_;
  ExposureBlock exposures_;
  std::vector<double> log_means_, means_;
};

static_assert(AtomFamily<Poisson>);

}  // namespace mixwood
