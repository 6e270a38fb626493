// kappa of a vector of counts: what a finite mixture says of clusters whose rows come in groups.
// The components are shared, each group has its own weights. With n_jk rows of group j in cluster
// k, tau_j = 1 + u_j and chi = prod_j tau_j^-gamma_j,
//
//   p(X, Pi, u) = prod_j u_j^(n_j-1)/Gamma(n_j) * exp(-rate (1 - chi)) / (1 - e^-rate)
//                 * prod_k { rate prod_j Gamma(gamma_j+n_jk)/Gamma(gamma_j) tau_j^-(gamma_j+n_jk)
//                            * P(X_k) }
//
// The factors tau_j^-n_jk are the same for every partition: `log_kappa` leaves them out.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "mixwood/numerics/special.hpp"
#include "mixwood/prior/groups.hpp"
#include "mixwood/prior/law.hpp"

namespace mixwood {

// log(gamma + k) and log of Gamma(gamma + k)/Gamma(gamma), looked up for whole k: blocks ask for
// them for every group and cluster.
class RisingTable {
 public:
  void start(double gamma) {
    if (gamma == gamma_ && !rises_.empty()) return;
    gamma_ = gamma;
    logs_.clear();
    rises_.assign(1, 0.0);
  }

  // log of Gamma(gamma + there + count)/Gamma(gamma + there).
  double operator()(double there, double count) {
    const double end = there + count;
    if (!(end < largest)) return directly(there, count);
    const int first = static_cast<int>(there), last = static_cast<int>(end);
    if (first != there || last != end) return directly(there, count);
    while (static_cast<int>(logs_.size()) < last) add();
    return count == 1 ? logs_[first] : rises_[last] - rises_[first];
  }

 private:
  static constexpr int largest = 4096;

  double directly(double there, double count) const {
    if (count == 1) return std::log(gamma_ + there);
    return log_gamma(gamma_ + there + count) - log_gamma(gamma_ + there);
  }

  // Now and then afresh, so that rounding does not pile up.
  void add() {
    const auto k = static_cast<double>(logs_.size());
    logs_.push_back(std::log(gamma_ + k));
    rises_.push_back(rises_.size() % 64 == 0 ? log_gamma(gamma_ + k + 1) - log_gamma(gamma_)
                                             : rises_.back() + logs_.back());
  }

  double gamma_ = 0;
  std::vector<double> logs_, rises_;
};

class GroupTerms {
 public:
  explicit GroupTerms(std::shared_ptr<const RowGroups> groups = nullptr)
      : groups_(std::move(groups)) {}

  explicit operator bool() const { return groups_ != nullptr; }
  const std::shared_ptr<const RowGroups>& groups() const { return groups_; }

  void set(const PriorValues& values) {
    gammas_ = values.gammas;
    const bool one = std::equal(gammas_.begin() + 1, gammas_.end(), gammas_.begin());
    tables_.resize(one ? 1 : gammas_.size());
    for (std::size_t j = 0; j < tables_.size(); ++j) tables_[j].start(gammas_[j]);
    log_chi_ = 0;
    log_row_factor_ = log_u_factor_ = 0;
    for (std::size_t j = 0; j < gammas_.size(); ++j) {
      const double n = groups_->size(static_cast<int>(j)), log_tau = softplus(values.log_us[j]);
      log_chi_ -= gammas_[j] * log_tau;
      log_row_factor_ -= n * log_tau;
      log_u_factor_ += (n - 1) * values.log_us[j] - log_gamma(n);
    }
    log_component_ = values.log_alpha + log_chi_;
  }

  double log_chi() const { return log_chi_; }
  double gamma(int group) const { return gammas_[group]; }
  int n_groups() const { return static_cast<int>(gammas_.size()); }

  // The log of prod_j u_j^(n_j-1)/Gamma(n_j), and of the factors of u that kappa leaves out.
  double log_of_u() const { return log_u_factor_ + log_row_factor_; }

  // log of rate chi: kappa of no rows.
  double log_component() const { return log_component_; }

  // log of Gamma(gamma_j + there + count)/Gamma(gamma_j + there).
  double log_join(int group, double there, double count) const {
    return tables_[tables_.size() == 1 ? 0 : group](there, count);
  }

  // The log of kappa(c + m)/kappa(c), where `there(group)` says how many rows c has.
  template <class There>
  double log_join(std::span<const GroupCount> rows, There&& there) const {
    double total = 0;
    for (const auto& [group, count] : rows) total += log_join(group, there(group), count);
    return total;
  }

  double log_kappa(const ClusterGroups::List& counts) const {
    double total = log_component_;
    for (const auto& [group, count] : counts) total += log_join(group, 0, count);
    return total;
  }
  // The counts of all groups.
  double log_kappa(const std::vector<double>& counts) const {
    double total = log_component_;
    for (std::size_t j = 0; j < counts.size(); ++j)
      if (counts[j] > 0) total += log_join(static_cast<int>(j), 0, counts[j]);
    return total;
  }

  // log of kappa(a + b)/(kappa(a) kappa(b)): only groups that are in both count.
  double log_merge(const ClusterGroups::List& a, const ClusterGroups::List& b) const {
    double total = -log_component_;
    auto other = b.begin();
    for (const auto& [group, count] : a) {
      while (other != b.end() && other->key < group) ++other;
      if (other == b.end()) break;
      if (other->key == group)
        total += log_join(group, other->count, count) - log_join(group, 0, count);
    }
    return total;
  }

  // The log weights of each listed cluster and of a new one, for rows with these counts, which are
  // in `own` and are taken out.
  template <class Slots>
  void fill_weights(const Slots& partition, std::span<const GroupCount> rows, int own,
                    std::vector<double>& weights) const {
    double nowhere = 0;  // what clusters weigh that have no row of these groups
    for (const auto& [group, count] : rows) nowhere += log_join(group, 0, count);
    weights.assign(partition.active().size() + 1, nowhere);
    weights.back() += log_component_;
    for (const auto& [group, count] : rows) {
      const double none = log_join(group, 0, count);
      for (const auto& [slot, there] : partition.cluster_groups().of_group(group)) {
        const double join = log_join(group, slot == own ? there - count : there, count);
        double& weight = weights[partition.position(slot)];
        weight = rows.size() == 1 ? join : weight + (join - none);
      }
    }
  }

 private:
  std::shared_ptr<const RowGroups> groups_;
  std::vector<double> gammas_;
  mutable std::vector<RisingTable> tables_;  // one for all groups if they have one gamma
  double log_chi_ = 0, log_component_ = 0, log_row_factor_ = 0, log_u_factor_ = 0;
};

}  // namespace mixwood
