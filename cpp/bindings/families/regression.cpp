#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "bindings/bound_family.hpp"
#include "mixwood/family/regression_atoms.hpp"

namespace mixwood::bindings {

void bind_regression(nb::module_& m) {
  m.def(
      "regression",
      [](Input<double, 2> rows, double r, double g, double nu, double psi) {
        require(r > 0 && g > 0 && nu > 0 && psi > 0, "r, g, nu and psi must be positive");
        return bound<Regression>(as_span(rows), static_cast<int>(rows.shape(0)),
                                 static_cast<int>(rows.shape(1)), Regression::Prior{r, g, nu, psi});
      },
      nb::arg("rows"), nb::arg("r"), nb::arg("g"), nb::arg("nu"), nb::arg("psi"),
      nb::keep_alive<0, 1>(),
      "Rows of predictors and, last, a target that is linear in them, NaN where it is missing.");
  m.def(
      "regression_learned",
      [](Input<double, 2> rows, double floor, double tie_floor, double fraction, double tau,
         double slopes, const Law& nu, const Law& r, Input<double, 1> base) {
        require(base.size() == 3, "base must be ln omega, ln nu and ln r");
        require(fraction > 0 && tau > 0 && slopes > 0, "fraction, tau and slopes must be positive");
        return bound<Regression>(as_span(rows), static_cast<int>(rows.shape(0)),
                                 static_cast<int>(rows.shape(1)),
                                 VarianceHyper{.floors = {floor},
                                               .tie_floors = {tie_floor},
                                               .fraction = fraction,
                                               .tau = tau,
                                               .nu = hyperprior(nu),
                                               .r = hyperprior(r)},
                                 slopes, base.data());
      },
      nb::arg("rows"), nb::arg("floor"), nb::arg("tie_floor"), nb::arg("fraction"), nb::arg("tau"),
      nb::arg("slopes"), nb::arg("nu_law"), nb::arg("r_law"), nb::arg("base"),
      nb::keep_alive<0, 1>(), "The same with a learned base measure: ln omega, ln nu', ln r.");
}

}  // namespace mixwood::bindings
