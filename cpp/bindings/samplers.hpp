// Which chain a sampler's options mean, and how they are read from Python: a name and numbers.
#pragma once

#include <limits>
#include <map>
#include <string>

#include "arrays.hpp"
#include "mixwood/sampler/gibbs.hpp"
#include "mixwood/sampler/options.hpp"
#include "mixwood/sampler/paper_tree.hpp"

namespace mixwood::bindings {

template <class Options, Family F>
struct ChainFor;
template <Family F>
struct ChainFor<GibbsOptions, F> {
  using type = GibbsChain<F>;
};
template <Family F>
struct ChainFor<PaperTreeOptions, F> {
  using type = PaperTreeChain<F>;
};
template <class Options, Family F>
using ChainOf = typename ChainFor<Options, F>::type;

// The options of the sampler of this name, for n rows; throws where a number is missing or wrong.
inline SamplerOptions sampler_options(const std::string& name,
                                      const std::map<std::string, int>& numbers, int n) {
  constexpr int most = std::numeric_limits<int>::max();
  auto number = [&](const char* key, int least, int most) {
    const auto found = numbers.find(key);
    require(found != numbers.end() && found->second >= least && found->second <= most,
            "a sampler's option is missing or out of range");
    return found->second;
  };
  if (name == "gibbs") return GibbsOptions{.subset = number("subset", 0, n)};
  if (name == "papertree")
    return PaperTreeOptions{.global_moves = number("global_moves", 0, most),
                            .depth = number("depth", 0, most),
                            .local_sweep = number("local_sweep", 0, 1) == 1};
  throw std::invalid_argument("sampler must be a known name");
}

}  // namespace mixwood::bindings
