#include "strata/op/catalog.h"

#include <algorithm>
#include <unordered_map>

namespace strata::op {
namespace {

struct Catalog {
  std::vector<const OpDef*> all;                                // in the order of their names
  std::unordered_map<const ir::OpInfo*, const OpDef*> by_info;  // lookup only

  Catalog() {
#define STRATA_LIST(name) all.push_back(&name##_def());
    STRATA_OPERATIONS(STRATA_LIST)
#undef STRATA_LIST
#define STRATA_LIST(family) \
  for (const OpDef& d : family##_defs()) all.push_back(&d);
    STRATA_OPERATION_FAMILIES(STRATA_LIST)
#undef STRATA_LIST
    std::sort(all.begin(), all.end(),
              [](const OpDef* a, const OpDef* b) { return a->info.name < b->info.name; });
    for (const OpDef* d : all) {
      by_info.emplace(&d->info, d);
      ir::Registry::global().add(d->info);
    }
  }
};

const Catalog& contents() {
  static const Catalog catalog;
  return catalog;
}

// Fills the registry before `main`, so that programs can be read from text before any operation was
// built.
[[maybe_unused]] const Catalog& filled_at_start = contents();

}  // namespace

const std::vector<const OpDef*>& catalog() { return contents().all; }

const OpDef& def(const Op& op) {
  auto it = contents().by_info.find(&op.info());
  STRATA_CHECK(it != contents().by_info.end(), "operation {} is not in the catalog", op.name());
  return *it->second;
}

const OpDef& def(std::string_view name) {
  const std::vector<const OpDef*>& all = catalog();
  auto it = std::lower_bound(all.begin(), all.end(), name,
                             [](const OpDef* d, std::string_view n) { return d->info.name < n; });
  STRATA_CHECK(it != all.end() && (*it)->info.name == name, "operation {} is not in the catalog",
               name);
  return **it;
}

}  // namespace strata::op
