// Tree-guided MCMC as published: some global moves, one local sweep, then the parameters. Biased;
// mixwood.reference.paper_tree says why and how the paper is read.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "mixwood/family/erased.hpp"
#include "mixwood/move/paper_global.hpp"
#include "mixwood/sampler/options.hpp"
#include "mixwood/sampler/state_chain.hpp"
#include "mixwood/state/forest_state.hpp"

namespace mixwood {

class PaperTreeChain final : public StateChain<ErasedFamily, ForestState> {
 public:
  PaperTreeChain(std::shared_ptr<ErasedFamily> family, Prior prior,
                 std::span<const std::int32_t> labels, Stream random,
                 const PaperTreeOptions& options)
      : StateChain(family, prior, labels, random, family), options_(options) {
    state_.grow();
  }

  void iterate() override {
    for (int k = 0; k < options_.global_moves && !stop_; ++k)
      global_move_(state_, random_, split_report_, merge_report_);
    if (options_.local_sweep) local_sweep();
    end_iteration();
    const Timed timed(potential_report_);
    state_.refresh_potentials();
    ++potential_report_.proposed;
    ++potential_report_.accepted;
  }

  std::vector<MoveReport> reports() const override {
    auto reports = with_shared({split_report_, merge_report_, local_report_});
    reports.push_back(potential_report_);
    return reports;
  }

  void save(Writer& a) override { archive(a); }
  void load(Reader& a) override { archive(a); }

 protected:
  // The trees' potentials follow with the prior's, at the end of an iteration.
  void follow_base() override { state_.forest.refresh_marginals(); }

 private:
  template <class Archive>
  void archive(Archive& a) {
    a.mark("paper tree");
    archive_shared(a);
    for (MoveReport* report : {&split_report_, &merge_report_, &local_report_, &potential_report_})
      report->archive(a);
  }

  // Gibbs over the rows of a subtree of a subtree ... of each tree, in the order of the data; the
  // leaf of a row that moves goes with it.
  void local_sweep() {
    {
      const Timed timed(local_report_);
      const Forest& forest = state_.forest;
      rows_.clear();
      for (int node : forest.trees()) {
        for (int k = 0; k < options_.depth && !forest.nodes().is_leaf(node); ++k) {
          sample_sub_.load(forest, node, Subtrees::all);
          node = sample_sub_.draw(random_);
        }
        forest.nodes().each_leaf(node,
                                 [&](int leaf) { rows_.push_back(forest.nodes().row[leaf]); });
      }
      std::sort(rows_.begin(), rows_.end());
    }
    sweep_(state_, rows_, random_, stop_, local_report_);
  }

  PaperTreeOptions options_;
  PaperGlobalMove global_move_;
  SampleSub sample_sub_;
  std::vector<int> rows_;
  MoveReport split_report_{"split"}, merge_report_{"merge"}, local_report_{"local"};
  MoveReport potential_report_{"potentials"};
};

}  // namespace mixwood
