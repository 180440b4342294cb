// Shuffled batches of records allocate for a batch, never for a record.
#include <gtest/gtest.h>

#include <string>

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

}  // namespace
}  // namespace strata::data
