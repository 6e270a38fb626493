#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "bindings/bound_family.hpp"
#include "mixwood/family/poisson_atoms.hpp"

namespace mixwood::bindings {

void bind_poisson(nb::module_& m) {
  m.def(
      "poisson",
      [](Input<double, 2> rows, Input<double, 1> shapes, Input<double, 1> rates, bool tied,
         const std::optional<Law>& law, const std::optional<Input<double, 1>>& exposures) {
        require(shapes.size() == rows.shape(1) && rates.size() == rows.shape(1),
                "shapes and rates must have one entry per column");
        require(!exposures || exposures->size() == rows.shape(0),
                "exposures must have one entry per row");
        return bound<Poisson>(as_span(rows), static_cast<int>(rows.shape(0)),
                              static_cast<int>(rows.shape(1)), as_span(shapes), as_span(rates),
                              tied, law ? hyperprior(*law) : Hyperprior{}, as_span(exposures));
      },
      nb::arg("rows"), nb::arg("shapes"), nb::arg("rates"), nb::arg("tied") = false,
      nb::arg("law").none() = nb::none(), nb::arg("exposures").none() = nb::none(),
      nb::keep_alive<0, 1>(), nb::keep_alive<0, 6>(),
      "Independent Poisson columns under Gamma priors; NaN entries are missing.");
}

}  // namespace mixwood::bindings
