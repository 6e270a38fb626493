// A family over data, whatever its kind: what Python holds as `Family`.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "mixwood/chain.hpp"
#include "mixwood/family/any_statistics.hpp"
#include "mixwood/family/family.hpp"
#include "mixwood/family/leaves.hpp"
#include "mixwood/family/part.hpp"
#include "mixwood/family/predictive_table.hpp"
#include "mixwood/tree/collapse.hpp"
#include "mixwood/tree/export.hpp"
#include "mixwood/tree/ibhc.hpp"
#include "samplers.hpp"

namespace mixwood::bindings {

class AnyFamily;

// Trees over the rows of a family, whatever its kind: what Python holds as `Forest`.
class AnyForest {
 public:
  AnyForest() = default;
  AnyForest(const AnyForest&) = delete;
  AnyForest& operator=(const AnyForest&) = delete;
  virtual ~AnyForest() = default;

  virtual void insert(std::span<const std::int64_t> rows) = 0;
  virtual void on_top(std::span<const std::int64_t> rows) = 0;
  virtual void agglomerate(std::span<const std::int64_t> rows) = 0;
  virtual void join_trees() = 0;
  virtual void collapse(int max_leaves) = 0;
  virtual void set_parameters(PriorValues values) = 0;
  virtual void rebind(const AnyFamily& family, std::span<const std::int64_t> rows) = 0;
  virtual FlatTree flat() = 0;
  virtual FlatLeaves leaves() = 0;
  virtual FlatSums leaf_sums(int first, int last) = 0;
  virtual int statistic_size() const = 0;
  virtual double log_potential() = 0;
  virtual void check() = 0;
  virtual std::pair<std::int64_t, std::int64_t> search_counts() const = 0;
  virtual int n_trees() const = 0;
  virtual int n_leaves() const = 0;
  virtual int n_rows() const = 0;
  virtual bool has(int row) const = 0;
};

class AnyFamily : public AnyStatistics {
 public:
  virtual int n_rows() const = 0;
  virtual void cluster_statistics(std::span<const std::int32_t> labels,
                                  double* statistics) const = 0;
  virtual void predictive_table(std::span<const double> statistics, int first, int end,
                                double* table) const = 0;
  virtual std::unique_ptr<const Part> part(std::vector<std::int32_t> places) const = 0;
  virtual std::unique_ptr<AnyChain> chain(Prior prior, std::span<const std::int32_t> labels,
                                          Stream random, const SamplerOptions& options) const = 0;
  virtual std::unique_ptr<AnyForest> forest(Prior prior, DescentRule rule,
                                            TreeSearch search) const = 0;
  // Weighted leaves as the rows; the arrays must outlive them.
  virtual std::unique_ptr<AnyFamily> leaves(std::span<const double> statistics,
                                            LeafSums sums) const = 0;
};

template <Family F>
class BoundForest;

template <Family F>
class BoundFamily final : public AnyFamily {
 public:
  explicit BoundFamily(std::shared_ptr<const F> family) : family_(std::move(family)) {}

  int n_rows() const override { return family_->n_rows(); }
  int statistic_size() const override { return family_->statistic_size(); }
  void observe(double* s, int row) const override { family_->observe(s, row); }
  void forget(double* s, int row) const override { family_->forget(s, row); }
  void merge(double* s, const double* t) const override { family_->merge(s, t); }
  void subtract(double* s, const double* t) const override { family_->subtract(s, t); }
  double log_marginal(const double* s) const override { return family_->log_marginal(s); }
  double log_alone(int row) const override { return family_->log_alone(row); }
  void cluster_statistics(std::span<const std::int32_t> labels, double* statistics) const override {
    mixwood::cluster_statistics(*family_, labels, statistics);
  }
  void predictive_table(std::span<const double> statistics, int first, int end,
                        double* table) const override {
    mixwood::predictive_table(*family_, statistics, first, end, table);
  }
  bool has_atoms() const override { return RowFamily<F> && can_draw_atoms(*family_); }
  std::unique_ptr<const Part> part(std::vector<std::int32_t> places) const override {
    if constexpr (WeightedFamily<F>)
      throw nb::type_error("weighted leaves cannot be a part of a product");
    else
      return std::make_unique<PartOf<F>>(family_, std::move(places));
  }
  std::unique_ptr<AnyChain> chain(Prior prior, std::span<const std::int32_t> labels, Stream random,
                                  const SamplerOptions& options) const override {
    return std::visit(
        [&]<class Options>(const Options& chosen) -> std::unique_ptr<AnyChain> {
          if constexpr (requires { typename ChainOf<Options, F>; })
            return std::make_unique<ChainOf<Options, F>>(family_, prior, labels, random, chosen);
          else
            throw nb::type_error("the sampler cannot work with this family");
        },
        options);
  }
  std::unique_ptr<AnyForest> forest(Prior prior, DescentRule rule,
                                    TreeSearch search) const override {
    return std::make_unique<BoundForest<F>>(family_, prior, rule, search);
  }
  std::unique_ptr<AnyFamily> leaves(std::span<const double> statistics,
                                    LeafSums sums) const override {
    if constexpr (WeightedFamily<F> || has_sparse_statistics<F>)
      throw nb::type_error("this family cannot have leaves of plain statistics");
    else
      return std::make_unique<BoundFamily<Leaves<F>>>(
          std::make_shared<const Leaves<F>>(family_, statistics, sums));
  }
  std::shared_ptr<const F> family() const { return family_; }

 private:
  std::shared_ptr<const F> family_;
};

template <Family F>
class BoundForest final : public AnyForest {
 public:
  BoundForest(std::shared_ptr<const F> family, Prior prior, DescentRule rule, TreeSearch search)
      : forest_(std::move(family), prior),
        growth_(forest_, rule, search),
        order_(rule == DescentRule::paper ? MergeOrder::published : MergeOrder::balanced) {}

  void insert(std::span<const std::int64_t> rows) override {
    for (const std::int64_t row : rows) growth_.insert(leaf(row));
  }
  void on_top(std::span<const std::int64_t> rows) override {
    for (const std::int64_t row : rows) growth_.insert_on_top(leaf(row));
  }
  void agglomerate(std::span<const std::int64_t> rows) override {
    std::vector<int> leaves;
    for (const std::int64_t row : rows) leaves.push_back(leaf(row));
    for (const int root : GreedyClustering<F>(forest_, order_)(leaves, true))
      forest_.add_tree(root);
  }
  void join_trees() override { join_near_trees(forest_, growth_); }
  void collapse(int max_leaves) override { Collapse<F>(forest_, growth_)(max_leaves); }
  void set_parameters(PriorValues values) override { forest_.set_parameters(values); }
  void rebind(const AnyFamily& family, std::span<const std::int64_t> rows) override {
    const auto* same_kind = dynamic_cast<const BoundFamily<F>*>(&family);
    require(same_kind != nullptr, "family must be of the same kind");
    forest_.rebind(same_kind->family(), rows);
  }
  FlatTree flat() override { return flatten(forest_); }
  FlatLeaves leaves() override { return flat_leaves(forest_); }
  FlatSums leaf_sums(int first, int last) override {
    return mixwood::leaf_sums(forest_, first, last);
  }
  int statistic_size() const override { return forest_.family().statistic_size(); }
  double log_potential() override {
    const JoinedForest<F> joined(forest_);
    return joined.root() == Arena::none ? 0.0 : forest_.nodes().log_tree[joined.root()];
  }
  void check() override {
    forest_.check();
    growth_.check();
  }
  std::pair<std::int64_t, std::int64_t> search_counts() const override {
    return {growth_.search_counts().searches, growth_.search_counts().differing};
  }
  int n_trees() const override { return static_cast<int>(forest_.trees().size()); }
  int n_leaves() const override { return forest_.n_leaves(); }
  int n_rows() const override { return forest_.family().n_rows(); }
  bool has(int row) const override { return forest_.leaf_of_row()[row] != Arena::none; }

 private:
  int leaf(std::int64_t row) { return forest_.make_leaf(static_cast<int>(row)); }

  Forest<F> forest_;
  IncrementalClustering<F> growth_;
  MergeOrder order_;
};

// The sums of so many leaves, checked.
inline LeafSums leaf_sums(std::size_t leaves, const Input<std::int64_t, 1>& sizes,
                          const Input<double, 1>& log_apart, const Input<double, 1>& weights) {
  require(leaves > 0 && sizes.size() == leaves && log_apart.size() == leaves &&
              weights.size() == leaves,
          "sizes, log_apart and weights must have one entry a leaf");
  return {as_span(sizes), as_span(log_apart), as_span(weights)};
}

// Builds a family and wraps it. Used in one translation unit a family, so that the samplers are
// compiled for each of them side by side.
template <Family F, class... Arguments>
std::unique_ptr<AnyFamily> bound(Arguments&&... arguments) {
  return std::make_unique<BoundFamily<F>>(
      std::make_shared<const F>(std::forward<Arguments>(arguments)...));
}

// One a family, each in a file of its own. The arrays must outlive the family (keep_alive).
void bind_gaussian(nb::module_& m);
void bind_diagonal_gaussian(nb::module_& m);
void bind_spherical_gaussian(nb::module_& m);
void bind_multinomial(nb::module_& m);
void bind_categorical(nb::module_& m);
void bind_poisson(nb::module_& m);
void bind_product(nb::module_& m);
void bind_custom(nb::module_& m);

}  // namespace mixwood::bindings
