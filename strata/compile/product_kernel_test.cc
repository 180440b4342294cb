// Products of several blocks and several parts of the sum: the bits of the reference evaluator, with the tiles of each kind of processor.
#include "strata/compile/processor_testing.h"

namespace strata::compile {
namespace {

using ir::Block;
using ir::Builder;
using ir::Value;
using testing::arguments_of;
using testing::expect_compiled_equals_reference;

struct Case {
  std::int64_t m, n, k;
  bool left_along = true, right_along = false;  // whether neighbours in k are neighbours in memory
  DType dtype = DType::f32;
  bool turned = false;  // the result's rows of 10 change places with their rows
};

std::unique_ptr<Block> product(const Case& c) {
  auto f = std::make_unique<Block>();
  Value* l = f->add_argument(Type(c.dtype, c.left_along ? Shape{c.m, c.k} : Shape{c.k, c.m}));
  Value* r = f->add_argument(Type(c.dtype, c.right_along ? Shape{c.n, c.k} : Shape{c.k, c.n}));
  Builder b(*f);
  Value* y = op::dot_general(b, l, r, {{}, {}, {c.left_along ? 1 : 0}, {c.right_along ? 1 : 0}});
  if (c.turned) y = op::transpose(b, op::reshape(b, y, {c.m / 10, 10, c.n}), {1, 0, 2});
  f->results = {y};
  return f;
}

// Blocks of rows (equal ones that end with a shorter tile, too), of columns and of k, whole ones, shorter ones and those that end with a shorter tile; k by parts of equal length and not.
const Case kCases[] = {{140, 44, 8},
                       {140, 44, 8, true, true},
                       {140, 44, 7, false, true},
                       {132, 64, 20, false, false},
                       {140, 44, 12, false, false, DType::f16},
                       {140, 44, 9, true, true, DType::f32, true},
                       {70, 36, 1030, false, true},
                       {70, 36, 900, true, false},
                       {70, 36, 530, true, true, DType::f16},
                       {13, 20, 2048, true, false, DType::f32},
                       {150, 3, 530, true, false},
                       {400, 330, 7, true, true},
                       {400, 330, 7, false, false},
                       {400, 9, 330, true, false},
                       {400, 9, 330, false, true},
                       {150, 40, 3, false, false, DType::f64},
                       {150, 40, 5, false, true, DType::i32}};

std::string said(const Case& c) { return fmt::format("{} x {} over {}, {}, along {} {}", c.m, c.n, c.k, name(c.dtype), c.left_along, c.right_along); }

TEST(Product, HasTheReferencesBitsWhateverItsBlocks) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(said(c));
    expect_compiled_equals_reference(*product(c), 11);
  }
}

TEST(Product, HasThemForEachKindOfProcessor) {
  for (const char* processor : {"x86-64-v3", "x86-64-v4"}) {
    for (const Case& c : kCases) {
      SCOPED_TRACE(processor + (": " + said(c)));
      auto block = product(c);
      const std::vector<Literal> given = arguments_of(*block, 3);
      testing::expect_same_bits({testing::run_as_on(processor, *block, given)}, op::evaluate(*block, given), processor);
    }
  }
}

}  // namespace
}  // namespace strata::compile
