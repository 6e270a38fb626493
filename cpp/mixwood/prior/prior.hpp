// A prior on partitions with its current values, and what moves ask of it, cached.
#pragma once

#include <cmath>
#include <memory>
#include <utility>

#include "mixwood/archive.hpp"
#include "mixwood/numerics/special.hpp"
#include "mixwood/prior/group_terms.hpp"
#include "mixwood/prior/law.hpp"
#include "mixwood/prior/registry.hpp"

namespace mixwood {

class Prior {
 public:
  Prior(const PriorFunctions& functions, const PriorHyper& hyper, const PriorValues& values)
      : functions_(&functions), hyper_(hyper) {
    set(values);
  }

  // The same with rows in groups, all at the same gamma.
  Prior with_groups(std::shared_ptr<const RowGroups> groups) const {
    Prior other = *this;
    PriorValues values = values_;
    values.log_us.assign(groups->n_groups(), 0.0);
    values.gammas.assign(groups->n_groups(), -values.sigma);
    other.by_group_ = GroupTerms(std::move(groups));
    other.set(values);
    return other;
  }
  // Whether rows come in groups, and what kappa then is.
  const GroupTerms& by_group() const { return by_group_; }
  bool has_groups() const { return static_cast<bool>(by_group_); }
  bool has_gamma_per_group() const { return hyper_.gamma && hyper_.gamma_per_group; }

  const PriorValues& values() const { return values_; }

  void set(const PriorValues& values) {
    values_ = values;
    log_tau_ = softplus(values.log_u);
    kernel_ = functions_->kernel(values, log_tau_);
    // Gamma(1) is 1, exactly.
    log_gamma_one_ = kernel_.discount == 0 ? 0.0 : log_gamma(1 - kernel_.discount);
    if (by_group_) by_group_.set(values);
  }

  // The same prior at other values.
  Prior at(const PriorValues& values) const { return Prior(*functions_, hyper_, values); }

  // u, at the start of a chain; and u and the parameters, given the partition.
  void start(const ClusterSizes& clusters, Stream& random) {
    PriorValues values = values_;
    values.log_u = std::log(clusters.n_points);
    functions_->start(hyper_, values, clusters, random);
    set(values);
  }
  void update(const ClusterSizes& clusters, Stream& random) {
    PriorValues values = values_;
    functions_->update(hyper_, values, clusters, random);
    set(values);
  }

  // The values; which prior it is, and its hyperpriors, are the chain's own.
  template <class Archive>
  void archive(Archive& a) {
    PriorValues values = values_;
    for (double* entry : {&values.log_u, &values.log_alpha, &values.sigma, &values.theta})
      archive_finite(a, *entry);
    const char* fault = functions_->fault(values);
    a.require(fault == nullptr, fault);
    if (by_group_)
      for (auto* list : {&values.log_us, &values.gammas}) {
        a.list(*list, static_cast<std::size_t>(by_group_.n_groups()));
        for (const double entry : *list) a.require(std::isfinite(entry), "a number is not finite");
      }
    for (const double gamma : values.gammas) a.require(gamma > 0, "gamma is out of range");
    if constexpr (Archive::loading) set(values);
  }

  double log_tau() const { return log_tau_; }
  const Kernel& kernel() const { return kernel_; }

  double psi() const {
    if (by_group_) return -std::exp(values_.log_alpha) * std::expm1(by_group_.log_chi());
    return functions_->psi(values_, log_tau_);
  }
  double log_nonempty() const { return functions_->log_nonempty(values_); }

  double log_kappa(double size) const {
    return kernel_.log_new + log_gamma(size - kernel_.discount) - log_gamma_one_ - size * log_tau_;
  }

  // log kappa(k+1)/kappa(k) and log kappa(1), their common factor 1/tau left out.
  double log_join(double size) const { return std::log(size - kernel_.discount); }
  double log_new() const { return kernel_.log_new; }

  // Given u, the jumps w that no row is in have, with x = tau w, the intensity
  // rate x^(-1-discount) e^-x. This is log rate.
  double log_jump_rate() const { return kernel_.log_new - log_gamma_one_; }

 private:
  const PriorFunctions* functions_;
  PriorHyper hyper_;
  PriorValues values_;
  double log_tau_ = 0;
  Kernel kernel_{};
  double log_gamma_one_ = 0;
  GroupTerms by_group_;
};

}  // namespace mixwood
