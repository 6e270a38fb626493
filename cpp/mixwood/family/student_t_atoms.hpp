// Student t clusters by mean and precision, given the scales of the rows: those of Gaussian
// clusters, whose rows have weights.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "mixwood/family/gaussian_atoms.hpp"
#include "mixwood/family/student_t.hpp"

namespace mixwood {

class StudentT::Atoms {
 public:
  static constexpr int rows_at_once = block_rows;

  explicit Atoms(const StudentT& family) : family_(family), normal_(family.normal()) {}

  void resize(int count) { normal_.resize(count); }
  void draw(int atom, const double* s, Stream& random) {
    normal_.draw(atom, s[0], s + moments_at, random);
  }
  double squared_distance(int atom, int row) { return normal_.squared_distance(atom, row); }

  void load(std::span<const int> rows) {
    normal_.load(rows);
    rows_.assign(rows.begin(), rows.end());
  }

  // The density of N(mean, Sigma/q), from that of N(mean, Sigma).
  void score(int count, double* scores) {
    normal_.score(count, scores);
    for (std::size_t b = 0; b < rows_.size(); ++b) {
      const double q = family_.weight(rows_[b]);
      const double log_factor = 0.5 * family_.d() * std::log(q);
      for (int atom = 0; atom < count; ++atom) {
        double& score = scores[static_cast<std::size_t>(atom) * block_rows + b];
        const double at_mean = normal_.log_at_mean(atom);
        score = at_mean + log_factor + q * (score - at_mean);
      }
    }
  }

 private:
  const StudentT& family_;
  Gaussian::Atoms normal_;
  std::vector<int> rows_;
};

static_assert(AtomFamily<StudentT>);

}  // namespace mixwood
