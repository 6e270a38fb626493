// A family of a known kind, with everything compiled for it: used in one translation unit per
// family, so that they are compiled side by side.
#pragma once

#include <concepts>
#include <memory>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "any_family.hpp"
#include "mixwood/family/erased_of.hpp"
#include "mixwood/family/family.hpp"
#include "samplers.hpp"

namespace mixwood::bindings {

// The chains that are compiled once.
std::unique_ptr<AnyChain> erased_chain(std::shared_ptr<ErasedFamily> family, Prior prior,
                                       std::span<const std::int32_t> labels, Stream random,
                                       const SamplerOptions& options);

// F is a family of rows, or the erased one: weighted leaves.
template <Family F>
class BoundFamily final : public AnyFamily {
 public:
  BoundFamily(std::shared_ptr<F> family, std::shared_ptr<ErasedFamily> erased)
      : AnyFamily(std::move(erased)), family_(std::move(family)) {}

  std::unique_ptr<AnyFamily> at(std::span<const double> base,
                                std::span<const double> latent) const override {
    require(base.size() == static_cast<std::size_t>(family_->base_size()),
            "base must have base_size entries");
    require(latent.empty() || latent.size() == static_cast<std::size_t>(latent_size(*family_)),
            "latent must have latent_size entries");
    auto other = own_family(family_);
    if (!base.empty()) other->set_base(base.data());
    if constexpr (LatentFamily<F>)
      if (!latent.empty()) other->set_latent(latent.data());
    return std::make_unique<BoundFamily>(other, erase_kind(other));
  }

  std::unique_ptr<AnyChain> chain(Prior prior, std::span<const std::int32_t> labels, Stream random,
                                  const SamplerOptions& options) const override {
    return std::visit(
        [&]<class Options>(const Options& chosen) -> std::unique_ptr<AnyChain> {
          using Chosen = Sampler<Options>;
          if constexpr (std::same_as<F, ErasedFamily> && !Chosen::takes_leaves)
            throw nb::type_error("the sampler cannot work with this family");
          else if constexpr (Chosen::compiled == Compiled::once)
            return erased_chain(own_family(shared_erased()), prior, labels, random, options);
          else
            return std::make_unique<typename Chosen::template Chain<F>>(own_family(family_), prior,
                                                                        labels, random, chosen);
        },
        options);
  }

 private:
  std::shared_ptr<F> family_;
};

// Builds a family and wraps it.
template <Family F, class... Arguments>
std::unique_ptr<AnyFamily> bound(Arguments&&... arguments) {
  auto family = std::make_shared<F>(std::forward<Arguments>(arguments)...);
  return std::make_unique<BoundFamily<F>>(family, erase_kind(family));
}

}  // namespace mixwood::bindings
