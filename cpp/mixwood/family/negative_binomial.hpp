// Rows of independent negative binomial counts, a Beta(a, b) prior on each column's probability p.
// With a row's exposure e, which is 1 unless it is given,
//
//   P(x | p) = Gamma(x + size e)/(Gamma(size e) x!) p^(size e) (1-p)^x
//
// and in each column, with present entries that sum to N and exposures that sum to E:
//
//   P(x) = B(a + size E, b + N)/B(a, b)      (the first factor of each row left out)
//   a = 1 + size shape/mean, b = shape: the expected mean of a cluster is `mean`
//
// A learned base measure is ln size of every column, then ln shape of every column, as far as they
// are learned. What is left out of a row depends on the size, and on no partition: see entry_term
// and log_rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "mixwood/family/count_tally.hpp"
#include "mixwood/family/counted_columns.hpp"
#include "mixwood/numerics/special.hpp"
#include "mixwood/random/hyperprior.hpp"

namespace mixwood {

class NegativeBinomialLaw {
 public:
  class Terms;

  // One size, shape and mean for each column.
  NegativeBinomialLaw(std::span<const double> sizes, std::span<const double> shapes,
                      std::span<const double> means, Hyperprior size_law, Hyperprior shape_law)
      : sizes_(sizes.begin(), sizes.end()),
        shapes_(shapes.begin(), shapes.end()),
        means_(means.begin(), means.end()),
        start_sizes_(sizes_),
        size_law_(size_law),
        shape_law_(shape_law) {
    std::vector<double> start;
    for (const auto& [values, law] : {std::pair{&sizes_, size_law}, std::pair{&shapes_, shape_law}})
      if (law.is_random())
        for (const double value : *values) start.push_back(std::log(value));
    base_.resize(start.size());
    set_base(start.data());
  }

  // --- the rows, from which sizes are learned
  void take_rows(const CountRows& rows, std::span<const double> weights) {
    if (!learns_size()) return;
    std::vector<CountTally> tallies;
    for (int j = 0; j < rows.d; ++j) tallies.emplace_back(rows, j, weights);
    tallies_ = std::make_shared<const std::vector<CountTally>>(std::move(tallies));
  }
  double entry_term(int j, double x, double e) const {
    if (!learns_size()) return 0;
    return mixwood::log_rising(x, e * sizes_[j]) - mixwood::log_rising(x, e * start_sizes_[j]);
  }
  double log_rows() const {
    if (!learns_size()) return 0;
    double total = 0;
    for (std::size_t j = 0; j < sizes_.size(); ++j)
      total += tally(j).log_rising(sizes_[j]) - tally(j).log_rising(start_sizes_[j]);
    return total;
  }

  // --- the base measure
  int base_size() const { return static_cast<int>(base_.size()); }
  void read_base(double* to) const { std::copy(base_.begin(), base_.end(), to); }
  void set_base(const double* base) {
    std::copy_n(base, base_.size(), base_.begin());
    for (std::size_t k = 0; k < base_.size(); ++k) {
      const double value = std::exp(base_[k]);
      if (!(value > 0) || !std::isfinite(value))
        throw std::invalid_argument("a base measure must have positive, finite sizes and shapes");
      (k < shapes_at() ? sizes_ : shapes_)[k % sizes_.size()] = value;
    }
  }
  double log_base() const {
    double total = 0;
    for (std::size_t k = 0; k < base_.size(); ++k)
      total += (k < shapes_at() ? size_law_ : shape_law_).log_density(base_[k]);
    return total;
  }
  std::vector<double> moved_base(const ColumnSums& columns, Stream& random) const {
    std::vector<double> moved = base_;
    for (std::size_t j = 0; j < columns.size(); ++j) {
      double size = sizes_[j];
      if (learns_size()) {
        moved[j] = slice_coordinate(
            moved[j], 1.0, size_law_,
            [&](double x) {
              return tally(j).log_rising(std::exp(x)) +
                     log_likelihood(j, columns[j], std::exp(x), shapes_[j]);
            },
            random);
        size = std::exp(moved[j]);
      }
      if (shape_law_.is_random())
        moved[shapes_at() + j] = slice_coordinate(
            moved[shapes_at() + j], 1.0, shape_law_,
            [&](double x) { return log_likelihood(j, columns[j], size, std::exp(x)); }, random);
    }
    return moved;
  }

  double a(int j) const { return 1 + sizes_[j] * shapes_[j] / means_[j]; }
  double b(int j) const { return shapes_[j]; }
  double size(int j) const { return sizes_[j]; }

  double log_marginal(int j, double exposure, double sum) const {
    return log_posterior(j, exposure, sum) - log_posterior(j, 0, 0);
  }
  // log B(a + size E, b + N).
  double log_posterior(int j, double exposure, double sum) const {
    return log_beta(a(j) + sizes_[j] * exposure, b(j) + sum);
  }

  // The probability of a cluster, Beta(a + size E, b + N): log f(x | p) is
  // x log(1-p) + e size log p.
  CountAtom draw_atom(int j, double exposure, double sum, Stream& random) const {
    const double log_first = random.log_gamma_draw(a(j) + sizes_[j] * exposure);
    const double log_second = random.log_gamma_draw(b(j) + sum);
    return {-softplus(log_first - log_second), sizes_[j] * softplus(log_second - log_first)};
  }

 private:
  bool learns_size() const { return size_law_.is_random(); }
  std::size_t shapes_at() const { return learns_size() ? sizes_.size() : 0; }
  const CountTally& tally(std::size_t j) const { return (*tallies_)[j]; }

  static double log_beta(double a, double b) {
    return log_gamma(a) + log_gamma(b) - log_gamma(a + b);
  }

  // Of a column's clusters, at another size and shape.
  double log_likelihood(std::size_t j, const std::vector<double>& clusters, double size,
                        double shape) const {
    const double a = 1 + size * shape / means_[j];
    const double prior = log_beta(a, shape);
    double total = 0;
    for (std::size_t k = 0; k < clusters.size(); k += 2)
      total += log_beta(a + size * clusters[k], shape + clusters[k + 1]) - prior;
    return total;
  }

  std::vector<double> sizes_, shapes_, means_, start_sizes_;
  Hyperprior size_law_, shape_law_;
  std::shared_ptr<const std::vector<CountTally>> tallies_;  // where sizes are learned
  std::vector<double> base_;
};

// With a and b of the cluster, log P(x | X_c) in column j is
//   log Gamma(a + size e) + log Gamma(b + x) - log Gamma(a + size e + b + x) + constant.
// Where e is 1, the first is part of the constant, and a has the size in it.
class NegativeBinomialLaw::Terms {
 public:
  void resize(std::size_t size) {
    for (auto* values : {&a_, &b_, &constants_}) values->resize(size);
  }
  double refresh(const NegativeBinomialLaw& law, bool exposed, int j, std::size_t at,
                 double exposure, double sum) {
    a_[at] = law.a(j) + law.size(j) * exposure;
    b_[at] = law.b(j) + sum;
    const double first = log_gamma(a_[at]), second = log_gamma(b_[at]);
    const double both = log_gamma(a_[at] + b_[at]);
    constants_[at] = both - first - second;
    if (!exposed) {
      a_[at] += law.size(j);
      constants_[at] += log_gamma(a_[at]);
    }
    return first + second - both;
  }
  void score(const NegativeBinomialLaw& law, const Kernels& with, std::size_t at,
             const RowBlock& rows, const ExposureBlock* exposures, double* scores) const {
    const int d = static_cast<int>(law.sizes_.size());
    if (exposures != nullptr)
      with.negative_binomial_exposed(d, &a_[at], &b_[at], &constants_[at], law.sizes_.data(),
                                     exposures->data(), rows.values(), rows.presence(), scores);
    else
      with.negative_binomial(d, &a_[at], &b_[at], &constants_[at], rows.values(), rows.presence(),
                             scores);
  }

 private:
  std::vector<double> a_, b_, constants_;
};

using NegativeBinomial = CountedColumns<NegativeBinomialLaw>;

static_assert(Family<NegativeBinomial> && RowTermFamily<NegativeBinomial> &&
              ClusterScores<NegativeBinomial::Clusters, NegativeBinomial>);

}  // namespace mixwood
