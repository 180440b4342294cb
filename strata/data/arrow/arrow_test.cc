// Files of pyarrow and datasets (tools/goldens/arrow_files.py), and what is written in their place.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "strata/base/file.h"
#include "strata/data/arrow/library.h"
#include "strata/data/format/elements.h"
#include "strata/data/format/file_source.h"
#include "strata/data/format/json.h"

namespace strata::data {
namespace {

const std::string kData = (std::filesystem::path(__FILE__).parent_path() / "testdata/").string();

std::string file(const std::string& name) { return ::testing::TempDir() + name; }

/// Not synced: there are many of them.
void put(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

class Arrow : public ::testing::Test {
 protected:
  void SetUp() override {
    if (arrow_library()) return;
    RecordProperty("api", "grain.experimental.ParquetIterDataset");
    GTEST_SKIP() << arrow_library().status().message();
  }
};

std::vector<Element> all_of(const std::string& path, const ElementOptions& o = {}) {
  std::vector<Element> out;
  auto scanner = open_elements(path, "", o);
  EXPECT_TRUE(scanner.ok()) << scanner.status().message();
  for (Element e; scanner;) {
    auto more = (*scanner)->next(e);
    EXPECT_TRUE(more.ok()) << more.status().message();
    if (!more || !*more) break;
    out.push_back(e);
  }
  return out;
}

void write(const std::string& path, const std::vector<Element>& elements,
           const std::string& format = "", const ElementOptions& o = {}) {
  std::filesystem::remove_all(path);
  auto writer = create_elements(path, format, o);
  ASSERT_TRUE(writer.ok()) << writer.status().message();
  for (const Element& e : elements) {
    const Status s = (*writer)->add(e);
    ASSERT_TRUE(s.ok()) << s.message();
  }
  const Status s = (*writer)->close();
  ASSERT_TRUE(s.ok()) << s.message();
}

// The columns need no library: a batch made here is read here.
TEST(ArrowColumns, give_back_what_they_were_given) {
  const std::vector<Element> records = {
      Element::dict({{"n", 1}, {"x", 2}, {"s", "é"}, {"ids", Literal::of<float>({2}, {1, 2})}}),
      Element::dict({{"n", Element()},
                     {"x", 0.5},
                     {"s", Element()},
                     {"l", Element::list({Element::dict({{"k", true}}), Element()})}}),
      Element::dict({{"m", Literal::of<std::int8_t>({2, 1}, {3, -4})},
                     {"raw", Element::bytes(std::string("\0\xff", 2))}})};
  ArrowType type;
  for (const Element& e : records) ASSERT_TRUE(widen(type, e).ok());
  ArrowColumn column(type);
  for (const Element& e : records) ASSERT_TRUE(column.add(e).ok());
  ArrowSchema schema = arrow_schema_of(type);
  auto read = arrow_type_of(schema);
  schema.release(&schema);
  ASSERT_TRUE(read.ok()) << read.status().message();
  ArrowArray array = column.take();
  const auto row = [&](std::int64_t i) { return arrow_value(*read, array, i, nullptr).value(); };
  EXPECT_EQ(json_of(row(0)),
            R"({"n":1,"x":2.0,"s":"é","ids":[1.0,2.0],"l":null,"m":null,"raw":null})");
  EXPECT_EQ(json_of(row(1)),
            R"({"n":null,"x":0.5,"s":null,"ids":null,"l":[{"k":true},null],"m":null,"raw":null})");
  EXPECT_EQ(row(2).at("m"), records[2].at("m"));
  EXPECT_EQ(row(2).at("raw"), records[2].at("raw"));
  array.release(&array);
}

TEST(ArrowColumns, refuse_what_does_not_fit) {
  ArrowType type;
  ASSERT_TRUE(widen(type, Element::dict({{"n", 1}})).ok());
  EXPECT_EQ(widen(type, Element::dict({{"n", "text"}})).code(), Code::invalid);
  ArrowColumn column(type);
  EXPECT_EQ(column.add(Element::dict({{"n", 0.5}})).code(), Code::invalid);
  EXPECT_EQ(column.add(Element::dict({{"other", 1}})).code(), Code::invalid);
  EXPECT_EQ(column.add(Element(1)).code(), Code::invalid);
}

TEST_F(Arrow, every_type_is_read_from_parquet_file_and_stream) {
  const std::vector<std::string> expected = {
      R"({"flag":true,"i8":-1,"u64":0,"i64":-9223372036854775808,"f32":0.5,"f64":0.1,"text":"",)"
      R"("large":"x","raw":{"$base64":"AP8="},"three":{"$base64":"YWJj"},"ids":[1,2,3],)"
      R"("holes":[1,null],"words":["a","bc"],"pair":[1.5,2.5],"matrix":[[1,2],[3,4]],)"
      R"("struct":{"a":1,"b":"x"},"map":[{"key":"k","value":1}],"category":"red","price":"12.50",)"
      R"("day":"2024-02-29","at":"2024-02-29T12:00:00.5Z","clock":"01:02:03"})",
      R"({"flag":null,"i8":2,"u64":18446744073709551615,"i64":9223372036854775807,"f32":null,)"
      R"("f64":null,"text":"é","large":"yy","raw":{"$base64":""},"three":{"$base64":"ZGVm"},)"
      R"("ids":[],"holes":[],"words":[],"pair":[3.5,4.5],"matrix":[],"struct":{"a":null,"b":null},)"
      R"("map":[],"category":"blue","price":"-0.05","day":"1969-12-31",)"
      R"("at":"1969-12-31T23:59:59Z","clock":"23:59:59.25"})"};
  for (const char* name : {"types.parquet", "types.arrow", "types.arrows"}) {
    const auto read = all_of(kData + name);
    ASSERT_EQ(read.size(), 4u) << name;
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_EQ(json_of(read[i]), expected[i]) << name;
    for (const auto& [key, value] : read[2].fields())
      EXPECT_EQ(value.is_none(), key != "f32" && key != "f64" && key != "flag")
          << name << " " << key;
    EXPECT_EQ(read[3].at("day").view(), "0001-01-01");
    // Written and read again it is the same, types included.
    for (const char* again : {"again.parquet", "again.arrow", "again.arrows"}) {
      write(file(again), read);
      EXPECT_EQ(all_of(file(again)), read) << name << " " << again;
    }
  }
}

TEST_F(Arrow, pages_of_all_encodings_by_number_and_in_order) {
  auto source = open_source(kData + "pages.parquet", {}).value();
  ASSERT_EQ(source->size(), 1000);
  for (std::int64_t i : {999, 0, 299, 300, 301, 5}) {
    const Element e = source->read(i).value();
    EXPECT_EQ(e.at("n").integer(), i);
    EXPECT_EQ(e.at("word").view(), fmt::format("word {}", i % 7));
    EXPECT_EQ(e.at("line").view(), fmt::format("line {}", i));
  }
  // Grain's states; each goes on where it was.
  auto stream = open_stream(kData + "pages.parquet", {}).value();
  auto reader = stream->open().value();
  Element e;
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(reader->next(e).value());
  EXPECT_EQ(reader->state(), R"({"row_group": 0, "index_within_row_group": 300})");
  for (int i = 300; i < 450; ++i) ASSERT_TRUE(reader->next(e).value());
  EXPECT_EQ(reader->state(), R"({"row_group": 1, "index_within_row_group": 150})");
  EXPECT_EQ(reader->origin().record, 449);
  auto other = stream->open().value();
  ASSERT_TRUE(other->set_state(reader->state()).ok());
  int rest = 0;
  while (other->next(e).value()) EXPECT_EQ(e.at("n").integer(), 450 + rest++);
  EXPECT_EQ(rest, 550);
  EXPECT_EQ(other->set_state(R"({"row_group": 9, "index_within_row_group": 0})").code(),
            Code::invalid);
  EXPECT_EQ(other->set_state("{}").code(), Code::invalid);
  RecordProperty("api", "grain.experimental.ParquetIterDataset");
}

TEST_F(Arrow, hugging_face_folders_are_read_by_split_and_written) {
  EXPECT_EQ(open_elements(kData + "saved").status().code(), Code::invalid);  // which split?
  ElementOptions train;
  train.split = "train";
  const auto read = all_of(kData + "saved", train);
  ASSERT_EQ(read.size(), 5u);
  EXPECT_EQ(json_of(read[4]), R"({"text":"train 4","ids":[4,5]})");
  EXPECT_EQ(all_of(kData + "saved/test").size(), 2u);
  auto source = open_source(kData + "saved/train", {}).value();
  EXPECT_EQ(source->read(3).value(), read[3]);
  EXPECT_EQ(source->origin(4).record, 1);
  ElementOptions small;
  small.shard_bytes = 30;
  write(file("hf"), read, "hugging_face", small);
  EXPECT_TRUE(file_exists(file("hf") + "/data-00001-of-00003.arrow"));
  EXPECT_EQ(all_of(file("hf")), read);
}

TEST_F(Arrow, a_truncated_or_changed_file_never_crashes) {
  for (const char* name : {"types.parquet", "types.arrow", "types.arrows", "pages.parquet"}) {
    const std::string bytes = read_file(kData + name).value();
    const auto whole = all_of(kData + name);
    const std::string path = file(std::string("damaged.") + (name + 6));
    int found = 0, cuts = 0;
    const auto read = [&] {
      auto scanner = open_elements(path);
      Element e;
      std::vector<Element> out;
      for (int failures = 0; scanner && failures < 4;) {
        auto more = (*scanner)->next(e);
        if (more && !*more) return out == whole;
        if (!more && more.status().code() != Code::corrupt) return false;
        failures += !more;
        if (more) out.push_back(e);
      }
      return false;
    };
    const bool stream = std::string_view(name).ends_with("arrows");
    for (std::size_t n = 1; n < bytes.size() - (stream ? 8 : 0); n += bytes.size() / 30) {
      put(path, bytes.substr(0, n));
      ++cuts;
      found += !read();
    }
    EXPECT_EQ(found, cuts) << name;
    for (std::size_t at = 0; at < bytes.size(); at += 1 + bytes.size() / 80) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ 0x40);
      put(path, changed);
      (void)read();
    }
  }
}

TEST_F(Arrow, a_flipped_bit_in_a_page_of_parquet_is_found) {
  std::string bytes = read_file(kData + "pages.parquet").value();
  bytes[200] = static_cast<char>(bytes[200] ^ 1);  // in the first row group
  ASSERT_TRUE(write_file_atomic(file("flipped.parquet"), bytes).ok());
  ConvertOptions o;
  EXPECT_EQ(convert_elements(file("flipped.parquet"), file("f.jsonl"), o).status().code(),
            Code::corrupt);
  o.on_damage = OnDamage::skip;
  const auto done = convert_elements(file("flipped.parquet"), file("f.jsonl"), o).value();
  EXPECT_EQ(done.damaged, 1);
  EXPECT_EQ(done.records, 700);  // the other row groups
}

}  // namespace
}  // namespace strata::data
