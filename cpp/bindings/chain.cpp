// `Chain`: one chain, its prior's settings and its random stream. The GIL is released while it
// runs.
#include "mixwood/chain.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "any_family.hpp"
#include "bindings.hpp"
#include "bit_generator.hpp"

namespace mixwood::bindings {

namespace {

using Labels = Input<std::int32_t, 1>;
using Values = Input<double, 1>;
using Dictionary = nb::typed<nb::dict, nb::str, nb::any>;
using Pair = std::optional<std::pair<double, double>>;

PriorHyper hyperpriors(Pair alpha, Pair sigma, Pair theta, const std::optional<Law>& gamma) {
  PriorHyper hyper;
  if (alpha) hyper.alpha = GammaHyper{alpha->first, alpha->second};
  if (sigma) hyper.sigma = BetaHyper{sigma->first, sigma->second};
  if (theta) hyper.theta = GammaHyper{theta->first, theta->second};
  if (gamma) hyper.gamma = hyperprior(*gamma);
  return hyper;
}

// The groups of rows, or of leaves: those of all leaves one after another, leaf i's before
// `ends[i]`.
std::shared_ptr<const RowGroups> row_groups(const Labels& groups,
                                            const std::optional<Values>& counts,
                                            const std::optional<Input<std::int64_t, 1>>& ends) {
  require(groups.size() > 0, "groups must not be empty");
  require(!counts || counts->size() == groups.size(), "group_counts must be as many as groups");
  std::vector<GroupCount> entries(groups.size());
  int n_groups = 0;
  for (std::size_t k = 0; k < entries.size(); ++k) {
    entries[k] = {groups.data()[k], counts ? counts->data()[k] : 1.0};
    require(entries[k].count > 0, "group_counts must be positive");
    n_groups = std::max(n_groups, entries[k].group + 1);
  }
  std::vector<std::size_t> found;
  if (ends) {
    std::int64_t before = 0;
    for (std::size_t i = 0; i < ends->size(); ++i) {
      const std::int64_t end = ends->data()[i];
      require(end > before && static_cast<std::size_t>(end) <= entries.size(),
              "group_ends must rise to the number of groups");
      found.push_back(static_cast<std::size_t>(end));
      before = end;
    }
    require(before == static_cast<std::int64_t>(entries.size()),
            "group_ends must rise to the number of groups");
  }
  return std::make_shared<const RowGroups>(n_groups, std::move(entries), std::move(found));
}

// Values as Python has them; `groups` has what `write_groups` writes.
PriorValues values_of(const AnyChain& chain, double log_u, double log_alpha, double sigma,
                      double theta, const double* groups) {
  PriorValues values{log_u, log_alpha, sigma, theta};
  const std::size_t count = chain.values().log_us.size();
  if (count == 0) return values;
  values.log_us.assign(groups, groups + count);
  values.gammas.assign(count, -sigma);
  if (static_cast<std::size_t>(chain.group_size()) > count)
    values.gammas.assign(groups + count, groups + 2 * count);
  return values;
}

// Holds the chain, and what it reads from alive: the data and the random stream.
class Chain {
 public:
  Chain(nb::object family, Prior prior, Labels labels, nb::object bit_generator,
        const std::string& sampler, const std::map<std::string, int>& options, bool blank,
        int threads)
      : family_(family), bit_generator_(bit_generator) {
    const auto& bound_family = nb::cast<const AnyFamily&>(family);
    require(labels.size() == static_cast<std::size_t>(bound_family.n_rows()),
            "labels must have one entry per row");
    BitGenerator* source = bit_generator_of(bit_generator);
    SamplerOptions chosen = sampler_options(sampler, options, bound_family.n_rows());
    require(threads >= 1, "threads must be at least 1");
    if (auto* tree = std::get_if<TreeOptions>(&chosen)) {
      tree->blank = blank;
      tree->threads = threads;
    }
    nb::gil_scoped_release released;  // some samplers grow trees first
    chain_ = bound_family.chain(prior, as_span(labels), Stream(source), chosen);
  }

  AnyChain& chain() const {
    if (!chain_) throw std::runtime_error("the chain was given a state that is damaged");
    return *chain_;
  }

  Result<double> base() const {
    const auto size = static_cast<std::size_t>(chain().base_size());
    std::vector<double> base(size);
    chain().write_base(base.data());
    return to_numpy(std::move(base), {size});
  }

  Result<double> latent() const {
    const auto size = static_cast<std::size_t>(chain().latent_size());
    std::vector<double> latent(size);
    chain().write_latent(latent.data());
    return to_numpy(std::move(latent), {size});
  }

  Result<double> groups() const {
    const auto size = static_cast<std::size_t>(chain().group_size());
    std::vector<double> groups(size);
    chain().write_groups(groups.data());
    return to_numpy(std::move(groups), {size});
  }

  Dictionary state() {
    Dictionary result;
    const std::size_t n = static_cast<std::size_t>(chain().n_rows());
    std::vector<std::int32_t> labels(n);
    chain().write_labels(labels.data());
    result["labels"] = to_numpy(std::move(labels), {n});
    result["log_u"] = chain().values().log_u;
    result["log_alpha"] = chain().values().log_alpha;
    result["sigma"] = chain().values().sigma;
    result["theta"] = chain().values().theta;
    if (chain().base_size() > 0) result["base"] = base();
    if (chain().latent_size() > 0) result["latent"] = latent();
    if (chain().group_size() > 0) result["groups"] = groups();
    return result;
  }

  Dictionary replicate(Input<std::int32_t, 2> labels, Values log_u, Values log_alpha, Values sigma,
                       Values theta, std::int64_t iterations, std::optional<Input<double, 2>> base,
                       std::optional<Input<double, 2>> latent,
                       std::optional<Input<double, 2>> groups) {
    const auto group_size = static_cast<std::size_t>(chain().group_size());
    const auto base_size = static_cast<std::size_t>(chain().base_size());
    const auto latent_size = static_cast<std::size_t>(chain().latent_size());
    const std::size_t count = labels.shape(0);
    const std::size_t n = labels.shape(1);
    require(n == static_cast<std::size_t>(chain().n_rows()), "labels must be replicates x n");
    for (const auto* values : {&log_u, &log_alpha, &sigma, &theta})
      require(values->size() == count, "values must have one entry per replicate");
    require(base ? base->shape(0) == count && base->shape(1) == base_size : base_size == 0,
            "base must be replicates x base_size where it is learned");
    require(
        latent ? latent->shape(0) == count && latent->shape(1) == latent_size : latent_size == 0,
        "latent must be replicates x latent_size where entries are missing");
    require(groups ? groups->shape(0) == count && groups->shape(1) == group_size : group_size == 0,
            "groups must be replicates x group_size where rows come in groups");
    std::vector<double> end_bases(count * base_size), end_latents(count * latent_size);
    std::vector<double> end_groups(count * group_size);
    std::vector<std::int32_t> end_labels(count * n);
    std::vector<double> ends[4];
    for (auto& end : ends) end.resize(count);
    {
      nb::gil_scoped_release released;
      for (std::size_t r = 0; r < count; ++r) {
        chain().assign(
            std::span(labels.data() + r * n, n),
            values_of(chain(), log_u.data()[r], log_alpha.data()[r], sigma.data()[r],
                      theta.data()[r], groups ? groups->data() + r * group_size : nullptr));
        if (base_size > 0) chain().set_base(std::span(base->data() + r * base_size, base_size));
        if (latent_size > 0)
          chain().set_latent(std::span(latent->data() + r * latent_size, latent_size));
        for (std::int64_t i = 0; i < iterations; ++i) chain().iterate();
        chain().write_labels(end_labels.data() + r * n);
        chain().write_base(end_bases.data() + r * base_size);
        chain().write_latent(end_latents.data() + r * latent_size);
        chain().write_groups(end_groups.data() + r * group_size);
        const PriorValues& values = chain().values();
        ends[0][r] = values.log_u;
        ends[1][r] = values.log_alpha;
        ends[2][r] = values.sigma;
        ends[3][r] = values.theta;
      }
    }
    Dictionary result;
    result["labels"] = to_numpy(std::move(end_labels), {count, n});
    const char* names[] = {"log_u", "log_alpha", "sigma", "theta"};
    for (int k = 0; k < 4; ++k) result[names[k]] = to_numpy(std::move(ends[k]), {count});
    if (base_size > 0) result["base"] = to_numpy(std::move(end_bases), {count, base_size});
    if (latent_size > 0) result["latent"] = to_numpy(std::move(end_latents), {count, latent_size});
    if (group_size > 0) result["groups"] = to_numpy(std::move(end_groups), {count, group_size});
    return result;
  }

  std::int64_t run(std::int64_t warmup, std::int64_t thin, Output<std::int32_t, 2> labels,
                   Output<double, 1> log_joint, Output<double, 1> log_u,
                   Output<double, 1> log_alpha, Output<double, 1> sigma, Output<double, 1> theta,
                   double seconds, std::int64_t first, std::optional<Output<double, 2>> base,
                   std::optional<Output<double, 2>> latent,
                   std::optional<Output<double, 2>> groups) {
    const auto group_size = static_cast<std::size_t>(chain().group_size());
    const auto base_size = static_cast<std::size_t>(chain().base_size());
    const auto latent_size = static_cast<std::size_t>(chain().latent_size());
    const std::size_t draws = labels.shape(0);
    require(warmup >= 0 && thin >= 1 && first >= 0,
            "warmup and first must be at least 0 and thin at least 1");
    require(labels.shape(1) == static_cast<std::size_t>(chain().n_rows()),
            "labels must be draws x n");
    for (const auto* values : {&log_joint, &log_u, &log_alpha, &sigma, &theta})
      require(values->size() == draws, "arrays must have one entry per draw");
    require(base ? base->shape(0) == draws && base->shape(1) == base_size : base_size == 0,
            "base must be draws x base_size where it is learned");
    require(
        latent ? latent->shape(0) == draws && latent->shape(1) == latent_size : latent_size == 0,
        "latent must be draws x latent_size where entries are missing");
    require(groups ? groups->shape(0) == draws && groups->shape(1) == group_size : group_size == 0,
            "groups must be draws x group_size where rows come in groups");
    const Plan plan{warmup, first + static_cast<std::int64_t>(draws), thin, first};
    const Sink sink{labels.data(),
                    log_joint.data(),
                    log_u.data(),
                    log_alpha.data(),
                    sigma.data(),
                    theta.data(),
                    base ? base->data() : nullptr,
                    latent ? latent->data() : nullptr,
                    groups ? groups->data() : nullptr};
    nb::gil_scoped_release released;
    return chain().run(plan, sink, seconds);
  }

  nb::bytes save_state() {
    std::vector<char> state;
    {
      nb::gil_scoped_release released;
      state = chain().save_state();
    }
    return nb::bytes(state.data(), state.size());
  }

  // A state that is refused leaves no chain behind, so that nothing runs on half of it.
  void load_state(const nb::bytes& state) {
    chain();  // there must be one
    std::unique_ptr<AnyChain> loaded = std::move(chain_);
    try {
      nb::gil_scoped_release released;
      loaded->load_state(std::span(state.c_str(), state.size()));
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      throw std::invalid_argument(error.what());
    }
    chain_ = std::move(loaded);
  }

  Dictionary guide() const {
    const GuideView view = chain().guide();
    Dictionary result;
    if (view.shape == nullptr) return result;
    const TreeShape& shape = *view.shape;
    const auto add = [&]<class T>(const char* name, const std::vector<T>& values) {
      result[name] = to_numpy(std::vector<T>(values), {values.size()});
    };
    add("parent", shape.parent);
    add("leaves", shape.leaves);
    add("first", shape.first);
    std::vector<std::int64_t> whole(shape.size.size());
    std::ranges::transform(shape.size, whole.begin(), [](double s) { return std::llround(s); });
    add("size", whole);
    add("rows", shape.rows);
    add("log_marginal", *view.log_marginal);
    add("log_dissimilarity", *view.log_dissimilarity);
    add("log_detachment", *view.log_detachment);
    return result;
  }

  nb::typed<nb::list, Dictionary> reports() const {
    nb::typed<nb::list, Dictionary> result;
    for (const MoveReport& report : chain().reports()) {
      nb::dict entry;
      entry["move"] = report.name;
      entry["proposed"] = report.proposed;
      entry["accepted"] = report.accepted;
      entry["seconds"] = report.seconds;
      entry["mean_log_ratio"] = report.mean_log_ratio();
      entry["sd_log_ratio"] = report.sd_log_ratio();
      result.append(entry);
    }
    return result;
  }

 private:
  nb::object family_, bit_generator_;
  std::unique_ptr<AnyChain> chain_;
};

}  // namespace

void bind_chain(nb::module_& m) {
  m.def(
      "update_parameters",
      [](const std::string& prior, Pair alpha, Pair sigma, Pair theta,
         const std::array<double, 4>& values, std::vector<double> sizes, nb::object bit_generator,
         const std::optional<Law>& gamma) {
        require(!sizes.empty() && *std::min_element(sizes.begin(), sizes.end()) > 0,
                "sizes must be positive");
        Prior moved(prior_named(prior), hyperpriors(alpha, sigma, theta, gamma),
                    {values[0], values[1], values[2], values[3]});
        const double n = std::accumulate(sizes.begin(), sizes.end(), 0.0);
        Stream random(bit_generator_of(bit_generator));
        moved.update({.n_points = n, .sizes = std::move(sizes)}, random);
        const PriorValues& now = moved.values();
        return std::array<double, 4>{now.log_u, now.log_alpha, now.sigma, now.theta};
      },
      nb::arg("prior"), nb::arg("alpha").none(), nb::arg("sigma").none(), nb::arg("theta").none(),
      nb::arg("values"), nb::arg("sizes"), nb::arg("bit_generator"),
      nb::arg("gamma").none() = nb::none(),
      "Move u and the random parameters once, given the sizes of the clusters. values: log_u, "
      "log_alpha, sigma, theta.");
  nb::class_<Chain>(m, "Chain", "One Markov chain over partitions.")
      .def(
          "__init__",
          [](Chain* self, nb::object family, const std::string& prior, Pair alpha, Pair sigma,
             Pair theta, const std::map<std::string, double>& start, Labels labels,
             nb::object bit_generator, const std::string& sampler,
             const std::map<std::string, int>& options, bool blank, int threads,
             const std::optional<Law>& gamma, const std::optional<Labels>& groups,
             const std::optional<Values>& group_counts,
             const std::optional<Input<std::int64_t, 1>>& group_ends, bool gamma_per_group) {
            const PriorValues values{.log_u = 0,
                                     .log_alpha = std::log(start.at("alpha")),
                                     .sigma = start.at("sigma"),
                                     .theta = start.at("theta")};
            PriorHyper hyper = hyperpriors(alpha, sigma, theta, gamma);
            hyper.gamma_per_group = gamma_per_group;
            Prior made(prior_named(prior), hyper, values);
            if (groups) {
              require(prior == "finite_mixture", "only a finite mixture has groups");
              made = made.with_groups(row_groups(*groups, group_counts, group_ends));
              require(made.by_group().groups()->n_rows() == static_cast<int>(labels.size()),
                      "groups must have one entry per row");
            }
            new (self) Chain(family, made, labels, bit_generator, sampler, options, blank, threads);
          },
          nb::arg("family"), nb::arg("prior"), nb::arg("alpha").none(), nb::arg("sigma").none(),
          nb::arg("theta").none(), nb::arg("start"), nb::arg("labels"), nb::arg("bit_generator"),
          nb::arg("sampler"), nb::arg("options"), nb::arg("blank") = false, nb::arg("threads") = 1,
          nb::arg("gamma").none() = nb::none(), nb::arg("groups").none() = nb::none(),
          nb::arg("group_counts").none() = nb::none(), nb::arg("group_ends").none() = nb::none(),
          nb::arg("gamma_per_group") = false,
          "alpha, sigma, theta: the two parameters of a hyperprior, or None where fixed; gamma: "
          "the "
          "law of -sigma, where that is positive; options: "
          "the numbers that the sampler of this name takes; blank: grow no tree, a state is about "
          "to be loaded; groups: of each row, from 0 on, or those of all leaves one after another "
          "with how many rows of each, leaf i's before group_ends[i].")
      .def("run", &Chain::run, nb::arg("warmup"), nb::arg("thin"), nb::arg("labels"),
           nb::arg("log_joint"), nb::arg("log_u"), nb::arg("log_alpha"), nb::arg("sigma"),
           nb::arg("theta"), nb::arg("seconds"), nb::arg("first") = 0,
           nb::arg("base").none() = nb::none(), nb::arg("latent").none() = nb::none(),
           nb::arg("groups").none() = nb::none(),
           "Run until all draws are written, the seconds are over or stop() was called; return "
           "the iterations done. The arrays hold the draws from number `first` on.")
      .def(
          "stop", [](Chain& c) { c.chain().stop(); },
          "End the run soon; safe from any thread. Chains made under one Interrupt stop together.")
      .def(
          "freeze",
          [](Chain& c) {
            nb::gil_scoped_release released;
            c.chain().freeze();
          },
          "End the warm-up: what the sampler has learned stays as it is.")
      .def(
          "guide", &Chain::guide,
          "The guide tree, nodes numbered depth first: each one's parent, leaves below, rows below "
          "(`size` of `rows` from `first` on), log P, log d and how likely it is a cluster apart; "
          "empty "
          "if the sampler has none.")
      .def("reports", &Chain::reports, "What each move did so far.")
      .def("state", &Chain::state, "The current labels and parameters.")
      .def(
          "set_state",
          [](Chain& c, Labels labels, double log_u, double log_alpha, double sigma, double theta,
             const std::optional<Values>& groups) {
            require(labels.size() == static_cast<std::size_t>(c.chain().n_rows()),
                    "labels must have one entry per row");
            const auto size = static_cast<std::size_t>(c.chain().group_size());
            require(groups ? groups->size() == size : size == 0,
                    "groups must have group_size entries where rows come in groups");
            c.chain().assign(as_span(labels), values_of(c.chain(), log_u, log_alpha, sigma, theta,
                                                        groups ? groups->data() : nullptr));
          },
          nb::arg("labels"), nb::arg("log_u"), nb::arg("log_alpha"), nb::arg("sigma"),
          nb::arg("theta"), nb::arg("groups").none() = nb::none(), "Put the chain into a state.")
      .def_prop_ro("group_size", [](Chain& c) { return c.chain().group_size(); })
      .def_prop_ro("base_size", [](Chain& c) { return c.chain().base_size(); })
      .def_prop_ro("base", &Chain::base, nb::rv_policy::move, "The learned base measure.")
      .def(
          "set_base", [](Chain& c, Values base) { c.chain().set_base(as_span(base)); },
          nb::arg("base"), "Give the chain another base measure.")
      .def_prop_ro("latent_size", [](Chain& c) { return c.chain().latent_size(); })
      .def_prop_ro("latent", &Chain::latent, nb::rv_policy::move,
                   "What missing entries are filled in with.")
      .def(
          "set_latent", [](Chain& c, Values latent) { c.chain().set_latent(as_span(latent)); },
          nb::arg("latent"), "Fill missing entries in otherwise.")
      .def(
          "log_base", [](Chain& c) { return c.chain().log_base(); },
          "The log density of the base measure under its hyperprior, constants left out.")
      .def(
          "update_base",
          [](Chain& c, std::int64_t count) {
            nb::gil_scoped_release released;
            for (std::int64_t i = 0; i < count; ++i) c.chain().update_base();
          },
          nb::arg("count") = 1, "Move the base measure alone, given the clusters.")
      .def(
          "iterate",
          [](Chain& c, std::int64_t count) {
            nb::gil_scoped_release released;
            for (std::int64_t i = 0; i < count; ++i) {
              Interrupt::of_thread().tick(0);
              c.chain().iterate();
            }
          },
          nb::arg("count") = 1, "Run some iterations and keep nothing.")
      .def("replicate", &Chain::replicate, nb::arg("labels"), nb::arg("log_u"),
           nb::arg("log_alpha"), nb::arg("sigma"), nb::arg("theta"), nb::arg("iterations"),
           nb::arg("base").none() = nb::none(), nb::arg("latent").none() = nb::none(),
           nb::arg("groups").none() = nb::none(),
           "Run each of many starts for some iterations; return where each ended.")
      .def(
          "log_joint", [](Chain& c) { return c.chain().log_joint(); },
          "log p(X, Pi, u | the prior's parameters), row constants left out.")
      .def("save_state", &Chain::save_state,
           "The whole state as bytes, the random stream apart, which is the caller's.")
      .def("load_state", &Chain::load_state, nb::arg("state"),
           "Put the chain into a saved state; ValueError if it is none of a chain like this one.")
      .def_prop_ro(
          "is_cut", [](Chain& c) { return c.chain().is_cut(); },
          "Whether run() was stopped within an iteration: the chain cannot go on.")
      .def_prop_ro("iterations", [](Chain& c) { return c.chain().iterations(); })
      .def_prop_ro("n_clusters", [](Chain& c) { return c.chain().n_clusters(); })
      .def(
          "check", [](Chain& c) { c.chain().check(1e-6); },
          "Recompute every invariant from scratch; raise if one does not hold.")
      .def(
          "log_weights",
          [](Chain& c, int row) {
            if (row < 0 || row >= c.chain().n_rows()) throw nb::index_error("row is out of range");
            auto weights = c.chain().log_weights(row);
            const std::size_t size = weights.size();
            return to_numpy(std::move(weights), {size});
          },
          nb::arg("row"), "One row's Gibbs log weights: clusters in list order, then a new one.")
      .def(
          "log_ordinates",
          [](Chain& c, std::optional<Input<double, 1>> alone) {
            auto ordinates =
                c.chain().log_ordinates(alone ? as_span(*alone) : std::span<const double>());
            const std::size_t size = ordinates.size();
            return to_numpy(std::move(ordinates), {size});
          },
          nb::arg("alone") = nb::none(),
          "log p(x_i | the other rows, their partition, u) of every row, row constants left out. "
          "Where rows have errors, given parameters of clusters that are drawn for it; `alone` "
          "then has the log densities of what has errors in a new cluster.");
}

}  // namespace mixwood::bindings
