#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "bindings/bound_family.hpp"
#include "mixwood/family/gaussian_atoms.hpp"
#include "mixwood/family/gaussian_base.hpp"
#include "mixwood/family/gaussian_latents.hpp"

namespace mixwood::bindings {

namespace {

std::vector<double> inverse_of(std::span<const double> matrix, int d) {
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

}  // namespace

void bind_gaussian(nb::module_& m) {
  m.def(
      "gaussian",
      [](Input<double, 2> rows, double r, double nu, Input<double, 2> psi, Input<double, 1> fill) {
        const std::size_t d = rows.shape(1);
        require(psi.shape(0) == d && psi.shape(1) == d, "psi must be d x d");
        return bound<Gaussian>(as_span(rows), static_cast<int>(rows.shape(0)), static_cast<int>(d),
                               r, nu, as_span(psi), as_span(fill));
      },
      nb::arg("rows"), nb::arg("r"), nb::arg("nu"), nb::arg("psi"), nb::arg("fill"),
      nb::keep_alive<0, 1>(),
      "Gaussian rows, centred on the prior mean, under a Normal-Wishart prior; fill is where their "
      "missing entries start.");
  m.def(
      "gaussian_learned",
      [](Input<double, 2> rows, Input<double, 2> spread, Input<double, 2> floor,
         Input<double, 2> tie_floor, double fraction, double degrees, double tau, const Law& nu,
         const Law& r, Input<double, 1> base, Input<double, 1> fill) {
        const std::size_t d = rows.shape(1);
        for (const auto* matrix : {&spread, &floor, &tie_floor})
          require(matrix->shape(0) == d && matrix->shape(1) == d,
                  "spread and floors must be d x d");
        require(base.size() == d * (d + 1) / 2 + 2, "base must be a triangle of Omega, nu and r");
        require(fraction > 0 && tau > 0 && degrees > static_cast<double>(d) - 1,
                "fraction and tau must be positive, and degrees above d - 1");
        return bound<Gaussian>(
            as_span(rows), static_cast<int>(rows.shape(0)), static_cast<int>(d),
            GaussianHyper{.spread_inverse = inverse_of(as_span(spread), static_cast<int>(d)),
                          .floor = {floor.data(), floor.data() + floor.size()},
                          .tie_floor = {tie_floor.data(), tie_floor.data() + tie_floor.size()},
                          .fraction = fraction,
                          .degrees = degrees,
                          .tau = tau,
                          .nu = hyperprior(nu),
                          .r = hyperprior(r)},
            base.data(), as_span(fill));
      },
      nb::arg("rows"), nb::arg("spread"), nb::arg("floor"), nb::arg("tie_floor"),
      nb::arg("fraction"), nb::arg("degrees"), nb::arg("tau"), nb::arg("nu_law"), nb::arg("r_law"),
      nb::arg("base"), nb::arg("fill"), nb::keep_alive<0, 1>(),
      "Gaussian rows whose base measure is learned: Omega's lower triangle, ln nu', ln r.");
}

}  // namespace mixwood::bindings
