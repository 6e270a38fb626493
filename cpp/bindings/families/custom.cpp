#include "mixwood/family/custom.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings/bound_family.hpp"

namespace mixwood::bindings {

void bind_custom(nb::module_& m) {
  m.def(
      "custom",
      [](Input<double, 2> rows, Input<double, 2> row_statistics, Input<double, 1> parameters,
         std::uintptr_t log_marginal, std::uintptr_t log_predictive, const std::string& name,
         nb::object, const std::vector<Law>& laws) {
        require(laws.empty() || laws.size() == parameters.size(),
                "laws must have one entry per parameter, or none");
        std::vector<Hyperprior> hypers;
        for (const Law& law : laws) hypers.push_back(hyperprior(law));
        require(row_statistics.shape(0) == rows.shape(0),
                "row_statistics must have one row per row");
        require(log_marginal != 0, "log_marginal must be the address of a function");
        const CustomFunctions functions{
            reinterpret_cast<CustomFunctions::LogMarginal>(log_marginal),
            reinterpret_cast<CustomFunctions::LogPredictive>(log_predictive)};
        return bound<Custom>(as_span(rows), static_cast<int>(rows.shape(0)),
                             static_cast<int>(rows.shape(1)), as_span(row_statistics),
                             static_cast<int>(row_statistics.shape(1)), as_span(parameters),
                             std::move(hypers), functions, name);
      },
      nb::arg("rows"), nb::arg("row_statistics"), nb::arg("parameters"), nb::arg("log_marginal"),
      nb::arg("log_predictive"), nb::arg("name"), nb::arg("owner"),
      nb::arg("laws") = std::vector<Law>{}, nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(),
      nb::keep_alive<0, 7>(),
      "A user's family, by the addresses of compiled functions (log_predictive: 0 for none) that "
      "`owner` keeps.");
}

}  // namespace mixwood::bindings
