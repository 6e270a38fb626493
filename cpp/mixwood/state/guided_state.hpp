// The state of a chain that moves blocks of a guide tree: a partition kept on the tree, the
// statistics of its clusters, and the prior's values.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "mixwood/family/blocks.hpp"
#include "mixwood/family/latent.hpp"
#include "mixwood/prior/prior.hpp"
#include "mixwood/state/state.hpp"
#include "mixwood/state/tree_partition.hpp"
#include "mixwood/tree/guide.hpp"
#include "mixwood/tree/kappa_table.hpp"

namespace mixwood {

template <Family F>
struct GuidedState : ClusterState<F, TreePartition> {
  using Base = ClusterState<F, TreePartition>;
  using Base::clusters, Base::family, Base::partition, Base::prior;
  using Tree = std::shared_ptr<GuideTree<F>>;

  Tree tree;

  GuidedState(const F& the_family, Prior the_prior, std::span<const std::int32_t> labels,
              Tree the_tree)
      : Base(the_family, the_prior,
             TreePartition(labels, shape_of(the_tree), the_prior.by_group().groups())),
        tree(std::move(the_tree)) {
    rebuild();
  }

  void assign(std::span<const std::int32_t> labels, PriorValues values) {
    partition.assign(labels);
    prior.set(values);
    rebuild();
  }

  // `grow` returns another tree. The old one is let go first: both together, and what the new one
  // grows in, would be most of a chain's memory. If `grow` throws, there are labels still, but no
  // tree.
  template <class Grow>
  void change_tree(Grow&& grow) {
    partition.leave_tree();
    tree.reset();
    tree = grow();
    partition.change_tree(shape_of(tree));
  }

  // Statistics from those of the pieces: what rounding has added up over many moves is gone, and
  // so are slots that nobody uses.
  void rebuild() {
    partition.compact();
    clusters.grow(partition.n_slots());
    gather();
  }
  // All rows have changed: statistics made afresh, in the same slots.
  void gather() {
    for (const int slot : partition.active()) make_afresh(slot);
  }

  // The latent parts of these rows have changed.
  void follow_latent(std::span<const int> rows)
    requires LatentFamily<F>
  {
    tree->blocks.follow(rows);
  }

  template <class Archive>
  void archive(Archive& a) {
    tree = archive_guide_tree(a, family, tree);
    if constexpr (Archive::loading) partition.plant(shape_of(tree));
    Base::archive(a);
  }

  // Takes all rows below a pure node from their cluster to another, and closes the old one if it is
  // empty.
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

  double log_kappa(double size) { return kappas_(prior, size); }

  // ... of a cluster, by its size or by its groups.
  double log_kappa_of(int slot) {
    if (prior.has_groups())
      return prior.by_group().log_kappa(partition.cluster_groups().of_slot(slot));
    return log_kappa(partition.size(slot));
  }

  // log P of the rows below a node, whose block is given: the tree knows it at the reference, which
  // a learned base measure and latent parts of rows leave behind.
  double log_marginal(int node, const Block<F>& block) const {
    if (family.base_size() == 0 && latent_size(family) == 0) return tree->log_marginal[node];
    if (tree->shape.is_row(node))
      return family.log_alone(tree->shape.rows[tree->shape.first[node]]);
    return family.log_marginal(block);
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
    if (tree->shape.is_row(piece))
      family.observe(s, tree->shape.rows[tree->shape.first[piece]]);
    else
      family.merge(s, tree->blocks.of(piece, scratch_));
  }

  KappaTable kappas_{1024};  // made again every iteration: no larger than pays off
  typename NodeBlocks<F>::Scratch scratch_;
  std::vector<double> statistic_;
};

}  // namespace mixwood
