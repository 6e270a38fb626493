// All priors, in one list: a new one is a file of this folder and its name in `Registered`. They
// are reached through a table of functions, for what is asked once per iteration; what is asked for
// every row are numbers that Prior keeps.
#pragma once

#include <array>
#include <stdexcept>
#include <string>
#include <string_view>

#include "mixwood/prior/dirichlet_process.hpp"
#include "mixwood/prior/finite_mixture.hpp"
#include "mixwood/prior/generalized_gamma.hpp"
#include "mixwood/prior/law.hpp"
#include "mixwood/prior/pitman_yor.hpp"

namespace mixwood {

// The functions of a PriorLaw, whichever it is.
struct PriorFunctions {
  using Draw = void (*)(const PriorHyper&, PriorValues&, const ClusterSizes&, Stream&);

  const char* name;
  const char* (*fault)(const PriorValues&);
  double (*psi)(const PriorValues&, double log_tau);
  Kernel (*kernel)(const PriorValues&, double log_tau);
  double (*log_nonempty)(const PriorValues&);
  Draw start, update;
};

template <PriorLaw... P>
struct PriorList {
  static constexpr std::array<PriorFunctions, sizeof...(P)> functions{PriorFunctions{
      P::name, P::fault, P::psi, P::kernel, P::log_nonempty, P::start, P::update}...};
};

using Registered = PriorList<DirichletProcess, GeneralizedGamma, PitmanYor, FiniteMixture>;

// By the name under which Python knows it.
inline const PriorFunctions& prior_named(std::string_view name) {
  for (const PriorFunctions& functions : Registered::functions)
    if (functions.name == name) return functions;
  throw std::invalid_argument("unknown prior " + std::string(name));
}

}  // namespace mixwood
