// Machine code is the interpreter's bit twin, whatever the processor, the lanes, the tail and the
// alignment.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>

#include "strata/compile/llvm/kernel_testing.h"
#include "strata/loop/compress.h"
#include "strata/loop/verify.h"

namespace strata::compile {
namespace {

using loop::Builder;
using loop::Compare;
using loop::Index;
using loop::Inst;
using loop::Kernel;
using loop::Opcode;
using loop::Ref;
using loop::testing::Buffers;
using testing::difference_from_interpreter;
using testing::old_processor;
using testing::plain_host;

std::vector<const CpuTarget*> processors() { return {&plain_host(), &old_processor()}; }

TEST(MachineCode, RandomKernelsGiveTheInterpretersBits) {
  const char* more = std::getenv("STRATA_TEST_SEEDS");
  std::uint64_t seeds = more ? std::strtoull(more, nullptr, 10) : 60;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    auto kernel = loop::testing::random_kernel(seed);
    Buffers contents = loop::testing::random_buffers(*kernel, seed);
    for (const CpuTarget* target : processors()) {
      ASSERT_EQ(difference_from_interpreter(*target, *kernel, contents, static_cast<int>(seed % 3)),
                "")
          << "seed " << seed << " on " << target->cpu << "\n"
          << loop::print(*kernel);
    }
  }
}

constexpr DType kNumbers[] = {DType::i8,   DType::i16,  DType::i32,  DType::i64, DType::ui8,
                              DType::ui16, DType::ui32, DType::ui64, DType::f32, DType::f64};
constexpr DType kAll[] = {DType::i1,  DType::i8,   DType::i16,  DType::i32,  DType::i64,
                          DType::ui8, DType::ui16, DType::ui32, DType::ui64, DType::bf16,
                          DType::f16, DType::f32,  DType::f64};
constexpr int kElements = 83;  // strips of every width leave a rest

/// Pairs of edge values, then random bits and small numbers.
class Operands {
 public:
  explicit Operands(DType dtype) : dtype_(dtype) {
    if (is_float(dtype)) {
      double tiny = dtype == DType::f64 ? std::numeric_limits<double>::denorm_min()
                                        : std::numeric_limits<float>::denorm_min();
      double large = dtype == DType::f64 ? std::numeric_limits<double>::max()
                                         : std::numeric_limits<float>::max();
      edges_ = {0.0,   -0.0,   1.0,      -1.0,      0.5, -1.5, 2.5, tiny, -tiny,
                large, -large, INFINITY, -INFINITY, NAN, 3e9,  7.0, 1e-3, 1e20};
    } else {
      double half = std::ldexp(1.0, bit_width(dtype) - 1);
      edges_ = {0,
                1,
                2,
                3,
                5,
                7,
                100,
                is_signed(dtype) ? -half : 2 * half - 1,
                is_signed(dtype) ? -1 : half};
    }
  }
  std::vector<std::byte> contents(int which) {
    std::vector<std::byte> bytes;
    std::mt19937_64 random(static_cast<std::uint64_t>(which + 1) * 77);
    for (int i = 0; i < kElements * 5; ++i) {
      std::uint64_t bits = random();
      auto n = edges_.size();
      if (i < static_cast<int>(n * n))
        bits = bits_of(
            edges_[(which == 0 ? static_cast<std::size_t>(i) / n : static_cast<std::size_t>(i)) %
                   n]);
      else if (i % 3 == 0)
        bits = bits_of(static_cast<double>(static_cast<int>(bits % 40) - 20));
      if (dtype_ == DType::i1) bits &= 1;
      for (std::size_t b = 0; b < byte_width(dtype_); ++b)
        bytes.push_back(static_cast<std::byte>(bits >> (8 * b)));
    }
    return bytes;
  }

 private:
  std::uint64_t bits_of(double v) const {
    Kernel k("constant");
    return Builder(k).constant(dtype_, v)->bits;
  }
  DType dtype_;
  std::vector<double> edges_;
};

/// All instructions on a type, one output each, in strips of `lanes`.
class Everything {
 public:
  Everything(DType dtype, int lanes) : b_(kernel_), dtype_(dtype) {
    std::vector<Ref*> in;
    for (int i = 0; i < 3; ++i) in.push_back(b_.parameter(dtype, kElements * 5, Ref::Mode::in));
    std::vector<std::pair<Ref*, std::function<Inst*(Inst*, Inst*, Inst*)>>> outputs;
    auto out = [&](DType type, std::function<Inst*(Inst*, Inst*, Inst*)> f) {
      outputs.emplace_back(b_.parameter(type, kElements * 5, Ref::Mode::out), std::move(f));
    };
    for (Opcode code :
         {Opcode::add, Opcode::sub, Opcode::mul, Opcode::div, Opcode::rem, Opcode::min, Opcode::max,
          Opcode::and_, Opcode::or_, Opcode::xor_, Opcode::shl, Opcode::shr}) {
      if (loop::accepts(code, dtype))
        out(dtype, [this, code](Inst* a, Inst* b, Inst*) { return b_.binary(code, a, b); });
    }
    for (Opcode code : {Opcode::neg, Opcode::abs, Opcode::not_, Opcode::sqrt, Opcode::floor,
                        Opcode::ceil, Opcode::trunc, Opcode::rint, Opcode::popcnt, Opcode::clz}) {
      if (loop::accepts(code, dtype))
        out(dtype, [this, code](Inst* a, Inst*, Inst*) { return b_.unary(code, a); });
    }
    if (loop::accepts(Opcode::fma, dtype))
      out(dtype, [this](Inst* a, Inst* b, Inst* c) { return b_.fma(a, b, c); });
    if (loop::accepts(Opcode::cmp, dtype)) {
      for (Compare c :
           {Compare::eq, Compare::ne, Compare::lt, Compare::le, Compare::gt, Compare::ge})
        out(DType::i1, [this, c](Inst* a, Inst* b, Inst*) { return b_.compare(c, a, b); });
      out(dtype, [this](Inst* a, Inst* b, Inst* c) {
        return b_.select(b_.compare(Compare::lt, a, b), b, c);
      });
    }
    if (loop::accepts(Opcode::max, dtype) && dtype != DType::i1) {
      for (double v : {0.0, -0.0, 3.0}) {
        out(dtype, [this, v](Inst* a, Inst*, Inst*) {
          return b_.binary(Opcode::max, a, b_.constant(dtype_, v));
        });
        out(dtype, [this, v](Inst* a, Inst*, Inst*) {
          return b_.binary(Opcode::min, b_.constant(dtype_, v), a);
        });
      }
    }
    for (DType to : kAll)
      if (to != dtype) out(to, [this, to](Inst* a, Inst*, Inst*) { return b_.convert(to, a); });
    auto body = [&](Index i) {
      Inst *a = b_.load(in[0], i), *b = b_.load(in[1], i), *c = b_.load(in[2], i);
      for (auto& [ref, f] : outputs) b_.store(ref, i, f(a, b, c));
    };
    b_.vector(0, kElements * 5, lanes, body);
  }
  const Kernel& kernel() const { return kernel_; }
  Buffers contents() const {
    Buffers all;
    int which = 0;
    for (const Ref* ref : kernel_.parameters()) {
      if (ref->mode == Ref::Mode::in)
        all.push_back(Operands(dtype_).contents(which++));
      else
        all.emplace_back(static_cast<std::size_t>(ref->size) * byte_width(ref->dtype));
    }
    return all;
  }

 private:
  Kernel kernel_{"everything"};
  Builder b_;
  DType dtype_;
};

TEST(MachineCode, EveryInstructionOnEveryTypeAtItsEdges) {
  for (DType dtype : kAll) {
    for (int lanes : {1, 4, 32}) {
      Everything all(dtype, lanes);
      for (const CpuTarget* target : processors())
        EXPECT_EQ(difference_from_interpreter(*target, all.kernel(), all.contents(), 1), "")
            << name(dtype) << " x " << lanes << " on " << target->cpu;
    }
  }
}

TEST(MachineCode, ReductionsAreTheHalvingTree) {
  for (DType dtype : kNumbers) {
    for (int lanes : {2, 4, 16, 64}) {
      Kernel kernel("reduce");
      Builder b(kernel);
      std::vector<Opcode> combiners;
      for (Opcode code : {Opcode::add, Opcode::mul, Opcode::min, Opcode::max, Opcode::and_,
                          Opcode::or_, Opcode::xor_})
        if (loop::accepts(code, dtype)) combiners.push_back(code);
      Ref* in = b.parameter(dtype, 64, Ref::Mode::in);
      Ref* out = b.parameter(dtype, static_cast<std::int64_t>(combiners.size()), Ref::Mode::out);
      b.vector(0, lanes, lanes, [&](Index i) {
        Inst* v = b.load(in, i);
        for (std::size_t c = 0; c < combiners.size(); ++c)
          b.store(out, static_cast<std::int64_t>(c), b.reduce(combiners[c], v));
      });
      Buffers contents = loop::testing::random_buffers(kernel, static_cast<std::uint64_t>(lanes));
      for (const CpuTarget* target : processors())
        EXPECT_EQ(difference_from_interpreter(*target, kernel, contents), "")
            << name(dtype) << " x " << lanes;
    }
  }
}

/// Masked lanes load zeros, but no lane that lives is zero here.
TEST(MachineCode, MaskedLanesCountAsFalseInAny) {
  Kernel kernel("any");
  Builder b(kernel);
  Ref* in = b.parameter(DType::f32, 13, Ref::Mode::in);
  Ref* out = b.parameter(DType::i1, 1, Ref::Mode::out);
  Inst* found = b.local(b.constant_int(DType::i1, 0));
  b.vector(0, 13, 8, [&](Index i) {
    Inst* zero = b.compare(Compare::eq, b.load(in, i), b.constant(DType::f32, 0));
    b.set(found, b.binary(Opcode::or_, b.get(found), b.reduce(Opcode::or_, zero)));
  });
  b.store(out, 0, b.get(found));
  for (bool one_is_zero : {false, true}) {
    std::vector<float> values(13, 1.0f);
    if (one_is_zero) values[12] = 0;
    bool result = !one_is_zero;
    void* buffers[] = {values.data(), &result};
    loop::interpret(kernel, buffers);
    EXPECT_EQ(result, one_is_zero);
    Buffers contents(2);
    contents[0].resize(13 * sizeof(float));
    std::memcpy(contents[0].data(), values.data(), contents[0].size());
    contents[1].resize(1);
    for (const CpuTarget* target : processors())
      EXPECT_EQ(difference_from_interpreter(*target, kernel, contents), "");
  }
}

TEST(MachineCode, ProductsOfPairsAreExactWhereNothingRounds) {
  Kernel kernel("dot2");
  Builder b(kernel);
  Ref* x = b.parameter(DType::i32, 40, Ref::Mode::in);
  Ref* y = b.parameter(DType::i32, 40, Ref::Mode::in);
  Ref* z = b.parameter(DType::f32, 40, Ref::Mode::inout);
  b.vector(0, 40, 32,
           [&](Index i) { b.store(z, i, b.dot2(b.load(z, i), b.load(x, i), b.load(y, i))); });
  Buffers contents;
  for (int buffer = 0; buffer < 3; ++buffer) {
    contents.emplace_back();
    for (int i = 0; i < 40 * (buffer < 2 ? 2 : 1); ++i) {
      auto bits = std::bit_cast<std::uint32_t>(static_cast<float>((i * 7 + buffer) % 13 - 6));
      for (int byte = buffer < 2 ? 2 : 0; byte < 4; ++byte)
        contents.back().push_back(static_cast<std::byte>(bits >> (8 * byte)));
    }
  }
  for (const CpuTarget& target : {CpuTarget::named("native"), plain_host(), old_processor()})
    EXPECT_EQ(difference_from_interpreter(target, kernel, contents), "") << target.cpu;
}

TEST(MachineCode, GridPointsMayRunInPieces) {
  Kernel kernel("rows");
  kernel.grid = 10;
  Builder b(kernel);
  Ref* in = b.parameter(DType::f32, 10 * 37, Ref::Mode::in);
  Ref* out = b.parameter(DType::f32, 10, Ref::Mode::out);
  Index g = b.grid();
  Inst* sum = b.local(b.constant(DType::f32, 0), 8);
  b.vector(0, 37, 8,
           [&](Index i) { b.set(sum, b.binary(Opcode::add, b.get(sum), b.load(in, g * 37 + i))); });
  b.store(out, g, b.reduce(Opcode::add, b.get(sum)));
  Buffers contents = loop::testing::random_buffers(kernel, 1), whole = contents, parts = contents;
  KernelFn f = compile_kernel(kernel);
  f(loop::testing::pointers(whole).data(), 0, 10);
  for (auto [begin, end] : {std::pair{7, 10}, {0, 3}, {3, 7}})
    f(loop::testing::pointers(parts).data(), begin, end);
  EXPECT_EQ(loop::testing::difference(kernel, whole, parts), "");
}

TEST(MachineCode, MaskedLanesLeaveLocalsAsTheyWere) {
  for (std::int64_t n : {3, 8, 13}) {
    Kernel kernel("count");
    Builder b(kernel);
    Ref* out = b.parameter(DType::i32, 1, Ref::Mode::out);
    Inst* count = b.local(b.constant(DType::i32, 0), 8);
    b.vector(0, n, 8, [&](Index) {
      b.set(count, b.binary(Opcode::add, b.get(count), b.constant(DType::i32, 1)));
    });
    b.store(out, 0, b.reduce(Opcode::add, b.get(count)));
    for (const CpuTarget* target : processors())
      EXPECT_EQ(
          difference_from_interpreter(*target, kernel, loop::testing::random_buffers(kernel, 1)),
          "")
          << n;
  }
}

TEST(MachineCode, LocalsOfAMaskedStripAreSetWhole) {
  for (std::int64_t n : {8, 24, 29}) {
    Kernel kernel("sums");
    Builder b(kernel);
    Ref *in = b.parameter(DType::f32, 40 * n, Ref::Mode::in),
        *out = b.parameter(DType::f32, n, Ref::Mode::out);
    b.vector(0, n, 16, [&](Index i) {
      Inst* sum = b.local(b.constant(DType::f32, 0), 16);
      b.for_(0, 40, 1,
             [&](Index k) { b.set(sum, b.fma(b.load(in, k * n + i), b.load(in, k), b.get(sum))); });
      b.store(out, i, b.get(sum));
    });
    for (const CpuTarget* target : processors())
      EXPECT_EQ(
          difference_from_interpreter(*target, kernel, loop::testing::random_buffers(kernel, 1)),
          "")
          << n;
    EXPECT_EQ(kernel_llvm(plain_host(), kernel).find("select"), std::string::npos) << n;
  }
}

TEST(MachineCode, BackwardsAndByStridesUnderAMask) {
  Kernel kernel("backwards");
  Builder b(kernel);
  constexpr std::int64_t n = 29;
  Ref* in = b.parameter(DType::f32, 3 * n, Ref::Mode::in);
  std::vector<Ref*> out;
  for (int i = 0; i < 4; ++i) out.push_back(b.parameter(DType::f32, 3 * n, Ref::Mode::inout));
  b.vector(0, n, 8, [&](Index i) {
    Index back = Index(n - 1) - i;
    b.store(out[0], back, b.load(in, i));
    b.store(out[1], i, b.load(in, back));
    b.store(out[2], back * 3 + 1, b.load(in, i * 2 + 5));
    Inst* odd =
        b.compare(Compare::ne, b.binary(Opcode::and_, b.value(i), b.constant(DType::i64, 1)),
                  b.constant(DType::i64, 0));
    b.store(out[3], i, b.guarded(odd, [&] { return b.load(in, back); }, b.constant(DType::f32, 7)));
  });
  for (const CpuTarget* target : processors())
    EXPECT_EQ(
        difference_from_interpreter(*target, kernel, loop::testing::random_buffers(kernel, 5), 1),
        "");
}

/// Strides that are read whole and those that are not, from every first place, in whole strips and
/// masked ones.
TEST(MachineCode, LanesAFewElementsApart) {
  constexpr std::int64_t n = 71;
  for (DType dtype : {DType::i1, DType::ui8, DType::bf16, DType::f32, DType::i64})
    for (std::int64_t stride : {2, 3, 4, 5, -2})
      for (int lanes : {2, 8, 16}) {
        Kernel kernel("apart");
        Builder b(kernel);
        Ref* in = b.parameter(dtype, 6 * n, Ref::Mode::in);
        std::vector<Ref*> out;
        for (int i = 0; i < 6; ++i) out.push_back(b.parameter(dtype, n, Ref::Mode::out));
        b.vector(0, n, lanes, [&](Index i) {
          for (std::int64_t first = 0; first < 6; ++first)
            b.store(out[static_cast<std::size_t>(first)], i,
                    b.load(in, i * stride + (stride < 0 ? 2 * n : 0) + first));
        });
        Buffers contents = loop::testing::random_buffers(kernel, 5);
        for (const CpuTarget* target : processors())
          EXPECT_EQ(difference_from_interpreter(*target, kernel, contents, 1), "")
              << name(dtype) << " by " << stride << " in " << lanes;
      }
}

/// Nothing before an array's first element is read, and nothing past its last.
TEST(MachineCode, LanesAFewElementsApartStayInTheArray) {
  constexpr std::size_t page = 4096;
  auto* memory = static_cast<std::byte*>(
      mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  mprotect(memory, page, PROT_NONE);
  mprotect(memory + 2 * page, page, PROT_NONE);
  auto* numbers = reinterpret_cast<std::int32_t*>(memory + page);
  for (int i = 0; i < 1024; ++i) numbers[i] = i;
  for (std::int64_t stride : {2, 3, 4})
    for (std::int64_t first = 0; first < stride; ++first) {
      const std::int64_t n = 64, size = first + (n - 1) * stride +
                                        1;  // the last element is the array's last
      Kernel kernel("ends");
      Builder b(kernel);
      Ref *in = b.parameter(DType::i32, size, Ref::Mode::in),
          *out = b.parameter(DType::i32, n, Ref::Mode::out);
      b.vector(0, n, 16, [&](Index i) { b.store(out, i, b.load(in, i * stride + first)); });
      for (const CpuTarget* target : processors())
        for (std::int32_t* at : {numbers, numbers + 1024 - size}) {
          std::vector<std::int32_t> found(static_cast<std::size_t>(n));
          void* refs[] = {at, found.data()};
          compile_kernel_for(*target, kernel)(refs, 0, 1);
          for (std::int64_t i = 0; i < n; ++i)
            EXPECT_EQ(found[static_cast<std::size_t>(i)], at[i * stride + first]);
        }
    }
  munmap(memory, 3 * page);
}

/// Stores that fill memory by turns, whole and with one of them missing, in another order or
/// written again, past the caches or not.
TEST(MachineCode, StoresByTurns) {
  const std::vector<std::vector<std::int64_t>> orders = {
      {0, 1}, {0, 1, 2}, {0, 1, 2, 3}, {1, 0}, {0, 2}, {0, 1, 0, 1}, {0, 1, 1}, {0, 1, 2, 3, 4}};
  for (DType dtype : {DType::i1, DType::bf16, DType::f32})
    for (const auto& order : orders)
      for (std::int64_t n : {48, 61})
        for (bool streaming : {false, true}) {
          if (streaming && n % 16) continue;
          const std::int64_t stride = *std::max_element(order.begin(), order.end()) + 1,
                             most = stride * n;
          Kernel kernel("turns");
          Builder b(kernel);
          Ref *in = b.parameter(dtype, most, Ref::Mode::in),
              *out = b.parameter(dtype, most + 8, Ref::Mode::inout);
          Ref* other = b.parameter(dtype, most, Ref::Mode::inout);
          b.vector(0, n, 16, [&](Index i) {
            std::vector<Inst*> values;
            for (std::size_t k = 0; k < order.size(); ++k)
              values.push_back(b.load(in, k % 2 ? i : Index(most - 1) - i));
            values.back() = b.load(in, 0);  // one number for all lanes
            for (std::size_t k = 0; k < order.size(); ++k)
              b.store(out, i * stride + order[k], values[k]);
            for (std::size_t k = 0; k < order.size(); ++k)
              b.store(other, i * stride + order[k], values[order.size() - 1 - k]);
          });
          for (Inst& inst : kernel.arena) inst.streaming = streaming && inst.code == Opcode::store;
          Buffers contents = loop::testing::random_buffers(kernel, 5);
          for (const CpuTarget* target : processors())
            for (int misalignment = streaming ? 0 : 1; misalignment < 2; ++misalignment)
              EXPECT_EQ(difference_from_interpreter(*target, kernel, contents, misalignment), "")
                  << name(dtype);
        }
}

TEST(MachineCode, DivisionOfIndicesSmallLargeAndNegative) {
  for (std::int64_t far : {std::int64_t{0}, std::int64_t{1} << 31, std::int64_t{1} << 32,
                           std::int64_t{1} << 40, std::int64_t{-1000}}) {
    Kernel kernel("division");
    kernel.grid = 3;
    Builder b(kernel);
    Ref* quotient = b.parameter(DType::i64, 60, Ref::Mode::out);
    Ref* rest = b.parameter(DType::i64, 60, Ref::Mode::out);
    Index g = b.grid();
    b.vector(0, 20, 8, [&](Index i) {
      Index at = g * (far + 1) + i;
      Inst* seven = b.constant(DType::i64, 7);
      b.store(quotient, g * 20 + i, b.binary(Opcode::div, b.value(at), seven));
      b.store(rest, g * 20 + i, b.binary(Opcode::rem, b.value(at), seven));
    });
    for (const CpuTarget* target : processors())
      EXPECT_EQ(
          difference_from_interpreter(*target, kernel, loop::testing::random_buffers(kernel, 1)),
          "")
          << far;
  }
}

TEST(MachineCode, LanesMayLieGigabytesApart) {
  constexpr std::int64_t stride = std::int64_t{3} << 28;  // bytes, so that lane 7 is beyond 32 bits
  Kernel kernel("far");
  Builder b(kernel);
  Ref* in = b.parameter(DType::i8, 8 * stride, Ref::Mode::in);
  Ref* out = b.parameter(DType::i8, 8, Ref::Mode::out);
  b.vector(0, 8, 8, [&](Index i) { b.store(out, i, b.load(in, i * stride)); });
  void* memory = mmap(nullptr, 8 * stride, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) GTEST_SKIP() << "no address space";
  for (int i = 0; i < 8; ++i)
    static_cast<std::int8_t*>(memory)[i * stride] = static_cast<std::int8_t>(i + 1);
  for (const CpuTarget* target : processors()) {
    std::int8_t found[8] = {};
    void* refs[] = {memory, found};
    compile_kernel_for(*target, kernel)(refs, 0, 1);
    for (int i = 0; i < 8; ++i) EXPECT_EQ(found[i], i + 1);
  }
  munmap(memory, 8 * stride);
}

TEST(MachineCode, BuffersOfOneTypeMayBeOneBuffer) {
  Kernel kernel("in_place");
  Builder b(kernel);
  Ref* x = b.parameter(DType::f32, 100, Ref::Mode::in);
  Ref* y = b.parameter(DType::f32, 100, Ref::Mode::in);
  Ref* scale = b.parameter(DType::f32, 1, Ref::Mode::in);
  Ref* sum = b.parameter(DType::f32, 100, Ref::Mode::out);
  Ref* product = b.parameter(DType::f32, 100, Ref::Mode::out);
  b.vector(0, 100, 16, [&](Index i) {
    Inst *u = b.load(x, i), *v = b.load(y, i);
    b.store(sum, i, b.binary(Opcode::add, u, v));
    b.store(product, i, b.binary(Opcode::mul, v, b.load(scale, 0)));
  });
  std::vector<float> a(100), c(100);
  for (int i = 0; i < 100; ++i)
    a[static_cast<std::size_t>(i)] = static_cast<float>(i),
    c[static_cast<std::size_t>(i)] = 2.0f * static_cast<float>(i);
  float factor = 3;
  void* refs[] = {a.data(), c.data(), &factor, a.data(), c.data()};
  compile_kernel(kernel)(refs, 0, 1);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(a[static_cast<std::size_t>(i)], 3.0f * static_cast<float>(i));
    EXPECT_EQ(c[static_cast<std::size_t>(i)], 6.0f * static_cast<float>(i));
  }
}

TEST(MachineCode, LargeScratchIsTheThreadsOwn) {
  Kernel kernel("scratch");
  Builder b(kernel);
  std::int64_t n = 200'000;
  Ref* out = b.parameter(DType::f32, n, Ref::Mode::out);
  Ref* first = b.scratch(DType::f32, n);
  Ref* second = b.scratch(DType::f32, n);
  b.vector(0, n, 16, [&](Index i) { b.store(first, i, b.convert(DType::f32, b.value(i))); });
  b.vector(0, n, 16, [&](Index i) { b.store(second, i, b.load(first, Index(n - 1) - i)); });
  b.vector(0, n, 16, [&](Index i) {
    b.store(out, i, b.binary(Opcode::sub, b.load(second, i), b.load(first, i)));
  });
  Buffers contents = loop::testing::random_buffers(kernel, 1);
  for (const CpuTarget* target : processors())
    EXPECT_EQ(difference_from_interpreter(*target, kernel, contents), "");
}

/// Stores in succession: to two buffers, some that are so that they may go past the caches and some
/// not, some to one place.
TEST(MachineCode, StreamingStoresInSuccessionKeepTheirOrder) {
  for (int misalignment : {0, 3}) {
    Kernel kernel("stream");
    Builder b(kernel);
    Ref* in = b.parameter(DType::f32, 64, Ref::Mode::in);
    Ref *out = b.parameter(DType::f32, 128, Ref::Mode::out),
        *other = b.parameter(DType::bf16, 64, Ref::Mode::out);
    b.vector(0, 64, 16, [&](Index i) {
      Inst *x = b.load(in, i), *twice = b.binary(Opcode::add, x, x);
      b.store(out, i, x);
      b.store(out, i + 64, twice);
      b.store(out, i + 3, x);
      b.store(out, i, twice);
      b.store(other, i, b.convert(DType::bf16, x));
      b.store(out, Index(127) - i, x);
    });
    for (Inst& inst : kernel.arena) inst.streaming = inst.code == Opcode::store;
    Buffers contents = loop::testing::random_buffers(kernel, 1);
    for (const CpuTarget* target : processors())
      EXPECT_EQ(difference_from_interpreter(*target, kernel, contents, misalignment), "");
  }
}

/// What is fetched may be past the end, and strips may be masked.
TEST(MachineCode, LoadsThatLookAheadReadTheSame) {
  Kernel kernel("ahead");
  Builder b(kernel);
  Ref* in = b.parameter(DType::f32, 1000, Ref::Mode::in);
  Ref* out = b.parameter(DType::f32, 1000, Ref::Mode::out);
  b.vector(0, 1000, 32, [&](Index i) { b.store(out, i, b.load(in, i)); });
  for (Inst& inst : kernel.arena) inst.ahead = inst.code == Opcode::load ? 900 : 0;
  EXPECT_TRUE(loop::verify(kernel).ok());
  Buffers contents = loop::testing::random_buffers(kernel, 1);
  for (const CpuTarget* target : processors())
    EXPECT_EQ(difference_from_interpreter(*target, kernel, contents, 0), "");
}

TEST(MachineCode, StreamingStoresWriteTheSame) {
  for (int misalignment : {0, 3}) {
    Kernel kernel("stream");
    Builder b(kernel);
    Ref* in = b.parameter(DType::f32, 1000, Ref::Mode::in);
    Ref* out = b.parameter(DType::f32, 1000, Ref::Mode::out);
    b.vector(0, 1000, 32, [&](Index i) { b.store(out, i, b.load(in, i)); });
    for (Inst& inst : kernel.arena) inst.streaming = inst.code == Opcode::store;
    Buffers contents = loop::testing::random_buffers(kernel, 1);
    for (const CpuTarget* target : processors())
      EXPECT_EQ(difference_from_interpreter(*target, kernel, contents, misalignment), "");
  }
}

// Beside strips of few lanes and of many; old processors have no instruction for it.
TEST(MachineCode, ProductsOfFourBytes) {
  for (int lanes : {1, 4, 8, 16, 32}) {
    Kernel kernel("dot4");
    Builder b(kernel);
    Ref* x = b.parameter(DType::i32, 40, Ref::Mode::in);
    Ref* y = b.parameter(DType::i32, 40, Ref::Mode::in);
    Ref* z = b.parameter(DType::i32, 40, Ref::Mode::inout);
    b.vector(0, 40, lanes,
             [&](Index i) { b.store(z, i, b.dot4(b.load(z, i), b.load(x, i), b.load(y, i))); });
    Buffers contents;
    for (int buffer = 0; buffer < 3; ++buffer) {
      contents.emplace_back();
      for (int i = 0; i < 160; ++i)
        contents.back().push_back(static_cast<std::byte>(i * 37 + buffer * 91));
    }
    for (const CpuTarget& target : {CpuTarget::named("native"), plain_host(), old_processor()})
      EXPECT_EQ(difference_from_interpreter(target, kernel, contents), "")
          << target.cpu << ", " << lanes << " lanes";
  }
}

// All upper halves, NaN of every payload among them, with lower ones about the tie: rounded, and
// rounded to go on with.
TEST(MachineCode, RoundsToBf16) {
  constexpr std::uint32_t kLower[] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff};
  constexpr std::int64_t kMany = 6 << 16;
  Buffers contents{std::vector<std::byte>(4 * kMany), std::vector<std::byte>(2 * kMany),
                   std::vector<std::byte>(4 * kMany)};
  for (std::size_t i = 0; i < kMany; ++i) {
    const std::uint32_t bits = static_cast<std::uint32_t>(i / 6) << 16 | kLower[i % 6];
    std::memcpy(contents[0].data() + 4 * i, &bits, 4);
  }
  for (int lanes : {1, 8, 32}) {
    Kernel kernel("bf16");
    Builder b(kernel);
    Ref* x = b.parameter(DType::f32, kMany, Ref::Mode::in);
    Ref *y = b.parameter(DType::bf16, kMany, Ref::Mode::out),
        *z = b.parameter(DType::f32, kMany, Ref::Mode::out);
    b.vector(0, kMany, lanes, [&](Index i) {
      Inst* rounded = b.convert(DType::bf16, b.load(x, i));
      b.store(y, i, rounded);
      b.store(z, i, b.convert(DType::f32, rounded));
    });
    for (const CpuTarget& target : {CpuTarget::named("native"), plain_host(), old_processor()})
      EXPECT_EQ(difference_from_interpreter(target, kernel, contents), "")
          << target.cpu << ", " << lanes << " lanes";
  }
}

// Lanes that a mask chooses, none to all: by an instruction, and one after the other where there is
// none or for other numbers of lanes.
TEST(MachineCode, LanesBroughtTogether) {
  for (DType dtype :
       {DType::i32, DType::f32, DType::i8, DType::bf16, DType::f64, DType::i64, DType::i1})
    for (int lanes : {1, 2, 4, 8, 16, 32})
      for (std::int32_t above : {INT32_MIN, -5, 40, INT32_MAX}) {
        Kernel kernel("compress");
        Builder b(kernel);
        Ref* x = b.parameter(DType::i32, 64, Ref::Mode::in);
        Ref* y = b.parameter(dtype, 64, Ref::Mode::out);
        Ref* many = b.parameter(DType::i64, 64, Ref::Mode::out);
        b.vector(0, 64, lanes, [&](Index i) {
          Inst *v = b.load(x, i),
               *mask = b.compare(loop::Compare::gt, v, b.constant_int(DType::i32, above));
          b.store(y, i, loop::compressed(b, mask, b.convert(dtype, v), lanes));
          b.store(many, i, loop::chosen(b, mask));
        });
        Buffers contents{std::vector<std::byte>(256),
                         std::vector<std::byte>(64 * byte_width(dtype)),
                         std::vector<std::byte>(512)};
        for (std::int32_t i = 0; i < 64; ++i) {
          const std::int32_t v = i * 29 % 101 - 50;
          std::memcpy(contents[0].data() + 4 * i, &v, 4);
        }
        for (const CpuTarget& target : {CpuTarget::named("native"), plain_host(), old_processor()})
          EXPECT_EQ(difference_from_interpreter(target, kernel, contents), "")
              << target.cpu << ", " << name(dtype) << " by " << lanes << " above " << above;
      }
}

}  // namespace
}  // namespace strata::compile
