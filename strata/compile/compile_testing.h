// A block run in three ways: by the reference evaluator, by the plan with interpreted kernels, and
// as machine code.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <random>

#include "strata/base/thread_pool.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/compile/pipeline.h"
#include "strata/compile/plan/interpret_plan.h"
#include "strata/compile/plan/make_plan.h"
#include "strata/ir/fingerprint.h"
#include "strata/op/build.h"
#include "strata/op/control.h"
#include "strata/op/evaluate.h"
#include "strata/op/samples.h"

namespace strata::compile::testing {

/// Values in [-2, 2] (floats), small integers, or booleans.
inline Literal random_literal(const Type& type, unsigned seed) {
  std::mt19937 generator(seed);
  Literal out(type), parts = op::real_view(out);
  for (std::int64_t i = 0; i < parts.count(); ++i) {
    double u = static_cast<double>(generator()) / 4294967296.0;
    if (is_inexact(type.dtype()))
      parts.set_number(i, 4 * u - 2);
    else if (is_bool(type.dtype()))
      parts.set_integer(i, u < 0.5);
    else
      parts.set_integer(i, static_cast<std::int64_t>(u * 7));
  }
  return out;
}

inline std::vector<Literal> arguments_of(const ir::Block& block, unsigned seed = 1) {
  std::vector<Literal> out;
  for (const auto& a : block.arguments()) out.push_back(random_literal(a->type(), seed++));
  return out;
}

/// The least processor that the library runs on: what tests of choices (tiles, grids, kernels)
/// name, since others choose otherwise.
inline const CpuTarget& v3() { return CpuTarget::of("x86-64-v3"); }

/// The targets whose results are compared, widest first: what this machine has, where that is more
/// than x86-64-v3, and x86-64-v3. Products of bf16 are as everywhere else; tests of those that some
/// processors round in their own way (docs/exceptions.md) name the target "native".
inline const std::vector<std::string>& targets() {
  static const std::vector<std::string>& all = *new std::vector<std::string>([] {
    const std::string widest = "native,-avx512bf16,-amx-bf16", least = "x86-64-v3";
    return CpuTarget::of(widest).avx512 ? std::vector{widest, least} : std::vector{least};
  }());
  return all;
}

/// Whether a program is checked in every way: compiled for all targets, and for any size besides.
/// All are, but where STRATA_SAMPLE=N is set, as by `make test`: then half of them, which N and the
/// program decide.
inline bool is_sampled(const ir::Block& block) {
  const char* sample = std::getenv("STRATA_SAMPLE");
  if (!sample || !*sample) return true;
  std::uint64_t number = static_cast<std::uint64_t>(std::atoll(sample));
  for (unsigned char c : ir::fingerprint(block)) number = (number ^ c) * 0x100000001b3;
  return (number >> 32) % 2 == 0;
}

/// The first of `targets()`, for tests that make plans themselves and run them.
inline const CpuTarget& widest() { return CpuTarget::of(targets().front()); }

/// What the plan for a processor with AVX-512 gives, by interpreted kernels: on any machine.
inline std::vector<Literal> run_plan(const ir::Block& block,
                                     const std::vector<Literal>& arguments) {
  Plan plan = make_plan(*prepare(block), {}, CpuTarget::of("x86-64-v4,+avx512vnni"));
  std::vector<void*> in, out, constants;
  std::vector<Literal> results;
  for (const Literal& a : arguments) in.push_back(const_cast<std::byte*>(a.data()));
  for (const Type& t : plan.result_types) results.emplace_back(t);
  for (Literal& r : results) {
    std::memset(r.mutable_data(), 0xa5, r.bytes());
    out.push_back(r.mutable_data());
  }
  for (Literal& c : plan.constants) constants.push_back(c.mutable_data());
  std::vector<std::byte> arena(static_cast<std::size_t>(plan.arena_bytes) + 64, std::byte{0x5a});
  interpret(plan, RunContext{in.data(), out.data(), constants.data(), arena.data()});
  return results;
}

inline std::vector<Literal> run_with(const runtime::CompileOptions& options, const ir::Block& block,
                                     std::vector<runtime::Buffer> arguments) {
  register_cpu();
  std::vector<Literal> out;
  for (runtime::Buffer& b :
       runtime::default_client().compile(block, options)->run(std::move(arguments)))
    out.push_back(b.literal());
  return out;
}
/// Machine code's results, which are the same for all `targets()`; those of code for any size, and
/// of programs that are not sampled today, are the widest one's.
inline std::vector<Literal> run_compiled(const ir::Block& block,
                                         const std::vector<Literal>& arguments,
                                         bool any_size = false);
/// One run of machine code for the widest target, of programs that do something besides.
inline std::vector<Literal> run_once(const ir::Block& block,
                                     const std::vector<Literal>& arguments) {
  return run_with({.target = targets().front()}, block, {arguments.begin(), arguments.end()});
}
/// Arguments in memory that nobody else holds, so that a result may take it where they are donated.
inline std::vector<Literal> run_donated(const ir::Block& block,
                                        const std::vector<Literal>& arguments,
                                        std::vector<bool> donated) {
  std::vector<runtime::Buffer> own;
  for (const Literal& a : arguments) {
    Literal copy(a.type());
    std::memcpy(copy.mutable_data(), a.data(), a.bytes());
    own.emplace_back(std::move(copy));
    EXPECT_TRUE(own.back().unique());
  }
  return run_with({.donated = std::move(donated), .target = targets().front()}, block,
                  std::move(own));
}

/// Elements whose bytes differ (NaNs of any bits are equal).
inline std::int64_t differences(const Literal& a, const Literal& b, std::int64_t* first = nullptr) {
  if (is_complex(a.dtype())) {
    std::int64_t n = differences(op::real_view(a), op::real_view(b), first);
    if (first) *first /= 2;
    return n;
  }
  std::size_t width = byte_width(a.dtype());
  std::int64_t n = 0;
  for (std::int64_t i = 0; i < a.count(); ++i) {
    if (std::memcmp(a.data() + static_cast<std::size_t>(i) * width,
                    b.data() + static_cast<std::size_t>(i) * width, width) == 0)
      continue;
    if (is_float(a.dtype()) && std::isnan(a.number(i)) && std::isnan(b.number(i))) continue;
    if (n++ == 0 && first) *first = i;
  }
  return n;
}

inline void expect_same_bits(const std::vector<Literal>& got, const std::vector<Literal>& want,
                             const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (std::size_t r = 0; r < want.size(); ++r) {
    ASSERT_EQ(got[r].type(), want[r].type()) << what;
    std::int64_t at = 0;
    std::int64_t n = differences(got[r], want[r], &at);
    EXPECT_EQ(n, 0) << what << ": result " << r << " " << want[r].type().to_string()
                    << " differs in " << n << " elements, first at " << at << ": got "
                    << got[r].number(at) << ", want " << want[r].number(at);
  }
}

inline std::vector<Literal> run_compiled(const ir::Block& block,
                                         const std::vector<Literal>& arguments, bool any_size) {
  const bool thorough = is_sampled(block);
  std::vector<Literal> out;
  for (const std::string& target : targets()) {
    if (!out.empty() && (any_size || !thorough)) continue;
    std::vector<Literal> got = run_with({.any_size = any_size, .target = target}, block,
                                        {arguments.begin(), arguments.end()});
    if (out.empty())
      out = std::move(got);
    else
      expect_same_bits(got, out, "machine code for " + target + " beside " + targets().front());
  }
  return out;
}

/// The law: reference = plan by interpreter = machine code for each of `targets()` on 1, 2 and 3
/// threads = that for any size, bit for bit.
inline void expect_compiled_equals_reference(const ir::Block& block, unsigned seed = 1,
                                             bool interpret_too = true) {
  std::vector<Literal> arguments = arguments_of(block, seed);
  std::vector<Literal> want = op::evaluate(block, arguments);
  if (interpret_too) expect_same_bits(run_plan(block, arguments), want, "plan by interpreter");
  for (int threads : {1, 2, 3}) {
    set_num_threads(threads);
    expect_same_bits(run_compiled(block, arguments), want,
                     fmt::format("machine code, {} threads", threads));
  }
  set_num_threads(0);
  if (is_sampled(block))
    expect_same_bits(run_compiled(block, arguments, true), want, "machine code for any size");
}

}  // namespace strata::compile::testing
