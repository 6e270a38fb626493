// Any family behind the erased interface.
#pragma once

#include <algorithm>
#include <concepts>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "mixwood/family/blocks.hpp"
#include "mixwood/family/erased.hpp"
#include "mixwood/family/family.hpp"

namespace mixwood {

template <Family F>
class ErasedClustersOf final : public ErasedClusters {
 public:
  explicit ErasedClustersOf(const F& family)
      : ErasedClusters(F::Clusters::rows_at_once), clusters_(family), blocks_(family) {}

  void grow(int slots) override { clusters_.grow(slots); }
  void clear(int slot) override { clusters_.clear(slot); }
  void observe(int slot, int row) override { clusters_.observe(slot, row); }
  void forget(int slot, int row) override { clusters_.forget(slot, row); }
  void assign(int slot, const double* s) override { clusters_.assign(slot, s); }
  void merge(int slot, const Block& block) override { clusters_.merge(slot, own(block)); }
  void subtract(int slot, const Block& block) override { clusters_.subtract(slot, own(block)); }
  void read(int slot, double* s) const override { clusters_.read(slot, s); }
  void take_base(std::span<const int> slots) override { clusters_.take_base(slots); }
  double log_marginal(int slot) override { return clusters_.log_marginal(slot); }
  void load(std::span<const int> rows) override { clusters_.load(rows); }
  void score(std::span<const int> slots, double* scores) override {
    clusters_.score(slots, scores);
  }
  double score_without(int slot, int b) override { return clusters_.score_without(slot, b); }
  void score_block(const Block& block, std::span<const int> slots, double* scores) override {
    blocks_.score(clusters_, own(block), slots, scores);
  }
  double score_block_without(int slot, const Block& block) override {
    return blocks_.score_without(clusters_, slot, own(block));
  }
  void archive(Writer& a, int slot, const double* fresh) override {
    clusters_.archive(a, slot, fresh);
  }
  void archive(Reader& a, int slot, const double* fresh) override {
    clusters_.archive(a, slot, fresh);
  }

 private:
  // The block in the form in which the family takes it.
  static mixwood::Block<F> own(const Block& block) {
    if constexpr (SparseFamily<F>)
      return block.counts;
    else
      return block.statistic;
  }

  typename F::Clusters clusters_;
  BlockScores<F> blocks_;
};

template <AtomFamily F>
class ErasedAtomsOf final : public ErasedAtoms {
 public:
  explicit ErasedAtomsOf(const F& family) : ErasedAtoms(F::Atoms::rows_at_once), atoms_(family) {}

  void resize(int count) override { atoms_.resize(count); }
  void draw(int atom, const double* s, Stream& random) override { atoms_.draw(atom, s, random); }
  void load(std::span<const int> rows) override { atoms_.load(rows); }
  void score(int count, double* scores) override { atoms_.score(count, scores); }

 private:
  typename F::Atoms atoms_;
};

template <LatentFamily F>
class ErasedLatentsOf final : public ErasedLatents {
 public:
  explicit ErasedLatentsOf(const F& family) : latents_(family) {}

  bool given_atoms() const override { return latents_.given_atoms(); }
  void draw_atom(int slot, Stream& random) override { latents_.draw_atom(slot, random); }
  void start(int slots) override { latents_.start(slots); }
  void assign(int slot, const double* s) override { latents_.assign(slot, s); }
  void read(int slot, double* s) const override { latents_.read(slot, s); }
  void load(int row) override { latents_.load(row); }
  double score(int slot) override { return latents_.score(slot); }
  double score_without(int slot) override { return latents_.score_without(slot); }
  double score_alone() override { return latents_.score_alone(); }
  void forget(int slot) override { latents_.forget(slot); }
  void draw(int slot, Stream& random, double* to) override { latents_.draw(slot, random, to); }
  void observe(int slot) override { latents_.observe(slot); }

 private:
  typename F::Latents latents_;
};

// See ErasedFamily::factor_size.
template <class F>
concept FactoredFamily =
    requires(const F& f, const double* s, double* factor, std::span<const int> rows) {
      { f.factor_size() } -> std::same_as<int>;
      f.update_factor(s, factor, rows, factor);
    };

template <Family F>
class ErasedOf final : public ErasedFamily {
 public:
  // With `sums` the rows are weighted leaves: each is one row of the family that has all the counts
  // of its rows, which only a sparse family can have.
  explicit ErasedOf(std::shared_ptr<F> family, std::optional<LeafSums> sums = {})
      : ErasedFamily(family->n_rows(), family->statistic_size(), SparseFamily<F>, sums),
        family_(std::move(family)) {}

  std::shared_ptr<ErasedFamily> copy() const override {
    return std::make_shared<ErasedOf>(std::make_shared<F>(*family_), sums());
  }
  int base_size() const override { return family_->base_size(); }
  void read_base(double* to) const override { family_->read_base(to); }
  void set_base(const double* base) override { family_->set_base(base); }
  double log_base() const override { return family_->log_base(); }
  BaseMoves update_base(const ClusterStatistics& clusters, Stream& random) override {
    return family_->update_base(clusters, random);
  }

  double row_term(int row) const override { return mixwood::row_term(*family_, row); }
  double log_rows() const override { return mixwood::log_rows(*family_); }
  void weigh_rows(std::span<const double> weights) override {
    if constexpr (requires { family_->weigh_rows(weights); }) family_->weigh_rows(weights);
  }

  int latent_size() const override { return mixwood::latent_size(*family_); }
  int latent_size(int row) const override {
    if constexpr (LatentFamily<F>) return family_->latent_size(row);
    return 0;
  }
  std::span<const int> latent_rows() const override {
    if constexpr (LatentFamily<F>) return family_->latent_rows();
    return {};
  }
  void read_latent(double* to) const override {
    if constexpr (LatentFamily<F>) family_->read_latent(to);
  }
  void set_latent(const double* from) override {
    if constexpr (LatentFamily<F>) family_->set_latent(from);
  }
  void set_latent_of_row(int row, const double* from) override {
    if constexpr (LatentFamily<F>) family_->set_latent_of_row(row, from);
  }
  bool redraws_at_once() const override { return mixwood::redraws_at_once(*family_); }
  void redraw_latents(const ClusterStatistics& clusters, std::span<const int> cluster_of_row,
                      Stream& random) override {
    if constexpr (RedrawnAtOnce<F>) family_->redraw_latents(clusters, cluster_of_row, random);
  }
  std::unique_ptr<ErasedLatents> latents() const override {
    if constexpr (LatentFamily<F>) return std::make_unique<ErasedLatentsOf<F>>(*family_);
    return nullptr;
  }

  bool is_count(int entry) const override {
    if constexpr (requires { family_->is_count(entry); }) return family_->is_count(entry);
    return false;
  }
  bool is_whole() const override {
    if constexpr (requires { F::is_whole; }) return F::is_whole;
    return is_sparse();
  }
  int outer_size() const override {
    if constexpr (requires { family_->outer_size(); }) return family_->outer_size();
    return statistic_size();
  }
  void condense(const double* outer, double* s) const override {
    if constexpr (requires { family_->condense(outer, s); }) family_->condense(outer, s);
  }
  int row_entries() const override {
    if constexpr (requires { family_->row_entries(); }) return family_->row_entries();
    return statistic_size();
  }
  void allow_parts() override {
    if constexpr (requires { family_->allow_parts(); }) family_->allow_parts();
  }
  void observe(double* s, int row) const override { family_->observe(s, row); }
  void forget(double* s, int row) const override { family_->forget(s, row); }
  void merge(double* s, const double* t) const override { family_->merge(s, t); }
  void subtract(double* s, const double* t) const override { family_->subtract(s, t); }
  double log_marginal(const double* s) const override { return family_->log_marginal(s); }
  double log_alone(int row) const override { return family_->log_alone(row); }
  double log_marginal_with(const double* s, int row, double* spare) const override {
    if constexpr (requires { family_->log_marginal_with(s, row, spare); })
      return family_->log_marginal_with(s, row, spare);
    std::copy_n(s, family_->statistic_size(), spare);
    family_->observe(spare, row);
    return family_->log_marginal(spare);
  }
  double log_marginal_with(const double* s, const double* t, double* spare) const override {
    if constexpr (requires { family_->log_marginal_with(s, t, spare); })
      return family_->log_marginal_with(s, t, spare);
    std::copy_n(s, family_->statistic_size(), spare);
    family_->merge(spare, t);
    return family_->log_marginal(spare);
  }

  std::pair<double, double> log_marginals_with(const double* first, const double* second,
                                               const double* t, double* spare) const override {
    if constexpr (requires { family_->log_marginals_with(first, second, t); })
      return family_->log_marginals_with(first, second, t);
    else
      return ErasedFamily::log_marginals_with(first, second, t, spare);
  }

  int factor_size() const override {
    if constexpr (FactoredFamily<F>) return is_weighted() ? 0 : family_->factor_size();
    return 0;
  }
  int factor_rows() const override {
    if constexpr (FactoredFamily<F>) return family_->factor_rows();
    return 0;
  }
  int factor_scratch() const override {
    if constexpr (FactoredFamily<F>) return family_->factor_scratch();
    return 0;
  }
  void make_factor(const double* s, double* factor) const override {
    if constexpr (FactoredFamily<F>) family_->make_factor(s, factor);
  }
  void update_factor(const double* s, double* factor, std::span<const int> rows,
                     double* scratch) const override {
    if constexpr (FactoredFamily<F>) family_->update_factor(s, factor, rows, scratch);
  }
  double log_marginal_with(const double* s, double log_marginal, const double* factor,
                           std::span<const int> rows, double* scratch) const override {
    if constexpr (FactoredFamily<F>)
      return family_->log_marginal_with(s, log_marginal, factor, rows, scratch);
    return 0;
  }

  CountBlock block_of_row(int row) const override {
    if constexpr (SparseFamily<F>) return family_->block_of_row(row);
    return {};
  }
  void gather(const double* s, GatheredCounts& gathered) const override {
    if constexpr (SparseFamily<F>) family_->gather(s, gathered);
  }
  double log_predictive(const double* s, int row) const override {
    if constexpr (SparseFamily<F>) return family_->log_predictive(s, row);
    return 0;
  }
  double log_predictive(const double* s, const CountBlock& block) const override {
    if constexpr (SparseFamily<F>) return family_->log_predictive(s, block);
    return 0;
  }
  double log_marginal(const CountBlock& block) const override {
    if constexpr (SparseFamily<F>) return family_->log_marginal(block);
    return 0;
  }
  void merge_counts(double* s, const CountBlock& block) const override {
    if constexpr (SparseFamily<F>) family_->merge(s, block);
  }

  bool has_atoms() const override { return !is_weighted() && can_draw_atoms(*family_); }
  std::unique_ptr<ErasedClusters> clusters() const override {
    return std::make_unique<ErasedClustersOf<F>>(*family_);
  }
  std::unique_ptr<ErasedAtoms> atoms() const override {
    if constexpr (AtomFamily<F>) return std::make_unique<ErasedAtomsOf<F>>(*family_);
    return nullptr;
  }

  bool is_same_kind(const ErasedFamily& other) const override {
    return dynamic_cast<const ErasedOf*>(&other) != nullptr && other.is_weighted() == is_weighted();
  }

 private:
  std::shared_ptr<F> family_;
};

// The same family, erased.
template <Family F>
std::shared_ptr<ErasedFamily> erase_kind(const std::shared_ptr<F>& family) {
  if constexpr (std::same_as<F, ErasedFamily>)
    return family;
  else
    return std::make_shared<ErasedOf<F>>(family);
}

// A family that a chain may change: a copy where there is a base measure to learn, or rows have a
// latent part, else the same.
template <Family F>
std::shared_ptr<F> own_family(const std::shared_ptr<F>& family) {
  if (family->base_size() == 0 && latent_size(*family) == 0) return family;
  if constexpr (std::same_as<F, ErasedFamily>)
    return family->copy();
  else
    return std::make_shared<F>(*family);
}

}  // namespace mixwood
