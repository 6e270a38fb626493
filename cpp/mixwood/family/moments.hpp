// The additive statistic of rows of d numbers that covariances are made of: how many, their mean
// (d), and the lower triangle of their scatter about it, column by column.
#pragma once

#include <algorithm>

namespace mixwood {

class Moments {
 public:
  explicit Moments(int d) : d_(d) {}

  int size() const { return 1 + d_ + d_ * (d_ + 1) / 2; }

  void observe(double* s, const double* x) const { observe(s, x, 1); }
  // ... a row of any weight: then s[0] is the sum of weights.
  void observe(double* s, const double* x, double weight) const {
    const double n = s[0] + weight;
    add_outer(s, x, weight * s[0] / n);
    for (int j = 0; j < d_; ++j) s[1 + j] += weight * (x[j] - s[1 + j]) / n;
    s[0] = n;
  }

  void forget(double* s, const double* x) const {
    const double n = s[0] - 1;
    if (n <= 0) return std::fill(s, s + size(), 0.0);
    forget(s, x, 1, n);
    if (n == 1) clear_scatter(s);
  }
  // ... so that n is left.
  void forget(double* s, const double* x, double weight, double n) const {
    add_outer(s, x, -weight * s[0] / n);
    for (int j = 0; j < d_; ++j) s[1 + j] -= weight * (x[j] - s[1 + j]) / n;
    s[0] = n;
  }

  void merge(double* s, const double* t) const {
    const double n = s[0] + t[0];
    if (t[0] == 0) return;
    add_outer(s, t + 1, s[0] * t[0] / n);
    for (int j = 0; j < d_; ++j) s[1 + j] += (t[1 + j] - s[1 + j]) * t[0] / n;
    for (int e = 1 + d_; e < size(); ++e) s[e] += t[e];
    s[0] = n;
  }

  void subtract(double* s, const double* t) const {
    const double n = s[0] - t[0];
    if (n <= 0) return std::fill(s, s + size(), 0.0);
    if (t[0] == 0) return;
    subtract(s, t, n);
    if (n == 1 && !has_parts_) clear_scatter(s);
  }
  void subtract(double* s, const double* t, double n) const {
    for (int j = 0; j < d_; ++j) s[1 + j] += (s[1 + j] - t[1 + j]) * t[0] / n;
    for (int e = 1 + d_; e < size(); ++e) s[e] -= t[e];
    add_outer(s, t + 1, -n * t[0] / s[0]);
    s[0] = n;
  }

  // From now on rows may count as parts of one: a size of 1 may be that of several.
  void allow_parts() { has_parts_ = true; }

 private:
  // Of one row it is exactly 0: rounding ends here.
  void clear_scatter(double* s) const { std::fill(s + 1 + d_, s + size(), 0.0); }

  // S += weight (x - xbar)(x - xbar)'.
  void add_outer(double* s, const double* x, double weight) const {
    const double* mean = s + 1;
    double* scatter = s + 1 + d_;
    for (int j = 0; j < d_; ++j) {
      const double scaled = weight * (x[j] - mean[j]);
      for (int i = j; i < d_; ++i) *scatter++ += scaled * (x[i] - mean[i]);
    }
  }

  int d_;
  bool has_parts_ = false;
};

}  // namespace mixwood
