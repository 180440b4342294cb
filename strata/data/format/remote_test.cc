// Files in buckets are read in part: only what is asked for is fetched, and it is what a local file
// gives.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <random>

#include "strata/base/file.h"
#include "strata/base/object_store/object_store.h"
#include "strata/base/partial_file.h"
#include "strata/data/arrow/library.h"
#include "strata/data/format/array_record.h"
#include "strata/data/format/bagz.h"
#include "strata/data/format/elements.h"
#include "strata/data/format/file_source.h"
#include "strata/data/pipeline/pipeline.h"

namespace strata::data {
namespace {

/// A bucket in memory that counts what it gives.
class Bucket : public ObjectStore {
 public:
  Result<ObjectInfo> stat(const std::string& key) override {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(key);
    if (found == objects_.end()) return Status(Code::not_found, "mem://test/{}: no object", key);
    return ObjectInfo{key, found->second.size(), std::to_string(generation_)};
  }
  Result<std::string> read(const std::string& key, const ObjectRange& range) override {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(key);
    if (found == objects_.end() ||
        (!range.generation.empty() && range.generation != std::to_string(generation_)))
      return Status(Code::not_found, "mem://test/{}: no such generation", key);
    if (broken_) return Status(Code::io, "mem://test/{}: the line is dead", key);
    std::string out = found->second.substr(
        std::min<std::size_t>(range.offset, found->second.size()), range.length);
    given_ += out.size();
    ++requests_;
    return out;
  }
  Result<std::string> write(const std::string& key, std::string_view bytes,
                            const std::optional<std::string>&) override {
    const std::lock_guard lock(mutex_);
    objects_[key] = bytes;
    return std::to_string(++generation_);
  }
  Result<std::unique_ptr<ObjectUpload>> upload(const std::string& key) override {
    return Status(Code::unsupported, "{}: no uploads", key);
  }
  Status remove(const std::string& key) override {
    objects_.erase(key);
    return {};
  }
  Result<ObjectListing> list(const std::string&, bool) override { return ObjectListing{}; }

  /// Bytes and requests since the last call.
  std::pair<std::size_t, std::size_t> taken() {
    const std::lock_guard lock(mutex_);
    return {std::exchange(given_, 0), std::exchange(requests_, 0)};
  }
  void set_broken(bool broken) { broken_ = broken; }

 private:
  std::mutex mutex_;
  std::map<std::string, std::string> objects_;
  int generation_ = 0;
  std::size_t given_ = 0, requests_ = 0;
  bool broken_ = false;
};

Bucket& bucket() {
  static const auto store = [] {
    auto made = std::make_shared<Bucket>();
    register_object_store(
        "mem", [made](const std::string&) { return Result<std::shared_ptr<ObjectStore>>(made); });
    return made;
  }();
  return *store;
}

/// 3000 records of about a kilobyte that no compression makes small.
std::vector<std::string> records() {
  std::mt19937 random(5);
  std::vector<std::string> out(3000);
  for (std::string& r : out)
    for (std::size_t i = 0; i < 900 + random() % 200; ++i) r += static_cast<char>(random());
  return out;
}

/// Writes a file, and the same to the bucket; both names.
std::pair<std::string, std::string> both(const std::string& name,
                                         std::unique_ptr<RecordWriter> writer,
                                         const std::vector<std::string>& all) {
  for (const std::string& r : all) EXPECT_TRUE(writer->add(r).ok());
  EXPECT_TRUE(writer->close().ok());
  const std::string path = ::testing::TempDir() + name;
  EXPECT_TRUE(bucket().write(name, read_file(path).value(), {}).ok());
  return {path, "mem://test/" + name};
}

/// Law: a shuffled batch fetches its records, once, and the index at opening; all of them are those
/// of the file on disk.
void expect_parts(const RecordFile& local, const RecordFile& remote, std::size_t index_bytes,
                  std::size_t most_of_record) {
  const auto [opened, open_requests] = bucket().taken();
  EXPECT_LE(opened, index_bytes);
  EXPECT_LE(open_requests, 4u);
  ASSERT_EQ(local.size(), remote.size());
  const std::vector<std::int64_t> some = {7, 2900, 8, 1500, 7, 40, 2222};
  std::vector<Element> want(some.size()), got(some.size());
  ASSERT_TRUE(local.read_many(some, want).ok() && remote.read_many(some, got).ok());
  EXPECT_TRUE(std::ranges::equal(want, got));
  const auto [bytes, requests] = bucket().taken();
  EXPECT_LE(bytes, 6 * most_of_record);
  EXPECT_LE(requests, 6u);
  ASSERT_TRUE(remote.read_many(some, got).ok());
  EXPECT_EQ(bucket().taken().first, 0u);
  EXPECT_EQ(remote.read(1234).value(), local.read(1234).value());
  EXPECT_LE(bucket().taken().first, most_of_record);
  bucket().set_broken(true);
  EXPECT_EQ(remote.read(99).status().code(), Code::io);
  bucket().set_broken(false);
  EXPECT_EQ(remote.read(99).value(), local.read(99).value());
  bucket().taken();
}

TEST(Remote, ShuffledRecordsOfArrayRecordFetchTheirChunks) {
  const auto all = records();
  for (const std::int64_t group : {1, 16}) {
    const std::string name = fmt::format("parts_{}.array_record", group);
    const auto [path, object] =
        both(name, ArrayRecordWriter::create(::testing::TempDir() + name, {group}).value(), all);
    bucket().taken();
    const auto remote = ArrayRecordFile::open(object).value();
    expect_parts(*ArrayRecordFile::open(path).value(), *remote, std::size_t{200} << 10,
                 1200 * static_cast<std::size_t>(group) + 4096);
  }
}

TEST(Remote, ShuffledRecordsOfBagzFetchThemselves) {
  const auto all = records();
  for (const std::string name : {"parts.bagz", "parts.bag"}) {
    const auto [path, object] =
        both(name, BagzWriter::create(::testing::TempDir() + name).value(), all);
    bucket().taken();
    const auto remote = BagzFile::open(object).value();
    expect_parts(*BagzFile::open(path).value(), *remote, 8 * 3000 + 8, 1200 + 4096);
  }
}

/// In order all of the file comes, in large pieces, each once; pipelines do not see the difference.
TEST(Remote, ReadInOrderEachByteComesOnce) {
  const auto all = records();
  const std::string name = "ordered.array_record";
  const auto [path, object] =
      both(name, ArrayRecordWriter::create(::testing::TempDir() + name, {4}).value(), all);
  bucket().taken();
  auto reader = ArrayRecordReader::open(object).value();
  std::size_t n = 0;
  std::string_view record;
  while (reader->next(record).value()) ASSERT_EQ(record, all[n++]);
  EXPECT_EQ(n, all.size());
  const auto [bytes, requests] = bucket().taken();
  EXPECT_LE(bytes, read_file(path)->size());
  EXPECT_LE(requests, 8u);
  const auto batches = [](const std::string& file) {
    return MapDataset::source(open_source(file, {}).value())
        .shuffle(3)
        .batch(16)
        .to_iter_dataset({.num_threads = 3, .prefetch_buffer_size = 8})
        .iterate()
        .take(40);
  };
  EXPECT_TRUE(std::ranges::equal(batches(path), batches(object)));
}

TEST(Remote, BagzInOrderTakesFewRequests) {
  const auto all = records();
  const auto [path, object] =
      both("ordered.bagz", BagzWriter::create(::testing::TempDir() + "ordered.bagz").value(), all);
  bucket().taken();
  auto scanner = open_elements(object).value();
  std::size_t n = 0;
  for (Element e; scanner->next(e).value();) ASSERT_EQ(e.view(), all[n++]);
  EXPECT_EQ(n, all.size());
  const auto [bytes, requests] = bucket().taken();
  EXPECT_LE(bytes, read_file(path)->size());
  EXPECT_LE(requests, 8u);
}

/// The columns of a row group of Parquet, the batch of an Arrow file: what is read by number.
TEST(Remote, RowGroupsOfParquetFetchThemselves) {
  if (!arrow_library().ok()) GTEST_SKIP() << arrow_library().status().message();
  std::mt19937 random(9);
  for (const std::string name : {"parts.parquet", "parts.arrow"}) {
    const std::string path = ::testing::TempDir() + name;
    const auto kind = name.ends_with("parquet") ? kStrataArrowParquet : kStrataArrowFile;
    auto writer = ArrowWriter::create(path, kind, "none", 1000).value();
    for (int i = 0; i < 8000; ++i) {
      std::string noise;
      for (int k = 0; k < 200; ++k) noise += static_cast<char>('a' + random() % 26);
      ASSERT_TRUE(writer->add(Element::dict({{"id", i}, {"text", noise}})).ok());
    }
    ASSERT_TRUE(writer->close().ok());
    const std::string bytes = read_file(path).value();
    ASSERT_TRUE(bucket().write(name, bytes, {}).ok());
    bucket().taken();
    const auto local = ArrowFile::open(path).value(),
               remote = ArrowFile::open("mem://test/" + name).value();
    EXPECT_LE(bucket().taken().first, std::size_t{80} << 10);
    ASSERT_EQ(remote->groups(), 8);
    const auto want = local->read_group(5).value(), got = remote->read_group(5).value();
    EXPECT_LE(bucket().taken().first, bytes.size() / 8 + (std::size_t{64} << 10));
    ASSERT_EQ(got->rows(), want->rows());
    for (std::int64_t r = 0; r < got->rows(); r += 37)
      ASSERT_EQ(got->row(r).value(), want->row(r).value());
    auto scanner = open_elements("mem://test/" + name).value();
    std::int64_t rows = 0;
    for (Element e; scanner->next(e).value(); ++rows) ASSERT_EQ(e.at("id").integer(), rows);
    EXPECT_EQ(rows, 8000);
    bucket().set_broken(true);
    EXPECT_EQ(remote->read_group(2).status().code(), Code::io);
    bucket().set_broken(false);
  }
}

TEST(Remote, AnObjectThatWasWrittenSinceIsRefused) {
  EXPECT_TRUE(bucket().write("x", "0123456789", {}).ok());
  const auto file = PartialFile::open("mem://test/x").value();
  ASSERT_TRUE(file->need(2, 3).ok());
  EXPECT_EQ(file->bytes().substr(2, 3), "234");
  EXPECT_TRUE(bucket().write("x", "9876543210", {}).ok());
  EXPECT_TRUE(file->need(2, 3).ok());  // there already
  EXPECT_EQ(file->need(8, 100).code(), Code::not_found);
  EXPECT_EQ(PartialFile::open("mem://test/none").status().code(), Code::not_found);
}

/// Law: whatever is needed in whatever order, `bytes` has it, and no byte comes twice but between
/// ranges that were joined.
TEST(Remote, NeededPartsAreThere) {
  std::mt19937 random(7);
  std::string all;
  for (int i = 0; i < 200000; ++i) all += static_cast<char>(random());
  EXPECT_TRUE(bucket().write("y", all, {}).ok());
  for (int round = 0; round < 30; ++round) {
    const auto file = PartialFile::open("mem://test/y").value();
    bucket().taken();
    for (int i = 0; i < 20; ++i) {
      std::vector<PartialFile::Range> ranges(1 + random() % 6);
      for (auto& r : ranges) r = {random() % 210000, random() % 9000};
      ASSERT_TRUE(file->need(ranges).ok());
      for (const auto& r : ranges) {
        const std::size_t begin = std::min<std::size_t>(r.offset, all.size());
        ASSERT_EQ(file->bytes().substr(begin, r.length), all.substr(begin, r.length));
      }
    }
    EXPECT_LE(bucket().taken().first, all.size() * 5 / 4);
  }
}

}  // namespace
}  // namespace strata::data
