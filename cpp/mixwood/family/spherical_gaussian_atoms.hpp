// Spherical Gaussian clusters by mean and precision. Given n rows the precision is
// Gamma((nu + nd)/2, psi_n/2) and the mean N(n xbar/(r + n), I/((r + n) precision)).
#pragma once

#include "mixwood/family/normal_columns.hpp"
#include "mixwood/family/spherical_gaussian.hpp"
#include "mixwood/random/precision.hpp"

namespace mixwood {

class SphericalGaussian::Atoms : public NormalColumns<SphericalGaussian> {
 public:
  explicit Atoms(const SphericalGaussian& family) : NormalColumns(family) {}

  void draw(int atom, const double* s, Stream& random) {
    const double log_precision = draw_log_precision(0.5 * (family_.nu() + s[0] * d_),
                                                    0.5 * family_.posterior_scale(s), random);
    const double kappa = family_.r() + s[0];
    for (int j = 0; j < d_; ++j)
      set_column(atom, j, log_precision, s[1 + j] * s[0] / kappa, kappa, random);
  }
};

static_assert(AtomFamily<SphericalGaussian>);

}  // namespace mixwood
