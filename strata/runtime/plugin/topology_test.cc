#include "strata/runtime/plugin/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "strata/base/format/protobuf.h"

namespace strata::runtime::plugin {
namespace {

using protobuf::Writer;
using ::testing::HasSubstr;

const std::string kOdd = "lib/libstrata_odd_plugin.so";  // tests run in the build folder

/// What an odd plugin makes of a program for a topology.
Result<CompileReport> compiled(const std::string& manner, std::int64_t partitions = 4,
                               const std::string& topology = "odd:4") {
  ::setenv("STRATA_ODD_PLUGIN", manner.c_str(), 1);
  auto out =
      compile_for({.library = kOdd, .topology = topology}, "module {}", {.partitions = partitions});
  ::unsetenv("STRATA_ODD_PLUGIN");
  return out;
}

TEST(CompileFor, SaysWhatAProgramTakesOfAChip) {
  for (const char* manner : {"topology", "topology-plain"}) {  // the optimised program's two forms
    const auto report = compiled(manner);
    ASSERT_TRUE(report.ok()) << report.status().message();
    EXPECT_EQ(report->platform, "odd");
    EXPECT_EQ(report->kind, "odd chip");
    EXPECT_EQ(report->chips, 4);
    EXPECT_EQ(report->hbm_bytes, 2048);
    EXPECT_EQ(report->argument_bytes, 100);
    EXPECT_EQ(report->output_bytes, 40);
    EXPECT_EQ(report->alias_bytes, 30);
    EXPECT_EQ(report->temp_bytes, 500);
    EXPECT_EQ(report->code_bytes, 7);
    EXPECT_EQ(report->total_bytes(), 100 + 40 - 30 + 500 + 7);
    EXPECT_EQ(report->flops, 12);
    EXPECT_EQ(report->bytes_accessed, 34);
    ASSERT_EQ(report->collectives.size(), 1u);
    EXPECT_EQ(report->collectives.at("all-reduce").times, 1);
    EXPECT_EQ(report->collectives.at("all-reduce").bytes, 32);
  }
}

TEST(CompileFor, TakesThePeakWhereItIsHigher) {
  const auto report = compiled("topology-peak");
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->total_bytes(), 1000);
}

TEST(CompileFor, TakesCompilersThatDoNotCount) {
  const auto report = compiled("topology-mute");
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->total_bytes(), 0);
  EXPECT_EQ(report->flops, 0);
  EXPECT_EQ(report->collectives.size(), 1u);
}

TEST(CompileFor, NamesTheTopologyThatIsNone) {
  const auto report = compiled("topology", 4, "odd:5");
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.status().code(), Code::invalid);
  EXPECT_THAT(report.status().message(),
              testing::AllOf(HasSubstr("topology odd:5"), HasSubstr("no such topology")));
}

TEST(CompileFor, RefusesMorePartsThanChips) {
  const auto report = compiled("topology", 5);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.status().code(), Code::invalid);
  EXPECT_THAT(report.status().message(),
              HasSubstr("topology odd:4: it has 4 chips, and the program has 5 parts"));
}

TEST(CompileFor, SaysThatAProgramDoesNotFit) {
  const auto report = compiled("topology-full");
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.status().code(), Code::no_space);
  const auto shortage = shortage_of(report.status().message());
  ASSERT_TRUE(shortage.has_value());
  EXPECT_EQ(shortage->needed, 3072);
  EXPECT_EQ(shortage->available, 2048);
}

TEST(CompileFor, RefusesAnOptimisedProgramThatItCannotRead) {
  for (const auto& [manner, words] : std::vector<std::pair<std::string, std::string>>{
           {"topology-text", "an optimised program as poem"},
           {"topology-empty", "an optimised program without its module"},
           {"topology-cut", "an optimised program without its module"}}) {
    const auto report = compiled(manner);
    ASSERT_FALSE(report.ok()) << manner;
    EXPECT_THAT(report.status().message(), HasSubstr(words)) << manner;
  }
}

TEST(CompileFor, RefusesAPluginThatOnlyRuns) {
  const auto none = compiled("topology-none");  // it knows topologies, and compiles for none
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.status().code(), Code::unsupported);
  const auto alone = compiled("run");  // it knows no topologies
  ASSERT_FALSE(alone.ok());
  EXPECT_EQ(alone.status().code(), Code::unsupported);
  EXPECT_THAT(alone.status().message(), HasSubstr("TopologyDescription_Create: UNIMPLEMENTED"));
}

TEST(Shortage, IsReadFromXlasWords) {
  const auto tpu = shortage_of(
      "E1000: CompileTimeHbmOom: Ran out of memory on HBM, the total memory required for HLO "
      "temporaries (85.84G) exceeds available HBM (15.75G). HLO module: main.");
  ASSERT_TRUE(tpu.has_value());
  EXPECT_EQ(tpu->available, 16911433728);
  EXPECT_NEAR(static_cast<double>(tpu->needed), 85.84 * (1 << 30), 1.0);
  const auto older = shortage_of("Ran out of memory. Used 512.0M of 2K hbm. Exceeded by 512M");
  ASSERT_TRUE(older.has_value());
  EXPECT_EQ(older->needed, 512 << 20);
  EXPECT_EQ(older->available, 2048);
  EXPECT_FALSE(shortage_of("out of memory on the device").has_value());
  EXPECT_FALSE(shortage_of("").has_value());
}

Writer array(int type, std::vector<std::int64_t> dims) {
  Writer out;
  for (std::int64_t d : dims) out.integer(3, d);
  return out.integer(2, type);
}
Writer instruction(const std::string& opcode, const Writer& shape) {
  return Writer().bytes(1, "name").bytes(2, opcode).message(3, shape);
}
std::string module(const std::vector<Writer>& instructions) {
  Writer computation;
  for (const Writer& i : instructions) computation.message(2, i);
  return Writer().bytes(1, "module").message(3, computation).take();
}

TEST(Collectives, AreCountedWithTheirBytes) {
  Writer start;  // a tuple of operand, result and a word of context
  start.integer(2, 13)
      .message(4, array(11, {4, 8}))
      .message(4, array(11, {16, 8}))
      .message(4, array(8, {}));
  const std::string hlo =
      module({instruction("all-reduce", array(11, {8})), instruction("add", array(11, {8})),
              instruction("all-reduce", array(16, {8, 2})), instruction("all-gather-start", start),
              instruction("all-gather-done", array(11, {16, 8}))});
  auto found = collectives_of(hlo);
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(found->size(), 2u);
  EXPECT_EQ(found->at("all-reduce").times, 2);
  EXPECT_EQ(found->at("all-reduce").bytes, 8 * 4 + 16 * 2);
  EXPECT_EQ(found->at("all-gather").times, 1);
  EXPECT_EQ(found->at("all-gather").bytes, 16 * 8 * 4);
}

TEST(Collectives, OfLoopsAreCountedAsOftenAsTheyRun) {
  const auto made = [](const std::string& opcode, int id, std::vector<int> operands) {
    Writer out = instruction(opcode, array(11, {8}));
    out.integer(35, id);
    for (int o : operands) out.integer(36, o);
    return out;
  };
  const auto number = [&](int id, int value) {
    return made("constant", id, {}).message(8, Writer().message(1, array(4, {})).integer(4, value));
  };
  const auto computation = [](const std::string& name, int id, int root,
                              const std::vector<Writer>& instructions) {
    Writer out = Writer().bytes(1, name).integer(5, id).integer(6, root);
    for (const Writer& i : instructions) out.message(2, i);
    return out;
  };
  // From 1 to 6 by ones, in which a fusion is called that gathers (one channel, taken apart into
  // two fusions) and one that adds up and keeps a slice.
  const std::string hlo =
      Writer()
          .bytes(1, "module")
          .integer(6, 1)
          .message(3, computation("main", 1, 12,
                                  {number(10, 1), made("tuple", 11, {10}),
                                   made("while", 12, {11}).integer(38, 2).integer(38, 3)}))
          .message(3, computation("body", 2, 22,
                                  {made("fusion", 20, {}).integer(38, 4),
                                   made("fusion", 21, {}).integer(38, 5),
                                   made("fusion", 22, {}).integer(38, 6)}))
          .message(3, computation("condition", 3, 33,
                                  {made("parameter", 30, {}),
                                   made("get-tuple-element", 31, {30}).integer(13, 0),
                                   number(32, 6), made("compare", 33, {31, 32}).bytes(63, "LT")}))
          .message(3, computation("start", 4, 40, {made("all-gather", 40, {}).integer(26, 7)}))
          .message(3, computation("done", 5, 50, {made("all-gather", 50, {}).integer(26, 7)}))
          .message(3, computation("all-reduce-scatter.1", 6, 60,
                                  {made("all-reduce", 60, {}).integer(26, 8)}))
          .take();
  const auto found = collectives_of(hlo);
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(found->size(), 2u);
  EXPECT_EQ(found->at("all-gather").times, 5);
  EXPECT_EQ(found->at("all-gather").bytes, 5 * 32);
  EXPECT_EQ(found->at("reduce-scatter").times, 5);
  EXPECT_EQ(found->at("reduce-scatter").bytes, 5 * 32);
  for (std::size_t i = 0; i < hlo.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = hlo;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      (void)collectives_of(damaged);
    }
}

TEST(Collectives, OfAnyBytesAreFoundOrRefused) {
  const std::string hlo = module({instruction("all-reduce", array(11, {8, 1024}))});
  for (std::size_t n = 0; n < hlo.size(); ++n) (void)collectives_of(hlo.substr(0, n));
  for (std::size_t i = 0; i < hlo.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = hlo;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      auto found = collectives_of(damaged);
      if (!found) EXPECT_EQ(found.status().code(), Code::corrupt);
    }
  EXPECT_FALSE(
      collectives_of(module({instruction("all-reduce", array(11, {std::int64_t{1} << 60}))})).ok());
}

}  // namespace
}  // namespace strata::runtime::plugin
