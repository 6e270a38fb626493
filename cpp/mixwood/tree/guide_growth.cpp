// How guide trees are grown: by IBHC, on the erased family.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "mixwood/memory.hpp"
#include "mixwood/tree/buckets.hpp"
#include "mixwood/tree/collapse.hpp"
#include "mixwood/tree/forest.hpp"
#include "mixwood/tree/guide.hpp"
#include "mixwood/tree/ibhc.hpp"

namespace mixwood {

namespace {

// Lays out the tree below `root`; `rows_of(leaf)` gives a leaf's rows. What has been read is let
// go: the forest and its layout together would be most of a chain's memory.
template <class RowsOf>
GuideLayout lay_out(Arena nodes, int n_rows, int root, RowsOf&& rows_of) {
  nodes.parent = std::vector<int>();
  nodes.log_apart = std::vector<double>();
  // log d in place of log phi(h).
  for (int node = 0; node < nodes.n_slots(); ++node)
    nodes.log_one[node] = !nodes.is_live(node) || nodes.is_leaf(node)
                              ? -std::numeric_limits<double>::infinity()
                              : nodes.log_tree[nodes.left[node]] +
                                    nodes.log_tree[nodes.right[node]] - nodes.log_one[node];
  nodes.log_tree = std::vector<double>();
  GuideLayout layout;
  TreeShape& shape = layout.shape;
  const auto count = static_cast<std::size_t>(nodes.n_live());
  std::vector<int> order;  // the nodes, depth first
  for (auto* values : {&order, &shape.parent, &shape.first}) values->reserve(count);
  shape.rows.reserve(static_cast<std::size_t>(n_rows));
  shape.leaf_of_row.resize(n_rows);
  std::vector<std::pair<int, int>> stack{{root, TreeShape::none}};  // node, parent here
  while (!stack.empty()) {
    const auto [node, parent] = stack.back();
    stack.pop_back();
    const int here = shape.n_nodes();
    order.push_back(node);
    shape.parent.push_back(parent);
    shape.first.push_back(shape.n_rows());
    if (nodes.is_leaf(node)) {
      for (const int row : rows_of(node)) {
        shape.leaf_of_row[row] = here;
        shape.rows.push_back(row);
      }
    } else {
      stack.push_back({nodes.right[node], here});
      stack.push_back({nodes.left[node], here});
    }
  }
  shape.leaves.assign(count, 0);
  for (std::size_t here = count; here-- > 0;) {
    if (nodes.is_leaf(order[here])) shape.leaves[here] = 1;
    if (here > 0) shape.leaves[shape.parent[here]] += shape.leaves[here];
  }
  for (auto* links : {&nodes.left, &nodes.right, &nodes.row}) *links = std::vector<int>();
  auto ordered = [&](std::vector<double>& from) {
    std::vector<double> result(count);
    for (std::size_t here = 0; here < count; ++here) result[here] = from[order[here]];
    from = std::vector<double>();
    return result;
  };
  shape.size = ordered(nodes.size);
  layout.log_marginal = ordered(nodes.log_marginal);
  layout.log_dissimilarity = ordered(nodes.log_one);
  return layout;
}

// All rows, neighbours far apart: in steps of about n / golden ratio that meet every row.
std::vector<int> scattered(int n) {
  std::int64_t step = std::max<std::int64_t>(1, static_cast<std::int64_t>(0.6180339887 * n));
  while (std::gcd(step, static_cast<std::int64_t>(n)) != 1) ++step;
  std::vector<int> rows(n);
  for (std::int64_t k = 0; k < n; ++k) rows[k] = static_cast<int>(k * step % n);
  return rows;
}

// Returns what was freed before it, and once more at its end.
class ReturnedIfLarge {
 public:
  explicit ReturnedIfLarge(int n_rows) : is_large_(n_rows >= fewest_in_buckets) { act(); }
  ReturnedIfLarge(const ReturnedIfLarge&) = delete;
  ReturnedIfLarge& operator=(const ReturnedIfLarge&) = delete;
  ~ReturnedIfLarge() { act(); }

 private:
  void act() const {
    if (is_large_) return_freed_memory();
  }
  bool is_large_;
};

Forest empty_forest(const std::shared_ptr<const ErasedFamily>& family, const Prior& reference) {
  PriorValues values = reference.values();
  values.log_u = growth_log_u;
  return Forest(family, reference.at(values));
}

}  // namespace

GuideLayout grow_guide(const std::shared_ptr<const ErasedFamily>& family, const Prior& reference,
                       const LeafSets& sets, Stream& random, int threads) {
  // What the tree before left is gone before this one grows, and what it grew in before others do.
  const ReturnedIfLarge before_and_after(family->n_rows());
  Forest forest = empty_forest(family, reference);
  IncrementalClustering growth(forest, DescentRule::balanced);
  const int items = sets.empty() ? family->n_rows() : static_cast<int>(sets.size());
  std::vector<int> order(items);
  for (int item = 0; item < items; ++item) order[item] = item;
  random.shuffle_front(order, items);
  if (sets.empty() && items >= fewest_in_buckets && takes_buckets(*family))
    insert_in_buckets(forest, growth, std::move(order), threads);
  else
    for (const int item : order)
      growth.insert(sets.empty() ? forest.make_leaf(item) : forest.make_block(sets[item]));
  forest.set_parameters(reference.values());
  // Trees join their nearest in random order: every guide tree sees other pairs of clusters.
  while (forest.trees().size() > 1) {
    const auto count = static_cast<std::int64_t>(forest.trees().size());
    growth.join_nearest(forest.trees()[random.below(count)],
                        std::numeric_limits<double>::infinity());
  }
  const int root = forest.trees()[0];
  const int n = family->n_rows();
  if (sets.empty()) {
    const std::vector<int> row = forest.nodes().row;
    return lay_out(std::move(forest).take_nodes(), n, root,
                   [&](int leaf) { return std::span<const int>(&row[leaf], 1); });
  }
  std::vector<int> set_of_leaf(forest.nodes().n_slots());
  for (int item = 0; item < items; ++item) set_of_leaf[forest.leaf_of_row()[sets[item][0]]] = item;
  return lay_out(std::move(forest).take_nodes(), n, root,
                 [&](int leaf) { return std::span(sets[set_of_leaf[leaf]]); });
}

LeafSets collapsed_rows(const std::shared_ptr<const ErasedFamily>& family, const Prior& reference,
                        int max_leaves) {
  // Leaves beyond `max_leaves` that are waited for before they collapse: each time takes a pass
  // over all rows.
  constexpr int smallest_round = 4000;
  Forest forest = empty_forest(family, reference);
  IncrementalClustering growth(forest, DescentRule::balanced);
  Collapse collapse(forest, growth);
  const int room = std::max(2 * max_leaves, smallest_round);
  for (const int row : scattered(family->n_rows())) {
    growth.insert(forest.make_leaf(row));
    if (forest.n_leaves() > room) collapse(max_leaves);
  }
  collapse(max_leaves);
  std::vector<int> set_of_leaf(forest.nodes().n_slots(), -1);
  LeafSets sets;
  for (int row = 0; row < family->n_rows(); ++row) {
    int& set = set_of_leaf[forest.leaf_of_row()[row]];
    if (set < 0) {
      set = static_cast<int>(sets.size());
      sets.emplace_back();
    }
    sets[set].push_back(row);
  }
  return sets;
}

}  // namespace mixwood
