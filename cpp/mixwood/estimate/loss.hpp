// Losses between two partitions of the same items. With cluster sizes n_k and m_j, cells n_kj of
// their contingency table and a convex f with f(0) = 0, both are
//
//   {sum_k f(n_k) + sum_j f(m_j) - 2 sum_kj f(n_kj)} / Z:
//
// variation of information, in bits, has f(x) = x log2 x and Z = n; Binder's loss with equal costs
// has f(x) = x^2 and Z = n^2 (the share of ordered pairs on which the two disagree).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mixwood {

enum class LossKind { variation_of_information, binder };

// f and its differences, tabulated up to n.
class LossTable {
 public:
  LossTable(LossKind kind, int n) : step_(static_cast<std::size_t>(n)) {
    const bool bits = kind == LossKind::variation_of_information;
    f_.reserve(static_cast<std::size_t>(n) + 1);
    for (int size = 0; size <= n; ++size) {
      const double x = size;
      f_.push_back(bits ? (size > 1 ? x * std::log2(x) : 0.0) : x * x);
    }
    for (std::size_t x = 0; x < step_.size(); ++x) step_[x] = f_[x + 1] - f_[x];
    scale_ = bits ? static_cast<double>(n) : static_cast<double>(n) * n;
  }

  double f(int size) const { return f_[static_cast<std::size_t>(size)]; }
  // f(size + 1) - f(size), which increases with size.
  double step(int size) const { return step_[static_cast<std::size_t>(size)]; }
  double scale() const { return scale_; }

 private:
  std::vector<double> f_;
  std::vector<double> step_;
  double scale_;
};

// The loss of one partition against any other; labels from 0 to n-1.
class LossFrom {
 public:
  LossFrom(std::span<const std::int32_t> labels, const LossTable& table)
      : table_(table), members_(labels.size()), end_(labels.size() + 1), count_(labels.size()) {
    for (const std::int32_t label : labels) ++end_[static_cast<std::size_t>(label) + 1];
    for (std::size_t k = 0; k < labels.size(); ++k) {
      own_ += table.f(static_cast<int>(end_[k + 1]));
      end_[k + 1] += end_[k];
    }
    std::vector<std::size_t> next(end_.begin(), end_.end() - 1);
    for (std::size_t i = 0; i < labels.size(); ++i)
      members_[next[static_cast<std::size_t>(labels[i])]++] = i;
  }

  double to(std::span<const std::int32_t> other) {
    double cells = 0;
    for (std::size_t k = 0; k + 1 < end_.size(); ++k)
      cells += sum_of_f(std::span(members_).subspan(end_[k], end_[k + 1] - end_[k]), other);
    std::ranges::fill(count_, 0);
    for (const std::int32_t label : other) ++count_[static_cast<std::size_t>(label)];
    double sizes = 0;
    for (std::int32_t& count : count_) {
      sizes += table_.f(count);
      count = 0;
    }
    // Rounding may leave a tiny negative number where the partitions are equal.
    return std::max(0.0, (own_ + sizes - 2 * cells) / table_.scale());
  }

 private:
  double sum_of_f(std::span<const std::size_t> members, std::span<const std::int32_t> other) {
    for (const std::size_t i : members) ++count_[static_cast<std::size_t>(other[i])];
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
