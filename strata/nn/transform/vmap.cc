#include "strata/nn/transform/vmap.h"

#include "strata/api/transform/batched_program.h"

namespace strata::nn {

std::optional<std::int64_t> Prefix::axis_of(const tree::Entry& entry, const Array& value) const {
  for (const auto& [filter, axis] : rules_)
    if (filter(entry, value)) return axis;
  return {};
}

Prefix prefix(std::vector<Prefix::Rule> rules) {
  for (std::size_t i = 0; i + 1 < rules.size(); ++i)
    if (rules[i].first.takes_everything())
      strata::internal::fail("prefix",
                             "filter {} takes everything, and nothing is left for filter {} ({})",
                             i, i + 1, rules[i + 1].first.text());
  return Prefix(std::move(rules));
}

std::optional<std::int64_t> MappedAxis::axis_of(const tree::Entry& entry,
                                                const Array& value) const {
  if (const auto* axis = std::get_if<std::optional<std::int64_t>>(&axis_)) return *axis;
  return std::get<Prefix>(axis_).axis_of(entry, value);
}

namespace detail {

namespace {

/// A callee whose first leaf is the place along the axis, which the axis' name stands for
/// meanwhile.
class Placed : public Callee {
 public:
  Placed(Callee& inner, const VmapOptions& options, std::int64_t size)
      : inner_(inner), options_(options), size_(size) {}
  std::vector<Array> call(std::span<const Array> leaves, std::vector<Array>& after) override {
    std::optional<strata::internal::AxisScope> scope;
    if (!options_.axis_name.empty())
      scope.emplace(strata::internal::BoundAxis{options_.axis_name, size_, leaves[0]});
    if (Collector* collector = Collector::current()) collector->slice_by(leaves[0]);
    std::vector<Array> rest;
    std::vector<Array> results = inner_.call(leaves.subspan(1), rest);
    after = {leaves[0]};
    after.insert(after.end(), rest.begin(), rest.end());
    return results;
  }
  std::size_t arguments() const override { return inner_.arguments(); }
  void accept(std::size_t argument, tree::Visitor& visitor) const override {
    inner_.accept(argument, visitor);
  }

 private:
  Callee& inner_;
  const VmapOptions& options_;
  std::int64_t size_;
};

}  // namespace

namespace {
/// Throws Error with paths where mapped axes have different sizes, or do not exist.
void check_mapped_sizes(const Callee& callee, std::span<const Array> values,
                        std::span<const std::optional<std::int64_t>> axes,
                        std::optional<std::int64_t> axis_size) {
  using strata::internal::describe;
  using strata::internal::fail;
  std::optional<std::size_t> first;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!axes[i]) continue;
    const auto path = [&](std::size_t k) { return argument_paths(callee)[k]; };
    const int rank = values[i].ndim();
    if (*axes[i] < -rank || *axes[i] >= rank)
      fail("vmap", "{} is {} and has no axis {} to be mapped over; map it with none", path(i),
           describe(values[i].type()), *axes[i]);
    const std::int64_t size = values[i].shape(static_cast<int>(*axes[i]));
    if (axis_size && size != *axis_size)
      fail("vmap", "axis_size is {}, axis {} of {} ({}) has size {}", *axis_size, *axes[i], path(i),
           describe(values[i].type()), size);
    if (!first) first = i;
    const std::int64_t other = values[*first].shape(static_cast<int>(*axes[*first]));
    if (size != other)
      fail("vmap",
           "axis {} of {} ({}) has size {}, axis {} of {} ({}) size {}; what is the same "
           "for all is mapped with none",
           *axes[*first], path(*first), describe(values[*first].type()), other, *axes[i], path(i),
           describe(values[i].type()), size);
  }
}
}  // namespace

std::vector<Array> vmap(Callee& callee, const VmapOptions& options) {
  using strata::internal::fail;
  const std::vector<ArgumentLeaf> leaves = argument_leaves(callee);
  const std::vector<Array> values = values_of(leaves);
  const auto& in_axes = options.in_axes;
  if (!in_axes.empty() && !in_axes.is_one() && in_axes.size() != callee.arguments())
    fail("vmap", "in_axes has {} entries for {} arguments", in_axes.size(), callee.arguments());
  std::vector<std::optional<std::int64_t>> axes;
  for (std::size_t i = 0; i < callee.arguments(); ++i) {
    const MappedAxis of_argument =
        in_axes.empty() ? MappedAxis(0) : in_axes[in_axes.is_one() ? 0 : i];
    const tree::Tree argument = argument_tree(callee, i);
    for (std::size_t k = 0; k < argument.size(); ++k)
      axes.push_back(of_argument.axis_of(argument.entry(k), argument.value(k)));
  }
  check_mapped_sizes(callee, values, axes, options.axis_size);
  const strata::VmapOptions plain{
      .out_axes = options.out_axes, .axis_name = options.axis_name, .axis_size = options.axis_size};
  const strata::internal::Mapped mapped = strata::internal::split_types(values, axes, plain);
  Placed placed(callee, options, mapped.size);
  std::vector<Type> types = {Type::scalar(DType::i32)};
  types.insert(types.end(), mapped.types.begin(), mapped.types.end());
  std::vector<Array> inputs = {Array::scalar(std::int64_t{0}, DType::i32, false)};
  inputs.insert(inputs.end(), values.begin(), values.end());
  const Traced traced = trace(placed, inputs, Trace::Kind::nested, types);
  strata::internal::check_out_axes(plain, traced.results);

  std::vector<std::size_t> changed;  // of the callee's own leaves
  for (std::size_t i : traced.changed) changed.push_back(i - 1);
  const std::vector<Array> operands = strata::internal::joined(values, traced.program.captured);
  const auto body = [&](ir::Builder& b, const ir::Values& v) {
    const bool has_place = !options.axis_name.empty() || Collector::has_init();
    const op::Batched r = strata::internal::batch_program(b, traced.program, v, mapped, has_place);
    ir::Values out;
    for (std::size_t i = 0; i < r.results.size(); ++i) {
      const bool is_state = i >= traced.results && i < traced.results + changed.size();
      const std::size_t leaf = is_state ? changed[i - traced.results] : 0;
      if (is_state && !mapped.axes[leaf]) {
        if (r.batched[i])
          fail("vmap",
               "{} is not mapped, but the function changes it to what depends on the mapped axis; "
               "give it an axis, or split its random streams",
               argument_paths(callee)[leaf]);
        out.push_back(r.results[i]);
        continue;
      }
      std::int64_t axis = 0;
      if (is_state)
        axis = *mapped.axes[leaf];
      else if (i < traced.results)
        axis = strata::internal::out_axis(plain, i);
      out.push_back(
          strata::internal::at_out_axis(b, r.results[i], r.batched[i], axis, mapped.size));
    }
    return out;
  };
  std::vector<Array> out = strata::internal::emit(operands, body, traced.program.weak);
  write_back(leaves, changed, std::span<const Array>(out).subspan(traced.results));
  deliver(traced.sown, std::span<const Array>(out).subspan(traced.results + changed.size()));
  out.resize(traced.results);
  return out;
}

}  // namespace detail

}  // namespace strata::nn
