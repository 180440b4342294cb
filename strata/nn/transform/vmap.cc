#include "strata/nn/transform/vmap.h"

#include "strata/api/compose.h"
#include "strata/op/calculus/batch.h"

namespace strata::nn::detail {

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

std::vector<Array> vmap(Callee& callee, const VmapOptions& options) {
  using strata::internal::fail;
  const std::vector<ArgumentLeaf> leaves = argument_leaves(callee);
  const std::vector<Array> values = values_of(leaves);
  if (!options.in_axes.empty() && options.in_axes.size() != callee.arguments())
    fail("vmap", "in_axes has {} entries for {} arguments", options.in_axes.size(),
         callee.arguments());
  std::vector<std::optional<std::int64_t>> axes;
  for (const ArgumentLeaf& leaf : leaves)
    axes.push_back(options.in_axes.empty() ? std::optional<std::int64_t>(0)
                                           : options.in_axes[leaf.argument]);
  const strata::internal::Mapped mapped = strata::internal::split_types(values, axes, options);
  Placed placed(callee, options, mapped.size);
  std::vector<Type> types = {Type::scalar(DType::i32)};
  types.insert(types.end(), mapped.types.begin(), mapped.types.end());
  std::vector<Array> inputs = {Array::scalar(std::int64_t{0}, DType::i32, false)};
  inputs.insert(inputs.end(), values.begin(), values.end());
  const Traced traced = trace(placed, inputs, Trace::Kind::nested, types);
  if (options.out_axes.size() > 1 && options.out_axes.size() != traced.results)
    fail("vmap", "out_axes has {} entries for {} leaves of the result", options.out_axes.size(),
         traced.results);

  std::vector<std::size_t> changed;  // of the callee's own leaves
  for (std::size_t i : traced.changed) changed.push_back(i - 1);
  const std::vector<Array> operands = strata::internal::joined(values, traced.program.captured);
  const auto body = [&](ir::Builder& b, const ir::Values& v) {
    const bool has_place = !options.axis_name.empty() || Collector::has_init();
    ir::Values given = {has_place ? op::iota(b, Type(DType::i32, {mapped.size}), 0) : nullptr};
    std::vector<bool> batched = {true};
    for (std::size_t i = 0; i < v.size(); ++i) {
      batched.push_back(i < mapped.axes.size() && mapped.axes[i]);
      given.push_back(batched.back() ? op::move_dim(b, v[i], *mapped.axes[i], 0) : v[i]);
    }
    const op::Batched r = op::batch(b, *traced.program.block, given, batched, mapped.size);
    ir::Values out;
    for (std::size_t i = 0; i < r.results.size(); ++i) {
      ir::Value* value = r.results[i];
      const bool is_state = i >= traced.results && i < traced.results + changed.size();
      const std::size_t leaf = is_state ? changed[i - traced.results] : 0;
      if (is_state && !mapped.axes[leaf]) {
        if (r.batched[i])
          fail("vmap",
               "{} is not mapped, but the function changes it to what depends on the mapped axis; "
               "give it an axis, or split its random streams",
               argument_paths(callee)[leaf]);
        out.push_back(value);
        continue;
      }
      if (!r.batched[i]) value = op::broadcast_leading(b, value, mapped.size);
      std::int64_t axis = 0;
      if (is_state)
        axis = *mapped.axes[leaf];
      else if (i < traced.results && !options.out_axes.empty())
        axis = options.out_axes[options.out_axes.size() == 1 ? 0 : i];
      out.push_back(
          op::move_dim(b, value, 0, strata::internal::axis_of("vmap", axis, value->rank())));
    }
    return out;
  };
  std::vector<Array> out = strata::internal::emit(operands, body, traced.program.weak);
  write_back(leaves, changed, std::span<const Array>(out).subspan(traced.results));
  deliver(traced.sown, std::span<const Array>(out).subspan(traced.results + changed.size()));
  out.resize(traced.results);
  return out;
}

}  // namespace strata::nn::detail
