// `Family`: the additive statistics, for tests, oracles and users' checks.
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <optional>

#include "any_family.hpp"
#include "bindings.hpp"
#include "family_registry.hpp"
#include "mixwood/family/erased_of.hpp"
#include "mixwood/family/leaves.hpp"
#include "mixwood/family/predictive_table.hpp"
#include "mixwood/interrupt.hpp"

namespace mixwood::bindings {

namespace {

using Rows = Input<std::int64_t, 1>;
using Statistic = Input<double, 1>;
using Statistics = Input<double, 2>;
using Labels = Input<std::int32_t, 1>;

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
    family.erased().observe(statistic.data(), checked_row(family, row));
  return statistic;
}

Result<double> statistics_by_label(const AnyFamily& family, const Labels& labels) {
  require(labels.size() == static_cast<std::size_t>(family.n_rows()),
          "labels must have one entry per row");
  const auto given = as_span(labels);
  const std::int32_t largest = given.empty() ? -1 : *std::max_element(given.begin(), given.end());
  require(largest < family.n_rows(), "labels must lie below the number of rows");
  const auto count = static_cast<std::size_t>(std::max(largest, -1) + 1);
  const auto size = static_cast<std::size_t>(family.statistic_size());
  std::vector<double> statistics(count * size);
  {
    nb::gil_scoped_release released;
    cluster_statistics(family.erased(), given, statistics.data());
  }
  return to_numpy(std::move(statistics), {count, size});
}

Result<double> log_predictive_table(const AnyFamily& family, const Statistics& statistics,
                                    std::int64_t first, std::int64_t end) {
  const std::size_t count = statistics.shape(0);
  const auto size = static_cast<std::size_t>(family.statistic_size());
  const auto outer = static_cast<std::size_t>(family.erased().outer_size());
  require(statistics.shape(1) == size || statistics.shape(1) == outer,
          "statistics must have the family's statistic_size columns");
  std::span<const double> given = as_span(statistics);
  std::vector<double> condensed;
  if (statistics.shape(1) != size) {
    condensed.resize(count * size);
    for (std::size_t k = 0; k < count; ++k)
      family.erased().condense(given.data() + k * outer, condensed.data() + k * size);
    given = condensed;
  }
  require(first >= 0 && first <= end && end <= family.n_rows(), "rows must lie within the family");
  const auto rows = static_cast<std::size_t>(end - first);
  std::vector<double> table(rows * count);
  {
    nb::gil_scoped_release released;
    Interrupt::of_thread().tick(0);
    if (!table.empty())
      predictive_table(family.erased(), given, static_cast<int>(first), static_cast<int>(end),
                       table.data());
  }
  return to_numpy(std::move(table), {rows, count});
}

// Of rows with a latent part.
void score_known_alone(const ErasedFamily& family, double* values) {
  if (family.latent_size() == 0) return;
  const auto latents = family.latents();
  if (latents->given_atoms()) return;
  latents->start(0);
  for (const int row : family.latent_rows()) {
    latents->load(row);
    values[row] = latents->score_alone();
  }
}

}  // namespace

LeafSums leaf_sums(std::size_t leaves, const Input<double, 1>& sizes,
                   const Input<double, 1>& log_apart, const Input<double, 1>& weights,
                   const std::optional<Input<std::uint8_t, 1>>& marks,
                   const std::optional<Input<std::int32_t, 1>>& rows) {
  require(leaves > 0 && sizes.size() == leaves && log_apart.size() == leaves &&
              weights.size() == leaves && (!marks || marks->size() == leaves) &&
              (!rows || rows->size() == leaves),
          "sizes, log_apart, weights, marks and rows must have one entry per leaf");
  LeafSums sums{as_span(sizes), as_span(log_apart), as_span(weights), {}, {}, {}, {}};
  if (marks) sums.marks = as_span(*marks);
  if (rows) sums.rows = as_span(*rows);
  for (const std::uint8_t mark : sums.marks) require(mark <= 1, "marks must be 0 or 1");
  return sums;
}

void bind_families(nb::module_& m) {
  nb::class_<AnyFamily>(m, "Family", "A conjugate family over the rows of a data set.")
      .def_prop_ro("n_rows", &AnyFamily::n_rows)
      .def_prop_ro("statistic_size", &AnyFamily::statistic_size)
      .def_prop_ro(
          "base_size", [](const AnyFamily& f) { return f.erased().base_size(); },
          "How many numbers the learned base measure is; 0 where it is fixed.")
      .def_prop_ro(
          "base",
          [](const AnyFamily& f) {
            std::vector<double> base(static_cast<std::size_t>(f.erased().base_size()));
            f.erased().read_base(base.data());
            return handed_over(std::move(base));
          },
          nb::rv_policy::move, "The learned base measure.")
      .def_prop_ro(
          "latent_size", [](const AnyFamily& f) { return f.erased().latent_size(); },
          "How many entries of the rows are missing and filled in.")
      .def_prop_ro(
          "latent",
          [](const AnyFamily& f) {
            std::vector<double> latent(static_cast<std::size_t>(f.erased().latent_size()));
            f.erased().read_latent(latent.data());
            return handed_over(std::move(latent));
          },
          nb::rv_policy::move, "What the missing entries are filled in with.")
      .def(
          "at",
          [](const AnyFamily& f, Statistic base, std::optional<Statistic> latent) {
            return f.at(as_span(base), latent ? as_span(*latent) : std::span<const double>());
          },
          nb::arg("base"), nb::arg("latent").none() = nb::none(), nb::keep_alive<0, 1>(),
          "The same rows under another base measure, filled in otherwise if that is given.")
      .def_prop_ro(
          "has_atoms", [](const AnyFamily& f) { return f.erased().has_atoms(); },
          "Whether a cluster's parameters can be drawn, as the slice sampler must.")
      .def(
          "statistics",
          [](const AnyFamily& f, Rows rows) { return handed_over(statistics_of(f, rows)); },
          nb::arg("rows"), "The additive statistic of some rows.")
      .def(
          "observe",
          [](const AnyFamily& f, Statistic statistic, std::int64_t row) {
            auto s = copied(f, statistic);
            f.erased().observe(s.data(), checked_row(f, row));
            return handed_over(std::move(s));
          },
          nb::arg("statistic"), nb::arg("row"), "The statistic with one row more.")
      .def(
          "forget",
          [](const AnyFamily& f, Statistic statistic, std::int64_t row) {
            auto s = copied(f, statistic);
            f.erased().forget(s.data(), checked_row(f, row));
            return handed_over(std::move(s));
          },
          nb::arg("statistic"), nb::arg("row"), "The statistic with one of its rows fewer.")
      .def(
          "merge",
          [](const AnyFamily& f, Statistic first, Statistic second) {
            auto s = copied(f, first);
            f.erased().merge(s.data(), copied(f, second).data());
            return handed_over(std::move(s));
          },
          nb::arg("first"), nb::arg("second"), "The statistic of two disjoint sets of rows.")
      .def(
          "subtract",
          [](const AnyFamily& f, Statistic whole, Statistic part) {
            auto s = copied(f, whole);
            f.erased().subtract(s.data(), copied(f, part).data());
            return handed_over(std::move(s));
          },
          nb::arg("whole"), nb::arg("part"), "The statistic of a set of rows without a subset.")
      .def(
          "log_marginal_of",
          [](const AnyFamily& f, Statistic statistic) {
            auto s = copied(f, statistic);
            return f.erased().log_marginal(s.data());
          },
          nb::arg("statistic"), "log P(X_c) from a statistic, row constants left out.")
      .def(
          "log_marginal",
          [](const AnyFamily& f, Rows rows) {
            return f.erased().log_marginal(statistics_of(f, rows).data());
          },
          nb::arg("rows"), "log P(X_c) of some rows, row constants left out.")
      .def(
          "log_alone",
          [](const AnyFamily& f) {
            std::vector<double> values(static_cast<std::size_t>(f.n_rows()));
            for (int row = 0; row < f.n_rows(); ++row) values[row] = f.erased().log_alone(row);
            score_known_alone(f.erased(), values.data());
            for (int row = 0; row < f.n_rows(); ++row) values[row] += f.erased().row_term(row);
            return handed_over(std::move(values));
          },
          "log P(x_i) of every row, row constants left out; of what is known of it where entries "
          "are missing.")
      .def(
          "leaves",
          [](const AnyFamily& f, Input<double, 2> statistics, Statistic sizes, Statistic log_apart,
             Statistic weights, std::optional<Input<std::uint8_t, 1>> marks,
             std::optional<Input<std::int32_t, 1>> rows,
             std::optional<Input<std::int32_t, 1>> leaf_of_row,
             std::optional<Statistic> row_weights) {
            require(statistics.shape(1) == static_cast<std::size_t>(f.statistic_size()),
                    "statistics must have the family's statistic_size columns");
            if (f.erased().is_weighted() || f.erased().is_sparse())
              throw nb::type_error("this family cannot have leaves of plain statistics");
            LeafSums sums = leaf_sums(statistics.shape(0), sizes, log_apart, weights, marks, rows);
            const auto n = static_cast<std::size_t>(f.n_rows());
            require(leaf_of_row.has_value() == row_weights.has_value() &&
                        (!leaf_of_row || (leaf_of_row->size() == n && row_weights->size() == n)),
                    "leaf_of_row and row_weights must have one entry per row of the family");
            if (leaf_of_row) sums.leaf_of_row = as_span(*leaf_of_row);
            if (row_weights) sums.row_weights = as_span(*row_weights);
            for (const std::int32_t leaf : sums.leaf_of_row)
              require(leaf < static_cast<std::int64_t>(sums.sizes.size()),
                      "leaf_of_row must name leaves, or be negative");
            for (std::size_t leaf = 0; leaf < sums.rows.size(); ++leaf)
              require(
                  sums.rows[leaf] < f.n_rows() && (sums.rows[leaf] < 0 || sums.sizes[leaf] == 1),
                  "rows must lie within the family, and count as one each");
            return bound_leaves(
                std::make_shared<Leaves>(own_family(f.shared_erased()), as_span(statistics), sums));
          },
          nb::arg("statistics"), nb::arg("sizes"), nb::arg("log_apart"), nb::arg("weights"),
          nb::arg("marks").none() = nb::none(), nb::arg("rows").none() = nb::none(),
          nb::arg("leaf_of_row").none() = nb::none(), nb::arg("row_weights").none() = nb::none(),
          nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(), nb::keep_alive<0, 3>(),
          nb::keep_alive<0, 4>(), nb::keep_alive<0, 5>(), nb::keep_alive<0, 6>(),
          nb::keep_alive<0, 7>(), nb::keep_alive<0, 8>(), nb::keep_alive<0, 9>(),
          "The family of weighted leaves, each given by its statistic and sums; no two leaves "
          "with a mark of 1 are ever in one cluster. rows: which row of this family a leaf is, "
          "-1 where it is none or counts as more than one. leaf_of_row and row_weights, where "
          "something is learned from the rows of this family themselves: the leaf of each, -1 for "
          "none, and what it counts as.")
      .def(
          "cluster_statistics", &statistics_by_label, nb::arg("labels"),
          "The statistics of clusters 0 to K-1, one per row; rows of negative labels are left out.")
      .def("log_predictive_table", &log_predictive_table, nb::arg("statistics"), nb::arg("first"),
           nb::arg("end"),
           "log P(x_i | X_c), row constants left out, of the rows from first to before end against "
           "clusters that do not hold them, given by their statistics.");
  bind_each_family(m);
}

}  // namespace mixwood::bindings
