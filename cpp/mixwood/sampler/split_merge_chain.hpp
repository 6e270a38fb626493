// The split-merge sampler: one proposal to split or merge, a Gibbs sweep over all rows or `subset`
// of them, then the parameters. A proposal costs about as much as a sweep: six scans of two
// clusters against one of all.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "mixwood/move/split_merge.hpp"
#include "mixwood/sampler/options.hpp"
#include "mixwood/sampler/state_chain.hpp"
#include "mixwood/sampler/sweep_rows.hpp"

namespace mixwood {

template <Family F>
class SplitMergeChain final : public StateChain<F> {
 public:
  SplitMergeChain(std::shared_ptr<F> family, Prior prior, std::span<const std::int32_t> labels,
                  Stream random, const SplitMergeOptions& options)
      : StateChain<F>(std::move(family), prior, labels, random),
        split_merge_(*this->family_, options.scans),
        rows_(labels.size(), options.subset) {}

  void iterate() override {
    if (this->n_rows() > 1) split_merge_(this->state_, this->random_, this->stop_);
    this->sweep_(this->state_, rows_.draw(this->random_), this->random_, this->stop_,
                 sweep_report_);
    this->end_iteration();
  }

  std::vector<MoveReport> reports() const override {
    return this->with_shared({split_merge_.split_report, split_merge_.merge_report, sweep_report_});
  }

  void save(Writer& a) override { archive(a); }
  void load(Reader& a) override { archive(a); }

 protected:
  int row_visits() const override { return rows_.count(); }

 private:
  template <class Archive>
  void archive(Archive& a) {
    a.mark("split-merge");
    this->archive_shared(a);
    rows_.archive(a);
    for (MoveReport* report :
         {&split_merge_.split_report, &split_merge_.merge_report, &sweep_report_})
      report->archive(a);
  }

  SplitMerge<F> split_merge_;
  SweepRows rows_;
  MoveReport sweep_report_{"gibbs"};
};

}  // namespace mixwood
