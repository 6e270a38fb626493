// Rows against clusters that they need not belong to: log P(x_i | X_c) from statistics, which do
// not depend on the rows that a family is bound to. So the family holds the new rows, and the
// statistics come from another one over the rows that were clustered.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include "mixwood/family/erased.hpp"

namespace mixwood {

// Adds each row to the statistic of its label, K statistics one after the other; rows of negative
// labels are left out.
inline void cluster_statistics(const ErasedFamily& family, std::span<const std::int32_t> labels,
                               double* statistics) {
  const auto size = static_cast<std::size_t>(family.statistic_size());
  for (int row = 0; row < family.n_rows(); ++row)
    if (labels[row] >= 0) family.observe(statistics + size * labels[row], row);
}

// Fills table[(i - first) * K + k] = log P(x_i | X_k) for the rows first <= i < end, with their
// terms (RowTermFamily); of a row with a latent part, log P(what is known of it | X_k),
// where that has a form.
inline void predictive_table(const ErasedFamily& family, std::span<const double> statistics,
                             int first, int end, double* table) {
  const auto size = static_cast<std::size_t>(family.statistic_size());
  const std::size_t count = statistics.size() / size;
  ErasedFamily::Clusters clusters(family);
  const int block = clusters.rows_at_once;
  clusters.grow(static_cast<int>(count));
  std::vector<int> slots(count);
  std::iota(slots.begin(), slots.end(), 0);
  for (const int slot : slots) clusters.assign(slot, statistics.data() + size * slot);
  double* const whole = table;
  std::vector<double> scores(count * block);
  std::vector<int> rows;
  for (int start = first; start < end; start += block) {
    rows.resize(std::min(block, end - start));
    std::iota(rows.begin(), rows.end(), start);
    clusters.load(rows);
    clusters.score(slots, scores.data());
    for (std::size_t b = 0; b < rows.size(); ++b, table += count) {
      const double term = family.row_term(rows[b]);
      for (std::size_t k = 0; k < count; ++k) table[k] = scores[k * block + b] + term;
    }
  }
  if (family.latent_size() == 0) return;
  const auto latents = family.latents();
  if (latents->given_atoms()) return;
  latents->start(static_cast<int>(count));
  for (const int slot : slots) latents->assign(slot, statistics.data() + size * slot);
  for (const int row : family.latent_rows()) {
    if (row < first || row >= end) continue;
    latents->load(row);
    for (const int slot : slots)
      whole[static_cast<std::size_t>(row - first) * count + slot] =
          latents->score(slot) + family.row_term(row);
  }
}

}  // namespace mixwood
