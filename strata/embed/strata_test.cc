// The C interface, as far as C++ can call it; tests/installed/model.c is a C program.
#include "strata/embed/strata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <random>
#include <span>
#include <thread>

#include "strata/base/file.h"
#include "strata/type/dtype.h"

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

const fs::path kExports =
    fs::path(__FILE__).parent_path().parent_path() / "ir" / "export" / "testdata";

/// Code and message of an error, which it frees.
struct Failure {
  explicit Failure(strata_error* e) : code(strata_error_code(e)), message(strata_error_message(e)) {
    strata_error_free(e);
  }
  strata_code code;
  std::string message;
};

strata_program* loaded(const std::string& name) {
  strata_program* p = nullptr;
  const Failure f(strata_program_load((kExports / name).c_str(), &p));
  EXPECT_EQ(f.code, STRATA_OK) << f.message;
  return p;
}

strata_program* read(const std::string& text) {
  strata_program* p = nullptr;
  const Failure f(strata_program_read(text.data(), text.size(), "text", &p));
  EXPECT_EQ(f.code, STRATA_OK) << f.message;
  return p;
}

const char* kDouble =
    "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {\n  %y = stablehlo.add %x, %x : "
    "tensor<3xf32>\n  return %y : tensor<3xf32>\n}";
const std::int64_t kThree[] = {3}, kThreeTwo[] = {3, 2}, kSixTwo[] = {6, 2}, kTwo[] = {2};

TEST(C, dtypes_are_those_of_stablehlo) {
  for (int code = 1; code <= strata::kDTypeCount; ++code) {
    const auto dtype = strata::parse_dtype(strata_dtype_name(static_cast<strata_dtype>(code)));
    ASSERT_TRUE(dtype.has_value()) << code;
    EXPECT_EQ(static_cast<int>(*dtype) + 1, code);
    EXPECT_EQ(strata_dtype_size(static_cast<strata_dtype>(code)), strata::byte_width(*dtype));
  }
  EXPECT_STREQ(strata_dtype_name(STRATA_BF16), "bf16");
  EXPECT_STREQ(strata_dtype_name(static_cast<strata_dtype>(31)), "");
  EXPECT_EQ(strata_dtype_size(STRATA_NO_DTYPE), 0u);
}

TEST(C, a_program_tells_its_signature) {
  strata_program* p = loaded("open.jax");
  EXPECT_STREQ(strata_program_name(p), "doubled");
  EXPECT_STREQ(
      strata_program_signature(p),
      "doubled([0]: f32[b,2], [1]: i32[b]) -> ([0]: f32[2*b,2], [1]: i32[b], [2]: f32[2])");
  ASSERT_EQ(strata_program_num_inputs(p), 2u);
  ASSERT_EQ(strata_program_num_outputs(p), 3u);
  const strata_port* x = strata_program_input(p, 0);
  EXPECT_STREQ(x->name, "[0]");
  EXPECT_STREQ(x->type, "f32[b,2]");
  EXPECT_EQ(x->dtype, STRATA_F32);
  EXPECT_THAT(std::vector<std::int64_t>(x->dims, x->dims + x->rank), ElementsAre(-1, 2));
  EXPECT_EQ(strata_program_output(p, 2)->rank, 1);
  EXPECT_EQ(strata_program_input(p, 2), nullptr);
  EXPECT_EQ(strata_program_output(p, 3), nullptr);
  strata_program_free(p);
}

TEST(C, runs_into_arrays_and_into_memory) {
  strata_program* p = loaded("open.jax");
  float x[] = {1, 2, 3, 4, 5, 6};
  std::int32_t ids[] = {10, 20, 30};
  const strata_tensor in[] = {{x, STRATA_F32, 2, kThreeTwo}, {ids, STRATA_I32, 1, kThree}};
  strata_array* arrays[3];
  ASSERT_EQ(strata_program_run(p, in, 2, arrays, 3), nullptr);
  const strata_tensor doubled = strata_array_view(arrays[0]);
  EXPECT_EQ(doubled.rank, 2);
  EXPECT_EQ(doubled.dims[0], 6);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(doubled.data) % 64, 0u);
  EXPECT_EQ(static_cast<float*>(doubled.data)[11], 12);
  EXPECT_THAT(std::span(static_cast<std::int32_t*>(strata_array_view(arrays[1]).data), 3),
              ElementsAre(10, 21, 32));

  float y[12], sums[2];
  std::int32_t moved[3];
  const strata_tensor out[] = {
      {y, STRATA_F32, 2, kSixTwo}, {moved, STRATA_I32, 1, kThree}, {sums, STRATA_F32, 1, kTwo}};
  ASSERT_EQ(strata_program_run_into(p, in, 2, out, 3), nullptr);
  EXPECT_EQ(0, std::memcmp(y, doubled.data, sizeof y));
  EXPECT_THAT(sums, ElementsAre(9, 12));
  strata_program_free(p);  // arrays live on
  EXPECT_EQ(static_cast<float*>(doubled.data)[0], 2);
  for (strata_array* a : arrays) strata_array_free(a);
}

TEST(C, results_may_lie_where_inputs_lie_and_be_inputs) {
  strata_program* p = read(kDouble);
  float x[] = {1, 2, 3};
  const strata_tensor t = {x, STRATA_F32, 1, kThree};
  ASSERT_EQ(strata_program_run_into(p, &t, 1, &t, 1), nullptr);
  EXPECT_THAT(x, ElementsAre(2, 4, 6));
  strata_array *once, *twice;
  ASSERT_EQ(strata_program_run(p, &t, 1, &once, 1), nullptr);
  const strata_tensor again = strata_array_view(once);
  ASSERT_EQ(strata_program_run(p, &again, 1, &twice, 1), nullptr);
  EXPECT_THAT(std::span(static_cast<float*>(strata_array_view(twice).data), 3),
              ElementsAre(8, 16, 24));
  strata_array_free(once);
  strata_array_free(twice);
  strata_program_free(p);
}

TEST(C, reads_memory_of_any_alignment) {
  strata_program* p = read(kDouble);
  alignas(64) char bytes[80];
  for (int offset : {0, 1, 2, 4, 7}) {
    const float x[] = {1, 2, 3};
    std::memcpy(bytes + offset, x, sizeof x);
    const strata_tensor in = {bytes + offset, STRATA_F32, 1, kThree},
                        out = {bytes + offset + 3, STRATA_F32, 1, kThree};
    ASSERT_EQ(strata_program_run_into(p, &in, 1, &out, 1), nullptr);
    float y[3];
    std::memcpy(y, bytes + offset + 3, sizeof y);
    EXPECT_THAT(y, ElementsAre(2, 4, 6));
  }
  strata_program_free(p);
}

TEST(C, a_result_is_never_an_input_itself) {
  strata_program* p =
      read("func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> { return %x : tensor<3xf32> }");
  alignas(64) float x[] = {1, 2, 3};
  const strata_tensor in = {x, STRATA_F32, 1, kThree};
  strata_array* out;
  ASSERT_EQ(strata_program_run(p, &in, 1, &out, 1), nullptr);
  EXPECT_NE(strata_array_view(out).data, x);
  strata_array_free(out);
  strata_program_free(p);
}

TEST(C, compiles_ahead) {
  strata_program* fixed = read(kDouble);
  EXPECT_EQ(strata_program_compile(fixed, nullptr, 0), nullptr);
  strata_program_free(fixed);
  strata_program* open = loaded("open.jax");
  const strata_tensor in[] = {{nullptr, STRATA_F32, 2, kThreeTwo},
                              {nullptr, STRATA_I32, 1, kThree}};
  EXPECT_EQ(strata_program_compile(open, in, 2), nullptr);
  const Failure unsaid(strata_program_compile(open, nullptr, 0));
  EXPECT_EQ(unsaid.code, STRATA_BAD_ARGUMENT);
  EXPECT_THAT(unsaid.message, HasSubstr("input 0 ([0]) is f32[b,2]: say its sizes"));
  strata_program_free(open);
}

TEST(C, mistakes_are_told_and_leave_nothing_behind) {
  strata_program* p = loaded("open.jax");
  float x[6] = {}, y[12], sums[2];
  std::int32_t ids[3] = {};
  const strata_tensor good = {x, STRATA_F32, 2, kThreeTwo}, list = {ids, STRATA_I32, 1, kThree};
  const std::int64_t negative[] = {-3, 2}, huge[] = {std::int64_t{1} << 62, 2}, four[] = {4};
  struct Case {
    strata_tensor first, second;
    std::size_t inputs, outputs;
    const char* says;
  };
  const Case cases[] = {
      {good, list, 1, 3, "1 inputs for doubled("},
      {good, list, 2, 2, "2 outputs for doubled("},
      {{x, STRATA_F64, 2, kThreeTwo}, list, 2, 3, "input 0 ([0]) is f64[3,2], not f32[b,2]"},
      {{x, STRATA_F32, 1, kThree}, list, 2, 3, "input 0 ([0]) is f32[3], not f32[b,2]"},
      {good, {ids, STRATA_I32, 1, four}, 2, 3, "(= 4)"},
      {{x, static_cast<strata_dtype>(77), 2, kThreeTwo}, list, 2, 3, "input 0 has dtype 77"},
      {{x, STRATA_F32, -1, kThreeTwo}, list, 2, 3, "input 0 has rank -1"},
      {{x, STRATA_F32, 2, nullptr}, list, 2, 3, "input 0 has rank 2, but dims is NULL"},
      {{x, STRATA_F32, 2, negative}, list, 2, 3, "input 0 has size -3 in dimension 0"},
      {{x, STRATA_F32, 2, huge}, list, 2, 3, "input 0 is larger than any memory"},
      {{nullptr, STRATA_F32, 2, kThreeTwo}, list, 2, 3, "input 0 (f32[3,2]) has no data"},
  };
  for (const Case& c : cases) {
    const strata_tensor in[] = {c.first, c.second};
    strata_array* out[3] = {reinterpret_cast<strata_array*>(1), nullptr, nullptr};
    const Failure f(strata_program_run(p, in, c.inputs, out, c.outputs));
    EXPECT_EQ(f.code, STRATA_BAD_ARGUMENT) << c.says;
    EXPECT_THAT(f.message, HasSubstr(c.says));
    EXPECT_EQ(out[0], nullptr);
  }
  const strata_tensor in[] = {good, list};
  const strata_tensor small[] = {{y, STRATA_F32, 2, kThreeTwo}, list, {sums, STRATA_F32, 1, kTwo}};
  EXPECT_THAT(Failure(strata_program_run_into(p, in, 2, small, 3)).message,
              HasSubstr("output 0 is f32[6,2], and there is room for f32[3,2]"));
  EXPECT_THAT(Failure(strata_program_run(p, nullptr, 2, nullptr, 3)).message,
              HasSubstr("outputs is NULL"));
  EXPECT_THAT(Failure(strata_program_run_into(p, nullptr, 2, small, 3)).message,
              HasSubstr("inputs is NULL"));
  EXPECT_THAT(Failure(strata_program_run_into(nullptr, in, 2, small, 3)).message,
              HasSubstr("program is NULL"));
  EXPECT_EQ(Failure(strata_set_num_threads(-1)).code, STRATA_BAD_ARGUMENT);
  strata_program_free(p);
}

TEST(C, files_that_are_no_programs) {
  strata_program* p = reinterpret_cast<strata_program*>(1);
  EXPECT_EQ(Failure(strata_program_load("absent.mlir", &p)).code, STRATA_NOT_FOUND);
  EXPECT_EQ(p, nullptr);
  EXPECT_EQ(Failure(strata_program_load(nullptr, &p)).code, STRATA_BAD_ARGUMENT);
  EXPECT_EQ(Failure(strata_program_load("absent.mlir", nullptr)).code, STRATA_BAD_ARGUMENT);
  EXPECT_EQ(Failure(strata_program_load((kExports / "tpu.jax").c_str(), &p)).code,
            STRATA_UNSUPPORTED);
  EXPECT_EQ(Failure(strata_program_read(nullptr, 5, "x", &p)).code, STRATA_BAD_ARGUMENT);
  EXPECT_EQ(Failure(strata_program_read("", 0, nullptr, &p)).code, STRATA_BAD_PROGRAM);
  const Failure f(strata_program_read("func.func @main(", 16, "mine", &p));
  EXPECT_EQ(f.code, STRATA_BAD_PROGRAM);
  EXPECT_THAT(f.message, HasSubstr("mine:1:"));
}

/// Any bytes: an error or a program, never the end of the process.
TEST(C, damaged_exports) {
  const std::string whole = *strata::read_file((kExports / "layer.jax").string());
  std::mt19937 random(1);
  int programs = 0;
  for (int turn = 0; turn < 300; ++turn) {
    std::string bytes = whole;
    if (turn % 3 == 0)
      bytes.resize(random() % bytes.size());
    else
      for (unsigned n = 1 + random() % 4; n > 0; --n)
        bytes[random() % bytes.size()] = static_cast<char>(random());
    strata_program* p = nullptr;
    const Failure f(strata_program_read(bytes.data(), bytes.size(), "damaged", &p));
    EXPECT_EQ(f.code == STRATA_OK, p != nullptr);
    EXPECT_NE(f.code, STRATA_INTERNAL) << f.message;
    programs += p != nullptr;
    strata_program_free(p);
  }
  EXPECT_LT(programs, 300);
}

TEST(C, null_is_freed_and_asked_in_peace) {
  strata_error_free(nullptr);
  strata_program_free(nullptr);
  strata_array_free(nullptr);
  EXPECT_EQ(strata_error_code(nullptr), STRATA_OK);
  EXPECT_STREQ(strata_error_message(nullptr), "");
  EXPECT_STREQ(strata_program_signature(nullptr), "");
  EXPECT_EQ(strata_program_num_inputs(nullptr), 0u);
  EXPECT_EQ(strata_array_view(nullptr).data, nullptr);
}

TEST(C, programs_run_on_many_threads) {
  strata_program* p = loaded("open.jax");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (std::int64_t n = 1; n < 12; ++n) {
        std::vector<float> x(static_cast<std::size_t>(2 * n), static_cast<float>(t)),
            y(2 * x.size()), sums(2);
        std::vector<std::int32_t> ids(static_cast<std::size_t>(n)), moved(ids.size());
        const std::int64_t dims[] = {n, 2}, twice[] = {2 * n, 2};
        const strata_tensor in[] = {{x.data(), STRATA_F32, 2, dims},
                                    {ids.data(), STRATA_I32, 1, dims}};
        const strata_tensor out[] = {{y.data(), STRATA_F32, 2, twice},
                                     {moved.data(), STRATA_I32, 1, dims},
                                     {sums.data(), STRATA_F32, 1, kTwo}};
        EXPECT_EQ(strata_program_run_into(p, in, 2, out, 3), nullptr);
        EXPECT_EQ(sums[0], static_cast<float>(n * t));
        EXPECT_EQ(Failure(strata_program_run_into(p, in, 1, nullptr, 0)).code, STRATA_BAD_ARGUMENT);
      }
    });
  for (std::thread& t : threads) t.join();
  strata_program_free(p);
}

}  // namespace
