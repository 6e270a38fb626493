// The marginal Gibbs sampler: a sweep over all rows, or `subset` of them drawn uniformly, then the
// parameters.
#pragma once

#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "mixwood/sampler/options.hpp"
#include "mixwood/sampler/state_chain.hpp"

namespace mixwood {

template <Family F>
class GibbsChain final : public StateChain<F> {
 public:
  GibbsChain(std::shared_ptr<const F> family, Prior prior, std::span<const std::int32_t> labels,
             Stream random, const GibbsOptions& options)
      : StateChain<F>(std::move(family), prior, labels, random),
        subset_(options.subset),
        order_(labels.size()) {
    std::iota(order_.begin(), order_.end(), 0);
  }

  void iterate() override {
    this->sweep_(this->state_, rows_to_visit(), this->random_, this->stop_, sweep_report_);
    this->end_iteration();
  }

  std::vector<MoveReport> reports() const override {
    return {sweep_report_, this->parameter_report_};
  }

 private:
  std::span<const int> rows_to_visit() {
    if (subset_ == 0) return order_;
    this->random_.shuffle_front(order_, subset_);
    return std::span<const int>(order_).first(subset_);
  }

  int subset_;
  std::vector<int> order_;
  MoveReport sweep_report_{"gibbs"};
};

}  // namespace mixwood
