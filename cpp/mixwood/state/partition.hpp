// A partition of the rows: which row is in which slot.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "mixwood/family/family.hpp"
#include "mixwood/state/slots.hpp"

namespace mixwood {

// Of each row how many it stands for, and whether it is marked; both empty where rows are rows.
struct RowSums {
  std::vector<double> sizes;
  std::vector<int> marks;

  double size(int row) const { return sizes.empty() ? 1 : sizes[row]; }
  int mark(int row) const { return marks.empty() ? 0 : marks[row]; }
};

template <Family F>
RowSums row_sums(const F& family) {
  RowSums sums;
  if (!is_weighted(family)) return sums;
  for (int row = 0; row < family.n_rows(); ++row) {
    sums.sizes.push_back(row_size(family, row));
    sums.marks.push_back(row_marks(family, row));
  }
  return sums;
}

class Partition : public Slots {
 public:
  // Any integer labels; slots are numbered in order of appearance.
  explicit Partition(std::span<const std::int32_t> labels, RowSums sums = {},
                     std::shared_ptr<const RowGroups> groups = nullptr)
      : Slots(std::move(groups)), sums_(std::move(sums)) {
    assign(labels);
  }

  void assign(std::span<const std::int32_t> labels) {
    const std::size_t n = labels.size();
    for (const std::int32_t label : labels)  // all of them first: a refusal changes nothing
      if (label < 0 || static_cast<std::size_t>(label) >= n)
        throw std::invalid_argument("labels must lie in 0..n-1");
    slot_of_row_.assign(n, 0);
    clear_slots(static_cast<int>(n), total());
    std::vector<int> slot_of_label(n, -1);
    for (std::size_t i = 0; i < n; ++i) {
      int& slot = slot_of_label[static_cast<std::size_t>(labels[i])];
      if (slot < 0) slot = open();
      slot_of_row_[i] = slot;
      add(slot, static_cast<int>(i));
    }
  }

  int slot_of(int row) const { return slot_of_row_[row]; }

  void move(int row, int to) {
    add_size(slot_of_row_[row], -sums_.size(row), -sums_.mark(row));
    add_size(to, sums_.size(row), sums_.mark(row));
    if (groups() != nullptr) move_groups(slot_of_row_[row], to, groups()->of_row(row));
    slot_of_row_[row] = to;
  }

  // Renumbers the slots in list order, so that none is free.
  void compact() {
    const std::vector<int> number = renumber_slots();
    for (int& slot : slot_of_row_) slot = number[slot];
  }

  // Writes labels 0..K-1 in order of appearance.
  void write_labels(std::int32_t* labels) const { write_in_order(slot_of_row_, labels); }

  template <class Archive>
  void archive(Archive& a) {
    archive_slots(a);
    a.list(slot_of_row_, static_cast<std::size_t>(n_rows()));
    if constexpr (Archive::loading) {
      for (int row = 0; row < n_rows(); ++row) {
        const int slot = slot_of_row_[row];
        a.require(slot >= 0 && slot < n_slots(), "a row is in no slot");
        add(slot, row);
      }
      check();
    }
  }

  // Debug: recounts everything and throws where an invariant does not hold.
  void check() const {
    std::vector<double> counted(n_slots(), 0);
    std::vector<int> marked(n_slots(), 0);
    for (int row = 0; row < n_rows(); ++row) {
      counted.at(slot_of_row_[row]) += sums_.size(row);
      marked.at(slot_of_row_[row]) += sums_.mark(row);
    }
    check_slots(counted, marked);
    check_groups(slot_of_row_);
  }

 private:
  void add(int slot, int row) {
    add_size(slot, sums_.size(row), sums_.mark(row));
    add_groups(slot, std::span(&row, 1));
  }
  double total() const {
    if (sums_.sizes.empty()) return static_cast<double>(slot_of_row_.size());
    return std::accumulate(sums_.sizes.begin(), sums_.sizes.end(), 0.0);
  }

  RowSums sums_;
  std::vector<int> slot_of_row_;
};

}  // namespace mixwood
