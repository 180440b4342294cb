#include "strata/nn/transform/vmap.h"

#include "strata/api/batched_program.h"

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
  strata::internal::check_out_axes(options, traced.results);

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
        axis = strata::internal::out_axis(options, i);
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

}  // namespace strata::nn::detail
