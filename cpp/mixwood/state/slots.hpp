// The clusters of a partition, without the question of who is in which. Clusters live in slots,
// which stay where they are while the cluster lives; `active` lists the slots in use in the order
// in which a draw runs through them.
#pragma once

#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "mixwood/prior/groups.hpp"

namespace mixwood {

class Slots {
 public:
  int n_rows() const { return n_rows_; }
  // How many rows are in the clusters if one that stands for many counts as many.
  double n_points() const { return n_points_; }
  int n_clusters() const { return static_cast<int>(active_.size()); }
  int n_slots() const { return static_cast<int>(sizes_.size()); }
  double size(int slot) const { return sizes_[slot]; }
  // Whether rows with so many marks, none of them in the cluster, may join it.
  bool may_join(int slot, int marks) const { return marks_[slot] + marks <= 1; }
  int marks(int slot) const { return marks_[slot]; }
  int position(int slot) const { return position_[slot]; }
  const std::vector<int>& active() const { return active_; }
  // Where rows come in groups: which, and how many of each a cluster has.
  const RowGroups* groups() const { return groups_.get(); }
  const ClusterGroups& cluster_groups() const { return cluster_groups_; }

  // Opens an empty cluster at the end of the list, in a free slot if there is one.
  int open() {
    int slot;
    if (free_.empty()) {
      slot = n_slots();
      sizes_.push_back(0);
      marks_.push_back(0);
      position_.push_back(0);
    } else {
      slot = free_.back();
      free_.pop_back();
    }
    if (groups_) cluster_groups_.grow(n_slots());
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

 protected:
  explicit Slots(std::shared_ptr<const RowGroups> groups = nullptr) : groups_(std::move(groups)) {}

  void clear_slots(int n_rows, double n_points) {
    n_rows_ = n_rows;
    n_points_ = n_points;
    sizes_.clear();
    marks_.clear();
    active_.clear();
    position_.clear();
    free_.clear();
    if (groups_) cluster_groups_.clear(groups_->n_groups());
  }

  void add_size(int slot, double points, int marks) {
    sizes_[slot] += points;
    marks_[slot] += marks;
  }
  void add_groups(int slot, std::span<const int> rows) {
    if (!groups_) return;
    for (const GroupCount& entry : group_sum_(*groups_, rows)) cluster_groups_.add(slot, entry);
  }
  void move_groups(int from, int to, std::span<const GroupCount> counts) {
    for (const GroupCount& entry : counts) {
      cluster_groups_.take(from, entry);
      cluster_groups_.add(to, entry);
    }
  }

  // Renumbers the slots in list order, so that none is free; returns each old slot's new number.
  std::vector<int> renumber_slots() {
    if (groups_) cluster_groups_.renumber(active_);
    std::vector<int> number = position_;
    std::vector<double> sizes(active_.size());
    std::vector<int> marks(active_.size());
    for (std::size_t a = 0; a < active_.size(); ++a) {
      sizes[a] = sizes_[active_[a]];
      marks[a] = marks_[active_[a]];
    }
    sizes_ = sizes;
    marks_ = marks;
    position_.resize(active_.size());
    std::iota(position_.begin(), position_.end(), 0);
    active_ = position_;
    free_.clear();
    return number;
  }

  // The slots in use and the free ones, in their order. Who is in which slot is for the derived
  // class: after loading, all are empty.
  template <class Archive>
  void archive_slots(Archive& a) {
    const auto n = static_cast<std::size_t>(n_rows_);
    a.list(active_, 1, n);
    a.list(free_, 0, 2 * n + 64);
    if constexpr (Archive::loading) {
      const std::size_t count = active_.size() + free_.size();
      sizes_.assign(count, 0);
      marks_.assign(count, 0);
      position_.assign(count, 0);
      std::vector<char> seen(count, 0);
      for (const std::vector<int>* slots : {&active_, &free_})
        for (const int slot : *slots) {
          a.require(slot >= 0 && slot < n_slots() && !seen[slot], "a slot is listed twice");
          seen[slot] = 1;
        }
      for (std::size_t k = 0; k < active_.size(); ++k) position_[active_[k]] = static_cast<int>(k);
      if (groups_) {
        cluster_groups_.clear(groups_->n_groups());
        cluster_groups_.grow(n_slots());
      }
    }
  }

  // Writes labels 0..K-1 in order of appearance, given the slot of each row.
  void write_in_order(const std::vector<int>& slots, std::int32_t* labels) const {
    std::vector<std::int32_t> number(sizes_.size(), -1);
    std::int32_t next = 0;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      std::int32_t& label = number[slots[i]];
      if (label < 0) label = next++;
      labels[i] = label;
    }
  }

  // Debug: likewise, given the slot of each row.
  void check_groups(const std::vector<int>& slots) const {
    if (!groups_) return;
    ClusterGroups counted;
    counted.clear(groups_->n_groups());
    counted.grow(n_slots());
    for (std::size_t row = 0; row < slots.size(); ++row)
      for (const GroupCount& entry : groups_->of_row(static_cast<int>(row)))
        counted.add(slots[row], entry);
    if (counted != cluster_groups_)
      throw std::logic_error("partition: the groups of a cluster do not match its rows");
  }

  // Debug: `counted` are the sizes and marks counted afresh; throws where an invariant does not
  // hold.
  void check_slots(const std::vector<double>& counted, const std::vector<int>& marked) const {
    if (counted != sizes_) throw std::logic_error("partition: sizes do not match the rows");
    if (marked != marks_) throw std::logic_error("partition: marks do not match the rows");
    for (const int marks : marks_)
      if (marks > 1) throw std::logic_error("partition: rows that stay apart are together");
    std::size_t open_slots = 0;
    for (const double size : sizes_) open_slots += size > 0;
    if (open_slots != active_.size() || active_.size() + free_.size() != sizes_.size())
      throw std::logic_error("partition: active and free slots do not add up");
    for (std::size_t a = 0; a < active_.size(); ++a)
      if (position_.at(active_[a]) != static_cast<int>(a) || sizes_.at(active_[a]) == 0)
        throw std::logic_error("partition: a listed cluster is empty or out of place");
  }

 private:
  std::shared_ptr<const RowGroups> groups_;
  ClusterGroups cluster_groups_;
  GroupSum group_sum_;
  int n_rows_ = 0;
  double n_points_ = 0;
  std::vector<double> sizes_;
  std::vector<int> marks_;  // how many of a cluster's rows are marked: at most one
  std::vector<int> active_;
  std::vector<int> position_;
  std::vector<int> free_;
};

}  // namespace mixwood
