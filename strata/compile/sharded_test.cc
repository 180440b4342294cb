// Partitioned programs as machine code on eight devices of this process, beside the same programs
// in lock step by the reference evaluator: equal bits, also where devices are slow at random.
#include "strata/runtime/sharded.h"

#include <gmock/gmock.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "strata/base/error.h"
#include "strata/compile/compile_testing.h"
#include "strata/ir/pass/pass.h"
#include "strata/ir/text/parser.h"
#include "strata/op/catalog.h"
#include "strata/op/collective/lockstep.h"
#include "strata/op/collective/world.h"
#include "strata/op/foreign/foreign.h"
#include "strata/partition/gspmd.h"
#include "strata/partition/program.h"
#include "strata/runtime/cpu_devices.h"

namespace strata::compile {
namespace {

namespace fs = std::filesystem;
using runtime::Buffer;
using runtime::ShardedBuffers;
using ::testing::HasSubstr;

constexpr int kDevices = 8;

std::unique_ptr<ir::Module> parsed(const std::string& text) {
  op::catalog();
  Result<std::unique_ptr<ir::Module>> module = ir::parse(text, "program.mlir");
  if (!module) throw Error("test", "{}", module.status().message());
  return std::move(*module);
}
const std::vector<runtime::Device*>& devices() {
  register_cpu();
  return runtime::cpu_devices(kDevices);
}

/// What each device holds of whole arguments, in the partitioned program's own layouts.
struct Parts {
  explicit Parts(const std::string& text) : module(parsed(text)) {
    ir::inline_calls(*module);
    spmd::gspmd_to_shardy(*module);
    program = spmd::partition_program(*module->entry(), *module);
    const ir::Function& f = *module->entry();
    for (std::int64_t d = 0; d < kDevices; ++d) {
      op::Literals mine;
      for (int i = 0; i < f.body.num_arguments(); ++i)
        mine.push_back(spmd::part_of(
            program.grid, testing::random_literal(f.body.argument(i)->type(), 7u + unsigned(i)),
            program.arguments[std::size_t(i)], d));
      arguments.push_back(std::move(mine));
    }
  }
  std::vector<op::Literals> by_reference() const {
    std::vector<op::Literals> out(kDevices);
    op::World world;
    op::run_grid(world, 1, kDevices, [&](op::Process& process) {
      const auto d = static_cast<std::size_t>(process.id().partition);
      out[d] = op::evaluate(program.function->body, arguments[d], process);
    });
    return out;
  }
  ShardedBuffers buffers() const {
    ShardedBuffers out;
    for (const op::Literals& mine : arguments) {
      out.emplace_back();
      for (const Literal& x : mine) out.back().emplace_back(x);
    }
    return out;
  }
  std::unique_ptr<ir::Module> module;
  spmd::PartitionedProgram program;
  std::vector<op::Literals> arguments;
};

/// Compares as bits what is within arrays: what is behind their ends is anything.
std::string difference(const Parts& parts, const std::vector<op::Literals>& expected,
                       const ShardedBuffers& got) {
  const std::vector<Type> types = parts.module->entry()->body.result_types();
  for (std::size_t r = 0; r < types.size(); ++r) {
    std::vector<Literal> want, have;
    for (int d = 0; d < kDevices; ++d) {
      want.push_back(expected[std::size_t(d)][r]);
      have.push_back(got[std::size_t(d)][r].literal());
    }
    const spmd::Layout& layout = parts.program.results[r];
    Literal x = spmd::assemble(parts.program.grid, types[r], layout, want),
            y = spmd::assemble(parts.program.grid, types[r], layout, have);
    if (x.bytes() > 0 && std::memcmp(x.data(), y.data(), x.bytes()) != 0)
      return fmt::format("result {} differs", r);
    std::string copies = spmd::disagreement(parts.program.grid, types[r], layout, have);
    if (!copies.empty()) return copies;
  }
  return "";
}

std::string file(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Sharded, ProgramsOfJaxHaveTheBitsOfTheReference) {
  const fs::path folder = fs::path(__FILE__).parent_path().parent_path() / "partition/testdata/jax";
  int count = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".mlir") continue;
    const std::string text = file(entry.path());
    const Parts parts(text);
    if (parts.program.grid.devices() != kDevices) continue;
    auto module = parsed(text);
    auto e = runtime::compile_sharded(*module, devices());
    const auto expected = parts.by_reference();
    for (int turn = 0; turn < 3; ++turn)
      EXPECT_EQ(difference(parts, expected, e->execute(parts.buffers())), "") << entry.path();
    ++count;
  }
  EXPECT_GE(count, 12);
}

/// A program written for one device of eight, in which `body` computes %r from %x (and its number
/// %id).
std::string manual(const std::string& body, const std::string& type = "tensor<8x4xf32>",
                   const std::string& result = "tensor<8x4xf32>") {
  return fmt::format(
      "func.func @main(%x: {0}) -> {1} {{\n"
      "  %id = stablehlo.partition_id : tensor<ui32>\n{2}\n  return %r : {1}\n}}\n",
      type, result, body);
}
const std::string kAll = "replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>";
const std::string kPairs =
    "replica_groups = dense<[[3, 0], [1, 2], [4, 7], [6, 5]]> : tensor<4x2xi64>";
const std::string kChannel = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>";

/// The program on each device with own arguments, beside the reference.
void expect_as_reference(const std::string& text) {
  auto module = parsed(text), twin = parsed(text);
  const ir::Block& body = twin->entry()->body;
  std::vector<op::Literals> arguments, expected(kDevices);
  ShardedBuffers buffers;
  for (unsigned d = 0; d < kDevices; ++d) {
    arguments.emplace_back();
    buffers.emplace_back();
    for (int i = 0; i < body.num_arguments(); ++i) {
      arguments.back().push_back(
          testing::random_literal(body.argument(i)->type(), 100u * d + unsigned(i)));
      buffers.back().emplace_back(arguments.back().back());
    }
  }
  op::World world;
  op::run_grid(world, 1, kDevices, [&](op::Process& process) {
    const auto d = static_cast<std::size_t>(process.id().partition);
    expected[d] = op::evaluate(body, arguments[d], process);
  });
  auto ready = ir::clone(body);
  auto e = runtime::compile_sharded_body(*ready, devices());
  ShardedBuffers got = e->execute(buffers);
  for (std::size_t d = 0; d < kDevices; ++d)
    for (std::size_t r = 0; r < expected[d].size(); ++r) {
      const Literal &want = expected[d][r], &have = got[d][r].literal();
      ASSERT_EQ(want.type(), have.type());
      EXPECT_TRUE(want.bytes() == 0 || std::memcmp(want.data(), have.data(), want.bytes()) == 0)
          << "device " << d << " result " << r << "\n"
          << text;
    }
}

TEST(Sharded, EachCollectiveHasTheBitsOfTheReference) {
  for (const char* element : {"f32", "f64", "i32", "bf16", "complex<f32>"})
    for (const std::string& groups : {kAll, kPairs}) {
      const std::string x = fmt::format("tensor<8x4x{}>", element);
      expect_as_reference(manual(
          fmt::format("  %r = \"stablehlo.all_reduce\"(%x) ({{\n ^bb0(%a: tensor<{0}>, %b: "
                      "tensor<{0}>):\n %s = stablehlo.add %a, %b : tensor<{0}>\n "
                      "stablehlo.return %s : tensor<{0}>}}) {{{1}, {2}, use_global_device_ids}} : "
                      "({3}) -> {3}",
                      element, groups, kChannel, x),
          x, x));
    }
  const std::string big = "tensor<64x333xf32>";
  for (const char* combine : {"add", "maximum", "multiply"})
    expect_as_reference(manual(
        fmt::format("  %r = \"stablehlo.all_reduce\"(%x) ({{\n ^bb0(%a: tensor<f32>, %b: "
                    "tensor<f32>):\n %s = stablehlo.{} %a, %b : tensor<f32>\n stablehlo.return %s "
                    ": tensor<f32>}}) {{{}, {}, use_global_device_ids}} : ({}) -> {}",
                    combine, kAll, kChannel, big, big),
        big, big));
  for (int dim : {0, 1}) {
    const std::string gathered = dim == 0 ? "tensor<64x4xf32>" : "tensor<8x32xf32>";
    expect_as_reference(manual(
        fmt::format("  %r = \"stablehlo.all_gather\"(%x) {{all_gather_dim = {} : i64, {}, {}, "
                    "use_global_device_ids}} : (tensor<8x4xf32>) -> {}",
                    dim, kAll, kChannel, gathered),
        "tensor<8x4xf32>", gathered));
    for (const char* element : {"f32", "bf16"})
      expect_as_reference(manual(
          fmt::format("  %r = \"stablehlo.reduce_scatter\"(%x) ({{\n ^bb0(%a: tensor<{5}>, %b: "
                      "tensor<{5}>):\n %s = stablehlo.add %a, %b : tensor<{5}>\n "
                      "stablehlo.return %s : tensor<{5}>}}) {{scatter_dimension = {0} : i64, {1}, "
                      "{2}, use_global_device_ids}} : ({3}) -> {4}",
                      dim, kAll, kChannel, fmt::format("tensor<16x8x{}>", element),
                      fmt::format("tensor<{}x{}>", dim == 0 ? "2x8" : "16x1", element), element),
          fmt::format("tensor<16x8x{}>", element),
          fmt::format("tensor<{}x{}>", dim == 0 ? "2x8" : "16x1", element)));
  }
  for (auto [split, concat, result] :
       std::initializer_list<std::tuple<int, int, const char*>>{{0, 0, "tensor<16x8x3xf32>"},
                                                                {0, 1, "tensor<2x64x3xf32>"},
                                                                {1, 0, "tensor<128x1x3xf32>"},
                                                                {0, 2, "tensor<2x8x24xf32>"},
                                                                {1, 2, "tensor<16x1x24xf32>"}})
    expect_as_reference(
        manual(fmt::format("  %r = \"stablehlo.all_to_all\"(%x) {{split_dimension = {} : i64, "
                           "concat_dimension = {} : i64, split_count = 8 : i64, {}, {}}} : "
                           "(tensor<16x8x3xf32>) -> {}",
                           split, concat, kAll, kChannel, result),
               "tensor<16x8x3xf32>", result));
  expect_as_reference(manual(
      fmt::format("  %r = \"stablehlo.collective_permute\"(%x) {{source_target_pairs = dense<[[0, "
                  "1], [1, 2], [2, 0], [5, 7]]> : tensor<4x2xi64>, {}}} : (tensor<8x4xf32>) -> "
                  "tensor<8x4xf32>",
                  kChannel)));
  expect_as_reference(manual(
      fmt::format("  %r = \"stablehlo.collective_broadcast\"(%x) {{replica_groups = dense<[[2, 0], "
                  "[4, 7]]> : tensor<2x2xi64>, {}}} : (tensor<8x4xf32>) -> tensor<8x4xf32>",
                  kChannel)));
}

TEST(Sharded, CollectivesStandInLoopsAndBranches) {
  expect_as_reference(manual(fmt::format(R"(
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %i:2 = stablehlo.while(%n = %zero, %v = %x) : tensor<i32>, tensor<8x4xf32>
   cond {{
    %c = stablehlo.constant dense<5> : tensor<i32>
    %p = stablehlo.compare LT, %n, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }} do {{
    %one = stablehlo.constant dense<1> : tensor<i32>
    %m = stablehlo.add %n, %one : tensor<i32>
    %s = "stablehlo.all_reduce"(%v) ({{
     ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %t = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %t : tensor<f32>
    }}) {{{0}, {1}, use_global_device_ids}} : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %d = stablehlo.constant dense<0.25> : tensor<8x4xf32>
    %w = stablehlo.multiply %s, %d : tensor<8x4xf32>
    stablehlo.return %m, %w : tensor<i32>, tensor<8x4xf32>
  }}
  %two = stablehlo.constant dense<2> : tensor<ui32>
  %half = stablehlo.divide %id, %two : tensor<ui32>
  %back = stablehlo.multiply %half, %two : tensor<ui32>
  %even = stablehlo.compare EQ, %back, %id : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
  %r = "stablehlo.if"(%even) ({{
    %s = "stablehlo.all_reduce"(%i#1) ({{
     ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %t = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %t : tensor<f32>
    }}) {{replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, {1},
         use_global_device_ids}} : (tensor<8x4xf32>) -> tensor<8x4xf32>
    stablehlo.return %s : tensor<8x4xf32>
  }}, {{
    stablehlo.return %i#1 : tensor<8x4xf32>
  }}) : (tensor<i1>) -> tensor<8x4xf32>)",
                                         kPairs, kChannel)));
}

ShardedBuffers ones(const runtime::ShardedExecutable& e) {
  ShardedBuffers out(kDevices);
  for (auto& mine : out)
    for (const Type& t : e.local_argument_types()) mine.emplace_back(Literal::full(t, 1));
  return out;
}
std::string failure(const std::string& text) {
  auto module = parsed(text);
  auto e = runtime::compile_sharded_body(module->entry()->body, devices());
  std::string out;
  for (const auto& mine : e->execute(ones(*e))) {
    try {
      (void)mine[0].literal();
    } catch (const Error& error) {
      out += error.what();
      out += '\n';
    }
  }
  return out;
}
std::string branch(const std::string& first, const std::string& second) {
  return manual(
      "  %five = stablehlo.constant dense<5> : tensor<ui32>\n"
      "  %is = stablehlo.compare EQ, %five, %id : (tensor<ui32>, tensor<ui32>) -> "
      "tensor<i1>\n  %r = \"stablehlo.if\"(%is) ({\n" +
      first + "  stablehlo.return %s : tensor<8x4xf32>\n}, {\n" + second +
      "  stablehlo.return %s : tensor<8x4xf32>\n}) : (tensor<i1>) -> tensor<8x4xf32>");
}
std::string reduced(const std::string& attrs) {
  return "  %s = \"stablehlo.all_reduce\"(%x) ({\n ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n %t = "
         "stablehlo.add %a, %b : tensor<f32>\n stablehlo.return %t : tensor<f32>}) {" +
         attrs + ", " + kChannel +
         ", use_global_device_ids} : (tensor<8x4xf32>) -> tensor<8x4xf32>\n";
}

TEST(Sharded, OtherCollectivesAtOneMeetingAreNamed) {
  const std::string text =
      failure(branch(reduced(kAll),
                     "  %s = \"stablehlo.all_to_all\"(%x) {split_dimension = 0 : i64, "
                     "concat_dimension = 0 : i64, split_count = 8 : i64, " +
                         kAll + ", " + kChannel + "} : (tensor<8x4xf32>) -> tensor<8x4xf32>\n"));
  EXPECT_THAT(text, HasSubstr("all_reduce on channel 1"));
  EXPECT_THAT(text, HasSubstr("all_to_all on channel 1"));
}
TEST(Sharded, WaitingForOneThatHasEndedIsAnError) {
  const std::string text =
      failure(branch("  %s = stablehlo.negate %x : tensor<8x4xf32>\n", reduced(kAll)));
  EXPECT_THAT(text, HasSubstr("for device 5, which has ended"));
}
TEST(Sharded, WaitingForEachOtherIsAnError) {
  const std::string text = failure(branch(reduced(kPairs), reduced(kAll)));
  EXPECT_THAT(text, HasSubstr("device 5 waits in all_reduce on channel 1"));
  EXPECT_THAT(text, HasSubstr("for device 6"));
}
TEST(Sharded, OneThatFailsEndsTheOthersWaiting) {
  op::foreign::add_handler("test.fails", [](const op::foreign::Call&) {
    return Result<op::foreign::Bound>(op::foreign::Bound(
        [](const op::foreign::Buffers&, void*) { return Status(Code::io, "the disk is gone"); }));
  });
  const std::string text =
      failure(branch("  %s = stablehlo.custom_call @test.fails(%x) : (tensor<8x4xf32>) -> "
                     "tensor<8x4xf32>\n",
                     reduced(kAll)));
  EXPECT_THAT(text, HasSubstr("device 5 failed"));
  EXPECT_THAT(text, HasSubstr("the disk is gone"));
}

TEST(Sharded, LaunchesFromManyThreadsDoNotCross) {
  auto module = parsed(manual(reduced(kAll) + "  %r = stablehlo.negate %s : tensor<8x4xf32>"));
  auto e = runtime::compile_sharded_body(module->entry()->body, devices());
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i)
        for (const auto& mine : e->execute(ones(*e))) wrong += mine[0].literal().number(3) != -8;
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Sharded, MistakesAreTold) {
  auto module = parsed(
      "sdy.mesh @m = <[\"x\"=4]>\n"
      "func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{\"x\"}]>}) -> "
      "tensor<8xf32> {\n  return %x : tensor<8xf32>\n}\n");
  EXPECT_THAT(
      [&] { (void)runtime::compile_sharded(*module, devices()); },
      ::testing::ThrowsMessage<Error>(HasSubstr("for the 4 devices of <[\"x\"=4]>, got 8")));
  auto fits = parsed(manual("  %r = stablehlo.negate %x : tensor<8x4xf32>"));
  auto e = runtime::compile_sharded_body(fits->entry()->body, devices());
  EXPECT_THAT([&] { (void)e->execute({}); },
              ::testing::ThrowsMessage<Error>(HasSubstr("arguments for 0")));
  ShardedBuffers other = ones(*e);
  other[3][0] = Buffer(Literal(Type(DType::f32, Shape{4})));
  EXPECT_THAT([&] { (void)e->execute(other); },
              ::testing::ThrowsMessage<Error>(HasSubstr("got tensor<4xf32> for device 3")));
}

}  // namespace
}  // namespace strata::compile
