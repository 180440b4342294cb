// How long does partitioning take? A training step of L unrolled decoder layers (attention and a
// gated MLP, gradients, SGD) for a mesh of data x model devices, weights cut over both.
//
//   build/bin/partition-time [LAYERS] [DATA] [MODEL] [TURNS]     # 64 16 16 5
//
// Prints operations of the program, and the median of seconds of processor time that
// propagation and the per-device program take (on one thread), without compiling it. docs/meshes.md
// has the figures.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>

#include "strata/api/lax.h"
#include "strata/api/nn.h"
#include "strata/api/numpy.h"
#include "strata/api/transform/grad.h"
#include "strata/api/transform/jit.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/ir/declaration.h"
#include "strata/ir/pass/pass.h"
#include "strata/partition/program.h"

namespace {

using namespace strata;

constexpr std::int64_t D = 1024, F = 4096, B = 64, S = 128, H = 16;

struct Layer {
  Array n1, n2, q, k, v, o, g, u, d;
  STRATA_FIELDS(n1, n2, q, k, v, o, g, u, d)
};
const std::vector<std::vector<std::int64_t>> kShapes = {{D},    {D},    {D, D}, {D, D}, {D, D},
                                                        {D, D}, {D, F}, {D, F}, {F, D}};
/// Dimensions over data and model, as FSDP x tensor parallelism has them.
const char* const kSpecs[] = {"{}",
                              "{}",
                              "{\"data\"}, {\"model\"}",
                              "{\"data\"}, {\"model\"}",
                              "{\"data\"}, {\"model\"}",
                              "{\"model\"}, {\"data\"}",
                              "{\"data\"}, {\"model\"}",
                              "{\"data\"}, {\"model\"}",
                              "{\"model\"}, {\"data\"}"};

Array normed(const Array& x, const Array& scale) {
  return x * lax::rsqrt(mean(square(x), {.axis = -1, .keepdims = true}) + 1e-6f) * scale;
}
Array block(const Layer& p, Array x) {
  const Array h = normed(x, p.n1);
  const auto heads = [&](const Array& w) { return reshape(matmul(h, w), {B, S, H, D / H}); };
  Array scores = einsum("bshd,bthd->bhst", {heads(p.q), heads(p.k)}) * 0.1f;
  scores = where(tril(ones({S, S})).astype(bool_), scores, -1e9f);
  const Array mixed = einsum("bhst,bthd->bshd", {nn::softmax(scores, -1), heads(p.v)});
  x = x + matmul(reshape(mixed, {B, S, D}), p.o);
  const Array h2 = normed(x, p.n2);
  return x + matmul(nn::silu(matmul(h2, p.g)) * matmul(h2, p.u), p.d);
}

/// Seconds of this thread's processor, which others that use it do not lengthen.
double now() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// The step as a module whose arguments have shardings.
std::unique_ptr<ir::Module> program(int layers, int data, int model) {
  // Layers share their arrays: tracing asks for types alone.
  std::vector<Array> shared;
  for (const auto& shape : kShapes) shared.push_back(zeros(Sizes(shape)));
  const Layer one{shared[0], shared[1], shared[2], shared[3], shared[4],
                  shared[5], shared[6], shared[7], shared[8]};
  const std::vector<Layer> params(static_cast<std::size_t>(layers), one);
  const auto loss = [](const std::vector<Layer>& ps, Array x) {
    for (const Layer& p : ps) x = block(p, x);
    return mean(square(x));
  };
  const auto step = [&](const std::vector<Layer>& ps, const Array& x) {
    const auto [l, g] = value_and_grad(loss)(ps, x);
    return std::pair(l, tree::map([](Array p, Array d) { return p - 0.1f * d; }, ps, g));
  };
  const auto lowered = jit(step).lower(params, zeros({B, S, D}));

  auto module = std::make_unique<ir::Module>();
  ir::add_mesh(*module, {"m", fmt::format("<[\"data\"={}, \"model\"={}]>", data, model), ""});
  ir::Function& f = module->add("main");
  ir::Values given;
  for (const auto& a : lowered.block().arguments()) given.push_back(f.body.add_argument(a->type()));
  ir::Builder b(f.body);
  f.body.results = ir::inline_block(b, lowered.block(), given);
  f.arg_attrs.resize(given.size());
  f.result_attrs.resize(f.body.results.size());
  const auto lies = [](const std::string& dims) {
    return ir::Opaque{"#sdy.sharding<@m, [" + dims + "]>"};
  };
  for (std::size_t i = 0; i + 1 < given.size(); ++i) {
    f.arg_attrs[i].set("sdy.sharding", lies(kSpecs[i % std::size(kSpecs)]));
    f.result_attrs[i + 1].set("sdy.sharding", lies(kSpecs[i % std::size(kSpecs)]));
  }
  f.arg_attrs.back().set("sdy.sharding", lies("{\"data\"}, {}, {}"));
  ir::inline_calls(*module);
  spmd::normalize(*module);
  return module;
}

std::size_t operations(const ir::Block& block) {
  std::size_t out = 0;
  ir::walk(block, [&](const ir::Op&) { ++out; });
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int i, int otherwise) {
    return argc > i ? std::atoi(argv[i]) : otherwise;
  };
  const int layers = number(1, 64), data = number(2, 16), model = number(3, 16),
            turns = number(4, 5);
  compile::register_cpu();
  const std::unique_ptr<ir::Module> module = program(layers, data, model);
  fmt::print("{} layers for {} devices, {} operations\n", layers, data * model,
             operations(module->entry()->body));
  for (const bool exact : {false, true}) {
    std::vector<double> seconds;
    std::size_t collectives = 0, of_device = 0;
    double bytes = 0;
    for (int i = 0; i < turns; ++i) {
      const double start = now();
      const spmd::PartitionedProgram p =
          spmd::partition_program(*module->entry(), *module, {.exact = exact});
      seconds.push_back(now() - start);
      collectives = p.moves.size();
      of_device = operations(p.function->body);
      bytes = 0;
      for (const spmd::Move& m : p.moves)
        bytes += static_cast<double>(m.bytes) * static_cast<double>(m.times);
    }
    std::sort(seconds.begin(), seconds.end());
    fmt::print(
        "{}: {:.2f} s (best {:.2f}), {} operations of a device, {} collectives, a device gets "
        "{:.2f} GB\n",
        exact ? "exact" : "default", seconds[seconds.size() / 2], seconds[0], of_device,
        collectives, bytes * 1e-9);
  }
}
