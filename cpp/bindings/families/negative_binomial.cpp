#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "bindings/bound_family.hpp"
#include "mixwood/family/negative_binomial_atoms.hpp"

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
        require(!exposures || exposures->size() == rows.shape(0),
                "exposures must have one entry per row");
        const auto copied = [](const Input<double, 1>& values) {
          const auto span = as_span(values);
          return std::vector<double>(span.begin(), span.end());
        };
        const auto law_of = [](const std::optional<Law>& law) {
          return law ? hyperprior(*law) : Hyperprior{};
        };
        return bound<NegativeBinomial>(
            as_span(rows), static_cast<int>(rows.shape(0)), static_cast<int>(d),
            NegativeBinomial::Prior{copied(sizes), copied(shapes), copied(means), law_of(size_law),
                                    law_of(shape_law)},
            as_span(exposures));
      },
      nb::arg("rows"), nb::arg("sizes"), nb::arg("shapes"), nb::arg("means"),
      nb::arg("size_law").none() = nb::none(), nb::arg("shape_law").none() = nb::none(),
      nb::arg("exposures").none() = nb::none(), nb::keep_alive<0, 1>(), nb::keep_alive<0, 7>(),
      "Independent negative binomial columns under Beta priors; NaN entries are missing.");
}

}  // namespace mixwood::bindings
