#include <span>

#include "bindings/bound_family.hpp"
#include "bindings/gaussians.hpp"
#include "mixwood/family/student_t_atoms.hpp"
#include "mixwood/family/student_t_latents.hpp"

namespace mixwood::bindings {

namespace {

// `df` is where it starts; a law that is fixed keeps it there.
std::unique_ptr<AnyFamily> bound_student_t(Gaussian normal, double df, const Law& law) {
  require(normal.latent_size() == 0, "rows of t clusters cannot have missing entries");
  return bound<StudentT>(std::move(normal), Freedom{.df = df, .law = hyperprior(law)});
}

}  // namespace

void bind_student_t(nb::module_& m) {
  m.def(
      "student_t",
      [](Input<double, 2> rows, double df, const Law& df_law, double r, double nu,
         Input<double, 2> psi) {
        return bound_student_t(fixed_gaussian(rows, r, nu, psi, {}), df, df_law);
      },
      nb::arg("rows"), nb::arg("df"), nb::arg("df_law"), nb::arg("r"), nb::arg("nu"),
      nb::arg("psi"), nb::keep_alive<0, 1>(),
      "Student t rows, centred on the prior mean, under a Normal-Wishart prior.");
  m.def(
      "student_t_learned",
      [](Input<double, 2> rows, double df, const Law& df_law, Input<double, 2> spread,
         Input<double, 2> floor, Input<double, 2> tie_floor, double fraction, double degrees,
         double tau, const Law& nu, const Law& r, Input<double, 1> base) {
        return bound_student_t(learned_gaussian(rows, spread, floor, tie_floor, fraction, degrees,
                                                tau, nu, r, base, {}),
                               df, df_law);
      },
      nb::arg("rows"), nb::arg("df"), nb::arg("df_law"), nb::arg("spread"), nb::arg("floor"),
      nb::arg("tie_floor"), nb::arg("fraction"), nb::arg("degrees"), nb::arg("tau"),
      nb::arg("nu_law"), nb::arg("r_law"), nb::arg("base"), nb::keep_alive<0, 1>(),
      "Student t rows whose base measure is learned: Omega's lower triangle, ln nu', ln r; and "
      "ln df where its law is not fixed.");
}

}  // namespace mixwood::bindings
