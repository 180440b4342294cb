#include "strata/data/format/megatron.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "strata/base/file.h"

namespace strata::data {
namespace {

const std::string kGolden =
    (std::filesystem::path(__FILE__).parent_path() / "testdata/megatron").string();

/// As tools/goldens/data_formats.py makes them.
Literal golden_sequence(std::size_t i) {
  constexpr int kLengths[] = {5, 1, 0, 300, 7};
  std::vector<std::uint16_t> values;
  for (int j = 0; j < kLengths[i]; ++j) values.push_back(static_cast<std::uint16_t>(j * 101));
  return Literal::of({std::ssize(values)}, values);
}

TEST(Megatron, reads_and_writes_the_bytes_of_the_original) {
  auto file = MegatronFile::open(kGolden + ".bin").value();
  ASSERT_EQ(file.size(), 5);
  EXPECT_EQ(file.dtype(), DType::ui16);
  EXPECT_EQ(file.documents(), 3);
  EXPECT_EQ(file.document(1), 2);
  EXPECT_FALSE(file.mode(0).has_value());
  const std::string path = ::testing::TempDir() + "megatron";
  auto writer = MegatronWriter::create(path + ".idx", DType::ui16).value();
  for (std::int64_t i = 0, d = 1; i < file.size(); ++i) {
    EXPECT_TRUE(file.sequence(i).same_bits(golden_sequence(static_cast<std::size_t>(i))));
    ASSERT_TRUE(writer.add(file.sequence(i)).ok());
    if (file.document(d) == i + 1) writer.end_document(), ++d;
  }
  ASSERT_TRUE(writer.close().ok());
  EXPECT_EQ(read_file(path + ".bin").value(), read_file(kGolden + ".bin").value());
  EXPECT_EQ(read_file(path + ".idx").value(), read_file(kGolden + ".idx").value());
}

/// Files of megatron-core's IndexedDatasetBuilder, by tools/goldens/megatron_samples.py; all types
/// and the other way by tools/goldens/megatron_files.py.
TEST(Megatron, writes_the_bytes_that_megatron_core_wrote) {
  const auto folder = std::filesystem::path(__FILE__).parent_path().parent_path() / "testdata";
  for (const char* name : {"a", "b"}) {
    const std::string golden = (folder / "megatron" / name).string(),
                      path = ::testing::TempDir() + "core_" + name;
    const auto file = MegatronFile::open(golden).value();
    auto writer = MegatronWriter::create(path, file.dtype()).value();
    for (std::int64_t i = 0, d = 1; i < file.size(); ++i) {
      ASSERT_TRUE(writer.add(file.sequence(i)).ok());
      if (file.document(d) == i + 1) writer.end_document(), ++d;
    }
    ASSERT_TRUE(writer.close().ok());
    for (const char* ending : {".bin", ".idx"})
      EXPECT_EQ(read_file(path + ending).value(), read_file(golden + ending).value()) << name;
  }
}

TEST(Megatron, every_type_comes_back) {
  for (DType dtype : {DType::ui8, DType::i8, DType::i16, DType::i32, DType::i64, DType::f64,
                      DType::f32, DType::ui16}) {
    const std::string path = ::testing::TempDir() + "typed";
    auto writer = MegatronWriter::create(path, dtype).value();
    const Literal row = Literal::full(Type(dtype, {3}), 7);
    ASSERT_TRUE(writer.add(row).ok());
    ASSERT_TRUE(writer.close().ok());
    EXPECT_TRUE(MegatronFile::open(path).value().sequence(0).same_bits(row));
  }
}

TEST(Megatron, refuses_what_it_has_no_code_for) {
  const std::string path = ::testing::TempDir() + "refused";
  EXPECT_EQ(MegatronWriter::create(path, DType::bf16).status().code(), Code::unsupported);
  auto writer = MegatronWriter::create(path, DType::i32).value();
  EXPECT_EQ(writer.add(Literal::of<float>({1}, {1})).code(), Code::invalid);
}

TEST(Megatron, every_truncation_and_every_size_that_does_not_fit_is_found) {
  const std::string index = read_file(kGolden + ".idx").value(),
                    tokens = read_file(kGolden + ".bin").value();
  for (std::size_t n = 0; n < index.size(); ++n)
    EXPECT_FALSE(MegatronFile::of(std::string_view(index).substr(0, n), tokens, "short").ok()) << n;
  for (std::size_t n = 0; n < tokens.size(); ++n)
    EXPECT_FALSE(MegatronFile::of(index, std::string_view(tokens).substr(0, n), "short").ok()) << n;
  std::string damaged = index;
  for (std::size_t i = 0; i < 8 * index.size(); ++i) {
    auto& byte = damaged[i / 8];
    byte = static_cast<char>(byte ^ (1 << i % 8));
    auto file = MegatronFile::of(damaged, tokens, "damaged");  // found, or read inside of the bytes
    if (file)
      for (std::int64_t s = 0; s < file->size(); ++s) EXPECT_LE(file->sequence(s).bytes(), 626u);
    byte = static_cast<char>(byte ^ (1 << i % 8));
  }
}

}  // namespace
}  // namespace strata::data
