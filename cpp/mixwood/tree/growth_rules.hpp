// What can be chosen about how trees grow: see ibhc.hpp.
#pragma once

namespace mixwood {

enum class DescentRule { balanced, paper };

// The balanced rule grows trees near u = 0, where near points like to join; they are judged at
// another u.
inline constexpr double growth_log_u = -5;

// `compared` answers as `index` does and counts how often `exact` would have answered otherwise.
enum class TreeSearch { index, exact, compared };

}  // namespace mixwood
