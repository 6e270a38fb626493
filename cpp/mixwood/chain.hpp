// A chain whatever its sampler: warm-up and thinning, and where draws are written. The samplers
// themselves are in sampler/.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "mixwood/archive.hpp"
#include "mixwood/interrupt.hpp"
#include "mixwood/move/report.hpp"
#include "mixwood/prior/prior.hpp"
#include "mixwood/tree/shape.hpp"

namespace mixwood {

// Where draws go: arrays with room for the draws from `Plan::first` on.
struct Sink {
  std::int32_t* labels;  // draws x n
  double* log_joint;
  double* log_u;
  double* log_alpha;
  double* sigma;
  double* theta;
  double* base;    // draws x base_size
  double* latent;  // draws x latent_size
  double* groups;  // draws x group_size
};

// How long to run: draw k is the state after iteration warmup + (k+1) thin. Draws before `first`
// are not written.
struct Plan {
  std::int64_t warmup;
  std::int64_t draws;
  std::int64_t thin;
  std::int64_t first = 0;
};

// The tree that guides a chain, for those who look at it; nothing where there is none.
struct GuideView {
  const TreeShape* shape = nullptr;
  const std::vector<double>* log_marginal = nullptr;
  const std::vector<double>* log_dissimilarity = nullptr;
  const std::vector<double>* log_detachment = nullptr;
};

// A chain whatever its family and sampler: what the bindings hold.
class AnyChain {
 public:
  AnyChain() = default;
  AnyChain(const AnyChain&) = delete;
  AnyChain& operator=(const AnyChain&) = delete;
  virtual ~AnyChain() = default;

  virtual void iterate() = 0;
  // Warm-up is over: whatever the sampler learns from its own past stays as it is from here on.
  virtual void freeze() {}
  virtual void assign(std::span<const std::int32_t> labels, PriorValues values) = 0;
  virtual void write_labels(std::int32_t* labels) const = 0;
  virtual const PriorValues& values() const = 0;
  // The base measure, where it is learned: base_size numbers.
  virtual int base_size() const = 0;
  virtual void write_base(double* base) const = 0;
  virtual void set_base(std::span<const double> base) = 0;
  virtual double log_base() const = 0;
  virtual void update_base() = 0;
  // The latent parts of rows, where they have some: latent_size numbers.
  virtual int latent_size() const = 0;
  virtual void write_latent(double* latent) const = 0;
  virtual void set_latent(std::span<const double> latent) = 0;
  // Of each group log u, and gamma where it has one of its own; none without groups.
  virtual int group_size() const = 0;
  void write_groups(double* groups) const {
    groups = std::ranges::copy(values().log_us, groups).out;
    if (group_size() > static_cast<int>(values().log_us.size()))
      std::ranges::copy(values().gammas, groups);
  }
  virtual int n_rows() const = 0;
  virtual int n_clusters() const = 0;
  virtual double log_joint() = 0;
  virtual void check(double tolerance) = 0;
  virtual std::vector<double> log_weights(int row) = 0;
  // `alone`: of each row the log density in a new cluster, of what is given parameters; else empty.
  virtual std::vector<double> log_ordinates(std::span<const double> alone) = 0;
  virtual std::vector<MoveReport> reports() const = 0;
  virtual GuideView guide() const { return {}; }

  // The whole state as bytes, between two iterations: a chain that loads them continues with
  // the same draws, number for number (its random stream apart, which is the caller's).
  std::vector<char> save_state() {
    if (cut_) throw std::logic_error("the chain was stopped within an iteration");
    Writer a;
    a.mark(state_format);
    a.value(byte_order);
    a.value(iterations_);
    save(a);
    return a.bytes();
  }

  // Throws std::invalid_argument (or what `check` throws) for bytes that no chain over these rows
  // can have written; the chain is then good for nothing but another load.
  void load_state(std::span<const char> bytes) {
    Reader a(bytes);
    a.mark(state_format);
    std::int32_t order = 0;
    a.value(order);
    a.require(order == byte_order, "it comes from another kind of processor");
    a.value(iterations_);
    a.require(iterations_ >= 0, "its iterations are negative");
    load(a);
    a.end();
    // Looser than for tests: it must not refuse what a long run has come to.
    check(1e-3);
    a.require(std::isfinite(log_joint()), "its joint is not finite");
    cut_ = false;
  }

  // Runs until the plan is done, `seconds` have passed or `stop` was called; returns the
  // iterations done so far in all. The clock decides only when to come back, never what is drawn.
  std::int64_t run(const Plan& plan, const Sink& sink, double seconds) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::duration<double>(seconds);
    const Interrupt::Scope here(interrupt_);  // whoever calls: `stop` ends trees that grow, too
    while (!stop_ && iterations_ < plan.warmup + plan.draws * plan.thin) {
      try {
        if (iterations_ == plan.warmup) freeze();
        iterate();
        cut_ = cut_ || stop_;  // perhaps: it does not count
      } catch (const Interrupted&) {
        cut_ = true;
      }
      if (cut_) break;
      ++iterations_;
      const std::int64_t kept = iterations_ - plan.warmup;
      const std::int64_t draw = kept / plan.thin - 1;
      if (kept > 0 && kept % plan.thin == 0 && draw >= plan.first) record(sink, draw - plan.first);
      if (Clock::now() >= end) break;
    }
    return iterations_;
  }

  // Ends whatever is done under the same `Interrupt`, other chains too.
  void stop() { interrupt_->stop(); }
  // Whether an iteration was stopped halfway: then the chain cannot go on.
  bool is_cut() const { return cut_; }
  std::int64_t iterations() const { return iterations_; }

 protected:
  // What `iterate` has changed or will look at.
  virtual void save(Writer& a) = 0;
  virtual void load(Reader& a) = 0;

  // That of the work which the chain was made for.
  const std::shared_ptr<Interrupt> interrupt_ = Interrupt::given_or_new();
  const std::atomic<bool>& stop_ = interrupt_->stopped();

 private:
  void record(const Sink& sink, std::int64_t draw) {
    write_labels(sink.labels + draw * n_rows());
    sink.log_joint[draw] = log_joint();
    sink.log_u[draw] = values().log_u;
    sink.log_alpha[draw] = values().log_alpha;
    sink.sigma[draw] = values().sigma;
    sink.theta[draw] = values().theta;
    if (base_size() > 0) write_base(sink.base + draw * base_size());
    if (latent_size() > 0) write_latent(sink.latent + draw * latent_size());
    if (group_size() > 0) write_groups(sink.groups + draw * group_size());
  }

  static constexpr std::string_view state_format = "mixwood chain 1";
  static constexpr std::int32_t byte_order = 0x01020304;

  std::int64_t iterations_ = 0;
  bool cut_ = false;
};

}  // namespace mixwood
