// A family over data, whatever its kind: what Python holds as `Family`.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "arrays.hpp"
#include "mixwood/chain.hpp"
#include "mixwood/family/family.hpp"

namespace mixwood::bindings {

class AnyFamily {
 public:
  AnyFamily() = default;
  AnyFamily(const AnyFamily&) = delete;
  AnyFamily& operator=(const AnyFamily&) = delete;
  virtual ~AnyFamily() = default;

  virtual int n_rows() const = 0;
  virtual int statistic_size() const = 0;
  virtual void observe(double* s, int row) const = 0;
  virtual void forget(double* s, int row) const = 0;
  virtual void merge(double* s, const double* t) const = 0;
  virtual double log_marginal(const double* s) const = 0;
  virtual double log_alone(int row) const = 0;
  virtual std::unique_ptr<AnyChain> gibbs_chain(Prior prior, std::span<const std::int32_t> labels,
                                                Stream random, int subset) const = 0;
};

template <Family F>
class BoundFamily final : public AnyFamily {
 public:
  explicit BoundFamily(std::shared_ptr<const F> family) : family_(std::move(family)) {}

  int n_rows() const override { return family_->n_rows(); }
  int statistic_size() const override { return family_->statistic_size(); }
  void observe(double* s, int row) const override { family_->observe(s, row); }
  void forget(double* s, int row) const override { family_->forget(s, row); }
  void merge(double* s, const double* t) const override { family_->merge(s, t); }
  double log_marginal(const double* s) const override { return family_->log_marginal(s); }
  double log_alone(int row) const override { return family_->log_alone(row); }
  std::unique_ptr<AnyChain> gibbs_chain(Prior prior, std::span<const std::int32_t> labels,
                                        Stream random, int subset) const override {
    return std::make_unique<GibbsChain<F>>(family_, prior, labels, random, subset);
  }

 private:
  std::shared_ptr<const F> family_;
};

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

}  // namespace mixwood::bindings
