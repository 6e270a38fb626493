// Multinomial clusters by the probabilities of the words: Dirichlet(beta + N_v). As with the
// counts, a word's entries for all atoms are neighbours.
#pragma once

#include <span>
#include <vector>

#include "mixwood/family/multinomial.hpp"
#include "mixwood/random/dirichlet.hpp"

namespace mixwood {

class Multinomial::Atoms {
 public:
  static constexpr int rows_at_once = 1;

  explicit Atoms(const Multinomial& family) : family_(family), entries_(family.width()) {}

  void resize(int count) {
    stride_ = (count + 15) / 16 * 16;
    log_probabilities_.resize(static_cast<std::size_t>(stride_) * family_.width());
    sums_.resize(stride_);
  }

  void draw(int atom, const double* s, Stream& random) {
    for (int v = 0; v < family_.width(); ++v) entries_[v] = family_.beta() + s[v];
    draw_log_dirichlet(entries_, random);
    for (int v = 0; v < family_.width(); ++v)
      log_probabilities_[static_cast<std::size_t>(v) * stride_ + atom] = entries_[v];
  }

  void load(std::span<const int> rows) { row_ = rows[0]; }

  void score(int count, double* scores) {
    const auto words = family_.words(row_);
    kernels_.weighted_sums(static_cast<int>(words.size()), words.data(),
                           family_.counts(row_).data(), log_probabilities_.data(), stride_, count,
                           sums_.data());
    std::copy_n(sums_.begin(), count, scores);
  }

 private:
  const Multinomial& family_;
  const Kernels& kernels_ = kernels();
  int stride_ = 0;
  int row_ = 0;
  std::vector<double> log_probabilities_, entries_, sums_;
};

static_assert(AtomFamily<Multinomial>);

}  // namespace mixwood
