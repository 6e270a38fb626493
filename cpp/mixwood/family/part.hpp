// A family as a part of a product: its rows are those of the product that have something for it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "mixwood/family/erased.hpp"
#include "mixwood/numerics/kernels.hpp"

namespace mixwood {

// One family and the rows that have something for it: the others add nothing. place(row) is the
// part's own number of a row of the product, below 0 where it has none.
struct Part {
  std::shared_ptr<ErasedFamily> family;
  std::shared_ptr<const std::vector<std::int32_t>> places;

  // With a family of its own, if that has a base measure to learn or rows with a latent part.
  Part copy() const {
    const bool changes = family->base_size() > 0 || family->latent_size() > 0;
    return {changes ? family->copy() : family, places};
  }

  int place(int row) const { return (*places)[row]; }
  void observe(double* s, int row) const {
    if (place(row) >= 0) family->observe(s, place(row));
  }
  void forget(double* s, int row) const {
    if (place(row) >= 0) family->forget(s, place(row));
  }
  double log_alone(int row) const { return place(row) < 0 ? 0.0 : family->log_alone(place(row)); }
  double row_term(int row) const { return place(row) < 0 ? 0.0 : family->row_term(place(row)); }
  int latent_size(int row) const { return place(row) < 0 ? 0 : family->latent_size(place(row)); }
};

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

// Scores the rows that are present with what has load(rows) and, by `score`, writes its scores:
// all at once, or one by one where the family knows no other way. `add` gets the first of those
// scored and how many.
template <class Scored, class Score, class Add>
void score_present(Scored& scored, std::span<const int> rows, Score&& score, Add&& add) {
  if (scored.rows_at_once == block_rows) {
    if (rows.empty()) return;
    score();
    add(0, rows.size());
  } else {
    for (std::size_t k = 0; k < rows.size(); ++k) {
      scored.load(rows.subspan(k, 1));
      score();
      add(k, std::size_t{1});
    }
  }
}

// The clusters of one part. Scores are added to what is there, at [slot * block_rows + b].
class PartClusters {
 public:
  explicit PartClusters(const Part& part)
      : family_(*part.family),
        places_(*part.places),
        present_(places_),
        clusters_(part.family->clusters()) {}

  void grow(int slots) {
    clusters_->grow(slots);
    slots_ = std::max(slots_, slots);
    scores_.resize(static_cast<std::size_t>(slots_) * clusters_->rows_at_once);
  }
  void clear(int slot) { clusters_->clear(slot); }
  void observe(int slot, int row) {
    if (places_[row] >= 0) clusters_->observe(slot, places_[row]);
  }
  void forget(int slot, int row) {
    if (places_[row] >= 0) clusters_->forget(slot, places_[row]);
  }
  void assign(int slot, const double* s) { clusters_->assign(slot, s); }
  void merge(int slot, const double* s) { clusters_->merge(slot, block_of(s)); }
  void subtract(int slot, const double* s) { clusters_->subtract(slot, block_of(s)); }
  void read(int slot, double* s) const { clusters_->read(slot, s); }
  void take_base(std::span<const int> slots) { clusters_->take_base(slots); }
  double log_marginal(int slot) { return clusters_->log_marginal(slot); }

  void load(std::span<const int> rows) {
    present_.load(rows);
    if (all_at_once() && !present_.rows().empty()) clusters_->load(present_.rows());
  }
  void add_scores(std::span<const int> slots, double* scores) {
    const int at_once = clusters_->rows_at_once;
    score_present(
        *clusters_, present_.rows(), [&] { clusters_->score(slots, scores_.data()); },
        [&](std::size_t first, std::size_t count) {
          for (const int slot : slots)
            for (std::size_t k = 0; k < count; ++k)
              scores[static_cast<std::size_t>(slot) * block_rows + present_.in_block(first + k)] +=
                  scores_[static_cast<std::size_t>(slot) * at_once + k];
        });
  }
  double score_without(int slot, int b) {
    const int within = present_.within(b);
    if (within < 0) return 0;
    if (all_at_once()) return clusters_->score_without(slot, within);
    clusters_->load(present_.rows().subspan(within, 1));
    return clusters_->score_without(slot, 0);
  }

  void add_block_scores(const double* s, std::span<const int> slots, double* scores) {
    clusters_->score_block(block_of(s), slots, scores_.data());
    for (const int slot : slots) scores[slot] += scores_[slot];
  }
  double score_block_without(int slot, const double* s) {
    return clusters_->score_block_without(slot, block_of(s));
  }
  template <class Archive>
  void archive(Archive& a, int slot, const double* fresh) {
    clusters_->archive(a, slot, fresh);
  }

 private:
  bool all_at_once() const { return clusters_->rows_at_once == block_rows; }

  // A statistic in the form in which the family takes rows that move together.
  ErasedFamily::Block block_of(const double* s) {
    if (!family_.is_sparse()) return {.statistic = s, .counts = {}};
    family_.gather(s, gathered_);
    return {.statistic = nullptr, .counts = gathered_};
  }

  const ErasedFamily& family_;
  std::span<const std::int32_t> places_;
  PresentRows present_;
  std::unique_ptr<ErasedClusters> clusters_;
  GatheredCounts gathered_;
  int slots_ = 0;
  std::vector<double> scores_;
};

// What is known of a row in one part, and its latent numbers there. A part without latent numbers
// compares rows with plain statistics.
class PartLatents {
 public:
  explicit PartLatents(const Part& part)
      : part_(part), latents_(part.family->latents()), size_(part.family->statistic_size()) {
    if (part.family->latent_size() == 0) latents_.reset();
  }

  bool given_atoms() const { return latents_ && latents_->given_atoms(); }
  void draw_atom(int slot, Stream& random) {
    if (latents_) latents_->draw_atom(slot, random);
  }

  void start(int slots) {
    if (latents_)
      latents_->start(slots);
    else
      statistics_.resize(std::max(statistics_.size(), static_cast<std::size_t>(slots + 1) * size_));
  }
  void assign(int slot, const double* s) {
    if (latents_) return latents_->assign(slot, s);
    start(slot + 1);
    std::copy_n(s, size_, statistic(slot));
  }
  void read(int slot, double* s) const {
    if (latents_) return latents_->read(slot, s);
    std::copy_n(statistics_.data() + static_cast<std::size_t>(slot + 1) * size_, size_, s);
  }
  void load(int row) {
    row_ = part_.place(row);
    if (latents_ && row_ >= 0) latents_->load(row_);
  }
  double score(int slot) {
    if (row_ < 0) return 0;
    return latents_ ? latents_->score(slot) : score(statistic(slot));
  }
  double score_without(int slot) {
    if (row_ < 0) return 0;
    if (latents_) return latents_->score_without(slot);
    std::copy_n(statistic(slot), size_, statistic(spare));
    part_.family->forget(statistic(spare), row_);
    return score(statistic(spare));
  }
  double score_alone() {
    if (row_ < 0) return 0;
    return latents_ ? latents_->score_alone() : part_.family->log_alone(row_);
  }
  void forget(int slot) {
    if (row_ < 0) return;
    if (latents_) return latents_->forget(slot);
    part_.family->forget(statistic(slot), row_);
  }
  void observe(int slot) {
    if (row_ < 0) return;
    if (latents_) return latents_->observe(slot);
    part_.family->observe(statistic(slot), row_);
  }
  // Returns the place after the last number.
  double* draw(int slot, Stream& random, double* to) {
    if (row_ < 0 || part_.family->latent_size(row_) == 0) return to;
    latents_->draw(slot, random, to);
    return to + part_.family->latent_size(row_);
  }

 private:
  static constexpr int spare = -1;

  double* statistic(int slot) {
    return statistics_.data() + static_cast<std::size_t>(slot + 1) * size_;
  }
  double score(const double* s) {
    if (part_.family->is_sparse()) return part_.family->log_predictive(s, row_);
    union_.resize(size_);
    return part_.family->log_marginal_with(s, row_, union_.data()) - part_.family->log_marginal(s);
  }

  const Part& part_;
  std::unique_ptr<ErasedLatents> latents_;
  std::size_t size_;
  int row_ = 0;  // in the part
  std::vector<double> statistics_, union_;
};

// The parameters of one part's clusters; scores as above.
class PartAtoms {
 public:
  explicit PartAtoms(const Part& part) : present_(*part.places), atoms_(part.family->atoms()) {}

  void resize(int count) {
    atoms_->resize(count);
    scores_.resize(static_cast<std::size_t>(count) * atoms_->rows_at_once);
  }
  void draw(int atom, const double* s, Stream& random) { atoms_->draw(atom, s, random); }
  void load(std::span<const int> rows) {
    present_.load(rows);
    if (atoms_->rows_at_once == block_rows && !present_.rows().empty())
      atoms_->load(present_.rows());
  }
  void add_scores(int count, double* scores) {
    const int at_once = atoms_->rows_at_once;
    score_present(
        *atoms_, present_.rows(), [&] { atoms_->score(count, scores_.data()); },
        [&](std::size_t first, std::size_t rows) {
          for (int atom = 0; atom < count; ++atom)
            for (std::size_t k = 0; k < rows; ++k)
              scores[static_cast<std::size_t>(atom) * block_rows + present_.in_block(first + k)] +=
                  scores_[static_cast<std::size_t>(atom) * at_once + k];
        });
  }

 private:
  PresentRows present_;
  std::unique_ptr<ErasedAtoms> atoms_;
  std::vector<double> scores_;
};

}  // namespace mixwood
