// Columns of counts of any law, bound to the rows of a data set.
#pragma once

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <memory>
#include <optional>
#include <utility>

#include "bindings/bound_family.hpp"
#include "mixwood/family/counted_columns_atoms.hpp"

namespace mixwood::bindings {

inline Hyperprior hyperprior_or_none(const std::optional<Law>& law) {
  return law ? hyperprior(*law) : Hyperprior{};
}

template <CountLaw L>
std::unique_ptr<AnyFamily> bound_columns(const Input<double, 2>& rows, L law,
                                         const std::optional<Input<double, 1>>& exposures) {
  static_assert(AtomFamily<CountedColumns<L>>);
  require(!exposures || exposures->size() == rows.shape(0),
          "exposures must have one entry per row");
  return bound<CountedColumns<L>>(as_span(rows), static_cast<int>(rows.shape(0)),
                                  static_cast<int>(rows.shape(1)), std::move(law),
                                  as_span(exposures));
}

}  // namespace mixwood::bindings
