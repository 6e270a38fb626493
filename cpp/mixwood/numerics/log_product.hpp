// The logarithm of a long product of positive factors, with one logarithm for all of them: the
// factors' powers of two are summed, and what is left of them, in [1, 2), is multiplied.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace mixwood {

class LogProduct {
 public:
  void times(double factor) {
    const auto bits = std::bit_cast<std::uint64_t>(factor);
    const std::uint64_t exponent = bits >> 52;
    // Subnormal, negative, infinite or no number: the logarithm itself says what that comes to.
    if (exponent - 1 >= 2046) {
      others_ += std::log(factor);
      return;
    }
    exponents_ += static_cast<std::int64_t>(exponent) - 1023;
    mantissas_ *= std::bit_cast<double>((bits & 0x000fffffffffffff) | 0x3ff0000000000000);
    if (++count_ == most_factors) fold();
  }

  double log() {
    fold();
    return std::log(mantissas_) + static_cast<double>(exponents_) * std::numbers::ln2 + others_;
  }

 private:
  static constexpr int most_factors = 1000;  // of less than 2 each: no overflow

  void fold() {
    count_ = 0;
    const auto bits = std::bit_cast<std::uint64_t>(mantissas_);
    exponents_ += static_cast<std::int64_t>(bits >> 52) - 1023;
    mantissas_ = std::bit_cast<double>((bits & 0x000fffffffffffff) | 0x3ff0000000000000);
  }

  double mantissas_ = 1, others_ = 0;
  std::int64_t exponents_ = 0;
  int count_ = 0;
};

}  // namespace mixwood
