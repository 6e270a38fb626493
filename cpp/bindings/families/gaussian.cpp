#include "bindings/bound_family.hpp"
#include "bindings/gaussians.hpp"
#include "mixwood/family/gaussian_atoms.hpp"
#include "mixwood/family/gaussian_latents.hpp"

namespace mixwood::bindings {

void bind_gaussian(nb::module_& m) {
  m.def(
      "gaussian",
      [](Input<double, 2> rows, double r, double nu, Input<double, 2> psi, Input<double, 1> fill) {
        return bound<Gaussian>(fixed_gaussian(rows, r, nu, psi, as_span(fill)));
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
        return bound<Gaussian>(learned_gaussian(rows, spread, floor, tie_floor, fraction, degrees,
                                                tau, nu, r, base, as_span(fill)));
      },
      nb::arg("rows"), nb::arg("spread"), nb::arg("floor"), nb::arg("tie_floor"),
      nb::arg("fraction"), nb::arg("degrees"), nb::arg("tau"), nb::arg("nu_law"), nb::arg("r_law"),
      nb::arg("base"), nb::arg("fill"), nb::keep_alive<0, 1>(),
      "Gaussian rows whose base measure is learned: Omega's lower triangle, ln nu', ln r.");
}

}  // namespace mixwood::bindings
