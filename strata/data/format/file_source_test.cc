#include "strata/data/format/file_source.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "strata/base/file.h"

namespace strata::data {
namespace {

const std::string kData = (std::filesystem::path(__FILE__).parent_path() / "testdata/").string();

std::string golden_record(std::int64_t i) {
  std::string out;
  for (int j = 0; j < i * 13; ++j) out += static_cast<char>((i * 7 + j) % 251);
  return out;
}

std::string file(const std::string& name) { return ::testing::TempDir() + name; }

TEST(FileSource, finds_records_by_number) {
  auto bagz = open_source(kData + "records.bagz", {}).value();
  EXPECT_EQ(bagz->size(), 20);
  EXPECT_EQ(bagz->read(11)->view(), golden_record(11));
  EXPECT_EQ(bagz->name(), "BagzDataSource(paths=['" + kData + "records.bagz'])");
  ConvertOptions raw;
  raw.options.records = "raw";
  ASSERT_TRUE(convert_elements(kData + "records.bagz", file("s.array_record"), raw).ok());
  auto array = open_source(file("s.array_record"), {}).value();
  for (std::int64_t i : {19, 3, 0}) EXPECT_EQ(array->read(i)->view(), golden_record(i));
  EXPECT_EQ(open_source(kData + "mds_zstd", {}).value()->read(4)->at("text").view(), "Zeile 4 é");
  EXPECT_EQ(open_source(kData + "megatron.idx", {}).value()->read(3)->array().count(), 300);
  EXPECT_EQ(open_source(kData + "records.tfrecord", {}).status().code(), Code::unsupported);
  RecordProperty("api", "grain.sources.ArrayRecordDataSource");
}

TEST(FileSource, damaged_records_by_policy) {
  ConvertOptions raw;
  raw.options = {.records = "raw", .compression = "none"};
  ASSERT_TRUE(convert_elements(kData + "records.bagz", file("p.array_record"), raw).ok());
  std::string bytes = read_file(file("p.array_record")).value();
  bytes[bytes.find(golden_record(7))] ^= 1;
  ASSERT_TRUE(write_file_atomic(file("p.array_record"), bytes).ok());
  EXPECT_EQ(open_source(file("p.array_record"), {}).value()->read(7).status().code(),
            Code::corrupt);
  std::filesystem::remove_all(file("aside"));
  auto source = open_source(file("p.array_record"), {.damage = DamagePolicy::quarantine,
                                                     .quarantine_folder = file("aside")})
                    .value();
  EXPECT_TRUE(source->read(7)->is_none());
  EXPECT_EQ(source->read(8)->view(), golden_record(8));
  EXPECT_EQ(source->skipped(), 1);
  EXPECT_NE(read_file(file("aside/damaged.jsonl"))->find("wrong checksum"), std::string::npos);
}

/// Reads all, and from the state behind every record the rest.
void expect_restores(const RecordStream& stream) {
  auto reader = stream.open().value();
  std::vector<Element> all;
  std::vector<std::string> states;
  for (Element e; reader->next(e).value(); states.push_back(reader->state())) all.push_back(e);
  ASSERT_EQ(all.size(), 20u);
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto again = stream.open().value();
    ASSERT_TRUE(again->set_state(states[i]).ok());
    EXPECT_EQ(again->state(), states[i]);
    Element e;
    for (std::size_t k = i + 1; k < all.size(); ++k) {
      ASSERT_TRUE(again->next(e).value());
      EXPECT_EQ(e, all[k]);
    }
    EXPECT_FALSE(again->next(e).value());
  }
  for (const char* bad :
       {"", "{}", "{\"next_index\": -1}", "{\"reader_offset\": 99999}", "{\"next_index\": 99999}"})
    EXPECT_FALSE(stream.open().value()->set_state(bad).ok()) << bad;
}

TEST(FileStream, states_restore_at_every_record) {
  expect_restores(*open_stream(kData + "records.tfrecord", {}).value());
  ConvertOptions raw;
  raw.options.records = "raw";
  for (const char* name : {"s.tfrecord.gz", "s.jsonl.zst", "s.tar"}) {
    ASSERT_TRUE(convert_elements(kData + "records.bagz", file(name), raw).ok());
    expect_restores(*open_stream(file(name), {}).value());
  }
  RecordProperty("api", "grain.experimental.TFRecordIterDataset");
}

TEST(FileStream, passes_over_damaged_records_or_fails_for_good) {
  std::string bytes = read_file(kData + "records.tfrecord").value();
  bytes[16 + 12] ^= 1;  // of the first record that has bytes
  ASSERT_TRUE(write_file_atomic(file("d.tfrecord"), bytes).ok());
  auto reader = open_stream(file("d.tfrecord"), {}).value()->open().value();
  Element e;
  EXPECT_TRUE(reader->next(e).value());
  EXPECT_EQ(reader->next(e).status().code(), Code::corrupt);
  EXPECT_EQ(reader->next(e).status().code(), Code::corrupt);
  reader = open_stream(file("d.tfrecord"), {.damage = DamagePolicy::skip}).value()->open().value();
  int count = 0;
  while (reader->next(e).value()) ++count;
  EXPECT_EQ(count, 19);
}

}  // namespace
}  // namespace strata::data
