// Small dense Cholesky factors, kept up to date as rows come and go.
//
// A factor L of a d x d matrix is stored column by column, L(i, j) at [j * d + i] for i > j,
// and the diagonal holds 1 / L(j, j): solves then need no division.
#pragma once

#include <cmath>

#include "mixwood/numerics/log_product.hpp"

namespace mixwood {

// Factors the matrix whose lower triangle is in `factor` (same places, plain diagonal), in
// place. Returns its log-determinant, or NaN if it is not positive definite. Where the matrix is
// known to be at least some other one in the order of positive definite matrices, so are its
// pivots: `floors` (d numbers, or null for none) then keeps rounding from taking them below.
inline double cholesky_factor(int d, double* factor, const double* floors = nullptr) {
  LogProduct determinant;  // of the pivots: a logarithm for each would take as long as all else
  for (int j = 0; j < d; ++j) {
    double* column = factor + j * d;
    if (floors != nullptr && column[j] < floors[j]) column[j] = floors[j];
    if (!(column[j] > 0)) return std::nan("");
    determinant.times(column[j]);
    const double root = std::sqrt(column[j]);
    const double inverse = 1 / root;
    for (int i = j + 1; i < d; ++i) column[i] *= inverse;
    column[j] = inverse;
    for (int k = j + 1; k < d; ++k) {
      const double scale = column[k];
      double* target = factor + k * d;
      for (int i = k; i < d; ++i) target[i] -= scale * column[i];
    }
  }
  return determinant.log();
}

// |L^-1 x|^2; overwrites x with L^-1 x.
inline double cholesky_solve_squared(int d, const double* factor, double* x) {
  double sum = 0;
  for (int j = 0; j < d; ++j) {
    const double* column = factor + j * d;
    const double y = x[j] * column[j];
    x[j] = y;
    sum += y * y;
    for (int i = j + 1; i < d; ++i) x[i] -= column[i] * y;
  }
  return sum;
}

// Turns the factor of A into that of A + sign * x x' (sign +1 or -1) by plane rotations,
// hyperbolic ones for -1; destroys x. Returns false, with the factor spoilt, where the result
// is not safely positive definite: the caller then factors afresh.
inline bool cholesky_rank_one(int d, double* factor, double* x, double sign) {
  for (int j = 0; j < d; ++j) {
    double* column = factor + j * d;
    const double ratio = x[j] * column[j];
    const double squared = 1 + sign * ratio * ratio;
    if (!(squared > 1e-6)) return false;
    const double c = std::sqrt(squared);
    const double inverse_c = 1 / c;
    const double s = sign * ratio;
    column[j] *= inverse_c;
    for (int i = j + 1; i < d; ++i) {
      column[i] = (column[i] + s * x[i]) * inverse_c;
      x[i] = c * x[i] - ratio * column[i];
    }
  }
  return true;
}

}  // namespace mixwood
