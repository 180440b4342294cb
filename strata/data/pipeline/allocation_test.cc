// Shuffled batches of records allocate for a batch, never for a record.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "strata/base/testing/allocations.h"
#include "strata/data/format/array_record.h"
#include "strata/data/format/bagz.h"
#include "strata/data/format/file_source.h"
#include "strata/data/pipeline/pipeline.h"

namespace strata::data {
namespace {

/// Allocations of reading ten batches of so many records, once all scratch has its size.
std::size_t of_ten_batches(const std::string& path, std::int64_t batch) {
  auto source = open_source(path, {}).value();
  auto iterator = MapDataset::source(source)
                      .seed(42)
                      .shuffle()
                      .repeat()
                      .batch(batch)
                      .to_iter_dataset()
                      .iterate();
  Element out;
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(iterator.next(out).value());
  const std::size_t before = allocations();
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(iterator.next(out).value());
  const std::size_t made = allocations() - before;
  EXPECT_EQ(out.strings().shape[0], batch);
  return made;
}

void write(RecordWriter& writer) {
  for (int i = 0; i < 4096; ++i)
    ASSERT_TRUE(writer.add(std::string(100, static_cast<char>('a' + i % 26))).ok());
  ASSERT_TRUE(writer.close().ok());
}

TEST(PipelineAllocations, NoneForEachRecord) {
  const std::string array = ::testing::TempDir() + "allocations.array_record";
  const std::string bag = ::testing::TempDir() + "allocations.bag";
  write(*ArrayRecordWriter::create(array, {1, BlockCompression::none}).value());
  write(*BagzWriter::create(bag).value());
  for (const std::string& path : {array, bag}) {
    // A block grows by doubling, so what many records add over few is a handful a batch.
    const std::size_t few = of_ten_batches(path, 32), many = of_ten_batches(path, 1024);
    EXPECT_LE(few, 200u) << path;
    EXPECT_LE(many, few + 150) << path;
  }
}

/// Uncompressed records, compressed ones, and records that an ArrayRecord block header splits.
TEST(PipelineAllocations, SeveralAtOnceAreEachAlone) {
  std::vector<std::string> paths;
  for (std::int64_t group : {1, 7})
    for (BlockCompression how : {BlockCompression::none, BlockCompression::zstd}) {
      paths.push_back(::testing::TempDir() + "several" + std::to_string(paths.size()) +
                      ".array_record");
      write(*ArrayRecordWriter::create(paths.back(), {group, how}).value());
    }
  for (const char* name : {"several.bag", "several.bagz"}) {
    paths.push_back(::testing::TempDir() + name);
    write(*BagzWriter::create(paths.back()).value());
  }
  for (const std::string& path : paths) {
    auto source = open_source(path, {}).value();
    std::vector<std::int64_t> indices;
    for (std::int64_t i = 0; i < source->size(); ++i) indices.push_back(i * 1237 % source->size());
    std::vector<Element> out(indices.size());
    ASSERT_TRUE(source->read_many(indices, out).ok()) << path;
    source = nullptr;  // elements keep alive what they view
    for (std::size_t i = 0; i < out.size(); ++i)
      ASSERT_EQ(out[i].view(), std::string(100, static_cast<char>('a' + indices[i] % 26))) << path;
  }
}

}  // namespace
}  // namespace strata::data
