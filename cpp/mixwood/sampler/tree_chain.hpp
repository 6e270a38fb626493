// The exact tree-guided sampler. Guide trees propose; for any fixed tree every move leaves the
// posterior as it is. A tree is built from the data, reference values and fresh randomness. In
// warm-up the reference follows the chain; then it is frozen, together with the lengths of the leaf
// scan.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "mixwood/family/erased_of.hpp"
#include "mixwood/move/anchored_split_merge.hpp"
#include "mixwood/move/fitted_split_merge.hpp"
#include "mixwood/move/leaf_scan.hpp"
#include "mixwood/move/multiway_redraw.hpp"
#include "mixwood/move/subtree_gibbs.hpp"
#include "mixwood/sampler/move_share.hpp"
#include "mixwood/sampler/options.hpp"
#include "mixwood/sampler/state_chain.hpp"
#include "mixwood/tree/detachment.hpp"
#include "mixwood/tree/guide.hpp"
#include "mixwood/tree/node_laws.hpp"

namespace mixwood {

template <Family F>
class TreeChain final : public StateChain<F, GuidedState<F>> {
  using Base = StateChain<F, GuidedState<F>>;

 public:
  TreeChain(std::shared_ptr<F> family, Prior prior, std::span<const std::int32_t> labels,
            Stream random, const TreeOptions& options)
      : TreeChain(start(family, prior, random, options), family, labels, random, options) {}

  void iterate() override {
    for (int left = passes(); left > 0; --left) {
      const std::int64_t before = accepted();
      move_blocks();
      split_and_merge();
      split_and_merge_fitted();
      redraw();
      scan_leaves();
      if (this->stop_) return;
      if (learns_shares()) shares_.count_pass(accepted() - before);
      this->end_iteration();
    }
    int lifetime = frozen_ ? options_.rebuild : options_.warmup_rebuild;
    if (options_.learn_rebuild) lifetime = shares_.lifetime(lifetime);
    if (lifetime > 0 && ++since_tree_ >= lifetime) new_tree();
  }

  void freeze() override {
    if (frozen_) return;
    scan_.visit_all(this->state_, this->sweep_, subtree_gibbs_, this->random_, this->stop_,
                    leaves_);
    if (since_tree_ > 0) new_tree();  // else it was grown just now
    scan_.stop_learning(this->sweep_, laws_.expected_clusters());
    learn_shares();
    frozen_ = true;
  }

  std::vector<MoveReport> reports() const override {
    auto reports = this->with_shared(
        {subtrees_, splits_, merges_, idle_, fitted_splits_, fitted_merges_, redraws_, leaves_});
    reports.push_back(trees_);
    return reports;
  }

  GuideView guide() const override {
    if (!this->state_.tree) return {};
    const auto& tree = *this->state_.tree;
    return {&tree.shape, &tree.log_marginal, &tree.log_dissimilarity, &tree.log_detachment};
  }

  void save(Writer& a) override { archive(a); }
  void load(Reader& a) override { archive(a); }

 private:
  template <class Archive>
  void archive(Archive& a) {
    a.mark("tree");
    this->archive_shared(a);
    if constexpr (Archive::loading) take_leaves(a, this->state_.tree->shape);
    reference_.archive(a);
    if (this->base_size() > 0) this->archive_base(a, *erased_);
    if constexpr (Archive::loading) make_laws();
    scan_.archive(a, this->sweep_);
    a.value(frozen_);
    a.value(since_tree_);
    a.require(since_tree_ >= 0 && since_tree_ < std::numeric_limits<int>::max(),
              "a counter is out of range");
    for (MoveReport* report : {&subtrees_, &splits_, &merges_, &idle_, &leaves_, &trees_})
      report->archive(a);
    // What earlier versions did not have is there only if such moves are made.
    if (options_.fitted_moves != 0)
      for (MoveReport* report : {&fitted_splits_, &fitted_merges_}) report->archive(a);
    if (options_.redraw_moves != 0) redraws_.archive(a);
    if (options_.learn_moves) shares_.archive(a);
  }

  // Leaf sets follow from a tree that was loaded.
  void take_leaves(const Reader& a, const TreeShape& shape) {
    if (sets_.empty())
      return a.require(shape.n_nodes() == 2 * shape.n_rows() - 1, "a leaf has several rows");
    sets_.clear();
    std::vector<char> seen(shape.n_nodes(), 0);
    for (int row = 0; row < shape.n_rows(); ++row) {
      const int leaf = shape.leaf_of_row[row];
      if (seen[leaf]) continue;
      seen[leaf] = 1;
      const auto rows = shape.rows_below(leaf);
      sets_.emplace_back(rows.begin(), rows.end());
    }
    a.require(sets_.size() <= static_cast<std::size_t>(options_.max_leaves), "too many leaves");
  }

  struct Start {
    std::shared_ptr<ErasedFamily> erased;
    Prior prior;
    LeafSets sets;
    std::shared_ptr<GuideTree<F>> tree;
  };

  static Start start(const std::shared_ptr<F>& family, Prior prior, Stream& random,
                     const TreeOptions& options) {
    PriorValues values = prior.values();
    values.log_u = std::log(n_points(*family));
    prior.set(values);
    Start result{erase_kind(own_family(family)), prior, {}, nullptr};
    const bool few_leaves = options.max_leaves > 0 && options.max_leaves < family->n_rows();
    if (options.blank) {
      GuideLayout layout = one_leaf(*family);
      if (few_leaves) result.sets = {layout.shape.rows};
      result.tree = plant(*family, std::move(layout));
      return result;
    }
    if (few_leaves) result.sets = collapsed_rows(result.erased, prior, options.max_leaves);
    result.tree =
        plant(*family, grow_guide(result.erased, prior, result.sets, random, options.threads));
    return result;
  }

  TreeChain(Start start, const std::shared_ptr<F>& family, std::span<const std::int32_t> labels,
            Stream random, const TreeOptions& options)
      : Base(family, start.prior, labels, random, start.tree),
        options_(options),
        erased_(std::move(start.erased)),
        sets_(std::move(start.sets)),
        reference_(start.prior),
        subtree_gibbs_(*family),
        split_merge_(*family),
        fitted_(*family),
        redraw_(*family),
        scan_(sets_, family->n_rows()) {
    reference_.set(this->values());
    make_laws();
    scan_.learn(this->sweep_);
  }

  // The laws of nodes, from the tree and the reference values alone.
  void make_laws() {
    auto& tree = *this->state_.tree;
    tree.log_detachment = log_detachments(*erased_, reference_, tree.shape, tree.log_marginal,
                                          tree.log_dissimilarity);
    laws_ = NodeLaws(tree.shape, tree.log_dissimilarity, tree.log_detachment);
  }

  // Trees are grown at the values and the base measure that the chain has now.
  void take_reference() {
    reference_.set(this->values());
    if (this->base_size() == 0) return;
    std::vector<double> base(static_cast<std::size_t>(this->base_size()));
    this->write_base(base.data());
    erased_->set_base(base.data());
  }

  static constexpr double subtrees_per_cluster = 0.25;
  static constexpr double splits_per_cluster = 1.5;
  static constexpr double fitted_once_per_cluster = 600;  // rows, at most
  static constexpr double fitted_of_scan = 0.25;          // of the work of a scan of leaves
  static constexpr double fitted_per_cluster = 0.5;       // at most, because of that
  static constexpr std::int64_t most_allocated = 4;       // items per row and iteration, in warm-up

  double wanted(double per_cluster) const {
    return std::clamp(per_cluster * laws_.expected_clusters(), 20.0, 5000.0);
  }
  int moves(int asked, double per_cluster, const MoveShare& share) {
    if (asked != TreeOptions::automatic) return asked;
    return share.number(wanted(per_cluster), this->random_);
  }
  // The first is always made.
  int passes() {
    if (!options_.learn_passes) return options_.passes;
    return 1 + shares_.passes.number(options_.passes - 1, this->random_);
  }
  std::int64_t accepted() const {
    std::int64_t total = 0;
    for (const MoveReport* report :
         {&subtrees_, &splits_, &merges_, &fitted_splits_, &fitted_merges_, &redraws_, &leaves_})
      total += report->accepted;
    return total;
  }
  bool learns_shares() const { return options_.learn_moves && !frozen_; }
  void learn_shares() {
    if (!learns_shares()) return;
    shares_.learn({wanted(subtrees_per_cluster), wanted(splits_per_cluster), wanted_fitted()});
  }

  void move_blocks() {
    const Timed timed(subtrees_);
    const MoveReport before = subtrees_;
    const std::int64_t work = subtree_gibbs_.compared();
    for (int k = moves(options_.subtree_moves, subtrees_per_cluster, shares_.subtrees);
         k > 0 && !this->stop_; --k)
      subtree_gibbs_(this->state_, laws_.blocks().draw(this->random_), this->random_, subtrees_);
    if (learns_shares())
      shares_.subtrees.count(
          subtrees_.proposed - before.proposed, subtrees_.accepted - before.accepted,
          rows_per_block * static_cast<double>(subtree_gibbs_.compared() - work));
  }

  void split_and_merge() {
    if (laws_.pairs().empty()) return;  // a tree of one leaf
    const Timed timed(splits_);
    const std::int64_t work = split_merge_.allocated();
    const std::int64_t most = most_allocated * this->n_rows();
    const std::int64_t proposed = splits_.proposed + merges_.proposed + idle_.proposed;
    const std::int64_t accepted = splits_.accepted + merges_.accepted;
    for (int k = moves(options_.split_moves, splits_per_cluster, shares_.splits);
         k > 0 && !this->stop_; --k) {
      // From a bad start every proposal is expensive. After warm-up the count must not look at the
      // state.
      if (!frozen_ && split_merge_.allocated() - work > most) break;
      split_merge_(this->state_, laws_.splits().draw(this->random_), this->random_, splits_,
                   merges_, idle_);
    }
    if (learns_shares())  // each item is compared with both sides
      shares_.splits.count(
          splits_.proposed + merges_.proposed + idle_.proposed - proposed,
          splits_.accepted + merges_.accepted - accepted,
          2 * rows_per_block * static_cast<double>(split_merge_.allocated() - work));
  }

  // By default one per cluster for 600 rows, and fewer with the square of their number; but as many
  // as compare rows a quarter as often as the scan of leaves does, up to one for two clusters:
  // nothing else divides clusters that overlap.
  double wanted_fitted() const {
    const double clusters = laws_.expected_clusters(), rows = this->n_rows();
    const double few = clusters * std::min(1.0, std::pow(fitted_once_per_cluster / rows, 2));
    const double affordable =
        fitted_of_scan * leaf_visits() * clusters / FittedSplitMerge<F>::work(rows / clusters);
    return std::max(few, std::min(affordable, fitted_per_cluster * clusters));
  }
  int fitted_moves() {
    if (options_.fitted_moves != TreeOptions::automatic) return options_.fitted_moves;
    return static_cast<int>(shares_.fitted.share() * wanted_fitted() + this->random_.uniform());
  }

  void split_and_merge_fitted() {
    // Rows are allocated one by one: not where they are leaves of several.
    if (laws_.pairs().empty() || !sets_.empty() || is_weighted(*this->family_)) return;
    const Timed timed(fitted_splits_);
    const std::int64_t proposed = fitted_splits_.proposed + fitted_merges_.proposed;
    const std::int64_t accepted = fitted_splits_.accepted + fitted_merges_.accepted;
    const std::int64_t work = fitted_.scored();
    for (int k = fitted_moves(); k > 0 && !this->stop_; --k)
      fitted_(this->state_, laws_.draw_anchored(this->state_.tree->shape, this->random_),
              this->random_, this->stop_, fitted_splits_, fitted_merges_);
    if (learns_shares())
      shares_.fitted.count(fitted_splits_.proposed + fitted_merges_.proposed - proposed,
                           fitted_splits_.accepted + fitted_merges_.accepted - accepted,
                           static_cast<double>(fitted_.scored() - work));
  }

  void redraw() {
    if (laws_.pairs().empty()) return;
    const Timed timed(redraws_);
    const std::int64_t work = redraw_.compared();
    const std::int64_t most = most_allocated * this->n_rows();
    for (int k = options_.redraw_moves; k > 0 && !this->stop_; --k) {
      if (!frozen_ && redraw_.compared() - work > most) break;  // as for splits and merges
      redraw_(this->state_, laws_.pairs().draw(this->random_), this->random_, this->stop_,
              redraws_);
    }
  }

  int leaf_visits() const {
    return options_.leaf_moves == TreeOptions::automatic
               ? scan_.advised_visits(laws_.expected_clusters())
               : options_.leaf_moves;
  }
  void scan_leaves() {
    const int visits = leaf_visits();
    if (learns_shares())
      shares_.count_scan(static_cast<double>(visits) * this->n_clusters() *
                         (sets_.empty() && !is_weighted(*this->family_) ? 1 : rows_per_block));
    scan_(this->state_, visits, this->sweep_, subtree_gibbs_, this->random_, this->stop_, leaves_);
  }

  void new_tree() {
    const Timed timed(trees_);
    if (!frozen_) {
      take_reference();
      scan_.forget_lengths();  // they are set again below
    }
    laws_ = NodeLaws();
    this->state_.change_tree([&] {
      return plant(*this->family_,
                   grow_guide(erased_, reference_, sets_, this->random_, options_.threads));
    });
    make_laws();
    if (!frozen_) scan_.set_lengths(laws_.expected_clusters());
    learn_shares();
    this->state_.rebuild();
    since_tree_ = 0;
    ++trees_.proposed;
    ++trees_.accepted;
  }

  TreeOptions options_;
  // The same family at the reference, for growing trees: the base measure, and latent parts of rows
  // as they were before the chain began.
  std::shared_ptr<ErasedFamily> erased_;
  LeafSets sets_;
  Prior reference_;
  NodeLaws laws_;
  SubtreeGibbs<F> subtree_gibbs_;
  AnchoredSplitMerge<F> split_merge_;
  FittedSplitMerge<F> fitted_;
  MultiwayRedraw<F> redraw_;
  LeafScan<F> scan_;
  MoveShares shares_;  // all 1 unless they are learned
  bool frozen_ = false;
  int since_tree_ = 0;
  MoveReport subtrees_{"subtree"};
  MoveReport splits_{"split"};
  MoveReport merges_{"merge"};
  MoveReport idle_{"idle"};
  MoveReport fitted_splits_{"fitted split"};
  MoveReport fitted_merges_{"fitted merge"};
  MoveReport redraws_{"redraw"};
  MoveReport leaves_{"leaf"};
  MoveReport trees_{"guide tree"};
};

}  // namespace mixwood
