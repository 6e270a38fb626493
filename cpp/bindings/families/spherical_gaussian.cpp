#include "bindings/bound_family.hpp"
#include "mixwood/family/spherical_gaussian_atoms.hpp"

namespace mixwood::bindings {

void bind_spherical_gaussian(nb::module_& m) {
  m.def(
      "spherical_gaussian",
      [](Input<double, 2> rows, double r, double nu) {
        return bound<SphericalGaussian>(as_span(rows), static_cast<int>(rows.shape(0)),
                                        static_cast<int>(rows.shape(1)), r, nu);
      },
      nb::arg("rows"), nb::arg("r"), nb::arg("nu"), nb::keep_alive<0, 1>(),
      "Rows centred on the prior mean and in units in which psi is 1.");
}

}  // namespace mixwood::bindings
