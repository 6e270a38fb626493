// The additive statistics of a family whatever its kind, as in family.hpp.
#pragma once

namespace mixwood {

class AnyStatistics {
 public:
  AnyStatistics() = default;
  AnyStatistics(const AnyStatistics&) = delete;
  AnyStatistics& operator=(const AnyStatistics&) = delete;
  virtual ~AnyStatistics() = default;

  virtual int statistic_size() const = 0;
  virtual void observe(double* s, int row) const = 0;
  virtual void forget(double* s, int row) const = 0;
  virtual void merge(double* s, const double* t) const = 0;
  virtual void subtract(double* s, const double* t) const = 0;
  virtual double log_marginal(const double* s) const = 0;
  virtual double log_alone(int row) const = 0;
  virtual bool has_atoms() const = 0;
};

}  // namespace mixwood
