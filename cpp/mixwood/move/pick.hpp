// The draw of a cluster by log weights, which several moves end with.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "mixwood/numerics/kernels.hpp"

namespace mixwood {

// `uniform` decides. Leaves the weights themselves where their logs were. `what` joins a cluster.
inline int pick_cluster(const Kernels& kernels, std::vector<double>& log_weights, double uniform,
                        const char* what = "row") {
  const int choice =
      kernels.pick(static_cast<int>(log_weights.size()), log_weights.data(), uniform);
  if (choice < 0)
    throw std::runtime_error("the weights of a " + std::string(what) +
                             "'s clusters are not numbers; rescale X or choose a less extreme "
                             "prior");
  return choice;
}

}  // namespace mixwood
