#include "strata/optim/transform/microbatching.h"

#include <algorithm>
#include <map>

#include "strata/api/trace/trace.h"
#include "strata/api/transform/control.h"
#include "strata/api/transform/grad.h"
#include "strata/api/transform/vmap.h"

namespace strata::optim::microbatching {

namespace {

/// Rows of a carry (parts, size, ...) in the batch's order.
Array in_order(const Array& x) {
  std::vector<std::int64_t> order{1, 0}, shape{-1};
  for (int i = 2; i < x.ndim(); ++i) {
    order.push_back(i);
    shape.push_back(x.shape(i));
  }
  return numpy::reshape(x.transpose(order), shape);
}
/// What an Accumulation stands for, over so many parts.
Accumulator usual(Accumulation kind, std::int64_t parts) {
  const auto zeros = [](const Array& like) { return numpy::zeros_like(like); };
  const auto sum = [](const Array& carry, const Array& value, const Array&) {
    return numpy::astype(carry + value, carry.dtype());
  };
  const auto same = [](const Array& x) { return x; };
  const auto mean_of_rows = [](const Array& rows) { return numpy::mean(rows, 0); };
  switch (kind) {
    case Accumulation::sum:
      return {zeros, sum, same, [](const Array& rows) { return numpy::sum(rows, 0); }};
    case Accumulation::mean:
      return {zeros, sum, [=](const Array& x) { return x / static_cast<double>(parts); },
              mean_of_rows};
    case Accumulation::running_mean:
      return {zeros,
              [](const Array& carry, const Array& value, const Array& index) {
                const Array p =
                    numpy::astype(index, DType::f32) / numpy::astype(index + 1, DType::f32);
                return numpy::astype(carry * p + value * (1.0 - p), carry.dtype());
              },
              same, mean_of_rows};
    case Accumulation::concat: break;
  }
  return {[=](const Array& like) {
            std::vector<std::int64_t> shape = like.shape().sizes();
            shape.insert(shape.begin(), parts);
            return numpy::zeros(shape, like.dtype());
          },
          [](const Array& carry, const Array& value, const Array& index) {
            return carry.at(index).set(value);
          },
          in_order, same};
}
/// How this leaf is joined. Throws Error for a mean of anything but floats.
Accumulator accumulator_of(const tree::Entry& e, const Array& x, const MicrobatchOptions& o,
                           std::int64_t parts) {
  const Joined* joined = &o.accumulator;
  for (auto it = o.by_path.rbegin(); it != o.by_path.rend(); ++it)
    if (e.name == it->first || e.name.starts_with(it->first + "/")) joined = &it->second;
  if (const auto* own = std::get_if<Accumulator>(joined)) return *own;
  const auto kind = std::get<Accumulation>(*joined);
  const bool mean = kind == Accumulation::mean || kind == Accumulation::running_mean;
  if (mean && !is_float(x.dtype()) && !is_complex(x.dtype()))
    throw Error("microbatch", "means are of floats; {} is {}", e.name,
                strata::internal::describe(x.type()));
  return usual(kind, parts);
}
/// The batch's size, which all leaves of the cut arguments share.
std::int64_t batch_size(const std::vector<Tree>& arguments, const std::vector<std::size_t>& argnums,
                        std::int64_t axis) {
  std::optional<std::int64_t> size;
  for (std::size_t i : argnums) {
    if (i >= arguments.size())
      throw Error("microbatch", "there is no argument {} of {}", i, arguments.size());
    for (const Array& x : arguments[i].values()) {
      const std::int64_t here = x.shape(static_cast<int>(axis));
      if (size && *size != here)
        throw Error("microbatch", "batch axes differ: {} and {}", *size, here);
      size = here;
    }
  }
  if (!size) throw Error("microbatch", "no argument is cut");
  return *size;
}
/// All rows at once, joined.
Tree aggregated(const Tree& values, const MicrobatchOptions& o) {
  return values.map([&](const tree::Entry& e, const Array& x) {
    const Accumulator how = accumulator_of(e, x, o, /*parts=*/1);
    if (!how.aggregate)
      throw Error("micro_vmap", "the accumulator of {} says not how rows are joined: aggregate",
                  e.name);
    return how.aggregate(x);
  });
}

}  // namespace

Tree reshape_batch_axis(const Tree& tree, std::int64_t microbatch_size, std::int64_t axis) {
  return tree.map([&](const tree::Entry& e, const Array& x) {
    std::vector<std::int64_t> shape = x.shape().sizes(), order;
    const auto at = static_cast<std::size_t>(axis);
    if (at >= shape.size() || microbatch_size < 1 || shape[at] % microbatch_size != 0)
      throw Error("reshape_batch_axis", "axis {} of {} ({}) is not of parts of {}", axis, e.name,
                  strata::internal::describe(x.type()), microbatch_size);
    const std::int64_t parts = shape[at] / microbatch_size;
    shape[at] = parts;
    shape.insert(shape.begin() + axis, microbatch_size);
    for (std::size_t i = 0; i < shape.size(); ++i) order.push_back(static_cast<std::int64_t>(i));
    std::swap(order[at], order[at + 1]);
    return numpy::reshape(x, shape).transpose(order);
  });
}

Function microbatch(Function fun, std::vector<std::size_t> argnums,
                    std::optional<std::int64_t> microbatch_size, MicrobatchOptions o) {
  if (!microbatch_size) return fun;
  const std::int64_t size = *microbatch_size;
  return [=](const std::vector<Tree>& arguments) {
    const std::int64_t all = batch_size(arguments, argnums, o.axis);
    if (size < 1 || all % size != 0)
      throw Error("microbatch", "a batch of {} is not of parts of {}", all, size);
    const std::int64_t parts = all / size;
    std::vector<Tree> cut = arguments;
    for (std::size_t i : argnums) cut[i] = reshape_batch_axis(arguments[i], size, o.axis);
    const auto part = [&](const Array& index) {
      std::vector<Tree> mine = cut;
      for (std::size_t i : argnums)
        mine[i] = trees::map([&](const Array& x) { return numpy::take(x, index, o.axis); }, cut[i]);
      return fun(mine);
    };
    // What a part gives says shapes and dtypes of the carries; part 0 is not computed for it.
    const Tree like = part(Array::scalar(std::int64_t{0}, DType::i32, false));
    std::map<std::string, Accumulator> how;
    for (std::size_t i = 0; i < like.size(); ++i)
      how[like.entry(i).name] = accumulator_of(like.entry(i), like.value(i), o, parts);
    const Tree begin =
        like.map([&](const tree::Entry& e, const Array& x) { return how.at(e.name).init(x); });
    const auto body = [&](const Array& index, const Tree& carry) {
      const Tree value = part(index);
      return carry.map([&](const tree::Entry& e, const Array& c) {
        return how.at(e.name).update(c, value[e.name], index);
      });
    };
    const Tree end = o.num_real_microbatches
                         ? fori_loop(Array(0), *o.num_real_microbatches, body, begin)
                         : fori_loop(std::int64_t{0}, parts, body, begin);
    return end.map(
        [&](const tree::Entry& e, const Array& x) { return how.at(e.name).finalize(x); });
  };
}

Function micro_vmap(Function fun, std::vector<std::size_t> argnums,
                    std::optional<std::int64_t> microbatch_size, MicrobatchOptions o) {
  const Function rows = [=](const std::vector<Tree>& arguments) {
    std::vector<Tree> mapped;
    for (std::size_t i : argnums) mapped.push_back(arguments.at(i));
    const auto one = [&](const std::vector<Tree>& row) {
      std::vector<Tree> all = arguments;
      for (std::size_t i = 0; i < argnums.size(); ++i) all[argnums[i]] = row[i];
      return fun(all);
    };
    return aggregated(vmap(one, {.in_axes = o.axis})(mapped), o);
  };
  return microbatch(rows, argnums, microbatch_size, o);
}

std::function<MicroGrads(const Tree&, const Tree&)> micro_grad(
    std::function<Array(const Tree&, const Tree&)> fun, MicroGradOptions o) {
  const Function row = [=](const std::vector<Tree>& arguments) {
    const auto of_params = [&](const Tree& p) { return fun(p, arguments[1]); };
    const auto [value, grads] = strata::value_and_grad(of_params)(arguments[0]);
    const Tree metrics = o.metrics_fn ? o.metrics_fn(grads) : Tree();
    return tree::merge({(o.transform_fn ? o.transform_fn(grads) : grads).below("grads"),
                        Tree({{"values", value}}), metrics.below("metrics")});
  };
  const Function all =
      micro_vmap(row, {1}, o.microbatch_size,
                 {.accumulator = o.accumulator,
                  .by_path = {{"values", Accumulation::concat}, {"metrics", Accumulation::concat}},
                  .num_real_microbatches = o.num_real_microbatches});
  return [=](const Tree& params, const Tree& batch) {
    const Tree rows =
        o.keep_batch_dim
            ? trees::map([](const Array& x) { return numpy::expand_dims(x, 1); }, batch)
            : batch;
    const Tree out = all({params, rows});
    return MicroGrads{out.subtree("grads"), out["values"], out.subtree("metrics")};
  };
}

}  // namespace strata::optim::microbatching
