// Rows of numbers some of which may be missing: those are filled in, and may change. Where nothing
// is missing, the rows are the caller's own.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

namespace mixwood {

class FilledRows {
 public:
  // `rows` is n x d, kept by the caller; `fill` has a number for each missing entry (NaN) of them,
  // row by row.
  FilledRows(std::span<const double> rows, int n, int d, std::span<const double> fill)
      : d_(d), data_(rows.data()) {
    if (fill.empty() && std::ranges::none_of(rows, [](double x) { return std::isnan(x); })) return;
    filled_.assign(rows.begin(), rows.end());
    data_ = filled_.data();
    Holes holes;
    holes.number.assign(static_cast<std::size_t>(n), -1);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < d; ++j) {
        if (!std::isnan(rows[place(i, j)])) continue;
        if (holes.number[i] < 0) {
          holes.number[i] = static_cast<int>(holes.rows.size());
          holes.rows.push_back(i);
          holes.starts.push_back(static_cast<int>(holes.columns.size()));
        }
        holes.columns.push_back(j);
      }
    if (holes.columns.size() != fill.size())
      throw std::invalid_argument("fill must have one number for each missing entry");
    holes.starts.push_back(static_cast<int>(holes.columns.size()));
    holes_ = std::make_shared<const Holes>(std::move(holes));
    set(fill.data());
  }
  FilledRows(const FilledRows& other)
      : d_(other.d_), filled_(other.filled_), data_(other.data_), holes_(other.holes_) {
    if (holes_) data_ = filled_.data();
  }
  FilledRows& operator=(const FilledRows&) = delete;

  const double* row(int i) const { return data_ + place(i, 0); }

  // How many entries are missing; and the rows that lack some.
  int size() const { return holes_ ? static_cast<int>(holes_->columns.size()) : 0; }
  std::span<const int> rows() const {
    return holes_ ? std::span<const int>(holes_->rows) : std::span<const int>();
  }
  // Which columns a row lacks.
  std::span<const int> missing(int i) const {
    const int k = holes_ ? holes_->number[i] : -1;
    if (k < 0) return {};
    const int first = holes_->starts[k];
    return std::span<const int>(holes_->columns).subspan(first, holes_->starts[k + 1] - first);
  }

  // What is filled in, row by row.
  void read(double* to) const {
    for (const int i : rows())
      for (const int j : missing(i)) *to++ = filled_[place(i, j)];
  }
  void set(const double* from) {
    for (const int i : rows()) {
      set_row(i, from);
      from += missing(i).size();
    }
  }
  void set_row(int i, const double* from) {
    for (const int j : missing(i)) {
      if (!std::isfinite(*from)) throw std::invalid_argument("a missing entry must become finite");
      filled_[place(i, j)] = *from++;
    }
  }

 private:
  struct Holes {
    std::vector<int> rows, starts, columns;
    std::vector<int> number;  // of a row among those that lack some, or -1
  };

  std::size_t place(int i, int j) const { return static_cast<std::size_t>(i) * d_ + j; }

  int d_;
  std::vector<double> filled_;  // all rows, where some entries are missing
  const double* data_;
  std::shared_ptr<const Holes> holes_;
};

}  // namespace mixwood
