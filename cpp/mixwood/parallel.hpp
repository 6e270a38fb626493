// Work that is shared out to threads. What is done must not depend on who does it.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "mixwood/interrupt.hpp"

namespace mixwood {

// Calls work(k) for k = 0, ..., count - 1, on at most `threads` threads of which the caller's is
// one. Once a call has thrown all others are stopped, and what it threw is thrown here.
template <class Work>
void in_threads(int count, int threads, Work&& work) {
  const std::shared_ptr<Interrupt> shared = Interrupt::given_or_new();
  std::atomic<int> next = 0, running = 0;
  std::exception_ptr thrown;
  std::mutex guard;
  auto failed = [&] {
    const std::scoped_lock locked(guard);
    if (!thrown) thrown = std::current_exception();
    next = count;
    shared->stop();
  };
  auto take_turns = [&] {
    const Interrupt::Scope here(shared);
    try {
      for (int k = next++; k < count; k = next++) work(k);
    } catch (...) {
      failed();
    }
  };
  std::vector<std::thread> others;
  for (int t = 1; t < std::min(threads, count); ++t) {
    try {
      ++running;
      others.emplace_back([&] {
        take_turns();
        --running;
      });
    } catch (const std::system_error&) {
      --running;
      break;  // the machine gives no more threads: those that there are do all of it
    }
  }
  take_turns();
  // The thread that asks for signals goes on asking while it waits.
  while (running > 0 && Interrupt::polling == std::this_thread::get_id()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    try {
      if (next < count || !shared->stopped()) shared->tick(0);
    } catch (...) {
      failed();
    }
  }
  for (std::thread& other : others) other.join();
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace mixwood
