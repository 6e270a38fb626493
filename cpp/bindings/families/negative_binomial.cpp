#include "mixwood/family/negative_binomial.hpp"

#include "bindings/bound_columns.hpp"

namespace mixwood::bindings {

void bind_negative_binomial(nb::module_& m) {
  m.def(
      "negative_binomial",
      [](Input<double, 2> rows, Input<double, 1> sizes, Input<double, 1> shapes,
         Input<double, 1> means, const std::optional<Law>& size_law,
         const std::optional<Law>& shape_law, const std::optional<Input<double, 1>>& exposures) {
        const std::size_t d = rows.shape(1);
        require(sizes.size() == d && shapes.size() == d && means.size() == d,
                "sizes, shapes and means must have one entry per column");
        return bound_columns(
            rows,
            NegativeBinomialLaw(as_span(sizes), as_span(shapes), as_span(means),
                                hyperprior_or_none(size_law), hyperprior_or_none(shape_law)),
            exposures);
      },
      nb::arg("rows"), nb::arg("sizes"), nb::arg("shapes"), nb::arg("means"),
      nb::arg("size_law").none() = nb::none(), nb::arg("shape_law").none() = nb::none(),
      nb::arg("exposures").none() = nb::none(), nb::keep_alive<0, 1>(), nb::keep_alive<0, 7>(),
      "Independent negative binomial columns under Beta priors; NaN entries are missing.");
}

}  // namespace mixwood::bindings
