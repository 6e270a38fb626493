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

struct TreeOptions {
  static constexpr int automatic = -1;
  int passes;          // over everything, per iteration
  int subtree_moves;   // per pass; or automatic
  int split_moves;     // likewise
  int leaf_moves;      // likewise
  int fitted_moves;    // likewise
  int redraw_moves;    // per pass
  int rebuild;         // iterations from one guide tree to the next; 0: never
  int warmup_rebuild;  // the same in warm-up
  int max_leaves;      // 0: every row is a leaf
  bool learn_moves;    // default numbers of moves fall in warm-up where none are accepted
  bool learn_passes;   // ... and passes after the first
  bool learn_rebuild;  // ... and trees then last longer
  int threads = 1;     // that guide trees are grown on: they are the same for any number
  bool blank = false;  // nothing is grown: the chain is about to be loaded
};

struct SplitMergeOptions {
  int scans;   // restricted scans that make a launch state
  int subset;  // rows a sweep visits; 0: all
};

struct SliceOptions {};

using SamplerOptions =
    std::variant<GibbsOptions, PaperTreeOptions, TreeOptions, SplitMergeOptions, SliceOptions>;

}  // namespace mixwood
