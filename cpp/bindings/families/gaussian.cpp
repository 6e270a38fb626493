#include "bindings/bound_family.hpp"
#include "mixwood/family/gaussian_atoms.hpp"

namespace mixwood::bindings {

void bind_gaussian(nb::module_& m) {
  m.def(
      "gaussian",
      [](Input<double, 2> rows, double r, double nu, Input<double, 2> psi) {
        const std::size_t d = rows.shape(1);
        require(psi.shape(0) == d && psi.shape(1) == d, "psi must be d x d");
        return bound<Gaussian>(as_span(rows), static_cast<int>(rows.shape(0)), static_cast<int>(d),
                               r, nu, as_span(psi));
      },
      nb::arg("rows"), nb::arg("r"), nb::arg("nu"), nb::arg("psi"), nb::keep_alive<0, 1>(),
      "Gaussian rows, centred on the prior mean, under a Normal-Wishart prior.");
}

}  // namespace mixwood::bindings
