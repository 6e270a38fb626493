// One Gibbs sweep over Gaussian rows: the package's blocked kernel against a straightforward one,
// and both against the machine's rate of multiply-adds. Prints one JSON object.
//
// Usage: gaussian_sweep ROWS CLUSTERS DIMENSION SPREAD SWEEPS
#include <time.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numbers>
#include <vector>

#include "mixwood/sampler/gibbs_chain.hpp"
#include "mixwood/family/gaussian.hpp"

namespace {

using namespace mixwood;

double cpu_seconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// A bit generator that needs no Python: xorshift64*.
std::uint64_t next_uint64(void* state) {
  auto& x = *static_cast<std::uint64_t*>(state);
  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  return x * 0x2545f4914f6cdd1dULL;
}
std::uint32_t next_uint32(void* state) {
  return static_cast<std::uint32_t>(next_uint64(state) >> 32);
}
double next_double(void* state) { return static_cast<double>(next_uint64(state) >> 11) * 0x1p-53; }

// Marginal Gibbs as one would write it down: take the row out of its cluster's factor, solve
// against every cluster in turn, put it into the one drawn. Dirichlet process, clusters kept.
class RowByRow {
 public:
  RowByRow(const std::vector<double>& rows, int n, int d, int clusters, double r, double nu,
           std::vector<std::int32_t> labels)
      : rows_(rows), n_(n), d_(d), r_(r), nu_(nu), labels_(std::move(labels)) {
    for (int k = 0; k < clusters; ++k) {
      Cluster c{0, std::vector<double>(d, 0.0), std::vector<double>(d * d, 0.0), 0, 0};
      for (int j = 0; j < d; ++j) c.factor[j * d + j] = 1;
      clusters_.push_back(c);
    }
    for (int i = 0; i < n; ++i) add(clusters_[labels_[i]], i, +1);
  }

  int sweep(Stream& random) {
    int moved = 0;
    std::vector<double> weights(clusters_.size()), x(d_);
    for (int i = 0; i < n_; ++i) {
      add(clusters_[labels_[i]], i, -1);
      double largest = -1e300;
      for (std::size_t k = 0; k < clusters_.size(); ++k) {
        const Cluster& c = clusters_[k];
        const double kappa = r_ + c.n;
        for (int j = 0; j < d_; ++j) x[j] = rows_[i * d_ + j] - c.mean[j];
        const double squared = cholesky_solve_squared(d_, c.factor.data(), x.data());
        weights[k] = c.base - 0.5 * (nu_ + c.n + 1) * std::log1p(kappa / (kappa + 1) * squared);
        largest = std::max(largest, weights[k]);
      }
      double total = 0;
      for (double& w : weights) total += w = std::exp(w - largest);
      double goal = random.uniform() * total;
      int choice = 0;
      while (choice + 1 < static_cast<int>(weights.size()) && (goal -= weights[choice]) > 0)
        ++choice;
      moved += choice != labels_[i];
      labels_[i] = choice;
      add(clusters_[choice], i, +1);
    }
    return moved;
  }

 private:
  struct Cluster {
    double n;
    std::vector<double> mean, factor;
    double log_determinant, base;
  };

  void add(Cluster& c, int i, double sign) {
    const double kappa = r_ + c.n;
    const double scale = std::sqrt(kappa / (kappa + sign));
    std::vector<double> x(d_), y(d_);
    for (int j = 0; j < d_; ++j) y[j] = x[j] = scale * (rows_[i * d_ + j] - c.mean[j]);
    const double squared = cholesky_solve_squared(d_, c.factor.data(), y.data());
    c.log_determinant += std::log(1 + sign * squared);
    for (int j = 0; j < d_; ++j)
      c.mean[j] += sign * (rows_[i * d_ + j] - c.mean[j]) / (kappa + sign);
    if (!cholesky_rank_one(d_, c.factor.data(), x.data(), sign)) std::abort();
    c.n += sign;
    c.base = std::log(c.n) + 0.5 * d_ * std::log((r_ + c.n) / (r_ + c.n + 1)) +
             log_gamma(0.5 * (nu_ + c.n + 1)) - log_gamma(0.5 * (nu_ + c.n + 1 - d_)) -
             0.5 * c.log_determinant;
  }

  const std::vector<double>& rows_;
  int n_, d_;
  double r_, nu_;
  std::vector<std::int32_t> labels_;
  std::vector<Cluster> clusters_;
};

// Multiply-adds per second of independent vector chains: what the arithmetic units can do.
double measured_flops() {
  using Vector = double __attribute__((vector_size(32)));
  Vector sums[10];
  for (int k = 0; k < 10; ++k) sums[k] = Vector{} + 1e-3 * k;
  const Vector a = Vector{} + 0.999999, b = Vector{} + 1e-7;
  const double start = cpu_seconds();
  const std::int64_t rounds = 100'000'000;
  for (std::int64_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 10
    for (int k = 0; k < 10; ++k) sums[k] = sums[k] * a + b;
  }
  const double seconds = cpu_seconds() - start;
  Vector total = Vector{};
  for (const Vector& s : sums) total += s;
  if (total[0] + total[1] == 12345.678) std::puts("");  // so that nothing is left out
  return static_cast<double>(rounds) * 10 * 4 * 2 / seconds;
}

}  // namespace

int main(int, char** argv) {
  const int n = std::atoi(argv[1]), K = std::atoi(argv[2]), d = std::atoi(argv[3]);
  const double spread = std::atof(argv[4]);
  const int sweeps = std::atoi(argv[5]);
  std::uint64_t seed = 88172645463325252ULL;
  BitGenerator source{&seed, next_uint64, next_uint32, next_double, next_uint64};
  Stream random(&source);
  std::vector<double> rows(static_cast<std::size_t>(n) * d), means(static_cast<std::size_t>(K) * d);
  for (double& m : means) m = spread * random.normal();
  std::vector<std::int32_t> labels(n);
  for (int i = 0; i < n; ++i) {
    labels[i] = i < K ? i : static_cast<std::int32_t>(random.below(K));
    for (int j = 0; j < d; ++j) rows[i * d + j] = means[labels[i] * d + j] + random.normal();
  }
  std::vector<double> psi(static_cast<std::size_t>(d) * d, 0.0);
  for (int j = 0; j < d; ++j) psi[j * d + j] = 1;
  const double r = 0.1, nu = d + 6.0;

  const auto family = std::make_shared<const Gaussian>(rows, n, d, r, nu, psi);
  const Prior prior({.kind = PriorKind::dirichlet_process, .alpha = {}, .sigma = {}, .theta = {}},
                    {.log_u = 0, .log_alpha = std::log(1e-6), .sigma = 0, .theta = 0});
  GibbsChain<Gaussian> chain(family, prior, labels, random, {.subset = 0});
  RowByRow plain(rows, n, d, K, r, nu, labels);

  double blocked = 0, row_by_row = 0;
  std::int64_t moved = 0;
  for (int s = -2; s < sweeps; ++s) {  // turn by turn, so that both see the same machine
    const double t0 = cpu_seconds();
    chain.iterate();
    const double t1 = cpu_seconds();
    const int changed = plain.sweep(random);
    const double t2 = cpu_seconds();
    if (s < 0) continue;
    blocked += t1 - t0;
    row_by_row += t2 - t1;
    moved += changed;
  }
  chain.check();
  const double floor = static_cast<double>(n) * K * (d * d + 3 * d) / measured_flops();
  std::printf(
      "{\"rows\": %d, \"clusters\": %d, \"dimension\": %d, \"clusters_at_end\": %d, "
      "\"moved\": %.4f, \"blocked_ms\": %.3f, \"row_by_row_ms\": %.3f, \"floor_ms\": %.3f, "
      "\"instruction_set\": \"%s\"}\n",
      n, K, d, chain.n_clusters(), static_cast<double>(moved) / n / sweeps, 1e3 * blocked / sweeps,
      1e3 * row_by_row / sweeps, 1e3 * floor, kernels().name);
}
