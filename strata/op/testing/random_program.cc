#include "strata/op/testing/random_program.h"

#include <array>
#include <random>

#include "strata/op/build.h"
#include "strata/op/calculus/support.h"
#include "strata/op/control.h"
#include "strata/op/samples.h"
#include "strata/op/testing/run.h"

namespace strata::op::testing {
namespace {

using Kind = Instruction::Kind;

const Type kVector(DType::f64, {3});
const Type kMatrix(DType::f64, {4, 3});
const Type kScalar = Type::scalar(DType::f64);
const Type kIndex = Type::scalar(DType::i32);

constexpr std::array<const char*, kKinds> kNames{
    "sin",  "tanh",          "exp",    "logistic",    "add",        "sub",        "mul",
    "div",  "max",           "select", "reverse",     "roll",       "spread",     "total",
    "dot",  "matrix_vector", "rows",   "dynamic_row", "custom_jvp", "custom_vjp", "barrier",
    "scan", "map_rows",      "case",   "if",          "remat",      "while"};

bool has_body(Kind kind) { return kind >= Kind::scan; }

// Values of each type that instructions may use; the newest last.
struct Environment {
  Values vectors, scalars, matrices;
  Value* index = nullptr;

  Value* vector(unsigned i) const { return vectors[vectors.size() - 1 - i % vectors.size()]; }
  Value* scalar(unsigned i) const { return scalars[scalars.size() - 1 - i % scalars.size()]; }
  Value* matrix(unsigned i) const { return matrices[matrices.size() - 1 - i % matrices.size()]; }
};

void emit(Builder& b, Environment& e, const Instruction& i);

// The last vector of a body, kept from growing from step to step.
Value* run_body(Builder& b, Environment e, const std::vector<Instruction>& body) {
  for (const Instruction& i : body) emit(b, e, i);
  return tanh(b, e.vector(0));
}

// Isolated: what the body uses from outside becomes leading arguments, returned.
Values isolate(Block& body) {
  int own = body.num_arguments();
  Values captured = ir::close_over(body);
  std::vector<int> order;
  for (std::size_t i = 0; i < captured.size(); ++i) order.push_back(own + static_cast<int>(i));
  for (int i = 0; i < own; ++i) order.push_back(i);
  reorder_arguments(body, order);
  return captured;
}

void emit_scan(Builder& b, Environment& e, const Instruction& i) {
  bool carries = i.kind == Kind::scan;
  BlockPtr body = build(carries ? std::vector<Type>{kVector, kVector} : std::vector<Type>{kVector},
                        [&](Builder& sb, const Values& v) {
                          Environment inner = e;
                          append(inner.vectors, v);
                          Value* out = run_body(sb, inner, i.body);
                          return carries ? Values{out, mul(sb, v[0], v[1])} : Values{out};
                        });
  Values consts = isolate(*body);
  Values out = scan(b, std::move(body), consts, carries ? Values{e.vector(i.a)} : Values{},
                    {e.matrix(i.b)}, {4, i.a % 2 == 1});
  if (carries) e.vectors.push_back(out[0]);
  e.matrices.push_back(out.back());
}

void emit_choice(Builder& b, Environment& e, const Instruction& i) {
  std::vector<BlockPtr> branches;
  branches.push_back(build({}, [&](Builder& cb, const Values&) {
    return Values{run_body(cb, e, i.body), e.scalar(i.b)};
  }));
  branches.push_back(build({}, [&](Builder& cb, const Values&) {
    return Values{sin(cb, e.vector(i.a)), reduce_sum(cb, e.vector(i.b), {0})};
  }));
  if (i.kind == Kind::case_)
    branches.push_back(build({}, [&](Builder& cb, const Values&) {
      return Values{e.vector(i.b), scalar(cb, DType::f64, 0.5)};
    }));
  Values out;
  if (i.kind == Kind::case_) {
    out = case_(b, e.index, std::move(branches));
  } else {
    Value* predicate = compare(b, e.index, scalar(b, DType::i32, 1), "LT");
    BlockPtr otherwise = std::move(branches[1]);
    out = if_(b, predicate, std::move(branches[0]), std::move(otherwise));
  }
  e.vectors.push_back(out[0]);
  e.scalars.push_back(out[1]);
}

void emit_while(Builder& b, Environment& e, const Instruction& i) {
  auto cond = build({kIndex, kVector}, [](Builder& wb, const Values& v) {
    return Values{compare(wb, v[0], scalar(wb, DType::i32, 3), "LT")};
  });
  auto body = build({kIndex, kVector}, [&](Builder& wb, const Values& v) {
    Environment inner = e;
    inner.vectors.push_back(v[1]);
    return Values{add(wb, v[0], scalar(wb, DType::i32, 1)), run_body(wb, inner, i.body)};
  });
  e.vectors.push_back(while_(b, std::move(cond), std::move(body), {e.index, e.vector(i.a)})[1]);
}

void emit_remat(Builder& b, Environment& e, const Instruction& i) {
  BlockPtr body = build({}, [&](Builder& rb, const Values&) {
    Value* named = name(rb, e.vector(i.a), "kept");
    Environment inner = e;
    inner.vectors.push_back(sin(rb, named));
    return Values{run_body(rb, inner, i.body)};
  });
  Values operands = isolate(*body);
  const char* policies[] = {"nothing", "everything", "dots", "dots_no_batch", "names:kept"};
  e.vectors.push_back(remat(b, std::move(body), operands, policies[i.b % 5])[0]);
}

// sin(x) y, with its own rules.
Value* emit_custom(Builder& b, Kind kind, Value* x, Value* y) {
  auto product = [](Builder& pb, const Values& v) { return Values{mul(pb, sin(pb, v[0]), v[1])}; };
  auto primal = build({kVector, kVector}, product);
  if (kind == Kind::custom_jvp) {
    auto rule = build({kVector, kVector, kVector, kVector}, [&](Builder& rb, const Values& v) {
      Value* tangent =
          add(rb, mul(rb, mul(rb, cos(rb, v[0]), v[1]), v[2]), mul(rb, sin(rb, v[0]), v[3]));
      return Values{product(rb, v)[0], tangent};
    });
    return custom_jvp(b, std::move(primal), std::move(rule), {x, y})[0];
  }
  auto forward = build({kVector, kVector}, [&](Builder& fb, const Values& v) {
    return Values{product(fb, v)[0], v[0], v[1]};
  });
  auto backward = build({kVector, kVector, kVector}, [](Builder& wb, const Values& v) {
    return Values{mul(wb, mul(wb, cos(wb, v[0]), v[1]), v[2]), mul(wb, sin(wb, v[0]), v[2])};
  });
  return custom_vjp(b, std::move(primal), std::move(forward), std::move(backward), {x, y},
                    {0, 1})[0];
}

Value* dynamic_row(Builder& b, Value* matrix, Value* index) {
  return reshape(b, dynamic_slice(b, matrix, {index, scalar(b, DType::i32, 0)}, {1, 3}),
                 kVector.shape());
}

Value* roll(Builder& b, Value* x) {
  return concatenate(b, {slice(b, x, {1}, {3}), slice(b, x, {0}, {1})}, 0);
}

Value* rows(Builder& b, Value* x, Value* matrix) {
  return mul(b, broadcast_in_dim(b, x, kMatrix.shape(), {1}), sin(b, matrix));
}

Value* matrix_vector(Builder& b, Value* matrix, Value* x) {
  Value* product = dot_general(b, matrix, x, {{}, {}, {1}, {0}});
  return slice(b, product, {0}, {3});
}

Value* vector_of(Builder& b, const Environment& e, const Instruction& i) {
  Value *x = e.vector(i.a), *y = e.vector(i.b);
  switch (i.kind) {
    case Kind::sin: return sin(b, x);
    case Kind::tanh: return tanh(b, x);
    case Kind::exp: return exp(b, tanh(b, x));
    case Kind::logistic: return logistic(b, x);
    case Kind::add: return add(b, x, y);
    case Kind::sub: return sub(b, x, y);
    case Kind::mul: return mul(b, x, y);
    case Kind::div: return div(b, x, add(b, full_like(b, y, 1), mul(b, y, y)));
    case Kind::max:
      return max(
          b, x,
          add(b, x, sin(b, add(b, y, full_like(b, y, 2)))));  // the difference is a sine, not zero
    case Kind::select:
      return select(b,
                    compare(b, iota(b, kVector.with(DType::i32), 0),
                            broadcast_to(b, e.index, kVector.shape()), "LT"),
                    x, y);
    case Kind::reverse: return reverse(b, x, {0});
    case Kind::roll: return roll(b, x);
    case Kind::spread: return broadcast_to(b, tanh(b, e.scalar(i.a)), kVector.shape());
    case Kind::matrix_vector: return matrix_vector(b, e.matrix(i.b), x);
    case Kind::dynamic_row: return dynamic_row(b, e.matrix(i.a), e.index);
    case Kind::custom_jvp:
    case Kind::custom_vjp: return emit_custom(b, i.kind, x, y);
    case Kind::barrier: return optimization_barrier(b, {x, y})[0];
    default: return nullptr;
  }
}

void emit(Builder& b, Environment& e, const Instruction& i) {
  if (Value* v = vector_of(b, e, i)) {
    e.vectors.push_back(v);
    return;
  }
  switch (i.kind) {
    case Kind::total: e.scalars.push_back(reduce_sum(b, e.vector(i.a), {0})); return;
    case Kind::dot:
      e.scalars.push_back(dot_general(b, e.vector(i.a), e.vector(i.b), {{}, {}, {0}, {0}}));
      return;
    case Kind::rows: e.matrices.push_back(rows(b, e.vector(i.a), e.matrix(i.b))); return;
    case Kind::scan:
    case Kind::map_rows: emit_scan(b, e, i); return;
    case Kind::case_:
    case Kind::if_: emit_choice(b, e, i); return;
    case Kind::remat: emit_remat(b, e, i); return;
    case Kind::while_: emit_while(b, e, i); return;
    default: STRATA_UNREACHABLE("instruction {}", static_cast<int>(i.kind));
  }
}

std::vector<Instruction> random_list(std::mt19937_64& random, int count,
                                     const RandomOptions& options, int depth) {
  std::vector<Instruction> out;
  while (static_cast<int>(out.size()) < count) {
    Instruction i{static_cast<Kind>(random() % kKinds), static_cast<unsigned>(random() % 5),
                  static_cast<unsigned>(random() % 5)};
    if (i.kind == Kind::while_ && !options.with_while) continue;
    if (i.kind == Kind::custom_vjp && !options.with_custom_vjp) continue;
    if (has_body(i.kind)) {
      if (depth == 0) continue;
      i.body = random_list(random, 2, options, depth - 1);
    }
    out.push_back(std::move(i));
  }
  return out;
}

void print(std::string& out, const std::vector<Instruction>& list, int indent) {
  for (const Instruction& i : list) {
    out += fmt::format("{}{} {} {}\n", std::string(static_cast<std::size_t>(indent), ' '),
                       kNames[static_cast<std::size_t>(i.kind)], i.a, i.b);
    print(out, i.body, indent + 2);
  }
}

int count(const std::vector<Instruction>& list) {
  int n = 0;
  for (const Instruction& i : list) n += 1 + count(i.body);
  return n;
}

std::vector<std::vector<Instruction>> smaller_lists(const std::vector<Instruction>& list) {
  std::vector<std::vector<Instruction>> out;
  for (std::size_t k = 0; k < list.size(); ++k) {
    std::vector<Instruction> without = list;
    without.erase(without.begin() + static_cast<std::ptrdiff_t>(k));
    out.push_back(without);
    if (!has_body(list[k].kind)) continue;
    without.insert(without.begin() + static_cast<std::ptrdiff_t>(k), list[k].body.begin(),
                   list[k].body.end());
    out.push_back(without);
    for (auto& body : smaller_lists(list[k].body)) {
      out.push_back(list);
      out.back()[k].body = body;
    }
  }
  return out;
}

}  // namespace

std::unique_ptr<Block> RandomProgram::build() const {
  return testing::build({kVector, kVector, kMatrix, kIndex}, [&](Builder& b, const Values& v) {
    Environment e{{v[0], v[1]}, {reduce_sum(b, v[0], {0})}, {v[2]}, v[3]};
    for (const Instruction& i : instructions) emit(b, e, i);
    return Values{e.vector(0), e.scalar(0), e.matrix(0)};
  });
}

std::string RandomProgram::to_text() const {
  std::string out;
  print(out, instructions, 2);
  return out;
}

int RandomProgram::size() const { return count(instructions); }

RandomProgram random_program(std::uint64_t seed, const RandomOptions& options) {
  std::mt19937_64 random(seed);
  return {random_list(random, options.instructions, options, 2)};
}

Literals random_arguments(std::uint64_t seed) {
  return {random_literal(kVector, seed, -1, 1), random_literal(kVector, seed + 1, -1, 1),
          random_literal(kMatrix, seed + 2, -1, 1),
          Literal::scalar<std::int32_t>(static_cast<std::int32_t>(seed % 3))};
}

std::vector<RandomProgram> smaller(const RandomProgram& program) {
  std::vector<RandomProgram> out;
  for (auto& list : smaller_lists(program.instructions)) out.push_back({std::move(list)});
  return out;
}

}  // namespace strata::op::testing
