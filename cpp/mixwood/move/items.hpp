// What moves at a node v have to allocate: the highest nodes of the tree that lie in S without v,
// where S is the cluster that v is in or the union of those that meet it. Both ways give the same
// nodes in the same order for the same S, larger ones first, whatever the current division of S.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "mixwood/state/tree_partition.hpp"

namespace mixwood {

class Items {
 public:
  // S is a cluster and v lies in it.
  void of_cluster(const TreePartition& partition, int v, int cluster) {
    const TreeShape& shape = partition.shape();
    items_.clear();
    const int own = partition.piece_of(v);
    partition.each_piece(cluster, [&](int piece) {
      if (piece != own) items_.push_back(piece);
    });
    for (int node = v; node != own; node = shape.parent[node])
      items_.push_back(shape.sibling(node));
    sort(shape);
  }

  // S is several clusters that meet v, and v lies in their union.
  void of_clusters(const TreePartition& partition, int v, std::span<const int> clusters) {
    const TreeShape& shape = partition.shape();
    marked_.resize(shape.n_nodes(), 0);
    items_.clear();
    for (const int cluster : clusters)
      partition.each_piece(cluster, [&](int piece) {
        if (piece >= v && piece < shape.end(v)) return;
        items_.push_back(piece);
        marked_[piece] = 1;
      });
    // Where both children are there, their parent takes their place.
    for (std::size_t k = 0; k < items_.size(); ++k) {
      const int node = items_[k];
      const int above = shape.parent[node];
      if (!marked_[node] || above == TreeShape::none || !marked_[shape.sibling(node)]) continue;
      marked_[node] = marked_[shape.sibling(node)] = 0;
      marked_[above] = 1;
      items_.push_back(above);
    }
    std::erase_if(items_, [&](int node) { return !marked_[node]; });
    for (const int node : items_) marked_[node] = 0;
    sort(shape);
  }

  const std::vector<int>& list() const { return items_; }

  static std::vector<int> list_of_pieces(const TreePartition& partition, int slot) {
    std::vector<int> list;
    partition.each_piece(slot, [&](int piece) { list.push_back(piece); });
    return list;
  }

 private:
  void sort(const TreeShape& shape) {
    std::sort(items_.begin(), items_.end(), [&](int a, int b) {
      return shape.size[a] != shape.size[b] ? shape.size[a] > shape.size[b] : a < b;
    });
  }

  std::vector<int> items_;
  std::vector<char> marked_;  // all zeros between uses
};

}  // namespace mixwood
