// See buckets.hpp.
#include "mixwood/tree/buckets.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "mixwood/memory.hpp"
#include "mixwood/parallel.hpp"

namespace mixwood {

namespace {

constexpr std::size_t fewest_divided = 256;  // rows of a bucket that is divided again
constexpr int coarse_rows_below = 4;         // at most, of a node that is a bucket
constexpr std::size_t most_roots = 64;       // coarse trees that every row is compared with
constexpr int parts_at_a_time = 16;          // forests of buckets that wait to be taken over

using Buckets = std::vector<std::vector<int>>;

// The nodes of a coarse forest down to the buckets, in flat arrays.
class Router {
 public:
  Router(const ErasedFamily& family, Forest& coarse) : family_(family) {
    for (const int root : coarse.trees()) roots_.push_back(add(coarse, root));
    // Children are added when their parent is looked at: its number is known then.
    for (std::size_t k = 0; k < nodes_.size(); ++k) {
      const int here = nodes_[k].coarse;
      if (coarse.nodes().is_leaf(here) || coarse.nodes().size[here] <= coarse_rows_below) {
        nodes_[k].bucket = n_buckets_++;
        continue;
      }
      nodes_[k].is_one_cluster = coarse.log_dissimilarity(here) <= 0;
      const int left = add(coarse, coarse.nodes().left[here]);
      const int right = add(coarse, coarse.nodes().right[here]);
      nodes_[k].left = left;
      nodes_[k].right = right;
    }
  }

  int n_buckets() const { return n_buckets_; }

  // Sorts rows into the buckets.
  void operator()(std::span<const int> rows, Buckets& buckets) const {
    buckets.resize(static_cast<std::size_t>(n_buckets_));
    ErasedFamily::Clusters clusters(family_);
    std::vector<std::pair<int, std::vector<int>>> waiting = to_roots(clusters, rows);
    while (!waiting.empty()) {
      auto [node, here] = std::move(waiting.back());
      waiting.pop_back();
      if (here.empty()) continue;
      if (nodes_[node].bucket >= 0) {
        buckets[nodes_[node].bucket] = std::move(here);
        continue;
      }
      auto [left, right] = to_children(clusters, nodes_[node], here);
      waiting.emplace_back(nodes_[node].left, std::move(left));
      waiting.emplace_back(nodes_[node].right, std::move(right));
    }
  }

 private:
  struct Node {
    int coarse;
    double log_size, typical;  // what its own rows have on average, against log P(x)
    int left = -1, right = -1, bucket = -1;
    bool is_one_cluster = true;
  };

  int add(Forest& coarse, int node) {
    const Arena& nodes = coarse.nodes();
    const double size = nodes.size[node];
    nodes_.push_back({.coarse = node,
                      .log_size = std::log(size),
                      .typical = (nodes.log_marginal[node] - nodes.log_apart[node]) / size});
    const double* s = coarse.statistic(node);
    statistics_.insert(statistics_.end(), s, s + family_.statistic_size());
    return static_cast<int>(nodes_.size()) - 1;
  }

  void assign(ErasedFamily::Clusters& clusters, int slot, int node) const {
    clusters.assign(slot,
                    statistics_.data() + static_cast<std::size_t>(node) *
                                             static_cast<std::size_t>(family_.statistic_size()));
  }

  // Calls visit(row, b, scores) with scores[slot * rows_at_once + b].
  template <class Visit>
  static void each_scored(ErasedFamily::Clusters& clusters, int slots, std::span<const int> rows,
                          Visit&& visit) {
    const auto block = static_cast<std::size_t>(clusters.rows_at_once);
    std::vector<int> all(static_cast<std::size_t>(slots));
    std::iota(all.begin(), all.end(), 0);
    std::vector<double> scores(all.size() * block);
    for (std::size_t first = 0; first < rows.size(); first += block) {
      const auto some = rows.subspan(first, std::min(block, rows.size() - first));
      clusters.load(some);
      clusters.score(all, scores.data());
      for (std::size_t b = 0; b < some.size(); ++b) visit(some[b], b, scores.data());
    }
  }

  std::vector<std::pair<int, std::vector<int>>> to_roots(ErasedFamily::Clusters& clusters,
                                                         std::span<const int> rows) const {
    const int count = static_cast<int>(roots_.size());
    clusters.grow(std::max(2, count));
    for (int k = 0; k < count; ++k) assign(clusters, k, roots_[k]);
    std::vector<std::pair<int, std::vector<int>>> result;
    for (const int root : roots_) result.emplace_back(root, std::vector<int>());
    const auto block = static_cast<std::size_t>(clusters.rows_at_once);
    each_scored(clusters, count, rows, [&](int row, std::size_t b, const double* scores) {
      int best = 0;
      double highest = -std::numeric_limits<double>::infinity();
      for (int k = 0; k < count; ++k) {
        const double score =
            scores[static_cast<std::size_t>(k) * block + b] + nodes_[roots_[k]].log_size;
        if (score > highest) {
          highest = score;
          best = k;
        }
      }
      result[best].second.push_back(row);
    });
    return result;
  }

  std::pair<std::vector<int>, std::vector<int>> to_children(ErasedFamily::Clusters& clusters,
                                                            const Node& node,
                                                            std::span<const int> rows) const {
    const Node &left = nodes_[node.left], &right = nodes_[node.right];
    const double handicap =
        node.is_one_cluster ? left.typical - right.typical : right.log_size - left.log_size;
    assign(clusters, 0, node.left);
    assign(clusters, 1, node.right);
    const auto block = static_cast<std::size_t>(clusters.rows_at_once);
    std::pair<std::vector<int>, std::vector<int>> result;
    each_scored(clusters, 2, rows, [&](int row, std::size_t b, const double* scores) {
      const bool go_left = scores[b] - scores[block + b] >= handicap;
      (go_left ? result.first : result.second).push_back(row);
    });
    return result;
  }

  const ErasedFamily& family_;
  std::vector<int> roots_;
  std::vector<Node> nodes_;
  std::vector<double> statistics_;
  int n_buckets_ = 0;
};

void insert_one_by_one(Forest& forest, IncrementalClustering& growth, std::span<const int> rows) {
  for (const int row : rows) growth.insert(forest.make_leaf(row));
}

std::size_t coarse_rows(std::size_t rows) {
  return std::min(rows / 4, static_cast<std::size_t>(16 * std::sqrt(static_cast<double>(rows))));
}

// Steps 1 and 2: the buckets of the rows, largest first; none is empty.
Buckets sorted_into_buckets(const Forest& like, std::span<const int> rows, int threads) {
  Forest coarse = Forest::part_of(like);
  IncrementalClustering growth(coarse, DescentRule::balanced);
  insert_one_by_one(coarse, growth, rows.first(coarse_rows(rows.size())));
  join_lightest(coarse, growth, most_roots);
  const Router router(like.family(), coarse);
  const auto n = static_cast<int>(rows.size());
  const int rows_at_a_time = std::max(16384, n / 16);
  const int turns = (n + rows_at_a_time - 1) / rows_at_a_time;
  std::vector<Buckets> sorted(static_cast<std::size_t>(turns));
  in_threads(turns, threads, [&](int turn) {
    const int first = turn * rows_at_a_time;
    router(rows.subspan(static_cast<std::size_t>(first),
                        static_cast<std::size_t>(std::min(rows_at_a_time, n - first))),
           sorted[turn]);
  });
  Buckets buckets(static_cast<std::size_t>(router.n_buckets()));
  for (std::size_t b = 0; b < buckets.size(); ++b) {
    std::size_t size = 0;
    for (const Buckets& some : sorted) size += some[b].size();
    buckets[b].reserve(size);
  }
  for (Buckets& some : sorted) {
    for (std::size_t b = 0; b < buckets.size(); ++b)
      buckets[b].insert(buckets[b].end(), some[b].begin(), some[b].end());
    some = {};
  }
  std::erase_if(buckets, [](const auto& bucket) { return bucket.empty(); });
  std::stable_sort(buckets.begin(), buckets.end(),
                   [](const auto& a, const auto& b) { return a.size() > b.size(); });
  return buckets;
}

}  // namespace

bool takes_buckets(const ErasedFamily& family) {
  constexpr int largest_statistic = 4096;
  return !family.is_sparse() && !family.is_weighted() &&
         family.statistic_size() <= largest_statistic;
}

void insert_in_buckets(Forest& forest, IncrementalClustering& growth, std::vector<int> rows,
                       int threads) {
  if (rows.size() < fewest_divided) return insert_one_by_one(forest, growth, rows);
  Buckets buckets = sorted_into_buckets(forest, rows, threads);
  // Rows that cannot be told apart are all in one bucket, again and again.
  if (10 * buckets[0].size() > 9 * rows.size()) return insert_one_by_one(forest, growth, rows);
  forest.expect(rows.size());
  const bool is_large = rows.size() >= fewest_in_buckets;
  rows = std::vector<int>();  // the buckets have them
  if (is_large) return_freed_memory();
  std::vector<int> pieces;
  const int count = static_cast<int>(buckets.size());
  for (int first = 0; first < count; first += parts_at_a_time) {
    const int some = std::min(parts_at_a_time, count - first);
    std::vector<std::unique_ptr<Forest>> parts(static_cast<std::size_t>(some));
    in_threads(some, threads, [&](int k) {
      auto part = std::make_unique<Forest>(Forest::part_of(forest));
      part->expect(buckets[first + k].size());
      IncrementalClustering own(*part, DescentRule::balanced);
      insert_in_buckets(*part, own, std::move(buckets[first + k]), 1);
      parts[k] = std::move(part);
    });
    for (auto& part : parts) {
      for (const int root : part->trees()) pieces.push_back(forest.take_over(*part, root));
      part.reset();
    }
  }
  const Arena& nodes = forest.nodes();
  std::stable_sort(pieces.begin(), pieces.end(),
                   [&](int a, int b) { return nodes.size[a] > nodes.size[b]; });
  for (const int piece : pieces) growth.insert(piece);
}

}  // namespace mixwood
