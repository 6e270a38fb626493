// Many rows put into a forest in buckets, instead of one by one: each bucket's trees fit into the
// cache, and buckets are grown side by side.
//
// 1. The first 16 sqrt(n) rows (at most n / 4), in the order given, are put into a forest of their
//    own, the coarse one, by IBHC. It must have many rows of every cluster: with 4 sqrt(n), buckets
//    lie across clusters, and the trees of birch1 are worse than those of rows put in one by one.
// 2. Every row, independently of all others, goes to the coarse tree that it fits best by size and
//    predictive, and down from there to a node of at most 4 coarse rows: its bucket. Where a node
//    is judged one cluster (d <= 1), it goes to the child in which it is the more typical, as in
//    ibhc.hpp; else as among the trees.
// 3. Each bucket's rows, in the order given, are put into a forest of their own: in buckets again
//    if they are many, else one by one. The coarse forest is forgotten.
// 4. The trees of all buckets are put into the forest as items, as the pieces of a cut are: the
//    largest first.
//
// A cluster that lies in several buckets is joined again in step 4, and so are the few rows of it
// that a bucket of another cluster got. The result depends on the order of the rows alone and not
// on the number of threads: nothing else is random.
#pragma once

#include <vector>

#include "mixwood/family/erased.hpp"
#include "mixwood/tree/forest.hpp"
#include "mixwood/tree/ibhc.hpp"
#include "mixwood/tree/stored.hpp"

namespace mixwood {

// Whether rows can be put in in buckets: of single rows, whose statistics are not too large for a
// coarse forest.
bool takes_buckets(const ErasedFamily& family);

// Puts the rows in, by the balanced rule.
void insert_in_buckets(Forest& forest, IncrementalClustering& growth, std::vector<int> rows,
                       int threads);

}  // namespace mixwood
