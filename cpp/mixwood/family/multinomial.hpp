// Sparse rows of counts, each multinomial given its total, symmetric Dirichlet(beta) prior over
// V words. With word totals N_v and grand total N of a cluster:
//
//   P(X_c) = Gamma(V beta)/Gamma(V beta + N) prod_v Gamma(beta + N_v)/Gamma(beta)
//
// (multinomial coefficients of the rows left out). Statistic: N_v for every word, then N. A learned
// base measure is ln beta.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "mixwood/family/concentration.hpp"
#include "mixwood/family/count_block.hpp"
#include "mixwood/family/family.hpp"
#include "mixwood/numerics/kernels.hpp"
#include "mixwood/numerics/lazy_table.hpp"
#include "mixwood/numerics/log_product.hpp"
#include "mixwood/numerics/special.hpp"

namespace mixwood {

class Multinomial {
 public:
  class Clusters;
  class Atoms;

  using Block = CountBlock;

  // Compressed sparse rows, kept by the caller: row i has words[starts[i] .. starts[i+1]).
  Multinomial(std::span<const std::int64_t> starts, std::span<const std::int32_t> words,
              std::span<const std::int32_t> counts, int width, double beta, Hyperprior hyper = {})
      : starts_(starts), words_(words), counts_(counts), width_(width), hyper_(hyper) {
    const int n = n_rows();
    row_totals_.resize(n);
    std::vector<double> word_totals(width, 0.0);
    for (int i = 0; i < n; ++i)
      for (auto t = starts[i]; t < starts[i + 1]; ++t) {
        row_totals_[i] += counts[t];
        word_totals[words[t]] += counts[t];
      }
    for (const double total : word_totals) largest_total_ = std::max(largest_total_, total);
    if (largest_total_ > 2147483647.0)
      throw std::invalid_argument("X must have column totals below 2^31");
    if (hyper.is_random()) {
      const double base = std::log(beta);
      set_base(&base);
      return;
    }
    set_beta(beta);
    log_gains_.fill(common_counts, [this](std::size_t k) { return compute_gain(k); });
    alone_.fill(static_cast<std::size_t>(n),
                [this](std::size_t i) { return compute_alone(static_cast<int>(i)); });
  }

  // --- the base measure
  int base_size() const { return hyper_.is_random() ? 1 : 0; }
  void read_base(double* to) const {
    if (base_size() > 0) *to = log_beta_;
  }
  void set_base(const double* base) {
    if (!std::isfinite(*base) || !std::isfinite(std::exp(*base) * width_) || std::exp(*base) == 0)
      throw std::invalid_argument("a base measure must have a positive, finite beta");
    set_beta(std::exp(*base));
    log_beta_ = *base;
    log_gains_.forget(common_counts);
    alone_.forget(static_cast<std::size_t>(n_rows()));
  }
  double log_base() const { return hyper_.log_density(log_beta_); }
  BaseMoves update_base(const ClusterStatistics& clusters, Stream& random) {
    Concentration counts(width_);
    for (int k = 0; k < clusters.count; ++k) counts.add(clusters.read(k), width_);
    const double moved = counts.move(log_beta_, hyper_, random);
    set_base(&moved);
    return {};
  }

  int n_rows() const { return static_cast<int>(starts_.size()) - 1; }
  int width() const { return width_; }
  double beta() const { return beta_; }
  double prior_total() const { return width_ * beta_; }
  double largest_total() const { return largest_total_; }
  // How many factors a product of doubles holds for certain where clusters and what is compared
  // with them have a word at most `largest` times: they lie between beta and beta + 2 largest.
  int product_budget(double largest) const {
    const double end = beta_ + 2 * largest;
    return static_cast<int>(900 / std::max(std::log2(end), std::abs(std::log2(beta_))));
  }
  double row_total(int i) const { return row_totals_[i]; }
  std::span<const std::int32_t> words(int i) const { return part(words_, i); }
  std::span<const std::int32_t> counts(int i) const { return part(counts_, i); }
  double log_alone(int i) const {
    return alone_.at(static_cast<std::size_t>(i),
                     [this](std::size_t any) { return compute_alone(static_cast<int>(any)); });
  }
  int statistic_size() const { return width_ + 1; }
  // All entries of a statistic are exact whole numbers.
  bool is_count(int) const { return true; }

  int row_entries() const {
    return static_cast<int>(words_.size() / std::max<std::size_t>(1, row_totals_.size())) + 1;
  }
  Block block_of_row(int i) const { return {words(i), counts(i), row_totals_[i]}; }

  void observe(double* s, int i) const { add(s, i, 1); }
  void forget(double* s, int i) const { add(s, i, -1); }
  void merge(double* s, const double* t) const {
    for (int v = 0; v <= width_; ++v) s[v] += t[v];
  }
  void subtract(double* s, const double* t) const {
    for (int v = 0; v <= width_; ++v) s[v] -= t[v];
  }

  double log_marginal(const double* s) const {
    double total = log_gamma(prior_total()) - log_gamma(prior_total() + s[width_]);
    for (int v = 0; v < width_; ++v)
      if (s[v] > 0) total += log_gain(s[v]);
    return total;
  }

  void merge(double* s, const Block& block) const {
    for (std::size_t t = 0; t < block.words.size(); ++t) s[block.words[t]] += block.counts[t];
    s[width_] += block.total;
  }

  // The words that occur in a set of rows, from its statistic.
  void gather(const double* s, GatheredCounts& gathered) const {
    const auto most = static_cast<std::size_t>(width_);
    gathered.words.resize(most);
    gathered.counts.resize(most);
    std::size_t found = 0;
    for (std::int32_t v = 0; v < width_; ++v) {
      gathered.words[found] = v;
      gathered.counts[found] = static_cast<std::int32_t>(s[v]);
      found += s[v] > 0;
    }
    gathered.words.resize(found);
    gathered.counts.resize(found);
    gathered.total = s[width_];
  }

  double log_marginal(const Block& block) const {
    double total = log_gamma(prior_total()) - log_gamma(prior_total() + block.total);
    for (const std::int32_t count : block.counts) total += log_gain(count);
    return total;
  }

  // log P(block | X_c) from a statistic, over the block's own words only.
  double log_predictive(const double* s, const Block& block) const {
    const double before = prior_total() + s[width_];
    double total = log_gamma(before) - log_gamma(before + block.total);
    LogProduct factors;  // of the words that the block has a few times, which most are
    for (std::size_t t = 0; t < block.words.size(); ++t) {
      const double count = s[block.words[t]];
      const std::int32_t more = block.counts[t];
      if (more <= few) {
        double product = beta_ + count;
        for (std::int32_t j = 1; j < more; ++j) product *= beta_ + count + j;
        factors.times(product);
      } else {
        total += log_gain(count + more) - log_gain(count);
      }
    }
    return total + factors.log();
  }
  double log_predictive(const double* s, int row) const {
    return log_predictive(s, block_of_row(row));
  }

  // The sum over the block's words of the log of a (a+1) ... (x factors), a = start(word, x).
  template <class Start>
  double log_rising(const Block& block, Start&& start) const {
    const auto w = block.words;
    const auto c = block.counts;
    double total = 0;
    double product = 1;
    for (std::size_t t = 0; t < w.size(); ++t) {
      const double a = start(w[t], c[t]);
      if (c[t] > largest_product) {
        total += log_gamma(a + c[t]) - log_gamma(a);
        continue;
      }
      for (std::int32_t j = 0; j < c[t]; ++j) {
        product *= a + j;
        if (product > 1e-200 && product < 1e200) continue;
        total += std::log(product);
        product = 1;
      }
    }
    return total + std::log(product);
  }

  // log Gamma(beta + count)/Gamma(beta): counts are whole, and most are small.
  double log_gain(double count) const {
    if (count < static_cast<double>(log_gains_.size()))
      return log_gains_.at(static_cast<std::size_t>(count),
                           [this](std::size_t k) { return compute_gain(k); });
    return log_gamma(beta_ + count) - log_gamma_beta_;
  }

 private:
  static constexpr std::size_t common_counts = 4096;
  static constexpr std::int32_t few = 3;  // so many factors neither over- nor underflow

  void set_beta(double beta) {
    beta_ = beta;
    log_gamma_beta_ = log_gamma(beta);
  }
  double compute_gain(std::size_t k) const {
    return log_gamma(beta_ + static_cast<double>(k)) - log_gamma(beta_);
  }
  double compute_alone(int i) const {
    double gain = 0;
    for (auto t = starts_[i]; t < starts_[i + 1]; ++t) gain += log_gain(counts_[t]);
    return gain + log_gamma(prior_total()) - log_gamma(prior_total() + row_totals_[i]);
  }

  std::span<const std::int32_t> part(std::span<const std::int32_t> values, int i) const {
    return values.subspan(static_cast<std::size_t>(starts_[i]),
                          static_cast<std::size_t>(starts_[i + 1] - starts_[i]));
  }

  void add(double* s, int i, double sign) const {
    const auto w = words(i);
    const auto c = counts(i);
    for (std::size_t t = 0; t < w.size(); ++t) s[w[t]] += sign * c[t];
    s[width_] += sign * row_totals_[i];
  }

  std::span<const std::int64_t> starts_;
  std::span<const std::int32_t> words_, counts_;
  int width_;
  Hyperprior hyper_;
  double beta_ = 1, log_beta_ = 0, log_gamma_beta_ = 0;
  double largest_total_ = 2;  // of a word, over all rows
  LazyTable log_gains_, alone_;
  std::vector<double> row_totals_;
};

// Counts are stored word by word: a word's counts in all clusters are neighbours, so one pass over
// a row's words scores it against every cluster.
class Multinomial::Clusters {
 public:
  static constexpr int rows_at_once = 1;

  explicit Clusters(const Multinomial& family)
      : family_(family),
        kernels_(kernels()),
        largest_(family.largest_total()),
        product_budget_(family.product_budget(largest_)) {}

  void grow(int slots) {
    if (slots <= stride_) return;
    const int stride = (std::max(slots, stride_ + stride_ / 2) + 15) / 16 * 16;
    std::vector<std::int32_t> table(static_cast<std::size_t>(stride) * family_.width());
    for (int v = 0; v < family_.width(); ++v)
      std::copy_n(table_.begin() + static_cast<std::ptrdiff_t>(v) * stride_, stride_,
                  table.begin() + static_cast<std::ptrdiff_t>(v) * stride);
    table_.swap(table);
    stride_ = stride;
    totals_.resize(stride);
    log_gamma_totals_.resize(stride, log_gamma(family_.prior_total()));
    log_marginals_.resize(stride);
    sums_.resize(stride);
    normalizers_.resize(stride);
  }

  void clear(int slot) {
    if (totals_[slot] > 0)
      for (int v = 0; v < family_.width(); ++v) table_[at(v, slot)] = 0;
    set_total(slot, 0);
    log_marginals_[slot] = 0;
  }

  // The log marginal is kept by the chain rule.
  void observe(int slot, int row) { merge(slot, family_.block_of_row(row)); }
  void forget(int slot, int row) { subtract(slot, family_.block_of_row(row)); }
  void merge(int slot, const Block& block) {
    log_marginals_[slot] += score_one(slot, block, 0);
    add(slot, block, 1);
  }
  void subtract(int slot, const Block& block) {
    add(slot, block, -1);
    log_marginals_[slot] -= score_one(slot, block, 0);
  }

  void assign(int slot, const double* s) {
    double largest = 0;
    for (int v = 0; v < family_.width(); ++v) {
      table_[at(v, slot)] = static_cast<std::int32_t>(s[v]);
      largest = std::max(largest, s[v]);
    }
    hold(largest);
    set_total(slot, s[family_.width()]);
    log_marginals_[slot] = family_.log_marginal(s);
  }
  void read(int slot, double* s) const {
    for (int v = 0; v < family_.width(); ++v) s[v] = table_[at(v, slot)];
    s[family_.width()] = totals_[slot];
  }

  void take_base(std::span<const int> slots) {
    product_budget_ = family_.product_budget(largest_);
    for (const int slot : slots) {
      set_total(slot, totals_[slot]);
      log_marginals_[slot] =
          log_gamma(family_.prior_total()) - log_gamma(family_.prior_total() + totals_[slot]);
    }
    // Word by word, as they are stored: cluster by cluster every count would be a miss in cache.
    for (int v = 0; v < family_.width(); ++v)
      for (const int slot : slots)
        if (const std::int32_t count = table_[at(v, slot)]; count > 0)
          log_marginals_[slot] += family_.log_gain(count);
  }

  double log_marginal(int slot) const { return log_marginals_[slot]; }

  void load(std::span<const int> rows) { row_ = family_.block_of_row(rows[0]); }

  void score(std::span<const int> slots, double* scores) { score_block(row_, slots, scores); }
  double score_without(int slot, int) { return score_block_without(slot, row_); }

  void score_block(const Block& block, std::span<const int> slots, double* scores) {
    std::int32_t largest = 0;
    for (const std::int32_t count : block.counts) largest = std::max(largest, count);
    hold(largest);
    int end = 0;
    for (const int slot : slots) end = std::max(end, slot + 1);
    kernels_.multinomial(static_cast<int>(block.words.size()), block.words.data(),
                         block.counts.data(), table_.data(), stride_, end, family_.beta(),
                         product_budget_, sums_.data());
    const double prior_total = family_.prior_total() + block.total;
    for (int k = 0; k < end; ++k) normalizers_[k] = prior_total + totals_[k];
    kernels_.log_gammas(end, normalizers_.data());
    for (const int slot : slots)
      scores[slot] = sums_[slot] + log_gamma_totals_[slot] - normalizers_[slot];
  }

  template <class Archive>
  void archive(Archive& a, int slot, const double* fresh) {
    if constexpr (Archive::loading) assign(slot, fresh);
    archive_finite(a, log_marginals_[slot]);
  }

  double score_block_without(int slot, const Block& block) const {
    return score_one(slot, block, 1);
  }

 private:
  std::size_t at(int word, int slot) const {
    return static_cast<std::size_t>(word) * stride_ + slot;
  }

  // log P(block | X_slot), the block itself taken out of the slot `inside` (0 or 1) times.
  double score_one(int slot, const Block& block, int inside) const {
    const double before = family_.prior_total() + (totals_[slot] - inside * block.total);
    return family_.log_rising(block,
                              [&](std::int32_t word, std::int32_t count) {
                                return family_.beta() + (table_[at(word, slot)] - inside * count);
                              }) +
           log_gamma(before) - log_gamma(before + block.total);
  }

  void add(int slot, const Block& block, int sign) {
    std::int32_t largest = 0;
    for (std::size_t t = 0; t < block.words.size(); ++t)
      largest = std::max(largest, table_[at(block.words[t], slot)] += sign * block.counts[t]);
    hold(largest);
    set_total(slot, totals_[slot] + sign * block.total);
  }

  // Counts may be of other rows than the family's, and larger: products must hold them, too.
  void hold(double count) {
    if (count <= largest_) return;
    largest_ = count;
    product_budget_ = family_.product_budget(count);
  }

  void set_total(int slot, double total) {
    totals_[slot] = total;
    log_gamma_totals_[slot] = log_gamma(family_.prior_total() + total);
  }

  const Multinomial& family_;
  const Kernels& kernels_;
  double largest_;  // count of a word so far, in a cluster or in what was compared
  int product_budget_;
  int stride_ = 0;
  Block row_{};
  std::vector<std::int32_t> table_;
  std::vector<double> totals_, log_gamma_totals_, log_marginals_, sums_, normalizers_;
};

static_assert(Family<Multinomial> && SparseFamily<Multinomial> &&
              ClusterScores<Multinomial::Clusters, Multinomial>);

}  // namespace mixwood
