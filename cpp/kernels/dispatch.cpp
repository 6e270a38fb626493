// Which copy of the kernels runs.
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "mixwood/numerics/kernels.hpp"

namespace mixwood {

namespace isa_baseline {
extern const Kernels table;
}
#ifdef MIXWOOD_X86
namespace isa_v3 {
extern const Kernels table;
}
#endif

namespace {

const Kernels& choose() {
  const char* wanted = std::getenv("MIXWOOD_ISA");
  const std::string name = wanted == nullptr ? "" : wanted;
#ifdef MIXWOOD_X86
  __builtin_cpu_init();
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                  __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  if (v3 && (name.empty() || name == "v3")) return isa_v3::table;
#endif
  if (name.empty() || name == "baseline") return isa_baseline::table;
  throw std::invalid_argument(
      "MIXWOOD_ISA must be baseline or v3, and one that this "
      "processor runs; got " +
      name);
}

}  // namespace

const Kernels& kernels() {
  static const Kernels& chosen = choose();
  return chosen;
}

}  // namespace mixwood
