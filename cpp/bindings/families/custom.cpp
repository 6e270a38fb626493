#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings/bound_family.hpp"
#include "mixwood/family/custom_atoms.hpp"

namespace mixwood::bindings {

namespace {

// A function of Python, called by chains that do without its lock. Whoever binds the family keeps
// the function.
CustomFunctions::Draw drawing(nb::handle function) {
  return [function](double n, std::span<const double> statistic, std::span<const double> parameters,
                    Stream& random) {
    const nb::gil_scoped_acquire locked;
    const auto array = [](std::span<const double> values) {
      return to_numpy(std::vector<double>(values.begin(), values.end()), {values.size()});
    };
    try {
      const nb::object drawn = function(n, array(statistic), array(parameters),
                                        nb::capsule(random.source(), "BitGenerator"));
      return nb::cast<std::vector<double>>(drawn);
    } catch (const nb::python_error& error) {
      throw std::runtime_error(nb::str(error.value()).c_str());
    }
  };
}

}  // namespace

void bind_custom(nb::module_& m) {
  m.def(
      "custom",
      [](Input<double, 2> rows, Input<double, 2> row_statistics, Input<double, 1> parameters,
         std::uintptr_t log_marginal, std::uintptr_t log_predictive, const std::string& name,
         nb::object, const std::vector<Law>& laws, nb::object draw, std::uintptr_t log_density) {
        require(laws.empty() || laws.size() == parameters.size(),
                "laws must have one entry per parameter, or none");
        std::vector<Hyperprior> hypers;
        for (const Law& law : laws) hypers.push_back(hyperprior(law));
        require(row_statistics.shape(0) == rows.shape(0),
                "row_statistics must have one row per row");
        require(log_marginal != 0, "log_marginal must be the address of a function");
        const CustomFunctions functions{
            reinterpret_cast<CustomFunctions::LogMarginal>(log_marginal),
            reinterpret_cast<CustomFunctions::LogPredictive>(log_predictive),
            draw.is_none() ? CustomFunctions::Draw{} : drawing(draw),
            reinterpret_cast<CustomFunctions::LogDensity>(log_density)};
        return bound<Custom>(as_span(rows), static_cast<int>(rows.shape(0)),
                             static_cast<int>(rows.shape(1)), as_span(row_statistics),
                             static_cast<int>(row_statistics.shape(1)), as_span(parameters),
                             std::move(hypers), functions, name);
      },
      nb::arg("rows"), nb::arg("row_statistics"), nb::arg("parameters"), nb::arg("log_marginal"),
      nb::arg("log_predictive"), nb::arg("name"), nb::arg("owner"),
      nb::arg("laws") = std::vector<Law>{}, nb::arg("draw").none() = nb::none(),
      nb::arg("log_density") = 0, nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(),
      nb::keep_alive<0, 7>(), nb::keep_alive<0, 9>(),
      "A user's family, by the addresses of compiled functions (0 for none) that `owner` keeps, "
      "and a function that draws the parameters of a cluster: draw(n, statistic, parameters, "
      "capsule of numpy's bit generator), a list of numbers.");
}

}  // namespace mixwood::bindings
