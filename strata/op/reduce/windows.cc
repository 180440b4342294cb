// strata.windows: all windows of an array side by side. Nothing is stored of it where it is read
// element by element: a product or a reduction over windows computes the positions as it goes.
//
// Contract: operands array, padding (a scalar of its dtype); attributes `window_dimensions` and,
// all 1 or 0 where left out, `window_strides`, `base_dilations`, `window_dilations`, `padding` (2 *
// rank numbers). The result has the window's dimensions, then the numbers of windows.
#include "strata/op/reduce/windows.h"

#include <fmt/format.h>

#include "strata/op/build.h"
#include "strata/op/index/indexing.h"

namespace strata::op {
namespace {

constexpr const char* kSelf = "windows";
constexpr const char* kName = "strata.windows";

WindowDims dims_of(const Attrs& attrs, int rank) {
  WindowDims dims;
  dims.size = expect_attr<Ints>(kSelf, attrs, "window_dimensions");
  expect_length(kSelf, "window_dimensions", dims.size, rank);
  for (std::int64_t size : dims.size)
    if (size < 0) throw Error(kSelf, "window_dimensions has a negative entry {}", size);
  dims.stride = window_list(kSelf, attrs, {"window_strides", "C1", "C2"}, rank);
  dims.base_dilation = window_list(kSelf, attrs, {"base_dilations", "C1", "C2"}, rank);
  dims.window_dilation = window_list(kSelf, attrs, {"window_dilations", "C1", "C2"}, rank);
  set_padding(kSelf, attrs, "C3", dims);
  return dims;
}
WindowDims dims_of(const Op& op) { return dims_of(op.attrs, op.operand(0)->rank()); }

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>>) {
  expect_operands(kSelf, operands, 2);
  const Type &in = operands[0]->type(), &value = operands[1]->type();
  if (value.rank() != 0 || value.dtype() != in.dtype())
    throw Error(kSelf, "the padding of {} must be a scalar of its dtype, got {}", in.to_string(),
                value.to_string());
  WindowDims d = dims_of(attrs, in.rank());
  std::vector<Dim> dims(d.size.begin(), d.size.end());
  for (int i = 0; i < in.rank(); ++i) dims.push_back(window_count(d, i, in.shape().dim(i)));
  return {in.with(Shape(std::move(dims)))};
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator&) {
  const Literal& x = operands[0];
  WindowDims d = dims_of(op);
  std::vector<Dim> sizes(d.size.begin(), d.size.end());
  for (int i = 0; i < d.rank(); ++i) sizes.push_back(window_count(d, i, x.shape().dim(i)));
  Literal out(x.type().with(Shape(std::move(sizes))));
  std::vector<std::int64_t> strides = x.shape().strides();
  std::size_t rank = strides.size();
  for_each_index(out.shape(), [&](std::span<const std::int64_t> index, std::int64_t to) {
    std::int64_t from = 0;
    bool inside = true;
    for (std::size_t i = 0; i < rank; ++i) {
      std::int64_t at = index[rank + i] * d.stride[i] + index[i] * d.window_dilation[i] - d.low[i];
      inside = inside && at >= 0 && at % d.base_dilation[i] == 0 &&
               at / d.base_dilation[i] < x.shape()[static_cast<int>(i)];
      from += at / d.base_dilation[i] * strides[i];
    }
    inside ? copy_element(x, from, out, to) : copy_element(operands[1], 0, out, to);
  });
  return {std::move(out)};
}

// ---- transpose ---------------------------------------------------------------------------------

/// The cotangents of all windows added up where their elements came from; the padding's is the sum
/// of the others.
Values transpose_rule(Builder& b, const Op& op, std::span<Value* const>,
                      const std::vector<bool>& linear, std::span<Value* const> ct) {
  if (!ct[0]) return {nullptr, nullptr};
  WindowDims d = dims_of(op);
  const Shape& in = op.operand(0)->shape();
  Value* at = positions(b, in);
  at = windows(b, at, scalar(b, at->dtype(), static_cast<double>(in.count())), d);
  Value *of_array = nullptr, *of_padding = nullptr;
  if (linear[0])
    of_array = reshape(
        b, scatter_flat(b, zeros(b, Type(ct[0]->dtype(), Shape{in.count()})), at, ct[0], "add"),
        in);
  if (linear[1]) {
    Ints all;
    for (int i = 0; i < ct[0]->rank(); ++i) all.push_back(i);
    Value* outside = compare(b, at, full_like(b, at, static_cast<double>(in.count())), "EQ");
    of_padding = reduce_sum(b, select(b, outside, ct[0], zeros_like(b, ct[0])), all);
  }
  return {of_array, of_padding};
}

// ---- batching, sharding ------------------------------------------------------------------------

Batched batch(Builder& b, const Op& op, std::span<Value* const> operands,
              const std::vector<bool>& batched, std::int64_t size) {
  WindowDims d = with_leading(dims_of(op));
  Value* x = batched_operand(b, operands[0], batched[0], size);
  Type type = with_leading(op.result()->type(), size);
  auto leading = [&](Value* array, Value* padding) {  // [1, w..., size, o...] to [size, w..., o...]
    Value* all = windows(b, array, padding, d);
    std::vector<Dim> sizes = all->shape().dims();
    sizes.erase(sizes.begin());
    return move_dim(b, reshape(b, all, Shape(std::move(sizes))), d.rank() - 1, 0);
  };
  if (!batched[1]) return {{leading(x, operands[1])}, {true}};
  // A padding for each: take any, then choose.
  Value* any = leading(x, zeros(b, Type::scalar(x->dtype())));
  Value* inside = leading(constant(b, x->type().with(DType::i1), 1), scalar(b, DType::i1, 0));
  return {{select(b, inside, any, broadcast_in_dim(b, operands[1], type.shape(), {0}))}, {true}};
}

Factors shard(const Op& op) {
  FactorTable t(op);
  WindowDims d = dims_of(op);
  for (int i = 0; i < d.rank(); ++i) {
    int f = t.factor(d.is_trivial(i) ? 'p' : 'm', op.operand(0)->shape().dim(i).bound());
    t.operand(0, i, f);
    t.result(0, d.rank() + i, f);
    t.result(0, i, t.factor('n', d.size[static_cast<std::size_t>(i)]));
  }
  return t.take();
}

// ---- lowering ----------------------------------------------------------------------------------

loop::Inst* element(LowerContext& c, const Op& op, int, std::span<const loop::Index> index) {
  WindowDims d = dims_of(op);
  std::size_t rank = static_cast<std::size_t>(d.rank());
  std::vector<loop::Index> position;
  for (std::size_t i = 0; i < rank; ++i)
    position.push_back(index[rank + i] * d.stride[i] + index[i] * d.window_dilation[i] -
                       loop::Index(d.low[i]));
  return element_seen(c, op, position);
}

/// In plain StableHLO: the padded array, gathered at numbers computed from iotas.
Values decompose(Builder& b, const Op& op, std::span<Value* const> operands) {
  WindowDims d = dims_of(op);
  const Type& type = op.result()->type();
  if (type.shape().count() == 0) return {zeros(b, type)};
  Ints interior;
  for (std::int64_t dilation : d.base_dilation) interior.push_back(dilation - 1);
  Value* padded = pad(b, operands[0], operands[1], d.low, d.high, interior);
  std::vector<std::int64_t> strides = padded->shape().strides();
  Type numbers(padded->shape().count() < (std::int64_t{1} << 31) ? DType::i32 : DType::i64,
               type.shape());
  Value* at = zeros(b, numbers);
  for (int i = 0; i < 2 * d.rank(); ++i) {
    auto k = static_cast<std::size_t>(i % d.rank());
    std::int64_t step = (i < d.rank() ? d.window_dilation : d.stride)[k] * strides[k];
    at = add(b, at, mul(b, iota(b, numbers, i), constant(b, numbers, static_cast<double>(step))));
  }
  return {take_flat(b, reshape(b, padded, Shape{padded->shape().count()}), at)};
}

}  // namespace

// ---- dimensions --------------------------------------------------------------------------------

WindowDims WindowDims::trivial(int rank) {
  Ints ones(static_cast<std::size_t>(rank), 1), none(static_cast<std::size_t>(rank), 0);
  return {ones, ones, ones, ones, none, none};
}
bool WindowDims::is_trivial(int d) const {
  auto i = static_cast<std::size_t>(d);
  return size[i] == 1 && stride[i] == 1 && base_dilation[i] == 1 && low[i] == 0 && high[i] == 0;
}

Ints window_list(std::string_view op, const Attrs& attrs, const WindowAttr& attr, int rank) {
  Ints list = attr_or<Ints>(op, attrs, attr.name, Ints(static_cast<std::size_t>(rank), 1));
  if (static_cast<int>(list.size()) != rank)
    throw Error(std::string(op), "{} must have {} entries, got {} ({})", attr.name, rank,
                list.size(), attr.length);
  for (std::int64_t n : list)
    if (n <= 0)
      throw Error(std::string(op), "{} must be positive, got [{}] ({})", attr.name,
                  fmt::join(list, ", "), attr.positive);
  return list;
}

void set_padding(std::string_view op, const Attrs& attrs, const char* constraint,
                 WindowDims& dims) {
  std::size_t rank = dims.size.size();
  Ints flat = attr_or<Ints>(op, attrs, "padding", Ints(2 * rank, 0));
  if (flat.size() != 2 * rank)
    throw Error(std::string(op), "padding must have shape [{}, 2], got {} numbers ({})", rank,
                flat.size(), constraint);
  dims.low.clear();
  dims.high.clear();
  for (std::size_t i = 0; i < rank; ++i) {
    dims.low.push_back(flat[2 * i]);
    dims.high.push_back(flat[2 * i + 1]);
  }
}
Ints flat_padding(const WindowDims& dims) {
  Ints out;
  for (std::size_t i = 0; i < dims.low.size(); ++i) {
    out.push_back(dims.low[i]);
    out.push_back(dims.high[i]);
  }
  return out;
}

Dim window_count(const WindowDims& dims, int d, const Dim& size) {
  auto i = static_cast<std::size_t>(d);
  if (dims.is_trivial(d)) return size;
  if (!size.is_static()) return Dim::unknown();
  using Wide = __int128;  // programs may say any number
  constexpr Wide kMost = Wide{1} << 61;
  auto dilated = [](std::int64_t n, std::int64_t by) {
    return n == 0 ? Wide{0} : (Wide{n} - 1) * by + 1;
  };
  Wide low = dims.low[i], padded = low + dilated(size.size(), dims.base_dilation[i]) + dims.high[i];
  Wide window = dilated(dims.size[i], dims.window_dilation[i]);
  if (padded <= 0 || window > padded) return 0;
  if (padded > kMost || low < -kMost || low > kMost)
    throw Error(kSelf, "padding {} and {} makes dimension {} of size {} too large", dims.low[i],
                dims.high[i], d, size.size());
  return static_cast<std::int64_t>((padded - window) / dims.stride[i] + 1);
}

WindowDims with_leading(const WindowDims& d) {
  return {prepended(1, d.size),          prepended(1, d.stride),
          prepended(1, d.base_dilation), prepended(1, d.window_dilation),
          prepended(0, d.low),           prepended(0, d.high)};
}

void set_window_attrs(Attrs& attrs, const WindowDims& d) {
  attrs.set("window_dimensions", d.size)
      .set("window_strides", d.stride)
      .set("padding", flat_padding(d));
  attrs.set("base_dilations", d.base_dilation).set("window_dilations", d.window_dilation);
}

// ---- what a compiler asks ----------------------------------------------------------------------

std::optional<WindowDims> window_dims(const Op& op) {
  return op.name() == kName ? std::optional(dims_of(op)) : std::nullopt;
}

loop::Inst* element_seen(LowerContext& c, const Op& op, std::span<const loop::Index> position) {
  const Shape& in = op.operand(0)->shape();
  loop::Inst* padding = c.operand(op, 1, {});
  if (in.count() == 0) return padding;
  WindowDims d = dims_of(op);
  std::vector<loop::Index> from;
  std::vector<loop::Inst*> inside;
  for (std::size_t i = 0; i < position.size(); ++i) {
    std::int64_t step = d.base_dilation[i];
    loop::Index at = position[i];
    if (step > 1) {  // a multiple of step is added so that div and mod see no negative index
      std::int64_t up = d.low[i] > 0 ? (d.low[i] + step - 1) / step : 0;
      loop::Index raised = at + loop::Index(up * step);
      inside.push_back(c.b.less(c.b.mod(raised, step), 1));
      at = c.b.div(raised, step) - loop::Index(up);
    }
    inside.push_back(c.b.less(-1, at));
    inside.push_back(c.b.less(at, in[static_cast<int>(i)]));
    from.push_back(at);
  }
  return c.b.guarded(all_of(c.b, inside), [&] { return c.operand(op, 0, from); }, padding);
}

// ---- builders ----------------------------------------------------------------------------------

Value* windows(Builder& b, Value* array, Value* padding, const WindowDims& dims) {
  Attrs attrs;
  set_window_attrs(attrs, dims);
  return b.create(kName, {array, padding}, std::move(attrs)).result();
}

Value* positions(Builder& b, const Shape& shape) {
  DType dtype = shape.count() < (std::int64_t{1} << 31) - 1 ? DType::i32 : DType::i64;
  return reshape(b, iota(b, Type(dtype, Shape{shape.count()}), 0), shape);
}

namespace {

IndexDims flat_dims(std::int64_t index_vector) {
  return {.window = {},
          .dropped = {0},
          .operand_batch = {},
          .indices_batch = {},
          .index_map = {0},
          .index_vector = index_vector};
}

}  // namespace

Value* take_flat(Builder& b, Value* array, Value* at) {
  return gather(b, array, at, flat_dims(at->rank()), {1});
}

Value* scatter_flat(Builder& b, Value* array, Value* at, Value* updates,
                    const std::string& combiner, std::vector<std::unique_ptr<Block>> regions) {
  Attrs attrs;
  set_scatter_dims(attrs, flat_dims(at->rank()));
  attrs.set("indices_are_sorted", false).set("unique_indices", false).set("combiner", combiner);
  return b.create("stablehlo.scatter", {array, at, updates}, std::move(attrs), std::move(regions))
      .result();
}

const OpDef& windows_def() {
  static const OpDef def{
      .info = {.name = kName, .infer = infer},
      .summary = "all windows of an array side by side, dimensions of the window first",
      .traits = {.cheap = true, .moves_only = true},
      .evaluate = evaluate,
      .jvp = linear_jvp,
      .linearize = None{"no regions"},
      .transpose = transpose_rule,
      .batch = batch,
      .shard = shard,
      .cost = move_cost,
      .lowering = Elementwise{element},
      .decompose = decompose,
  };
  return def;
}

}  // namespace strata::op
