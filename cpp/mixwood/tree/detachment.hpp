// How likely a part of what a guide tree takes for one cluster is one of its own.
//
// Let c be a highest node of which the tree judges that it is one cluster, log d < 0. A node v
// below it, of at most half its size, may be a small cluster beside the rest of c: with
//
//   e(v) = log phi(v) + log phi(c - v) - log phi(c),     phi(h) = kappa(|h|, u) P(X_h)
//
// at the reference values. (Leaves on their own are what the leaf scan is for.) d does not know
// that: it compares v with its sibling alone, which is a few rows that are as far out as v.
#pragma once

#include <vector>

#include "mixwood/family/erased.hpp"
#include "mixwood/prior/prior.hpp"
#include "mixwood/tree/shape.hpp"

namespace mixwood {

// e of all nodes; -infinity for those that are not such a part.
std::vector<double> log_detachments(const ErasedFamily& family, const Prior& reference,
                                    const TreeShape& shape, const std::vector<double>& log_marginal,
                                    const std::vector<double>& log_dissimilarity);

}  // namespace mixwood
