// Rows with a latent part: what a row adds to a statistic depends on numbers that belong to the row
// and are not known, such as its missing entries. They are part of a chain's state. Every move
// takes them as they are, as if they were observed; once per iteration they are drawn again
// (move/latent_refresh.hpp).
//
// A LatentFamily keeps them (a copy of the family has its own) and has F::Latents, which compares
// what is known of a row with clusters, and draws the rest.
#pragma once

#include <concepts>
#include <span>

#include "mixwood/family/family.hpp"
#include "mixwood/random/stream.hpp"

namespace mixwood {

// Clusters live in slots, as in ClusterScores; all that is asked is about the row that was loaded.
template <class L>
concept RowLatents =
    requires(L latents, const double* statistic, double* to, Stream& random, int slot, int row) {
      latents.start(slot);  // room for that many slots; the base measure may have changed
      latents.assign(slot, statistic);  // the slot holds the rows of this statistic
      latents.read(slot, to);           // the statistic, copied to there
      latents.load(row);
      // log P(what is known of the row | X_slot), | the rest of X_slot where it is inside, | no
      // rows.
      { latents.score(slot) } -> std::same_as<double>;
      { latents.score_without(slot) } -> std::same_as<double>;
      { latents.score_alone() } -> std::same_as<double>;
      latents.forget(slot);            // the row leaves
      latents.draw(slot, random, to);  // its latent numbers, given what is known of it and X_slot
      latents.observe(slot);           // the row joins, with the latent numbers that it has now
      // Whether this is given the slots' parameters, drawn before: there is no new cluster then,
      // and score_alone leaves out what would be given those. Else nothing is drawn.
      { latents.given_atoms() } -> std::same_as<bool>;
      latents.draw_atom(slot, random);
    };

template <class F>
concept LatentFamily = Family<F> && RowLatents<typename F::Latents> &&
                       requires(F& f, const F& g, double* to, const double* from, int row) {
                         {
                           g.latent_size()
                         } -> std::same_as<int>;  // how many numbers there are in all, or 0
                         { g.latent_size(row) } -> std::same_as<int>;  // ... of one row
                         {
                           g.latent_rows()
                         } -> std::same_as<std::span<const int>>;  // that have some, in order
                         g.read_latent(to);                        // all numbers, copied to there
                         f.set_latent(from);                       // other numbers
                         f.set_latent_of_row(row, from);           // other numbers of one row
                       };

// Optional: all latent numbers drawn again at once, given parameters of the clusters that are drawn
// and then forgotten.
template <class F>
concept RedrawnAtOnce =
    LatentFamily<F> &&
    requires(F& f, const ClusterStatistics& clusters, std::span<const int> cluster_of_row,
             Stream& random) { f.redraw_latents(clusters, cluster_of_row, random); };

// Whether that is to be done; a family behind the erased interface knows it only once it is made.
template <Family F>
bool redraws_at_once(const F& family) {
  if constexpr (requires { family.redraws_at_once(); })
    return family.redraws_at_once();
  else
    return RedrawnAtOnce<F>;
}

// How many latent numbers there are; most families have none.
template <Family F>
int latent_size(const F& family) {
  if constexpr (LatentFamily<F>)
    return family.latent_size();
  else
    return 0;
}

}  // namespace mixwood
