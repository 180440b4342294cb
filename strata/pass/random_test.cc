// Random programs under random compositions of transforms, three deep. Each step is checked against
// the program it was applied to: derivatives by finite differences, vmap and scan by a loop. What
// fails is made smaller and printed.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>

#include "strata/base/error.h"
#include "strata/ir/verify.h"
#include "strata/op/calculus/support.h"
#include "strata/op/control.h"
#include "strata/op/evaluate.h"
#include "strata/op/rules.h"
#include "strata/op/samples.h"
#include "strata/op/testing/block_laws.h"
#include "strata/op/testing/random_program.h"
#include "strata/pass/simplify.h"
#include "strata/transform/jvp.h"
#include "strata/transform/linearize.h"
#include "strata/transform/remat.h"
#include "strata/transform/vjp.h"
#include "strata/transform/vmap.h"

namespace strata::transform {
namespace {

using ir::Block;
using op::Literals;
using op::testing::RandomProgram;
using Flags = std::vector<bool>;
using BlockPtr = std::unique_ptr<Block>;

constexpr std::int64_t kSize = 2;
enum class Step { jvp, vjp, vmap, remat, scan, linearize };
constexpr int kSteps = 6;
constexpr const char* kStepNames[] = {"jvp", "vjp", "vmap", "remat", "scan", "linearize"};

/// A program with arguments to try it on.
struct Case {
  BlockPtr f;
  Literals at;
};

/// A random choice among `may`, at least one.
Flags choose(const Flags& may, std::mt19937_64& random) {
  Flags out = may;
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = may[i] && random() % 2 == 0;
  if (!op::any(out)) return may;
  return out;
}

Literals inexact_only(const Literals& all) {
  Literals out;
  for (const Literal& x : all)
    if (is_inexact(x.dtype())) out.push_back(x);
  return out;
}

Literal varied(const Literal& x, std::uint64_t seed) {
  Literal noise = op::random_literal(x.type(), seed, -0.1, 0.1), out(x.type());
  for (std::int64_t k = 0; k < x.count(); ++k) {
    if (is_inexact(x.dtype()))
      out.set_number(k, x.number(k) + noise.number(k));
    else
      out.set_integer(k, (x.integer(k) + static_cast<std::int64_t>(seed % 3)) % 3);
  }
  return out;
}

// ---- one step: the new program, its arguments, and what is wrong with it -----------------------

std::string check_tangents(const Case& c, const Flags& active, const Literals& tangents,
                           const Literals& got) {
  return op::testing::compare(got, op::testing::finite_difference(*c.f, c.at, active, tangents),
                              2e-5);
}

std::string apply_jvp(Case& c, std::mt19937_64& random) {
  Flags active = choose(op::testing::inexact_arguments(*c.f), random);
  Literals tangents = op::testing::directions(c.at, active, random());
  Case next{jvp(*c.f, active), op::joined(c.at, tangents)};
  Literals results = op::evaluate(*next.f, next.at);
  std::size_t n = c.f->results.size();
  std::string wrong = check_tangents(c, active, tangents, op::part(results, n, results.size() - n));
  c = std::move(next);
  return wrong;
}

std::string apply_linearize(Case& c, std::mt19937_64& random) {
  Flags active = choose(op::testing::inexact_arguments(*c.f), random);
  Literals tangents = op::testing::directions(c.at, active, random());
  Linear l = linearize(*c.f, active);
  Literals known = op::evaluate(*l.known, c.at);
  std::size_t n = c.f->results.size();
  Literals residuals = op::part(known, n, known.size() - n);
  std::string wrong =
      check_tangents(c, active, tangents, op::evaluate(*l.linear, op::joined(residuals, tangents)));
  c = {std::move(l.linear), op::joined(residuals, tangents)};
  return wrong;
}

std::string apply_vjp(Case& c, std::mt19937_64& random) {
  Flags active = choose(op::testing::inexact_arguments(*c.f), random);
  Literals results = op::evaluate(*c.f, c.at), seeds = inexact_only(results);
  Literals cotangents = op::testing::directions(seeds, Flags(seeds.size(), true), random());
  Case next{vjp(*c.f, active), op::joined(c.at, cotangents)};
  Literals out = op::evaluate(*next.f, next.at),
           tangents = op::testing::directions(c.at, active, random());
  double forward =
      op::testing::inner(op::testing::finite_difference(*c.f, c.at, active, tangents), cotangents);
  double backward =
      op::testing::inner(tangents, op::part(out, results.size(), out.size() - results.size()));
  std::string wrong = op::testing::compare(op::part(out, 0, results.size()), results, 1e-9);
  if (wrong.empty() && !(std::fabs(forward - backward) <= 1e-4 * std::fmax(1, std::fabs(forward))))
    wrong = fmt::format("<Jv, w> is {:.12g}, <v, J'w> is {:.12g}", forward, backward);
  c = std::move(next);
  return wrong;
}

/// `f` on stacked arguments in one go must be `c` on each.
std::string check_loop(Case& c, BlockPtr f, const Flags& stacked, std::mt19937_64& random) {
  Literals at;
  std::vector<Literals> each(kSize);
  for (std::size_t i = 0; i < c.at.size(); ++i) {
    Literals xs;
    for (std::int64_t k = 0; k < kSize; ++k)
      xs.push_back(stacked[i] ? varied(c.at[i], random() % 1000) : c.at[i]);
    for (std::size_t k = 0; k < kSize; ++k) each[k].push_back(xs[k]);
    at.push_back(stacked[i] ? op::testing::stacked(xs) : c.at[i]);
  }
  Literals got = op::evaluate(*f, at);
  std::string wrong;
  for (std::int64_t k = 0; k < kSize && wrong.empty(); ++k) {
    Literals one;
    for (const Literal& x : got) one.push_back(op::testing::unstacked(x, k));
    wrong = op::testing::compare(one, op::evaluate(*c.f, each[static_cast<std::size_t>(k)]), 1e-9);
  }
  c = {std::move(f), at};
  return wrong;
}

std::string apply_vmap(Case& c, std::mt19937_64& random) {
  Flags batched = choose(Flags(c.at.size(), true), random);
  return check_loop(c, vmap(*c.f, batched, kSize), batched, random);
}

std::string apply_scan(Case& c, std::mt19937_64& random) {
  Flags scanned = choose(Flags(c.at.size(), true), random), kept = scanned;
  kept.flip();
  std::vector<int> order;
  for (bool xs : {false, true})
    for (std::size_t i = 0; i < scanned.size(); ++i)
      if (scanned[i] == xs) order.push_back(static_cast<int>(i));
  BlockPtr body = ir::clone(*c.f), f = std::make_unique<Block>();
  op::reorder_arguments(*body, order);
  op::Values arguments;
  for (std::size_t i = 0; i < scanned.size(); ++i)
    arguments.push_back(
        f->add_argument(scanned[i] ? op::with_leading(c.at[i].type(), kSize) : c.at[i].type()));
  ir::Builder b(*f);
  f->results = op::scan(b, std::move(body), op::filter(arguments, kept), {},
                        op::filter(arguments, scanned), {kSize, random() % 2 == 0});
  return check_loop(c, std::move(f), scanned, random);
}

std::string apply_remat(Case& c, std::mt19937_64& random) {
  const char* policies[] = {"nothing", "everything", "dots", "dots_no_batch", "names:kept"};
  Case next{remat(*c.f, policies[random() % 5]), c.at};
  std::string wrong =
      op::testing::compare(op::evaluate(*next.f, next.at), op::evaluate(*c.f, c.at), 0);
  c = std::move(next);
  return wrong;
}

std::string apply(Step step, Case& c, std::mt19937_64& random) {
  switch (step) {
    case Step::jvp: return apply_jvp(c, random);
    case Step::vjp: return apply_vjp(c, random);
    case Step::vmap: return apply_vmap(c, random);
    case Step::remat: return apply_remat(c, random);
    case Step::scan: return apply_scan(c, random);
    case Step::linearize: return apply_linearize(c, random);
  }
  STRATA_UNREACHABLE();
}

std::string check_verified(const Block& f) {
  Status status = ir::verify(f);
  return status.ok() ? "" : "not well formed: " + status.message();
}

/// Expanding and simplifying changes no bit.
std::string check_simplified(const Case& c) {
  BlockPtr f = ir::clone(*c.f);
  expand(*f);
  pass::simplify(*f);
  if (std::string wrong = check_verified(*f); !wrong.empty()) return wrong;
  Literals want = op::evaluate(*c.f, c.at), got = op::evaluate(*f, c.at);
  for (std::size_t i = 0; i < want.size(); ++i)
    if (!got[i].same_bits(want[i]))
      return fmt::format("simplified: {}", op::testing::compare(got, want, 0));
  return "";
}

/// "" when all is well; "skip" where a transform has to refuse (reverse mode of while, forward mode
/// of custom_vjp).
std::string check(const RandomProgram& program, const std::vector<Step>& steps,
                  std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Case c{program.build(), op::testing::random_arguments(seed)};
  try {
    for (Step step : steps) {
      std::string wrong = apply(step, c, random);
      if (wrong.empty()) wrong = check_verified(*c.f);
      if (!wrong.empty()) return fmt::format("{}: {}", kStepNames[static_cast<int>(step)], wrong);
    }
    return check_simplified(c);
  } catch (const Error& e) {
    bool refused = e.operation() == "while_loop" ||
                   std::string(e.what()).find("custom_vjp") != std::string::npos;
    return refused ? "skip" : fmt::format("error: {}", e.what());
  } catch (const InternalError& e) {
    return fmt::format("broken assumption: {}", e.what());
  }
}

bool fails(const std::string& outcome) { return !outcome.empty() && outcome != "skip"; }

/// Leaves out instructions and steps while it still fails.
void shrink(RandomProgram& program, std::vector<Step>& steps, std::uint64_t seed) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (RandomProgram& candidate : op::testing::smaller(program))
      if (fails(check(candidate, steps, seed))) {
        program = std::move(candidate);
        smaller = true;
        break;
      }
    for (std::size_t i = 0; i < steps.size() && !smaller; ++i) {
      std::vector<Step> fewer =
          op::joined(op::part(steps, 0, i), op::part(steps, i + 1, steps.size() - i - 1));
      if (!fails(check(program, fewer, seed))) continue;
      steps = fewer;
      smaller = true;
    }
  }
}

/// How many programs: STRATA_RANDOM_PROGRAMS, else a number that takes seconds.
std::uint64_t program_count() {
  const char* given = std::getenv("STRATA_RANDOM_PROGRAMS");
  return given ? std::strtoull(given, nullptr, 10) : 1000;
}

TEST(RandomPrograms, compose) {
  std::uint64_t skipped = 0, failures = 0, count = program_count();
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    std::mt19937_64 random(seed * 7919 + 1);
    RandomProgram program = op::testing::random_program(
        seed, {.instructions = 5, .with_while = seed % 4 == 0, .with_custom_vjp = seed % 4 == 1});
    std::vector<Step> steps;
    for (std::uint64_t i = 0; i < 1 + seed % 3; ++i)
      steps.push_back(static_cast<Step>(random() % kSteps));
    std::string outcome = check(program, steps, seed);
    if (outcome == "skip") ++skipped;
    if (!fails(outcome)) continue;
    shrink(program, steps, seed);
    std::string names;
    for (Step s : steps) names += fmt::format(" {}", kStepNames[static_cast<int>(s)]);
    ADD_FAILURE() << "seed " << seed << ", steps" << names << ": " << check(program, steps, seed)
                  << "\n"
                  << program.to_text();
    if (++failures == 5) break;
  }
  RecordProperty("refused", static_cast<int>(skipped));
  EXPECT_LT(skipped, count / 4 + 1);
}

}  // namespace
}  // namespace strata::transform
