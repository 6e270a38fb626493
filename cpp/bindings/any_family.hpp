// What Python holds as `Family`, whatever its kind.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "arrays.hpp"
#include "mixwood/chain.hpp"
#include "mixwood/family/erased.hpp"
#include "mixwood/prior/prior.hpp"
#include "mixwood/random/hyperprior.hpp"
#include "mixwood/random/stream.hpp"
#include "mixwood/sampler/options.hpp"

namespace mixwood::bindings {

// A family over data: what is compiled once works on `erased`, the chains that are compiled for
// every family are behind `chain`.
class AnyFamily {
 public:
  AnyFamily(const AnyFamily&) = delete;
  AnyFamily& operator=(const AnyFamily&) = delete;
  virtual ~AnyFamily() = default;

  const ErasedFamily& erased() const { return *erased_; }
  const std::shared_ptr<ErasedFamily>& shared_erased() const { return erased_; }
  int n_rows() const { return erased_->n_rows(); }
  int statistic_size() const { return erased_->statistic_size(); }

  // Over the same rows, with another base measure and other latent numbers, if any are given.
  virtual std::unique_ptr<AnyFamily> at(std::span<const double> base,
                                        std::span<const double> latent) const = 0;
  virtual std::unique_ptr<AnyChain> chain(Prior prior, std::span<const std::int32_t> labels,
                                          Stream random, const SamplerOptions& options) const = 0;

 protected:
  explicit AnyFamily(std::shared_ptr<ErasedFamily> erased) : erased_(std::move(erased)) {}

 private:
  std::shared_ptr<ErasedFamily> erased_;
};

// The options of the sampler of this name, for n rows; throws where a number is missing or wrong.
SamplerOptions sampler_options(const std::string& name, const std::map<std::string, int>& numbers,
                               int n_rows);

// A hyperprior as Python has it: its kind and two numbers, and the bounds of the parameter.
using Law = std::tuple<std::string, double, double, double, double>;
Hyperprior hyperprior(const Law& law);

// An array that may not be given.
template <class T>
std::optional<std::span<const T>> as_span(const std::optional<Input<T, 1>>& values) {
  if (!values) return {};
  return as_span(*values);
}

// Weighted leaves as a family.
std::unique_ptr<AnyFamily> bound_leaves(std::shared_ptr<ErasedFamily> leaves);

// The sums of this many leaves, checked.
LeafSums leaf_sums(std::size_t leaves, const Input<double, 1>& sizes,
                   const Input<double, 1>& log_apart, const Input<double, 1>& weights,
                   const std::optional<Input<std::uint8_t, 1>>& marks,
                   const std::optional<Input<std::int32_t, 1>>& rows = {});

}  // namespace mixwood::bindings
