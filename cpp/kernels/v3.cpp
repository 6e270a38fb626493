#define MIXWOOD_ISA_NAMESPACE isa_v3
#define MIXWOOD_ISA_NAME "v3"
#define MIXWOOD_VECTOR_BYTES 32
#include "body.inc"
