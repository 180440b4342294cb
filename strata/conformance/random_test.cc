// Random programs of the whole vocabulary: compiled = reference bit for bit, one thread = two
// threads, print-parse-print, and for smooth ones the forward derivative = finite differences, the
// reverse one its transpose.
//
// STRATA_RANDOM_GRAPHS sets how many (default 500), STRATA_RANDOM_SEED the first. A failing program
// is made smaller and written to build/random/ as NAME.mlir with NAME.safetensors beside:
// `strata-run NAME.mlir --check=NAME.safetensors` repeats it.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "strata/base/error.h"
#include "strata/base/file.h"
#include "strata/base/thread_pool.h"
#include "strata/checkpoint/safetensors.h"
#include "strata/conformance/execute.h"
#include "strata/conformance/program.h"
#include "strata/conformance/workers.h"
#include "strata/ir/text/printer.h"
#include "strata/op/evaluate.h"
#include "strata/op/testing/random_graph.h"
#include "strata/transform/jvp.h"
#include "strata/transform/vjp.h"

namespace strata::conformance {
namespace {

using ir::Block;
using op::testing::RandomGraph;
using BlockPtr = std::unique_ptr<Block>;

std::size_t number_from(const char* variable, std::size_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : static_cast<std::size_t>(std::atoll(text));
}

std::unique_ptr<ir::Module> module_of(const RandomGraph& graph) {
  auto module = std::make_unique<ir::Module>();
  ir::Function& f = module->add("main");
  BlockPtr body = graph.build();
  ir::ValueMap map;
  for (const auto& a : body->arguments()) map.set(a.get(), f.body.add_argument(a->type()));
  ir::Builder b(f.body);
  f.body.results = ir::inline_block(b, *body, f.body.argument_values());
  f.arg_attrs.resize(f.body.arguments().size());
  f.result_attrs.resize(f.body.results.size());
  return module;
}

/// What differs between two runs, in words; NaN equals NaN.
std::string difference(const std::vector<Literal>& got, const std::vector<Literal>& want,
                       const char* what) {
  for (std::size_t r = 0; r < want.size(); ++r) {
    if (!(got[r].type() == want[r].type()))
      return fmt::format("{}: result {} is {}, not {}", what, r, got[r].type().to_string(),
                         want[r].type().to_string());
    if (auto d = op::compare({.kind = op::Demand::Kind::bits}, got[r], want[r]))
      return fmt::format("{}: result {} {} {}", what, r, want[r].type().to_string(),
                         op::to_string(*d));
  }
  return "";
}

std::string bits_differ(const RandomGraph& graph) {
  auto module = module_of(graph);
  if (Status s = print_is_fixpoint(*module); !s.ok()) return s.message();
  ir::Function& f = *module->find("main");
  std::vector<Literal> want = op::evaluate(f.body, graph.arguments);
  Callable callable(f, Mode::compiled, /*fold=*/true);
  set_num_threads(1);
  std::vector<Literal> one = literals(callable.run(graph.arguments));
  set_num_threads(2);
  std::vector<Literal> two = literals(callable.run(graph.arguments));
  std::string said = difference(one, want, "compiled");
  return said.empty() ? difference(two, one, "two threads") : said;
}

// ---- derivatives -------------------------------------------------------------------------------

/// x + t d.
Literal moved(const Literal& x, const Literal& d, double t) {
  Literal out(x.type());
  for (std::int64_t i = 0; i < x.count(); ++i) out.set_number(i, x.number(i) + t * d.number(i));
  return out;
}

/// Results of f64 as one list.
std::vector<double> floats(const std::vector<Literal>& results) {
  std::vector<double> out;
  for (const Literal& r : results)
    if (r.dtype() == DType::f64)
      for (std::int64_t i = 0; i < r.count(); ++i) out.push_back(r.number(i));
  return out;
}

double largest(const std::vector<double>& x) {
  double out = 0;
  for (double v : x) out = std::isfinite(v) ? std::max(out, std::fabs(v)) : INFINITY;
  return out;
}

std::vector<double> difference_quotient(const Block& f, const std::vector<Literal>& x,
                                        const std::vector<Literal>& d, double h) {
  std::vector<Literal> ahead, behind;
  for (std::size_t i = 0; i < x.size(); ++i) {
    ahead.push_back(moved(x[i], d[i], h));
    behind.push_back(moved(x[i], d[i], -h));
  }
  std::vector<double> a = floats(op::evaluate(f, ahead)), b = floats(op::evaluate(f, behind));
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = (a[i] - b[i]) / (2 * h);
  return a;
}

/// Whether f jumps at x itself, as where numbers that are equal there are compared, which quotients
/// of both sides do not show. `slope`: the greatest of the quotients.
bool jumps_at(const Block& f, const std::vector<Literal>& x, const std::vector<Literal>& d,
              double slope) {
  constexpr double kStep = 1e-9;
  std::vector<Literal> ahead;
  for (std::size_t i = 0; i < x.size(); ++i) ahead.push_back(moved(x[i], d[i], kStep));
  const std::vector<double> here = floats(op::evaluate(f, x)),
                            there = floats(op::evaluate(f, ahead));
  for (std::size_t i = 0; i < here.size(); ++i)
    if (!(std::fabs(there[i] - here[i]) <=
          1e-6 * std::max(1.0, std::fabs(here[i])) + 2 * kStep * slope))
      return true;
  return false;
}

constexpr const char* kInconclusive = "inconclusive";

double product(const std::vector<double>& x, const std::vector<double>& y) {
  double out = 0;
  for (std::size_t i = 0; i < x.size(); ++i) out += x[i] * y[i];
  return out;
}

/// Which results carry derivatives.
std::vector<bool> of_f64(const Block& f) {
  std::vector<bool> out;
  for (const ir::Value* r : f.results) out.push_back(r->dtype() == DType::f64);
  return out;
}

/// The tangents of the results of f64, by the forward derivative.
std::vector<double> forward(const Block& f, const std::vector<Literal>& x,
                            const std::vector<Literal>& d) {
  BlockPtr derivative = transform::jvp(f, std::vector<bool>(x.size(), true));
  std::vector<Literal> arguments = x;
  arguments.insert(arguments.end(), d.begin(), d.end());
  std::vector<Literal> out = op::evaluate(*derivative, arguments);
  out.erase(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(f.results.size()));
  return floats(out);
}

/// The cotangents of the arguments for cotangents `w` of the results of f64, by the reverse
/// derivative.
std::vector<double> reverse(const Block& f, const std::vector<Literal>& x,
                            const std::vector<double>& w) {
  BlockPtr derivative = transform::vjp(f, std::vector<bool>(x.size(), true), of_f64(f));
  std::vector<Literal> arguments = x;
  std::size_t next = 0;
  for (const ir::Value* r : f.results) {
    if (r->dtype() != DType::f64) continue;
    arguments.emplace_back(r->type());
    for (std::int64_t i = 0; i < arguments.back().count(); ++i)
      arguments.back().set_number(i, w[next++]);
  }
  std::vector<Literal> out = op::evaluate(*derivative, arguments);
  out.erase(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(f.results.size()));
  return floats(out);
}

bool has_custom_vjp(const Block& f) {
  bool found = false;
  ir::walk(f, [&](const ir::Op& op) { found |= op.name() == "strata.custom_vjp"; });
  return found;
}

/// A loop of unknown length has no reverse derivative, here as in JAX.
bool has_dynamic_loop(const Block& f) {
  bool found = false;
  ir::walk(f, [&](const ir::Op& op) {
    const auto* structured = std::get_if<op::Structured>(&op::def(op).lowering);
    found |= structured != nullptr && structured->kind == op::Structured::Kind::while_;
  });
  return found;
}

/// Compares derivatives with difference quotients of two steps, which have to agree for the program
/// to count as smooth.
std::string derivative_differs(const RandomGraph& graph) {
  BlockPtr f = graph.build();
  std::vector<Literal> x = graph.arguments, d;
  for (std::size_t i = 0; i < x.size(); ++i)
    d.push_back(op::random_literal(x[i].type(), 1000 + i, -1, 1));
  std::vector<double> coarse = difference_quotient(*f, x, d, 1e-5),
                      fine = difference_quotient(*f, x, d, 1e-6), w(fine.size());
  double scale = std::max(1.0, largest(fine));
  if (!std::isfinite(scale) || scale > 1e6 || jumps_at(*f, x, d, scale)) return kInconclusive;
  for (std::size_t i = 0; i < fine.size(); ++i) {
    if (std::fabs(fine[i] - coarse[i]) > 1e-4 * scale) return kInconclusive;
    w[i] = std::cos(static_cast<double>(i));
  }
  if (!has_custom_vjp(*f)) {  // which has no forward derivative
    std::vector<double> tangent = forward(*f, x, d);
    if (tangent.size() != fine.size())
      return fmt::format("{} tangents for {} results", tangent.size(), fine.size());
    for (std::size_t i = 0; i < fine.size(); ++i)
      if (!(std::fabs(fine[i] - tangent[i]) <= 1e-3 * scale))
        return fmt::format("forward derivative {} is {}, by differences {}", i, tangent[i],
                           fine[i]);
  }
  if (has_dynamic_loop(*f)) return "";
  double by_reverse = product(reverse(*f, x, w), floats(d)), by_differences = product(w, fine);
  if (!(std::fabs(by_reverse - by_differences) <=
        1e-3 * scale * static_cast<double>(fine.size() + 1)))
    return fmt::format("reverse derivative gives {}, differences {}", by_reverse, by_differences);
  return "";
}

// ---- one program -------------------------------------------------------------------------------

std::string failure(const RandomGraph& graph, bool smooth) {
  try {
    std::string said = bits_differ(graph);
    return said.empty() && smooth ? derivative_differs(graph) : said;
  } catch (const std::exception& e) {
    return e.what();
  }
}

void write_down(const RandomGraph& graph, const std::string& name, const std::string& why) {
  checkpoint::TensorFile file;
  file.metadata["why"] = why;
  std::string text;
  try {
    auto module = module_of(graph);
    text = ir::print(*module);
    for (std::size_t i = 0; i < graph.arguments.size(); ++i)
      file.tensors.emplace(fmt::format("in.{}", i), graph.arguments[i]);
    std::vector<Literal> out = op::evaluate(module->find("main")->body, graph.arguments);
    for (std::size_t r = 0; r < out.size(); ++r)
      file.tensors.emplace(fmt::format("out.{}", r), out[r]);
  } catch (const std::exception& e) {
    text += fmt::format("// {}\n", e.what());
  }
  (void)make_folders("build/random").ok();
  (void)write_file_atomic("build/random/" + name + ".mlir", text).ok();
  (void)checkpoint::write_safetensors("build/random/" + name + ".safetensors", file).ok();
}

/// Empty, "inconclusive", or what is wrong with the smallest program found.
std::string check(std::size_t seed) {
  bool smooth = seed % 5 == 0;
  RandomGraph graph = op::testing::random_graph(
      seed, {.operations = smooth ? 20 : 20 + static_cast<int>(seed % 41), .smooth = smooth});
  std::string why = failure(graph, smooth);
  if (why.empty() || why == kInconclusive) return why;
  for (bool shrunk = true; shrunk;) {
    shrunk = false;
    for (const RandomGraph& candidate : op::testing::smaller(graph)) {
      std::string still = failure(candidate, smooth);
      if (still.empty() || still == kInconclusive) continue;
      graph = candidate;
      why = still;
      shrunk = true;
      break;
    }
  }
  write_down(graph, fmt::format("seed-{}", seed), why);
  return fmt::format("seed {}: {}\n{}", seed, why, graph.to_text());
}

TEST(RandomGraphs, hold_every_promise) {
  std::size_t count = number_from("STRATA_RANDOM_GRAPHS", 500),
              first = number_from("STRATA_RANDOM_SEED", 1), inconclusive = 0, smooth = 0;
  auto done = [&](std::size_t i, const std::string& said) {
    smooth += (first + i) % 5 == 0;
    if (said == kInconclusive)
      ++inconclusive;
    else if (!said.empty())
      ADD_FAILURE() << said;
  };
  auto ended = [&](std::size_t i, const std::string& sentence) {
    ADD_FAILURE() << "seed " << first + i << " " << sentence;
  };
  run_in_workers(
      count, {.jobs = 2, .seconds = 120}, [&](std::size_t i) { return check(first + i); }, done,
      ended);
  EXPECT_LE(inconclusive, 1 + smooth / 2) << "of " << smooth << " smooth programs";
}

}  // namespace
}  // namespace strata::conformance
