// Cumulative operations by any associative region: the running value of all lines side by side, a
// step for each element.
#include <algorithm>

#include "strata/op/build.h"
#include "strata/op/calculus/batch.h"
#include "strata/op/calculus/closed.h"
#include "strata/op/calculus/support.h"
#include "strata/op/control.h"
#include "strata/op/reduce/cumulative.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

/// A region on scalars, applied to arrays of one dimension element by element.
class Combine {
 public:
  Combine(const Op& op, std::span<Value* const> operands)
      : n_(static_cast<std::size_t>(op.num_results())),
        region_(op.region(0), 2 * static_cast<int>(n_), operands.subspan(2 * n_)) {
    Values inside, both;
    for (Value* v : region_.captured()) inside.push_back(block_.add_argument(v->type()));
    for (std::size_t i = 0; i < 2 * n_; ++i)
      both.push_back(
          block_.add_argument(Type::scalar(op.result(static_cast<int>(i % n_))->dtype())));
    Builder b(block_);
    block_.results = region_.inlined(b, both, inside);
  }
  const Values& captured() const { return region_.captured(); }

  Values operator()(Builder& b, const Values& captured, const Values& x, const Values& y) const {
    Values all = joined(joined(captured, x), y);
    std::vector<bool> batched(all.size(), true);
    std::fill(batched.begin(), batched.begin() + static_cast<std::ptrdiff_t>(captured.size()),
              false);
    std::int64_t size = x[0]->shape()[0];
    Batched out = batch(b, block_, all, batched, size);
    for (std::size_t i = 0; i < n_; ++i)
      out.results[i] = batched_operand(b, out.results[i], out.batched[i], size);
    return out.results;
  }

  /// Of each x[n, lines] the running values along its first dimension: each is `earlier` op x, or x
  /// op `earlier` in reverse. Long lines use pieces, each in sequence, that are side by side, and
  /// so do what the pieces come to: an element goes through 64 steps for each level, whatever n,
  /// where in sequence a sum of millions loses what is added to it.
  Values running(Builder& b, const Values& xs, bool reverse) const {
    constexpr std::int64_t kPiece = 64, kLong = 2 * kPiece;
    const std::int64_t n = xs[0]->shape()[0], lines = xs[0]->shape()[1];
    if (n <= kLong) return in_sequence(b, xs, reverse);
    const std::int64_t pieces = (n + kPiece - 1) / kPiece, missing = pieces * kPiece - n;
    Values side_by_side, totals, first, rest, before, all;
    for (Value* x : xs) {
      if (missing) {  // of no consequence to any other
        Value* edge = broadcast_in_dim(b, slice_dim(b, x, 0, reverse ? 0 : n - 1, reverse ? 1 : n),
                                       Shape{missing, lines}, {0, 1});
        x = concatenate(b, reverse ? Values{edge, x} : Values{x, edge}, 0);
      }
      side_by_side.push_back(
          reshape(b, transpose(b, reshape(b, x, Shape{pieces, kPiece, lines}), {1, 0, 2}),
                  Shape{kPiece, pieces * lines}));
    }
    const Values local = in_sequence(b, side_by_side, reverse);
    const std::int64_t last = reverse ? 0 : kPiece - 1, head = reverse ? pieces - 1 : 0,
                       others = reverse ? 0 : 1;
    for (Value* v : local)
      totals.push_back(reshape(b, slice_dim(b, v, 0, last, last + 1), Shape{pieces, lines}));
    const Values joined_totals = running(b, totals, reverse);
    const std::int64_t size = (pieces - 1) * kPiece * lines;
    for (std::size_t i = 0; i < n_; ++i) {
      Value* in_order = transpose(b, reshape(b, local[i], Shape{kPiece, pieces, lines}), {1, 0, 2});
      first.push_back(slice_dim(b, in_order, 0, head, head + 1));
      rest.push_back(
          reshape(b, slice_dim(b, in_order, 0, others, others + pieces - 1), Shape{size}));
      Value* of_others = slice_dim(b, joined_totals[i], 0, 1 - others, 1 - others + pieces - 1);
      before.push_back(
          reshape(b, broadcast_in_dim(b, of_others, Shape{pieces - 1, kPiece, lines}, {0, 2}),
                  Shape{size}));
    }
    const Values joined_rest =
        reverse ? (*this)(b, captured(), rest, before) : (*this)(b, captured(), before, rest);
    for (std::size_t i = 0; i < n_; ++i) {
      Value* tail = reshape(b, joined_rest[i], Shape{pieces - 1, kPiece, lines});
      Value* whole =
          reshape(b, concatenate(b, reverse ? Values{tail, first[i]} : Values{first[i], tail}, 0),
                  Shape{pieces * kPiece, lines});
      all.push_back(slice_dim(b, whole, 0, reverse ? missing : 0, reverse ? pieces * kPiece : n));
    }
    return all;
  }

 private:
  Values in_sequence(Builder& b, const Values& xs, bool reverse) const {
    std::int64_t n = xs[0]->shape()[0], lines = xs[0]->shape()[1], first = reverse ? n - 1 : 0,
                 rest = reverse ? 0 : 1;
    Values carries, steps;
    for (Value* x : xs) {
      carries.push_back(reshape(b, slice_dim(b, x, 0, first, first + 1), Shape{lines}));
      steps.push_back(slice_dim(b, x, 0, rest, rest + n - 1));
    }
    auto step =
        std::make_unique<Block>();  // (captured..., earlier..., elements...) -> (now..., now...)
    Values inside, earlier, elements;
    for (Value* v : captured()) inside.push_back(step->add_argument(v->type()));
    for (Value* v : carries) earlier.push_back(step->add_argument(v->type()));
    for (Value* v : carries) elements.push_back(step->add_argument(v->type()));
    Builder sb(*step);
    Values now =
        reverse ? (*this)(sb, inside, elements, earlier) : (*this)(sb, inside, earlier, elements);
    step->results = joined(now, now);
    Values out = scan(b, std::move(step), captured(), carries, steps, {n - 1, reverse}), all;
    for (std::size_t i = 0; i < n_; ++i) {
      Value *head = reshape(b, carries[i], Shape{1, lines}), *tail = out[n_ + i];
      all.push_back(concatenate(b, reverse ? Values{tail, head} : Values{head, tail}, 0));
    }
    return all;
  }

  std::size_t n_;
  OpenRegion region_;
  Block block_;
};

}  // namespace

Values cumulative_by_region(Builder& b, const Op& op, std::span<Value* const> operands, int dim,
                            bool reverse) {
  Combine combine(op, operands);
  std::size_t count = static_cast<std::size_t>(op.num_results());
  const Shape& shape = operands[0]->shape();
  std::int64_t n = shape[dim], lines = shape.count() / n;
  Values xs, inits, copies;
  for (std::size_t i = 0; i < count; ++i) {
    DType dtype = op.result(static_cast<int>(i))->dtype();
    xs.push_back(reshape(b, move_dim(b, convert(b, operands[i], dtype), dim, 0), Shape{n, lines}));
    inits.push_back(convert(b, operands[count + i], dtype));
    copies.push_back(broadcast_in_dim(b, inits.back(), Shape{n, 1}, {}));
  }
  Values sums = combine.running(b, xs, reverse),
         starts = combine.running(b, copies, !reverse);  // starts: one more for each place outside
  auto flat = [&](Value* v) { return reshape(b, v, Shape{n * lines}); };
  auto spread = [&](Value* v) { return flat(broadcast_in_dim(b, v, Shape{n, lines}, {0, 1})); };
  Values flat_sums, before, after;
  for (std::size_t i = 0; i < count; ++i) {
    flat_sums.push_back(flat(sums[i]));
    before.push_back(reverse ? broadcast_in_dim(b, inits[i], Shape{n * lines}, {})
                             : spread(starts[i]));
  }
  Values out = combine(b, combine.captured(), before, flat_sums);
  if (reverse) {  // the padding stands behind the elements; the first window has none
    for (std::size_t i = 0; i < count; ++i) {
      Value* none = broadcast_in_dim(b, inits[i], Shape{1, 1}, {});
      after.push_back(spread(concatenate(b, {none, slice_dim(b, starts[i], 0, 0, n - 1)}, 0)));
    }
    Values padded = combine(b, combine.captured(), out, after);
    Type numbers(DType::i64, Shape{n * lines});
    Value* whole =
        compare(b, iota(b, numbers, 0), constant(b, numbers, static_cast<double>(lines)), "LT");
    for (std::size_t i = 0; i < count; ++i) out[i] = select(b, whole, out[i], padded[i]);
  }
  Ints front{n};
  for (int d = 0; d < shape.rank(); ++d)
    if (d != dim) front.push_back(shape[d]);
  for (Value*& v : out) v = move_dim(b, reshape(b, v, Shape::of(front)), 0, dim);
  return out;
}

}  // namespace strata::op
