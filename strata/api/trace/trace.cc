#include "strata/api/trace/trace.h"

#include <atomic>
#include <cstring>
#include <limits>

#include "strata/op/build.h"

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

ir::Value* deleted_value() {
  static ir::Block* const block = new ir::Block;  // arrays may go after everything static
  static ir::Value* const value = block->add_argument(Type::scalar(DType::i1));
  return value;
}

std::string origin(const ArrayState& state) {
  const std::string type = describe(state.type), where = state.where.text();
  if (!state.argument) return where.empty() ? type : fmt::format("{} made at {}", type, where);
  return fmt::format("{}, an argument of the function traced{},", type,
                     where.empty() ? "" : " at " + where);
}

}  // namespace strata::internal
