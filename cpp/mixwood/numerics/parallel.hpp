// Work that is shared out to threads. What is done must not depend on who does it.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace mixwood {

// Calls work(k) for k = 0, ..., count - 1, on at most `threads` threads of which the caller's is
// one. Once a call has thrown no others begin, and what it threw is thrown here.
template <class Work>
void in_threads(int count, int threads, Work&& work) {
  std::atomic<int> next = 0;
  std::exception_ptr thrown;
  std::mutex guard;
  auto take_turns = [&] {
    try {
      for (int k = next++; k < count; k = next++) work(k);
    } catch (...) {
      const std::scoped_lock locked(guard);
      if (!thrown) thrown = std::current_exception();
      next = count;
    }
  };
  std::vector<std::thread> others;
  for (int t = 1; t < std::min(threads, count); ++t) {
    try {
      others.emplace_back(take_turns);
    } catch (const std::system_error&) {
      break;  // the machine gives no more threads: those that there are do all of it
    }
  }
  take_turns();
  for (std::thread& other : others) other.join();
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace mixwood
