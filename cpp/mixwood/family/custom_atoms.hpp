// Clusters of a user's own family by their parameters, as the user's functions draw and score them.
#pragma once

#include <span>
#include <vector>

#include "mixwood/family/custom.hpp"
#include "mixwood/numerics/kernels.hpp"

namespace mixwood {

// The family must have atoms.
class Custom::Atoms {
 public:
  static constexpr int rows_at_once = block_rows;

  explicit Atoms(const Custom& family) : family_(family) {}

  void resize(int count) { drawn_.resize(static_cast<std::size_t>(count)); }
  void draw(int atom, const double* s, Stream& random) {
    drawn_[atom] = family_.draw_atom(s, random);
  }
  void load(std::span<const int> rows) { rows_.assign(rows.begin(), rows.end()); }
  void score(int count, double* scores) {
    for (int atom = 0; atom < count; ++atom)
      for (std::size_t b = 0; b < rows_.size(); ++b)
        scores[static_cast<std::size_t>(atom) * block_rows + b] =
            family_.log_density(rows_[b], drawn_[atom]);
  }

 private:
  const Custom& family_;
  std::vector<std::vector<double>> drawn_;
  std::vector<int> rows_;
};

static_assert(AtomFamily<Custom>);

}  // namespace mixwood
