#include "strata/nn/transform/scan.h"

#include <algorithm>

#include "strata/api/numpy.h"
#include "strata/api/trace/compose.h"
#include "strata/api/transform/custom.h"

namespace strata::nn::detail {

namespace {
using Arrays = std::vector<Array>;

/// The leaves by how they take part.
struct Parts {
  std::vector<std::size_t> carried;  // of the argument that is carried
  std::vector<std::size_t> state;    // of arguments without an axis, that are changed
  std::vector<std::size_t> sliced;
};

/// A callee that runs at the first place along the axis.
class First : public Callee {
 public:
  explicit First(Callee& inner) : inner_(inner) {}
  std::vector<Array> call(std::span<const Array> leaves, std::vector<Array>& after) override {
    if (Collector* collector = Collector::current())
      collector->slice_by(Array::scalar(std::int64_t{0}, DType::i32, false));
    return inner_.call(leaves, after);
  }
  std::size_t arguments() const override { return inner_.arguments(); }
  void accept(std::size_t argument, tree::Visitor& visitor) const override {
    inner_.accept(argument, visitor);
  }

 private:
  Callee& inner_;
};

/// Throws Error with the path where what a step hands on has another type than what it was given.
void check_carry(const Callee& callee, std::size_t leaf, const Array& before, const Array& after) {
  const bool same_dtype = before.dtype() == after.dtype() || before.weak() || after.weak();
  if (before.shape() == after.shape() && same_dtype) return;
  strata::internal::fail("scan",
                         "{} is carried from step to step, and is {} before a step and {} after it",
                         argument_paths(callee)[leaf], strata::internal::describe(before.type()),
                         strata::internal::describe(after.type()));
}
}  // namespace

std::vector<Array> scan(Callee& callee, const ScanOptions& options,
                        const std::function<std::size_t()>& carried_results) {
  using strata::internal::fail;
  if (options.in_axes.size() != callee.arguments())
    fail("scan", "in_axes has {} entries for {} arguments", options.in_axes.size(),
         callee.arguments());
  const auto carries = [](const std::vector<ScanAxis>& axes) {
    return std::count_if(axes.begin(), axes.end(), [](const ScanAxis& a) { return a.is_carry(); });
  };
  if (carries(options.in_axes) > 1) fail("scan", "more than one argument is carried");
  if (carries(options.in_axes) != carries(options.out_axes))
    fail("scan", "{}",
         carries(options.in_axes) ? "an argument is carried, but no result"
                                  : "a result is carried, but no argument");
  if (options.out_axes.empty() || options.out_axes.size() > 2 ||
      (options.out_axes.size() == 2 && !options.out_axes[0].is_carry()))
    fail("scan", "out_axes are {{Carry}}, {{axis}} or {{Carry, axis}}");

  const std::vector<ArgumentLeaf> leaves = argument_leaves(callee);
  const Arrays values = values_of(leaves);
  Parts parts;
  std::vector<bool> broadcast(leaves.size(), false);
  std::vector<int> axis(leaves.size(), 0);
  Arrays xs;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const ScanAxis& in = options.in_axes[leaves[i].argument];
    if (in.is_carry()) {
      parts.carried.push_back(i);
    } else if (in.is_none()) {
      broadcast[i] = true;
    } else {
      if (values[i].ndim() == 0)
        fail("scan", "{} is a number and has no axis {}", argument_paths(callee)[i], in.axis());
      axis[i] = strata::internal::axis_of("scan", in.axis(), values[i].ndim());
      parts.sliced.push_back(i);
      xs.push_back(numpy::moveaxis(values[i], axis[i], 0));
    }
  }
  std::optional<std::int64_t> length = options.length;
  const std::vector<Type> elements = strata::internal::element_types(xs, length);

  // Traced once to see which state the function changes: that is carried, too.
  std::vector<Type> types;
  std::size_t next = 0;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const bool slice = next < parts.sliced.size() && parts.sliced[next] == i;
    types.push_back(slice ? elements[next] : values[i].type());
    next += slice;
  }
  std::vector<std::size_t> sliced_state;  // places in parts.sliced
  First first(callee);
  for (std::size_t i : trace(first, values, Trace::Kind::nested, types).changed) {
    if (broadcast[i]) parts.state.push_back(i);
    const auto it = std::find(parts.sliced.begin(), parts.sliced.end(), i);
    if (it != parts.sliced.end())
      sliced_state.push_back(static_cast<std::size_t>(it - parts.sliced.begin()));
  }
  const std::size_t carried = carried_results();
  if (carried != parts.carried.size())
    fail("scan", "the carry has {} leaves, the function returns {} for it", parts.carried.size(),
         carried);

  // Where somebody captures, each step knows its place and hands out what it puts aside.
  const bool captures = Collector::current() != nullptr;
  if (captures) xs.push_back(numpy::arange(*length));
  std::vector<Sown> sown;
  const auto step = [&](const std::pair<Arrays, Arrays>& carry, const Arrays& x) {
    Arrays given = values, after;
    for (std::size_t k = 0; k < parts.carried.size(); ++k) given[parts.carried[k]] = carry.first[k];
    for (std::size_t k = 0; k < parts.state.size(); ++k) given[parts.state[k]] = carry.second[k];
    for (std::size_t k = 0; k < parts.sliced.size(); ++k) given[parts.sliced[k]] = x[k];
    std::optional<Collector> collector;
    if (captures) {
      collector.emplace();
      collector->slice_by(x.back());
    }
    const Arrays results = callee.call(given, after);
    for (std::size_t k = 0; k < parts.carried.size(); ++k)
      check_carry(callee, parts.carried[k], given[parts.carried[k]], results[k]);
    for (std::size_t i : parts.state) check_carry(callee, i, given[i], after[i]);
    const auto split = results.begin() + static_cast<std::ptrdiff_t>(carried);
    std::pair<Arrays, Arrays> next_carry{Arrays(results.begin(), split), {}};
    std::pair<Arrays, Arrays> ys{Arrays(split, results.end()), {}};
    for (std::size_t i : parts.state) next_carry.second.push_back(after[i]);
    for (std::size_t k : sliced_state) ys.second.push_back(after[parts.sliced[k]]);
    if (captures) {
      sown = std::move(collector->sown());
      for (Sown& one : sown) ys.second.push_back(std::exchange(one.value, Array()));
    }
    return std::pair(std::move(next_carry), std::move(ys));
  };
  std::pair<Arrays, Arrays> init;
  for (std::size_t i : parts.carried) init.first.push_back(values[i]);
  for (std::size_t i : parts.state) init.second.push_back(values[i]);
  const strata::ScanOptions plain{.length = length, .reverse = options.reverse};
  auto [last, ys] =
      options.remat ? strata::scan(strata::remat(step, {.policy = *options.remat}), init, xs, plain)
                    : strata::scan(step, init, xs, plain);

  write_back(leaves, parts.state, last.second);
  for (std::size_t k = 0; k < sliced_state.size(); ++k) {
    const std::size_t i = parts.sliced[sliced_state[k]];
    *leaves[i].value = numpy::moveaxis(ys.second[k], 0, axis[i]);
  }
  deliver(sown, std::span<const Array>(ys.second).subspan(sliced_state.size()));
  Arrays out = std::move(last.first);
  const ScanAxis& along = options.out_axes.back();
  for (const Array& y : ys.first)
    out.push_back(along.is_carry() || along.is_none() ? y : numpy::moveaxis(y, 0, along.axis()));
  return out;
}

}  // namespace strata::nn::detail
