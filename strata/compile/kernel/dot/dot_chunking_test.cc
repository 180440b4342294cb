// Losses over a vocabulary, chunked by rows (pass/dot/dot_chunking.h): what JAX writes for them
// (testdata/cross_entropy) is found in every spelling, gives the bits of the program that holds all
// logits, and near misses are left alone.
#include "strata/pass/dot/dot_chunking.h"

#include <filesystem>
#include <map>

#include "strata/base/file.h"
#include "strata/compile/compile_testing.h"
#include "strata/compile/fuse/fuse.h"
#include "strata/ir/pass/pass.h"
#include "strata/ir/text/parser.h"
#include "strata/op/linalg/dot_general.h"

namespace strata::compile {
namespace {

namespace fs = std::filesystem;
using ir::Block;
using ir::Builder;
using ir::Value;

/// So that 128 rows of 96 words are many.
constexpr pass::ChunkOptions kSmall{.large = 16 << 10, .chunk = 8 << 10, .rows = 32};

std::vector<fs::path> programs(const std::string& prefix) {
  std::vector<fs::path> out;
  for (const auto& file : fs::directory_iterator(
           fs::path(__FILE__).parent_path().parent_path().parent_path() / "testdata/cross_entropy"))
    if (file.path().filename().string().rfind(prefix, 0) == 0) out.push_back(file.path());
  std::sort(out.begin(), out.end());
  return out;
}

std::unique_ptr<Block> prepared(const fs::path& path) {
  auto module = ir::parse(*read_file(path.string()), path.filename().string());
  ir::inline_calls(**module);
  return prepare((*module)->entry()->body);
}

bool has_scan(const Block& block) {
  bool found = false;
  ir::walk(block, [&](const ir::Op& op) { found |= op.name() == "strata.scan"; });
  return found;
}

/// Bytes of the largest value that a block leaves in memory, outside of loops.
std::size_t largest(const Block& block) {
  std::size_t most = 0;
  auto fusion = fuse(block);
  for (const Group& g : fusion.groups)
    for (const Value* v : g.outputs) most = std::max(most, v->type().bytes());
  return most;
}

TEST(RowChunks, EverySpellingIsChunkedAndKeepsItsBits) {
  std::vector<fs::path> all = programs("match_");
  ASSERT_GE(all.size(), 54u);
  for (const fs::path& path : all) {
    SCOPED_TRACE(path.filename().string());
    auto whole = prepared(path), chunked = ir::clone(*whole);
    std::vector<std::string> said = pass::chunk_dots(*chunked, kSmall);
    ASSERT_GE(said.size(), 1u);
    for (const std::string& line : said) EXPECT_EQ(line.rfind("chunked: ", 0), 0u) << line;
    ir::remove_dead(*chunked);
    EXPECT_TRUE(has_scan(*chunked));
    std::vector<Literal> arguments = testing::arguments_of(*whole);
    const std::vector<Literal> reference = op::evaluate(*whole, arguments),
                               want = testing::run_compiled(*whole, arguments);
    testing::expect_same_bits(op::evaluate(*chunked, arguments), reference, "reference");
    const bool f32 = path.filename().string().find("_f32") != std::string::npos;
    if (f32)
      testing::expect_same_bits(want, reference,
                                "machine code of all rows");  // of bf16: docs/exceptions.md
    for (int threads : f32 ? std::vector{1, 3} : std::vector{2}) {
      set_num_threads(threads);
      testing::expect_same_bits(testing::run_compiled(*chunked, arguments), want,
                                fmt::format("machine code, {} threads", threads));
    }
    set_num_threads(0);
  }
}

TEST(RowChunks, LogitsOfAllRowsAreNeverInMemory) {
  for (const fs::path& path : programs("match_")) {
    SCOPED_TRACE(path.filename().string());
    auto whole = prepared(path), chunked = ir::clone(*whole);
    pass::chunk_dots(*chunked, kSmall);
    ir::remove_dead(*chunked);
    const Shape &x = whole->argument_values()[0]->shape(),
                &w = whole->argument_values()[1]->shape();
    const auto logits = static_cast<std::size_t>(x[0] * x[1] * w[1] * 2);
    EXPECT_GE(largest(*whole), logits);
    EXPECT_LT(largest(*chunked), logits);
    EXPECT_LT(make_plan(*chunked, {}, testing::v3()).arena_bytes,
              make_plan(*whole, {}, testing::v3()).arena_bytes);
  }
}

TEST(RowChunks, SumsOverManyRowsKeepTheirDigits) {
  constexpr std::int64_t kRows = 65536, kWords = 32;
  ir::Block block;
  ir::Builder b(block);
  ir::Value *x = block.add_argument(Type(DType::f32, {kRows, 4})),
            *w = block.add_argument(Type(DType::f32, {4, kWords}));
  ir::Value* e = op::exp(b, op::dot_general(b, x, w, {{}, {}, {1}, {0}}));
  ir::Value* sums = op::broadcast_in_dim(b, op::reduce_sum(b, e, {1}), e->shape(), {0});
  block.results = {op::dot_general(b, x, op::div(b, e, sums), {{}, {}, {0}, {0}})};
  auto chunked = ir::clone(block);
  std::vector<Literal> given;
  for (const auto& a : block.arguments()) {
    given.emplace_back(a->type());
    for (float& v : given.back().mutable_span<float>()) v = .1f;
  }
  pass::chunk_dots(*chunked, {.large = 16 << 10, .chunk = 64 << 10, .rows = 512});
  ir::remove_dead(*chunked);
  EXPECT_TRUE(has_scan(*chunked));
  const std::vector<Literal> want = op::evaluate(*chunked, given);
  testing::expect_same_bits(testing::run_compiled(*chunked, given), want, "machine code");
  for (float y : want[0].span<float>())
    EXPECT_NEAR(y, static_cast<double>(.1f) * kRows / kWords, 205 * 4e-6);
}

TEST(RowChunks, NearMissesAreLeftAloneAndSaidWhy) {
  const std::map<std::string, std::string> why{
      {"miss_centred_f32.mlir", "reduce is where rows meet"},
      {"miss_columns_f32.mlir", "reduce is where rows meet"},
      {"miss_gram_f32.mlir", "dot_general takes rows in two ways"},
      {"miss_over_rows_f32.mlir", "reduce is where rows meet"},
      {"miss_returned_f32.mlir", "is also a result"},
      {"miss_squared_f32.mlir", "reduce is where rows meet"},
      {"miss_summed_up_f32.mlir", "cumulative reads it whole"},
      {"miss_turned_f32.mlir", "reverse is where rows meet"}};
  std::vector<fs::path> all = programs("miss_");
  ASSERT_EQ(all.size(), why.size());
  for (const fs::path& path : all) {
    SCOPED_TRACE(path.filename().string());
    auto block = prepared(path);
    std::vector<std::string> said = pass::chunk_dots(*block, kSmall);
    ASSERT_GE(said.size(), 1u);
    for (const std::string& line : said) EXPECT_EQ(line.rfind("not chunked: ", 0), 0u) << line;
    EXPECT_NE(said[0].find(why.at(path.filename().string())), std::string::npos) << said[0];
    EXPECT_FALSE(has_scan(*block));
  }
}

TEST(RowChunks, WhatIsSmallOrHasFewRowsIsLeftAlone) {
  auto block = prepared(programs("match_logsumexp_f32").at(0));
  EXPECT_TRUE(pass::chunk_dots(*block).empty());
  pass::ChunkOptions more_rows = kSmall;
  more_rows.rows = 128;
  std::vector<std::string> said = pass::chunk_dots(*block, more_rows);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].find("too few rows"), std::string::npos) << said[0];
}

/// A product of two parts of the sum, the second of which goes on from the first.
std::unique_ptr<Block> in_two_parts(DType t, std::int64_t m, std::int64_t n, std::int64_t k,
                                    bool across) {
  auto f = std::make_unique<Block>();
  Value* l = f->add_argument(Type(t, across ? Shape{k, m} : Shape{m, k}));
  Value* r = f->add_argument(Type(t, {k, n}));
  Builder b(*f);
  const int along = across ? 0 : 1;
  const op::DotDims dims{{}, {}, {along}, {0}};
  Value* first = op::dot_general(b, op::slice_dim(b, l, along, 0, k / 2),
                                 op::slice_dim(b, r, 0, 0, k / 2), dims, DType::f32);
  f->results = {op::dot_add(b, op::slice_dim(b, l, along, k / 2, k),
                            op::slice_dim(b, r, 0, k / 2, k), first, dims),
                op::dot_general(b, l, r, dims, DType::f32)};
  return f;
}

TEST(DotAdd, PartsAreTheWholeInMachineCode) {
  for (DType t : {DType::f32, DType::bf16})
    for (auto [m, n, k] : {std::array<std::int64_t, 3>{5, 3, 64}, {70, 130, 1280}, {300, 3, 128}})
      for (bool across : {true, false}) {
        auto f = in_two_parts(t, m, n, k, across);
        std::vector<Literal> got = testing::run_compiled(*f, testing::arguments_of(*f));
        testing::expect_same_bits({got[0]}, {got[1]}, fmt::format("{} {}x{}x{}", name(t), m, n, k));
      }
  auto f = in_two_parts(DType::f32, 37, 45, 64, true);
  testing::expect_compiled_equals_reference(*f);
}

}  // namespace
}  // namespace strata::compile
