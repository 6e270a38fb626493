// What a user can choose about each sampler. Which of them is meant is the variant's kind.
#pragma once

#include <variant>

namespace mixwood {

struct GibbsOptions {
  int subset;  // rows a sweep visits; 0: all
};

struct PaperTreeOptions {
  int global_moves;  // splits or merges proposed in an iteration
  int depth;         // how often a subtree of a subtree is drawn for the local sweep
  bool local_sweep;
};

using SamplerOptions = std::variant<GibbsOptions, PaperTreeOptions>;

}  // namespace mixwood
