// Negative binomial clusters by the probability of each column: Beta(a + size E, b + N).
#pragma once

#include <span>
#include <vector>

#include "mixwood/family/negative_binomial.hpp"
#include "mixwood/numerics/special.hpp"

namespace mixwood {

class NegativeBinomial::Atoms {
 public:
  static constexpr int rows_at_once = block_rows;

  explicit Atoms(const NegativeBinomial& family)
      : family_(family), d_(family.d()), block_(family.d()) {}

  void resize(int count) {
    slopes_.resize(static_cast<std::size_t>(count) * d_);
    rests_.resize(static_cast<std::size_t>(count) * d_);
  }

  // In column j, log f(x | p) is x log(1-p) + e size log p.
  void draw(int atom, const double* s, Stream& random) {
    for (int j = 0; j < d_; ++j, s += 2) {
      const double log_first = random.log_gamma_draw(family_.a(j) + family_.size(j) * s[0]);
      const double log_second = random.log_gamma_draw(family_.b(j) + s[1]);
      const std::size_t at = static_cast<std::size_t>(atom) * d_ + j;
      rests_[at] = family_.size(j) * softplus(log_second - log_first);  // -size log p
      slopes_[at] = -softplus(log_first - log_second);                  // log(1-p)
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
  const NegativeBinomial& family_;
  int d_;
  const Kernels& kernels_ = kernels();
  RowBlock block_;
  ExposureBlock exposures_;
  std::vector<double> slopes_, rests_;
};

static_assert(AtomFamily<NegativeBinomial>);

}  // namespace mixwood
