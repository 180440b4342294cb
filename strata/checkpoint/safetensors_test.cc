#include "strata/checkpoint/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>

#include "strata/base/file.h"

namespace strata::checkpoint {
namespace {

using testing::HasSubstr;

TensorFile sample() {
  TensorFile file;
  file.tensors.emplace("a", Literal::of<float>({2, 2}, {1, 2, 3, 4}));
  file.tensors.emplace("b.empty", Literal(Type(DType::i64, Shape{0, 3})));
  file.tensors.emplace("c", Literal::scalar<std::int32_t>(-7));
  file.tensors.emplace("d", Literal::of<bool>({3}, {true, false, true}));
  file.tensors.emplace("e.empty too", Literal(Type(DType::f32, Shape{1000, 0})));
  file.metadata["step"] = "12";
  return file;
}

std::string with_header(std::string header, std::string data = "") {
  std::string out(8, '\0');
  std::uint64_t size = header.size();
  std::memcpy(out.data(), &size, 8);
  return out + header + data;
}

std::string refusal(const std::string& bytes) {
  auto file = decode_safetensors(bytes, "x");
  return file.ok() ? "accepted" : file.status().message();
}

TEST(Safetensors, WhatIsWrittenIsRead) {
  auto bytes = encode_safetensors(sample());
  ASSERT_TRUE(bytes.ok());
  auto file = decode_safetensors(*bytes, "x");
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(file->metadata, sample().metadata);
  ASSERT_EQ(file->tensors.size(), 5u);
  for (const auto& [name, tensor] : sample().tensors)
    EXPECT_TRUE(tensor.same_bits(file->tensors.at(name))) << name;
}

// What the package wrote, and what it read in our file: tools/goldens/safetensors_files.py.
const std::string kGoldens = (std::filesystem::path(__FILE__).parent_path() / "testdata").string();

TEST(Safetensors, WhatThePackageWroteIsRead) {
  auto file = read_safetensors(fmt::format("{}/python.safetensors", kGoldens));
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(file->metadata.at("note"), "as the package writes it");
  EXPECT_EQ(file->tensors.size(), 22u);
  for (const auto& [name, tensor] : file->tensors) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(tensor.data());
    for (std::size_t i = 0; i < tensor.bytes(); ++i)
      ASSERT_EQ(bytes[i], (i * 37 + 11) % (tensor.dtype() == DType::i1 ? 2 : 251)) << name;
  }
  EXPECT_EQ(file->tensors.at("types.float8_e5m2").type().to_string(), "tensor<2x3xf8E5M2>");
  EXPECT_EQ(file->tensors.at("empty").type().to_string(), "tensor<0x4xi32>");
  EXPECT_EQ(file->tensors.count("größe"), 1u);
}

TEST(Safetensors, ThePackageReadsWhatWeWrite) {
  auto file = read_safetensors(fmt::format("{}/python.safetensors", kGoldens));
  ASSERT_TRUE(file.ok());
  const std::string ours = *encode_safetensors(*file),
                    left = testing::TempDir() + "strata.safetensors";
  if (auto committed = read_file(fmt::format("{}/strata.safetensors", kGoldens));
      !committed.ok() || *committed != ours) {
    ASSERT_TRUE(write_file_atomic(left, ours).ok());
    FAIL() << "other bytes than the file that the package was asked about; they are in " << left;
  }
  const auto read =
      nlohmann::json::parse(*read_file(fmt::format("{}/read.json", kGoldens))).at("tensors");
  std::uint64_t length = 0;
  std::memcpy(&length, ours.data(), 8);
  const auto header = nlohmann::json::parse(ours.substr(8, length));
  ASSERT_EQ(read.size(), file->tensors.size());
  for (const auto& [name, tensor] : file->tensors) {
    const auto& golden = read.at(name);
    EXPECT_EQ(golden.at("dtype"), header.at(name).at("dtype")) << name;
    EXPECT_EQ(golden.at("shape").get<std::vector<std::int64_t>>(), tensor.shape().sizes()) << name;
    std::string bytes;
    for (std::size_t i = 0; i < tensor.bytes(); ++i)
      bytes += fmt::format("{:02x}", static_cast<unsigned>(tensor.data()[i]));
    EXPECT_EQ(golden.at("data"), bytes) << name;
  }
}

TEST(Safetensors, HeadersAreAligned) {
  auto bytes = encode_safetensors(sample());
  std::uint64_t size = 0;
  std::memcpy(&size, bytes->data(), 8);
  EXPECT_EQ(size % 8, 0u);
}

TEST(Safetensors, FilesAreReplacedWhole) {
  const std::string path = testing::TempDir() + "whole.safetensors";
  ASSERT_TRUE(write_safetensors(path, sample()).ok());
  ASSERT_TRUE(write_safetensors(path, sample()).ok());
  EXPECT_TRUE(read_safetensors(path).ok());
  EXPECT_FALSE(file_exists(path + ".tmp"));
}

TEST(Safetensors, AComplexDoubleHasNoName) {
  TensorFile file;
  file.tensors.emplace("z", Literal(Type(DType::c128, Shape{1})));
  EXPECT_EQ(encode_safetensors(file).status().code(), Code::unsupported);
}

TEST(Safetensors, WrongHeadersAreRefused) {
  EXPECT_THAT(refusal("abc"), HasSubstr("too few"));
  EXPECT_THAT(refusal(std::string(8, '\xff')), HasSubstr("the header says"));
  EXPECT_THAT(refusal(with_header("[]")), HasSubstr("not a JSON object"));
  EXPECT_THAT(refusal(with_header("{\"a\":1}")), HasSubstr("missing"));
  EXPECT_THAT(refusal(with_header(R"({"a":{"dtype":"F99","shape":[],"data_offsets":[0,0]}})")),
              HasSubstr("dtype F99"));
  EXPECT_THAT(refusal(with_header(R"({"__metadata__":{"k":1}})")), HasSubstr("other than text"));
}

TEST(Safetensors, WrongExtentsAreRefused) {
  auto one = [](const std::string& shape, const std::string& offsets) {
    return refusal(with_header(
        R"({"a":{"dtype":"F32","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}",
        std::string(8, 'x')));
  };
  EXPECT_EQ(one("[2]", "[0,8]"), "accepted");
  EXPECT_THAT(one("[3]", "[0,12]"), HasSubstr("larger than the file"));
  EXPECT_THAT(one("[2]", "[0,4]"), HasSubstr("do not match"));
  EXPECT_THAT(one("[2]", "[8,0]"), HasSubstr("do not match"));
  EXPECT_THAT(one("[1]", "[0,4]"), HasSubstr("holes"));
  EXPECT_THAT(one("[-1]", "[0,8]"), HasSubstr("not a number"));
  EXPECT_THAT(one("[4611686018427387904,4]", "[0,0]"), HasSubstr("larger"));
  EXPECT_THAT(one("[0,18446744073709551615]", "[0,0]"), HasSubstr("larger"));
}

TEST(Safetensors, OverlappingTensorsAreRefused) {
  EXPECT_THAT(
      refusal(with_header(
          R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}})",
          "123456")),
      HasSubstr("overlap"));
}

TEST(Safetensors, CutAndChangedBytesNeverCrash) {
  const std::string good = *encode_safetensors(sample());
  for (std::size_t n = 0; n < good.size(); ++n)
    EXPECT_FALSE(decode_safetensors(good.substr(0, n), "x").ok()) << n;
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string bad = good;
    for (int k = 0; k < 1 + i % 3; ++k) bad[random() % bad.size()] = static_cast<char>(random());
    (void)decode_safetensors(bad, "x").ok();  // any answer but a crash or an exception
  }
}

TEST(SafetensorsFile, TensorsAreReadOneByOne) {
  const std::string path = testing::TempDir() + "one_by_one.safetensors";
  ASSERT_TRUE(write_safetensors(path, sample()).ok());
  const auto file = SafetensorsFile::open(path);
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(file->metadata(), sample().metadata);
  EXPECT_EQ(file->tensors().size(), 5u);
  EXPECT_EQ(file->tensors().at("a").type.to_string(), "tensor<2x2xf32>");
  for (const auto& [name, tensor] : sample().tensors)
    for (int again = 0; again < 2; ++again)
      EXPECT_TRUE(file->read(name)->same_bits(tensor)) << name;
  EXPECT_EQ(file->read("none").status().code(), Code::not_found);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  EXPECT_EQ(SafetensorsFile::open(path).status().code(), Code::corrupt);
  std::filesystem::remove(path);
  EXPECT_EQ(SafetensorsFile::open(path).status().code(), Code::not_found);
}

}  // namespace
}  // namespace strata::checkpoint
