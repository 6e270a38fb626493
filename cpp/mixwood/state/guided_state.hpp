// The state of a chain that moves blocks of a guide tree: a partition kept on the tree, the
// statistics of its clusters, and the prior's values.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "mixwood/family/family.hpp"
#include "mixwood/numerics/special.hpp"
#include "mixwood/prior.hpp"
#include "mixwood/state/kappa_table.hpp"
#include "mixwood/state/tree_partition.hpp"
#include "mixwood/tree/guide.hpp"

namespace mixwood {

template <Family F>
struct GuidedState {
  using Tree = std::shared_ptr<const GuideTree<F>>;

  const F& family;
  Tree tree;
  TreePartition partition;
  typename F::Clusters clusters;
  Prior prior;
  KappaTable kappas;

  GuidedState(const F& the_family, Prior the_prior, std::span<const std::int32_t> labels,
              Tree the_tree)
      : family(the_family),
        tree(std::move(the_tree)),
        partition(labels, shape_of(tree)),
        clusters(the_family),
        prior(the_prior) {
    rebuild();
  }

  void assign(std::span<const std::int32_t> labels, PriorValues values) {
    partition.assign(labels);
    prior.set(values);
    rebuild();
  }

  void change_tree(Tree other) {
    tree = std::move(other);
    partition.change_tree(shape_of(tree));
  }

  // Statistics from those of the pieces: what rounding has added up over many moves is gone, and
  // so are slots that nobody uses.
  void rebuild() {
    partition.compact();
    clusters.grow(partition.n_slots());
    for (const int slot : partition.active()) make_afresh(slot);
  }

  // Opens an empty cluster, statistics and all.
  int open_cluster() {
    const int slot = partition.open();
    clusters.grow(partition.n_slots());
    clusters.clear(slot);
    return slot;
  }

  // Takes the row, a leaf of its own, from its cluster to another and closes the old one if it is
  // empty.
  void move_row(int row, int to) {
    const int from = partition.slot_of(row);
    clusters.forget(from, row);
    clusters.observe(to, row);
    partition.move(row, to);
    if (partition.size(from) == 0) partition.close(from);
  }

  // The same for all rows below a pure node.
  void move_node(int node, int from, int to, const Block<F>& block) {
    clusters.merge(to, block);
    partition.move_node(node, to);
    // What is left of a cluster that loses most of itself would be a small difference of large
    // numbers: it is made afresh.
    if (partition.size(from) == 0)
      partition.close(from);
    else if (partition.size(from) <= tree->shape.size[node])
      make_afresh(from);
    else
      clusters.subtract(from, block);
  }

  double log_kappa(int size) { return kappas(prior, size); }

  // log p(X, Pi, u | alpha, sigma), row constants left out.
  double log_joint() {
    const double n = partition.n_rows();
    double total = (n - 1) * prior.values().log_u - prior.psi() - log_gamma(n);
    for (const int slot : partition.active())
      total += prior.log_kappa(partition.size(slot)) + clusters.log_marginal(slot);
    return total;
  }

  // Debug: recomputes every cluster's marginal from its rows and throws where the books differ.
  void check() {
    partition.check();
    std::vector<double> s(family.statistic_size());
    for (const int slot : partition.active()) {
      std::fill(s.begin(), s.end(), 0.0);
      partition.each_piece(slot, [&](int piece) {
        for (const int row : tree->shape.rows_below(piece)) family.observe(s.data(), row);
      });
      const double kept = clusters.log_marginal(slot);
      const double fresh = family.log_marginal(s.data());
      if (!(std::abs(kept - fresh) <= 1e-6 * (1 + std::abs(fresh))))
        throw std::logic_error("cluster in slot " + std::to_string(slot) + ": log marginal kept " +
                               std::to_string(kept) + ", recomputed " + std::to_string(fresh));
    }
  }

 private:
  static std::shared_ptr<const TreeShape> shape_of(const Tree& tree) {
    return {tree, &tree->shape};  // the tree lives as long as its shape is used
  }

  void make_afresh(int slot) {
    statistic_.assign(family.statistic_size(), 0.0);
    partition.each_piece(slot, [&](int piece) { add_piece(statistic_.data(), piece); });
    clusters.assign(slot, statistic_.data());
  }

  void add_piece(double* s, int piece) {
    if (tree->shape.size[piece] == 1)
      family.observe(s, tree->shape.rows[tree->shape.first[piece]]);
    else
      family.merge(s, tree->blocks.of(piece, scratch_));
  }

  typename NodeBlocks<F>::Scratch scratch_;
  std::vector<double> statistic_;
};

}  // namespace mixwood
