// A step of an optimizer over many leaves beside a copy of as many bytes of the same memory.
//
//   build/bin/optimizer-step [RULE] [--leaves N] [--millions M] [--runs R] [--json] [--text]
//
// RULE: adamw, lion, adafactor, muon (what Muon does element by element), adamw_clipped (by the
// global norm). The leaves are square matrices of f32; parameters and state are donated, gradients
// stay. Steps and copies take turns. `bytes` is what a step must move: each array that it reads and
// each that it writes, once.
#include <immintrin.h>
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "strata/api/numpy.h"
#include "strata/api/operators.h"
#include "strata/api/transform/jit.h"
#include "strata/base/command_line.h"
#include "strata/base/progress.h"
#include "strata/base/thread_pool.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/optim/optim.h"

namespace {

using namespace strata;
using tree::Tree;

struct Options {
  std::string rule = "adamw";
  int leaves = 200, runs = 11, millions = 50;
  bool json = false, text = false;
};

/// A rule, and how many f32 arrays of the parameters' size a step reads and writes.
struct Rule {
  optim::GradientTransformation tx;
  int arrays;
};
Rule rule_of(const std::string& name) {
  if (name == "adamw") return {optim::adamw(1e-3), 7};
  if (name == "lion") return {optim::lion(1e-4), 5};
  if (name == "adafactor") return {optim::adafactor(1e-3), 3};
  if (name == "muon")
    return {optim::chain(optim::trace(0.95, true), optim::add_decayed_weights(1e-4),
                         optim::scale_by_learning_rate(1e-3)),
            5};
  if (name == "adamw_clipped")
    return {optim::chain(optim::clip_by_global_norm(1.0), optim::adamw(1e-3)), 8};
  throw Error("optimizer-step",
              "no rule \"{}\"; there are adamw, lion, adafactor, muon and "
              "adamw_clipped",
              name);
}

/// The same numbers whatever the machine: the place's digits, spread.
Tree leaves_of(int count, std::int64_t side, float scale) {
  const auto make = jit([=](const Array& begin) {
    const Array place = numpy::astype(numpy::arange(side * side), DType::f32) + begin;
    return numpy::reshape(numpy::sin(place * 12.9898f) * scale, {side, side});
  });
  std::vector<tree::Entry> entries;
  std::vector<Array> values;
  for (int i = 0; i < count; ++i) {
    entries.emplace_back(fmt::format("leaf_{:05}", i), tree::kinds::variable);
    values.push_back(make(Array(static_cast<float>(i))));
  }
  return Tree(std::move(entries), std::move(values));
}

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

/// Copies of half of `bytes` by all threads, with stores that stay in the caches and ones past
/// them, so that `bytes` are read and written.
class Copies {
 public:
  explicit Copies(std::int64_t bytes)
      : floats_(bytes / 8 / (kParts * 16) * (kParts * 16)), from_(memory()), to_(memory()) {
    std::fill_n(from_.get(), floats_, 1.0f);
    std::fill_n(to_.get(), floats_, 0.0f);
  }
  /// Seconds of one.
  double run(bool streamed) {
    streamed_ = streamed;
    const double begin = seconds_now();
    parallel_for(
        kParts, 1,
        [](void* self, std::int64_t part, std::int64_t end) {
          for (; part < end; ++part) static_cast<Copies*>(self)->part(part);
        },
        this);
    return seconds_now() - begin;
  }
  double bytes() const { return 8.0 * static_cast<double>(floats_); }

 private:
  struct Free {
    void operator()(float* p) const { std::free(p); }
  };
  using Memory = std::unique_ptr<float, Free>;
  static constexpr std::int64_t kParts = 256;
  Memory memory() const {
    constexpr std::size_t kHuge = std::size_t{2} << 20;
    const auto bytes = (static_cast<std::size_t>(floats_) * 4 + kHuge - 1) / kHuge * kHuge;
    void* p = std::aligned_alloc(kHuge, bytes);
    if (p == nullptr) std::exit(4);
    madvise(p, bytes, MADV_HUGEPAGE);
    return Memory(static_cast<float*>(p));
  }
  __attribute__((target("avx2"))) void part(std::int64_t n) const {
    const std::int64_t size = floats_ / kParts;
    const float* x = from_.get();
    float* y = to_.get();
    for (std::int64_t i = n * size; i < (n + 1) * size; i += 8) {
      if (streamed_)
        _mm256_stream_ps(y + i, _mm256_loadu_ps(x + i));
      else
        _mm256_storeu_ps(y + i, _mm256_loadu_ps(x + i));
    }
    if (streamed_) _mm_sfence();
  }
  std::int64_t floats_;
  Memory from_, to_;
  bool streamed_ = false;
};

void measure(const Options& o) {
  const Rule rule = rule_of(o.rule);
  const auto side = static_cast<std::int64_t>(std::sqrt(1e6 * o.millions / o.leaves));
  Tree params = leaves_of(o.leaves, side, 0.1f), state = rule.tx.init(params);
  const Tree grads = leaves_of(o.leaves, side, 0.01f);
  auto step = jit(
      [&](const Tree& p, const Tree& s, const Tree& g) {
        auto [updates, next] = rule.tx.update(g, s, p);
        return std::pair(optim::apply_updates(p, updates), next);
      },
      {.donate_argnums = {0, 1}});
  const auto turn = [&] {
    auto [p, s] = step(std::move(params), std::move(state), grads);
    params = std::move(p);
    state = std::move(s);
  };
  if (o.text) {
    std::puts(step.lower(params, state, grads).as_text().c_str());
    return;
  }
  double begin = seconds_now();
  const auto lowered = step.lower(params, state, grads);
  const double trace_s = seconds_now() - begin;
  begin = seconds_now();
  (void)lowered.compile();
  const double compile_s = seconds_now() - begin;
  const double elements = static_cast<double>(o.leaves) * static_cast<double>(side * side);
  const double bytes = 4 * rule.arrays * elements;
  Copies copies(std::int64_t{1} << 29);
  turn();
  std::vector<double> steps, plain, streamed;
  for (int i = 0; i < o.runs; ++i) {
    begin = seconds_now();
    turn();
    steps.push_back(seconds_now() - begin);
    plain.push_back(copies.run(false));
    streamed.push_back(copies.run(true));
  }
  const double step_s = median(steps),
               copy = copies.bytes() / std::min(median(plain), median(streamed));
  if (o.json)
    std::printf(
        "{\"step_s\": %.6f, \"bytes\": %.0f, \"copy_bytes_s\": %.4g, \"share\": %.4f, "
        "\"trace_s\": %.4f, \"compile_s\": %.4f}\n",
        step_s, bytes, copy, bytes / step_s / copy, trace_s, compile_s);
  else
    std::printf(
        "%s, %d leaves of %lld x %lld: %.1f ms, %.1f GB/s, copy %.1f GB/s (past caches "
        "%.1f), %.0f %% of it; traced in %.3f s, compiled in %.3f s\n",
        o.rule.c_str(), o.leaves, static_cast<long long>(side), static_cast<long long>(side),
        1e3 * step_s, 1e-9 * bytes / step_s, 1e-9 * copy, 1e-9 * copies.bytes() / median(streamed),
        100 * bytes / step_s / copy, trace_s, compile_s);
}

}  // namespace

int main(int argc, char** argv) {
  strata::compile::register_cpu();
  Options o;
  strata::CommandLine line(
      "What a step of an optimizer takes beside a copy.\n\nExample:\n  optimizer-step lion "
      "--leaves 10");
  line.add_option("rule", o.rule, "adamw, lion, adafactor, muon or adamw_clipped")
      .type_name("RULE")
      .show_default();
  line.add_option("--leaves", o.leaves, "arrays of the parameters")
      .in_range(1, 100000)
      .show_default();
  line.add_option("--millions", o.millions, "parameters of all").in_range(1, 1000).show_default();
  line.add_option("--runs", o.runs, "steps that are timed").in_range(1, 1000).show_default();
  line.add_flag("--json", o.json, "one JSON object");
  line.add_flag("--text", o.text, "the program's text, for strata-run --explain");
  if (auto status = line.parse(argc, argv)) return *status;
  try {
    measure(o);
  } catch (const strata::Error& e) {
    std::fprintf(stderr, "optimizer-step: %s\n", e.what());
    return 2;
  }
}
