#include "strata/model/model.h"

#include "strata/api/index.h"
#include "strata/api/numpy.h"
#include "strata/api/random.h"
#include "strata/api/transform/jit.h"
#include "strata/base/error.h"
#include "strata/nn/wide.h"

namespace strata::model {

tree::Tree Model::cast(const tree::Tree& params, DType to) const {
  return params.map([&](const Array& w) { return is_float(w.dtype()) ? astype(w, to) : w; });
}

Array Model::token_losses(const tree::Tree& params, const Array& tokens,
                          const Array& targets) const {
  return cross_entropies(forward(params, tokens), targets);
}

Array Model::packed_token_losses(const tree::Tree&, const Array&, const Array&,
                                 const DocumentsInRows&) const {
  throw Error("packed_token_losses",
              "the family {} reads no rows of several documents; packing=false gives each its own",
              family());
}

tree::Tree Model::init_pages(std::int64_t, std::int64_t) const {
  throw Error("init_pages", "the family {} has no cache of pages", family());
}

std::pair<Array, tree::Tree> Model::extend_pages(const tree::Tree&, const Batch&, const tree::Tree&,
                                                 bool) const {
  throw Error("extend_pages", "the family {} has no cache of pages", family());
}

std::int64_t Model::count() const {
  const tree::Tree params =
      eval_shape([&](const Array& key) { return init(key); }, random::key(0).words);
  std::int64_t out = 0;
  for (const Array& leaf : params.values()) out += leaf.size();
  return out;
}

}  // namespace strata::model
