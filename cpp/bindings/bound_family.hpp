// A family of a known kind, with all that is compiled for it: used in one translation unit per
// family, so that they are compiled side by side.
#pragma once

#include <concepts>
#include <memory>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "any_family.hpp"
#include "mixwood/family/erased_of.hpp"
#include "mixwood/family/family.hpp"
#include "mixwood/tree/collapse.hpp"
#include "mixwood/tree/export.hpp"
#include "mixwood/tree/forest_check.hpp"
#include "mixwood/tree/ibhc.hpp"
#include "samplers.hpp"

namespace mixwood::bindings {

// The chains that are compiled once.
std::unique_ptr<AnyChain> erased_chain(std::shared_ptr<const ErasedFamily> family, Prior prior,
                                       std::span<const std::int32_t> labels, Stream random,
                                       const SamplerOptions& options);

template <Family F>
class BoundForest;

// F is a family of rows, or the erased one: weighted leaves.
template <Family F>
class BoundFamily final : public AnyFamily {
 public:
  BoundFamily(std::shared_ptr<const F> family, std::shared_ptr<const ErasedFamily> erased)
      : AnyFamily(std::move(erased)), family_(std::move(family)) {}

  std::unique_ptr<AnyChain> chain(Prior prior, std::span<const std::int32_t> labels, Stream random,
                                  const SamplerOptions& options) const override {
    return std::visit(
        [&]<class Options>(const Options& chosen) -> std::unique_ptr<AnyChain> {
          using Chosen = Sampler<Options>;
          if constexpr (std::same_as<F, ErasedFamily> && !Chosen::takes_leaves)
            throw nb::type_error("the sampler cannot work with this family");
          else if constexpr (Chosen::compiled == Compiled::once)
            return erased_chain(shared_erased(), prior, labels, random, options);
          else
            return std::make_unique<typename Chosen::template Chain<F>>(family_, prior, labels,
                                                                        random, chosen);
        },
        options);
  }
  std::unique_ptr<AnyForest> forest(Prior prior, DescentRule rule,
                                    TreeSearch search) const override {
    return std::make_unique<BoundForest<F>>(family_, prior, rule, search);
  }

  const std::shared_ptr<const F>& family() const { return family_; }

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
    const auto* same = dynamic_cast<const BoundFamily<F>*>(&family);
    require(same != nullptr && is_same_kind(*same->family()), "family must be of the same kind");
    forest_.rebind(same->family(), rows);
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
    ForestCheck{}(forest_);
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

  bool is_same_kind(const F& other) const {
    if constexpr (std::same_as<F, ErasedFamily>) return forest_.family().is_same_kind(other);
    return true;
  }

  Forest<F> forest_;
  IncrementalClustering<F> growth_;
  MergeOrder order_;
};

// Builds a family and wraps it.
template <Family F, class... Arguments>
std::unique_ptr<AnyFamily> bound(Arguments&&... arguments) {
  auto family = std::make_shared<const F>(std::forward<Arguments>(arguments)...);
  return std::make_unique<BoundFamily<F>>(family, std::make_shared<const ErasedOf<F>>(family));
}

}  // namespace mixwood::bindings
