#include <bit>

#include "bindings.hpp"
#include "mixwood/numerics/kernels.hpp"

// CMakeLists.txt says so first, to whoever builds with it.
static_assert(std::endian::native == std::endian::little, "mixwood needs little-endian processors");
static_assert(sizeof(void*) == 8, "mixwood needs a 64-bit system");

NB_MODULE(_core, m) {
  m.doc() = "The compiled core of mixwood.";
  mixwood::bindings::bind_interrupt(m);
  mixwood::bindings::bind_families(m);
  mixwood::bindings::bind_chain(m);
  mixwood::bindings::bind_forest(m);
  mixwood::bindings::bind_estimates(m);
  m.def(
      "instruction_set", [] { return mixwood::kernels().name; },
      "The instruction set whose kernels are in force.");
}
