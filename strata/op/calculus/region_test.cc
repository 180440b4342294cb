// Loops, branches and custom derivatives inside each other: each program obeys the laws of
// block_laws.h.
#include <gtest/gtest.h>

#include "strata/base/error.h"
#include "strata/op/build.h"
#include "strata/op/calculus/jvp.h"
#include "strata/op/calculus/linearize.h"
#include "strata/op/calculus/support.h"
#include "strata/op/calculus/transpose.h"
#include "strata/op/control.h"
#include "strata/op/evaluate.h"
#include "strata/op/samples.h"
#include "strata/op/testing/block_laws.h"
#include "strata/op/testing/run.h"

namespace strata::op::testing {
namespace {

const Type kVector(DType::f64, {3});
const Type kMatrix(DType::f64, {4, 3});
const Type kScalar = Type::scalar(DType::f64);
const Type kIndex = Type::scalar(DType::i32);

Literal random(const Type& type, std::uint64_t seed) { return random_literal(type, seed, -1, 1); }

// A scan whose body may use values from outside: they become consts.
Values open_scan(Builder& b, std::size_t carries, const std::vector<Type>& arguments,
                 const Program& program, Values operands, ScanOptions options) {
  BlockPtr body = build(arguments, program);
  Values consts = ir::close_over(*body);
  std::vector<int> order;
  for (std::size_t i = 0; i < consts.size(); ++i)
    order.push_back(static_cast<int>(arguments.size() + i));
  for (std::size_t i = 0; i < arguments.size(); ++i) order.push_back(static_cast<int>(i));
  reorder_arguments(*body, order);
  return scan(b, std::move(body), consts, part(operands, 0, carries),
              part(operands, carries, operands.size() - carries), options);
}

// c -> sin(c w) + x, ys: c, over the rows of xs.
Values recurrence(Builder& b, Value* w, Value* c, Value* xs, bool reverse = false) {
  return open_scan(b, 1, {kVector, kVector},
                   [&](Builder& sb, const Values& v) {
                     return Values{add(sb, sin(sb, mul(sb, v[0], w)), v[1]), v[0]};
                   },
                   {c, xs}, {4, reverse});
}

TEST(Scan, recurrence) {
  for (bool reverse : {false, true}) {
    auto f = build({kVector, kVector, kMatrix}, [&](Builder& b, const Values& v) {
      return recurrence(b, v[0], v[1], v[2], reverse);
    });
    EXPECT_EQ(check_laws(*f, {random(kVector, 1), random(kVector, 2), random(kMatrix, 3)}, 4), "");
  }
}

TEST(Scan, invariant_values_are_computed_once) {
  auto f = build({kVector, kVector, kMatrix}, [](Builder& b, const Values& v) {
    return open_scan(b, 1, {kVector, kVector},
                     [&](Builder& sb, const Values& a) {
                       return Values{mul(sb, add(sb, a[0], a[1]), exp(sb, v[0]))};
                     },
                     {v[1], v[2]}, {4, false});
  });
  EXPECT_EQ(check_laws(*f, {random(kVector, 1), random(kVector, 2), random(kMatrix, 3)}, 4), "");
  Block known;
  Values arguments;
  for (const auto& a : f->arguments()) arguments.push_back(known.add_argument(a->type()));
  Builder b(known);
  LinearBlock l = linearize(b, *f, arguments, {false, true, true});
  for (Value* v : ir::captures(*l.linear))
    EXPECT_EQ(v->type(), kVector) << "exp(w) is a residual of one step, not of four";
}

TEST(Scan, in_scan) {
  auto f = build({kVector, kVector, kMatrix}, [](Builder& b, const Values& v) {
    Values out = open_scan(b, 1, {kVector, kVector},
                           [&](Builder& sb, const Values& a) {
                             Values r = recurrence(sb, v[0], a[0], v[2]);
                             return Values{mul(sb, r[0], a[1]), reduce_sum(sb, r[1], {0})};
                           },
                           {v[1], v[2]}, {4, true});
    return out;
  });
  EXPECT_EQ(check_laws(*f, {random(kVector, 1), random(kVector, 2), random(kMatrix, 3)}, 4), "");
}

TEST(Scan, carry_that_becomes_active_later) {
  // (a, b, c) <- (x, a, b): the tangent of x reaches c after three steps.
  auto f = build({kVector, kMatrix}, [](Builder& b, const Values& v) {
    Value* zero = zeros(b, kVector);
    return open_scan(b, 3, {kVector, kVector, kVector, kVector},
                     [&](Builder& sb, const Values& a) {
                       return Values{mul(sb, a[3], v[0]), a[0], sin(sb, a[1]), a[2]};
                     },
                     {zero, zero, zero, v[1]}, {4, false});
  });
  EXPECT_EQ(check_laws(*f, {random(kVector, 1), random(kMatrix, 3)}, 4), "");
}

TEST(Scan, transposed_with_a_counter) {
  // Linear in x, but with a counter beside it.
  auto f = build({kVector}, [](Builder& b, const Values& v) {
    return open_scan(b, 2, {kIndex, kVector},
                     [&](Builder& sb, const Values& a) {
                       Value* scale =
                           broadcast_to(sb, convert(sb, a[0], DType::f64), kVector.shape());
                       return Values{add(sb, a[0], scalar(sb, DType::i32, 1)),
                                     add(sb, mul(sb, a[1], scale), v[0])};
                     },
                     {scalar(b, DType::i32, 1), v[0]}, {4, false});
  });
  auto t = std::make_unique<Block>();
  Value* ct = t->add_argument(kVector);
  Builder b(*t);
  t->results = transpose(b, *f, Values{nullptr, ct});
  Literal x = random(kVector, 1), w = random(kVector, 2);
  Literals forward = evaluate(*f, std::vector{x}), backward = evaluate(*t, std::vector{w});
  EXPECT_NEAR(inner({forward[1]}, {w}), inner({x}, backward), 1e-9);
}

// x -> (2 x, 2 x): both cotangents come back.
TEST(Transpose, a_value_returned_twice) {
  auto f = build({kVector}, [](Builder& b, const Values& v) {
    Value* y = mul(b, v[0], full_like(b, v[0], 2));
    return Values{y, y};
  });
  auto t = std::make_unique<Block>();
  Value *first = t->add_argument(kVector), *second = t->add_argument(kVector);
  Builder b(*t);
  t->results = transpose(b, *f, Values{first, second});
  Literal w = random(kVector, 1), z = random(kVector, 2);
  Literals sum = evaluate(*t, std::vector{w, z});
  for (std::int64_t i = 0; i < 3; ++i) EXPECT_EQ(sum[0].number(i), 2 * (w.number(i) + z.number(i)));
}

BlockPtr less_than(int bound) {
  return build({kIndex, kVector}, [&](Builder& b, const Values& v) {
    return Values{op::compare(b, v[0], scalar(b, DType::i32, bound), "LT")};
  });
}

TEST(While, forward_and_batched) {
  auto f = build({kIndex, kVector, kVector}, [](Builder& b, const Values& v) {
    auto body = build({kIndex, kVector}, [&](Builder& wb, const Values& a) {
      return Values{add(wb, a[0], scalar(wb, DType::i32, 1)), sin(wb, mul(wb, a[1], v[2]))};
    });
    return while_(b, less_than(4), std::move(body), {v[0], v[1]});
  });
  Literals at{Literal::scalar<std::int32_t>(1), random(kVector, 1), random(kVector, 2)};
  EXPECT_EQ(check_jvp(*f, at, 3), "");
  EXPECT_EQ(check_batch(*f, at, 3), "");
  EXPECT_THROW(check_vjp(*f, at, 3), Error);
}

TEST(While, reverse_mode_says_what_to_use_instead) {
  auto f = build({kIndex, kVector}, [](Builder& b, const Values& v) {
    auto body = build({kIndex, kVector}, [&](Builder& wb, const Values& a) {
      return Values{add(wb, a[0], scalar(wb, DType::i32, 1)), sin(wb, a[1])};
    });
    return while_(b, less_than(4), std::move(body), {v[0], v[1]});
  });
  try {
    check_vjp(*f, {Literal::scalar<std::int32_t>(1), random(kVector, 1)}, 3);
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("use scan or fori_loop"), std::string::npos) << e.what();
  }
}

// Three branches on (x, y): y x; x beside a scan; a constant.
Values three_branches(Builder& b, Value* index, Value* x, Value* y, Value* xs) {
  std::vector<BlockPtr> branches;
  branches.push_back(
      build({}, [&](Builder& cb, const Values&) { return Values{mul(cb, x, sin(cb, y)), x}; }));
  branches.push_back(build({}, [&](Builder& cb, const Values&) {
    return Values{recurrence(cb, y, x, xs)[0], exp(cb, x)};
  }));
  branches.push_back(
      build({}, [&](Builder& cb, const Values&) { return Values{constant(cb, kVector, 2), y}; }));
  return case_(b, index, std::move(branches));
}

TEST(Case, each_branch) {
  auto f = build({kIndex, kVector, kVector, kMatrix}, [](Builder& b, const Values& v) {
    return three_branches(b, v[0], v[1], v[2], v[3]);
  });
  for (int index : {0, 1, 2, 5})
    EXPECT_EQ(check_laws(*f,
                         {Literal::scalar<std::int32_t>(index), random(kVector, 1),
                          random(kVector, 2), random(kMatrix, 3)},
                         4),
              "")
        << index;
}

TEST(Case, in_scan) {
  auto f = build({kVector, kVector, kMatrix}, [](Builder& b, const Values& v) {
    return open_scan(b, 2, {kIndex, kVector, kVector},
                     [&](Builder& sb, const Values& a) {
                       Values r = three_branches(sb, a[0], a[1], v[0], v[2]);
                       return Values{add(sb, a[0], scalar(sb, DType::i32, 1)), add(sb, r[0], a[2]),
                                     r[1]};
                     },
                     {scalar(b, DType::i32, 0), v[1], v[2]}, {4, false});
  });
  EXPECT_EQ(check_laws(*f, {random(kVector, 1), random(kVector, 2), random(kMatrix, 3)}, 4), "");
}

BlockPtr layer() {
  return build({kVector, kVector}, [](Builder& b, const Values& v) {
    Value* h = name(b, tanh(b, mul(b, v[0], v[1])), "hidden");
    return Values{sin(b, mul(b, h, v[0])), exp(b, h)};
  });
}

TEST(Remat, every_policy) {
  for (const char* policy : {"nothing", "everything", "dots", "dots_no_batch", "names:hidden"}) {
    auto f = build({kVector, kVector},
                   [&](Builder& b, const Values& v) { return remat(b, layer(), v, policy); });
    EXPECT_EQ(check_laws(*f, {random(kVector, 1), random(kVector, 2)}, 3), "") << policy;
  }
}

// Three layers in a scan.
BlockPtr layers() {
  return build({kVector, kVector}, [](Builder& b, const Values& v) {
    const auto step = [&](Builder& sb, const Values& s) {
      return Values{ir::inline_block(sb, *layer(), Values{s[0], v[1]})[0]};
    };
    return Values{open_scan(b, 1, {kVector}, step, {v[0]}, {3, false})[0], v[1]};
  });
}

// Bytes that a linear part keeps from its known part, besides the function's arguments.
std::size_t kept_bytes(const char* policy, BlockPtr (*body)() = layer) {
  auto f = build({kVector, kVector},
                 [&](Builder& b, const Values& v) { return remat(b, body(), v, policy); });
  Block known;
  Values arguments;
  for (const auto& a : f->arguments()) arguments.push_back(known.add_argument(a->type()));
  Builder b(known);
  LinearBlock l = linearize(b, *f, arguments, {true, true});
  std::size_t bytes = 0;
  for (Value* v : ir::captures(*l.linear))
    if (v->op()) bytes += v->type().bytes();
  return bytes;
}

TEST(Remat, keeps_what_the_policy_says) {
  EXPECT_EQ(kept_bytes("nothing"), 0u);
  EXPECT_EQ(kept_bytes("names:hidden"), kVector.bytes());
  EXPECT_EQ(kept_bytes("names:other"), 0u);
  EXPECT_GT(kept_bytes("everything"), kVector.bytes());
}

TEST(Remat, keeps_what_a_body_within_it_names) {
  EXPECT_EQ(kept_bytes("nothing", layers), 0u);
  EXPECT_EQ(kept_bytes("names:other", layers), 0u);
  EXPECT_EQ(kept_bytes("names:hidden", layers), 3 * kVector.bytes());
  for (const char* policy : {"nothing", "names:hidden"}) {
    auto f = build({kVector, kVector},
                   [&](Builder& b, const Values& v) { return remat(b, layers(), v, policy); });
    EXPECT_EQ(check_laws(*f, {random(kVector, 1), random(kVector, 2)}, 3), "") << policy;
  }
}

TEST(Remat, unknown_policy) {
  Block f;
  Builder b(f);
  EXPECT_THROW(remat(b, build({}, [](Builder&, const Values&) { return Values{}; }), {}, "some"),
               Error);
}

TEST(Remat, in_scan_and_around_it) {
  auto f = build({kVector, kVector, kMatrix}, [](Builder& b, const Values& v) {
    BlockPtr outer = build({kVector, kVector, kMatrix}, [](Builder& rb, const Values& a) {
      return open_scan(rb, 1, {kVector, kVector},
                       [&](Builder& sb, const Values& s) {
                         Values r = remat(sb, layer(), {s[0], a[0]});
                         return Values{add(sb, r[0], s[1]), r[1]};
                       },
                       {a[1], a[2]}, {4, false});
    });
    return remat(b, std::move(outer), v);
  });
  EXPECT_EQ(check_laws(*f, {random(kVector, 1), random(kVector, 2), random(kMatrix, 3)}, 4), "");
}

BlockPtr sine() {
  return build({kVector}, [](Builder& b, const Values& v) { return Values{sin(b, v[0])}; });
}

TEST(CustomJvp, own_rule_is_used) {
  // The rule says 3 cos(x) t: laws hold for derivatives of it, and the tangent is three times too
  // large.
  auto f = build({kVector}, [](Builder& b, const Values& v) {
    auto rule = build({kVector, kVector}, [](Builder& rb, const Values& a) {
      return Values{sin(rb, a[0]), mul(rb, full_like(rb, a[1], 3), mul(rb, cos(rb, a[0]), a[1]))};
    });
    return custom_jvp(b, sine(), std::move(rule), v);
  });
  Literals at{random(kVector, 1)};
  EXPECT_EQ(check_vjp(*f, at, 2), "");
  EXPECT_EQ(check_batch(*f, at, 2), "");
  JvpBlock d = jvp(*f, {true});
  Literals ones{Literal::full(kVector, 1)};
  EXPECT_NEAR(evaluate(*d.block, joined(at, ones))[1].number(0), 3 * std::cos(at[0].number(0)),
              1e-12);
}

BlockPtr custom_sine_rule(double scale) {
  return build({kVector, kVector}, [scale](Builder& b, const Values& v) {
    return Values{mul(b, full_like(b, v[0], scale), mul(b, v[0], v[1]))};
  });
}

Values custom_sine(Builder& b, Value* x, double scale) {
  auto forward = build(
      {kVector}, [](Builder& fb, const Values& v) { return Values{sin(fb, v[0]), cos(fb, v[0])}; });
  return custom_vjp(b, sine(), std::move(forward), custom_sine_rule(scale), {x}, {0});
}

TEST(CustomVjp, own_rule_is_used_and_derived_again) {
  auto f = build({kVector}, [](Builder& b, const Values& v) { return custom_sine(b, v[0], 1); });
  Literals at{random(kVector, 1)};
  EXPECT_EQ(check_laws(*f, at, 2), "");
  auto tripled =
      build({kVector}, [](Builder& b, const Values& v) { return custom_sine(b, v[0], 3); });
  Block g;
  Value* x = g.add_argument(kVector);
  Builder b(g);
  LinearBlock l = linearize(b, *tripled, Values{x}, {true});
  g.results = transpose(b, *l.linear, Values{full_like(b, x, 1)});
  EXPECT_NEAR(evaluate(g, at)[0].number(0), 3 * std::cos(at[0].number(0)), 1e-12);
  EXPECT_EQ(check_laws(g, at, 2), "");
}

TEST(CustomVjp, unbatched_operand_gets_the_sum) {
  // bwd of an operand that all inputs share, in a scan and batched over the other operand.
  auto f = build({kVector, kVector, kMatrix}, [](Builder& b, const Values& v) {
    return open_scan(b, 1, {kVector, kVector},
                     [&](Builder& sb, const Values& a) {
                       return Values{add(sb, custom_sine(sb, mul(sb, a[0], v[0]), 1)[0], a[1])};
                     },
                     {v[1], v[2]}, {4, false});
  });
  EXPECT_EQ(check_laws(*f, {random(kVector, 1), random(kVector, 2), random(kMatrix, 3)}, 4), "");
}

TEST(Ref, reads_what_was_written_last) {
  Literals out = run({Literal::scalar<double>(2)}, [](Builder& b, const Values& v) {
    Value* cell = ref_new(b, v[0]);
    Value* first = ref_get(b, cell);
    ref_set(b, cell, mul(b, first, first));
    return Values{first, ref_get(b, cell)};
  });
  EXPECT_EQ(out[0].number(0), 2);
  EXPECT_EQ(out[1].number(0), 4);
}

TEST(Ref, has_no_derivative) {
  auto f = build({kScalar},
                 [](Builder& b, const Values& v) { return Values{ref_get(b, ref_new(b, v[0]))}; });
  EXPECT_THROW(jvp(*f, {true}), Error);
}

}  // namespace
}  // namespace strata::op::testing
