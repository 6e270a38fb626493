// What Python holds as `Family` and `Forest`, whatever the kind of the family.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "arrays.hpp"
#include "mixwood/chain.hpp"
#include "mixwood/family/erased.hpp"
#include "mixwood/prior/prior.hpp"
#include "mixwood/random/stream.hpp"
#include "mixwood/sampler/options.hpp"
#include "mixwood/tree/flat_tree.hpp"
#include "mixwood/tree/growth_rules.hpp"

namespace mixwood::bindings {

class AnyFamily;

// Trees over the rows of a family.
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

// A family over data: what is compiled once works on `erased`, the rest is behind virtual
// functions.
class AnyFamily {
 public:
  AnyFamily(const AnyFamily&) = delete;
  AnyFamily& operator=(const AnyFamily&) = delete;
  virtual ~AnyFamily() = default;

  const ErasedFamily& erased() const { return *erased_; }
  const std::shared_ptr<const ErasedFamily>& shared_erased() const { return erased_; }
  int n_rows() const { return erased_->n_rows(); }
  int statistic_size() const { return erased_->statistic_size(); }

  virtual std::unique_ptr<AnyChain> chain(Prior prior, std::span<const std::int32_t> labels,
                                          Stream random, const SamplerOptions& options) const = 0;
  virtual std::unique_ptr<AnyForest> forest(Prior prior, DescentRule rule,
                                            TreeSearch search) const = 0;

 protected:
  explicit AnyFamily(std::shared_ptr<const ErasedFamily> erased) : erased_(std::move(erased)) {}

 private:
  std::shared_ptr<const ErasedFamily> erased_;
};

// The options of the sampler of this name, for n rows; throws where a number is missing or wrong.
SamplerOptions sampler_options(const std::string& name, const std::map<std::string, int>& numbers,
                               int n_rows);

// Weighted leaves as a family.
std::unique_ptr<AnyFamily> bound_leaves(std::shared_ptr<const ErasedFamily> leaves);

// The sums of this many leaves, checked.
LeafSums leaf_sums(std::size_t leaves, const Input<std::int64_t, 1>& sizes,
                   const Input<double, 1>& log_apart, const Input<double, 1>& weights);

}  // namespace mixwood::bindings
