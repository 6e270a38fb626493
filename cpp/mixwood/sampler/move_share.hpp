// How many of its default number of moves a kind makes: learned in warm-up, frozen after it.
//
// Where clusters are settled, proposals to move, split or merge blocks are all refused, and cost
// what Gibbs visits of all rows cost, or several times that. With A proposals of a kind accepted
// in passes that took work W for it, where a scan of all leaves takes L and the default number of
// the kind V,
//
//   share = min(1, cheap L/V + patience (A + 1/2) L/W)
//
// So what costs next to nothing beside the scan stays as it is, and so does what is accepted once
// in `patience` scans' worth of work; the rest falls as refusals add up, never to nothing. Refusals
// count for little as long as they are few: after a short warm-up all stays as it is. Second and
// further passes are such a kind, too: of an iteration in which nothing at all changes one is
// enough. Work is counted (rows that are scored against a cluster), never timed. A and W are of the
// last half or more of the warm-up: what helped to leave the start is forgotten.
#pragma once

#include <algorithm>
#include <cstdint>

#include "mixwood/archive.hpp"
#include "mixwood/random/stream.hpp"

namespace mixwood {

// A block compared with a cluster is worth so many rows: a marginal is computed afresh.
inline constexpr double rows_per_block = 16;

// What was added since half of the updates, or longer ago.
class FadingSum {
 public:
  void add(double value) { now_ += value; }
  void forget() {
    before_ = now_;
    now_ = 0;
  }
  double total() const { return before_ + now_; }

  template <class Archive>
  void archive(Archive& a) {
    archive_finite(a, before_);
    archive_finite(a, now_);
    a.require(before_ >= 0 && now_ >= 0, "a sum of counts is negative");
  }

 private:
  double before_ = 0, now_ = 0;
};

class MoveShare {
 public:
  double share() const { return share_; }

  // Of `wanted` moves, those to be made; what is left of a number decides by chance.
  int number(double wanted, Stream& random) const {
    if (share_ >= 1) return static_cast<int>(wanted);
    return static_cast<int>(share_ * wanted + random.uniform());
  }

  void count(std::int64_t proposed, std::int64_t accepted, double work) {
    proposed_.add(static_cast<double>(proposed));
    accepted_.add(static_cast<double>(accepted));
    work_.add(work);
  }
  void forget() {
    for (FadingSum* sum : {&proposed_, &accepted_, &work_}) sum->forget();
  }

  // `wanted` is the default number of a pass, `scan` the work of a pass's scan.
  void learn(double wanted, double scan) {
    const double proposed = proposed_.total(), work = work_.total();
    if (!(proposed > 0) || !(work > 0)) return;
    const double all = wanted * work / proposed;
    share_ = std::min(1.0, cheap * scan / all + patience * (accepted_.total() + 0.5) * scan / work);
  }

  template <class Archive>
  void archive(Archive& a) {
    for (FadingSum* sum : {&proposed_, &accepted_, &work_}) sum->archive(a);
    archive_finite(a, share_);
    a.require(share_ > 0 && share_ <= 1, "a share of moves is out of range");
  }

 private:
  // Chains of the toy data from one cluster, warm-up 100, disagree more often with half of this
  // patience; with this one as often as if nothing were learned.
  static constexpr double cheap = 0.05, patience = 50;

  FadingSum proposed_, accepted_, work_;
  double share_ = 1;
};

// The shares of all kinds of moves that a guide tree proposes, and for how many iterations trees
// last because of them.
struct MoveShares {
  MoveShare subtrees, splits, fitted, passes;

  void count_scan(double work) {
    scans_.add(1);
    scan_work_.add(work);
  }
  // So many proposals of all kinds were accepted in a pass.
  void count_pass(std::int64_t accepted) { passes.count(1, accepted, 1); }

  // The default numbers of a pass.
  struct Wanted {
    double subtrees, splits, fitted;
  };
  void learn(const Wanted& wanted) {
    if (!(scans_.total() > 0)) return;
    const double scan = scan_work_.total() / scans_.total();
    subtrees.learn(wanted.subtrees, scan);
    splits.learn(wanted.splits, scan);
    fitted.learn(wanted.fitted, scan);
    passes.learn(1, 1);
    if (++updates_ < 2 * forgotten_at_) return;
    forgotten_at_ = updates_;
    for (MoveShare* share : {&subtrees, &splits, &fitted, &passes}) share->forget();
    scans_.forget();
    scan_work_.forget();
  }

  // A tree of which few proposals are asked lasts longer, up to eight times.
  int lifetime(int iterations) const {
    const double most = std::max({subtrees.share(), splits.share(), fitted.share(), 0.125});
    return static_cast<int>(std::min(iterations / most, 2e9));
  }

  template <class Archive>
  void archive(Archive& a) {
    for (MoveShare* share : {&subtrees, &splits, &fitted, &passes}) share->archive(a);
    scans_.archive(a);
    scan_work_.archive(a);
    a.value(updates_);
    a.value(forgotten_at_);
    a.require(updates_ >= 0 && forgotten_at_ >= 1, "a counter is out of range");
  }

 private:
  FadingSum scans_, scan_work_;
  std::int64_t updates_ = 0, forgotten_at_ = 1;
};

}  // namespace mixwood
