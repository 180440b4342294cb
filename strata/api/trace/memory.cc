#include "strata/api/trace/memory.h"

#include <algorithm>
#include <array>

#include "strata/api/trace/trace.h"
#include "strata/base/memory/out_of_memory.h"
#include "strata/runtime/live_blocks.h"

namespace strata::internal {
namespace {

constexpr const char* kRemedy =
    "make it smaller or of a narrower dtype, let go of arrays that are not needed any more, or "
    "compute it in parts (lax::map with batch_size)";

std::size_t largest(std::span<const Type> types) {
  const auto less = [](const Type& x, const Type& y) { return x.bytes() < y.bytes(); };
  return static_cast<std::size_t>(std::max_element(types.begin(), types.end(), less) -
                                  types.begin());
}

}  // namespace

Maker maker_of(const ir::Block& program) {
  if (program.results.empty()) return {"program", {}};
  const std::vector<Type> types = program.result_types();
  const ir::Op* op = program.results[largest(types)]->op();
  if (!op) return {"program", {}};
  const std::string& name = op->name();
  return {name.substr(name.find_last_of('.') + 1), op->where.text()};
}

void fail_memory(const std::string& operation, const Type& result, const std::string& where) {
  throw Error(operation, "there is no memory for the result {} of {}{}; {}", describe(result),
              bytes_text(result.bytes()), runtime::largest_blocks(), kRemedy)
      .at(where);
}

void fail_memory(const Maker& maker, const runtime::Executable& program) {
  const std::vector<Type>& types = program.result_types();
  const std::string where = maker.where.empty() ? Site::text() : maker.where;
  const std::size_t between = program.temporary_bytes();
  if (!types.empty() && types[largest(types)].bytes() >= between)
    fail_memory(maker.operation, types[largest(types)], where);
  throw Error(maker.operation,
              "there is no memory for {} between the operations of its program{}; {}",
              bytes_text(between), runtime::largest_blocks(), kRemedy)
      .at(where);
}

}  // namespace strata::internal
