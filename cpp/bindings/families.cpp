// `Family`: the additive statistics, for tests, oracles and users' checks.
#include "bindings.hpp"
#include "family.hpp"

namespace mixwood::bindings {

namespace {

using Rows = Input<std::int64_t, 1>;
using Statistic = Input<double, 1>;

int checked_row(const AnyFamily& family, std::int64_t row) {
  if (row < 0 || row >= family.n_rows())
    throw nb::index_error(("row must lie in 0.." + std::to_string(family.n_rows() - 1)).c_str());
  return static_cast<int>(row);
}

std::vector<double> copied(const AnyFamily& family, const Statistic& statistic) {
  require(statistic.size() == static_cast<std::size_t>(family.statistic_size()),
          "statistic must have the family's statistic_size entries");
  return {statistic.data(), statistic.data() + statistic.size()};
}

Result<double> handed_over(std::vector<double> statistic) {
  const std::size_t size = statistic.size();
  return to_numpy(std::move(statistic), {size});
}

std::vector<double> statistics_of(const AnyFamily& family, const Rows& rows) {
  std::vector<double> statistic(static_cast<std::size_t>(family.statistic_size()), 0.0);
  for (const std::int64_t row : as_span(rows))
    family.observe(statistic.data(), checked_row(family, row));
  return statistic;
}

}  // namespace

void bind_families(nb::module_& m) {
  nb::class_<AnyFamily>(m, "Family", "A conjugate family over the rows of a data set.")
      .def_prop_ro("n_rows", &AnyFamily::n_rows)
      .def_prop_ro("statistic_size", &AnyFamily::statistic_size)
      .def_prop_ro("has_atoms", &AnyFamily::has_atoms,
                   "Whether a cluster's parameters can be drawn, as the slice sampler must.")
      .def(
          "statistics",
          [](const AnyFamily& f, Rows rows) { return handed_over(statistics_of(f, rows)); },
          nb::arg("rows"), "The additive statistic of some rows.")
      .def(
          "observe",
          [](const AnyFamily& f, Statistic statistic, std::int64_t row) {
            auto s = copied(f, statistic);
            f.observe(s.data(), checked_row(f, row));
            return handed_over(std::move(s));
          },
          nb::arg("statistic"), nb::arg("row"), "The statistic with one row more.")
      .def(
          "forget",
          [](const AnyFamily& f, Statistic statistic, std::int64_t row) {
            auto s = copied(f, statistic);
            f.forget(s.data(), checked_row(f, row));
            return handed_over(std::move(s));
          },
          nb::arg("statistic"), nb::arg("row"), "The statistic with one of its rows fewer.")
      .def(
          "merge",
          [](const AnyFamily& f, Statistic first, Statistic second) {
            auto s = copied(f, first);
            f.merge(s.data(), copied(f, second).data());
            return handed_over(std::move(s));
          },
          nb::arg("first"), nb::arg("second"), "The statistic of two disjoint sets of rows.")
      .def(
          "subtract",
          [](const AnyFamily& f, Statistic whole, Statistic part) {
            auto s = copied(f, whole);
            f.subtract(s.data(), copied(f, part).data());
            return handed_over(std::move(s));
          },
          nb::arg("whole"), nb::arg("part"), "The statistic of a set of rows without a subset.")
      .def(
          "log_marginal_of",
          [](const AnyFamily& f, Statistic statistic) {
            auto s = copied(f, statistic);
            return f.log_marginal(s.data());
          },
          nb::arg("statistic"), "log P(X_c) from a statistic, row constants left out.")
      .def(
          "log_marginal",
          [](const AnyFamily& f, Rows rows) {
            return f.log_marginal(statistics_of(f, rows).data());
          },
          nb::arg("rows"), "log P(X_c) of some rows, row constants left out.")
      .def(
          "log_alone",
          [](const AnyFamily& f) {
            std::vector<double> values(static_cast<std::size_t>(f.n_rows()));
            for (int row = 0; row < f.n_rows(); ++row) values[row] = f.log_alone(row);
            return handed_over(std::move(values));
          },
          "log P(x_i) of every row, row constants left out.")
      .def(
          "leaves",
          [](const AnyFamily& f, Input<double, 2> statistics, Rows sizes, Statistic log_apart,
             Statistic weights) {
            require(statistics.shape(1) == static_cast<std::size_t>(f.statistic_size()),
                    "statistics must have the family's statistic_size columns");
            return f.leaves(as_span(statistics),
                            leaf_sums(statistics.shape(0), sizes, log_apart, weights));
          },
          nb::arg("statistics"), nb::arg("sizes"), nb::arg("log_apart"), nb::arg("weights"),
          nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(), nb::keep_alive<0, 3>(),
          nb::keep_alive<0, 4>(), nb::keep_alive<0, 5>(),
          "The family of weighted leaves, each given by its statistic and sums.");
  bind_gaussian(m);
  bind_diagonal_gaussian(m);
  bind_spherical_gaussian(m);
  bind_multinomial(m);
  bind_categorical(m);
  bind_poisson(m);
}

}  // namespace mixwood::bindings
