// One stream of random numbers per chain, drawn from one of numpy's bit generators, so that
// `uniform` gives the numbers that `Generator.random` gives. The plain-Python twin
// (mixwood.reference.random) makes the same draws from the same uniforms in the same order.
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace mixwood {

// The layout of numpy's bitgen_t, which its documentation fixes for users of the C interface.
struct BitGenerator {
  void* state;
  std::uint64_t (*next_uint64)(void*);
  std::uint32_t (*next_uint32)(void*);
  double (*next_double)(void*);
  std::uint64_t (*next_raw)(void*);
};

class Stream {
 public:
  explicit Stream(BitGenerator* source) : source_(source) {}

  // Uniform on [0, 1).
  double uniform() { return source_->next_double(source_->state); }

  // Uniform on (0, 1]: safe under a logarithm.
  double positive_uniform() { return 1.0 - uniform(); }

  double exponential() { return -std::log(positive_uniform()); }

  // Marsaglia's polar method; the second of its two normals is let go.
  double normal() {
    for (;;) {
      const double a = 2 * uniform() - 1;
      const double b = 2 * uniform() - 1;
      const double s = a * a + b * b;
      if (s > 0 && s < 1) return a * std::sqrt(-2 * std::log(s) / s);
    }
  }

  // The log of a Gamma(shape, 1) draw (Marsaglia and Tsang): tiny shapes underflow otherwise.
  double log_gamma_draw(double shape) {
    if (shape < 1) {
      const double above = log_gamma_draw(shape + 1);
      return above + std::log(positive_uniform()) / shape;
    }
    const double d = shape - 1.0 / 3;
    const double c = 1 / std::sqrt(9 * d);
    for (;;) {
      const double x = normal();
      const double t = 1 + c * x;
      if (t <= 0) continue;
      const double v = t * t * t;
      const double w = positive_uniform();
      if (std::log(w) < 0.5 * x * x + d - d * v + d * std::log(v)) return std::log(d) + std::log(v);
    }
  }

  // Uniform on {0, ..., count - 1}.
  std::int64_t below(std::int64_t count) {
    return static_cast<std::int64_t>(uniform() * static_cast<double>(count));
  }

  // Brings `count` of the items, drawn uniformly without replacement, to the front.
  void shuffle_front(std::vector<int>& items, int count) {
    const std::int64_t n = static_cast<std::int64_t>(items.size());
    for (std::int64_t j = 0; j < count; ++j) std::swap(items[j], items[j + below(n - j)]);
  }

  // For who draws from it by other means.
  BitGenerator* source() const { return source_; }

 private:
  BitGenerator* source_;
};

}  // namespace mixwood
