// Losses between two partitions of the same items. With cluster sizes n_k and m_j, cells n_kj of
// their contingency table and a convex f with f(0) = 0, both are
//
//   {sum_k f(n_k) + sum_j f(m_j) - 2 sum_kj f(n_kj)} / Z:
//
// variation of information, in bits, has f(x) = x log2 x and Z = n; Binder's loss with equal costs
// has f(x) = x^2 and Z = n^2 (the share of ordered pairs on which the two disagree).
//
// An item may stand for several rows that stay together: then n, n_k, m_j and n_kj count rows, and
// the losses are those of the partitions of the rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace mixwood {

enum class LossKind { variation_of_information, binder };

// f, and what it grows by when sizes are put together; tabulated where sizes are not too large.
class LossTable {
 public:
  // For items of these sizes, each at least 1, whose sum is n.
  LossTable(LossKind kind, std::span<const std::int32_t> sizes)
      : bits_(kind == LossKind::variation_of_information), sizes_(sizes.begin(), sizes.end()) {
    const int n = std::accumulate(sizes.begin(), sizes.end(), 0);
    const int last = std::min(n, largest_tabulated);
    f_.reserve(static_cast<std::size_t>(last) + 1);
    for (int size = 0; size <= last; ++size) f_.push_back(computed(size));
    step_.resize(static_cast<std::size_t>(last));
    for (std::size_t x = 0; x < step_.size(); ++x) step_[x] = f_[x + 1] - f_[x];
    const double mean = n / static_cast<double>(sizes.size());
    scale_ = bits_ ? static_cast<double>(n) : static_cast<double>(n) * n;
    unit_ = bits_ ? mean : mean * mean;
  }

  // How many rows an item stands for.
  int size(int item) const { return sizes_[static_cast<std::size_t>(item)]; }
  std::span<const std::int32_t> sizes() const { return sizes_; }

  double f(int size) const {
    return size <= largest_tabulated ? f_[static_cast<std::size_t>(size)] : computed(size);
  }
  // f(size + more) - f(size) - f(more), which is not negative and grows with both.
  double together(int size, int more) const {
    if (more == 1 && size < largest_tabulated) return step_[static_cast<std::size_t>(size)] - f_[1];
    return f(size + more) - f(size) - f(more);
  }
  double scale() const { return scale_; }
  // What one item of the mean size is to f: 1 where all sizes are.
  double unit() const { return unit_; }

 private:
  static constexpr int largest_tabulated = 1 << 20;

  double computed(int size) const {
    const double x = size;
    return bits_ ? (size > 1 ? x * std::log2(x) : 0.0) : x * x;
  }

  bool bits_;
  std::vector<std::int32_t> sizes_;
  std::vector<double> f_;
  std::vector<double> step_;
  double scale_;
  double unit_;
};

// The loss of one partition against any other; labels from 0 to n-1.
class LossFrom {
 public:
  LossFrom(std::span<const std::int32_t> labels, const LossTable& table)
      : table_(table), members_(labels.size()), end_(labels.size() + 1), count_(labels.size()) {
    for (const std::int32_t label : labels) ++end_[static_cast<std::size_t>(label) + 1];
    for (std::size_t k = 0; k < labels.size(); ++k) end_[k + 1] += end_[k];
    std::vector<std::size_t> next(end_.begin(), end_.end() - 1);
    for (std::size_t i = 0; i < labels.size(); ++i)
      members_[next[static_cast<std::size_t>(labels[i])]++] = i;
    own_ = sum_of_sizes(labels);
  }

  double to(std::span<const std::int32_t> other) {
    double cells = 0;
    for (std::size_t k = 0; k + 1 < end_.size(); ++k)
      cells += sum_of_f(std::span(members_).subspan(end_[k], end_[k + 1] - end_[k]), other);
    // Rounding may leave a tiny negative number where the partitions are equal.
    return std::max(0.0, (own_ + sum_of_sizes(other) - 2 * cells) / table_.scale());
  }

 private:
  double sum_of_sizes(std::span<const std::int32_t> labels) {
    for (std::size_t i = 0; i < labels.size(); ++i)
      count_[static_cast<std::size_t>(labels[i])] += table_.sizes()[i];
    double sum = 0;
    for (std::int32_t& count : count_) {
      sum += table_.f(count);
      count = 0;
    }
    return sum;
  }

  double sum_of_f(std::span<const std::size_t> members, std::span<const std::int32_t> other) {
    for (const std::size_t i : members)
      count_[static_cast<std::size_t>(other[i])] += table_.sizes()[i];
    double sum = 0;
    for (const std::size_t i : members) {
      std::int32_t& count = count_[static_cast<std::size_t>(other[i])];
      sum += table_.f(count);
      count = 0;  // counted once
    }
    return sum;
  }

  const LossTable& table_;
  double own_ = 0;
  std::vector<std::size_t> members_;  // items, cluster by cluster
  std::vector<std::size_t> end_;
  std::vector<std::int32_t> count_;
};

}  // namespace mixwood
