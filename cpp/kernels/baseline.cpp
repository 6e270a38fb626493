#define MIXWOOD_ISA_NAMESPACE isa_baseline
#define MIXWOOD_ISA_NAME "baseline"
#define MIXWOOD_VECTOR_BYTES 16
#include "body.inc"
