// `Forest`: trees over the rows of a family, grown by BHC or IBHC.
#include "mixwood/tree/forest.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "any_family.hpp"
#include "bindings.hpp"
#include "mixwood/interrupt.hpp"
#include "mixwood/memory.hpp"
#include "mixwood/tree/bhc.hpp"
#include "mixwood/tree/buckets.hpp"
#include "mixwood/tree/collapse.hpp"
#include "mixwood/tree/export.hpp"
#include "mixwood/tree/forest_check.hpp"
#include "mixwood/tree/ibhc.hpp"

namespace mixwood::bindings {

namespace {

using Rows = Input<std::int64_t, 1>;
using Dictionary = nb::typed<nb::dict, nb::str, nb::any>;

TreeSearch search_of(const std::string& name) {
  if (name == "index") return TreeSearch::index;
  if (name == "exact") return TreeSearch::exact;
  require(name == "compared", "search must be 'index', 'exact' or 'compared'");
  return TreeSearch::compared;
}

// A forest and how it grows.
class GrowingForest {
 public:
  GrowingForest(std::shared_ptr<const ErasedFamily> family, Prior prior, DescentRule rule,
                TreeSearch search)
      : forest_(std::move(family), prior),
        growth_(forest_, rule, search),
        order_(rule == DescentRule::paper ? MergeOrder::published : MergeOrder::balanced) {}

  void insert(std::span<const std::int64_t> rows) {
    for (const std::int64_t row : rows) growth_.insert(leaf(row));
  }
  void insert_in_buckets(std::span<const std::int64_t> rows, int threads) {
    mixwood::insert_in_buckets(forest_, growth_, {rows.begin(), rows.end()}, threads);
  }
  void on_top(std::span<const std::int64_t> rows) {
    for (const std::int64_t row : rows) growth_.insert_on_top(leaf(row));
  }
  void agglomerate(std::span<const std::int64_t> rows) {
    std::vector<int> leaves;
    for (const std::int64_t row : rows) {
      Interrupt::of_thread().tick();
      leaves.push_back(leaf(row));
    }
    for (const int root : GreedyClustering(forest_, order_)(leaves, true)) forest_.add_tree(root);
  }
  void join_trees() { join_near_trees(forest_, growth_); }
  void collapse(int max_leaves) { Collapse(forest_, growth_)(max_leaves); }
  void set_parameters(PriorValues values) { forest_.set_parameters(values); }
  void rebind(const std::shared_ptr<const ErasedFamily>& family,
              std::span<const std::int64_t> rows) {
    require(forest_.family().is_same_kind(*family), "family must be of the same kind");
    forest_.rebind(family, rows);
  }
  FlatTree flat() { return flatten(forest_); }
  FlatLeaves leaves() { return flat_leaves(forest_); }
  std::vector<std::int32_t> labels() { return row_labels(forest_); }
  FlatSums leaf_sums(int first, int last) { return mixwood::leaf_sums(forest_, first, last); }
  int statistic_size() const { return forest_.family().statistic_size(); }
  double log_potential() {
    const JoinedForest joined(forest_);
    return joined.root() == Arena::none ? 0.0 : forest_.nodes().log_tree[joined.root()];
  }
  void check() {
    ForestCheck{}(forest_);
    growth_.check();
  }
  std::pair<std::int64_t, std::int64_t> search_counts() const {
    return {growth_.search_counts().searches, growth_.search_counts().differing};
  }
  bool takes_buckets() const { return mixwood::takes_buckets(forest_.family()); }
  int n_trees() const { return static_cast<int>(forest_.trees().size()); }
  int n_leaves() const { return forest_.n_leaves(); }
  int n_rows() const { return forest_.family().n_rows(); }
  bool has(int row) const { return forest_.leaf_of_row()[row] != Arena::none; }

 private:
  int leaf(std::int64_t row) { return forest_.make_leaf(static_cast<int>(row)); }

  Forest forest_;
  IncrementalClustering growth_;
  MergeOrder order_;
};

// Holds the trees, and the family whose data they read alive.
class PythonForest {
 public:
  PythonForest(nb::object family, const std::string& prior, PriorValues values,
               const std::string& rule, const std::string& search)
      : family_(family) {
    require(rule == "balanced" || rule == "paper", "rule must be 'balanced' or 'paper'");
    forest_ = std::make_unique<GrowingForest>(
        nb::cast<const AnyFamily&>(family).shared_erased(), Prior(prior_named(prior), {}, values),
        rule == "paper" ? DescentRule::paper : DescentRule::balanced, search_of(search));
  }

  PythonForest(const PythonForest&) = delete;
  PythonForest& operator=(const PythonForest&) = delete;
  ~PythonForest() {
    const bool is_large = forest_->n_leaves() >= fewest_in_buckets;
    forest_.reset();
    if (is_large) return_freed_memory();
  }

  GrowingForest& forest() { return *forest_; }

  // Rows that can be put in: within range and not there yet, so that a refusal changes nothing.
  std::span<const std::int64_t> fresh(const Rows& rows) const {
    std::vector<char> seen(static_cast<std::size_t>(forest_->n_rows()), 0);
    for (const std::int64_t row : as_span(rows)) {
      require(row >= 0 && row < forest_->n_rows(), "rows must lie in 0..n_rows-1");
      require(seen[static_cast<std::size_t>(row)]++ == 0 && !forest_->has(static_cast<int>(row)),
              "a row can be put in only once");
    }
    return as_span(rows);
  }

  void rebind(nb::object family, const Rows& rows) {
    require(rows.size() == static_cast<std::size_t>(forest_->n_rows()),
            "rows must have one entry for each row so far");
    const auto& bound_family = nb::cast<const AnyFamily&>(family);
    std::vector<char> seen(static_cast<std::size_t>(bound_family.n_rows()), 0);
    for (const std::int64_t row : as_span(rows)) {
      require(row < bound_family.n_rows(), "rows must lie in 0..n_rows-1 of the new family");
      require(row < 0 || seen[static_cast<std::size_t>(row)]++ == 0, "rows must differ");
    }
    forest_->rebind(bound_family.shared_erased(), as_span(rows));
    family_ = family;
  }

  // All of it: `leaves` and the nodes above them.
  Dictionary flat() {
    Dictionary result = leaves();
    FlatTree flat;
    {
      nb::gil_scoped_release released;
      flat = forest_->flat();
    }
    put(result, "left", flat.left);
    put(result, "right", flat.right);
    put(result, "size", flat.size);
    put(result, "row", flat.row);
    put(result, "log_marginal", flat.log_marginal);
    put(result, "log_one", flat.log_one);
    put(result, "log_tree", flat.log_tree);
    return result;
  }
  Dictionary leaves() {
    FlatLeaves flat = forest_->leaves();
    Dictionary result;
    put(result, "tree", flat.tree);
    put(result, "leaf_of_row", flat.leaf_of_row);
    return result;
  }

  Result<std::int32_t> labels() {
    std::vector<std::int32_t> values = forest_->labels();
    const std::size_t size = values.size();
    return to_numpy(std::move(values), {size});
  }

  // The weighted leaves `first` to `last - 1`, of all that `leaves` numbers.
  Dictionary leaf_sums(int first, int last) {
    require(0 <= first && first <= last && last <= forest_->n_leaves(),
            "first and last must lie in 0..n_leaves");
    FlatSums sums = forest_->leaf_sums(first, last);
    Dictionary result;
    put(result, "size", sums.size);
    put(result, "log_apart", sums.log_apart);
    put(result, "weight", sums.weight);
    result["statistics"] =
        to_numpy(std::move(sums.statistics), {static_cast<std::size_t>(last - first),
                                              static_cast<std::size_t>(forest_->statistic_size())});
    return result;
  }

 private:
  template <class T>
  static void put(Dictionary& result, const char* name, std::vector<T>& values) {
    const std::size_t size = values.size();
    result[name] = to_numpy(std::move(values), {size});
  }

  nb::object family_;
  std::unique_ptr<GrowingForest> forest_;
};

}  // namespace

void bind_forest(nb::module_& m) {
  m.attr("GROWTH_LOG_U") = growth_log_u;
  m.attr("FEWEST_IN_BUCKETS") = fewest_in_buckets;
  nb::class_<PythonForest>(m, "Forest", "Trees over the rows of a family.")
      .def(
          "__init__",
          [](PythonForest* self, nb::object family, const std::string& prior, double log_u,
             double log_alpha, double sigma, double theta, const std::string& rule,
             const std::string& search) {
            new (self) PythonForest(family, prior, {log_u, log_alpha, sigma, theta}, rule, search);
          },
          nb::arg("family"), nb::arg("prior"), nb::arg("log_u"), nb::arg("log_alpha"),
          nb::arg("sigma"), nb::arg("theta"), nb::arg("rule"), nb::arg("search") = "index")
      .def(
          "insert",
          [](PythonForest& f, Rows rows) {
            const auto fresh = f.fresh(rows);
            nb::gil_scoped_release released;
            f.forest().insert(fresh);
          },
          nb::arg("rows"), "Insert rows one by one, as IBHC does.")
      .def(
          "insert_in_buckets",
          [](PythonForest& f, Rows rows, int threads) {
            require(threads >= 1, "threads must be at least 1");
            const auto fresh = f.fresh(rows);
            nb::gil_scoped_release released;
            f.forest().insert_in_buckets(fresh, threads);
          },
          nb::arg("rows"), nb::arg("threads") = 1,
          "Insert rows bucket by bucket, by the balanced rule; the same for any number of threads.")
      .def_prop_ro(
          "takes_buckets", [](PythonForest& f) { return f.forest().takes_buckets(); },
          "Whether rows of this family can be inserted in buckets.")
      .def(
          "on_top",
          [](PythonForest& f, Rows rows) {
            const auto fresh = f.fresh(rows);
            nb::gil_scoped_release released;
            f.forest().on_top(fresh);
          },
          nb::arg("rows"), "Put each row on top of its nearest tree, or alone; never cut.")
      .def(
          "agglomerate",
          [](PythonForest& f, Rows rows) {
            const auto fresh = f.fresh(rows);
            nb::gil_scoped_release released;
            f.forest().agglomerate(fresh);
          },
          nb::arg("rows"), "Join rows greedily, as BHC does, while d is at most 1.")
      .def(
          "join_trees",
          [](PythonForest& f) {
            nb::gil_scoped_release released;
            f.forest().join_trees();
          },
          "Join trees while two have a d of at most 1.")
      .def(
          "collapse",
          [](PythonForest& f, int max_leaves) {
            nb::gil_scoped_release released;
            f.forest().collapse(max_leaves);
          },
          nb::arg("max_leaves"), "Turn tight subtrees into weighted leaves until so few are left.")
      .def(
          "set_parameters",
          [](PythonForest& f, double log_u, double log_alpha, double sigma, double theta) {
            f.forest().set_parameters({log_u, log_alpha, sigma, theta});
          },
          nb::arg("log_u"), nb::arg("log_alpha"), nb::arg("sigma"), nb::arg("theta"),
          "New values of u and the parameters; every potential is computed again.")
      .def("rebind", &PythonForest::rebind, nb::arg("family"), nb::arg("rows"),
           "Go on over other data: old row i is rows[i] there, -1 where it is not needed.")
      .def("export", &PythonForest::flat, "The forest joined to one root, as flat arrays.")
      .def("leaves", &PythonForest::leaves, "Of `export` what needs no joining.")
      .def("labels", &PythonForest::labels,
           "The tree of each row, numbered as the rows come to them; -1 for rows that are not in.")
      .def("leaf_sums", &PythonForest::leaf_sums, nb::arg("first"), nb::arg("last"),
           "Of some leaves all that is kept of their rows: sizes, sums and statistics.")
      .def(
          "log_potential", [](PythonForest& f) { return f.forest().log_potential(); },
          "log phi of the tree that joins the forest to one root.")
      .def(
          "check", [](PythonForest& f) { f.forest().check(); },
          "Recompute every invariant from scratch; raise if one does not hold.")
      .def_prop_ro(
          "search_counts", [](PythonForest& f) { return f.forest().search_counts(); },
          "With search='compared': how many searches, and in how many the index erred.")
      .def_prop_ro("n_trees", [](PythonForest& f) { return f.forest().n_trees(); })
      .def_prop_ro("n_leaves", [](PythonForest& f) { return f.forest().n_leaves(); });
}

}  // namespace mixwood::bindings
