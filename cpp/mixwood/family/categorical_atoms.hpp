// Categorical clusters by the probabilities of each column: Dirichlet(a_l + N_l).
#pragma once

#include <span>
#include <vector>

#include "mixwood/family/categorical.hpp"
#include "mixwood/numerics/kernels.hpp"
#include "mixwood/random/dirichlet.hpp"

namespace mixwood {

class Categorical::Atoms {
 public:
  static constexpr int rows_at_once = block_rows;

  explicit Atoms(const Categorical& family)
      : family_(family),
        d_(family.d()),
        size_(family.statistic_size()),
        places_(static_cast<std::size_t>(d_) * block_rows, size_) {}

  void resize(int count) {
    log_probabilities_.resize(static_cast<std::size_t>(count) * (size_ + 1));
  }

  void draw(int atom, const double* s, Stream& random) {
    double* entries = log_probabilities(atom);
    for (int l = 0; l < size_; ++l) entries[l] = family_.pseudo_count(l) + s[l];
    for (int j = 0; j < d_; ++j)
      draw_log_dirichlet(std::span(entries + family_.offset(j), entries + family_.offset(j + 1)),
                         random);
    entries[size_] = 0;  // a missing entry adds nothing
  }

  void load(std::span<const int> rows) {
    for (std::size_t b = 0; b < rows.size(); ++b)
      for (int j = 0; j < d_; ++j) places_[j * block_rows + b] = family_.place(rows[b], j);
  }

  void score(int count, double* scores) {
    for (int atom = 0; atom < count; ++atom)
      kernels_.table_sums(d_, log_probabilities(atom), places_.data(),
                          scores + static_cast<std::size_t>(atom) * block_rows);
  }

 private:
  double* log_probabilities(int atom) {
    return log_probabilities_.data() + static_cast<std::size_t>(atom) * (size_ + 1);
  }

  const Categorical& family_;
  int d_, size_;
  const Kernels& kernels_ = kernels();
  std::vector<double> log_probabilities_;
  std::vector<std::int32_t> places_;
};

static_assert(AtomFamily<Categorical>);

}  // namespace mixwood
