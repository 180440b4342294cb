// Random programs under random transforms: the plan and the machine code have the reference's bits.
//
// STRATA_RANDOM_PROGRAMS sets how many (default 120; half of them are also compiled to machine
// code). A failing one is made smaller before it is printed.
#include <cstdlib>

#include "strata/base/error.h"
#include "strata/compile/compile_testing.h"
#include "strata/ir/text/printer.h"
#include "strata/op/testing/random_program.h"
#include "strata/transform/jvp.h"
#include "strata/transform/vjp.h"
#include "strata/transform/vmap.h"

namespace strata::compile {
namespace {

using ir::Block;
using op::testing::RandomProgram;
using BlockPtr = std::unique_ptr<Block>;

std::vector<bool> floats(const Block& f) {
  std::vector<bool> out;
  for (const auto& a : f.arguments()) out.push_back(is_inexact(a->dtype()));
  return out;
}

/// The program under the transforms that the seed picks; null where one refuses it (a while loop in
/// reverse).
BlockPtr transformed(const RandomProgram& program, unsigned seed) {
  BlockPtr f = program.build();
  std::mt19937 random(seed);
  try {
    for (unsigned steps = random() % 3; steps > 0; --steps) switch (random() % 3) {
        case 0: f = transform::jvp(*f, floats(*f)); break;
        case 1: f = transform::vjp(*f, floats(*f)); break;
        default:
          f = transform::vmap(
              *f, std::vector<bool>(static_cast<std::size_t>(f->num_arguments()), true), 3);
          break;
      }
  } catch (const Error&) {
    return nullptr;
  }
  return f;
}

/// What differs, or nothing. `code`: as machine code, else the plan by the interpreter.
std::string difference(const Block& f, unsigned seed, bool code) {
  std::vector<Literal> arguments = testing::arguments_of(f, seed),
                       want = op::evaluate(f, arguments);
  std::vector<Literal> got =
      code ? testing::run_compiled(f, arguments) : testing::run_plan(f, arguments);
  for (std::size_t r = 0; r < want.size(); ++r) {
    std::int64_t at = 0, n = testing::differences(got[r], want[r], &at);
    if (n)
      return fmt::format("result {} {}: {} elements differ, first {}: got {}, want {}", r,
                         want[r].type().to_string(), n, at, got[r].number(at), want[r].number(at));
  }
  return {};
}

std::string failure(const RandomProgram& program, unsigned seed, bool code) {
  BlockPtr f = transformed(program, seed);
  if (!f) return {};
  try {
    return difference(*f, seed, code);
  } catch (const std::exception& e) {
    return e.what();
  }
}

TEST(RandomPrograms, HaveTheReferencesBits) {
  const char* count = std::getenv("STRATA_RANDOM_PROGRAMS");
  unsigned programs = count ? static_cast<unsigned>(std::atoi(count)) : 120;
  for (unsigned seed = 1; seed <= programs; ++seed) {
    bool code = seed % 2 == 0;
    RandomProgram program =
        op::testing::random_program(seed, {.instructions = 5 + static_cast<int>(seed % 6)});
    std::string what = failure(program, seed, code);
    if (what.empty()) continue;
    for (bool smaller = true; smaller;) {
      smaller = false;
      for (const RandomProgram& candidate : op::testing::smaller(program)) {
        std::string still = failure(candidate, seed, code);
        if (still.empty()) continue;
        program = candidate;
        what = still;
        smaller = true;
        break;
      }
    }
    ir::Function shown("main");
    BlockPtr f = transformed(program, seed);
    ADD_FAILURE() << "seed " << seed << (code ? " as machine code: " : " by the interpreter: ")
                  << what << "\n"
                  << program.to_text() << explain(*f).fusion
                  << print(make_plan(*prepare(*f), {}, testing::v3()));
    return;
  }
}

}  // namespace
}  // namespace strata::compile
