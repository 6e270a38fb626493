// What is read from a forest, in flat arrays: see export.hpp.
#pragma once

#include <cstdint>
#include <vector>

namespace mixwood {

struct FlatTree {
  std::vector<std::int32_t> left, right;
  std::vector<std::int64_t> size, row;
  std::vector<double> log_marginal, log_one, log_tree;
};

// Which leaf each row is in, and which tree each leaf.
struct FlatLeaves {
  std::vector<std::int32_t> tree;
  std::vector<std::int64_t> leaf_of_row;
};

// What weighted leaves are made of, leaf by leaf.
struct FlatSums {
  std::vector<std::int64_t> size;
  std::vector<double> log_apart, weight, statistics;
};

}  // namespace mixwood
