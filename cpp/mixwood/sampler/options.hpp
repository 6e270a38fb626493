// What a user can choose about each sampler. Which of them is meant is the variant's kind.
#pragma once

#include <variant>

namespace mixwood {

struct GibbsOptions {
  int subset;  // rows a sweep visits; 0: all
};

struct SplitMergeOptions {
  int scans;   // restricted scans that make a launch state
  int subset;  // rows a sweep visits; 0: all
};

struct SliceOptions {};

using SamplerOptions = std::variant<GibbsOptions, SplitMergeOptions, SliceOptions>;

}  // namespace mixwood
