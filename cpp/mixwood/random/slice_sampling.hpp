// Slice sampling of one variable (Neal 2003): leaves any density invariant, no tuning to get wrong.
#pragma once

#include "mixwood/random/stream.hpp"

namespace mixwood {

// Shrinks [left, right], which holds x, until a point above the level is found.
template <class LogDensity>
double slice_shrink(double x, double left, double right, double level, LogDensity&& f,
                    Stream& random) {
  for (;;) {
    const double y = left + (right - left) * random.uniform();
    if (f(y) > level) return y;
    if (y == x) return x;  // the interval is down to rounding: only x itself is left
    (y < x ? left : right) = y;
  }
}

// One step on the whole line, the interval found by stepping out. Strides may grow, so that the
// end of a long tail is reached in few of them, if the density has one mode: then any interval
// that covers the slice gives a uniform draw from it. Else `growth` must be 1.
template <class LogDensity>
double slice_on_line(double x, double width, double growth, LogDensity&& f, Stream& random) {
  const double level = f(x) - random.exponential();
  double left = x - width * random.uniform();
  double right = left + width;
  for (double stride = width; f(left) > level; stride *= growth) left -= stride;
  for (double stride = width; f(right) > level; stride *= growth) right += stride;
  return slice_shrink(x, left, right, level, f, random);
}

// One step on (0, 1): the whole interval, no stepping.
template <class LogDensity>
double slice_on_unit(double x, LogDensity&& f, Stream& random) {
  const double level = f(x) - random.exponential();
  return slice_shrink(x, 0.0, 1.0, level, f, random);
}

}  // namespace mixwood
