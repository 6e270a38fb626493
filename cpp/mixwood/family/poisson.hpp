// Rows of independent Poisson counts, a Gamma(shape, rate) prior on each column's mean. In each
// column, with n present entries that sum to N:
//
//   P(x) = rate^shape/Gamma(shape) Gamma(shape + N)/(rate + n)^(shape + N)    (1/x! left out)
//
// Where rows have exposures e, x has e times the mean, n is the sum of e, and e^x is left out, too.
// A learned base measure is ln shape of every column; the rates may be tied to the shapes, so that
// the prior's means stay.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>
#include <vector>

#include "mixwood/family/counted_columns.hpp"
#include "mixwood/numerics/special.hpp"
#include "mixwood/random/hyperprior.hpp"

namespace mixwood {

class PoissonLaw {
 public:
  class Terms;

  // `tied`: with a hyperprior, whether the rates keep their ratio to the shapes.
  PoissonLaw(std::span<const double> shapes, std::span<const double> rates, bool tied,
             Hyperprior hyper)
      : shapes_(shapes.begin(), shapes.end()),
        rates_(rates.begin(), rates.end()),
        tied_(tied),
        hyper_(hyper) {
    if (!hyper.is_random()) return;
    std::vector<double> start;
    for (std::size_t j = 0; j < shapes_.size(); ++j) {
      start.push_back(std::log(shapes_[j]));
      means_.push_back(shapes_[j] / rates_[j]);
    }
    base_.resize(start.size());
    set_base(start.data());
  }

  int base_size() const { return static_cast<int>(base_.size()); }
  void read_base(double* to) const { std::copy(base_.begin(), base_.end(), to); }
  void set_base(const double* base) {
    for (std::size_t j = 0; j < base_.size(); ++j) {
      const double shape = std::exp(base[j]);
      if (!(shape > 0) || !std::isfinite(shape))
        throw std::invalid_argument("a base measure must have a positive, finite shape");
      base_[j] = base[j];
      shapes_[j] = shape;
      if (tied_) rates_[j] = shape / means_[j];
    }
  }
  double log_base() const {
    double total = 0;
    for (const double log_shape : base_) total += hyper_.log_density(log_shape);
    return total;
  }
  std::vector<double> moved_base(const ColumnSums& columns, Stream& random) const {
    std::vector<double> moved(base_.size());
    for (std::size_t j = 0; j < moved.size(); ++j)
      moved[j] = slice_coordinate(
          base_[j], 1.0, hyper_, [&](double x) { return log_likelihood(j, columns[j], x); },
          random);
    return moved;
  }

  double shape(int j) const { return shapes_[j]; }
  double rate(int j) const { return rates_[j]; }

  double log_marginal(int j, double n, double sum) const {
    return shapes_[j] * std::log(rates_[j]) - log_gamma(shapes_[j]) + log_posterior(j, n, sum);
  }
  // log Gamma(shape + N) - (shape + N) log(rate + n).
  double log_posterior(int j, double n, double sum) const {
    return log_gamma(shapes_[j] + sum) - (shapes_[j] + sum) * std::log(rates_[j] + n);
  }

  // The mean of a cluster, Gamma(shape + N, rate + n): log f(x | mean) is x log(mean) - e mean.
  CountAtom draw_atom(int j, double n, double sum, Stream& random) const {
    const double log_mean = random.log_gamma_draw(shapes_[j] + sum) - std::log(rates_[j] + n);
    return {log_mean, std::exp(log_mean)};
  }

 private:
  // Of a column's clusters, at another shape.
  double log_likelihood(std::size_t j, const std::vector<double>& clusters,
                        double log_shape) const {
    const double shape = std::exp(log_shape);
    const double rate = tied_ ? shape / means_[j] : rates_[j];
    const double prior = shape * std::log(rate) - log_gamma(shape);
    double total = 0;
    for (std::size_t k = 0; k < clusters.size(); k += 2)
      total += prior + log_gamma(shape + clusters[k + 1]) -
               (shape + clusters[k + 1]) * std::log(rate + clusters[k]);
    return total;
  }

  std::vector<double> shapes_, rates_, means_;
  bool tied_;
  Hyperprior hyper_;
  std::vector<double> base_;
};

// log P(x | X_c) in column j is log Gamma(a + x) + constant + slope x; where rows have exposures,
// log Gamma(a + x) + constant - (a + x) log(b + e).
class PoissonLaw::Terms {
 public:
  void resize(std::size_t size) {
    for (auto* values : {&shapes_, &rates_, &constants_, &slopes_}) values->resize(size);
  }
  double refresh(const PoissonLaw& law, bool exposed, int j, std::size_t at, double n, double sum) {
    const double a = law.shape(j) + sum;
    const double b = law.rate(j) + n;
    const double log_gamma_a = log_gamma(a);
    shapes_[at] = a;
    rates_[at] = b;
    constants_[at] = exposed ? a * std::log(b) - log_gamma_a : -a * std::log1p(1 / b) - log_gamma_a;
    slopes_[at] = -std::log(b + 1);
    return log_gamma_a - a * std::log(b);
  }
  void score(const PoissonLaw& law, const Kernels& with, std::size_t at, const RowBlock& rows,
             const ExposureBlock* exposures, double* scores) const {
    const int d = static_cast<int>(law.shapes_.size());
    if (exposures != nullptr)
      with.poisson_exposed(d, &shapes_[at], &rates_[at], &constants_[at], exposures->data(),
                           rows.values(), rows.presence(), scores);
    else
      with.poisson(d, &shapes_[at], &constants_[at], &slopes_[at], rows.values(), rows.presence(),
                   scores);
  }

 private:
  std::vector<double> shapes_, rates_, constants_, slopes_;
};

using Poisson = CountedColumns<PoissonLaw>;

static_assert(Family<Poisson> && ClusterScores<Poisson::Clusters, Poisson>);

}  // namespace mixwood
