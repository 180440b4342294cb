#include "strata/compile/kernel/kernel_builder.h"

#include <algorithm>

namespace strata::compile {

loop::Ref* KernelContext::input(const ir::Value* v) {
  loop::Ref*& ref = inputs_[v];
  if (!ref) {
    ref = b.parameter(stored_dtype(v->type()),
                      std::max<std::int64_t>(1, stored_shape(v->type()).count()),
                      loop::Ref::Mode::in);
    built_.bindings.push_back({v, -1});
  }
  return ref;
}

loop::Ref* KernelContext::output(const ir::Value* v) {
  loop::Ref*& ref = outputs_[v];
  if (!ref) {
    ref = b.parameter(stored_dtype(v->type()),
                      std::max<std::int64_t>(1, stored_shape(v->type()).count()),
                      loop::Ref::Mode::inout);
    built_.bindings.push_back({v, -1});
  }
  return ref;
}

void KernelContext::store_result(const ir::Value* v, const Index& offset,
                                 std::span<Inst* const> stored) {
  const auto parts = static_cast<std::int64_t>(stored.size());
  for (std::int64_t p = 0; p < parts; ++p) {
    b.store(output(v), offset * parts + p, stored[static_cast<std::size_t>(p)]);
    b.kernel().arena.back().streaming = goes_past_caches(v);
  }
}

loop::Ref* KernelContext::temporary(int number, DType dtype, std::int64_t count,
                                    loop::Ref::Mode mode) {
  built_.bindings.push_back({nullptr, number});
  return b.parameter(dtype, count, mode);
}

loop::Kernel& add_kernel(Built& out, const char* name, const Group& group, std::int64_t elements) {
  BuiltKernel& built = out.kernels.emplace_back();
  built.kernel = std::make_unique<loop::Kernel>(name);
  built.parallel =
      static_cast<double>(elements) * static_cast<double>(group.roots.size()) > kInlineWork;
  return *built.kernel;
}

void store_elements(KernelContext& context, std::span<const ir::Value* const> outputs,
                    std::span<const Index> places, const std::function<void(std::size_t)>& before) {
  std::vector<std::vector<std::vector<Inst*>>> values(outputs.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (before) before(i);
    for (std::size_t v = 0; v < values.size(); ++v)
      values[v].push_back(context.stored_at_offset(outputs[v], places[i]));
  }
  for (std::size_t v = 0; v < values.size(); ++v)
    for (std::size_t i = 0; i < places.size(); ++i)
      context.store_result(outputs[v], places[i], values[v][i]);
}

Index lane_of(const Index& index) {
  for (const Index::Term& term : index.terms())
    if (term.variable->is_variable && term.variable->type.lanes > 1)
      return Index::of(term.variable);
  return 0;
}

bool fills_lines(const Type& type, std::int64_t row, std::int64_t begin, std::int64_t neighbours) {
  const auto width = static_cast<std::int64_t>(byte_width(stored_dtype(type)));
  return row * width % kCacheLine == 0 && begin * width % kCacheLine == 0 &&
         neighbours * width % kCacheLine == 0;
}

void fetch_ahead(Inst* inst, std::int64_t elements) {
  if (inst->code == loop::Opcode::load && inst->type.lanes > 1 && elements > 0)
    inst->ahead = std::min(elements, inst->ref->size);
}

void fetch_a_page_ahead(loop::Kernel& kernel, std::size_t begin) {
  constexpr std::int64_t kPage = 4096;  // bytes
  for (std::size_t i = begin; i < kernel.arena.size(); ++i) {
    Inst& inst = kernel.arena[i];
    if (inst.code != loop::Opcode::load || inst.ref->mode != loop::Ref::Mode::in) continue;
    const auto width = static_cast<std::int64_t>(byte_width(inst.ref->dtype));
    const bool neighbours = std::any_of(
        inst.index.terms().begin(), inst.index.terms().end(),
        [](const Index::Term& t) { return t.variable->type.lanes > 1 && t.coefficient == 1; });
    if (neighbours && static_cast<std::size_t>(inst.ref->size * width) >= kBeyondCaches)
      fetch_ahead(&inst, kPage / width);
  }
}

std::int64_t rows_of_point(std::int64_t rows, std::int64_t length, std::int64_t elements) {
  constexpr std::int64_t kTogether = 32, kPoints = 64;
  const std::int64_t some = std::min(kTogether, rows / kPoints);
  return std::clamp<std::int64_t>(std::max(some, elements / length), 1, rows);
}

std::int64_t largest_divisor(std::int64_t n, std::int64_t most) {
  for (std::int64_t d = std::min(n, most); d > 1; --d)
    if (n % d == 0) return d;
  return 1;
}

}  // namespace strata::compile
