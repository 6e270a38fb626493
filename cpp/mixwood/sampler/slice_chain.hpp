// The slice sampler: a sweep given jumps and parameters, which are then forgotten, and an update of
// the prior's parameters given the partition alone.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "mixwood/family/erased.hpp"
#include "mixwood/move/slice_sweep.hpp"
#include "mixwood/sampler/options.hpp"
#include "mixwood/sampler/state_chain.hpp"

namespace mixwood {

class SliceChain final : public StateChain<ErasedFamily> {
 public:
  SliceChain(std::shared_ptr<ErasedFamily> family, Prior prior,
             std::span<const std::int32_t> labels, Stream random, const SliceOptions&)
      : StateChain(std::move(family), prior, labels, random), slice_(*family_) {}

  void iterate() override {
    slice_(state_, random_, stop_, slice_report_);
    end_iteration();
  }

  std::vector<MoveReport> reports() const override { return with_shared({slice_report_}); }

  void save(Writer& a) override { archive(a); }
  void load(Reader& a) override { archive(a); }

 private:
  template <class Archive>
  void archive(Archive& a) {
    a.mark("slice");
    archive_shared(a);
    slice_report_.archive(a);
  }

  SliceSweep slice_;
  MoveReport slice_report_{"slice"};
};

}  // namespace mixwood
