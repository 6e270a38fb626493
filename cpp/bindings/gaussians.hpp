// Gaussians as Python has them: for the binding of every family that has one in it.
#pragma once

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <cmath>
#include <span>
#include <vector>

#include "bindings/any_family.hpp"
#include "mixwood/family/gaussian.hpp"
#include "mixwood/family/gaussian_base.hpp"
#include "mixwood/numerics/cholesky.hpp"

namespace mixwood::bindings {

inline std::vector<double> inverse_of(std::span<const double> matrix, int d) {
  std::vector<double> factor(matrix.begin(), matrix.end());
  require(std::isfinite(cholesky_factor(d, factor.data())), "spread must be positive definite");
  // The columns of L^-1, and from them L^-T L^-1.
  std::vector<double> solved(factor.size(), 0.0), inverse(factor.size(), 0.0);
  for (int j = 0; j < d; ++j) {
    solved[j * d + j] = 1;
    cholesky_solve_squared(d, factor.data(), solved.data() + j * d);
  }
  for (int i = 0; i < d; ++i)
    for (int j = 0; j < d; ++j)
      for (int k = 0; k < d; ++k) inverse[i * d + j] += solved[i * d + k] * solved[j * d + k];
  return inverse;
}

// With a fixed base measure.
inline Gaussian fixed_gaussian(const Input<double, 2>& rows, double r, double nu,
                               const Input<double, 2>& psi, std::span<const double> fill) {
  const std::size_t d = rows.shape(1);
  require(psi.shape(0) == d && psi.shape(1) == d, "psi must be d x d");
  return {as_span(rows), static_cast<int>(rows.shape(0)), static_cast<int>(d), r, nu, as_span(psi),
          fill};
}

// With a learned one.
inline Gaussian learned_gaussian(const Input<double, 2>& rows, const Input<double, 2>& spread,
                                 const Input<double, 2>& floor, const Input<double, 2>& tie_floor,
                                 double fraction, double degrees, double tau, const Law& nu,
                                 const Law& r, const Input<double, 1>& base,
                                 std::span<const double> fill) {
  const std::size_t d = rows.shape(1);
  for (const auto* matrix : {&spread, &floor, &tie_floor})
    require(matrix->shape(0) == d && matrix->shape(1) == d, "spread and floors must be d x d");
  require(base.size() == d * (d + 1) / 2 + 2, "base must be a triangle of Omega, nu and r");
  require(fraction > 0 && tau > 0 && degrees > static_cast<double>(d) - 1,
          "fraction and tau must be positive, and degrees above d - 1");
  GaussianHyper hyper{.spread_inverse = inverse_of(as_span(spread), static_cast<int>(d)),
                      .floor = {floor.data(), floor.data() + floor.size()},
                      .tie_floor = {tie_floor.data(), tie_floor.data() + tie_floor.size()},
                      .fraction = fraction,
                      .degrees = degrees,
                      .tau = tau,
                      .nu = hyperprior(nu),
                      .r = hyperprior(r)};
  return {as_span(rows),       static_cast<int>(rows.shape(0)),
          static_cast<int>(d), std::move(hyper),
          base.data(),         fill};
}

}  // namespace mixwood::bindings
