// What readers take of memory: never what a header claims, and of a long file a part.
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "strata/base/checksum.h"
#include "strata/base/file.h"
#include "strata/base/format/protobuf.h"
#include "strata/base/testing/memory_limit.h"
#include "strata/data/arrow/library.h"
#include "strata/data/compression/stream.h"
#include "strata/data/format/elements.h"
#include "strata/data/format/example.h"
#include "strata/data/format/riegeli/riegeli.h"
#include "strata/data/format/tf_record.h"
#include "strata/data/text_sample.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
namespace strata::data {
namespace {

namespace fs = std::filesystem;

/// Reads all of a file; "" for a sound one, else the first failure.
std::string read_all(const std::string& path, const std::string& format, std::int64_t* records) {
  auto scanner = open_elements(path, format);
  if (!scanner) return scanner.status().message();
  Element e;
  for (int failures = 0; failures < 10;) {
    auto more = (*scanner)->next(e);
    if (!more) return more.status().message();
    if (!*more) return "";
    if (records) ++*records;
  }
  return "";
}

std::string folder() {
  const std::string out = ::testing::TempDir() + "bounded/";
  fs::create_directories(out);
  return out;
}

constexpr std::uint64_t kHuge = std::uint64_t{1} << 40;

template <class T>
std::string raw(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

/// A frame of zstd that says it has 2^40 bytes, in one segment or with a window of 2^31.
std::string huge_zstd() {
  return "\x28\xb5\x2f\xfd\xe0" + raw(kHuge) + std::string("\x05\x00\x00", 3) +
         std::string(40, 'x');
}
std::string wide_zstd() {
  return std::string("\x28\xb5\x2f\xfd\x00\xa8", 6) + std::string("\x05\x00\x00", 3) + "x";
}

/// An xz stream whose block wants a dictionary of 4 GiB.
std::string huge_xz() {
  const auto crc = [](const std::string& bytes) {
    return raw(
        static_cast<std::uint32_t>(::crc32(0, reinterpret_cast<const unsigned char*>(bytes.data()),
                                           static_cast<unsigned>(bytes.size()))));
  };
  const std::string flags("\x00\x04", 2), block("\x02\x00\x21\x01\x28\x00\x00\x00", 8);
  return std::string(
             "\xfd"
             "7zXZ\0",
             6) +
         flags + crc(flags) + block + crc(block) + std::string(64, 'x');
}

std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  return out + static_cast<char>(value);
}

/// An ArrayRecord file with true checksums whose chunk of records and index are given.
std::string array_record(std::uint64_t decoded, const std::string& data,
                         const protobuf::Writer& meta, const protobuf::Writer& entry) {
  riegeli::ChunkWriter chunks;
  chunks.add('s', 0, 0, {});
  chunks.add('r', 3, decoded, data);
  protobuf::Writer head, postscript;
  head.message(1, meta);
  postscript.integer(1, static_cast<std::int64_t>(chunks.position()))
      .integer(2, 0x71930e704fdae05e);
  const auto add = [&](const std::vector<std::string_view>& records) {
    std::uint64_t size = 0;
    for (std::string_view r : records) size += r.size();
    chunks.add('r', records.size(), size, riegeli::simple_data(records, BlockCompression::none));
  };
  add({head.text(), entry.text()});
  chunks.pad();
  add({postscript.text(), postscript.text(), postscript.text()});
  chunks.pad();
  return chunks.bytes;
}

std::vector<std::pair<std::string, std::string>> hostile_array_records() {
  const auto entry = [](std::int64_t size, std::int64_t records) {
    protobuf::Writer out;
    return out.integer(1, 64).integer(2, size).integer(3, records);
  };
  const auto meta = [](std::int64_t chunks, std::int64_t records) {
    protobuf::Writer out;
    return out.integer(1, 1).integer(2, chunks).integer(3, records);
  };
  constexpr std::int64_t kClaimed = (std::int64_t{1} << 31) - 1, kMore = std::int64_t{1} << 40;
  const std::string sizes = varint(3) + huge_zstd(),
                    huge = "z" + varint(sizes.size()) + sizes + varint(kClaimed) + huge_zstd();
  const std::string few = riegeli::simple_data({"a", "b", "c"}, BlockCompression::none);
  std::vector<std::pair<std::string, std::string>> out;
  out.emplace_back("chunk.array_record",
                   array_record(kClaimed, huge, meta(1, 3), entry(kClaimed, 3)));
  out.emplace_back("decoded.array_record", array_record(kHuge, huge, meta(1, 3), entry(kMore, 3)));
  out.emplace_back("index.array_record", array_record(3, few, meta(1, kMore), entry(3, kMore)));
  out.emplace_back("count.array_record", array_record(3, few, meta(kMore, 3), entry(3, 3)));
  return out;
}

/// A member of tar whose size is 2^40, in base 256.
std::string huge_tar(char type) {
  std::string header(512, '\0');
  const std::string size = std::string("\x80\0\0\0\0\0", 6) + std::string("\x01\0\0\0\0\0", 6);
  std::memcpy(header.data(), "a.txt", 5);
  std::memcpy(header.data() + 100, "0000644\0000000000\0000000000", 24);
  std::memcpy(header.data() + 124, size.data(), 12);
  std::memcpy(header.data() + 136, "00000000000", 11);
  header[156] = type;
  std::memcpy(header.data() + 257, "ustar\00000", 8);
  std::memset(header.data() + 148, ' ', 8);
  unsigned sum = 0;
  for (char c : header) sum += static_cast<unsigned char>(c);
  std::snprintf(header.data() + 148, 8, "%06o", sum);
  return header + std::string(1024, 'x');
}

std::vector<std::pair<std::string, std::string>> hostile_files() {
  auto out = hostile_array_records();
  out.emplace_back("ends.bag", std::string(100, 'x') + raw(kHuge));
  out.emplace_back("frame.bagz", huge_zstd() + raw(std::uint64_t{huge_zstd().size()}));
  out.emplace_back("window.bagz", wide_zstd() + raw(std::uint64_t{wide_zstd().size()}));
  const std::string length = raw(kHuge);
  out.emplace_back("length.tfrecord", length + raw(masked_crc32c(length)) + std::string(100, 'x'));
  out.emplace_back(
      "length.tfrecord.gz",
      pack(length + raw(masked_crc32c(length)) + std::string(100, 'x'), *compression_named("gzip"))
          .value());
  out.emplace_back("tokens.idx", std::string("MMIDIDX\0\0", 9) + raw(std::uint64_t{1}) + '\4' +
                                     raw(kHuge) + raw(kHuge) + std::string(64, 'x'));
  out.emplace_back("member.tar", huge_tar('0'));
  out.emplace_back("name.tar", huge_tar('L'));
  out.emplace_back("pax.tar", huge_tar('x'));
  std::string npy = "{'descr': '<f8', 'fortran_order': False, 'shape': (1099511627776,), }";
  npy.resize(117, ' ');
  out.emplace_back("shape.npy", std::string("\x93NUMPY\x01\x00\x76\x00", 10) + npy + "\n1234567");
  out.emplace_back("header.npy", std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12) + npy);
  out.emplace_back("segment.txt.zst", huge_zstd());
  out.emplace_back("window.jsonl.zst", wide_zstd());
  out.emplace_back("dictionary.csv.xz", huge_xz());
  out.emplace_back("depth.jsonl", std::string(1 << 20, '[') + "\n");
  std::string footer = "PAR1" + std::string(64, 'x') + raw(0x7ffffff0u) + "PAR1";
  out.emplace_back("footer.parquet", footer);
  out.emplace_back("footer.arrow", std::string("ARROW1\0\0", 8) + std::string(64, 'x') +
                                       raw(0x7ffffff0u) + "ARROW1");
  const auto tensors = [](const std::string& head, std::uint64_t says) {
    return raw(says) + head + std::string(64, 'x');
  };
  const auto tensor = [&](const char* shape, const char* places) {
    const std::string head =
        fmt::format(R"({{"x":{{"dtype":"F32","shape":[{}],"data_offsets":[{}]}}}})", shape, places);
    return tensors(head, head.size());
  };
  out.emplace_back("header.safetensors", tensors("{}", kHuge));
  out.emplace_back("most.safetensors", tensors("{}", 99'999'999));
  out.emplace_back("shape.safetensors", tensor("1099511627776", "0,64"));
  out.emplace_back("product.safetensors", tensor("4294967296,4294967296", "0,64"));
  out.emplace_back("rows.safetensors", tensor("1099511627776,0", "0,0"));
  out.emplace_back("places.safetensors", tensor("16", "0,4398046511104"));
  std::string tokens = "STRATOK1" + raw(kHuge) + raw(kHuge) + raw(kHuge) + std::string(32, '\1');
  const std::uint32_t crc = crc32c(std::string_view(tokens).substr(0, 60));
  out.emplace_back("header.tokens", tokens.replace(60, 4, raw(crc)));
  return out;
}

TEST(BoundedMemory, IsMeasured) {
  const auto take = [] { return std::to_string(std::string(std::size_t{64} << 20, 'x').size()); };
  EXPECT_EQ(within(48, take), "out of memory");
  EXPECT_EQ(within(96, take), "67108864");
}

TEST(BoundedMemory, NoReaderTakesWhatAHeaderClaims) {
  for (const auto& [name, bytes] : hostile_files()) {
    const std::string path = folder() + name;
    ASSERT_TRUE(write_file_atomic(path, bytes).ok());
    if (name.ends_with(".idx")) {
      ASSERT_TRUE(write_file_atomic(folder() + "tokens.bin", "12345678").ok());
    }
    const std::string said = within(48, [&] { return read_all(path, "", nullptr); });
    if (std::getenv("STRATA_TEST_PRINT")) std::cout << name << ": " << said << "\n";
    EXPECT_NE(said, "") << name << ": was read";
    EXPECT_NE(said, "out of memory") << name;
    EXPECT_NE(said, "killed by a signal") << name;
    fs::remove(path);
  }
}

TEST(BoundedMemory, ShardsOfMdsAndMessagesNeither) {
  const std::string mds = folder() + "hostile_mds";
  fs::create_directories(mds);
  for (const char* samples : {"1099511627776", "4294967295", "3"})
    for (const char* compression : {"null", "\"zstd\""}) {
      ASSERT_TRUE(
          write_file_atomic(
              mds + "/index.json",
              fmt::format(
                  R"({{"shards": [{{"column_encodings": ["str"], "column_names": ["t"], "column_sizes": [null], "compression": {0}, "format": "mds", "hashes": [], "raw_data": {{"basename": "s.mds", "bytes": 1099511627776, "hashes": {{}}}}, "samples": {1}, "size_limit": 67108864, "version": 2, "zip_data": {{"basename": "s.mds.zstd", "bytes": 1099511627776, "hashes": {{}}}}}}], "version": 2}})",
                  compression, samples))
              .ok());
      ASSERT_TRUE(
          write_file_atomic(mds + "/s.mds", raw(0xffffffffu) + std::string(64, '\xff')).ok());
      ASSERT_TRUE(write_file_atomic(mds + "/s.mds.zstd", huge_zstd()).ok());
      const std::string said = within(48, [&] { return read_all(mds, "mds", nullptr); });
      EXPECT_NE(said, "") << samples;
      EXPECT_NE(said, "out of memory") << samples;
      EXPECT_NE(said, "killed by a signal") << samples;
    }
  const std::string example = "\x0a" + varint(kHuge) + "xxxx";
  EXPECT_NE(within(48, [&] { return decode_example(example, "e").status().message(); }),
            "out of memory");
}

TEST(BoundedMemory, LongFilesAreReadInPart) {
  constexpr int kRecords = 1500;  // of 16 KiB: 24 MiB
  const ElementOptions o{.group_size = 4, .compression = "none", .shard_bytes = 1 << 20};
  for (const char* name :
       {"l.jsonl", "l.jsonl.zst", "l.csv", "l.txt", "l.tfrecord", "l.tfrecord.zst",
        "l.array_record", "l.bag", "l.bagz", "l.tar", "l_mds", "l.bin", "l.safetensors"}) {
    const std::string path = folder() + name, format = name == std::string("l_mds") ? "mds" : "";
    fs::remove_all(path);
    auto writer = create_elements(path, format, o).value();
    std::string text(16384, 'a');
    const Literal tokens = Literal::full(Type(DType::i32, {4096}), 7);
    for (int i = 0; i < kRecords; ++i) {
      std::memcpy(text.data() + 8 * (i % 2000), std::to_string(100000 + i).data(), 6);
      const bool plain = std::string_view(name).ends_with(".txt");
      const bool arrays = name == std::string("l.bin") || name == std::string("l.safetensors");
      const Element e = arrays  ? Element(tokens)
                        : plain ? Element(text)
                        : std::string_view(name).ends_with(".tar")
                            ? Element::dict({{"__key__", Element(fmt::format("{:06}", i))},
                                             {"txt", Element(text)}})
                            : Element::dict({{"text", Element(text)}});
      const Status s = writer->add(e);
      ASSERT_TRUE(s.ok()) << name << ": " << s.message();
    }
    ASSERT_TRUE(writer->close().ok());
    EXPECT_EQ(within(12,
                     [&] {
                       std::int64_t records = 0;
                       const std::string said = read_all(path, format, &records);
                       return said.empty() ? std::to_string(records) : said;
                     }),
              std::to_string(kRecords))
        << name;
    fs::remove_all(path);
  }
}

/// Files of columns in which one number at a time says what is not there: all varints of Parquet's
/// metadata and headers of pages, all sizes of Arrow's.
TEST(BoundedMemory, FilesOfColumnsNeither) {
  if (!arrow_library()) GTEST_SKIP() << arrow_library().status().message();
  const std::string kArrow =
      (fs::path(__FILE__).parent_path() / "../arrow/testdata/").lexically_normal().string();
  const std::string packed = folder() + "packed.arrow";
  auto writer = create_elements(packed, "", {.compression = "zstd"}).value();
  for (int i = 0; i < 100; ++i) (void)writer->add(Element::dict({{"text", Element("some text")}}));
  ASSERT_TRUE(writer->close().ok());
  for (const std::string& from :
       {kArrow + "pages.parquet", kArrow + "types.parquet", kArrow + "types.arrow", packed}) {
    const std::string whole = read_file(from).value();
    const bool parquet = from.ends_with(".parquet");
    const std::string path = folder() + (parquet ? "hostile.parquet" : "hostile.arrow");
    const auto read_changed = [&] {
      std::string worst;
      // Large numbers are put wherever numbers may stand: a thousandth of the memory of a claim.
      for (std::size_t at = 4; at + 16 < whole.size(); at += 1 + whole.size() / 60) {
        std::string bytes = whole;
        if (parquet)
          bytes.replace(at, 5, "\xfe\xff\xff\xff\x0f");  // 2^31 - 1 as zigzag
        else
          bytes.replace(at / 8 * 8, 8, raw(std::uint64_t{0x7fff0000}));
        std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
        const std::string said = read_all(path, "", nullptr);
        if (said.find("alloc") != said.npos || said.find("emory") != said.npos) worst = said;
      }
      return worst;
    };
    EXPECT_EQ(within(48, read_changed), "") << from;
  }
}

TEST(BoundedMemory, FoldersOfHuggingFaceNeither) {
  if (!arrow_library()) GTEST_SKIP() << arrow_library().status().message();
  const std::string path = folder() + "hub";
  fs::create_directories(path);
  std::string footer = "ARROW1" + std::string(66, '\0') + raw(0x7ffffff0u) + "ARROW1";
  ASSERT_TRUE(write_file_atomic(path + "/a.arrow", footer).ok());
  std::string names = R"({"filename": "a.arrow"})";
  for (int i = 0; i < 1000; ++i) names += R"(, {"filename": "a.arrow"})";
  for (const std::string& state : {std::string(R"({"_data_files": [{"filename": "a.arrow"}]})"),
                                   R"({"_data_files": [)" + names + "]}", std::string(1 << 20, '['),
                                   std::string(R"({"_data_files": [{"filename": "../a.arrow"}]})"),
                                   std::string(R"({"_data_files": 1099511627776})")}) {
    ASSERT_TRUE(write_file_atomic(path + "/state.json", state).ok());
    const std::string said = within(48, [&] { return read_all(path, "hugging_face", nullptr); });
    EXPECT_NE(said, "") << state.substr(0, 50);
    EXPECT_NE(said, "out of memory") << state.substr(0, 50);
    EXPECT_NE(said, "killed by a signal") << state.substr(0, 50);
  }
}

/// Files of columns come in batches: 24 MiB in 12, and Arrow's library itself.
TEST(BoundedMemory, LongFilesOfColumnsAreReadInPart) {
  if (!arrow_library()) GTEST_SKIP() << arrow_library().status().message();
  constexpr int kRecords = 98304;  // of 256 bytes: 24 MiB
  for (const char* name : {"l.parquet", "l.arrow", "l.arrows", "l_hub"}) {
    const std::string path = folder() + name;
    const std::string format = name == std::string("l_hub") ? "hugging_face" : "";
    fs::remove_all(path);
    auto writer = create_elements(path, format, {.compression = "none"}).value();
    std::string text(256, 'a');
    for (int i = 0; i < kRecords; ++i) {
      for (int k = 0; k < 4; ++k)
        std::memcpy(text.data() + 8 * k,
                    std::to_string(100000 + (i * 31 + k * 7919) % 899999).data(), 6);
      ASSERT_TRUE(writer->add(Element::dict({{"text", Element(text)}})).ok());
    }
    ASSERT_TRUE(writer->close().ok());
    writer = nullptr;
    EXPECT_EQ(within(12,
                     [&] {
                       std::int64_t records = 0;
                       const std::string said = read_all(path, format, &records);
                       return said.empty() ? std::to_string(records) : said;
                     }),
              std::to_string(kRecords))
        << name;
    fs::remove_all(path);
  }
}

TEST(BoundedMemory, ASampleOfTextsIsWhatIsHeld) {
  const std::string path = folder() + "sample.txt";
  std::string line(99, 'x');
  line += '\n';
  std::ofstream out(path, std::ios::binary);
  for (int i = 0; i < 400000; ++i) out << line;
  out.close();
  EXPECT_EQ(within(12,
                   [&] {
                     const auto sample = sample_documents({path}, {}, 1 << 20);
                     return sample ? "read" : sample.status().message();
                   }),
            "read");
  fs::remove(path);
}

}  // namespace
}  // namespace strata::data
#endif
