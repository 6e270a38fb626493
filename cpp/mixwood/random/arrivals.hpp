// A Poisson process of rate 1.
#pragma once

#include "mixwood/random/stream.hpp"

namespace mixwood {

// Calls visit(time) for each arrival before `end`, in order. That takes one draw per arrival, which
// is what the arrivals' users take for each of them anyway.
template <class Visit>
void visit_arrivals(double end, Stream& random, Visit&& visit) {
  for (double time = random.exponential(); time < end; time += random.exponential()) visit(time);
}

}  // namespace mixwood
