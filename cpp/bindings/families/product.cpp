#include "mixwood/family/product.hpp"

#include "bindings/bound_family.hpp"

namespace mixwood::bindings {

namespace {

using Families = nb::typed<nb::tuple, AnyFamily, nb::ellipsis>;
using Places = nb::typed<nb::tuple, Input<std::int32_t, 1>, nb::ellipsis>;

// The core trusts its input; a wrong place would read outside an array.
std::vector<std::int32_t> checked_places(const AnyFamily& family, nb::handle given, std::size_t n) {
  const auto array = nb::cast<Input<std::int32_t, 1>>(given);
  const auto places = as_span(array);
  require(places.size() == n, "places must have one entry per row in every part");
  for (const std::int32_t place : places)
    require(place < family.n_rows(), "a place is beyond a part's last row");
  return {places.begin(), places.end()};
}

}  // namespace

void bind_product(nb::module_& m) {
  m.def(
      "product",
      [](Families families, Places places, int n_rows) {
        require(families.size() > 0 && families.size() == places.size() && n_rows >= 0,
                "there must be parts, and places for each of them");
        std::vector<Part> parts;
        for (std::size_t p = 0; p < families.size(); ++p) {
          const auto& family = nb::cast<const AnyFamily&>(families[p]);
          if (family.erased().is_weighted())
            throw nb::type_error("weighted leaves cannot be a part of a product");
          parts.push_back(Part{family.shared_erased(),
                               std::make_shared<const std::vector<std::int32_t>>(checked_places(
                                   family, places[p], static_cast<std::size_t>(n_rows)))}
                              .copy());
        }
        return bound<Product>(std::move(parts), n_rows);
      },
      nb::arg("families"), nb::arg("places"), nb::arg("n_rows"), nb::keep_alive<0, 1>(),
      "Families side by side, independent given the cluster. places[p][row]: the part's own number "
      "of a row, below 0 where the part has nothing for it.");
}

}  // namespace mixwood::bindings
