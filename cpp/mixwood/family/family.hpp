// What a conjugate family must offer. Two faces of the same model:
//
// Family: the rows, the prior's constants, and additive statistics as flat arrays of
//   statistic_size() doubles, all zeros when empty. Read-only, shared by all chains.
// Family::Clusters: the statistics of many clusters at once, one per slot, with whatever is
//   cached to score a block of rows against all of them. One per chain.
//
// The base measure of a family, the prior of its clusters' parameters, may be learned: it is then
// part of a chain's state, and the chain has a copy of the family to itself.
//
// An AtomFamily also has Family::Atoms: clusters by their parameters rather than their rows, for
// the conditional samplers. In a file of their own next to the family's.
#pragma once

#include <concepts>
#include <span>

#include "mixwood/archive.hpp"
#include "mixwood/family/base_measure.hpp"
#include "mixwood/family/count_block.hpp"
#include "mixwood/random/stream.hpp"

namespace mixwood {

template <class F>
concept Family =
    requires(const F& f, double* s, const double* t, int row) {
      { f.n_rows() } -> std::same_as<int>;
      { f.statistic_size() } -> std::same_as<int>;
      f.observe(s, row);                              // s becomes that of one more row
      f.forget(s, row);                               // ... of one row fewer
      f.merge(s, t);                                  // ... of the union of two disjoint sets
      f.subtract(s, t);                               // ... of what is left without a subset
      { f.log_marginal(t) } -> std::same_as<double>;  // log P(X_c), row constants left out
      { f.log_alone(row) } -> std::same_as<double>;   // log P(x_row)
    } && requires(F& f, const F& g, double* s, const double* t, const ClusterStatistics& clusters,
                  Stream& random) {
      // The base measure, where it is learned; a copy of a family has a base measure of its own.
      { g.base_size() } -> std::same_as<int>;    // how many numbers it is, 0 where it is fixed
      g.read_base(s);                            // the numbers, copied to there
      f.set_base(t);                             // other numbers; throws where they cannot be
      { g.log_base() } -> std::same_as<double>;  // the log density of its hyperprior
      { f.update_base(clusters, random) } -> std::same_as<BaseMoves>;
    };

// A family whose rows may stand for many rows each (`is_weighted`): see leaves.hpp. Partitions and
// trees over it count those. Sizes need not be whole, but sums of them are exact: see LeafSums.
template <class F>
concept WeightedFamily = Family<F> && requires(const F& f, int row) {
  { f.is_weighted() } -> std::same_as<bool>;
  { f.n_points() } -> std::same_as<double>;          // how many there are in all
  { f.row_size(row) } -> std::same_as<double>;       // ... in one row
  { f.row_log_apart(row) } -> std::same_as<double>;  // the sum of their log P(x)
  { f.row_marks(row) } -> std::same_as<int>;         // 1 for a row that others of 1 stay apart from
};

// Optional: what a family leaves out of the density of a row, where that depends on a learned base
// measure (`row_term(row)`, and `log_rows()` for the sum over all rows). It is the same in whatever
// cluster the row is, so partitions are compared without it; the joint density and those of new
// rows have it. It is 0 at the base measure that the family began with: constants of rows are at
// that.
template <class F>
concept RowTermFamily = Family<F> && requires(const F& f, int row) {
  { f.row_term(row) } -> std::same_as<double>;
  { f.log_rows() } -> std::same_as<double>;
};

template <Family F>
double row_term(const F& family, int row) {
  if constexpr (RowTermFamily<F>)
    return family.row_term(row);
  else
    return 0;
}
template <Family F>
double log_rows(const F& family) {
  if constexpr (RowTermFamily<F>)
    return family.log_rows();
  else
    return 0;
}

template <Family F>
bool is_weighted(const F& family) {
  if constexpr (WeightedFamily<F>)
    return family.is_weighted();
  else
    return false;
}
// Whether rows, or most of them, are single ones.
template <Family F>
bool has_single_rows(const F& family) {
  if constexpr (requires { family.has_single_rows(); })
    return !is_weighted(family) || family.has_single_rows();
  else
    return true;
}
template <Family F>
double n_points(const F& family) {
  if constexpr (WeightedFamily<F>)
    return family.n_points();
  else
    return family.n_rows();
}
template <Family F>
double row_size(const F& family, int row) {
  if constexpr (WeightedFamily<F>)
    return family.row_size(row);
  else
    return 1;
}
template <Family F>
int row_marks(const F& family, int row) {
  if constexpr (WeightedFamily<F>)
    return family.row_marks(row);
  else
    return 0;
}
template <Family F>
double row_log_apart(const F& family, int row) {
  if constexpr (WeightedFamily<F>)
    return family.row_log_apart(row);
  else
    return family.log_alone(row);
}

// Optional, for statistics that are mostly zeros: the entries that are not, and the log predictive
// of the rows that they belong to, which then takes time in proportion to them.
template <class F>
concept SparseFamily = requires(const F& f, const double* t, GatheredCounts& gathered,
                                const CountBlock& block, int row) {
  { f.block_of_row(row) } -> std::same_as<CountBlock>;
  f.gather(t, gathered);
  { f.log_predictive(t, row) } -> std::same_as<double>;
  { f.log_predictive(t, block) } -> std::same_as<double>;
  { f.log_marginal(block) } -> std::same_as<double>;
};

// Whether it is to be used; a family behind the erased interface knows it only once it is made.
template <Family F>
bool is_sparse(const F& family) {
  if constexpr (requires { family.is_sparse(); })
    return family.is_sparse();
  else
    return SparseFamily<F>;
}

// Rows that move together. Most families take such a block as a plain statistic; one with a
// thriftier form of it (a few nonzero counts among many words) names that `Block`.
template <class F>
struct BlockForm {
  using type = const double*;
};
template <class F>
  requires requires { typename F::Block; }
struct BlockForm<F> {
  using type = typename F::Block;
};
template <class F>
using Block = typename BlockForm<F>::type;

// Optional: which entries of a statistic are exact whole numbers (`is_count(entry)`), so that they
// can be made again from the rows and need not be saved.

template <class C, class F>
concept ClusterScores =
    requires(C c, std::span<const int> numbers, const double* statistic, Block<F> rows,
             double* target, double* scores, int slot, int b, int row, Writer& w, Reader& r) {
      { c.rows_at_once } -> std::convertible_to<int>;  // most often a static constant
      c.grow(slot);                                    // room for that many slots
      c.clear(slot);                                   // the slot holds no rows
      c.observe(slot, row);
      c.forget(slot, row);
      c.assign(slot, statistic);  // the slot holds the rows of this statistic
      c.merge(slot, rows);        // ... these rows too
      c.subtract(slot, rows);     // ... these rows no more
      c.read(slot, target);       // the statistic, copied to there
      c.take_base(numbers);       // the base measure has changed: these slots follow
      { c.log_marginal(slot) } -> std::same_as<double>;
      c.load(numbers);           // the rows of the block, at most rows_at_once
      c.score(numbers, scores);  // log P(x_b | X_slot) at [slot * rows_at_once + b]
      {
        c.score_without(slot, b)
      } -> std::same_as<double>;  // row b against the rest of its own slot
      // Saves or loads what the slot has beyond its rows, to the last bit; to load, the
      // statistic made from those rows is given.
      c.archive(w, slot, statistic);
      c.archive(r, slot, statistic);
    };

// The rows of the block from `first` on are scored again; perhaps others, too.
template <class C>
void score_from(C& clusters, int first, std::span<const int> slots, double* scores) {
  if constexpr (requires { clusters.score_from(first, slots, scores); })
    clusters.score_from(first, slots, scores);
  else
    clusters.score(slots, scores);
}

template <class A>
concept AtomScores = requires(A a, std::span<const int> rows, const double* statistic,
                              Stream& random, double* scores, int atom, int count) {
  { a.rows_at_once } -> std::convertible_to<int>;
  a.resize(count);                  // this many atoms, none of them drawn yet
  a.draw(atom, statistic, random);  // parameters given the rows of a statistic; no rows: the prior
  a.load(rows);                     // the rows of the block, at most rows_at_once
  a.score(count, scores);  // log f(x_b | atom) of the first `count`, at [atom * rows_at_once + b]
};

template <class F>
concept AtomFamily = Family<F> && AtomScores<typename F::Atoms>;

// Whether there are atoms to draw; a product of families knows it only once it is made.
template <Family F>
bool can_draw_atoms(const F& family) {
  if constexpr (requires { family.has_atoms(); })
    return family.has_atoms();
  else
    return AtomFamily<F>;
}

}  // namespace mixwood
