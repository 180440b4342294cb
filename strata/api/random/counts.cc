// Poisson, binomial and multinomial numbers: loops that go on until every element is accepted
// (discrete.h).
#include <algorithm>
#include <array>
#include <cmath>

#include "strata/api/index.h"
#include "strata/api/lax.h"
#include "strata/api/random/basic.h"
#include "strata/api/random/discrete.h"
#include "strata/api/random/draw.h"
#include "strata/api/transform/control.h"

namespace strata::random {
namespace {

using internal::describe;
using internal::fail;

struct Search {
  Array step, count, sum;  // sum: of logarithms or of waiting times
  Key key;
  STRATA_FIELDS(step, count, sum, key)
};
struct Attempt {
  Array step, found, accepted;
  Key key;
  STRATA_FIELDS(step, found, accepted, key)
};

Array like(const Array& x, double v) { return number(x.dtype(), v); }
Array zero_steps() { return Array::scalar(std::int64_t{0}, DType::i32, false); }

/// How long to look: as often as the dtype counts, and as i32 does.
Array most_steps(DType dtype) {
  return Array::scalar(
      (std::int64_t{1} << std::min(31, bit_width(dtype) - (is_signed(dtype) ? 1 : 0))) - 1,
      DType::i32, false);
}

/// Uniform numbers are multiplied until the product is below exp(-lam).
Array poisson_by_products(const Key& key, const Array& lam, DType dtype, const Array& most) {
  const Sizes shape = lam.shape();
  auto open = [&](const Search& s) { return s.sum > -lam; };
  auto next = [&](const Search& s) {
    const auto [k, sub] = split2(s.key);
    return Search{s.step + 1, numpy::where(open(s), s.count + 1, s.count),
                  s.sum + numpy::log(uniform(sub, shape, DType::f32)), k};
  };
  auto going = [&](const Search& s) { return numpy::any(open(s)) & (s.step < most); };
  return while_loop(
             going, next,
             Search{zero_steps(), numpy::zeros(shape, dtype), numpy::zeros(shape, DType::f32), key})
             .count -
         1;
}

Array poisson_by_rejection(const Key& key, const Array& lam, DType dtype, const Array& most) {
  const Sizes shape = lam.shape();
  const Array log_lam = numpy::log(lam), b = 0.931 + 2.53 * numpy::sqrt(lam),
              a = -0.059 + 0.02483 * b;
  const Array inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), bound = 0.9277 - 3.6224 / (b - 2);
  auto next = [&](const Attempt& s) {
    const Key keys = split(s.key, 3);
    const Array u = uniform(at(keys, 1), shape, DType::f32) - 0.5,
                v = uniform(at(keys, 2), shape, DType::f32), shifted = 0.5 - numpy::abs(u);
    const Array k = numpy::floor((2 * a / shifted + b) * u + lam + 0.43);
    const Array left = numpy::log(v * inverse_alpha / (a / (shifted * shifted) + b)),
                right = -lam + k * log_lam - lax::lgamma(k + 1);
    const Array refused = (k < 0) | ((shifted < 0.013) & (v > shifted));
    const Array accept = ((shifted >= 0.07) & (v <= bound)) | (~refused & (left <= right));
    return Attempt{s.step + 1, numpy::where(accept, k, s.found), s.accepted | accept, at(keys, 0)};
  };
  auto going = [&](const Attempt& s) { return numpy::any(~s.accepted) & (s.step < most); };
  const Attempt first{zero_steps(), numpy::full(shape, like(lam, -1)), numpy::zeros(shape, bool_),
                      key};
  return as(while_loop(going, next, first).found, dtype);
}

/// log(k!) beyond Stirling's formula.
Array stirling_tail(const Array& x) {
  static constexpr std::array tails = {0.0810614667953272,  0.0413406959554092, 0.0276779256849983,
                                       0.02079067210376509, 0.0166446911898211, 0.0138761288230707,
                                       0.0118967099458917,  0.0104112652619720, 0.00925546218271273,
                                       0.00833056343336287};
  const Array k = numpy::clip(x, like(x, 0), like(x, 9)), square = (k + 1) * (k + 1),
              place = numpy::floor(k);
  const Array series = (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
  Array listed = like(x, tails[0]);
  for (std::size_t i = 1; i < tails.size(); ++i)
    listed = numpy::where(place == static_cast<double>(i), like(x, tails[i]), listed);
  return numpy::where(x <= 9, listed, series);
}

/// Waiting times are summed until they pass the number of trials.
Array binomial_by_waiting(const Key& key, const Array& count, const Array& p, DType dtype,
                          const Array& most) {
  const Sizes shape = p.shape();
  const Array log_fails = numpy::log1p(-p);
  auto open = [&](const Search& s) { return s.sum <= count; };
  auto next = [&](const Search& s) {
    const auto [sub, k] = split2(s.key);
    const Array wait = numpy::ceil(numpy::log(uniform(sub, shape, p.dtype())) / log_fails);
    return Search{s.step + 1, numpy::where(open(s), s.count + 1, s.count), s.sum + wait, k};
  };
  auto going = [&](const Search& s) { return numpy::any(open(s)) & (s.step < most); };
  return as(while_loop(going, next,
                       Search{zero_steps(), numpy::zeros(shape, p.dtype()),
                              numpy::zeros(shape, p.dtype()), key})
                    .count -
                1,
            dtype);
}

Array binomial_by_rejection(const Key& key, const Array& count, const Array& p, DType dtype,
                            const Array& most) {
  const Sizes shape = p.shape();
  const Array deviation = numpy::sqrt(count * p * (1 - p)), b = 1.15 + 2.53 * deviation,
              a = -0.0873 + 0.0248 * b + 0.01 * p, c = count * p + 0.5;
  const Array bound = 0.92 - 4.2 / b, odds = p / (1 - p), alpha = (2.83 + 5.1 / b) * deviation,
              mode = numpy::floor((count + 1) * p);
  const Array tails = stirling_tail(mode) + stirling_tail(count - mode);
  auto next = [&](const Attempt& s) {
    const Key keys = split(s.key, 3);
    const Array u = uniform(at(keys, 1), shape, p.dtype()) - 0.5,
                v = uniform(at(keys, 2), shape, p.dtype()), inside = 0.5 - numpy::abs(u);
    const Array k = numpy::floor((2 * a / inside + b) * u + c);
    const Array ratio = (mode + 0.5) * numpy::log((mode + 1) / (odds * (count - mode + 1))) +
                        (count + 1) * numpy::log((count - mode + 1) / (count - k + 1)) +
                        (k + 0.5) * numpy::log(odds * (count - k + 1) / (k + 1)) + tails -
                        stirling_tail(k) - stirling_tail(count - k);
    const Array refused = (k < 0) | (k > count);
    const Array close = numpy::log(v * alpha / (a / (inside * inside) + b)) <= ratio;
    const Array accept = ((inside >= 0.07) & (v <= bound)) | (~refused & close);
    return Attempt{s.step + 1, numpy::where(accept, k, s.found), s.accepted | accept, at(keys, 0)};
  };
  auto going = [&](const Attempt& s) { return numpy::any(~s.accepted) & (s.step < most); };
  const Attempt first{zero_steps(), numpy::full(shape, like(p, -1)), numpy::zeros(shape, bool_),
                      key};
  return as(while_loop(going, next, first).found, dtype);
}

}  // namespace

Array poisson(const KeyOperand& key, const Operand& operand, const SampleShape& given,
              DType wanted) {
  const Use use("poisson", key);
  const DType dtype = integer_type("poisson", wanted);
  if (key.key.implementation != Implementation::threefry2x32)
    fail("poisson", "takes keys of threefry2x32 only, got {}", key.key.dtype().to_string());
  const Array lam =
      as(broadcast(operand, sample_shape("poisson", given, {operand->shape()})), DType::f32);
  const Array small = numpy::isnan(lam) | (lam < 10), most = most_steps(dtype);
  const Array by_products =
      poisson_by_products(key.key, numpy::where(small, lam, like(lam, 0)), dtype, most);
  const Array by_rejection =
      poisson_by_rejection(key.key, numpy::where(small, like(lam, 1e5), lam), dtype, most);
  return numpy::where(lam == 0, number(dtype, 0), numpy::where(small, by_products, by_rejection));
}

Array binomial(const KeyOperand& key, const Operand& n, const Operand& p, const SampleShape& given,
               DType wanted) {
  const Use use("binomial", key);
  const DType dtype = float_type("binomial", wanted);
  const Sizes shape = sample_shape("binomial", given, {n->shape(), p->shape()});
  const DType inner = internal::as_inexact(p).dtype();
  const Array prob = broadcast(as(p, inner), shape), trials = broadcast(as(n, inner), shape);
  const Array below_half = prob < 0.5, bad_count = numpy::isnan(trials) | (trials < 0),
              endless = numpy::isinf(trials);
  const Array rarer = numpy::where(below_half, prob, 1 - prob), bad_p = numpy::isnan(rarer),
              negative = rarer < 0;
  const Array q = numpy::where(bad_p | negative, like(prob, 0.01), rarer);
  const Array by_waiting = bad_count | (trials * q <= 10), count = numpy::floor(trials);
  const Array most = most_steps(DType::i32);
  const Array waited =
      binomial_by_waiting(key.key, numpy::where(by_waiting, count, like(count, 0)), q, dtype, most);
  const Array tried =
      binomial_by_rejection(key.key, numpy::where(by_waiting, like(count, 1e4), count),
                            numpy::where(by_waiting, like(q, 0.5), q), dtype, most);
  const Array invalid = negative | bad_p | bad_count;
  Array samples =
      numpy::where(invalid, number(dtype, numpy::nan), numpy::where(by_waiting, waited, tried));
  samples = numpy::where(endless & ~invalid, number(dtype, numpy::inf), samples);
  return numpy::where(below_half | bad_count | bad_p | endless, samples,
                      as(count, dtype) - samples);
}

Array multinomial(const KeyOperand& key, const Operand& n, const Operand& p,
                  const SampleShape& given, DType wanted) {
  const Use use("multinomial", key);
  const DType dtype = canonical(wanted, x64_enabled());
  if (p->ndim() < 1)
    fail("multinomial", "probabilities have an axis of classes, got {}", describe(p->type()));
  const Sizes shape = given.value_or(Sizes(p->shape()));
  const std::array both = {n.array, p.array};
  const DType inner = internal::inexact(internal::promoted("multinomial", both)).dtype;
  const std::vector<std::int64_t> batch(shape.begin(), shape.end() - 1);
  const Array classes = numpy::moveaxis(broadcast(as(p, inner), shape), -1, 0);
  // What is left of the probability from each class on.
  const Array left = numpy::flip(numpy::cumsum(numpy::flip(classes, 0), 0), 0),
              ratios = classes / numpy::where(left == 0, 1, left);
  struct Row {
    Array ratio;
    Key key;
    STRATA_FIELDS(ratio, key)
  };
  auto step = [&](const Array& remainder, const Row& row) {
    const Array count = binomial(row.key, remainder, numpy::clip(row.ratio, 0, 1), {}, inner);
    return std::pair(remainder - count, count);
  };
  const Array counts =
      scan(step, broadcast(as(n, inner), batch), Row{ratios, split(key.key, classes.shape(0))})
          .second;
  return as(numpy::moveaxis(counts, 0, -1), dtype);
}

}  // namespace strata::random
