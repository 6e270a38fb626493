// A family whatever its kind, behind virtual functions: so that what is built on it is compiled
// once. A call is for a block of rows against many clusters, or for the statistic of a whole node,
// so that it costs nothing. Parts of a product, weighted leaves, and the chains that are not
// compiled for every family run on it; erased_of.hpp makes one of any family.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "mixwood/archive.hpp"
#include "mixwood/family/count_block.hpp"
#include "mixwood/family/family.hpp"
#include "mixwood/family/latent.hpp"
#include "mixwood/random/stream.hpp"

namespace mixwood {

// The sums over the rows that each row stands for, one array each, kept by the caller. Sizes are
// multiples of 2^-20, and all together below 2^31: so their sums are exact in whatever order, and a
// cluster that has lost all its leaves has a size of 0.
struct LeafSums {
  std::span<const double> sizes;        // how many rows
  std::span<const double> log_apart;    // sum of log P(x)
  std::span<const double> weights;      // as forests weigh their nodes
  std::span<const std::uint8_t> marks;  // 1: no two such leaves are in one cluster; empty: none is
  // The row of a leaf that is one row of the family and counts as one, -1 for others; empty: the
  // family has no rows of its own.
  std::span<const std::int32_t> rows;
  // Where something is learned from the rows themselves: the leaf of each row of the family, -1 for
  // one of none, and what the row counts as in it; else empty.
  std::span<const std::int32_t> leaf_of_row;
  std::span<const double> row_weights;
};

// How many rows all leaves stand for.
inline double total_size(const LeafSums& sums) {
  constexpr double unit = 1.0 / (1 << 20);
  double total = 0;
  for (const double size : sums.sizes) {
    if (!(size > 0)) throw std::invalid_argument("a leaf's size must be positive");
    total += size;
    if (!(total <= std::numeric_limits<std::int32_t>::max()))
      throw std::invalid_argument("the leaves must stand for fewer than 2^31 rows");
    if (std::fmod(size, unit) != 0)
      throw std::invalid_argument("a leaf's size must be a multiple of 2^-20");
  }
  return total;
}

class ErasedClusters;
class ErasedAtoms;
class ErasedLatents;

class ErasedFamily {
 public:
  class Clusters;
  class Atoms;
  class Latents;

  // Rows together: of a sparse family their counts, else their statistic.
  struct Block {
    const double* statistic = nullptr;
    CountBlock counts{};
  };

  ErasedFamily(const ErasedFamily&) = delete;
  ErasedFamily& operator=(const ErasedFamily&) = delete;
  virtual ~ErasedFamily() = default;

  // With a base measure of its own.
  virtual std::shared_ptr<ErasedFamily> copy() const = 0;
  virtual int base_size() const = 0;
  virtual void read_base(double* to) const = 0;
  virtual void set_base(const double* base) = 0;
  virtual double log_base() const = 0;
  virtual BaseMoves update_base(const ClusterStatistics& clusters, Stream& random) = 0;

  // See RowTermFamily. Most kinds leave out nothing that is learned.
  virtual double row_term(int) const { return 0; }
  virtual double log_rows() const { return 0; }
  // From now on rows weigh so much in what is learned from the rows themselves, if anything is.
  virtual void weigh_rows(std::span<const double>) {}

  // Rows with a latent part: see LatentFamily. Most kinds have none.
  virtual int latent_size() const { return 0; }
  virtual int latent_size(int) const { return 0; }
  virtual std::span<const int> latent_rows() const { return {}; }
  virtual void read_latent(double*) const {}
  virtual void set_latent(const double*) {}
  virtual void set_latent_of_row(int, const double*) {}
  virtual bool redraws_at_once() const { return false; }
  virtual void redraw_latents(const ClusterStatistics&, std::span<const int>, Stream&) {}
  inline virtual std::unique_ptr<ErasedLatents> latents() const;  // null for a kind without

  int n_rows() const { return n_rows_; }
  int statistic_size() const { return statistic_size_; }
  virtual bool is_count(int entry) const = 0;
  // Whether all entries are exact whole numbers, so that forgetting takes back observing.
  virtual bool is_whole() const { return is_sparse_; }
  // How many entries of a statistic a row changes, about.
  virtual int row_entries() const { return statistic_size_; }
  virtual void observe(double* s, int row) const = 0;
  virtual void forget(double* s, int row) const = 0;
  virtual void merge(double* s, const double* t) const = 0;
  virtual void subtract(double* s, const double* t) const = 0;
  virtual double log_marginal(const double* s) const = 0;
  virtual double log_alone(int row) const = 0;
  // The log marginal of the rows of s and one more, or those of t; `spare` is room for a statistic.
  // In one call, since the trees ask for hardly anything else.
  virtual double log_marginal_with(const double* s, int row, double* spare) const = 0;
  virtual double log_marginal_with(const double* s, const double* t, double* spare) const = 0;
  // The same for two statistics at once, which may be rounded otherwise.
  virtual std::pair<double, double> log_marginals_with(const double* first, const double* second,
                                                       const double* t, double* spare) const {
    return {log_marginal_with(first, t, spare), log_marginal_with(second, t, spare)};
  }

  // Where it takes much less time to compare a few rows with a statistic if something made of that
  // is at hand (a matrix factored): how many numbers that is, for at most how many rows, and how
  // much room comparing takes, of zeros at first and then as it was left. 0 for most kinds, of
  // which nobody asks the rest.
  virtual int factor_size() const { return 0; }
  virtual int factor_rows() const { return 0; }
  virtual int factor_scratch() const { return 0; }
  virtual void make_factor(const double*, double*) const {}
  // These rows come to the statistic, which is still without them.
  virtual void update_factor(const double*, double*, std::span<const int>, double*) const {}
  // The log marginal of the rows of s, whose own and whose factor are given, and these.
  virtual double log_marginal_with(const double*, double, const double*, std::span<const int>,
                                   double*) const {
    return 0;
  }

  // Where statistics are kept shorter than those of the same kind over other rows: the size of
  // these, and one of them made short, in which rows of this family are scored as they would be.
  virtual int outer_size() const { return statistic_size_; }
  virtual void condense(const double*, double*) const {}

  // From now on rows may count as parts of one, so that a size of 1 may be that of several.
  virtual void allow_parts() {}

  // Weighted leaves: see WeightedFamily.
  bool is_weighted() const { return sums_.has_value(); }
  double n_points() const { return n_points_; }
  double row_size(int row) const { return sums_ ? sums_->sizes[row] : 1; }
  // Whether most leaves are single rows, which it is best to score as such.
  bool has_single_rows() const { return sums_ && !sums_->rows.empty(); }
  int row_marks(int row) const { return sums_ && !sums_->marks.empty() ? sums_->marks[row] : 0; }
  double row_log_apart(int row) const { return sums_ ? sums_->log_apart[row] : log_alone(row); }

  // Sparse statistics: see SparseFamily. Nobody asks where there are none.
  bool is_sparse() const { return is_sparse_; }
  virtual CountBlock block_of_row(int) const { return {}; }
  virtual void gather(const double*, GatheredCounts&) const {}
  virtual double log_predictive(const double*, int) const { return 0; }
  virtual double log_predictive(const double*, const CountBlock&) const { return 0; }
  virtual double log_marginal(const CountBlock&) const { return 0; }
  virtual void merge_counts(double*, const CountBlock&) const {}
  // How many counts a row has.
  double row_total(int row) const { return sums_ ? sums_->weights[row] : block_of_row(row).total; }
  double log_predictive(const double* s, const Block& block) const {
    return log_predictive(s, block.counts);
  }
  double log_marginal(const Block& block) const {
    return is_sparse_ ? log_marginal(block.counts) : log_marginal(block.statistic);
  }
  void merge(double* s, const Block& block) const {
    if (is_sparse_)
      merge_counts(s, block.counts);
    else
      merge(s, block.statistic);
  }

  virtual bool has_atoms() const = 0;
  virtual std::unique_ptr<ErasedClusters> clusters() const = 0;
  virtual std::unique_ptr<ErasedAtoms> atoms() const = 0;  // null for a kind that has none

  // Whether statistics of the one are statistics of the other, too.
  virtual bool is_same_kind(const ErasedFamily& other) const = 0;

 protected:
  ErasedFamily(int n_rows, int statistic_size, bool sparse, std::optional<LeafSums> sums)
      : n_rows_(n_rows),
        statistic_size_(statistic_size),
        is_sparse_(sparse),
        n_points_(sums ? total_size(*sums) : n_rows),
        sums_(sums) {}

  const std::optional<LeafSums>& sums() const { return sums_; }

 private:
  int n_rows_, statistic_size_;
  bool is_sparse_;
  double n_points_;
  std::optional<LeafSums> sums_;
};

// See ClusterScores.
class ErasedClusters {
 public:
  using Block = ErasedFamily::Block;

  explicit ErasedClusters(int at_once) : rows_at_once(at_once) {}
  ErasedClusters(const ErasedClusters&) = delete;
  ErasedClusters& operator=(const ErasedClusters&) = delete;
  virtual ~ErasedClusters() = default;

  const int rows_at_once;

  virtual void grow(int slots) = 0;
  virtual void clear(int slot) = 0;
  virtual void observe(int slot, int row) = 0;
  virtual void forget(int slot, int row) = 0;
  virtual void assign(int slot, const double* s) = 0;
  virtual void merge(int slot, const Block& block) = 0;
  virtual void subtract(int slot, const Block& block) = 0;
  virtual void read(int slot, double* s) const = 0;
  virtual void take_base(std::span<const int> slots) = 0;
  virtual double log_marginal(int slot) = 0;
  virtual void load(std::span<const int> rows) = 0;
  virtual void score(std::span<const int> slots, double* scores) = 0;
  virtual double score_without(int slot, int b) = 0;
  virtual void score_block(const Block& block, std::span<const int> slots, double* scores) = 0;
  virtual double score_block_without(int slot, const Block& block) = 0;
  virtual void archive(Writer& a, int slot, const double* fresh) = 0;
  virtual void archive(Reader& a, int slot, const double* fresh) = 0;
};

// See AtomScores.
class ErasedAtoms {
 public:
  explicit ErasedAtoms(int at_once) : rows_at_once(at_once) {}
  ErasedAtoms(const ErasedAtoms&) = delete;
  ErasedAtoms& operator=(const ErasedAtoms&) = delete;
  virtual ~ErasedAtoms() = default;

  const int rows_at_once;

  virtual void resize(int count) = 0;
  virtual void draw(int atom, const double* s, Stream& random) = 0;
  virtual void load(std::span<const int> rows) = 0;
  virtual void score(int count, double* scores) = 0;
};

// See RowLatents.
class ErasedLatents {
 public:
  ErasedLatents() = default;
  ErasedLatents(const ErasedLatents&) = delete;
  ErasedLatents& operator=(const ErasedLatents&) = delete;
  virtual ~ErasedLatents() = default;

  virtual bool given_atoms() const = 0;
  virtual void draw_atom(int slot, Stream& random) = 0;
  virtual void start(int slots) = 0;
  virtual void assign(int slot, const double* s) = 0;
  virtual void read(int slot, double* s) const = 0;
  virtual void load(int row) = 0;
  virtual double score(int slot) = 0;
  virtual double score_without(int slot) = 0;
  virtual double score_alone() = 0;
  virtual void forget(int slot) = 0;
  virtual void draw(int slot, Stream& random, double* to) = 0;
  virtual void observe(int slot) = 0;
};

std::unique_ptr<ErasedLatents> ErasedFamily::latents() const { return nullptr; }

// The clusters of an erased family as values, as states and moves hold them.
class ErasedFamily::Clusters {
 public:
  explicit Clusters(const ErasedFamily& family) : Clusters(family.clusters()) {}

  const int rows_at_once;

  void grow(int slots) { clusters_->grow(slots); }
  void clear(int slot) { clusters_->clear(slot); }
  void observe(int slot, int row) { clusters_->observe(slot, row); }
  void forget(int slot, int row) { clusters_->forget(slot, row); }
  void assign(int slot, const double* s) { clusters_->assign(slot, s); }
  void merge(int slot, const Block& block) { clusters_->merge(slot, block); }
  void subtract(int slot, const Block& block) { clusters_->subtract(slot, block); }
  void read(int slot, double* s) const { clusters_->read(slot, s); }
  void take_base(std::span<const int> slots) { clusters_->take_base(slots); }
  double log_marginal(int slot) { return clusters_->log_marginal(slot); }
  void load(std::span<const int> rows) { clusters_->load(rows); }
  void score(std::span<const int> slots, double* scores) { clusters_->score(slots, scores); }
  double score_without(int slot, int b) { return clusters_->score_without(slot, b); }
  void score_block(const Block& block, std::span<const int> slots, double* scores) {
    clusters_->score_block(block, slots, scores);
  }
  double score_block_without(int slot, const Block& block) {
    return clusters_->score_block_without(slot, block);
  }
  template <class Archive>
  void archive(Archive& a, int slot, const double* fresh) {
    clusters_->archive(a, slot, fresh);
  }

 private:
  explicit Clusters(std::unique_ptr<ErasedClusters> clusters)
      : rows_at_once(clusters->rows_at_once), clusters_(std::move(clusters)) {}

  std::unique_ptr<ErasedClusters> clusters_;
};

// Its atoms; the family must have some.
class ErasedFamily::Atoms {
 public:
  explicit Atoms(const ErasedFamily& family) : Atoms(family.atoms()) {}

  const int rows_at_once;

  void resize(int count) { atoms_->resize(count); }
  void draw(int atom, const double* s, Stream& random) { atoms_->draw(atom, s, random); }
  void load(std::span<const int> rows) { atoms_->load(rows); }
  void score(int count, double* scores) { atoms_->score(count, scores); }

 private:
  explicit Atoms(std::unique_ptr<ErasedAtoms> atoms)
      : rows_at_once(atoms->rows_at_once), atoms_(std::move(atoms)) {}

  std::unique_ptr<ErasedAtoms> atoms_;
};

// Its latents; the family must have some.
class ErasedFamily::Latents {
 public:
  explicit Latents(const ErasedFamily& family) : latents_(family.latents()) {}

  bool given_atoms() const { return latents_->given_atoms(); }
  void draw_atom(int slot, Stream& random) { latents_->draw_atom(slot, random); }
  void start(int slots) { latents_->start(slots); }
  void assign(int slot, const double* s) { latents_->assign(slot, s); }
  void read(int slot, double* s) const { latents_->read(slot, s); }
  void load(int row) { latents_->load(row); }
  double score(int slot) { return latents_->score(slot); }
  double score_without(int slot) { return latents_->score_without(slot); }
  double score_alone() { return latents_->score_alone(); }
  void forget(int slot) { latents_->forget(slot); }
  void draw(int slot, Stream& random, double* to) { latents_->draw(slot, random, to); }
  void observe(int slot) { latents_->observe(slot); }

 private:
  std::unique_ptr<ErasedLatents> latents_;
};

// An abstract class cannot be a value: concepts must ask for references, or some compilers find
// that this has none of it.
static_assert(LatentFamily<ErasedFamily> && RedrawnAtOnce<ErasedFamily> &&
              RowTermFamily<ErasedFamily> && AtomFamily<ErasedFamily> &&
              WeightedFamily<ErasedFamily> && SparseFamily<ErasedFamily> &&
              ClusterScores<ErasedFamily::Clusters, ErasedFamily>);

}  // namespace mixwood
