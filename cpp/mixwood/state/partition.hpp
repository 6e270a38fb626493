// A partition of the rows: which row is in which slot.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "mixwood/state/slots.hpp"

namespace mixwood {

class Partition : public Slots {
 public:
  // Any integer labels; slots are numbered in order of appearance.
  explicit Partition(std::span<const std::int32_t> labels) { assign(labels); }

  void assign(std::span<const std::int32_t> labels) {
    const std::size_t n = labels.size();
    for (const std::int32_t label : labels)  // all of them first: a refusal changes nothing
      if (label < 0 || static_cast<std::size_t>(label) >= n)
        throw std::invalid_argument("labels must lie in 0..n-1");
    slot_of_row_.assign(n, 0);
    clear_slots(static_cast<int>(n));
    std::vector<int> slot_of_label(n, -1);
    for (std::size_t i = 0; i < n; ++i) {
      int& slot = slot_of_label[static_cast<std::size_t>(labels[i])];
      if (slot < 0) slot = open();
      slot_of_row_[i] = slot;
      add_size(slot, 1);
    }
  }

  int slot_of(int row) const { return slot_of_row_[row]; }

  void move(int row, int to) {
    add_size(slot_of_row_[row], -1);
    add_size(to, 1);
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
      for (const int slot : slot_of_row_) {
        a.require(slot >= 0 && slot < n_slots(), "a row is in no slot");
        add_size(slot, 1);
      }
      check();
    }
  }

  // Debug: recounts everything and throws where an invariant does not hold.
  void check() const {
    std::vector<int> counted(n_slots(), 0);
    for (const int slot : slot_of_row_) ++counted.at(slot);
    check_slots(counted);
  }

 private:
  std::vector<int> slot_of_row_;
};

}  // namespace mixwood
