// What is compiled once, for the erased family: the chains that need no more, and all of weighted
// leaves.
#include <cmath>
#include <map>
#include <string>

#include "bound_family.hpp"

namespace mixwood::bindings {

std::unique_ptr<AnyChain> erased_chain(std::shared_ptr<ErasedFamily> family, Prior prior,
                                       std::span<const std::int32_t> labels, Stream random,
                                       const SamplerOptions& options) {
  if (std::holds_alternative<SliceOptions>(options) && !family->has_atoms())
    throw nb::type_error("the sampler cannot work with this family");
  if (prior.has_groups() && (std::holds_alternative<SliceOptions>(options) ||
                             std::holds_alternative<PaperTreeOptions>(options)))
    throw nb::type_error("the sampler cannot work with groups");
  if (std::holds_alternative<PaperTreeOptions>(options) && family->latent_size() > 0)
    throw nb::type_error("the sampler cannot work with missing entries");
  return std::visit(
      [&]<class Options>(const Options& chosen) -> std::unique_ptr<AnyChain> {
        if constexpr (Sampler<Options>::compiled == Compiled::once)
          return std::make_unique<typename Sampler<Options>::Chain>(family, prior, labels, random,
                                                                    chosen);
        else
          throw std::logic_error("a chain that is compiled for every family");
      },
      options);
}

namespace {

template <class... Options>
SamplerOptions options_of(std::variant<Options...>*, const std::string& name,
                          const Numbers& numbers) {
  SamplerOptions found;
  if (((Sampler<Options>::name == name && (found = Sampler<Options>::read(numbers), true)) || ...))
    return found;
  throw std::invalid_argument("sampler must be a known name");
}

}  // namespace

SamplerOptions sampler_options(const std::string& name, const std::map<std::string, int>& numbers,
                               int n_rows) {
  return options_of(static_cast<SamplerOptions*>(nullptr), name, Numbers(numbers, n_rows));
}

Hyperprior hyperprior(const Law& law) {
  const auto& [kind, a, b, low, high] = law;
  using Kind = Hyperprior::Kind;
  const std::map<std::string, Kind> kinds{{"fixed", Kind::fixed},
                                          {"tied", Kind::tied},
                                          {"lognormal", Kind::log_normal},
                                          {"gamma", Kind::gamma},
                                          {"beta", Kind::beta}};
  const auto found = kinds.find(kind);
  require(found != kinds.end(), "a law must be of a known kind");
  Hyperprior result{.kind = found->second, .a = a, .b = b};
  if (!result.is_random()) return result;
  require(a > 0 && b > 0, "a law's numbers must be positive");
  if (result.kind == Kind::beta) return result;
  require(low > 0 && low < high, "a law's bounds must be positive and rising");
  result.log_low = std::log(low);
  result.log_high = std::log(high);
  return result;
}

std::unique_ptr<AnyFamily> bound_leaves(std::shared_ptr<ErasedFamily> leaves) {
  return std::make_unique<BoundFamily<ErasedFamily>>(leaves, leaves);
}

}  // namespace mixwood::bindings
