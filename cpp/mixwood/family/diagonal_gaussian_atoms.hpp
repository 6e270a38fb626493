// Diagonal Gaussian clusters by means and precisions. Given the n present entries of a column,
// its precision is Gamma((nu + n)/2, psi_n/2) and its mean N(n xbar/(r + n), 1/((r + n)
// precision)).
#pragma once

#include "mixwood/family/diagonal_gaussian.hpp"
#include "mixwood/family/normal_columns.hpp"
#include "mixwood/random/precision.hpp"

namespace mixwood {

class DiagonalGaussian::Atoms : public NormalColumns<DiagonalGaussian> {
 public:
  explicit Atoms(const DiagonalGaussian& family) : NormalColumns(family) {}

  void draw(int atom, const double* s, Stream& random) {
    for (int j = 0; j < d_; ++j, s += 3) {
      const double log_precision = draw_log_precision(0.5 * (family_.nu() + s[0]),
                                                      0.5 * family_.posterior_scale(j, s), random);
      const double kappa = family_.r(j) + s[0];
      set_column(atom, j, log_precision, s[1] * s[0] / kappa, kappa, random);
    }
  }
};

static_assert(AtomFamily<DiagonalGaussian>);

}  // namespace mixwood
