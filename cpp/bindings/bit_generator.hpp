// numpy's bit generators, as the core draws from them.
#pragma once

#include <nanobind/nanobind.h>

#include "mixwood/random/stream.hpp"

namespace mixwood::bindings {

// The generator must outlive what is drawn from it.
inline BitGenerator* bit_generator_of(const nanobind::object& generator) {
  const nanobind::object capsule = generator.attr("capsule");
  void* source = PyCapsule_GetPointer(capsule.ptr(), "BitGenerator");
  if (source == nullptr) throw nanobind::python_error();
  return static_cast<BitGenerator*>(source);
}

}  // namespace mixwood::bindings
