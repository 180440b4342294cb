// A damaged record in a file of each format: refused, passed over and counted, or put aside.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "strata/base/file.h"
#include "strata/data/arrow/library.h"
#include "strata/data/compression/stream.h"
#include "strata/data/format/elements.h"
#include "strata/data/format/file_source.h"

namespace strata::data {
namespace {

namespace fs = std::filesystem;

const std::string kHere = fs::path(__FILE__).parent_path().string();

std::string folder() {
  const std::string out = ::testing::TempDir() + "damage/";
  fs::create_directories(out);
  return out;
}

std::string line(std::int64_t i) { return fmt::format("this is record {:06}", i); }

/// The n-th place, from 0, where `what` stands.
std::size_t nth(const std::string& bytes, std::string_view what, int n) {
  std::size_t at = bytes.find(what);
  for (; n > 0 && at != std::string::npos; --n) at = bytes.find(what, at + 1);
  STRATA_CHECK(at != std::string::npos, "the file has fewer of them");
  return at;
}

using Harm = std::function<void(std::string&)>;

Harm change(std::string what, std::ptrdiff_t by, char to) {
  return [=](std::string& bytes) { bytes[bytes.find(what) + static_cast<std::size_t>(by)] = to; };
}
Harm flip(std::string what) {
  return [=](std::string& bytes) { bytes[nth(bytes, what, 0)] ^= 0x80; };
}

/// A file of 60 records, what is done to its bytes, and what is left.
struct Case {
  std::string name;
  Harm harm;
  /// Records that are read beside the damage; -1 where the file is refused when it is opened.
  std::int64_t left;
  std::int64_t damaged = 1, written = 60;
  ElementOptions options = {};
  std::string format = "";
  std::string file = "";  // of a folder, that is harmed
};

Element record_of(const Case& c, std::int64_t i) {
  if (c.name.ends_with(".txt")) return Element(line(i));
  if (c.name.ends_with(".bin")) return Element(Literal::of<std::int32_t>({2}, {7, 8}));
  if (c.name.ends_with(".npy")) return Element(Literal::of<std::int64_t>({1}, {i}));
  Element out = Element::dict({{"text", Element(line(i))}});
  if (c.name.ends_with(".tar"))
    out = Element::dict({{"__key__", Element(fmt::format("{:06}", i))}, {"txt", Element(line(i))}});
  return out;
}

/// Writes the file and harms it; in a compressed one, what it unpacks to.
void make(const Case& c, const std::string& path) {
  fs::remove_all(path);
  auto writer = create_elements(path, c.format, c.options).value();
  for (std::int64_t i = 0; i < c.written; ++i) {
    const Status s = writer->add(record_of(c, i));
    ASSERT_TRUE(s.ok()) << c.name << ": " << s.message();
  }
  ASSERT_TRUE(writer->close().ok());
  const std::string file = c.file.empty() ? path : path + "/" + c.file;
  std::string bytes = read_file(file).value();
  const Compression* packed = compression_of_path(file);
  if (packed) bytes = unpack(bytes, *packed, file, std::size_t{1} << 20).value();
  c.harm(bytes);
  if (packed) bytes = pack(bytes, *packed).value();
  ASSERT_TRUE(write_file_atomic(file, bytes).ok());
}

std::int64_t lines_of(const std::string& path) {
  const auto text = read_file(path);
  return text ? std::count(text->begin(), text->end(), '\n') : 0;
}

void expect_policies(const Case& c) {
  SCOPED_TRACE(c.name);
  const std::string path = folder() + c.name, to = path + ".jsonl",
                    aside = to + ".quarantine.jsonl";
  make(c, path);
  const auto converted = [&](OnDamage policy) {
    fs::remove(to);
    fs::remove(aside);
    return convert_elements(path, to, {.from_format = c.format, .on_damage = policy});
  };
  EXPECT_EQ(converted(OnDamage::fail).status().code(), Code::corrupt);
  for (const std::string& name : {to, to + ".tmp", aside}) EXPECT_FALSE(file_exists(name)) << name;
  if (c.left < 0) {  // nothing of it can be believed
    EXPECT_EQ(converted(OnDamage::skip).status().code(), Code::corrupt);
    EXPECT_FALSE(file_exists(to));
    return;
  }
  const auto skipped = converted(OnDamage::skip);
  ASSERT_TRUE(skipped.ok()) << skipped.status().message();
  EXPECT_EQ(skipped->records, c.left) << skipped->first_damage;
  EXPECT_EQ(skipped->damaged, c.damaged);
  EXPECT_NE(skipped->first_damage, "");
  EXPECT_EQ(lines_of(to), c.left);
  EXPECT_FALSE(file_exists(aside));
  const auto kept = converted(OnDamage::quarantine);
  ASSERT_TRUE(kept.ok()) << kept.status().message();
  EXPECT_EQ(kept->records, c.left);
  EXPECT_EQ(lines_of(aside), c.damaged);
  // As a pipeline reads it.
  auto reader = open_stream(path, {.damage = DamagePolicy::skip}, c.format).value()->open().value();
  std::int64_t read = 0;
  Element e;
  for (auto more = reader->next(e); more.ok() && *more; more = reader->next(e)) ++read;
  EXPECT_EQ(read, c.left);
  auto strict = open_stream(path, {}, c.format).value()->open().value();
  auto more = strict->next(e);
  while (more.ok() && *more) more = strict->next(e);
  EXPECT_EQ(more.status().code(), Code::corrupt);
}

const std::string kTwenty = "this is record 000020";

TEST(Damage, IsMetByPolicyInEveryFormat) {
  const ElementOptions plain{.compression = "none"};
  ElementOptions groups = plain;
  groups.group_size = 7;
  const Case cases[] = {
      {"d.jsonl", change(kTwenty, 21, 'x'), 59},
      {"d.jsonl.zst", change(kTwenty, 21, 'x'), 59},
      {"d.csv", change(kTwenty, 4, ','), 59},
      {"d.txt", flip(kTwenty), 59},
      {"d.tfrecord", flip(kTwenty), 59},
      {"d.tfrecord.gz", flip(kTwenty), 59},
      {"d.array_record", flip(kTwenty), 59, 1, 60, plain},
      {"group.array_record", flip(kTwenty), 53, 1, 60, groups},
      {"d.bagz", [](std::string& b) { b[nth(b, "\x28\xb5\x2f\xfd", 20)] ^= 1; }, 59},
      // The sample before a damaged header may have had more members.
      {"d.tar", [](std::string& b) { b[nth(b, "ustar", 20) - 257 + 124] = 'x'; }, 19},
      {"d_mds", flip(kTwenty), 59, 1, 60, {}, "mds", "shard.00000.mds"},
      {"d.bin", [](std::string& b) { b.pop_back(); }, -1},
      {"d.npy", [](std::string& b) { b.pop_back(); }, -1},
  };
  for (const Case& c : cases) expect_policies(c);
}

TEST(Damage, IsMetByPolicyInColumns) {
  if (!arrow_library()) GTEST_SKIP() << arrow_library().status().message();
  const std::string late = "this is record 010000";  // in the second batch of 8192
  const Case cases[] = {
      {"d.arrow", flip(late), 20000 - 8192, 1, 20000},
      {"d.arrows", flip(late), 20000 - 8192, 1, 20000},
      {"d_hub",
       flip(late),
       20000 - 1000,
       1,
       20000,
       {},
       "hugging_face",
       "data-00000-of-00001.arrow"},
      {"d.parquet", [](std::string& b) { b[200] ^= 1; }, 0, 1, 1000, {.compression = "none"}},
  };
  for (const Case& c : cases) expect_policies(c);
  // A row group alone is lost.
  const std::string path = folder() + "pages.parquet";
  std::string bytes = read_file(kHere + "/../arrow/testdata/pages.parquet").value();
  bytes[200] ^= 1;
  ASSERT_TRUE(write_file_atomic(path, bytes).ok());
  const auto done = convert_elements(path, path + ".jsonl", {.on_damage = OnDamage::quarantine});
  EXPECT_EQ(done->records, 700);
  EXPECT_EQ(lines_of(path + ".jsonl.quarantine.jsonl"), 1);
}

}  // namespace
}  // namespace strata::data
