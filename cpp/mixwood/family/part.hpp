// A family as a part of a product: its rows are those of the product that have something for it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "mixwood/family/blocks.hpp"
#include "mixwood/family/product.hpp"

namespace mixwood {

// Which rows of a loaded block a part has: their places in the part, and where in the block.
class PresentRows {
 public:
  explicit PresentRows(std::span<const std::int32_t> places) : places_(places) {}

  void load(std::span<const int> rows) {
    rows_.clear();
    in_block_.clear();
    for (std::size_t b = 0; b < rows.size(); ++b) {
      within_[b] = -1;
      if (places_[rows[b]] < 0) continue;
      within_[b] = static_cast<int>(rows_.size());
      rows_.push_back(places_[rows[b]]);
      in_block_.push_back(static_cast<int>(b));
    }
  }

  std::span<const int> rows() const { return rows_; }
  // Where the k-th of them is in the block; and which of them is at b, below 0 for none.
  int in_block(std::size_t k) const { return in_block_[k]; }
  int within(int b) const { return within_[b]; }

 private:
  std::span<const std::int32_t> places_;
  std::vector<int> rows_, in_block_;
  int within_[block_rows] = {};
};

// Scores `rows` with what has load(rows) and, by `score`, writes to scores_: all at once, or one by
// one where the family knows no other way. `add` gets the first of those scored and how many.
template <int at_once, class Scored, class Score, class Add>
void score_present(Scored& scored, std::span<const int> rows, Score&& score, Add&& add) {
  if constexpr (at_once == block_rows) {
    if (rows.empty()) return;
    score();
    add(0, rows.size());
  } else {
    static_assert(at_once == 1);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      scored.load(rows.subspan(k, 1));
      score();
      add(k, std::size_t{1});
    }
  }
}

template <Family F>
class PartClustersOf final : public PartClusters {
 public:
  PartClustersOf(const F& family, std::span<const std::int32_t> places)
      : family_(family), places_(places), present_(places), clusters_(family), blocks_(family) {}

  void grow(int slots) override {
    clusters_.grow(slots);
    slots_ = std::max(slots_, slots);
    scores_.resize(static_cast<std::size_t>(slots_) * at_once);
  }
  void clear(int slot) override { clusters_.clear(slot); }
  void observe(int slot, int row) override {
    if (places_[row] >= 0) clusters_.observe(slot, places_[row]);
  }
  void forget(int slot, int row) override {
    if (places_[row] >= 0) clusters_.forget(slot, places_[row]);
  }
  void assign(int slot, const double* s) override { clusters_.assign(slot, s); }
  void merge(int slot, const double* s) override { clusters_.merge(slot, block_of(s)); }
  void subtract(int slot, const double* s) override { clusters_.subtract(slot, block_of(s)); }
  void read(int slot, double* s) const override { clusters_.read(slot, s); }
  double log_marginal(int slot) override { return clusters_.log_marginal(slot); }

  void load(std::span<const int> rows) override {
    present_.load(rows);
    if (at_once == block_rows && !present_.rows().empty()) clusters_.load(present_.rows());
  }
  void add_scores(std::span<const int> slots, double* scores) override {
    score_present<at_once>(
        clusters_, present_.rows(), [&] { clusters_.score(slots, scores_.data()); },
        [&](std::size_t first, std::size_t count) {
          for (const int slot : slots)
            for (std::size_t k = 0; k < count; ++k)
              scores[static_cast<std::size_t>(slot) * block_rows + present_.in_block(first + k)] +=
                  scores_[static_cast<std::size_t>(slot) * at_once + k];
        });
  }
  double score_without(int slot, int b) override {
    const int within = present_.within(b);
    if (within < 0) return 0;
    if constexpr (at_once == block_rows) return clusters_.score_without(slot, within);
    clusters_.load(present_.rows().subspan(within, 1));
    return clusters_.score_without(slot, 0);
  }

  void add_block_scores(const double* s, std::span<const int> slots, double* scores) override {
    blocks_.score(clusters_, block_of(s), slots, scores_.data());
    for (const int slot : slots) scores[slot] += scores_[slot];
  }
  double score_block_without(int slot, const double* s) override {
    return blocks_.score_without(clusters_, slot, block_of(s));
  }
  void archive(Writer& a, int slot, const double* fresh) override {
    clusters_.archive(a, slot, fresh);
  }
  void archive(Reader& a, int slot, const double* fresh) override {
    clusters_.archive(a, slot, fresh);
  }

 private:
  static constexpr int at_once = F::Clusters::rows_at_once;

  // A statistic in the form in which the family takes rows that move together.
  Block<F> block_of(const double* s) {
    if constexpr (has_sparse_statistics<F>) {
      family_.gather(s, sparse_);
      return sparse_;
    } else {
      return s;
    }
  }

  const F& family_;
  std::span<const std::int32_t> places_;
  PresentRows present_;
  typename F::Clusters clusters_;
  BlockScores<F> blocks_;
  typename SparseOf<F>::type sparse_;
  int slots_ = 0;
  std::vector<double> scores_;
};

template <AtomFamily F>
class PartAtomsOf final : public PartAtoms {
 public:
  PartAtomsOf(const F& family, std::span<const std::int32_t> places)
      : present_(places), atoms_(family) {}

  void resize(int count) override {
    atoms_.resize(count);
    scores_.resize(static_cast<std::size_t>(count) * at_once);
  }
  void draw(int atom, const double* s, Stream& random) override { atoms_.draw(atom, s, random); }
  void load(std::span<const int> rows) override {
    present_.load(rows);
    if (at_once == block_rows && !present_.rows().empty()) atoms_.load(present_.rows());
  }
  void add_scores(int count, double* scores) override {
    score_present<at_once>(
        atoms_, present_.rows(), [&] { atoms_.score(count, scores_.data()); },
        [&](std::size_t first, std::size_t rows) {
          for (int atom = 0; atom < count; ++atom)
            for (std::size_t k = 0; k < rows; ++k)
              scores[static_cast<std::size_t>(atom) * block_rows + present_.in_block(first + k)] +=
                  scores_[static_cast<std::size_t>(atom) * at_once + k];
        });
  }

 private:
  static constexpr int at_once = F::Atoms::rows_at_once;

  PresentRows present_;
  typename F::Atoms atoms_;
  std::vector<double> scores_;
};

template <Family F>
class PartOf final : public Part {
 public:
  // places[row] is the part's own number of a row of the product, below 0 where it has none.
  PartOf(std::shared_ptr<const F> family, std::vector<std::int32_t> places)
      : family_(std::move(family)), places_(std::move(places)) {}

  int statistic_size() const override { return family_->statistic_size(); }
  bool is_count(int entry) const override {
    if constexpr (requires { family_->is_count(entry); }) return family_->is_count(entry);
    return false;
  }
  void observe(double* s, int row) const override {
    if (places_[row] >= 0) family_->observe(s, places_[row]);
  }
  void forget(double* s, int row) const override {
    if (places_[row] >= 0) family_->forget(s, places_[row]);
  }
  void merge(double* s, const double* t) const override { family_->merge(s, t); }
  void subtract(double* s, const double* t) const override { family_->subtract(s, t); }
  double log_marginal(const double* s) const override { return family_->log_marginal(s); }
  double log_alone(int row) const override {
    return places_[row] < 0 ? 0.0 : family_->log_alone(places_[row]);
  }
  bool has_atoms() const override { return can_draw_atoms(*family_); }
  std::unique_ptr<PartClusters> clusters() const override {
    return std::make_unique<PartClustersOf<F>>(*family_, places_);
  }
  std::unique_ptr<PartAtoms> atoms() const override {
    if constexpr (AtomFamily<F>) return std::make_unique<PartAtomsOf<F>>(*family_, places_);
    return nullptr;
  }

 private:
  std::shared_ptr<const F> family_;
  std::vector<std::int32_t> places_;
};

}  // namespace mixwood
