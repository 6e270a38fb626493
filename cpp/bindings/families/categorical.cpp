#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "bindings/bound_family.hpp"
#include "mixwood/family/categorical_atoms.hpp"
#include "mixwood/family/categorical_clusters.hpp"

namespace mixwood::bindings {

namespace {

// The core trusts its input; a wrong code would read outside an array.
void check_codes(const Input<std::int32_t, 2>& codes, std::span<const std::int32_t> offsets,
                 std::size_t categories) {
  const std::size_t d = codes.shape(1);
  require(offsets.size() == d + 1 && offsets.front() == 0 &&
              offsets.back() == static_cast<std::int64_t>(categories),
          "offsets must run from 0 to the number of pseudo-counts, one more than columns");
  for (std::size_t j = 0; j < d; ++j)
    require(offsets[j] < offsets[j + 1], "each column needs a category");
  const auto values = as_span(codes);
  for (std::size_t e = 0; e < values.size(); ++e)
    require(values[e] < offsets[e % d + 1] - offsets[e % d], "a code is beyond its column's last");
}

}  // namespace

void bind_categorical(nb::module_& m) {
  m.def(
      "categorical",
      [](Input<std::int32_t, 2> codes, Input<std::int32_t, 1> offsets,
         Input<double, 1> pseudo_counts, const std::optional<Law>& law, bool for_these_rows) {
        check_codes(codes, as_span(offsets), pseudo_counts.size());
        return bound<Categorical>(as_span(codes), static_cast<int>(codes.shape(0)),
                                  static_cast<int>(codes.shape(1)), as_span(offsets),
                                  as_span(pseudo_counts), law ? hyperprior(*law) : Hyperprior{},
                                  for_these_rows);
      },
      nb::arg("codes"), nb::arg("offsets"), nb::arg("pseudo_counts"),
      nb::arg("law").none() = nb::none(), nb::arg("for_these_rows") = false, nb::keep_alive<0, 1>(),
      "Independent categorical columns under Dirichlet priors; negative codes are missing. "
      "for_these_rows: categories that no row has may be kept as one.");
}

}  // namespace mixwood::bindings
