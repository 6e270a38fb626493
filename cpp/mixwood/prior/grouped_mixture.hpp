// The parameters of a finite mixture whose rows come in groups (group_terms.hpp), given K clusters.
//
// All u_j together know gamma so well that, given them, it would hardly move. So the number of
// components M is drawn, those without rows being Poisson(rate chi), and given M
//
//   p(gamma) prod_j Gamma(M gamma_j)/Gamma(M gamma_j + n_j) prod_k
//   Gamma(gamma_j+n_jk)/Gamma(gamma_j)
//
// has no u: gamma, one for all groups or one for each, comes from it by slice of its log. Then
// rate ~ Gamma(a+M, b+1), and u_j is a Gamma(n_j) over a Gamma(M gamma_j).
//
// With one group it is FiniteMixture, draw for draw, and so it is where M may be huge: v_j = log
// u_j comes by slice from n_j v_j - (n_j + K gamma_j) log tau_j + rate chi, with the rate
// integrated out if it is random; gamma by slice likewise; then rate ~ Gamma(a+K, b + 1 - chi).
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "mixwood/numerics/special.hpp"
#include "mixwood/prior/law.hpp"
#include "mixwood/random/arrivals.hpp"
#include "mixwood/random/hyperprior.hpp"
#include "mixwood/random/slice_sampling.hpp"

namespace mixwood {

class GroupedMixture {
 public:
  GroupedMixture(const PriorHyper& hyper, PriorValues& values, const ClusterSizes& clusters,
                 Stream& random)
      : hyper_(hyper),
        values_(values),
        groups_(*clusters.groups),
        counts_(*clusters.counts),
        K_(clusters.n_clusters()),
        random_(random) {}

  void start() {
    const double jumps = K_ + std::exp(values_.log_alpha);
    for (int j = 0; j < groups_.n_groups(); ++j)
      values_.log_us[j] = std::log(groups_.size(j)) - std::log(values_.gammas[j] * jumps);
    slice_us();
    pool();
  }

  void update() {
    if (groups_.n_groups() > 1 && has_few_components()) return update_by_components();
    slice_us();
    if (hyper_.gamma) {
      const int J = groups_.n_groups();
      const int step = hyper_.gamma_per_group ? 1 : J;
      for (int first = 0; first < J; first += step) slice_gamma(first, first + step);
    }
    if (hyper_.alpha) draw_rate();
    pool();
  }

 private:
  // By what stays as it is while a chain runs.
  bool has_few_components() const {
    const double rate =
        hyper_.alpha ? hyper_.alpha->shape / hyper_.alpha->rate : std::exp(values_.log_alpha);
    return rate <= 1000;
  }

  void update_by_components() {
    const int J = groups_.n_groups();
    double M = K_;
    visit_arrivals(std::exp(values_.log_alpha - minus_log_chi()), random_, [&](double) { ++M; });
    if (hyper_.gamma) {
      const int step = hyper_.gamma_per_group ? 1 : J;
      for (int first = 0; first < J; first += step) slice_gamma_given(M, first, first + step);
    }
    if (hyper_.alpha)
      values_.log_alpha =
          random_.log_gamma_draw(hyper_.alpha->shape + M) - std::log(hyper_.alpha->rate + 1);
    for (int j = 0; j < J; ++j) {
      const double above = random_.log_gamma_draw(groups_.size(j));
      values_.log_us[j] = above - random_.log_gamma_draw(M * values_.gammas[j]);
    }
    pool();
  }

  // Each number once, and how often it occurs.
  static std::vector<std::pair<double, double>> how_often(std::vector<double> numbers) {
    std::sort(numbers.begin(), numbers.end());
    std::vector<std::pair<double, double>> found;
    for (const double number : numbers) {
      if (found.empty() || found.back().first != number) found.emplace_back(number, 0.0);
      ++found.back().second;
    }
    return found;
  }

  // The gamma of the groups from `first` on, before `end`, given the number of components.
  void slice_gamma_given(double M, int first, int end) {
    std::vector<double> all_counts, all_sizes;  // of rows in clusters, and in groups
    for (int j = first; j < end; ++j) {
      all_sizes.push_back(groups_.size(j));
      for (const auto& entry : counts_.of_group(j)) all_counts.push_back(entry.count);
    }
    const auto entries = static_cast<double>(all_counts.size());
    const auto counts = how_often(std::move(all_counts)), sizes = how_often(std::move(all_sizes));
    auto log_likelihood = [&](double log_gamma_now) {
      const double gamma = std::exp(log_gamma_now);
      double total = (end - first) * log_gamma(M * gamma) - entries * log_gamma(gamma);
      for (const auto& [size, often] : sizes) total -= often * log_gamma(M * gamma + size);
      for (const auto& [count, often] : counts) total += often * log_gamma(count + gamma);
      return total;
    };
    const double log_now = std::log(values_.gammas[first]);
    const double gamma =
        std::exp(slice_coordinate(log_now, 1.0, *hyper_.gamma, log_likelihood, random_));
    std::fill(values_.gammas.begin() + first, values_.gammas.begin() + end, gamma);
  }

  // -rate (1 - e^-z), or with the rate integrated out over its K powers.
  double log_mass_term(double z) const {
    if (hyper_.alpha)
      return -(hyper_.alpha->shape + K_) * std::log(hyper_.alpha->rate - std::expm1(-z));
    return std::exp(values_.log_alpha) * std::expm1(-z);
  }

  double minus_log_chi() const {
    double z = 0;
    for (std::size_t j = 0; j < values_.gammas.size(); ++j)
      z += values_.gammas[j] * softplus(values_.log_us[j]);
    return z;
  }

  void slice_us() {
    double z = minus_log_chi();
    for (int j = 0; j < groups_.n_groups(); ++j) {
      const double n = groups_.size(j), gamma = values_.gammas[j];
      double& now = values_.log_us[j];
      // With one group nothing is left, not even rounding.
      const double rest = groups_.n_groups() == 1 ? 0 : z - gamma * softplus(now);
      auto log_density = [&](double v) {
        const double log_tau = softplus(v);
        return -n * softplus(-v) - K_ * gamma * log_tau + log_mass_term(rest + gamma * log_tau);
      };
      now = slice_on_line(now, 3 + 2 / (K_ * gamma), 1.0, log_density, random_);
      z = rest + gamma * softplus(now);
    }
  }

  // The gamma of the groups from `first` on, before `end`.
  void slice_gamma(int first, int end) {
    double log_taus = 0;
    std::vector<double> all;
    for (int j = first; j < end; ++j) {
      log_taus += softplus(values_.log_us[j]);
      for (const auto& entry : counts_.of_group(j)) all.push_back(entry.count);
    }
    const auto entries = static_cast<double>(all.size());
    const auto sizes = how_often(std::move(all));
    const double rest =
        end - first == groups_.n_groups() ? 0 : minus_log_chi() - values_.gammas[first] * log_taus;
    auto log_likelihood = [&](double log_gamma_now) {
      const double gamma = std::exp(log_gamma_now);
      double total = -entries * log_gamma(gamma) - K_ * gamma * log_taus +
                     log_mass_term(rest + gamma * log_taus);
      for (const auto& [size, often] : sizes) total += often * log_gamma(size + gamma);
      return total;
    };
    const double log_now = std::log(values_.gammas[first]);
    const double gamma =
        std::exp(slice_coordinate(log_now, 1.0, *hyper_.gamma, log_likelihood, random_));
    std::fill(values_.gammas.begin() + first, values_.gammas.begin() + end, gamma);
  }

  void draw_rate() {
    const double log_rate = std::log(hyper_.alpha->rate - std::expm1(-minus_log_chi()));
    values_.log_alpha = random_.log_gamma_draw(hyper_.alpha->shape + K_) - log_rate;
  }

  // What stands for all groups where trees are grown, which do not know of them.
  void pool() {
    const double largest = *std::max_element(values_.log_us.begin(), values_.log_us.end());
    double sum = 0, gammas = 0;
    for (const double log_u : values_.log_us) sum += std::exp(log_u - largest);
    for (const double gamma : values_.gammas) gammas += gamma;
    values_.log_u = largest + std::log(sum);
    const bool one = !hyper_.gamma_per_group || groups_.n_groups() == 1;
    values_.sigma = one ? -values_.gammas[0] : -gammas / groups_.n_groups();
  }

  const PriorHyper& hyper_;
  PriorValues& values_;
  const RowGroups& groups_;
  const ClusterGroups& counts_;
  double K_;
  Stream& random_;
};

}  // namespace mixwood
