// What the chains share whose state is a partition of the rows and the prior's values.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "mixwood/chain.hpp"
#include "mixwood/move/base_update.hpp"
#include "mixwood/move/gibbs_sweep.hpp"
#include "mixwood/move/latent_refresh.hpp"
#include "mixwood/move/parameter_update.hpp"
#include "mixwood/random/stream.hpp"
#include "mixwood/state/state.hpp"

namespace mixwood {

// S is the state: State<F>, or another that offers the same.
template <Family F, class S = State<F>>
class StateChain : public AnyChain {
 public:
  void assign(std::span<const std::int32_t> labels, PriorValues values) override {
    state_.assign(labels, values);
    since_rebuild_ = 0;
  }
  int base_size() const override { return family_->base_size(); }
  void write_base(double* base) const override { family_->read_base(base); }
  void set_base(std::span<const double> base) override {
    if (base.size() != static_cast<std::size_t>(base_size()))
      throw std::invalid_argument("base must have base_size entries");
    if (base.empty()) return;
    family_->set_base(base.data());
    state_.clusters.take_base(state_.partition.active());
    follow_base();
  }
  double log_base() const override { return base_size() > 0 ? family_->log_base() : 0.0; }
  void update_base() override {
    if (base_size() == 0) return;
    base_(state_, *family_, random_, base_report_);
    follow_base();
  }
  int latent_size() const override { return mixwood::latent_size(*family_); }
  void write_latent(double* latent) const override {
    if constexpr (LatentFamily<F>) family_->read_latent(latent);
  }
  void set_latent(std::span<const double> latent) override {
    if (latent.size() != static_cast<std::size_t>(latent_size()))
      throw std::invalid_argument("latent must have latent_size entries");
    if constexpr (LatentFamily<F>) {
      if (latent.empty()) return;
      family_->set_latent(latent.data());
      follow_latent(family_->latent_rows());
      state_.rebuild();
      since_rebuild_ = 0;
    }
  }
  void write_labels(std::int32_t* labels) const override { state_.partition.write_labels(labels); }
  const PriorValues& values() const override { return state_.prior.values(); }
  int n_rows() const override { return family_->n_rows(); }
  int n_clusters() const override { return state_.partition.n_clusters(); }
  double log_joint() override { return state_.log_joint(); }
  void check(double tolerance) override { state_.check(tolerance); }
  std::vector<double> log_weights(int row) override {
    refuse_weighted();
    if constexpr (LatentFamily<F>)
      if (latents_) latents_->read_clusters(state_);
    return weights_of(row);
  }

  // log p(x_i | X_-i, Pi_-i, u) = log[u/((n-1) tau) * sum of the row's Gibbs weights] for each row,
  // the 1/tau being the factor that those weights leave out.
  std::vector<double> log_ordinates(std::span<const double> alone) override {
    const int n = n_rows();
    refuse_weighted();
    if constexpr (LatentFamily<F>)
      if (latents_) latents_->read_clusters(state_, random_, alone);
    if (state_.prior.has_groups()) return log_grouped_ordinates();
    if (n == 1 && latent_size() > 0)
      return {weights_of(0).back() - state_.prior.log_new() + row_term(*family_, 0)};
    if (n == 1) return {family_->log_alone(0) + row_term(*family_, 0)};
    std::vector<double> ordinates(n);
    for (int row = 0; row < n; ++row) {
      const std::vector<double> weights = weights_of(row);
      const double largest = *std::max_element(weights.begin(), weights.end());
      double sum = 0;
      for (const double weight : weights) sum += std::exp(weight - largest);
      ordinates[row] = values().log_u - std::log(n - 1) - state_.prior.log_tau() + largest +
                       std::log(sum) + row_term(*family_, row);
    }
    return ordinates;
  }

  int group_size() const override {
    const Prior& prior = state_.prior;
    return prior.by_group().n_groups() * (prior.has_gamma_per_group() ? 2 : 1);
  }

 protected:
  template <class... More>
  StateChain(std::shared_ptr<F> family, Prior prior, std::span<const std::int32_t> labels,
             Stream random, More&&... more)
      : family_(std::move(family)),
        state_(*family_, prior, labels, std::forward<More>(more)...),
        random_(random) {
    parameters_.start(state_.prior, state_.partition, random_);
    if constexpr (LatentFamily<F>)
      if (latent_size() > 0) latents_.emplace(*family_);
  }

  // The same of rows in groups: log[u_j/((n_j-1) tau_j) * sum of weights] for a row of group j.
  // Without it, the group of a row that is alone there is a new one: all M components are equally
  // likely, of which those without rows are Poisson of mean rate chi (chi without that group).
  std::vector<double> log_grouped_ordinates() {
    const GroupTerms& terms = state_.prior.by_group();
    std::vector<double> ordinates(n_rows());
    for (int row = 0; row < n_rows(); ++row) {
      const int j = state_.partition.groups()->of_row(row)[0].group;
      const double n = state_.partition.groups()->size(j), log_u = values().log_us[j];
      std::vector<double> weights = weights_of(row);
      double log_factor = log_u - std::log(n - 1) - softplus(log_u);
      if (n == 1) {
        const double log_gamma_j = std::log(terms.gamma(j));
        const double mean = std::exp(terms.log_component() + terms.gamma(j) * softplus(log_u));
        int clusters = 0;
        for (std::size_t a = 0; a + 1 < weights.size(); ++a)
          clusters += weights[a] > -std::numeric_limits<double>::infinity();
        const double each = mean_inverse(clusters, mean);
        for (std::size_t a = 0; a + 1 < weights.size(); ++a) weights[a] -= log_gamma_j;
        weights.back() +=
            std::log1p(-clusters * each) - std::log(each) - log_gamma_j - terms.log_component();
        log_factor = std::log(each);
      }
      const double largest = *std::max_element(weights.begin(), weights.end());
      double sum = 0;
      for (const double weight : weights) sum += std::exp(weight - largest);
      ordinates[row] = log_factor + largest + std::log(sum) + row_term(*family_, row);
    }
    return ordinates;
  }

  // E[1/(K + M)] for M ~ Poisson(mean), K >= 0 (given K + M > 0): the integral of s^(K-1)
  // e^(-mean (1-s)) over s from 0 to 1, as a series.
  static double mean_inverse(int K, double mean) {
    double total = 0, log_p = -mean, covered = 0;
    for (int m = 0; covered < 1 - 1e-15 && m < 100000; ++m) {
      const double p = std::exp(log_p);
      if (K + m > 0) total += p / (K + m);
      covered += p;
      log_p += std::log(mean) - std::log(m + 1.0);
      if (m > mean && p < 1e-17) break;
    }
    return K > 0 ? total : total / -std::expm1(-mean);
  }

  void refuse_weighted() const {
    if (is_weighted(*family_))
      throw std::invalid_argument("weighted leaves do not move row by row");
  }

  // How many rows an iteration visits on their own, roughly.
  virtual int row_visits() const { return n_rows(); }

  // Of a row with a latent part, by what is known of it; clusters were read before.
  std::vector<double> weights_of(int row) {
    if constexpr (LatentFamily<F>)
      if (latents_ && family_->latent_size(row) > 0) return latents_->log_weights(state_, row);
    return sweep_.log_weights(state_, row);
  }

  // Whatever else depends on the base measure follows it.
  virtual void follow_base() {}

  // Latent parts of rows have changed: statistics of clusters know it already.
  void follow_latent([[maybe_unused]] std::span<const int> rows) {
    if constexpr (requires { state_.follow_latent(rows); }) state_.follow_latent(rows);
  }

  // Some latent parts of rows with the rows' clusters, then all, where the family can.
  void update_latents() {
    if constexpr (LatentFamily<F>) {
      if (!latents_) return;
      follow_latent((*latents_)(state_, *family_, row_visits(), random_, latent_report_));
      if (!redraws_at_once(*family_)) return;
      // Of very many rows in a share of the iterations, by chance, whatever the state: as long as
      // an iteration that visits a part of them.
      if (n_rows() > rows_redrawn && random_.uniform() * n_rows() >= rows_redrawn) return;
      latents_->redraw(state_, *family_, random_, latent_report_);
      follow_latent(family_->latent_rows());
      state_.gather();
    }
  }

  // The latent parts of rows, the prior's parameters, the base measure, and statistics made afresh
  // now and then: at fixed iterations, or when too many slots are empty.
  void end_iteration() {
    update_latents();
    parameters_(state_.prior, state_.partition, random_, parameter_report_);
    if (!base_takes_long() || random_.uniform() < share_of_updates) update_base();
    const auto& partition = state_.partition;
    const bool many_holes = 4 * partition.n_slots() > 5 * partition.n_clusters() + 64;
    if (++since_rebuild_ == iterations_between_rebuilds || many_holes) {
      state_.rebuild();
      since_rebuild_ = 0;
    }
  }

  static constexpr int iterations_between_rebuilds = 64;
  // A base measure of many numbers takes long to move, compared with an iteration that visits a
  // part of many rows, which say much about it; so does a matrix of very many columns, whose
  // determinants take longer than the scan of a few thousand rows; and so does one number for many
  // words, on which all that is kept of clusters depends. They move in a share of the iterations,
  // by chance, whatever the state.
  bool base_takes_long() const {
    if (base_size() == 1) return family_->statistic_size() >= many_words;
    return base_size() > very_many_numbers || (base_size() > few_numbers && n_rows() >= many_rows);
  }
  static constexpr int many_words = 1000;
  static constexpr int few_numbers = 40;
  static constexpr int very_many_numbers = 1000;
  static constexpr int rows_redrawn = 10000;
  static constexpr int many_rows = 5000;
  static constexpr double share_of_updates = 0.25;

  // What every such chain has; the derived ones add theirs.
  template <class Archive>
  void archive_shared(Archive& a) {
    if (base_size() > 0) {
      archive_base(a, *family_);
      base_report_.archive(a);
    }
    archive_latent(a);
    state_.archive(a);
    a.value(since_rebuild_);
    a.require(since_rebuild_ >= 0 && since_rebuild_ < iterations_between_rebuilds,
              "a counter is out of range");
    parameter_report_.archive(a);
  }

  template <class Archive>
  void archive_latent([[maybe_unused]] Archive& a) {
    if constexpr (LatentFamily<F>) {
      if (!latents_) return;
      std::vector<double> latent(static_cast<std::size_t>(latent_size()));
      family_->read_latent(latent.data());
      a.list(latent, latent.size());
      if constexpr (Archive::loading) family_->set_latent(latent.data());
      latents_->archive(a);
      latent_report_.archive(a);
    }
  }

  template <class Archive, Family Any>
  static void archive_base(Archive& a, Any& family) {
    std::vector<double> base(static_cast<std::size_t>(family.base_size()));
    family.read_base(base.data());
    a.list(base, base.size());
    if constexpr (Archive::loading) family.set_base(base.data());
  }

  // What the moves did, in the order of `moves`, with what every chain ends an iteration with.
  std::vector<MoveReport> with_shared(std::vector<MoveReport> moves) const {
    if (latent_size() > 0) moves.push_back(latent_report_);
    moves.push_back(parameter_report_);
    if (base_size() > 0) moves.push_back(base_report_);
    return moves;
  }

  struct NoLatents {};
  template <class Any>
  struct LatentsOf {
    using type = NoLatents;
  };
  template <LatentFamily Any>
  struct LatentsOf<Any> {
    using type = std::optional<LatentRefresh<S, Any>>;
  };

  std::shared_ptr<F> family_;  // its own, if it changes along with the chain
  S state_;
  Stream random_;
  int since_rebuild_ = 0;
  GibbsSweep<S> sweep_;
  ParameterUpdate parameters_;
  BaseUpdate base_;
  typename LatentsOf<F>::type latents_;  // where rows have a latent part
  MoveReport latent_report_{"latent"};
  MoveReport parameter_report_{"parameters"};
  MoveReport base_report_{"base"};
};

}  // namespace mixwood
