// The logarithm of a long product of positive factors, with one logarithm for many of them: they
// are multiplied as long as the product stays far from what a double can hold.
#pragma once

#include <cmath>

namespace mixwood {

class LogProduct {
 public:
  void times(double factor) {
    const double next = product_ * factor;
    if (next > 1e-150 && next < 1e150) {
      product_ = next;
    } else {  // the factor may be anything: its own logarithm says what that comes to
      logs_ += std::log(product_) + std::log(factor);
      product_ = 1;
    }
  }

  // Four factors at once: they wait for each other only once.
  void times(double a, double b, double c, double d) {
    const double four = (a * b) * (c * d);
    const double next = product_ * four;
    if (four > 1e-150 && four < 1e150 && next > 1e-150 && next < 1e150) {
      product_ = next;
    } else {
      for (const double factor : {a, b, c, d}) times(factor);
    }
  }

  double log() const { return logs_ + std::log(product_); }

 private:
  double product_ = 1, logs_ = 0;
};

}  // namespace mixwood
