// How long graphs of many operations take to compile.
//
//   build/bin/compile-time [KIND [OPERATIONS]]
//
// Straight graphs of 1000, 10 000 and 100 000 small operations of each kind. A row each:
// operations, kernels, seconds of the processor (of all threads) to simplify, to plan and to make
// machine code, all three, and all again from the cache on disk. A pass that is not linear shows in
// the ratio of two rows. With OPERATIONS, how long each stage took.
//
//   sines        a chain of sines (of 300, 1000 and 3000)
//   elementwise  each an operation on two of the last values
//   mixed        the same with transpositions, reductions of rows, slices and small products among
//   them layers       equal layers one after another: a product, a bias, tanh, a norm, a residual
//   sum
#include <stdlib.h>
#include <time.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "strata/base/stage_times.h"
#include "strata/compile/llvm/compile_plan.h"
#include "strata/compile/pipeline.h"
#include "strata/compile/plan/make_plan.h"
#include "strata/op/build.h"

namespace {

using namespace strata;
using ir::Builder;
using ir::Value;

double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double seconds_of(const std::function<void()>& f) {
  double begin = processor_seconds();
  f();
  return processor_seconds() - begin;
}

/// Numbers that are the same in every run.
class Dice {
 public:
  std::size_t operator()(std::size_t sides) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::size_t>(state_ >> 33) % sides;
  }

 private:
  std::uint64_t state_ = 1;
};

constexpr std::int64_t kSide = 8;

Value* product(Builder& b, Value* x, Value* y) {
  return op::dot_general(b, x, y, {.lhs_contract = {1}, .rhs_contract = {0}});
}

void sines(Builder& b, Value* x, int count) {
  for (int i = 0; i < count; ++i) x = op::sin(b, x);
  b.block().results = {x};
}

Value* simple(Builder& b, Dice& dice, Value* x, Value* y) {
  switch (dice(8)) {
    case 0: return op::add(b, x, y);
    case 1: return op::sub(b, x, y);
    case 2: return op::mul(b, x, y);
    case 3: return op::max(b, x, y);
    case 4: return op::min(b, x, y);
    case 5: return op::neg(b, x);
    case 6: return op::abs(b, x);
    default: return op::tanh(b, x);
  }
}

Value* other(Builder& b, Dice& dice, Value* x, Value* y) {
  switch (dice(4)) {
    case 0: return op::transpose(b, x, {1, 0});
    case 1: return op::broadcast_in_dim(b, op::reduce_sum(b, x, {1}), x->shape(), {0});
    case 2:
      return op::concatenate(
          b, {op::slice_dim(b, x, 1, kSide / 2, kSide), op::slice_dim(b, y, 1, 0, kSide / 2)}, 1);
    default: return product(b, x, y);
  }
}

void random_graph(Builder& b, Value* x, int count, std::size_t every) {
  Dice dice;
  std::vector<Value*> last(16, x);
  for (int i = 0; i < count; ++i) {
    Value *u = last[dice(last.size())], *v = last[dice(last.size())];
    last[static_cast<std::size_t>(i) % last.size()] =
        every && dice(every) == 0 ? other(b, dice, u, v) : simple(b, dice, u, v);
  }
  Value* sum = last[0];
  for (std::size_t i = 1; i < last.size(); ++i) sum = op::add(b, sum, last[i]);
  b.block().results = {sum};
}

void layers(Builder& b, Value* x, int count) {
  Value* w = b.block().add_argument(x->type());
  const std::size_t first = b.block().ops().size();
  while (b.block().ops().size() - first < static_cast<std::size_t>(count)) {
    Value* y = op::tanh(b, op::add(b, product(b, x, w), w));
    Value* norm = op::rsqrt(b, op::reduce_sum(b, op::mul(b, y, y), {1}));
    x = op::add(b, x, op::mul(b, y, op::broadcast_in_dim(b, norm, y->shape(), {0})));
  }
  b.block().results = {x};
}

void row(const char* kind, int count, bool stages) {
  ir::Block block;
  Builder b(block);
  Value* x = block.add_argument(Type(DType::f32, {kSide, kSide}));
  if (std::strcmp(kind, "sines") == 0) sines(b, x, count);
  if (std::strcmp(kind, "elementwise") == 0) random_graph(b, x, count, 0);
  if (std::strcmp(kind, "mixed") == 0) random_graph(b, x, count, 8);
  if (std::strcmp(kind, "layers") == 0) layers(b, x, count);
  auto compile = [&] {
    std::unique_ptr<ir::Block> ready;
    compile::Plan plan;
    double prepare = seconds_of([&] { ready = compile::prepare(block); });
    double planned =
        seconds_of([&] { plan = compile::make_plan(*ready, {}, compile::CpuTarget::host()); });
    double code = seconds_of([&] { (void)compile::compile_plan(plan); });
    return std::array<double, 4>{prepare, planned, code, static_cast<double>(plan.kernels.size())};
  };
  std::optional<StageTimes> times;
  if (stages) times.emplace();
  auto cold = compile();
  if (stages)
    for (const auto& stage : times->rows())
      std::printf("%-24s %9.4f s %8lld\n", stage.name.c_str(), stage.seconds,
                  static_cast<long long>(stage.times));
  times.reset();
  auto warm = compile();
  std::printf(
      "%-12s %7zu operations %6.0f kernels: simplify %7.3f  plan %7.3f  code %7.3f  all %7.3f  "
      "from disk %7.3f s\n",
      kind, block.ops().size(), cold[3], cold[0], cold[1], cold[2], cold[0] + cold[1] + cold[2],
      warm[0] + warm[1] + warm[2]);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  char folder[] = "/tmp/strata_compile_time_XXXXXX";
  if (mkdtemp(folder) == nullptr) return 4;
  setenv("STRATA_CACHE_DIR", folder, 1);
  for (const char* kind : {"sines", "elementwise", "mixed", "layers"}) {
    if (argc > 1 && std::strcmp(argv[1], kind) != 0) continue;
    bool chain = std::strcmp(kind, "sines") == 0;
    if (argc > 2)
      row(kind, std::atoi(argv[2]), true);
    else
      for (int count :
           chain ? std::vector<int>{300, 1000, 3000} : std::vector<int>{1000, 10'000, 100'000})
        row(kind, count, false);
  }
  std::filesystem::remove_all(folder);
}
