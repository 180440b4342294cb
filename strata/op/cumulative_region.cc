// Cumulative operations by any associative region: the running value of all lines side by side, a step for each element.
#include <algorithm>

#include "strata/op/build.h"
#include "strata/op/calculus/batch.h"
#include "strata/op/calculus/closed.h"
#include "strata/op/calculus/support.h"
#include "strata/op/control.h"
#include "strata/op/cumulative.h"

namespace strata::op {
namespace {

/// A region on scalars, applied to arrays of one dimension element by element.
class Combine {
 public:
  Combine(const Op& op, std::span<Value* const> operands)
      : n_(static_cast<std::size_t>(op.num_results())), region_(op.region(0), 2 * static_cast<int>(n_), operands.subspan(2 * n_)) {
    Values inside, both;
    for (Value* v : region_.captured()) inside.push_back(block_.add_argument(v->type()));
    for (std::size_t i = 0; i < 2 * n_; ++i) both.push_back(block_.add_argument(Type::scalar(op.result(static_cast<int>(i % n_))->dtype())));
    Builder b(block_);
    block_.results = region_.inlined(b, both, inside);
  }
  const Values& captured() const { return region_.captured(); }

  Values operator()(Builder& b, const Values& captured, const Values& x, const Values& y) const {
    Values all = joined(joined(captured, x), y);
    std::vector<bool> batched(all.size(), true);
    std::fill(batched.begin(), batched.begin() + static_cast<std::ptrdiff_t>(captured.size()), false);
    std::int64_t size = x[0]->shape()[0];
    Batched out = batch(b, block_, all, batched, size);
    for (std::size_t i = 0; i < n_; ++i) out.results[i] = batched_operand(b, out.results[i], out.batched[i], size);
    return out.results;
  }

  /// Of each x[n, lines] the running values along its first dimension: each is `earlier` op x, or x op `earlier` in reverse.
  Values running(Builder& b, const Values& xs, bool reverse) const {
    std::int64_t n = xs[0]->shape()[0], lines = xs[0]->shape()[1], first = reverse ? n - 1 : 0, rest = reverse ? 0 : 1;
    Values carries, steps;
    for (Value* x : xs) {
      carries.push_back(reshape(b, slice_dim(b, x, 0, first, first + 1), Shape{lines}));
      steps.push_back(slice_dim(b, x, 0, rest, rest + n - 1));
    }
    auto step = std::make_unique<Block>();  // (captured..., earlier..., elements...) -> (now..., now...)
    Values inside, earlier, elements;
    for (Value* v : captured()) inside.push_back(step->add_argument(v->type()));
    for (Value* v : carries) earlier.push_back(step->add_argument(v->type()));
    for (Value* v : carries) elements.push_back(step->add_argument(v->type()));
    Builder sb(*step);
    Values now = reverse ? (*this)(sb, inside, elements, earlier) : (*this)(sb, inside, earlier, elements);
    step->results = joined(now, now);
    Values out = scan(b, std::move(step), captured(), carries, steps, {n - 1, reverse}), all;
    for (std::size_t i = 0; i < n_; ++i) {
      Value *head = reshape(b, carries[i], Shape{1, lines}), *tail = out[n_ + i];
      all.push_back(concatenate(b, reverse ? Values{tail, head} : Values{head, tail}, 0));
    }
    return all;
  }

 private:
  std::size_t n_;
  OpenRegion region_;
  Block block_;
};

}  // namespace

Values cumulative_by_region(Builder& b, const Op& op, std::span<Value* const> operands, int dim, bool reverse) {
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
  Values sums = combine.running(b, xs, reverse), starts = combine.running(b, copies, !reverse);  // starts: one more for each place outside
  auto flat = [&](Value* v) { return reshape(b, v, Shape{n * lines}); };
  auto spread = [&](Value* v) { return flat(broadcast_in_dim(b, v, Shape{n, lines}, {0, 1})); };
  Values flat_sums, before, after;
  for (std::size_t i = 0; i < count; ++i) {
    flat_sums.push_back(flat(sums[i]));
    before.push_back(reverse ? broadcast_in_dim(b, inits[i], Shape{n * lines}, {}) : spread(starts[i]));
  }
  Values out = combine(b, combine.captured(), before, flat_sums);
  if (reverse) {  // the padding stands behind the elements; the first window has none
    for (std::size_t i = 0; i < count; ++i) {
      Value* none = broadcast_in_dim(b, inits[i], Shape{1, 1}, {});
      after.push_back(spread(concatenate(b, {none, slice_dim(b, starts[i], 0, 0, n - 1)}, 0)));
    }
    Values padded = combine(b, combine.captured(), out, after);
    Type numbers(DType::i64, Shape{n * lines});
    Value* whole = compare(b, iota(b, numbers, 0), constant(b, numbers, static_cast<double>(lines)), "LT");
    for (std::size_t i = 0; i < count; ++i) out[i] = select(b, whole, out[i], padded[i]);
  }
  Ints front{n};
  for (int d = 0; d < shape.rank(); ++d)
    if (d != dim) front.push_back(shape[d]);
  for (Value*& v : out) v = move_dim(b, reshape(b, v, Shape::of(front)), 0, dim);
  return out;
}

}  // namespace strata::op
