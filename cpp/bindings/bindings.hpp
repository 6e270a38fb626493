// One small file per class of Python's; the module calls them in turn.
#pragma once

#include <nanobind/nanobind.h>

namespace mixwood::bindings {

void bind_families(nanobind::module_& m);
void bind_chain(nanobind::module_& m);
void bind_forest(nanobind::module_& m);
void bind_estimates(nanobind::module_& m);
void bind_interrupt(nanobind::module_& m);

}  // namespace mixwood::bindings
