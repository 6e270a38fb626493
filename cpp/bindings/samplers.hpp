// Which chain a sampler's options mean, and how they are read from Python: a name and numbers.
#pragma once

#include <limits>
#include <map>
#include <string>

#include "arrays.hpp"
#include "mixwood/sampler/gibbs_chain.hpp"
#include "mixwood/sampler/options.hpp"
#include "mixwood/sampler/paper_tree_chain.hpp"
#include "mixwood/sampler/slice_chain.hpp"
#include "mixwood/sampler/split_merge_chain.hpp"
#include "mixwood/sampler/tree_chain.hpp"

namespace mixwood::bindings {

// Families whose rows move one by one.
template <class F>
concept RowFamily = Family<F> && !WeightedFamily<F>;

// Not defined for a family that the sampler cannot work with.
template <class Options, Family F>
struct ChainFor;
template <RowFamily F>
struct ChainFor<GibbsOptions, F> {
  using type = GibbsChain<F>;
};
template <RowFamily F>
struct ChainFor<PaperTreeOptions, F> {
  using type = PaperTreeChain<F>;
};
template <Family F>
struct ChainFor<TreeOptions, F> {
  using type = TreeChain<F>;
};
template <RowFamily F>
struct ChainFor<SplitMergeOptions, F> {
  using type = SplitMergeChain<F>;
};
template <AtomFamily F>
  requires RowFamily<F>
struct ChainFor<SliceOptions, F> {
  using type = SliceChain<F>;
};
template <class Options, Family F>
using ChainOf = typename ChainFor<Options, F>::type;

// The options of the sampler of this name, for n rows; throws where a number is missing or wrong.
inline SamplerOptions sampler_options(const std::string& name,
                                      const std::map<std::string, int>& numbers, int n) {
  constexpr int automatic = TreeOptions::automatic;
  constexpr int many = std::numeric_limits<int>::max();
  auto number = [&](const char* key, int least, int most) {
    const auto found = numbers.find(key);
    require(found != numbers.end() && found->second >= least && found->second <= most,
            "a sampler's option is missing or out of range");
    return found->second;
  };
  if (name == "gibbs") return GibbsOptions{.subset = number("subset", 0, n)};
  if (name == "tree")
    return TreeOptions{.subtree_moves = number("subtree_moves", automatic, many),
                       .split_moves = number("split_moves", automatic, many),
                       .leaf_moves = number("leaf_moves", automatic, many),
                       .rebuild = number("rebuild", 0, many),
                       .warmup_rebuild = number("warmup_rebuild", 0, many),
                       .max_leaves = number("max_leaves", 0, many)};
  if (name == "splitmerge")
    return SplitMergeOptions{.scans = number("scans", 0, many), .subset = number("subset", 0, n)};
  if (name == "slice") return SliceOptions{};
  if (name == "papertree")
    return PaperTreeOptions{.global_moves = number("global_moves", 0, many),
                            .depth = number("depth", 0, many),
                            .local_sweep = number("local_sweep", 0, 1) == 1};
  throw std::invalid_argument("sampler must be a known name");
}

}  // namespace mixwood::bindings
