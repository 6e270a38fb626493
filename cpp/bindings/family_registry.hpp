// The families, in one list: bind_NAME of each is in families/NAME.cpp.
#pragma once

#include <nanobind/nanobind.h>

#define MIXWOOD_EACH_FAMILY(visit)                                                    \
  visit(gaussian) visit(student_t) visit(diagonal_gaussian) visit(spherical_gaussian) \
      visit(multinomial) visit(categorical) visit(poisson) visit(negative_binomial)   \
          visit(regression) visit(product) visit(custom)

namespace mixwood::bindings {

#define MIXWOOD_DECLARE(name) void bind_##name(nanobind::module_& m);
MIXWOOD_EACH_FAMILY(MIXWOOD_DECLARE)
#undef MIXWOOD_DECLARE

inline void bind_each_family(nanobind::module_& m) {
#define MIXWOOD_BIND(name) bind_##name(m);
  MIXWOOD_EACH_FAMILY(MIXWOOD_BIND)
#undef MIXWOOD_BIND
}

}  // namespace mixwood::bindings
