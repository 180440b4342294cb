#include "strata/data/compression/stream.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "strata/base/file.h"
#include "strata/data/documents.h"

namespace strata::data {
namespace {

std::string file(const std::string& name) { return ::testing::TempDir() + name; }

/// Lines of every length up to 300, one of 600 kB, and an empty one; no line end at the end.
std::string text() {
  std::string out;
  for (int i = 0; i < 300; ++i) out += std::string(static_cast<std::size_t>(i), 'a') + "\n";
  return out + std::string(600000, 'b') + "\n\nlast";
}

std::string all_lines(Input input) {
  std::string out;
  for (;;) {
    auto line = input.line();
    EXPECT_TRUE(line.ok()) << line.status().message();
    if (!line || !line->data()) return out;
    out += std::string(*line) + "\n";
  }
}

TEST(Stream, what_is_written_is_read) {
  for (const char* ending : {"", ".gz", ".zst", ".xz", ".bz2"}) {
    const std::string path = file(std::string("text") + ending);
    auto output = Output::create(path);
    ASSERT_TRUE(output.ok());
    for (char c : text().substr(0, 1000)) ASSERT_TRUE(output->write({&c, 1}).ok());
    ASSERT_TRUE(output->write(text().substr(1000)).ok());
    EXPECT_FALSE(file_exists(path + "x"));
    ASSERT_TRUE(output->close().ok());
    EXPECT_EQ(all_lines(Input::open(path).value()), text() + "\n") << ending;
    if (*ending) EXPECT_LT(read_file(path)->size(), text().size() / 10);
  }
}

TEST(Stream, nothing_stays_without_close) {
  std::filesystem::remove(file("gone.gz"));
  {
    ASSERT_TRUE(Output::create(file("gone.gz"))->write("x").ok());
  }
  EXPECT_FALSE(file_exists(file("gone.gz")));
  EXPECT_FALSE(file_exists(file("gone.gz.tmp")));
}

TEST(Stream, several_streams_in_one_file_are_one_text) {
  for (const Compression& c : compressions()) {
    if (c.magic.empty()) continue;
    const std::string both = pack("first\n", c).value() + pack("second", c).value();
    EXPECT_EQ(unpack(both, c, "both", 100).value(), "first\nsecond") << c.name;
  }
}

TEST(Stream, every_truncation_is_found) {
  for (const Compression& c : compressions()) {
    const std::string packed = pack(text().substr(0, 2000), c).value();
    for (std::size_t n = 1; n < packed.size(); ++n) {
      const auto read = unpack(packed.substr(0, n), c, "short", 1 << 20);
      EXPECT_FALSE(read.ok()) << c.name << " " << n;
      EXPECT_EQ(read.status().code(), Code::corrupt);
    }
  }
}

TEST(Stream, every_flipped_bit_is_found_or_harmless) {
  const std::string whole = text().substr(0, 2000);
  for (const Compression& c : compressions()) {
    if (c.name == "brotli") continue;  // has no checksum
    std::string packed = pack(whole, c).value();
    for (std::size_t i = 0; i < 8 * packed.size(); ++i) {
      auto& byte = packed[i / 8];
      byte = static_cast<char>(byte ^ (1 << i % 8));
      const auto read = unpack(packed, c, "damaged", 1 << 20);
      if (read) EXPECT_EQ(*read, whole) << c.name << ": bit " << i;
      byte = static_cast<char>(byte ^ (1 << i % 8));
    }
  }
}

TEST(Stream, a_bomb_is_refused) {
  const std::string packed = pack(std::string(10 << 20, '\0'), *compression_named("zstd")).value();
  EXPECT_LT(packed.size(), 2000u);
  EXPECT_EQ(unpack(packed, *compression_named("zstd"), "bomb", 1 << 20).status().message(),
            "bomb: unpacks to more than 1048576 bytes");
}

TEST(Documents, compressed_texts_are_read_as_plain_ones) {
  const std::string lines = "{\"text\": \"one\"}\n{\"text\": \"two\"}\n";
  for (const char* name : {"gzip", "zstd", "xz", "bzip2"}) {
    const Compression& c = *compression_named(name);
    const std::string path = file("documents.jsonl" + std::string(c.ending));
    ASSERT_TRUE(write_file_atomic(path, pack(lines, c).value()).ok());
    EXPECT_EQ(read_documents(path).value(), (std::vector<std::string>{"one", "two"})) << name;
  }
  const std::string path = file("plain.txt.gz");
  ASSERT_TRUE(write_file_atomic(path, pack(lines, *compression_named("gzip")).value()).ok());
  EXPECT_EQ(read_documents(path).value(), std::vector<std::string>{lines});
}

}  // namespace
}  // namespace strata::data
