// Arrays to safetensors files and back: every dtype that the format has, of rank 0, empty, and of
// several dimensions; and damaged files.
#include "strata/checkpoint/arrays.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "strata/base/file.h"
#include "strata/checkpoint/safetensors.h"
#include "strata/core.h"

namespace strata::checkpoint {
namespace {

constexpr DType kTypes[] = {
    DType::i1,   DType::i8,   DType::i16,      DType::i32,    DType::i64,      DType::ui8,
    DType::ui16, DType::ui32, DType::ui64,     DType::f16,    DType::bf16,     DType::f32,
    DType::f64,  DType::c64,  DType::f8E4M3FN, DType::f8E5M2, DType::f8E8M0FNU};

std::string temporary(const std::string& name) { return ::testing::TempDir() + name; }

/// An array of bytes that follow each other.
Array patterned(DType dtype, const Shape& shape) {
  Literal out(Type(dtype, shape));
  for (std::size_t i = 0; i < out.bytes(); ++i)
    out.mutable_data()[i] = static_cast<std::byte>((i * 37 + 11) % (dtype == DType::i1 ? 2 : 251));
  return Array(std::move(out));
}

std::map<std::string, Array> of_every_dtype() {
  std::map<std::string, Array> out;
  for (DType dtype : kTypes) {
    const std::string name(strata::name(dtype));
    out.emplace(name, patterned(dtype, Shape{2, 3}));
    out.emplace(name + " number", patterned(dtype, Shape{}));
    out.emplace(name + " empty", patterned(dtype, Shape{3, 0}));
  }
  return out;
}

void expect_same(const std::map<std::string, Array>& got,
                 const std::map<std::string, Array>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (const auto& [name, x] : want) {
    ASSERT_TRUE(got.contains(name)) << name;
    EXPECT_EQ(got.at(name).literal().type(), x.literal().type()) << name;
    EXPECT_TRUE(got.at(name).literal().same_bits(x.literal())) << name;
    EXPECT_FALSE(got.at(name).weak()) << name;
  }
}

TEST(SafetensorsOfArrays, EveryDTypeComesBack) {
  const EnableX64 wide;
  const std::string path = temporary("every.safetensors");
  const auto arrays = of_every_dtype();
  ASSERT_TRUE(save_file(arrays, path, {{"step", "3"}}).ok());
  auto again = load_file(path);
  ASSERT_TRUE(again.ok()) << again.status().message();
  expect_same(*again, arrays);
  EXPECT_EQ(read_safetensors(path)->metadata.at("step"), "3");
}

TEST(SafetensorsOfArrays, WideOnesAreNarrowedWhereX64IsOff) {
  const std::string path = temporary("wide.safetensors");
  {
    const EnableX64 wide;
    ASSERT_TRUE(save_file({{"f", numpy::asarray(std::vector<double>{0.5, -2})},
                           {"i", numpy::asarray(std::vector<std::int64_t>{7})}},
                          path)
                    .ok());
  }
  auto arrays = load_file(path);
  ASSERT_TRUE(arrays.ok());
  EXPECT_EQ(arrays->at("f").dtype(), DType::f32);
  EXPECT_EQ(arrays->at("f").to_vector<float>(), (std::vector<float>{0.5f, -2}));
  EXPECT_EQ(arrays->at("i").dtype(), DType::i32);
}

TEST(SafetensorsOfArrays, ScalarsAndViewsAreWrittenAsArrays) {
  const std::string path = temporary("views.safetensors");
  const Array x = numpy::arange(6).reshape({2, 3});
  ASSERT_TRUE(save_file({{"turned", x.T()}, {"number", Array(2.5)}}, path).ok());
  auto arrays = load_file(path);
  ASSERT_TRUE(arrays.ok());
  EXPECT_EQ(arrays->at("turned").to_vector<int>(), (std::vector<int>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(arrays->at("number").dtype(), DType::f32);
  EXPECT_EQ(arrays->at("number").item<float>(), 2.5f);
}

TEST(SafetensorsOfArrays, WhatTheFormatHasNoNameForIsNotWritten) {
  const EnableX64 wide;
  const std::string path = temporary("none.safetensors");
  std::filesystem::remove(path);
  EXPECT_EQ(save_file({{"z", patterned(DType::c128, Shape{2})}}, path).code(), Code::unsupported);
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_THROW((void)jit([&](Array x) {
                 (void)save_file({{"x", x}}, path);
                 return x;
               })(1.0f),
               Error);
}

TEST(SafetensorsOfArrays, DamageIsSeen) {
  const std::string path = temporary("damaged.safetensors");
  ASSERT_TRUE(
      save_file({{"mask", numpy::array({true, false})}, {"w", patterned(DType::f32, Shape{2, 2})}},
                path)
          .ok());
  const std::string bytes = *read_file(path);
  auto code = [&](const std::string& changed) {
    EXPECT_TRUE(write_file_atomic(path, changed).ok());
    return load_file(path).status().code();
  };
  EXPECT_EQ(code(bytes), Code::ok);
  for (std::size_t size = 0; size < bytes.size(); size += 5)
    EXPECT_EQ(code(bytes.substr(0, size)), Code::corrupt) << size;
  EXPECT_EQ(code(bytes + "x"), Code::corrupt) << "a byte more";
  std::string neither = bytes;
  neither[bytes.size() - 18] = 7;  // the first of two booleans, before four floats
  EXPECT_EQ(code(neither), Code::corrupt) << "neither true nor false";
  EXPECT_EQ(load_file(temporary("no such file")).status().code(), Code::not_found);
}

}  // namespace
}  // namespace strata::checkpoint
