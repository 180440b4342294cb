#include "strata/api/trace.h"

#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>

#include "strata/api/client.h"
#include "strata/api/debug.h"
#include "strata/api/debug_nans.h"
#include "strata/api/explicit_types.h"
#include "strata/api/graph.h"
#include "strata/api/jit.h"
#include "strata/api/memory.h"
#include "strata/api/placement.h"
#include "strata/base/recycle.h"
#include "strata/op/build.h"
#include "strata/runtime/client.h"
#include "strata/runtime/device.h"

namespace strata::internal {
namespace {

thread_local Trace* innermost = nullptr;
thread_local std::optional<std::source_location> site;
// Where the functions that are being traced were given to a transform, the innermost last.
thread_local std::vector<std::optional<std::source_location>> tracing;

std::uint64_t next_trace_id() {
  static std::atomic<std::uint64_t> id{0};
  return ++id;
}

ir::Location current_location() { return ir::Location(named_scope::current() + Site::text()); }

/// Whether an integer lies in the range of T.
template <class T>
bool fits(std::int64_t v) {
  if constexpr (std::unsigned_integral<T>)
    return v >= 0 && static_cast<std::uint64_t>(v) <= std::numeric_limits<T>::max();
  else
    return v >= std::numeric_limits<T>::min() && v <= std::numeric_limits<T>::max();
}
template <class T>
bool fits(std::uint64_t v) {
  return v <= static_cast<std::uint64_t>(std::numeric_limits<T>::max());
}

template <class T, class V>
T checked_element(V v) {
  if constexpr (std::integral<V> && !std::same_as<V, bool> && std::integral<T> &&
                !std::same_as<T, bool>)
    if (!fits<T>(v)) fail("array", "integer {} does not fit {}", v, name(dtype_of<T>));
  return element_from<T>(v);
}
/// take(the number as an element of the dtype)
template <class Take>
auto as_element(const ScalarValue& value, DType dtype, Take take) {
  return std::visit(
      [&](auto v) {
        return dispatch(dtype, [&](auto t) { return take(checked_element<decltype(t)>(v)); });
      },
      value);
}

}  // namespace

Literal scalar_literal(const ScalarValue& value, DType dtype) {
  return as_element(value, dtype, [](auto element) { return Literal::scalar(element); });
}

void write_scalar(const ScalarValue& value, DType dtype, std::byte* to) {
  as_element(value, dtype, [&](auto element) { std::memcpy(to, &element, sizeof element); });
}

// ---- trace -------------------------------------------------------------------------------------

Trace::Trace(Kind kind)
    : kind_(kind),
      id_(next_trace_id()),
      outer_(innermost),
      block_(std::make_unique<ir::Block>()),
      builder_(*block_) {
  if (kind != Kind::operation) {
    outer_site_ = std::exchange(site, std::nullopt);
    tracing.push_back(outer_site_);
  }
  innermost = this;
}

Trace::~Trace() {
  innermost = outer_;
  if (kind_ == Kind::operation) return;
  site = outer_site_;
  tracing.pop_back();
}

Trace* Trace::current() { return innermost; }

Array Trace::argument(const Type& type, bool weak, std::string hint) {
  ArrayState state;
  state.argument = true;
  if (outer_site_) state.where = ir::Location(strata::describe(*outer_site_));
  const std::optional<Typed> lies =
      read_for(type, static_cast<std::size_t>(block_->num_arguments()));
  ir::Value* value = block_->add_argument(type, std::move(hint));
  return wrap(lies ? with_type(builder_, value, *lies) : value, weak, std::move(state));
}

Array Trace::wrap(ir::Value* value, bool weak) {
  ArrayState state;
  state.where = builder_.location();
  return wrap(value, weak, std::move(state));
}

Array Trace::wrap(ir::Value* value, bool weak, ArrayState given) {
  auto state = std::make_shared<ArrayState>(std::move(given));
  state->type = value->type();
  state->weak = weak;
  state->value = value;
  state->trace = id_;
  return Array(std::shared_ptr<const ArrayState>(std::move(state)));
}

ir::Value* Trace::value(const Array& array) {
  const ArrayState& state = [&]() -> const ArrayState& {
    array.type();  // fails for an array without a value
    return *array.state();
  }();
  if (state.value && state.trace == id_) return state.value;
  if (auto it = known_.find(&state); it != known_.end()) return it->second;
  check_alive(state);
  const bool embed =
      !state.value && (kind_ == Kind::jit || (kind_ == Kind::nested && state.constant));
  ir::Value* value = embed ? constant(array) : capture(array);
  known_.emplace(&state, value);
  kept_.push_back(array);
  return value;
}

ir::Values Trace::values(std::span<const Array> arrays) {
  ir::Values out;
  for (const Array& a : arrays) out.push_back(value(a));
  return out;
}

ir::Value* Trace::constant(const Array& array) { return op::constant(builder_, array.literal()); }

ir::Value* Trace::capture(const Array& array) {
  captured_.push_back(array);
  return block_->add_argument(array.type());
}

void Trace::check_alive(const ArrayState& state) const {
  if (!state.value) return;
  if (state.value == deleted_value())
    fail("array", "{} was used after it was deleted", strata::internal::describe(state.type));
  for (const Trace* t = outer_; t; t = t->outer_)
    if (t->id_ == state.trace) return;
  fail("trace",
       "{} is used after the function that was being traced has ended; return it from that "
       "function instead of storing it; a model that it changes must be its argument",
       origin(state));
}

Program Trace::finish(std::span<const Array> results) {
  Program out;
  block_->results = values(results);
  for (const Array& r : results) out.weak.push_back(r.weak());
  out.block = std::move(block_);
  out.captured = std::move(captured_);
  return out;
}

// ---- site --------------------------------------------------------------------------------------

Site::Site(const std::source_location& where) : set_(!site.has_value() && where.line() != 0) {
  if (set_) site = where;
}
Site::~Site() {
  if (set_) site.reset();
}
std::string Site::text() {
  if (site) return strata::describe(*site);
  const bool known = !tracing.empty() && tracing.back();
  return known ? strata::describe(*tracing.back()) : std::string();
}

// ---- application -------------------------------------------------------------------------------

Array concrete(runtime::Buffer buffer, bool weak) {
  auto state = std::allocate_shared<ArrayState>(Recycled<ArrayState>());
  state->type = buffer.type();
  state->weak = weak;
  state->buffer = std::move(buffer);
  return Array(std::shared_ptr<const ArrayState>(std::move(state)));
}

namespace {

/// A mistake that an operation found, with types as users of arrays write them: operations speak
/// of programs' text.
Error in_array_notation(const Error& e) {
  Error out(e.operation(), with_array_text(e.message()));
  if (e.is_unsupported()) out.unsupported();
  return out.at(e.where().empty() ? Site::text() : e.where());
}

std::vector<Array> record(Trace& trace, std::span<const Array> operands, const EmitFunction& f,
                          const std::vector<bool>& weak) {
  trace.builder().set_location(current_location());
  const ir::Values results = [&] {
    try {
      if (!has_explicit()) return f(trace.builder(), trace.values(operands));
      const ir::Values given = trace.values(operands);
      const std::size_t first = trace.block().ops().size();
      return with_types(trace, first, operands, f(trace.builder(), given));
    } catch (const Error& e) {
      throw in_array_notation(e);
    }
  }();
  std::vector<Array> out;
  for (std::size_t i = 0; i < results.size(); ++i)
    out.push_back(trace.wrap(results[i], i < weak.size() && weak[i]));
  return out;
}

Program traced_operation(std::span<const Array> operands, const EmitFunction& f,
                         const std::vector<bool>& weak) {
  Trace trace(Trace::Kind::operation);
  return trace.finish(record(trace, operands, f, weak));
}

std::vector<Array> run(const Program& program) {
  std::vector<runtime::Buffer> arguments;
  for (const Array& a : program.captured) arguments.push_back(a.buffer());
  const std::vector<runtime::Buffer> given =
      debug_nans::enabled() ? arguments : std::vector<runtime::Buffer>();
  CallDevice device;
  for (const Array& a : program.captured) device.add(a, "the operation");
  runtime::Client* mesh = device.bound() ? nullptr : client_of_constraints(*program.block);
  const std::shared_ptr<runtime::Executable> executable =
      (mesh ? *mesh : client_for(device.device())).compile(*program.block, {.any_size = true});
  std::vector<runtime::Buffer> results =
      with_memory([&] { return maker_of(*program.block); }, *executable,
                  [&] { return executable->run(std::move(arguments)); });
  if (debug_nans::enabled()) check_nans(program.block.get(), given, results, "the operation");
  std::vector<Array> out;
  for (std::size_t i = 0; i < results.size(); ++i)
    out.push_back(
        concrete(std::move(results[i]).bound(device.bound() || mesh != nullptr), program.weak[i]));
  return out;
}

}  // namespace

ir::Value* deleted_value() {
  static ir::Block* const block = new ir::Block;  // arrays may go after everything static
  static ir::Value* const value = block->add_argument(Type::scalar(DType::i1));
  return value;
}

std::vector<Array> emit(std::span<const Array> operands, const EmitFunction& f,
                        const std::vector<bool>& weak) {
  if (Trace* trace = Trace::current()) return record(*trace, operands, f, weak);
  return run(traced_operation(operands, f, weak));
}

Program operation_program(std::span<const Array> operands, const EmitOneFunction& f, bool weak) {
  return traced_operation(
      operands, [&](ir::Builder& b, const ir::Values& v) { return ir::Values{f(b, v)}; }, {weak});
}

Array emit_one(std::span<const Array> operands, bool weak, const EmitOneFunction& f) {
  return emit(operands, [&](ir::Builder& b, const ir::Values& v) { return ir::Values{f(b, v)}; },
              {weak})[0];
}

std::vector<Array> call(const Program& program, std::span<const Array> arguments) {
  std::vector<Array> operands(arguments.begin(), arguments.end());
  operands.insert(operands.end(), program.captured.begin(), program.captured.end());
  return emit(
      operands,
      [&](ir::Builder& b, const ir::Values& v) { return ir::inline_block(b, *program.block, v); },
      program.weak);
}

std::string origin(const ArrayState& state) {
  const std::string type = describe(state.type), where = state.where.text();
  if (!state.argument) return where.empty() ? type : fmt::format("{} made at {}", type, where);
  return fmt::format("{}, an argument of the function traced{},", type,
                     where.empty() ? "" : " at " + where);
}

}  // namespace strata::internal
