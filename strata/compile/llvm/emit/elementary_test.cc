// Elementary functions as machine code give the bits of the interpreter, and so of their scalar
// forms (loop/math/twin_test.cc), with vectors and without, on processors with AVX-512 and without.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>

#include "strata/compile/llvm/kernel_testing.h"
#include "strata/loop/lookup.h"
#include "strata/loop/math/math.h"

namespace strata::compile {
namespace {

using loop::Builder;
using loop::Index;
using loop::Inst;
using loop::Kernel;
using loop::Ref;
using loop::testing::Buffers;

constexpr std::int64_t kElements = 515;  // strips leave a rest

/// Random bits, ordinary numbers and edges.
template <class T>
std::vector<std::byte> inputs(std::uint64_t seed) {
  using L = std::numeric_limits<T>;
  std::mt19937_64 random(seed);
  std::vector<T> values = {T(0),          T(-0.0),        T(1),           T(-1),
                           L::infinity(), -L::infinity(), L::quiet_NaN(), L::denorm_min(),
                           L::min(),      L::max()};
  while (values.size() < kElements) {
    std::uint64_t bits = random();
    T any;
    std::memcpy(&any, &bits, sizeof(T));
    values.push_back(bits & 1 ? any : std::uniform_real_distribution<T>(-30, 30)(random));
  }
  std::shuffle(values.begin(), values.end(), random);
  std::vector<std::byte> bytes(kElements * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// y = function(inputs...) in strips of `lanes`, or one by one.
template <class Function>
void check(std::string_view name, DType dtype, int count, int lanes, const Function& function) {
  Kernel kernel{std::string(name)};
  Builder b(kernel);
  std::vector<Ref*> refs;
  Buffers contents;
  for (int i = 0; i < count; ++i) {
    refs.push_back(b.parameter(dtype, kElements, Ref::Mode::in));
    contents.push_back(dtype == DType::f32 ? inputs<float>(7 + i) : inputs<double>(7 + i));
  }
  Ref* out = b.parameter(dtype, kElements, Ref::Mode::out);
  contents.emplace_back(contents[0].size());
  auto body = [&](Index i) {
    std::vector<Inst*> values;
    for (Ref* ref : refs) values.push_back(b.load(ref, i));
    b.store(out, i, function(b, values));
  };
  if (lanes == 1)
    b.for_(0, kElements, 1, body);
  else
    b.vector(0, kElements, lanes, body);
  for (const CpuTarget* target : {&testing::plain_host(), &testing::old_processor()}) {
    EXPECT_EQ(testing::difference_from_interpreter(*target, kernel, contents), "")
        << name << " of " << strata::name(dtype) << " in " << lanes << " on " << target->cpu;
  }
}

TEST(Elementary, MachineCodeGivesTheInterpretersBits) {
  for (DType dtype : {DType::f32, DType::f64}) {
    const int lanes = 64 / static_cast<int>(byte_width(dtype));  // a register of the widest
    for (const auto& f : loop::math::unary_functions())
      check(f.name, dtype, 1, lanes,
            [&](Builder& b, const std::vector<Inst*>& v) { return f.traced(b, v[0]); });
    for (const auto& f : loop::math::binary_functions())
      check(f.name, dtype, 2, lanes,
            [&](Builder& b, const std::vector<Inst*>& v) { return f.traced(b, v[0], v[1]); });
  }
}

/// Single values may branch.
TEST(Elementary, OneByOneToo) {
  for (const auto& f : loop::math::unary_functions()) {
    if (f.name != "sin" && f.name != "tan") continue;
    for (DType dtype : {DType::f32, DType::f64})
      check(f.name, dtype, 1, 1,
            [&](Builder& b, const std::vector<Inst*>& v) { return f.traced(b, v[0]); });
  }
}

/// The bits of x number an entry: every size of table in every width, whatever permutes them.
TEST(Elementary, LookupsGiveTheInterpretersBits) {
  for (int entries : {2, 4, 8, 16, 32}) {
    for (int lanes : {1, 4, 8, 16, 32}) {
      check("lookup", DType::f32, 1, lanes, [&](Builder& b, const std::vector<Inst*>& v) {
        std::vector<Inst*> args{b.bitcast(DType::i32, v[0])};
        for (int e = 0; e < entries; ++e) args.push_back(b.constant(DType::f32, e * e + 1));
        return b.call(std::string(loop::kLookup), v[0]->type, args);
      });
    }
  }
}

/// a < b ? a : b and its three sisters: which of two equal zeros, and what beside a NaN.
TEST(Elementary, ChoicesBySizeGiveTheInterpretersBits) {
  for (DType dtype : {DType::f32, DType::f64}) {
    for (int lanes : {1, 2, 4, 8, 16, 32}) {
      for (loop::Compare compare : {loop::Compare::lt, loop::Compare::gt}) {
        for (bool turned : {false, true}) {
          check("choice", dtype, 2, lanes, [&](Builder& b, const std::vector<Inst*>& v) {
            Inst *zero = b.constant(dtype, 0), *magnitude = b.unary(loop::Opcode::abs, v[1]);
            auto choose = [&](Inst* x, Inst* y) {
              return b.select(b.compare(compare, x, y), turned ? y : x, turned ? x : y);
            };
            return choose(choose(v[0], magnitude),
                          choose(b.unary(loop::Opcode::neg, zero), choose(v[1], zero)));
          });
        }
      }
    }
  }
}

}  // namespace
}  // namespace strata::compile
