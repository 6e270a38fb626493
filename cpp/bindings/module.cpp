#include "bindings.hpp"
#include "mixwood/numerics/kernels.hpp"

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
