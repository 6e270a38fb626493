// Long work that can be stopped, and that tells how far it is. Nothing that is computed depends on
// it.
//
// Which `Interrupt` is in force is a matter of the thread, not of the mathematics: growth, scans
// and searches call `Interrupt::of_thread().tick()` and have no argument for it. A thread that
// others do a part of the work for hands its own over: `const Interrupt::Scope here(shared)`.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <thread>
#include <utility>

namespace mixwood {

struct Interrupted : std::exception {
  const char* what() const noexcept override { return "the work was told to stop"; }
};

class Interrupt {
 public:
  Interrupt() = default;
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  // Safe from any thread.
  void stop() { stopped_ = true; }
  const std::atomic<bool>& stopped() const { return stopped_; }
  // How many rows were put in so far, in all that it is in force for.
  std::int64_t done() const { return done_.load(std::memory_order_relaxed); }

  // So many more rows are in. Throws `Interrupted` if the work is to stop, and what `poll` throws.
  void tick(std::int64_t rows = 1) {
    if (stopped_.load(std::memory_order_relaxed)) throw Interrupted();
    done_.fetch_add(rows, std::memory_order_relaxed);
    if (polling == std::this_thread::get_id()) ask();
  }

  // The one in force in this thread: the one that was given, or one that nobody stops.
  static Interrupt& of_thread() {
    thread_local Interrupt own;
    return given_ ? *given_ : own;
  }
  // The one that was given, or a new one: for what lives longer than a call.
  static std::shared_ptr<Interrupt> given_or_new() {
    return given_ ? given_ : std::make_shared<Interrupt>();
  }

  // In force in this thread for as long as it lives.
  class Scope {
   public:
    explicit Scope(std::shared_ptr<Interrupt> given)
        : before_(std::exchange(given_, std::move(given))) {}
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() { given_ = std::move(before_); }

   private:
    std::shared_ptr<Interrupt> before_;
  };

  // One thread asks from time to time whether a signal has come: `poll` then throws. Set once.
  static inline void (*poll)() = nullptr;
  static inline std::thread::id polling;

 private:
  static void ask() {
    using Clock = std::chrono::steady_clock;
    static Clock::time_point next = Clock::now();  // only one thread comes here
    const auto now = Clock::now();
    if (now < next) return;
    next = now + std::chrono::milliseconds(50);
    poll();
  }

  static inline thread_local std::shared_ptr<Interrupt> given_;

  std::atomic<bool> stopped_ = false;
  std::atomic<std::int64_t> done_ = 0;
};

}  // namespace mixwood
