// Rows that come in groups (patients, batches): which group each is of, and how many rows of each
// group each cluster has.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

namespace mixwood {

struct GroupCount {
  int group;
  double count;
};

// The groups of the rows. A row that stands for many may have several.
class RowGroups {
 public:
  // `counts` has those of all rows one after another, row i's before `ends[i]`; without `ends`,
  // each row has one.
  RowGroups(int n_groups, std::vector<GroupCount> counts, std::vector<std::size_t> ends = {})
      : sizes_(n_groups, 0.0), counts_(std::move(counts)), ends_(std::move(ends)) {
    for (const GroupCount& entry : counts_) {
      if (entry.group < 0 || entry.group >= n_groups)
        throw std::invalid_argument("groups must lie in 0..J-1");
      sizes_[entry.group] += entry.count;
    }
    for (const double size : sizes_)
      if (!(size > 0)) throw std::invalid_argument("every group must have a row");
  }

  int n_groups() const { return static_cast<int>(sizes_.size()); }
  int n_rows() const { return static_cast<int>(ends_.empty() ? counts_.size() : ends_.size()); }
  double size(int group) const { return sizes_[group]; }
  std::span<const GroupCount> of_row(int row) const {
    const std::span<const GroupCount> all(counts_);
    if (ends_.empty()) return all.subspan(row, 1);
    const std::size_t start = row == 0 ? 0 : ends_[row - 1];
    return all.subspan(start, ends_[row] - start);
  }

 private:
  std::vector<double> sizes_;
  std::vector<GroupCount> counts_;
  std::vector<std::size_t> ends_;
};

// How many rows of each group each cluster has. Only what is not 0 is kept, for each cluster and
// for each group, so that it takes no more room than the rows do.
class ClusterGroups {
 public:
  struct Entry {
    int key;  // the group or the slot
    double count;
    bool operator==(const Entry&) const = default;
  };
  using List = std::vector<Entry>;  // by rising key

  void clear(int n_groups) {
    by_group_.assign(n_groups, {});
    by_slot_.clear();
  }
  void grow(int n_slots) {
    if (static_cast<int>(by_slot_.size()) < n_slots) by_slot_.resize(n_slots);
  }

  const List& of_slot(int slot) const { return by_slot_[slot]; }
  const List& of_group(int group) const { return by_group_[group]; }

  void add(int slot, const GroupCount& entry) { add(slot, entry.group, entry.count); }
  void take(int slot, const GroupCount& entry) { add(slot, entry.group, -entry.count); }

  // The slots `kept` get the numbers 0, 1, ...; the others are empty.
  void renumber(const std::vector<int>& kept) {
    std::vector<List> by_slot;
    for (List& list : by_group_) list.clear();
    for (const int slot : kept) {
      for (const Entry& entry : by_slot_[slot])
        by_group_[entry.key].push_back({static_cast<int>(by_slot.size()), entry.count});
      by_slot.push_back(std::move(by_slot_[slot]));
    }
    by_slot_ = std::move(by_slot);
  }

  bool operator==(const ClusterGroups&) const = default;

 private:
  void add(int slot, int group, double count) {
    add(by_slot_[slot], group, count);
    add(by_group_[group], slot, count);
  }

  static void add(List& list, int key, double count) {
    const auto place = std::lower_bound(list.begin(), list.end(), key,
                                        [](const Entry& e, int wanted) { return e.key < wanted; });
    if (place == list.end() || place->key != key) {
      list.insert(place, {key, count});
      return;
    }
    place->count += count;
    if (place->count == 0) list.erase(place);
  }

  std::vector<List> by_slot_, by_group_;
};

// Adds up the groups of several rows.
class GroupSum {
 public:
  // The counts of these rows together; good until the next call.
  std::span<const GroupCount> operator()(const RowGroups& groups, std::span<const int> rows) {
    if (rows.size() == 1) return groups.of_row(rows[0]);
    counts_.clear();
    place_.resize(groups.n_groups(), none);
    for (const int row : rows)
      for (const GroupCount& entry : groups.of_row(row)) {
        int& place = place_[entry.group];
        if (place == none) {
          place = static_cast<int>(counts_.size());
          counts_.push_back(entry);
        } else {
          counts_[place].count += entry.count;
        }
      }
    for (const GroupCount& entry : counts_) place_[entry.group] = none;
    return counts_;
  }

 private:
  static constexpr int none = -1;

  std::vector<GroupCount> counts_;
  std::vector<int> place_;  // of each group among the counts; `none` between uses
};

}  // namespace mixwood
