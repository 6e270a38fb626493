// Memory that was freed goes back to the system. The allocator keeps it for later, and what a large
// forest leaves behind, in many pieces, only partly fits what is wanted next: both together would
// be the most that a chain ever takes. Nothing that is computed depends on it.
#pragma once

#include <cstdlib>  // says which library it is
#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace mixwood {

inline void return_freed_memory() {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}

}  // namespace mixwood
