#include "strata/data/format/array_record.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "strata/base/file.h"
#include "strata/data/compression/block.h"
#include "strata/data/compression/stream.h"
#include "strata/data/compression/zstd.h"
#include "strata/data/format/riegeli/highway_hash.h"

namespace strata::data {
namespace {

const std::string kData = (std::filesystem::path(__FILE__).parent_path() / "testdata/").string();

std::string file(const std::string& name) { return ::testing::TempDir() + name; }

/// A golden, which is stored compressed: most of such a file is zeros.
std::string golden(const std::string& name) {
  const std::string packed = read_file(kData + name + ".array_record.gz").value();
  return unpack(packed, *compression_named("gzip"), name, 1 << 24).value();
}

/// As tools/goldens/data_formats.py makes them.
std::vector<std::string> golden_records() {
  std::vector<std::string> out;
  for (int i = 0; i < 40; ++i) {
    out.emplace_back();
    for (int j = 0; j < i * 13; ++j) out.back() += static_cast<char>((i * 7 + j) % 251);
  }
  return out;
}

std::vector<std::string> all_of(RecordScanner& reader) {
  std::vector<std::string> out;
  const Status s = each_record(reader, [&](std::string_view r) { out.emplace_back(r); });
  EXPECT_TRUE(s.ok()) << s.message();
  return out;
}

std::string written(const std::vector<std::string>& records, const ArrayRecordOptions& o) {
  const std::string path = file("written.array_record");
  auto writer = ArrayRecordWriter::create(path, o).value();
  for (const std::string& r : records) EXPECT_TRUE(writer->add(r).ok());
  EXPECT_TRUE(writer->close().ok());
  return read_file(path).value();
}

TEST(HighwayHash, equals_the_slow_one_at_every_length) {
  std::string bytes;
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(riegeli_hash(bytes), riegeli_hash_by_words(bytes)) << i;
    const std::string other = bytes.substr(bytes.size() / 3);
    EXPECT_EQ(riegeli_hashes(other, bytes),
              std::pair(riegeli_hash_by_words(other), riegeli_hash_by_words(bytes)));
    bytes += static_cast<char>(i * 37);
  }
}

TEST(ZstdStored, is_what_unpacking_gives) {
  std::mt19937 random(1);
  int found = 0;
  for (std::size_t n = 0; n < 700; n += n < 300 ? 1 : 17) {
    std::string bytes(n, '\0'), frame, unpacked;
    for (char& c : bytes) c = static_cast<char>(random());
    pack_block(BlockCompression::zstd, bytes, frame);
    const auto stored = zstd_stored(frame);
    found += stored.has_value();
    EXPECT_EQ(stored.value_or(bytes), bytes) << n;
    for (int i = 0; i < 40; ++i) {
      std::string changed = frame;
      if (i > 0) changed[random() % std::min<std::size_t>(frame.size(), 12)] ^= 1 << random() % 8;
      if (i % 4 == 3) changed.resize(random() % changed.size());
      const auto held = zstd_stored(changed);
      if (!held) continue;
      unpacked.clear();
      EXPECT_TRUE(
          unpack_block(BlockCompression::zstd, changed, held->size(), "frame", unpacked).ok());
      EXPECT_EQ(unpacked, *held);
    }
  }
  EXPECT_GT(found, 250);
}

TEST(ArrayRecord, reads_what_the_original_wrote) {
  for (const char* name : {"plain", "group", "zstd", "brotli", "snappy"}) {
    const std::string bytes = golden(name);
    auto opened = ArrayRecordFile::of(bytes, name);
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    const auto& f = **opened;
    const auto expected = golden_records();
    ASSERT_EQ(f.size(), std::ssize(expected));
    for (std::int64_t i = f.size() - 1; i >= 0; --i)
      EXPECT_EQ(f.read(i).value(), expected[static_cast<std::size_t>(i)]) << name << " " << i;
    ArrayRecordReader reader(*opened);
    EXPECT_EQ(all_of(reader), expected) << name;
  }
}

TEST(ArrayRecord, writes_the_bytes_of_the_original) {
  using enum BlockCompression;
  EXPECT_EQ(written(golden_records(), {1, none}), golden("plain"));
  EXPECT_EQ(written(golden_records(), {7, none}), golden("group"));
}

TEST(ArrayRecord, records_at_the_edges_of_blocks) {
  // Every distance between the end of a record and the next block header, and records over several.
  for (std::int64_t size : {65536 - 24 - 64 - 43 - 1, 65536, 3 * 65512}) {
    for (std::int64_t more = -70; more < 70; more += 7) {
      const std::vector<std::string> records = {
          std::string(static_cast<std::size_t>(size + more), 'a'), "", "b",
          std::string(70000, 'c')};
      for (auto how : {BlockCompression::none, BlockCompression::snappy}) {
        const std::string bytes = written(records, {1, how});
        ArrayRecordReader reader(ArrayRecordFile::of(bytes, "edges").value());
        EXPECT_EQ(all_of(reader), records) << size + more;
      }
    }
  }
}

TEST(ArrayRecord, many_records_of_no_bytes) {
  const std::vector<std::string> records(70000);
  const std::string bytes = written(records, {70000, BlockCompression::zstd});
  ArrayRecordReader reader(ArrayRecordFile::of(bytes, "empty").value());
  EXPECT_EQ(all_of(reader).size(), records.size());
  const std::string none = written({}, {});
  EXPECT_EQ(none.size(), 131072u);
  EXPECT_EQ(ArrayRecordFile::of(none, "none").value()->size(), 0);
}

/// The number of records that can be read; every one is right.
std::size_t right_of(std::string_view bytes, bool& failed) {
  static const auto expected = golden_records();
  auto opened = ArrayRecordFile::of(bytes, "damaged");
  failed = !opened.ok();
  if (failed) return 0;
  ArrayRecordReader reader(*opened);
  std::size_t right = 0;
  std::string_view record;
  for (int i = 0; i < 1000; ++i) {
    auto more = reader.next(record);
    if (!more) {
      failed = true;
      continue;
    }
    if (!*more) return right;
    EXPECT_NE(std::find(expected.begin(), expected.end(), record), expected.end());
    ++right;
  }
  ADD_FAILURE() << "the reader never ends";
  return right;
}

TEST(ArrayRecord, every_flipped_bit_is_found) {
  for (const char* name : {"group", "snappy"}) {
    std::string bytes = golden(name);
    bool failed = false;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      // Of the zeros that fill the file every 997th.
      if (bytes[i] == 0 && i % 997 != 0 && i > 200) continue;
      if (i > 4096 && i < 65536 && i % 7 != 0) continue;
      bytes[i] = static_cast<char>(bytes[i] ^ (1 << i % 8));
      right_of(bytes, failed);
      EXPECT_TRUE(failed) << name << ": byte " << i;
      bytes[i] = static_cast<char>(bytes[i] ^ (1 << i % 8));
    }
  }
}

TEST(ArrayRecord, every_truncation_is_found) {
  const std::string bytes = golden("zstd");
  for (std::size_t n = 0; n < bytes.size(); n += n < 4000 || n > 65400 ? 61 : 1021) {
    const auto opened = ArrayRecordFile::of(std::string_view(bytes).substr(0, n), "short");
    EXPECT_FALSE(opened.ok()) << n;
  }
}

TEST(ArrayRecord, goes_on_behind_a_damaged_chunk) {
  std::string bytes = golden("group");
  bytes[bytes.find("*+,-./0123456789", 2000)] ^= 1;
  bool failed = false;
  const std::size_t right = right_of(bytes, failed);
  EXPECT_TRUE(failed);
  EXPECT_EQ(right, 33u);
}

}  // namespace
}  // namespace strata::data
