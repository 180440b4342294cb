#include "strata/api/transform/debug_nans.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

#include "strata/op/evaluate.h"

namespace strata {
namespace internal {

namespace {

thread_local bool looking = false;

using op::Literals;

/// The first element that is NaN, or -1.
std::int64_t first_nan(const Literal& l) {
  if (!is_inexact(l.dtype()) || !has_storage(l.dtype())) return -1;
  const std::vector<std::complex<double>> values = Array(l).to_vector<std::complex<double>>();
  const auto it = std::find_if(values.begin(), values.end(), [](std::complex<double> v) {
    return std::isnan(v.real()) || std::isnan(v.imag());
  });
  return it == values.end() ? -1 : it - values.begin();
}

std::string shown(const Literal& l) {
  return l.count() <= 8 ? describe(l.type()) + " " + Array(l).to_string() : describe(l.type());
}

[[noreturn]] void blame(const ir::Block& given, const Literals& arguments,
                        const std::string& program) {
  const std::unique_ptr<ir::Block> block = ir::clone(given);
  std::map<const ir::Value*, Literal> known;
  block->results.clear();
  for (const auto& op : block->ops())
    for (ir::Value* v : op->results())
      if (v->type().is_tensor()) block->results.push_back(v);
  const Literals values = op::evaluate(*block, arguments);
  for (std::size_t i = 0; i < arguments.size(); ++i)
    known[block->argument(static_cast<int>(i))] = arguments[i];
  for (std::size_t i = 0; i < values.size(); ++i) known[block->results[i]] = values[i];
  for (const auto& op : block->ops())
    for (ir::Value* v : op->results()) {
      const auto it = known.find(v);
      if (it == known.end()) continue;
      const std::int64_t at = first_nan(it->second);
      if (at < 0) continue;
      std::string of;
      for (const ir::Value* operand : op->operands)
        if (const auto found = known.find(operand); found != known.end())
          of += (of.empty() ? "" : " and ") + shown(found->second);
      const std::string_view name = op->name();
      throw Error("debug_nans",
                  "{} made NaN: element {} of {}, from {}; keep such elements away with where "
                  "before it, or switch debug_nans off",
                  std::string(name.substr(name.find('.') + 1)), at, describe(v->type()),
                  of.empty() ? "nothing" : of)
          .at(op->where.text());
    }
  fail("debug_nans", "{} made NaN, which its operations, run one by one, do not", program);
}

}  // namespace

void check_nans(const ir::Block* block, std::span<const runtime::Buffer> arguments,
                std::span<const runtime::Buffer> results, const std::string& program) {
  for (std::size_t r = 0; r < results.size(); ++r) {
    const Literal l = results[r].literal();
    const std::int64_t at = first_nan(l);
    if (at < 0) continue;
    if (block == nullptr)
      fail("debug_nans",
           "result {} of {} has NaN: element {} of {}; to learn which operation made it, switch "
           "debug_nans on before the first call and donate nothing",
           r, program, at, describe(l.type()));
    Literals inputs;
    for (const runtime::Buffer& a : arguments) inputs.push_back(a.literal());
    blame(*block, inputs, program);
  }
}

namespace {
struct Graph {
  std::shared_ptr<const runtime::Executable>
      executable;  // lives on, so that no other one takes its address
  std::unique_ptr<const ir::Block> block;
};
struct Kept {
  std::mutex mutex;
  std::map<const runtime::Executable*, Graph> graphs;
};
Kept& kept() {
  static Kept& k = *new Kept;
  return k;
}
}  // namespace

void keep_graph(std::shared_ptr<const runtime::Executable> executable, const ir::Block& block) {
  std::lock_guard lock(kept().mutex);
  const runtime::Executable* key = executable.get();
  kept().graphs[key] = {std::move(executable), ir::clone(block)};
}
const ir::Block* kept_graph(const runtime::Executable* executable) {
  std::lock_guard lock(kept().mutex);
  const auto it = kept().graphs.find(executable);
  return it == kept().graphs.end() ? nullptr : it->second.block.get();
}

}  // namespace internal

debug_nans::debug_nans(bool on) : before_(internal::looking) { internal::looking = on; }
debug_nans::~debug_nans() { internal::looking = before_; }
bool debug_nans::enabled() { return internal::looking; }

}  // namespace strata
