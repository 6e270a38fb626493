// The state of a chain as bytes, and back. A class that has state says once what it is, in
// `template <class Archive> void archive(Archive& a)`: a Writer saves it, a Reader loads it.
//
// Before every entry a byte says of what type it is, before every list its length. The Reader
// trusts none of that: whatever a Writer would not have written throws std::invalid_argument, and
// no length is believed before the bytes are there. What the numbers mean is for each class to
// check, by `require`: after loading, whatever they were, every index must be in range.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace mixwood {

namespace archive_detail {

template <class T>
constexpr char type_code() {
  if constexpr (std::is_same_v<T, bool>) return 'b';
  if constexpr (std::is_same_v<T, std::int32_t>) return 'i';
  if constexpr (std::is_same_v<T, std::int64_t>) return 'l';
  if constexpr (std::is_same_v<T, float>) return 'f';
  if constexpr (std::is_same_v<T, double>) return 'd';
}

}  // namespace archive_detail

class Writer {
 public:
  static constexpr bool loading = false;

  template <class T>
  void value(const T& entry) {
    code(archive_detail::type_code<T>());
    put(&entry, sizeof entry);
  }

  template <class T>
  void list(const std::vector<T>& entries, std::size_t, std::size_t) {
    code('[');
    value(static_cast<std::int64_t>(entries.size()));
    code(archive_detail::type_code<T>());
    put(entries.data(), entries.size() * sizeof(T));
  }
  template <class T>
  void list(const std::vector<T>& entries, std::size_t length) {
    list(entries, length, length);
  }

  // A name for what follows, so that the state of another class is not taken for it.
  void mark(std::string_view name) {
    code('#');
    code(static_cast<char>(name.size()));
    put(name.data(), name.size());
  }

  void require(bool, const char*) const {}

  const std::vector<char>& bytes() const { return bytes_; }

 private:
  void code(char c) { put(&c, 1); }
  void put(const void* from, std::size_t size) {
    const std::size_t before = bytes_.size();
    bytes_.resize(before + size);
    if (size > 0) std::memcpy(bytes_.data() + before, from, size);
  }

  std::vector<char> bytes_;
};

class Reader {
 public:
  static constexpr bool loading = true;

  explicit Reader(std::span<const char> bytes) : rest_(bytes) {}

  template <class T>
  void value(T& entry) {
    expect(archive_detail::type_code<T>());
    const auto from = take(sizeof entry);
    if constexpr (std::is_same_v<T, bool>) {
      require(from[0] == 0 || from[0] == 1, "a truth value is neither");
      entry = from[0] == 1;
    } else {
      std::memcpy(&entry, from.data(), sizeof entry);
    }
  }

  // A list of at least `least` and at most `most` entries.
  template <class T>
  void list(std::vector<T>& entries, std::size_t least, std::size_t most) {
    expect('[');
    std::int64_t length = 0;
    value(length);
    require(length >= 0 && static_cast<std::uint64_t>(length) >= least &&
                static_cast<std::uint64_t>(length) <= most,
            "a list has a wrong length");
    expect(archive_detail::type_code<T>());
    const auto count = static_cast<std::size_t>(length);
    require(count <= rest_.size() / sizeof(T), "it ends too early");
    const auto from = take(count * sizeof(T));
    entries.resize(count);
    if (count > 0) std::memcpy(entries.data(), from.data(), from.size());
  }
  template <class T>
  void list(std::vector<T>& entries, std::size_t length) {
    list(entries, length, length);
  }

  void mark(std::string_view name) {
    expect('#');
    expect(static_cast<char>(name.size()));
    const auto found = take(name.size());
    require(std::ranges::equal(found, name), "it is that of something else");
  }

  // Nothing may be left over.
  void end() const { require(rest_.empty(), "there is more after its end"); }

  void require(bool holds, const char* what) const {
    if (!holds)
      throw std::invalid_argument(std::string("the state of a chain is damaged: ") + what);
  }

 private:
  void expect(char c) { require(take(1)[0] == c, "an entry is of a wrong kind"); }
  std::span<const char> take(std::size_t size) {
    require(size <= rest_.size(), "it ends too early");
    const auto taken = rest_.first(size);
    rest_ = rest_.subspan(size);
    return taken;
  }

  std::span<const char> rest_;
};

// A number that is finite.
template <class Archive>
void archive_finite(Archive& a, double& entry) {
  a.value(entry);
  a.require(std::isfinite(entry), "a number is not finite");
}

// 0..n-1 in some order.
template <class Archive>
void archive_order(Archive& a, std::vector<int>& order, int n) {
  a.list(order, static_cast<std::size_t>(n));
  if constexpr (Archive::loading) {
    std::vector<char> seen(static_cast<std::size_t>(n), 0);
    for (const int entry : order) {
      a.require(entry >= 0 && entry < n && !seen[entry], "an order does not hold every row once");
      seen[entry] = 1;
    }
  }
}

// A statistic. Its counts, whole numbers that are exact and by which families look things up, are
// not saved but taken from the rows: before loading, `s` is the statistic made from them.
template <class Archive, class F>
void archive_statistic(Archive& a, const F& family, double* s) {
  for (int entry = 0; entry < family.statistic_size(); ++entry) {
    if constexpr (requires { family.is_count(entry); })
      if (family.is_count(entry)) continue;
    archive_finite(a, s[entry]);
  }
}

}  // namespace mixwood
