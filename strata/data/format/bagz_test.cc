#include "strata/data/format/bagz.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "strata/base/file.h"

namespace strata::data {
namespace {

const std::string kData = (std::filesystem::path(__FILE__).parent_path() / "testdata/").string();

std::vector<std::string> golden_records() {
  std::vector<std::string> out;
  for (int i = 0; i < 20; ++i) {
    out.emplace_back();
    for (int j = 0; j < i * 13; ++j) out.back() += static_cast<char>((i * 7 + j) % 251);
  }
  return out;
}

std::string written(const std::string& name) {
  const std::string path = ::testing::TempDir() + name;
  auto writer = BagzWriter::create(path).value();
  for (const std::string& r : golden_records()) EXPECT_TRUE(writer->add(r).ok());
  EXPECT_TRUE(writer->close().ok());
  return path;
}

void expect_golden(const BagzFile& file) {
  const auto expected = golden_records();
  ASSERT_EQ(file.size(), std::ssize(expected));
  for (std::int64_t i = file.size() - 1; i >= 0; --i)
    EXPECT_EQ(file.read(i).value(), expected[static_cast<std::size_t>(i)]) << i;
}

TEST(Bagz, reads_what_the_original_wrote) {
  for (const char* name : {"records.bag", "records.bagz", "apart.bagz"})
    expect_golden(*BagzFile::open(kData + name).value());
}

TEST(Bagz, writes_the_bytes_of_the_original_and_what_it_reads) {
  EXPECT_EQ(read_file(written("r.bag")).value(), read_file(kData + "records.bag").value());
  expect_golden(*BagzFile::open(written("r.bagz")).value());
}

TEST(Bagz, shards_are_read_one_after_the_other) {
  for (int i = 0; i < 3; ++i) written(fmt::format("shards-0000{}-of-00003.bagz", i));
  for (const char* name : {"shards@3.bagz", "shards@*.bagz"}) {
    auto file = BagzFile::open(::testing::TempDir() + name);
    ASSERT_TRUE(file.ok()) << file.status().message();
    EXPECT_EQ((*file)->size(), 60);
    EXPECT_EQ((*file)->read(25).value(), golden_records()[5]);
  }
  EXPECT_EQ(BagzFile::open(::testing::TempDir() + "absent@*.bagz").status().code(),
            Code::not_found);
}

TEST(Bagz, an_empty_file_has_no_records) {
  EXPECT_EQ(BagzFile::of("", true, "empty").value()->size(), 0);
  const std::string path = ::testing::TempDir() + "none.bagz";
  ASSERT_TRUE(BagzWriter::create(path).value()->close().ok());
  EXPECT_EQ(BagzFile::open(path).value()->size(), 0);
}

TEST(Bagz, every_truncation_is_found) {
  const std::string bytes = read_file(kData + "records.bagz").value();
  for (std::size_t n = 1; n < bytes.size(); ++n) {
    auto file = BagzFile::of(std::string_view(bytes).substr(0, n), true, "short");
    bool failed = !file.ok();
    if (!failed)
      for (std::int64_t i = 0; i < (*file)->size(); ++i) failed |= !(*file)->read(i).ok();
    EXPECT_TRUE(failed) << n;
  }
}

TEST(Bagz, flipped_bits_are_found_or_change_records_alone) {
  std::string bytes = read_file(kData + "records.bagz").value();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(bytes[i] ^ (1 << i % 8));
    auto file = BagzFile::of(bytes, true, "damaged");
    if (file)
      for (std::int64_t r = 0; r < (*file)->size(); ++r) (void)(*file)->read(r);
    bytes[i] = static_cast<char>(bytes[i] ^ (1 << i % 8));
  }
}

}  // namespace
}  // namespace strata::data
