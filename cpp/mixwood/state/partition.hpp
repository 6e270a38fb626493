// A partition of the rows. Clusters live in slots, which stay where they are while the cluster
// lives; `active` lists the slots in use in the order in which a draw runs through them.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

namespace mixwood {

class Partition {
 public:
  // Any integer labels; slots are numbered in order of appearance.
  explicit Partition(std::span<const std::int32_t> labels) { assign(labels); }

  void assign(std::span<const std::int32_t> labels) {
    const std::size_t n = labels.size();
    for (const std::int32_t label : labels)  // all of them first: a refusal changes nothing
      if (label < 0 || static_cast<std::size_t>(label) >= n)
        throw std::invalid_argument("labels must lie in 0..n-1");
    slot_of_row_.assign(n, 0);
    sizes_.clear();
    active_.clear();
    position_.clear();
    free_.clear();
    std::vector<int> slot_of_label(n, -1);
    for (std::size_t i = 0; i < n; ++i) {
      int& slot = slot_of_label[static_cast<std::size_t>(labels[i])];
      if (slot < 0) slot = open();
      slot_of_row_[i] = slot;
      ++sizes_[slot];
    }
  }

  int n_rows() const { return static_cast<int>(slot_of_row_.size()); }
  int n_clusters() const { return static_cast<int>(active_.size()); }
  int n_slots() const { return static_cast<int>(sizes_.size()); }
  int slot_of(int row) const { return slot_of_row_[row]; }
  int size(int slot) const { return sizes_[slot]; }
  int position(int slot) const { return position_[slot]; }
  const std::vector<int>& active() const { return active_; }

  // Opens an empty cluster at the end of the list, in a free slot if there is one.
  int open() {
    int slot;
    if (free_.empty()) {
      slot = n_slots();
      sizes_.push_back(0);
      position_.push_back(0);
    } else {
      slot = free_.back();
      free_.pop_back();
    }
    position_[slot] = n_clusters();
    active_.push_back(slot);
    return slot;
  }

  // Closes an empty cluster; the last of the list takes its place there.
  void close(int slot) {
    const int hole = position_[slot];
    const int last = active_.back();
    active_[hole] = last;
    position_[last] = hole;
    active_.pop_back();
    free_.push_back(slot);
  }

  void move(int row, int to) {
    --sizes_[slot_of_row_[row]];
    ++sizes_[to];
    slot_of_row_[row] = to;
  }

  // Renumbers the slots in list order, so that none is free.
  void compact() {
    for (int& slot : slot_of_row_) slot = position_[slot];
    std::vector<int> sizes(active_.size());
    for (std::size_t a = 0; a < active_.size(); ++a) sizes[a] = sizes_[active_[a]];
    sizes_ = sizes;
    position_.resize(active_.size());
    std::iota(position_.begin(), position_.end(), 0);
    active_ = position_;
    free_.clear();
  }

  // Writes labels 0..K-1 in order of appearance.
  void write_labels(std::int32_t* labels) const {
    std::vector<std::int32_t> number(sizes_.size(), -1);
    std::int32_t next = 0;
    for (std::size_t i = 0; i < slot_of_row_.size(); ++i) {
      std::int32_t& label = number[slot_of_row_[i]];
      if (label < 0) label = next++;
      labels[i] = label;
    }
  }

  // Debug: recounts everything and throws where the books are wrong.
  void check() const {
    std::vector<int> counted(sizes_.size(), 0);
    for (const int slot : slot_of_row_) ++counted.at(slot);
    if (counted != sizes_) throw std::logic_error("partition: sizes do not match the rows");
    std::size_t open_slots = 0;
    for (std::size_t slot = 0; slot < sizes_.size(); ++slot) open_slots += sizes_[slot] > 0;
    if (open_slots != active_.size() || active_.size() + free_.size() != sizes_.size())
      throw std::logic_error("partition: active and free slots do not add up");
    for (std::size_t a = 0; a < active_.size(); ++a)
      if (position_.at(active_[a]) != static_cast<int>(a) || sizes_.at(active_[a]) == 0)
        throw std::logic_error("partition: a listed cluster is empty or out of place");
  }

 private:
  std::vector<int> slot_of_row_;
  std::vector<int> sizes_;
  std::vector<int> active_;
  std::vector<int> position_;
  std::vector<int> free_;
};

}  // namespace mixwood
