#include "mixwood/family/poisson.hpp"

#include "bindings/bound_columns.hpp"

namespace mixwood::bindings {

void bind_poisson(nb::module_& m) {
  m.def(
      "poisson",
      [](Input<double, 2> rows, Input<double, 1> shapes, Input<double, 1> rates, bool tied,
         const std::optional<Law>& law, const std::optional<Input<double, 1>>& exposures) {
        require(shapes.size() == rows.shape(1) && rates.size() == rows.shape(1),
                "shapes and rates must have one entry per column");
        return bound_columns(
            rows, PoissonLaw(as_span(shapes), as_span(rates), tied, hyperprior_or_none(law)),
            exposures);
      },
      nb::arg("rows"), nb::arg("shapes"), nb::arg("rates"), nb::arg("tied") = false,
      nb::arg("law").none() = nb::none(), nb::arg("exposures").none() = nb::none(),
      nb::keep_alive<0, 1>(), nb::keep_alive<0, 6>(),
      "Independent Poisson columns under Gamma priors; NaN entries are missing.");
}

}  // namespace mixwood::bindings
