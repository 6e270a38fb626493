#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "bindings/bound_family.hpp"
#include "mixwood/family/diagonal_gaussian_atoms.hpp"
#include "mixwood/family/diagonal_gaussian_base.hpp"

namespace mixwood::bindings {

void bind_diagonal_gaussian(nb::module_& m) {
  m.def(
      "diagonal_gaussian",
      [](Input<double, 2> rows, double r, double nu) {
        return bound<DiagonalGaussian>(as_span(rows), static_cast<int>(rows.shape(0)),
                                       static_cast<int>(rows.shape(1)), r, nu);
      },
      nb::arg("rows"), nb::arg("r"), nb::arg("nu"), nb::keep_alive<0, 1>(),
      "Rows centred on the prior mean and in units in which psi is 1.");
  m.def(
      "diagonal_gaussian_learned",
      [](Input<double, 2> rows, Input<double, 1> floor, Input<double, 1> tie_floor, double fraction,
         double tau, const Law& nu, const Law& r, Input<double, 1> base) {
        require(floor.size() == rows.shape(1) && tie_floor.size() == rows.shape(1),
                "floors must have one entry per column");
        require(base.size() == rows.shape(1) + 2, "base must be ln omega, ln nu and ln r");
        require(fraction > 0 && tau > 0, "fraction and tau must be positive");
        return bound<DiagonalGaussian>(
            as_span(rows), static_cast<int>(rows.shape(0)), static_cast<int>(rows.shape(1)),
            VarianceHyper{.floors = {floor.data(), floor.data() + floor.size()},
                          .tie_floors = {tie_floor.data(), tie_floor.data() + tie_floor.size()},
                          .fraction = fraction,
                          .tau = tau,
                          .nu = hyperprior(nu),
                          .r = hyperprior(r)},
            base.data());
      },
      nb::arg("rows"), nb::arg("floor"), nb::arg("tie_floor"), nb::arg("fraction"), nb::arg("tau"),
      nb::arg("nu_law"), nb::arg("r_law"), nb::arg("base"), nb::keep_alive<0, 1>(),
      "Rows whose base measure is learned: ln omega, ln nu', ln r.");
}

}  // namespace mixwood::bindings
