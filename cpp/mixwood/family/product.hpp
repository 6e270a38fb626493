// Rows that several families describe together, each its own columns, independent given the
// cluster:
//
//   P(X_c) = prod over parts p of P_p(X_c's columns of p, over the rows that have them)
//
// Statistic: those of the parts, one after the other. The parts are erased families.
#pragma once

#include <algorithm>
#include <span>
#include <stdexcept>
#include <vector>

#include "mixwood/family/family.hpp"
#include "mixwood/family/latent.hpp"
#include "mixwood/family/part.hpp"
#include "mixwood/numerics/kernels.hpp"
#include "mixwood/numerics/lazy_table.hpp"

namespace mixwood {

class Product {
 public:
  class Clusters;
  class Atoms;
  class Latents;

  Product(std::vector<Part> parts, int n) : n_(n), parts_(std::move(parts)) {
    offsets_.push_back(0);
    for (const Part& part : parts_)
      offsets_.push_back(offsets_.back() + part.family->statistic_size());
    if (base_size() == 0)
      alone_.fill(static_cast<std::size_t>(n),
                  [this](std::size_t row) { return compute_alone(static_cast<int>(row)); });
    else
      alone_.forget(static_cast<std::size_t>(n));
    for (int row = 0; row < n; ++row)
      if (latent_size(row) > 0) latent_rows_.push_back(row);
  }
  // A copy has the base measures and latent numbers of its parts to itself.
  Product(const Product& other)
      : n_(other.n_),
        offsets_(other.offsets_),
        alone_(other.alone_),
        latent_rows_(other.latent_rows_) {
    for (const Part& part : other.parts_) parts_.push_back(part.copy());
  }
  Product& operator=(const Product&) = delete;

  // --- the base measure: those of the parts, one after the other
  int base_size() const {
    int total = 0;
    for (const Part& part : parts_) total += part.family->base_size();
    return total;
  }
  void read_base(double* to) const {
    for (const Part& part : parts_) {
      part.family->read_base(to);
      to += part.family->base_size();
    }
  }
  void set_base(const double* base) {
    for (const Part& part : parts_) {
      if (part.family->base_size() > 0) part.family->set_base(base);
      base += part.family->base_size();
    }
    alone_.forget(static_cast<std::size_t>(n_));
  }
  double log_base() const {
    double total = 0;
    for (const Part& part : parts_)
      if (part.family->base_size() > 0) total += part.family->log_base();
    return total;
  }
  BaseMoves update_base(const ClusterStatistics& clusters, Stream& random) {
    BaseMoves moves;
    for (int p = 0; p < n_parts(); ++p) {
      if (parts_[p].family->base_size() == 0) continue;
      moves += parts_[p].family->update_base(
          {clusters.count, [&, p](int k) { return clusters.read(k) + offsets_[p]; }}, random);
    }
    alone_.forget(static_cast<std::size_t>(n_));
    return moves;
  }

  double row_term(int row) const {
    double total = 0;
    for (const Part& part : parts_) total += part.row_term(row);
    return total;
  }
  double log_rows() const {
    double total = 0;
    for (const Part& part : parts_) total += part.family->log_rows();
    return total;
  }
  void weigh_rows(std::span<const double> weights) {
    for (const Part& part : parts_) {
      std::vector<double> own(static_cast<std::size_t>(part.family->n_rows()));
      for (int row = 0; row < n_; ++row)
        if (part.place(row) >= 0) own[part.place(row)] = weights[row];
      part.family->weigh_rows(own);
    }
  }

  // --- rows with a latent part: the numbers of the parts, one after the other
  int latent_size() const {
    int total = 0;
    for (const Part& part : parts_) total += part.family->latent_size();
    return total;
  }
  int latent_size(int row) const {
    int total = 0;
    for (const Part& part : parts_) total += part.latent_size(row);
    return total;
  }
  std::span<const int> latent_rows() const { return latent_rows_; }
  void read_latent(double* to) const {
    for (const Part& part : parts_) {
      part.family->read_latent(to);
      to += part.family->latent_size();
    }
  }
  void set_latent(const double* from) {
    for (const Part& part : parts_) {
      part.family->set_latent(from);
      from += part.family->latent_size();
    }
    for (const int row : latent_rows_) alone_.forget_one(static_cast<std::size_t>(row));
  }
  void set_latent_of_row(int row, const double* from) {
    for (const Part& part : parts_) {
      if (part.latent_size(row) > 0) part.family->set_latent_of_row(part.place(row), from);
      from += part.latent_size(row);
    }
    alone_.forget_one(static_cast<std::size_t>(row));
  }

  bool redraws_at_once() const {
    return std::ranges::any_of(parts_,
                               [](const Part& part) { return part.family->redraws_at_once(); });
  }
  void redraw_latents(const ClusterStatistics& clusters, std::span<const int> cluster_of_row,
                      Stream& random) {
    for (int p = 0; p < n_parts(); ++p) {
      if (!parts_[p].family->redraws_at_once()) continue;
      std::vector<int> own(static_cast<std::size_t>(parts_[p].family->n_rows()));
      for (int row = 0; row < n_; ++row)
        if (parts_[p].place(row) >= 0) own[parts_[p].place(row)] = cluster_of_row[row];
      parts_[p].family->redraw_latents(
          {clusters.count, [&, p](int k) { return clusters.read(k) + offsets_[p]; }}, own, random);
    }
    alone_.forget(static_cast<std::size_t>(n_));
  }

  int n_rows() const { return n_; }
  // From now on rows may count as parts of one.
  void allow_parts() {
    for (const Part& part : parts_) part.family->allow_parts();
  }
  int n_parts() const { return static_cast<int>(parts_.size()); }
  const Part& part(int p) const { return parts_[p]; }
  int offset(int p) const { return offsets_[p]; }
  int statistic_size() const { return offsets_.back(); }
  bool is_count(int entry) const {
    const auto after = std::upper_bound(offsets_.begin(), offsets_.end(), entry);
    const auto p = static_cast<int>(after - offsets_.begin()) - 1;
    return parts_[p].family->is_count(entry - offsets_[p]);
  }
  double log_alone(int row) const {
    return alone_.at(static_cast<std::size_t>(row),
                     [this](std::size_t any) { return compute_alone(static_cast<int>(any)); });
  }
  bool has_atoms() const {
    return std::ranges::all_of(parts_, [](const Part& part) { return part.family->has_atoms(); });
  }

  void observe(double* s, int row) const {
    for (int p = 0; p < n_parts(); ++p) parts_[p].observe(s + offsets_[p], row);
  }
  void forget(double* s, int row) const {
    for (int p = 0; p < n_parts(); ++p) parts_[p].forget(s + offsets_[p], row);
  }
  void merge(double* s, const double* t) const {
    for (int p = 0; p < n_parts(); ++p) parts_[p].family->merge(s + offsets_[p], t + offsets_[p]);
  }
  void subtract(double* s, const double* t) const {
    for (int p = 0; p < n_parts(); ++p)
      parts_[p].family->subtract(s + offsets_[p], t + offsets_[p]);
  }
  double log_marginal(const double* s) const {
    double total = 0;
    for (int p = 0; p < n_parts(); ++p) total += parts_[p].family->log_marginal(s + offsets_[p]);
    return total;
  }

 private:
  double compute_alone(int row) const {
    double total = 0;
    for (const Part& part : parts_) total += part.log_alone(row);
    return total;
  }

  int n_;
  std::vector<Part> parts_;
  std::vector<int> offsets_;
  LazyTable alone_;
  std::vector<int> latent_rows_;
};

class Product::Clusters {
 public:
  static constexpr int rows_at_once = block_rows;

  explicit Clusters(const Product& family) : family_(family) {
    for (int p = 0; p < family.n_parts(); ++p) parts_.emplace_back(family.part(p));
  }

  void grow(int slots) {
    for (auto& part : parts_) part.grow(slots);
  }
  void clear(int slot) {
    for (auto& part : parts_) part.clear(slot);
  }
  void observe(int slot, int row) {
    for (auto& part : parts_) part.observe(slot, row);
  }
  void forget(int slot, int row) {
    for (auto& part : parts_) part.forget(slot, row);
  }
  void assign(int slot, const double* s) {
    for (std::size_t p = 0; p < parts_.size(); ++p) parts_[p].assign(slot, in_part(s, p));
  }
  void merge(int slot, const double* s) {
    for (std::size_t p = 0; p < parts_.size(); ++p) parts_[p].merge(slot, in_part(s, p));
  }
  void subtract(int slot, const double* s) {
    for (std::size_t p = 0; p < parts_.size(); ++p) parts_[p].subtract(slot, in_part(s, p));
  }
  void read(int slot, double* s) const {
    for (std::size_t p = 0; p < parts_.size(); ++p)
      parts_[p].read(slot, s + family_.offset(static_cast<int>(p)));
  }
  void take_base(std::span<const int> slots) {
    for (auto& part : parts_) part.take_base(slots);
  }
  double log_marginal(int slot) {
    double total = 0;
    for (auto& part : parts_) total += part.log_marginal(slot);
    return total;
  }

  void load(std::span<const int> rows) {
    for (auto& part : parts_) part.load(rows);
  }
  void score(std::span<const int> slots, double* scores) {
    for (const int slot : slots)
      std::fill_n(scores + static_cast<std::size_t>(slot) * block_rows, block_rows, 0.0);
    for (auto& part : parts_) part.add_scores(slots, scores);
  }
  double score_without(int slot, int b) {
    double total = 0;
    for (auto& part : parts_) total += part.score_without(slot, b);
    return total;
  }

  template <class Archive>
  void archive(Archive& a, int slot, const double* fresh) {
    for (std::size_t p = 0; p < parts_.size(); ++p)
      parts_[p].archive(a, slot, fresh == nullptr ? nullptr : in_part(fresh, p));
  }

  void score_block(const double* block, std::span<const int> slots, double* scores) {
    for (const int slot : slots) scores[slot] = 0;
    for (std::size_t p = 0; p < parts_.size(); ++p)
      parts_[p].add_block_scores(in_part(block, p), slots, scores);
  }
  double score_block_without(int slot, const double* block) {
    double total = 0;
    for (std::size_t p = 0; p < parts_.size(); ++p)
      total += parts_[p].score_block_without(slot, in_part(block, p));
    return total;
  }

 private:
  const double* in_part(const double* s, std::size_t p) const {
    return s + family_.offset(static_cast<int>(p));
  }

  const Product& family_;
  std::vector<PartClusters> parts_;
};

class Product::Atoms {
 public:
  static constexpr int rows_at_once = block_rows;

  explicit Atoms(const Product& family) : family_(family) {
    if (!family.has_atoms())
      throw std::invalid_argument("a part cannot draw the atoms that the sampler needs");
    for (int p = 0; p < family.n_parts(); ++p) parts_.emplace_back(family.part(p));
  }

  void resize(int count) {
    for (auto& part : parts_) part.resize(count);
  }
  void draw(int atom, const double* s, Stream& random) {
    for (std::size_t p = 0; p < parts_.size(); ++p)
      parts_[p].draw(atom, s + family_.offset(static_cast<int>(p)), random);
  }
  void load(std::span<const int> rows) {
    for (auto& part : parts_) part.load(rows);
  }
  void score(int count, double* scores) {
    std::fill_n(scores, static_cast<std::size_t>(count) * block_rows, 0.0);
    for (auto& part : parts_) part.add_scores(count, scores);
  }

 private:
  const Product& family_;
  std::vector<PartAtoms> parts_;
};

class Product::Latents {
 public:
  explicit Latents(const Product& family) : family_(family) {
    for (int p = 0; p < family.n_parts(); ++p) parts_.emplace_back(family.part(p));
  }

  // Of the parts some are given their parameters, the others the rows of their clusters.
  bool given_atoms() const {
    return std::ranges::any_of(parts_, [](const PartLatents& part) { return part.given_atoms(); });
  }
  void draw_atom(int slot, Stream& random) {
    for (auto& part : parts_) part.draw_atom(slot, random);
  }

  void start(int slots) {
    for (auto& part : parts_) part.start(slots);
  }
  void assign(int slot, const double* s) {
    for (std::size_t p = 0; p < parts_.size(); ++p)
      parts_[p].assign(slot, s + family_.offset(static_cast<int>(p)));
  }
  void read(int slot, double* s) const {
    for (std::size_t p = 0; p < parts_.size(); ++p)
      parts_[p].read(slot, s + family_.offset(static_cast<int>(p)));
  }
  void load(int row) {
    for (auto& part : parts_) part.load(row);
  }
  double score(int slot) {
    double total = 0;
    for (auto& part : parts_) total += part.score(slot);
    return total;
  }
  double score_without(int slot) {
    double total = 0;
    for (auto& part : parts_) total += part.score_without(slot);
    return total;
  }
  double score_alone() {
    double total = 0;
    for (auto& part : parts_) total += part.score_alone();
    return total;
  }
  void forget(int slot) {
    for (auto& part : parts_) part.forget(slot);
  }
  void draw(int slot, Stream& random, double* to) {
    for (auto& part : parts_) to = part.draw(slot, random, to);
  }
  void observe(int slot) {
    for (auto& part : parts_) part.observe(slot);
  }

 private:
  const Product& family_;
  std::vector<PartLatents> parts_;
};

static_assert(LatentFamily<Product> && AtomFamily<Product> &&
              ClusterScores<Product::Clusters, Product>);

}  // namespace mixwood
