#include "strata/op/sort/comparator.h"

#include "strata/op/build.h"
#include "strata/op/index/indexing.h"

namespace strata::op {

std::unique_ptr<Block> comparator(const std::vector<DType>& dtypes, const std::string& direction) {
  auto region = std::make_unique<Block>();
  for (DType dtype : dtypes)
    for (int side = 0; side < 2; ++side) region->add_argument(Type::scalar(dtype));
  Attrs attrs{{"comparison_direction", direction}};
  if (is_float(dtypes[0])) attrs.set("compare_type", std::string("TOTALORDER"));
  Builder b(*region);
  region->results = {
      b.create("stablehlo.compare", {region->argument(0), region->argument(1)}, attrs).result()};
  return region;
}

Value* take_along(Builder& b, Value* x, Value* index, int dimension) {
  IndexDims dims;
  for (int d = 0; d < x->rank(); ++d)
    if (d != dimension) {
      dims.operand_batch.push_back(d);
      dims.indices_batch.push_back(d);
    }
  dims.dropped = {dimension};
  dims.index_map = {dimension};
  dims.index_vector = index->rank();
  return gather(b, x, index, dims,
                Ints(static_cast<std::size_t>(x->rank()), x->shape().count() == 0 ? 0 : 1));
}

}  // namespace strata::op
