// The names under which Python knows the priors.
#pragma once

#include <stdexcept>
#include <string>

#include "mixwood/prior.hpp"

namespace mixwood::bindings {

inline PriorKind kind_of(const std::string& name) {
  if (name == "dirichlet_process") return PriorKind::dirichlet_process;
  if (name == "generalized_gamma") return PriorKind::generalized_gamma;
  if (name == "pitman_yor") return PriorKind::pitman_yor;
  throw std::invalid_argument("unknown prior " + name);
}

}  // namespace mixwood::bindings
