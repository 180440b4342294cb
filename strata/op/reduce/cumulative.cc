// strata.cumulative: y[k] = start op x[0] op ... op x[k] along a dimension. (A program says it as a
// reduce_window with windows of the whole dimension.)
//
// Contract: operands x, start (a scalar of its dtype); attributes `dimension`, `combiner` (not
// "region"), `reverse` (from the last element down) and, where stated, `block`: every so many
// elements, counted in the operation's direction, begin anew. The order of combination is
// op/reduce/cumulative_order.h's; bf16 and f16 round once.
#include "strata/op/reduce/cumulative.h"

#include <cstring>

#include "strata/loop/lanes.h"
#include "strata/loop/pieces.h"
#include "strata/op/build.h"
#include "strata/op/calculus/batch.h"
#include "strata/op/calculus/jvp.h"
#include "strata/op/calculus/transpose.h"
#include "strata/op/legalize.h"
#include "strata/op/reduce/cumulative_order.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

constexpr const char* kSelf = "cumulative";

/// The lines of an array along a dimension: element k of line (o, x) is at (o * length +
/// position(k)) * inner + x.
struct Lines {
  Lines(const Op& op, const Shape& shape)
      : dim(static_cast<int>(op.attr<std::int64_t>("dimension"))),
        reverse(op.attrs.get_or<bool>("reverse", false)),
        length(shape[dim]),
        block(op.attrs.get_or<std::int64_t>("block", 0)),
        order(cumulative_order(shape, dim)) {
    if (block == 0 || block > length) block = std::max<std::int64_t>(1, length);
    for (int d = 0; d < shape.rank(); ++d)
      if (d != dim) (d < dim ? outer : inner) *= shape[d];
  }
  template <class I>
  I position(const I& k) const {
    return reverse ? I(length - 1) - k : k;
  }
  std::int64_t blocks() const { return (length + block - 1) / block; }
  int dim;
  bool reverse;
  std::int64_t length, block, outer = 1, inner = 1;
  CumulativeOrder order;
};

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>>) {
  expect_operands(kSelf, operands, 2);
  const Type &x = operands[0]->type(), &start = operands[1]->type();
  if (!x.is_tensor() || !is_legal(x.dtype()) || x.is_quantized())
    throw Error(kSelf, "no sums of {}", x.to_string());
  if (start != Type::scalar(x.dtype()))
    throw Error(kSelf, "the start of {} must be a scalar of its dtype, got {}", x.to_string(),
                start.to_string());
  std::int64_t dim = expect_attr<std::int64_t>(kSelf, attrs, "dimension");
  if (dim < 0 || dim >= x.rank()) throw Error(kSelf, "dimension {} of {}", dim, x.to_string());
  std::optional<Combiner> combiner =
      parse_combiner(expect_attr<std::string>(kSelf, attrs, "combiner"));
  if (!combiner || *combiner == Combiner::region)
    throw Error(kSelf, "combiner {} is none", attrs.get_or<std::string>("combiner", ""));
  expect_combiner(kSelf, *combiner, x.dtype());
  if (attrs.get_or<std::int64_t>("block", 1) < 1) throw Error(kSelf, "block must be positive");
  return {x};
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator&) {
  const Literal &x = operands[0], &start = operands[1];
  Lines lines(op, x.shape());
  Combiner combiner = combiner_of(op);
  Literal out(x.type());
  dispatch(x.dtype(), [&](auto storage) {
    using S = decltype(storage);
    using T = Accumulator<S>;
    auto from = x.span<S>();
    auto to = out.mutable_span<S>();
    T first = static_cast<T>(start.span<S>()[0]),
      neutral = identity(combiner, accumulator(x.dtype())).span<T>()[0];
    for (std::int64_t line = 0; line < lines.outer * lines.inner; ++line)
      for (std::int64_t begin = 0; begin < lines.length; begin += lines.block) {
        auto at = [&](std::int64_t k) {
          return static_cast<std::size_t>(
              (line / lines.inner * lines.length + lines.position(begin + k)) * lines.inner +
              line % lines.inner);
        };
        cumulate_in_order<T>(
            lines.order, combiner, neutral, std::min(lines.block, lines.length - begin),
            [&](std::int64_t k) { return static_cast<T>(from[at(k)]); },
            [&](std::int64_t k, T y) {
              to[at(k)] = static_cast<S>(combine<T>(combiner, first, y));
            });
      }
  });
  return {std::move(out)};
}

// ---- derivative and transpose ------------------------------------------------------------------

/// The same said by a reduction: each result reduces its line, with the identity in place of what
/// does not belong to it.
std::unique_ptr<Block> spelled_out(const Op& op) {
  auto block = std::make_unique<Block>();
  Value *x = block->add_argument(op.operand(0)->type()),
        *start = block->add_argument(op.operand(1)->type());
  Builder b(*block);
  Lines lines(op, x->shape());
  Ints sizes = x->shape().sizes(), kept;
  for (int d = 0; d < x->rank(); ++d)
    kept.push_back(d < lines.dim ? d : d + 1);  // results stand before their elements
  sizes.insert(sizes.begin() + lines.dim, lines.length);
  Shape shape = Shape::of(sizes);
  Type numbers(DType::i64, shape);
  Value *k = iota(b, numbers, lines.dim), *e = iota(b, numbers, lines.dim + 1);
  if (lines.reverse) {
    Value* last = constant(b, numbers, static_cast<double>(lines.length - 1));
    k = sub(b, last, k), e = sub(b, last, e);
  }
  Value* size = constant(b, numbers, static_cast<double>(lines.block));
  Value* member =
      and_(b, compare(b, e, k, "LE"), compare(b, div(b, e, size), div(b, k, size), "EQ"));
  Value* none = broadcast_in_dim(b, constant(b, identity(combiner_of(op), x->dtype())), shape, {});
  Value* all = select(b, member, broadcast_in_dim(b, x, shape, kept), none);
  block->results = {reduce(b, all, start, {lines.dim + 1}, combiner_of(op))};
  return block;
}

JvpResult jvp(Builder& b, const Op& op, std::span<Value* const> operands,
              std::span<Value* const> tangents) {
  if (combiner_of(op) == Combiner::add) return linear_jvp(b, op, operands, tangents);
  Values own = b.create(op.info(), {operands[0], operands[1]}, op.attrs).results();
  if (all_null(tangents)) return {own, {nullptr}};
  return {own, op::jvp(b, *spelled_out(op), operands, tangents).tangents};
}

Values transpose_rule(Builder& b, const Op& op, std::span<Value* const> operands,
                      const std::vector<bool>& linear, std::span<Value* const> ct) {
  if (!ct[0]) return {nullptr, nullptr};
  Lines lines(op, op.operand(0)->shape());
  if (linear[1] || lines.length % lines.block != 0)
    return op::transpose(b, *spelled_out(op), operands, linear, ct);
  Attrs attrs = op.attrs;
  attrs.set("reverse", !lines.reverse);
  return {b.create(op.info(), {ct[0], zeros(b, op.operand(1)->type())}, std::move(attrs)).result(),
          nullptr};
}

// ---- batching, sharding, cost ------------------------------------------------------------------

Batched batch(Builder& b, const Op& op, std::span<Value* const> operands,
              const std::vector<bool>& batched, std::int64_t size) {
  if (batched[1]) return op::batch(b, *spelled_out(op), operands, batched, size);
  Attrs attrs = op.attrs;
  attrs.set("dimension", op.attr<std::int64_t>("dimension") + 1);
  return {b.create(op.info(), {operands[0], operands[1]}, std::move(attrs)).results(), {true}};
}

Factors shard(const Op& op) {
  FactorTable t(op);
  for (int d = 0; d < op.operand(0)->rank(); ++d) {
    int f = t.factor(d == static_cast<int>(op.attr<std::int64_t>("dimension")) ? 'n' : 'p',
                     op.operand(0)->shape().dim(d).bound());
    t.operand(0, d, f);
    t.result(0, d, f);
  }
  return t.take();
}

Work cost(const Op& op) { return {6 * elements(op), bytes_moved(op)}; }

// ---- lowering ----------------------------------------------------------------------------------

using loop::Index;
using loop::Inst;

constexpr std::int64_t kPointElements = 16384;  // of a grid point that does several rows
constexpr std::int64_t kWidth = 512;            // columns that one grid point does side by side
constexpr std::size_t kPastCaches = std::size_t{32} << 20;

std::int64_t rows_of_point(const Lines& lines) {
  if (lines.blocks() > 1) return 1;
  std::int64_t rows = std::clamp<std::int64_t>(kPointElements / lines.length, 1, lines.outer);
  while (lines.outer % rows != 0) --rows;
  return rows;
}

/// Whether lines along memory are so short that a strip of lanes is several.
bool are_packed(const Lines& lines) {
  const int lanes = lines.order.lanes;
  return lines.inner == 1 && lines.length > 1 && lines.length < lanes &&
         lanes % lines.length == 0 && lines.blocks() == 1 && lines.outer * lines.length >= lanes;
}

constexpr int kLanes = 16;  // along other lines
constexpr std::int64_t kAbreast = 8;

/// Whether columns are so few that a strip would be short, and there are others beside them: then
/// several of these few go abreast, whose chains do not wait for each other (sums of 4096 x 256 x 4
/// f32 down the middle, two threads of a Zen 5: 1.4 ms one by one, 0.6 so).
bool has_few_columns(const Lines& lines) {
  return lines.inner > 1 && lines.inner < kLanes && lines.outer >= kAbreast;
}
/// Of such, places of the outer dimensions that a grid point takes.
std::int64_t few_of_point(const Lines& lines) {
  const std::int64_t most =
      lines.blocks() > 1 ? kAbreast
                         : kPointElements / (lines.length * lines.inner) / kAbreast * kAbreast;
  return std::clamp(most, kAbreast, (lines.outer + kAbreast - 1) / kAbreast * kAbreast);
}

std::int64_t grid(const Op& op) {
  if (op.result()->shape().count() == 0) return 0;
  Lines lines(op, op.result()->shape());
  if (are_packed(lines)) return (lines.outer * lines.length + kPointElements - 1) / kPointElements;
  if (lines.inner == 1) return lines.outer * lines.blocks() / rows_of_point(lines);
  if (has_few_columns(lines))
    return lines.blocks() * ((lines.outer + few_of_point(lines) - 1) / few_of_point(lines));
  return lines.outer * lines.blocks() * ((lines.inner + kWidth - 1) / kWidth);
}

class Emit {
 public:
  Emit(LowerContext& context, const Op& op, loop::Ref* operand, loop::Ref* result)
      : b_(context.b),
        op_(op),
        operand_(operand),
        result_(result),
        lines_(op, op.result()->shape()),
        dtype_(op.result()->dtype()) {
    DType wide = accumulator(dtype_);
    Literal none = identity(combiner_of(op), wide);
    std::uint64_t bits = 0;
    std::memcpy(&bits, none.data(), byte_width(wide));
    neutral_ = b_.constant_bits(wide, bits);
    start_ = b_.convert(wide, context.operand(op, 1, {}));
  }

  void run(const Index& point) {
    are_packed(lines_)        ? packed(point)
    : lines_.inner == 1       ? rows(point)
    : has_few_columns(lines_) ? few_columns(point)
                              : columns(point);
  }

 private:
  Inst* combined(Inst* x, Inst* y) { return b_.binary(opcode(combiner_of(op_), dtype_), x, y); }
  void combine_into(Inst* local, Inst* x) { b_.set(local, combined(b_.get(local), x)); }
  Inst* load(const Index& at) { return b_.convert(accumulator(dtype_), b_.load(operand_, at)); }
  void store(const Index& at, Inst* y) {
    b_.store(result_, at, b_.convert(dtype_, combined(start_, y)));
    b_.kernel().arena.back().streaming = op_.result()->type().bytes() >= kPastCaches;
  }

  // ---- several short lines in a strip

  /// As row_tile of one strip: of halves longer than a line nothing is left but the neutral
  /// element, which changes what it is combined with once.
  void packed(const Index& point) {
    const std::int64_t all = lines_.outer * lines_.length;
    for_piece(b_, point, all, kPointElements, [&](Index begin, std::int64_t elements) {
      b_.vector(0, elements, lines_.order.lanes, [&](Index j) {
        const Index at = lines_.reverse ? Index(all - 1) - begin - j : begin + j;
        Inst* k = b_.value(b_.mod(j, lines_.length));
        Inst* v = load(at);
        for (std::int64_t h = 1; h < lines_.length; h *= 2)
          v = combined(b_.select(b_.compare(loop::Compare::lt, k, b_.constant_int(DType::i64, h)),
                                 neutral_, loop::behind(b_, neutral_, v, static_cast<int>(h))),
                       v);
        store(at, combined(neutral_, v));
      });
    });
  }

  // ---- lanes along the line

  void rows(const Index& point) {
    std::int64_t rows = rows_of_point(lines_), blocks = lines_.blocks();
    b_.for_(0, rows, 1, [&](Index i) {
      Index piece = point * rows + i;
      base_ = b_.div(piece, blocks) * lines_.length;
      for_piece(b_, b_.mod(piece, blocks), lines_.length, lines_.block,
                [&](Index begin, std::int64_t length) { line(begin, length); });
    });
  }
  void line(const Index& line, std::int64_t length) {
    Inst* chunks = b_.local(neutral_);
    for_pieces(b_, line, length, lines_.order.chunk(), [&](Index chunk, std::int64_t chunk_length) {
      Inst* tiles = b_.local(neutral_);
      for_pieces(b_, chunk, chunk_length, lines_.order.tile(),
                 [&](Index tile, std::int64_t tile_length) {
                   combine_into(
                       tiles, row_tile(tile, tile_length, combined(b_.get(chunks), b_.get(tiles))));
                 });
      combine_into(chunks, b_.get(tiles));
    });
  }
  /// The tile's total, or anything where a part of a strip shows that it is the line's last.
  Inst* row_tile(const Index& tile, std::int64_t length, Inst* before) {
    const int lanes = loop::lanes_for(
        length, lines_.order.lanes);  // of one short strip as many as it takes, as packed
    std::int64_t whole = length / lanes * lanes;
    Inst* run = b_.local(neutral_);
    auto strip = [&](Index k) {
      Index at = base_ + lines_.position(k);
      Inst* v = load(at);
      for (int h = 1; h < lanes; h *= 2) v = combined(loop::behind(b_, neutral_, v, h), v);
      v = combined(b_.get(run), v);
      store(at, combined(before, v));
      return v;
    };
    b_.vector(tile, tile + whole, lanes,
              [&](Index k) { b_.set(run, b_.extract(strip(k), lanes - 1)); });
    b_.vector(tile + whole, tile + length, lanes, strip);
    return b_.get(run);
  }

  // ---- lanes along other lines

  void columns(const Index& point) {
    std::int64_t stripes = (lines_.inner + kWidth - 1) / kWidth, blocks = lines_.blocks();
    Index piece = b_.div(point, stripes);
    base_ = b_.div(piece, blocks) * (lines_.length * lines_.inner);
    std::int64_t width = std::min(kWidth, lines_.inner);
    chunks_ = b_.scratch(accumulator(dtype_), width);
    tiles_ = b_.scratch(accumulator(dtype_), width);
    for_piece(
        b_, b_.mod(point, stripes), lines_.inner, kWidth, [&](Index first, std::int64_t columns) {
          for_piece(
              b_, b_.mod(piece, blocks), lines_.length, lines_.block,
              [&](Index begin, std::int64_t length) { stripe(begin, length, first, columns); });
        });
  }
  void few_columns(const Index& point) {
    const std::int64_t blocks = lines_.blocks();
    chunks_ = b_.scratch(accumulator(dtype_), kAbreast * lines_.inner);
    tiles_ = b_.scratch(accumulator(dtype_), kAbreast * lines_.inner);
    for_piece(b_, b_.div(point, blocks), lines_.outer, few_of_point(lines_),
              [&](Index first, std::int64_t some) {
                for_piece(b_, b_.mod(point, blocks), lines_.length, lines_.block,
                          [&](Index begin, std::int64_t length) {
                            for_pieces(b_, first, some, kAbreast,
                                       [&](Index outer, std::int64_t abreast) {
                                         base_ = outer * (lines_.length * lines_.inner);
                                         abreast_ = abreast;
                                         stripe(begin, length, 0, lines_.inner);
                                       });
                          });
              });
  }
  void stripe(const Index& line, std::int64_t length, const Index& first, std::int64_t columns) {
    const int lanes = loop::lanes_for(columns, kLanes);
    auto each = [&](const std::function<void(Index)>& f) { b_.vector(0, columns, lanes, f); };
    auto each_line = [&](const std::function<void(Index)>& f) {
      each([&](Index x) {
        for (std::int64_t a = 0; a < abreast_; ++a) f(x + a * columns);
      });
    };
    each_line([&](Index x) { b_.store(chunks_, x, neutral_); });
    for_pieces(b_, line, length, lines_.order.chunk(), [&](Index chunk, std::int64_t chunk_length) {
      each_line([&](Index x) { b_.store(tiles_, x, neutral_); });
      for_pieces(b_, chunk, chunk_length, lines_.order.tile(),
                 [&](Index tile, std::int64_t tile_length) {
                   each([&](Index x) { column_tile(tile, tile_length, first, x); });
                 });
      each_line([&](Index x) {
        b_.store(chunks_, x, combined(b_.load(chunks_, x), b_.load(tiles_, x)));
      });
    });
  }
  /// Of each line that goes abreast. The steps of one are written out, those of several are a loop:
  /// as much code.
  void column_tile(const Index& tile, std::int64_t length, const Index& first, const Index& x) {
    auto total = [&](std::size_t a) { return x + static_cast<std::int64_t>(a) * lines_.inner; };
    std::vector<Inst*> before, runs;
    for (std::int64_t a = 0; a < abreast_; ++a) {
      before.push_back(
          combined(b_.load(chunks_, total(before.size())), b_.load(tiles_, total(before.size()))));
      runs.push_back(b_.local(neutral_, x.lanes()));
    }
    auto step = [&](const Index& u) {
      for (std::size_t a = 0; a < runs.size(); ++a) {
        const Index at =
            base_ +
            (lines_.position(tile + u) + static_cast<std::int64_t>(a) * lines_.length) *
                lines_.inner +
            first + x;
        combine_into(runs[a], load(at));
        store(at, combined(before[a], b_.get(runs[a])));
      }
    };
    if (abreast_ > 1)
      b_.for_(0, length, 1, step);
    else
      for (std::int64_t u = 0; u < length; ++u) step(u);
    for (std::size_t a = 0; a < runs.size(); ++a)
      b_.store(tiles_, total(a), combined(b_.load(tiles_, total(a)), b_.get(runs[a])));
  }

  loop::Builder& b_;
  const Op& op_;
  loop::Ref *operand_, *result_;
  Lines lines_;
  DType dtype_;
  Inst *neutral_ = nullptr, *start_ = nullptr;
  Index base_ = 0;
  std::int64_t abreast_ = 1;  // places of the outer dimensions whose columns are done together
  loop::Ref *chunks_ = nullptr, *tiles_ = nullptr;  // columns: locals of all lines side by side
};

void emit(LowerContext& c, const Op& op, std::span<loop::Ref* const> operands,
          std::span<loop::Ref* const> results, const Index& point) {
  Emit(c, op, operands[0], results[0]).run(point);
}

// ---- long lines --------------------------------------------------------------------------------

Shape with_size(const Shape& shape, int dim, std::int64_t size) {
  Ints sizes = shape.sizes();
  sizes[static_cast<std::size_t>(dim)] = size;
  return Shape::of(sizes);
}

/// Of each whole block but the last one, its total: what its last element is.
Value* totals(Builder& b, Value* sums, const Cumulative& what, std::int64_t block,
              std::int64_t blocks) {
  auto d = static_cast<std::size_t>(what.dim);
  Ints start(static_cast<std::size_t>(sums->rank()), 0), limit = sums->shape().sizes(),
                                                         strides(start.size(), 1);
  std::int64_t first = block - 1, last = block * (blocks - 1) - 1;
  start[d] = what.reverse ? limit[d] - 1 - last : first;
  limit[d] = start[d] + last - first + 1;
  strides[d] = block;
  return slice(b, sums, start, limit, strides);
}

/// One number for each block, repeated for its elements; the block that the operation comes to last
/// may be shorter.
Value* spread(Builder& b, Value* x, const Cumulative& what, std::int64_t block,
              std::int64_t length) {
  Ints sizes = x->shape().sizes(), dims;
  auto d = static_cast<std::size_t>(what.dim);
  for (int i = 0; i < x->rank(); ++i) dims.push_back(i <= what.dim ? i : i + 1);
  std::int64_t all = sizes[d] * block, from = what.reverse ? all - length : 0;
  sizes.insert(sizes.begin() + what.dim + 1, block);
  Value* wide = reshape(b, broadcast_in_dim(b, x, Shape::of(sizes), dims),
                        with_size(x->shape(), what.dim, all));
  return slice_dim(b, wide, what.dim, from, from + length);
}

Value* one(Builder& b, Value* x, Value* start, const Cumulative& what, std::int64_t block) {
  Attrs attrs{{"dimension", static_cast<std::int64_t>(what.dim)},
              {"combiner", std::string(name(what.combiner))},
              {"reverse", what.reverse}};
  if (block > 0) attrs.set("block", block);
  return b.create("strata.cumulative", {x, start}, std::move(attrs)).result();
}

}  // namespace

Value* cumulative(Builder& b, Value* x, Value* start, const Cumulative& what) {
  std::int64_t length = x->shape()[what.dim],
               block = cumulative_order(x->shape(), what.dim).block();
  if (length <= block) return one(b, x, start, what, 0);
  DType dtype = x->dtype(), wide = accumulator(dtype);
  std::int64_t blocks = (length + block - 1) / block;
  Value* none = constant(b, identity(what.combiner, wide));
  Value* sums = one(b, convert(b, x, wide), none, what, block);
  Value* before = cumulative(b, totals(b, sums, what, block, blocks), none, what);
  Value* first = broadcast_in_dim(b, none, with_size(x->shape(), what.dim, 1), {});
  before = concatenate(b, what.reverse ? Values{before, first} : Values{first, before}, what.dim);
  Value* y = combined(b, what.combiner, spread(b, before, what, block, length), sums);
  return convert(
      b,
      combined(b, what.combiner, broadcast_in_dim(b, convert(b, start, wide), x->shape(), {}), y),
      dtype);
}

const OpDef& cumulative_def() {
  static const OpDef def{
      .info = {.name = "strata.cumulative", .infer = infer},
      .summary = "the sum, product or extreme of all elements up to each along a dimension",
      .traits = {},
      .evaluate = evaluate,
      .jvp = jvp,
      .linearize = None{"split by dependence on the tangents"},
      .transpose = transpose_rule,
      .batch = batch,
      .shard = shard,
      .cost = cost,
      .lowering = CustomKernel{grid, emit},
  };
  return def;
}

}  // namespace strata::op
