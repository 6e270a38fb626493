// Losses between partitions, the search for the best one, and co-clustering. Python runs the
// threads; the GIL is released in each of them.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <optional>
#include <string>

#include "arrays.hpp"
#include "bindings.hpp"
#include "bit_generator.hpp"
#include "mixwood/estimate/contingency.hpp"
#include "mixwood/estimate/draw_table.hpp"
#include "mixwood/estimate/loss.hpp"
#include "mixwood/estimate/search.hpp"
#include "mixwood/estimate/similarity.hpp"
#include "mixwood/interrupt.hpp"

namespace mixwood::bindings {

namespace {

using Labels = Input<std::int32_t, 1>;
using Draws = Input<std::int32_t, 2>;

LossKind loss_kind(const std::string& name) {
  if (name == "vi") return LossKind::variation_of_information;
  require(name == "binder", "loss must be 'vi' or 'binder'");
  return LossKind::binder;
}

void require_labels(std::span<const std::int32_t> labels, std::size_t most) {
  require(std::ranges::all_of(labels,
                              [most](std::int32_t label) {
                                return label >= 0 && static_cast<std::size_t>(label) < most;
                              }),
          "labels must be at least 0 and below the number of clusters that there may be");
}

// How many rows each of n items stands for; all together fit into 32 bits.
std::span<const std::int32_t> checked_sizes(const Labels& sizes, std::size_t n) {
  require(sizes.size() == n, "sizes must have one entry per item");
  std::int64_t total = 0;
  for (const std::int32_t size : as_span(sizes)) {
    require(size >= 1, "sizes must be at least 1");
    total += size;
  }
  require(total <= std::numeric_limits<std::int32_t>::max(), "sizes must sum to less than 2^31");
  return as_span(sizes);
}

// The draws, held for searches that may run at the same time.
class Search {
 public:
  Search(Draws labels, Input<double, 1> weights, Labels sizes, const std::string& loss,
         int max_clusters)
      : n_(checked_items(labels)),
        most_(max_clusters),
        table_(loss_kind(loss), checked_sizes(sizes, labels.shape(1))),
        draws_((check(labels, weights), as_span(labels)), as_span(weights), n_) {}

  Result<std::int32_t> run(nb::object bit_generator, std::optional<Labels> start, int sweeps,
                           bool rebuild) {
    const auto from = start ? checked_start(*start) : std::span<const std::int32_t>();
    return search(bit_generator,
                  [=](PartitionSearch& one) { return one.run(from, sweeps, rebuild); });
  }

  Result<std::int32_t> polish(nb::object bit_generator, Labels start, int sweeps) {
    const auto from = checked_start(start);
    return search(bit_generator, [=](PartitionSearch& one) { return one.polish(from, sweeps); });
  }

  void stop() { stop_ = true; }

 private:
  template <class Run>
  Result<std::int32_t> search(const nb::object& bit_generator, Run run) {
    BitGenerator* source = bit_generator_of(bit_generator);
    std::vector<std::int32_t> labels;
    {
      nb::gil_scoped_release released;
      PartitionSearch one(draws_, table_, most_, Stream(source), stop_);
      labels = run(one);
    }
    return to_numpy(std::move(labels), {static_cast<std::size_t>(n_)});
  }

  std::span<const std::int32_t> checked_start(const Labels& start) const {
    require(start.size() == static_cast<std::size_t>(n_), "start must have one label per item");
    require_labels(as_span(start), static_cast<std::size_t>(most_));
    return as_span(start);
  }
  static int checked_items(const Draws& labels) {
    require(labels.size() > 0, "labels must be draws x n, neither of them 0");
    return static_cast<int>(labels.shape(1));
  }
  void check(const Draws& labels, const Input<double, 1>& weights) const {
    require(weights.size() == labels.shape(0), "weights must have one entry per draw");
    require(most_ >= 1 && most_ <= n_, "max_clusters must be from 1 to n");
    require_labels(as_span(labels), labels.shape(1));
  }

  int n_;
  int most_;
  LossTable table_;
  DrawTable draws_;
  std::atomic<bool> stop_ = false;
};

Result<double> losses(Draws labels, Labels candidate, Labels sizes, const std::string& loss) {
  const std::size_t draws = labels.shape(0);
  const std::size_t n = labels.shape(1);
  require(candidate.size() == n && n > 0, "candidate must have one label per item");
  const LossKind kind = loss_kind(loss);
  require_labels(as_span(labels), n);
  require_labels(as_span(candidate), n);
  const auto rows = checked_sizes(sizes, n);
  std::vector<double> values(draws);
  {
    nb::gil_scoped_release released;
    const LossTable table(kind, rows);
    LossFrom from(as_span(candidate), table);
    for (std::size_t d = 0; d < draws; ++d) {
      Interrupt::of_thread().tick(0);
      values[d] = from.to(as_span(labels).subspan(d * n, n));
    }
  }
  return to_numpy(std::move(values), {draws});
}

template <class Real>
void similarity_rows(Input<std::uint16_t, 2> labels, std::int64_t first, std::int64_t last,
                     Output<Real, 2> table) {
  const std::size_t n = labels.shape(1);
  require(table.shape(0) == n && table.shape(1) == n, "table must be n x n");
  require(0 <= first && first <= last && static_cast<std::size_t>(last) <= n,
          "first and last must be rows of the table");
  nb::gil_scoped_release released;
  write_similarity(as_span(labels), n, static_cast<std::size_t>(first),
                   static_cast<std::size_t>(last), table.data());
}

}  // namespace

void bind_estimates(nb::module_& m) {
  nb::class_<Search>(m, "PartitionSearch",
                     "Randomized greedy searches for the partition of least expected loss.")
      .def(nb::init<Draws, Input<double, 1>, Labels, const std::string&, int>(), nb::arg("labels"),
           nb::arg("weights"), nb::arg("sizes"), nb::arg("loss"), nb::arg("max_clusters"))
      .def("run", &Search::run, nb::arg("bit_generator"), nb::arg("start").none(),
           nb::arg("sweeps"), nb::arg("rebuild"),
           "The labels that one search ends at; searches may run in several threads.")
      .def("polish", &Search::polish, nb::arg("bit_generator"), nb::arg("start"), nb::arg("sweeps"),
           "The labels after items that want to move have moved, from a start that is nearly best.")
      .def("stop", &Search::stop, "End all searches; what they return then means nothing.");
  m.def("partition_losses", &losses, nb::arg("labels"), nb::arg("candidate"), nb::arg("sizes"),
        nb::arg("loss"),
        "The loss of a candidate against every row of labels; items stand for `sizes` rows.");
  const char* similarity = "Write rows first..last-1 of the co-clustering table, and their mirror.";
  m.def("similarity_rows", &similarity_rows<double>, nb::arg("labels"), nb::arg("first"),
        nb::arg("last"), nb::arg("table"), similarity);
  m.def("similarity_rows", &similarity_rows<float>, nb::arg("labels"), nb::arg("first"),
        nb::arg("last"), nb::arg("table"), similarity);
}

}  // namespace mixwood::bindings
