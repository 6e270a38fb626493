// The hot loops, compiled once for each instruction set and chosen at run time.
//
// Every instruction set's copy lives in a translation unit and a namespace of its own
// (cpp/kernels/), and is reached only through this table: a shared inline function could be
// linked from the wrong copy. The environment variable MIXWOOD_ISA=baseline|v3 forces one.
#pragma once

#include <cstdint>

namespace mixwood {

// Rows that the kernels score at once. A block is stored column by column: entry (j, b) of
// the block at [j * block_rows + b].
inline constexpr int block_rows = 16;

// Doubles in the widest vector of any instruction set.
inline constexpr int widest_vector = 4;

// Counts above this go through log Gamma: a rising factorial of x factors takes x products.
inline constexpr std::int32_t largest_product = 32;

// One Gaussian cluster's predictive: base - half * log(1 + fraction * |L^-1 (x - mean)|^2).
struct StudentTerms {
  double base;
  double half;
  double fraction;
};

// One linear relation's predictive: base + half log s - (half + 1/2) log(s + e^2), with
// s = spread + |L^-1 (x - mean)|^2 over the predictors and e the same for the target.
struct RegressionTerms {
  double base;
  double half;
  double spread;
};

// The same of a row whose precision is w times that of its cluster's rows:
// base + half_columns log f - half log(1 + f |L^-1 (x - mean)|^2), f = kappa w / (kappa + w).
struct ScaledTerms {
  double base;
  double half_columns;
  double half;
  double kappa;
};

struct Kernels {
  const char* name;

  // Gaussian, full covariance: rows `first` to `last` - 1 of the block, and perhaps others.
  // `scratch` holds d * block_rows; `quadratic` receives the squared distances, `scores` the log
  // predictives.
  void (*gaussian)(int d, int first, int last, const double* factor, const double* mean,
                   const double* rows, StudentTerms terms, double* scratch, double* quadratic,
                   double* scores);
  // Turns the factor of A (numerics/cholesky.hpp) into that of A + sign * x x' and returns t = 1 +
  // sign x' A^-1 x, by which the determinant grows; leaves it as it is unless t is above `least`.
  // Destroys x; `scratch` holds 3 d. For many columns.
  double (*update_factor)(int d, double* factor, double* x, double* scratch, double sign,
                          double least);
  // cholesky_factor for many columns.
  double (*cholesky)(int d, double* factor, const double* floors);
  // By how much log|Psi_n| grows where `count` rows come, given its factor. `differences` is a
  // block of what they differ from the posterior mean by, each times the root of its weight, and 0
  // where there is no row; `roots`, block_rows of them, are these roots, and 0; `origin` has d
  // zeros. `scratch` holds (d + block_rows) * block_rows.
  double (*gaussian_growth)(int d, int count, const double* factor, const double* differences,
                            const double* origin, const double* roots, double kappa,
                            double* scratch);

  // Gaussian, full covariance: one block of rows against many clusters at once, side by side in
  // the lanes. log_determinants[k] becomes log|Psi_n| of the k-th statistic together with the
  // block's (statistics as in family/gaussian.hpp); `floors` are the least pivots. `scratch` holds
  // (d + 1) (d + 2) / 2 * widest_vector.
  void (*gaussian_unions)(int d, int count, const double* const* statistics, const double* block,
                          const double* psi, const double* floors, double r, double* scratch,
                          double* log_determinants);

  // As `gaussian` for rows with weights, block_rows of them.
  void (*scaled_gaussian)(int d, const double* factor, const double* mean, const double* rows,
                          const double* weights, ScaledTerms terms, double* scratch,
                          double* quadratic, double* scores);
  // The same scores of one row at many weights, plus a number for each; `count` is a multiple of
  // widest_vector.
  void (*scaled_lattice)(int count, const double* weights, const double* log_densities,
                         ScaledTerms terms, double squared, double* scores);

  // Gaussian, one variance for all columns; as above with |x - mean|^2.
  void (*spherical)(int d, const double* mean, const double* rows, StudentTerms terms,
                    double* quadratic, double* scores);

  // A target, the last column, that is linear in the others; counted where it is present.
  void (*regression)(int d, const double* factor, const double* mean, const double* rows,
                     const double* present, RegressionTerms terms, double* scratch, double* scores);

  // Gaussian, independent columns. In column j: base[j] - half[j] log(1 + (x-mean)^2 scale[j]),
  // counted where present (1 or 0).
  void (*diagonal)(int d, const double* mean, const double* scale, const double* half,
                   const double* base, const double* rows, const double* present, double* scores);
  // The same where nothing is missing: one `half` for all columns, and `base` their sum.
  void (*diagonal_complete)(int d, const double* mean, const double* scale, double half,
                            double base, const double* rows, double* scores);

  // Poisson: in column j, logGamma(a[j] + x) + constant[j] + slope[j] x where present.
  void (*poisson)(int d, const double* a, const double* constant, const double* slope,
                  const double* rows, const double* present, double* scores);

  // The same where rows have exposures e: logGamma(a[j] + x) + constant[j] - (a[j] + x) log(b[j] +
  // e).
  void (*poisson_exposed)(int d, const double* a, const double* b, const double* constant,
                          const double* exposure, const double* rows, const double* present,
                          double* scores);

  // Negative binomial: in column j, logGamma(b[j] + x) - logGamma(a[j] + b[j] + x) + constant[j]
  // where present.
  void (*negative_binomial)(int d, const double* a, const double* b, const double* constant,
                            const double* rows, const double* present, double* scores);
  // The same where rows have exposures: with a[j] + size[j] e for a[j], whose logGamma is added.
  void (*negative_binomial_exposed)(int d, const double* a, const double* b, const double* constant,
                                    const double* size, const double* exposure, const double* rows,
                                    const double* present, double* scores);

  // Sums of table entries: scores[b] = sum_j table[places[j, b]].
  void (*table_sums)(int d, const double* table, const std::int32_t* places, double* scores);

  // Multinomial: one sparse row against all slots. `table` holds each word's counts over the
  // slots, `stride` apart; scores[k] = sum over words of log of the rising factorial
  // (beta + N_wk)(beta + N_wk + 1)...(x factors). `budget` factors fit between renormalizations.
  void (*multinomial)(int nonzeros, const std::int32_t* words, const std::int32_t* counts,
                      const std::int32_t* table, std::int64_t stride, int slots, double beta,
                      int budget, double* scores);

  // The same forms given a cluster's parameters instead of its rows. Gaussian, full covariance
  // with Cholesky factor `factor`: base - |L^-1 (x - mean)|^2 / 2.
  void (*normal)(int d, const double* factor, const double* mean, const double* rows, double base,
                 double* scratch, double* scores);
  // Gaussian, independent columns: in column j, base[j] - half[j] (x - mean[j])^2 where present.
  void (*normal_columns)(int d, const double* mean, const double* half, const double* base,
                         const double* rows, const double* present, double* scores);
  // Poisson: in column j, x log_mean[j] - mean[j] e where present; e is 1 for most.
  void (*poisson_columns)(int d, const double* log_mean, const double* mean, const double* exposure,
                          const double* rows, const double* present, double* scores);
  // Multinomial: one sparse row against `slots` clusters, scores[k] = sum of x table[word, k].
  void (*weighted_sums)(int nonzeros, const std::int32_t* words, const std::int32_t* counts,
                        const double* table, std::int64_t stride, int slots, double* scores);

  // values[k] = logGamma(values[k]), each > 0.
  void (*log_gammas)(int count, double* values);

  // log of the sum of exp(log_terms[k]); `count` is a multiple of widest_vector.
  double (*log_sum)(int count, double* log_terms);

  // Picks k with probability proportional to exp(log_weights[k]): the first whose cumulative
  // sum exceeds uniform * total; -1 if they are not numbers. Overwrites log_weights.
  int (*pick)(int count, double* log_weights, double uniform);
};

// The table in force: the best that this processor runs, or the one MIXWOOD_ISA names.
const Kernels& kernels();

}  // namespace mixwood
