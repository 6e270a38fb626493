// Special functions. std::lgamma writes a global (signgam), so threads get one of our own.
#pragma once

#include <cmath>
#include <numbers>

namespace mixwood {

// log Gamma(x) for x > 0: the recurrence up to x >= 8, then Stirling's series, whose first
// left-out term is below 1e-15 there.
inline double log_gamma(double x) {
  double product = 1.0;
  while (x < 8.0) {
    product *= x;
    x += 1.0;
  }
  const double r = 1.0 / x;
  const double z = r * r;
  const double series =
      r * (1.0 / 12 +
           z * (-1.0 / 360 +
                z * (1.0 / 1260 +
                     z * (-1.0 / 1680 + z * (1.0 / 1188 + z * (-691.0 / 360360 + z / 156))))));
  const double half_log_two_pi = 0.91893853320467274178;
  return (x - 0.5) * std::log(x) - x + half_log_two_pi + series - std::log(product);
}

// log of the multivariate Gamma function Gamma_d(x), for x > (d-1)/2.
inline double log_multivariate_gamma(int d, double x) {
  double total = 0.25 * d * (d - 1) * std::log(std::numbers::pi);
  for (int j = 0; j < d; ++j) total += log_gamma(x - 0.5 * j);
  return total;
}

// The same, much faster for many columns: Gamma functions half apart are joined in pairs,
//
//   Gamma(z) Gamma(z + 1/2) = 2^(1-2z) sqrt(pi) Gamma(2z),
//
// and those of the pairs, two apart, follow from one another.
inline double log_multivariate_gamma_by_pairs(int d, double x) {
  const int pairs = d / 2;
  double total = 0.25 * d * (d - 1) * std::log(std::numbers::pi);
  if (d % 2 == 1) total += log_gamma(x - 0.5 * (d - 1));
  if (pairs == 0) return total;
  // The pair of j and j+1, j even, has 2z = 2x - 1 - j; from the smallest upwards.
  double at = 2 * x - 1 - 2 * (pairs - 1);
  double log_of_pair = log_gamma(at);
  total += log_of_pair + (1 - at) * std::numbers::ln2;
  for (int p = 1; p < pairs; ++p) {
    log_of_pair += std::log(at * (at + 1));
    at += 2;
    total += log_of_pair + (1 - at) * std::numbers::ln2;
  }
  return total + pairs * 0.5 * std::log(std::numbers::pi);
}

// log(1 + e^v): with v = log u this is log tau, right even where u overflows.
inline double softplus(double v) {
  return v > 0 ? v + std::log1p(std::exp(-v)) : std::log1p(std::exp(v));
}

// log(b + e^z - 1) for b > 0, z >= 0, right even where e^z overflows.
inline double log_shifted_exp(double b, double z) {
  if (z < 30) return std::log(b + std::expm1(z));
  return z + std::log1p((b - 1) * std::exp(-z));
}

}  // namespace mixwood
