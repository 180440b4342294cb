#include "strata/data/format/tf_record.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "strata/base/file.h"

namespace strata::data {
namespace {

const std::string kGolden =
    (std::filesystem::path(__FILE__).parent_path() / "testdata/records.tfrecord").string();

std::vector<std::string> golden_records() {
  std::vector<std::string> out;
  for (int i = 0; i < 20; ++i) {
    out.emplace_back();
    for (int j = 0; j < i * 13; ++j) out.back() += static_cast<char>((i * 7 + j) % 251);
  }
  return out;
}

/// Reads to the end: the records, and how often it failed.
std::vector<std::string> all_of(RecordScanner& reader, int& failures) {
  std::vector<std::string> out;
  failures = 0;
  for (std::string_view record; failures < 1000;) {
    auto more = reader.next(record);
    if (!more)
      ++failures;
    else if (!*more)
      return out;
    else
      out.emplace_back(record);
  }
  ADD_FAILURE() << "the reader never ends";
  return out;
}

std::string written(const std::string& name) {
  const std::string path = ::testing::TempDir() + name;
  auto writer = TfRecordWriter::create(path).value();
  for (const std::string& r : golden_records()) EXPECT_TRUE(writer->add(r).ok());
  EXPECT_TRUE(writer->close().ok());
  return path;
}

TEST(TfRecord, reads_and_writes_the_bytes_of_the_original) {
  int failures = 0;
  auto reader = TfRecordReader::open(kGolden).value();
  EXPECT_EQ(all_of(*reader, failures), golden_records());
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(read_file(written("r.tfrecord")).value(), read_file(kGolden).value());
}

TEST(TfRecord, compressed_in_each_way) {
  for (const char* ending : {"", ".gz", ".zst", ".xz", ".bz2"}) {
    int failures = 0;
    auto reader = TfRecordReader::open(written(std::string("r.tfrecord") + ending)).value();
    EXPECT_EQ(all_of(*reader, failures), golden_records()) << ending;
  }
  const std::string bytes = read_file(kGolden).value();
  const std::string zlib = pack(bytes, *compression_named("zlib")).value();
  int failures = 0;
  EXPECT_EQ(all_of(*TfRecordReader::of(zlib, "zlib"), failures), golden_records());
}

TEST(TfRecord, every_flipped_bit_and_every_truncation_is_found) {
  std::string bytes = read_file(kGolden).value();
  const auto expected = golden_records();
  int failures = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(bytes[i] ^ (1 << i % 8));
    const auto read = all_of(*TfRecordReader::of(bytes, "damaged"), failures);
    EXPECT_EQ(failures, 1) << i;
    EXPECT_LT(read.size(), expected.size());
    bytes[i] = static_cast<char>(bytes[i] ^ (1 << i % 8));
  }
  std::size_t end = 0;
  for (std::size_t i = 0, n = 0; n < bytes.size(); ++n) {
    const bool whole = n == end;
    if (whole && i < expected.size()) end += 16 + expected[i++].size();
    const auto read =
        all_of(*TfRecordReader::of(std::string_view(bytes).substr(0, n), "short"), failures);
    EXPECT_EQ(failures, whole ? 0 : 1) << n;
  }
}

TEST(TfRecord, goes_on_behind_a_record_of_wrong_checksum) {
  std::string bytes = read_file(kGolden).value();
  bytes[16 + 12 + 2] ^= 1;
  int failures = 0;
  auto expected = golden_records();
  expected.erase(expected.begin() + 1);
  EXPECT_EQ(all_of(*TfRecordReader::of(bytes, "damaged"), failures), expected);
  EXPECT_EQ(failures, 1);
}

}  // namespace
}  // namespace strata::data
