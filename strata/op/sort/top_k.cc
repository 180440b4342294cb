// chlo.top_k: the k greatest elements of each row, and where they stood.
//
// Operand [operand]; attribute `k`, and `largest` where it is stated, which is true. (C1) rank at
// least 1; (C2) 0 <= k <= the last dimension. Results: values and their positions (i32), greatest
// first, of equal ones the first; floats in total order (a positive NaN is greatest, -0 is below
// +0).
//
// Few elements are kept in order while the row is read, past blocks that hold none; short rows (the
// experts of a layer) side by side, a lane each. Many are sorted (sort_key.h): of long rows those
// of the pieces that may hold them.
#include <bit>
#include <cmath>
#include <numeric>

#include "strata/ir/text/format.h"
#include "strata/op/build.h"
#include "strata/op/decomposed.h"
#include "strata/op/elementwise/ordered_bits.h"
#include "strata/op/index/indexing.h"
#include "strata/op/legalize.h"
#include "strata/op/rules.h"
#include "strata/op/sort/sort.h"
#include "strata/op/sort/sort_key.h"

namespace strata::op {
namespace {

std::int64_t k_of(const Op& op) { return op.attr<std::int64_t>("k"); }
int last(const Op& op) { return op.operand(0)->rank() - 1; }

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>>) {
  expect_operands("top_k", operands, 1);
  const Type& x = operands[0]->type();
  if (!attrs.get_or<bool>("largest", true))
    throw Error("top_k", "the least elements are not had by it (attribute `largest`)")
        .unsupported();
  std::int64_t k = expect_attr<std::int64_t>("top_k", attrs, "k");
  if (!x.is_tensor() || x.rank() == 0)
    throw Error("top_k", "the operand must have a dimension, got {} (C1)", x.to_string());
  if (is_complex(x.dtype()))
    throw Error("top_k", "complex numbers have no order, got {}", x.to_string());
  std::vector<Dim> dims = x.shape().dims();
  if (k < 0 || (dims.back().is_static() && k > dims.back().size()))
    throw Error("top_k", "k must be between 0 and the last dimension of {}, got {} (C2)",
                x.to_string(), k);
  dims.back() = Dim(k);
  return {x.with(Shape(dims)), x.with(DType::i32).with(Shape(dims))};
}

/// Elements of the pieces that a long row is read by first, so that there are about as many pieces
/// as elements in the chosen ones; 0 for others.
std::int64_t top_k_piece(const Op& op) {
  constexpr std::int64_t kLanes = 32,
                         kLong = 64;  // elements of a strip; of a row, for each that is kept
  const Type& x = op.operand(0)->type();
  const Shape& shape = x.shape();
  const std::int64_t k = k_of(op);
  if (!shape.is_static() || shape.count() == 0 || k <= kFewKept ||
      (is_float(x.dtype()) && byte_width(x.dtype()) == 1) || shape[last(op)] < kLong * k)
    return 0;
  const auto balanced =
      static_cast<std::int64_t>(std::sqrt(static_cast<double>(shape[last(op)] / k)));
  return std::max(kLanes, (balanced + kLanes / 2) / kLanes * kLanes);
}

/// Integers in the order of the elements, as ordered_bits.h has them.
Value* order_of(Builder& b, Value* x) {
  if (is_bool(x->dtype())) return convert(b, x, DType::i32);
  if (!is_float(x->dtype())) return x;
  const int width = static_cast<int>(8 * byte_width(x->dtype()));
  Value* i = bitcast_convert(b, x,
                             width == 64   ? DType::i64
                             : width == 32 ? DType::i32
                                           : DType::i16);
  return xor_(b, i,
              shift_right_logical(b, shift_right_arithmetic(b, i, full_like(b, i, width - 1)),
                                  full_like(b, i, 1)));
}

/// The greatest k elements are in the k pieces whose greatest are greatest, the first of equal
/// ones: each piece that goes before another has an element that goes before all of that one. So
/// these pieces are read again, in their order, and what is left over behind all pieces.
Values by_pieces(Builder& b, const Op& op, Value* x, std::int64_t length) {
  const int d = last(op);
  const std::int64_t n = x->shape()[d], pieces = n / length, whole = pieces * length, k = k_of(op);
  auto with = [&](std::vector<Dim> tail) {
    std::vector<Dim> dims = x->shape().dims();
    dims.pop_back();
    dims.insert(dims.end(), tail.begin(), tail.end());
    return Shape(dims);
  };
  auto places = [&](Shape shape, int dimension) {
    return iota(b, Type(DType::i32, std::move(shape)), dimension);
  };
  Value* rows = reshape(b, slice_dim(b, x, d, 0, whole), with({pieces, length}));
  Value* best =
      b.create(op.info(), {reduce_max(b, order_of(b, rows), {d + 1})}, op.attrs).results()[1];
  best = first_sorted(b, {best}, d, false, k)[0];
  IndexDims dims{.window = {d + 1},
                 .dropped = {d},
                 .operand_batch = {},
                 .indices_batch = {},
                 .index_map = {d},
                 .index_vector = d + 1};
  Ints sizes(static_cast<std::size_t>(d), 1);
  for (int i = 0; i < d; ++i) dims.operand_batch.push_back(i), dims.indices_batch.push_back(i);
  sizes.insert(sizes.end(), {1, length});
  Value* chosen = reshape(b, gather(b, rows, best, dims, sizes), with({k * length}));
  const Shape each = with({k, length});
  Ints kept(static_cast<std::size_t>(d + 1));
  std::iota(kept.begin(), kept.end(), 0);
  Value* begin = broadcast_in_dim(b, mul(b, best, full_like(b, best, static_cast<double>(length))),
                                  each, kept);
  Value* at = reshape(b, add(b, begin, places(each, d + 1)), with({k * length}));
  if (whole < n) {
    Value* behind = places(with({n - whole}), d);
    chosen = concatenate(b, {chosen, slice_dim(b, x, d, whole, n)}, d);
    at = concatenate(b, {at, add(b, behind, full_like(b, behind, static_cast<double>(whole)))}, d);
  }
  const Values out = first_sorted(b, {chosen, at}, d, true, k);
  return out;
}

Values decompose(Builder& b, const Op& op, std::span<Value* const> operands) {
  Value* x = operands[0];
  if (const std::int64_t length = top_k_piece(op)) return by_pieces(b, op, x, length);
  return first_sorted(b, {x, iota(b, Type(DType::i32, x->shape()), last(op))}, last(op), true,
                      k_of(op));
}

JvpResult jvp(Builder& b, const Op& op, std::span<Value* const> operands,
              std::span<Value* const> tangents) {
  Values out = again(b, op, operands).results();
  return {out, {tangents[0] ? take_along(b, tangents[0], out[1], last(op)) : nullptr, nullptr}};
}

Batched batch(Builder& b, const Op& op, std::span<Value* const> operands,
              const std::vector<bool>& batched, std::int64_t) {
  return {b.create(op.info(), {operands[0]}, op.attrs).results(), {batched[0], batched[0]}};
}

Factors shard(const Op& op) {
  FactorTable t(op);
  for (int d = 0; d <= last(op); ++d) {
    int f = t.factor(d == last(op) ? 'n' : 'p', op.operand(0)->shape().dim(d).bound());
    t.operand(0, d, f);
    for (int r = 0; r < 2; ++r) t.result(r, d, d == last(op) ? t.factor('n', k_of(op)) : f);
  }
  return t.take();
}

Work cost(const Op& op) {
  return {4 * static_cast<double>(op.operand(0)->shape().dim(last(op)).bound()), bytes_moved(op)};
}

// ---- lowering ----------------------------------------------------------------------------------

constexpr std::int64_t kShort = 256;  // elements of a row

std::int64_t rows_of(const Op& op) {
  std::int64_t rows = k_of(op) == 0 ? 0 : 1;
  for (int d = 0; d < last(op); ++d) rows *= op.operand(0)->shape()[d];
  return rows;
}

/// Integers in the order of the elements.
loop::Inst* key(loop::Builder& b, loop::Inst* x) {
  DType dtype = x->type.dtype;
  if (is_bool(dtype)) return b.convert(DType::i32, x);
  if (!is_float(dtype)) return x;
  return ordered_bits(b, x);
}

/// Emits one row.
class Row {
 public:
  Row(LowerContext& context, const Op& op, std::span<loop::Ref* const> results,
      const loop::Index& row)
      : context_(context),
        b_(context.b),
        op_(op),
        results_(results),
        row_(row),
        n_(op.operand(0)->shape()[last(op)]),
        k_(k_of(op)) {}

  void emit() {
    kept_ = b_.local(i64(0));
    if (n_ < kShort) return read(0, n_, nullptr);
    loop::Inst* least = lower_bound();
    std::int64_t blocks = n_ / kBlock;
    b_.for_(0, blocks, 1, [&](loop::Index block) {
      loop::Index begin = block * kBlock;
      loop::Inst* found = b_.local(b_.constant_int(DType::i1, 0), kBlock);
      b_.vector(begin, begin + kBlock, kBlock, [&](loop::Index e) {
        b_.set(found, b_.compare(loop::Compare::ge, key_at(e), least));
      });
      b_.if_(b_.reduce(loop::Opcode::or_, b_.get(found)),
             [&] { read(begin, begin + kBlock, least); });
    });
    read(blocks * kBlock, n_, least);
  }

 private:
  static constexpr int kLanes = 64, kBlock = 32;

  loop::Inst* i64(std::int64_t x) { return b_.constant_int(DType::i64, x); }
  loop::Inst* element(const loop::Index& e) { return context_.operand_at(op_, 0, row_ * n_ + e); }
  loop::Inst* key_at(const loop::Index& e) { return key(b_, element(e)); }
  loop::Index place(loop::Inst* at) { return row_ * k_ + b_.index_of(at, 0, k_ - 1); }
  loop::Inst* key_kept(loop::Inst* at) { return key(b_, b_.load(results_[0], place(at))); }

  /// A key that at least k elements have or exceed: the least of the greatest of k or more parts of
  /// the row.
  loop::Inst* lower_bound() {
    int parts = static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>(k_)));
    DType dtype = key_at(0)->type.dtype;
    loop::Inst* greatest = b_.local(least_of(dtype), kLanes);
    b_.vector(0, n_, kLanes, [&](loop::Index e) {
      b_.set(greatest, b_.binary(loop::Opcode::max, b_.get(greatest), key_at(e)));
    });
    loop::Ref* space = b_.scratch(dtype, kLanes);
    loop::Inst* whole = b_.get(greatest);
    b_.vector(0, kLanes, kLanes, [&](loop::Index e) { b_.store(space, e, whole); });
    loop::Inst* bound = b_.local(greatest_of(dtype), parts);
    b_.vector(0, parts, parts, [&](loop::Index e) {
      loop::Inst* most = b_.load(space, e);
      for (int other = parts; other < kLanes; other += parts)
        most = b_.binary(loop::Opcode::max, most, b_.load(space, e + other));
      b_.set(bound, most);
    });
    return b_.reduce(loop::Opcode::min, b_.get(bound));
  }
  loop::Inst* least_of(DType dtype) {
    return is_signed(dtype)
               ? b_.constant_int(dtype, -(std::int64_t{1} << (8 * byte_width(dtype) - 2)) * 2)
               : b_.constant_int(dtype, 0);
  }
  loop::Inst* greatest_of(DType dtype) { return b_.unary(loop::Opcode::not_, least_of(dtype)); }

  /// Reads elements one by one; those below `least` are not looked at.
  void read(const loop::Index& begin, const loop::Index& end, loop::Inst* least) {
    b_.for_(begin, end, 1, [&](loop::Index e) {
      auto look = [&] {
        loop::Inst *held = b_.get(kept_), *last = b_.binary(loop::Opcode::min, held, i64(k_ - 1));
        loop::Inst* better = b_.compare(loop::Compare::gt, key_at(e), key_kept(i64(k_ - 1)));
        b_.if_(b_.binary(loop::Opcode::or_, b_.compare(loop::Compare::lt, held, i64(k_)), better),
               [&] {
                 insert(e, last);
                 b_.set(kept_, b_.binary(loop::Opcode::add, held, i64(1)));
               });
      };
      least ? b_.if_(b_.compare(loop::Compare::ge, key_at(e), least), look) : look();
    });
  }

  /// Before those of the first `last` kept ones that are less.
  void insert(const loop::Index& e, loop::Inst* last) {
    loop::Inst *x = element(e), *mine = key_at(e), *at = b_.local(last);
    auto previous = [&] {
      return b_.binary(loop::Opcode::max, b_.binary(loop::Opcode::sub, b_.get(at), i64(1)), i64(0));
    };
    b_.while_(
        [&] {
          loop::Inst* less = b_.compare(loop::Compare::gt, mine, key_kept(previous()));
          return b_.binary(loop::Opcode::and_, b_.compare(loop::Compare::gt, b_.get(at), i64(0)),
                           less);
        },
        [&] {
          loop::Inst* from = previous();
          for (loop::Ref* result : results_)
            b_.store(result, place(b_.get(at)), b_.load(result, place(from)));
          b_.set(at, b_.binary(loop::Opcode::sub, b_.get(at), i64(1)));
        });
    b_.store(results_[0], place(b_.get(at)), x);
    b_.store(results_[1], place(b_.get(at)), b_.convert(DType::i32, b_.value(e)));
  }

  LowerContext& context_;
  loop::Builder& b_;
  const Op& op_;
  std::span<loop::Ref* const> results_;
  const loop::Index& row_;
  std::int64_t n_, k_;
  loop::Inst* kept_ = nullptr;  // elements kept so far, and more once there are k
};

/// Emits many short rows: each lane has one, and keeps its elements in registers.
class ShortRows {
 public:
  static constexpr std::int64_t kTogether = 64;  // rows of a grid point

  static bool serve(const Op& op) {
    const DType dtype = op.operand(0)->dtype();
    return k_of(op) <= kMost && op.operand(0)->shape()[last(op)] < kShort &&
           rows_of(op) >= kLanes && !(is_float(dtype) && byte_width(dtype) == 1);
  }
  ShortRows(LowerContext& context, const Op& op, std::span<loop::Ref* const> results)
      : context_(context),
        b_(context.b),
        op_(op),
        results_(results),
        n_(op.operand(0)->shape()[last(op)]),
        k_(k_of(op)) {}

  void emit(const loop::Index& point) {
    const std::int64_t rows = rows_of(op_);
    loop::Index begin = point * kTogether, end = begin + kTogether;
    if (rows % kTogether != 0)
      end = b_.index_of(
          b_.binary(loop::Opcode::min, b_.value(end), b_.constant_int(DType::i64, rows)), 1, rows);
    b_.vector(begin, end, kLanes, [&](loop::Index row) { emit_rows(row); });
  }

 private:
  static constexpr int kLanes = 8;
  static constexpr std::int64_t kMost = 8;
  struct Kept {
    loop::Inst *key, *place;
  };

  void emit_rows(const loop::Index& row) {
    std::vector<Kept> kept;
    for (std::int64_t e = 0; e < k_; ++e) {
      loop::Inst *first = key_at(row, e), *zero = b_.constant_int(DType::i32, 0);
      kept.push_back(
          {b_.local(b_.constant_int(first->type.dtype, 0), kLanes), b_.local(zero, kLanes)});
      insert(kept, e, row, e);
    }
    if (k_ < n_) b_.for_(k_, n_, 1, [&](loop::Index e) { insert(kept, kept.size(), row, e); });
    for (std::size_t j = 0; j < kept.size(); ++j) {
      const loop::Index at = row * k_ + static_cast<std::int64_t>(j);
      b_.store(results_[0], at, element_of(b_.get(kept[j].key)));
      b_.store(results_[1], at, b_.get(kept[j].place));
    }
  }

  /// Element e among the first `filled` kept ones: before all that are less, which move on by one.
  void insert(const std::vector<Kept>& kept, std::size_t filled, const loop::Index& row,
              const loop::Index& e) {
    loop::Inst *key = key_at(row, e), *place = b_.convert(DType::i32, b_.value(e)),
               *went_before = nullptr;
    Kept previous{};
    for (std::size_t j = 0; j < kept.size(); ++j) {
      const bool is_free = j >= filled;
      Kept now{is_free ? key : b_.get(kept[j].key), is_free ? place : b_.get(kept[j].place)},
          next = now;
      loop::Inst* goes_before = is_free ? nullptr : b_.compare(loop::Compare::gt, key, now.key);
      if (goes_before)
        next = {b_.select(goes_before, key, now.key), b_.select(goes_before, place, now.place)};
      if (went_before)
        next = {b_.select(went_before, previous.key, next.key),
                b_.select(went_before, previous.place, next.place)};
      b_.set(kept[j].key, next.key);
      b_.set(kept[j].place, next.place);
      if (is_free) return;
      previous = now;
      went_before = goes_before;
    }
  }

  loop::Inst* key_at(const loop::Index& row, const loop::Index& e) {
    return key(b_, context_.operand_at(op_, 0, row * n_ + e));
  }
  loop::Inst* element_of(loop::Inst* key) {
    const DType dtype = op_.operand(0)->dtype();
    return is_float(dtype) ? from_ordered_bits(b_, dtype, key) : b_.convert(dtype, key);
  }

  LowerContext& context_;
  loop::Builder& b_;
  const Op& op_;
  std::span<loop::Ref* const> results_;
  std::int64_t n_, k_;
};

std::int64_t grid(const Op& op) {
  const std::int64_t rows = rows_of(op);
  return ShortRows::serve(op) ? (rows + ShortRows::kTogether - 1) / ShortRows::kTogether : rows;
}

void emit(LowerContext& context, const Op& op, std::span<loop::Ref* const>,
          std::span<loop::Ref* const> results, const loop::Index& point) {
  if (ShortRows::serve(op)) return ShortRows(context, op, results).emit(point);
  Row(context, op, results, point).emit();
}

}  // namespace

const OpDef& top_k_def() {
  static const OpDef d{
      .info = {.name = "chlo.top_k", .infer = infer, .text = &ir::formats::top_k},
      .summary = "the k greatest elements of each row and where they stood (CHLO, top_k)",
      .traits = {},
      .evaluate = evaluate_decomposed,
      .jvp = jvp,
      .linearize = None{"no regions"},
      .transpose = None{"which elements are kept depends on them; its tangent is a gather"},
      .batch = batch,
      .shard = shard,
      .cost = cost,
      .lowering = CustomKernel{grid, emit},
      .decompose = decompose,
  };
  return d;
}

}  // namespace strata::op
