#include "bindings/bound_family.hpp"
#include "mixwood/family/poisson_atoms.hpp"

namespace mixwood::bindings {

void bind_poisson(nb::module_& m) {
  m.def(
      "poisson",
      [](Input<double, 2> rows, double shape, Input<double, 1> rates) {
        require(rates.size() == rows.shape(1), "rates must have one entry per column");
        return bound<Poisson>(as_span(rows), static_cast<int>(rows.shape(0)),
                              static_cast<int>(rows.shape(1)), shape, as_span(rates));
      },
      nb::arg("rows"), nb::arg("shape"), nb::arg("rates"), nb::keep_alive<0, 1>(),
      "Independent Poisson columns under Gamma priors; NaN entries are missing.");
}

}  // namespace mixwood::bindings
