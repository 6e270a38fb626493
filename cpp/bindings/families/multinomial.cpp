#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "bindings/bound_family.hpp"
#include "mixwood/family/multinomial_atoms.hpp"

namespace mixwood::bindings {

namespace {

// The core trusts its input; a wrong index would read outside an array.
void check_sparse(std::span<const std::int64_t> starts, std::span<const std::int32_t> words,
                  std::span<const std::int32_t> counts, int width) {
  require(!starts.empty() && starts.front() == 0, "starts must begin with 0");
  require(words.size() == counts.size() && starts.back() == static_cast<std::int64_t>(words.size()),
          "starts must end with the number of entries");
  for (std::size_t i = 1; i < starts.size(); ++i)
    require(starts[i] >= starts[i - 1], "starts must not decrease");
  for (const std::int32_t word : words)
    require(word >= 0 && word < width, "words must lie in 0..width-1");
  for (const std::int32_t count : counts) require(count >= 0, "counts must not be negative");
}

}  // namespace

void bind_multinomial(nb::module_& m) {
  m.def(
      "multinomial",
      [](Input<std::int64_t, 1> starts, Input<std::int32_t, 1> words, Input<std::int32_t, 1> counts,
         int width, double beta, const std::optional<Law>& law) {
        check_sparse(as_span(starts), as_span(words), as_span(counts), width);
        return bound<Multinomial>(as_span(starts), as_span(words), as_span(counts), width, beta,
                                  law ? hyperprior(*law) : Hyperprior{});
      },
      nb::arg("starts"), nb::arg("words"), nb::arg("counts"), nb::arg("width"), nb::arg("beta"),
      nb::arg("law").none() = nb::none(), nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(),
      nb::keep_alive<0, 3>(), "Sparse rows of counts under a symmetric Dirichlet prior.");
  m.def(
      "multinomial_leaves",
      [](Input<std::int64_t, 1> starts, Input<std::int32_t, 1> words, Input<std::int32_t, 1> counts,
         int width, double beta, Input<double, 1> sizes, Input<double, 1> log_apart,
         Input<double, 1> weights, const std::optional<Law>& law,
         std::optional<Input<std::uint8_t, 1>> marks) {
        check_sparse(as_span(starts), as_span(words), as_span(counts), width);
        // A leaf counts as one row that has all the counts of its rows: P(X_c) sees nothing else
        // of them.
        return bound_leaves(std::make_shared<ErasedOf<Multinomial>>(
            std::make_shared<Multinomial>(as_span(starts), as_span(words), as_span(counts), width,
                                          beta, law ? hyperprior(*law) : Hyperprior{}),
            leaf_sums(starts.size() - 1, sizes, log_apart, weights, marks)));
      },
      nb::arg("starts"), nb::arg("words"), nb::arg("counts"), nb::arg("width"), nb::arg("beta"),
      nb::arg("sizes"), nb::arg("log_apart"), nb::arg("weights"),
      nb::arg("law").none() = nb::none(), nb::arg("marks").none() = nb::none(),
      nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(), nb::keep_alive<0, 3>(),
      nb::keep_alive<0, 6>(), nb::keep_alive<0, 7>(), nb::keep_alive<0, 8>(),
      nb::keep_alive<0, 10>(),
      "Weighted leaves of such rows: the counts of each leaf's rows added up, and its sums.");
}

}  // namespace mixwood::bindings
