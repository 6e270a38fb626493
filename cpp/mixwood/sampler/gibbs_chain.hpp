// The marginal Gibbs sampler: a sweep over all rows, or `subset` of them drawn uniformly, then the
// parameters.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "mixwood/sampler/options.hpp"
#include "mixwood/sampler/state_chain.hpp"
#include "mixwood/sampler/sweep_rows.hpp"

namespace mixwood {

template <Family F>
class GibbsChain final : public StateChain<F> {
 public:
  GibbsChain(std::shared_ptr<F> family, Prior prior, std::span<const std::int32_t> labels,
             Stream random, const GibbsOptions& options)
      : StateChain<F>(std::move(family), prior, labels, random),
        rows_(labels.size(), options.subset) {}

  void iterate() override {
    this->sweep_(this->state_, rows_.draw(this->random_), this->random_, this->stop_,
                 sweep_report_);
    this->end_iteration();
  }

  std::vector<MoveReport> reports() const override { return this->with_shared({sweep_report_}); }

  void save(Writer& a) override { archive(a); }
  void load(Reader& a) override { archive(a); }

 protected:
  int row_visits() const override { return rows_.count(); }

 private:
  template <class Archive>
  void archive(Archive& a) {
    a.mark("gibbs");
    this->archive_shared(a);
    rows_.archive(a);
    sweep_report_.archive(a);
  }

  SweepRows rows_;
  MoveReport sweep_report_{"gibbs"};
};

}  // namespace mixwood
