// The samplers, in one list: under which name Python knows each, how its options are read, and
// which chain they mean.
#pragma once

#include <limits>
#include <map>
#include <string>
#include <variant>

#include "arrays.hpp"
#include "mixwood/sampler/gibbs_chain.hpp"
#include "mixwood/sampler/options.hpp"
#include "mixwood/sampler/paper_tree_chain.hpp"
#include "mixwood/sampler/slice_chain.hpp"
#include "mixwood/sampler/split_merge_chain.hpp"
#include "mixwood/sampler/tree_chain.hpp"

namespace mixwood::bindings {

// The numbers that a sampler was given, by name.
class Numbers {
 public:
  Numbers(const std::map<std::string, int>& numbers, int n_rows)
      : n_rows_(n_rows), numbers_(numbers) {}

  static constexpr int many = std::numeric_limits<int>::max();

  int n_rows() const { return n_rows_; }
  int operator()(const char* key, int least, int most) const {
    const auto found = numbers_.find(key);
    require(found != numbers_.end() && found->second >= least && found->second <= most,
            "a sampler's option is missing or out of range");
    return found->second;
  }

 private:
  int n_rows_;
  const std::map<std::string, int>& numbers_;
};

// Where a chain is compiled: for every family, or once, on the erased one.
enum class Compiled { per_family, once };

// For each sampler's options: name, reading, and chain.
template <class Options>
struct Sampler;

template <>
struct Sampler<GibbsOptions> {
  static constexpr const char* name = "gibbs";
  static constexpr Compiled compiled = Compiled::per_family;
  static constexpr bool takes_leaves = true;
  template <Family F>
  using Chain = GibbsChain<F>;

  static GibbsOptions read(const Numbers& number) {
    return {.subset = number("subset", 0, number.n_rows())};
  }
};

template <>
struct Sampler<TreeOptions> {
  static constexpr const char* name = "tree";
  static constexpr Compiled compiled = Compiled::per_family;
  static constexpr bool takes_leaves = true;
  template <Family F>
  using Chain = TreeChain<F>;

  static TreeOptions read(const Numbers& number) {
    constexpr int automatic = TreeOptions::automatic;
    return {.passes = number("passes", 1, Numbers::many),
            .subtree_moves = number("subtree_moves", automatic, Numbers::many),
            .split_moves = number("split_moves", automatic, Numbers::many),
            .leaf_moves = number("leaf_moves", automatic, Numbers::many),
            .fitted_moves = number("fitted_moves", automatic, Numbers::many),
            .redraw_moves = number("redraw_moves", 0, Numbers::many),
            .rebuild = number("rebuild", 0, Numbers::many),
            .warmup_rebuild = number("warmup_rebuild", 0, Numbers::many),
            .max_leaves = number("max_leaves", 0, Numbers::many),
            .learn_moves = number("learn_moves", 0, 1) == 1,
            .learn_passes = number("learn_passes", 0, 1) == 1,
            .learn_rebuild = number("learn_rebuild", 0, 1) == 1};
  }
};

template <>
struct Sampler<SplitMergeOptions> {
  static constexpr const char* name = "splitmerge";
  static constexpr Compiled compiled = Compiled::per_family;
  static constexpr bool takes_leaves = false;
  template <Family F>
  using Chain = SplitMergeChain<F>;

  static SplitMergeOptions read(const Numbers& number) {
    return {.scans = number("scans", 0, Numbers::many),
            .subset = number("subset", 0, number.n_rows())};
  }
};

template <>
struct Sampler<SliceOptions> {
  static constexpr const char* name = "slice";
  static constexpr Compiled compiled = Compiled::once;
  static constexpr bool takes_leaves = false;
  using Chain = SliceChain;

  static SliceOptions read(const Numbers&) { return {}; }
};

template <>
struct Sampler<PaperTreeOptions> {
  static constexpr const char* name = "papertree";
  static constexpr Compiled compiled = Compiled::once;
  static constexpr bool takes_leaves = false;
  using Chain = PaperTreeChain;

  static PaperTreeOptions read(const Numbers& number) {
    return {.global_moves = number("global_moves", 0, Numbers::many),
            .depth = number("depth", 0, Numbers::many),
            .local_sweep = number("local_sweep", 0, 1) == 1};
  }
};

}  // namespace mixwood::bindings
