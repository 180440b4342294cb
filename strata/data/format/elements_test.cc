#include "strata/data/format/elements.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "strata/base/file.h"
#include "strata/data/compression/stream.h"
#include "strata/data/format/example.h"
#include "strata/data/format/json.h"

namespace strata::data {
namespace {

const std::string kData = (std::filesystem::path(__FILE__).parent_path() / "testdata/").string();

std::string file(const std::string& name) { return ::testing::TempDir() + name; }

std::string golden_record(int i) {
  std::string out;
  for (int j = 0; j < i * 13; ++j) out += static_cast<char>((i * 7 + j) % 251);
  return out;
}

std::vector<Element> all_of(const std::string& path, const std::string& format = "") {
  std::vector<Element> out;
  auto scanner = open_elements(path, format);
  EXPECT_TRUE(scanner.ok()) << scanner.status().message();
  for (Element e; scanner;) {
    auto more = (*scanner)->next(e);
    EXPECT_TRUE(more.ok()) << more.status().message();
    if (!more || !*more) break;
    out.push_back(e);
  }
  return out;
}

/// Every kind that JSON has.
std::vector<Element> samples() {
  std::vector<Element> out;
  for (int i = 0; i < 30; ++i)
    out.push_back(
        Element::dict({{"text", Element("line " + std::to_string(i) + " \"ä\"")},
                       {"n", i},
                       {"x", i / 4.0},
                       {"raw", Element::bytes(golden_record(i))},
                       {"list", Element::list({1, "two", Element::dict({{"k", true}})})}}));
  return out;
}

void write(const std::string& path, const std::vector<Element>& elements,
           const ElementOptions& o = {}) {
  std::filesystem::remove_all(path);
  auto writer = create_elements(path, path.find("mds") == std::string::npos ? "" : "mds", o);
  ASSERT_TRUE(writer.ok()) << writer.status().message();
  for (const Element& e : elements) {
    const Status s = (*writer)->add(e);
    ASSERT_TRUE(s.ok()) << path << ": " << s.message();
  }
  ASSERT_TRUE((*writer)->close().ok());
}

TEST(Elements, come_back_from_every_format_that_holds_them) {
  for (const char* name :
       {"e.jsonl", "e.jsonl.gz", "e.jsonl.zst", "e.array_record", "e.bagz", "e.bag", "e_mds"}) {
    write(file(name), samples());
    const auto read = all_of(file(name));
    const auto expected = samples();
    ASSERT_EQ(read.size(), expected.size()) << name;
    for (std::size_t i = 0; i < read.size(); ++i)
      for (const auto& [key, value] : expected[i].fields())
        EXPECT_EQ(read[i].at(key), value) << name << " " << i << " " << key;
  }
}

TEST(Elements, web_dataset_has_the_original_samples_and_bytes) {
  const auto read = all_of(kData + "samples.tar");
  ASSERT_EQ(read.size(), 8u);
  for (int i = 0; i < 8; ++i) {
    const Element& e = read[static_cast<std::size_t>(i)];
    EXPECT_EQ(e.at("__key__").view(), fmt::format("a/{:06}", i));
    EXPECT_EQ(e.at("txt").view(), fmt::format("caption {}", i));
    EXPECT_EQ(e.at("cls").integer(), i);
    EXPECT_EQ(e.at("json").at("s").view(), "é");
    EXPECT_EQ(e.at("bin").view(), golden_record(i));
  }
  write(file("again.tar"), read);
  const auto again = all_of(file("again.tar"));
  EXPECT_EQ(again, read);
  // Python spaces its JSON, so members of JSON differ in size; all others are the same bytes.
  std::vector<Element> plain = read;
  for (Element& e : plain) e.erase("json");
  write(file("plain.tar"), plain);
  EXPECT_EQ(read_file(file("plain.tar"))->substr(0, 1024),
            read_file(kData + "samples.tar")->substr(0, 1024));
}

TEST(Elements, web_dataset_with_long_names_and_a_damaged_member) {
  const std::string key = std::string(90, 'd') + "/" + std::string(60, 'k');
  write(file("long.tar"), {Element::dict({{"__key__", Element(key)}, {"txt", "x"}})});
  EXPECT_EQ(all_of(file("long.tar")).at(0).at("__key__").view(), key);
  std::string bytes = read_file(kData + "samples.tar").value();
  bytes[bytes.find("caption 2") - 512 + 124] = 'x';  // a size
  ASSERT_TRUE(write_file_atomic(file("damaged.tar"), bytes).ok());
  auto scanner = open_elements(file("damaged.tar")).value();
  Element e;
  EXPECT_TRUE(scanner->next(e).value());
  EXPECT_TRUE(scanner->next(e).value());
  EXPECT_EQ(scanner->next(e).status().code(), Code::corrupt);
}

TEST(Elements, a_tar_cut_anywhere_is_found) {
  const std::string bytes = read_file(kData + "samples.tar").value();
  std::size_t end = bytes.find_last_not_of('\0') / 512 * 512 + 512 + 1024;
  for (std::size_t n = 1; n < end; n += 61) {
    ASSERT_TRUE(write_file_synced(file("cut.tar"), bytes.substr(0, n)).ok());
    auto scanner = open_elements(file("cut.tar")).value();
    Element e;
    Result<bool> more = true;
    while (more && *more) more = scanner->next(e);
    EXPECT_FALSE(more.ok()) << n;
  }
}

TEST(Elements, mds_has_the_original_samples) {
  for (const char* name : {"mds_plain", "mds_zstd"}) {
    const auto read = all_of(kData + name);
    ASSERT_EQ(read.size(), 12u);
    for (int i = 0; i < 12; ++i) {
      const Element& e = read[static_cast<std::size_t>(i)];
      EXPECT_EQ(e.at("id").integer(), i * 1000003);
      EXPECT_EQ(e.at("text").view(), fmt::format("Zeile {} é", i));
      EXPECT_EQ(e.at("blob").view(), golden_record(i));
      EXPECT_EQ(e.at("score").real(), i / 4.0);
      EXPECT_EQ(e.at("meta").at("a").integer(), i);
      EXPECT_EQ(e.at("vec").array().span<float>()[2], static_cast<float>(2 + i));
      EXPECT_EQ(e.at("any").array().type().to_string(), Type(DType::i16, {2, 3}).to_string());
      EXPECT_EQ(e.at("any").array().span<std::int16_t>()[5], 5 * i);
      EXPECT_EQ(e.at("ids").array().count(), i + 1);
    }
  }
}

TEST(Elements, mds_is_written_as_the_original_writes_it) {
  auto read = all_of(kData + "mds_plain");
  for (Element& e : read)
    for (const char* key : {"any", "vec", "meta"}) e.erase(key);  // others would be encoded
  std::filesystem::remove_all(file("again_mds"));
  write(file("again_mds"), read, {.shard_bytes = 700});
  EXPECT_EQ(all_of(file("again_mds")), read);
  EXPECT_GT(list_folder(file("again_mds"))->size(), 3u);
}

TEST(Elements, a_shard_of_mds_cut_or_of_another_size_is_found) {
  std::filesystem::remove_all(file("cut_mds"));
  std::filesystem::copy(kData + "mds_plain", file("cut_mds"));
  const std::string shard = file("cut_mds/shard.00001.mds"), bytes = read_file(shard).value();
  for (std::size_t n = 0; n < bytes.size(); n += 7) {
    ASSERT_TRUE(write_file_synced(shard, bytes.substr(0, n)).ok());
    auto scanner = open_elements(file("cut_mds")).value();
    Element e;
    Result<bool> more = true;
    while (more && *more) more = scanner->next(e);
    EXPECT_EQ(more.status().code(), Code::corrupt) << n;
  }
}

TEST(Elements, hashes_of_mds_are_verified) {
  // hashlib's and python-xxhash's of the first shard, which is not changed here: a wrong digit is
  // found.
  const std::vector<std::pair<std::string, std::string>> hashes = {
      {"md5", "8581c8b7a250485371a9928bddcb8caf"},
      {"sha1", "8cbcf94414915d575f0628896df3a6e082881b19"},
      {"sha256", "cb02a404c5fffbb7be2e002e33edc0f7aaa1ca8251f705530a6c67260af3d8cd"},
      {"sha3_256", "8eca520cf262829fd09547488b5765ed8236e71fa0a5e381b305e3dd51d23721"},
      {"xxh32", "d9cb66cb"},
      {"xxh64", "51b1f3b4b2235e54"},
      {"xxh3_64", "1b264e870d1f6ae3"},
      {"xxh3_128", "3a15cea9c261a1f61b264e870d1f6ae3"},
      {"xxh128", "3a15cea9c261a1f61b264e870d1f6ae3"},
      {"blake2b",
       "b438e15e4dd66a1131f8b6f1b9c58794948df37e3317d4a2246e3751fb854da1"
       "e4e54393dc32ea483cda2afdef8255fdda3dc07fe7c8c2406c553b82cf89cc09"}};
  for (const auto& [kind, right] : hashes)
    for (const bool wrong : {false, true}) {
      std::filesystem::remove_all(file("hash_mds"));
      std::filesystem::copy(kData + "mds_plain", file("hash_mds"));
      std::string index = read_file(file("hash_mds/index.json")).value();
      std::string said = right;
      if (wrong) said[0] = said[0] == '0' ? '1' : '0';
      const std::size_t at = index.find("\"hashes\": {");
      ASSERT_NE(at, std::string::npos);
      const std::size_t end = index.find('}', at);
      index.replace(at, end - at + 1, fmt::format("\"hashes\": {{\"{}\": \"{}\"}}", kind, said));
      ASSERT_TRUE(write_file_atomic(file("hash_mds/index.json"), index).ok());
      Element e;
      auto more = open_elements(file("hash_mds")).value()->next(e);
      EXPECT_EQ(more.ok(), !wrong) << kind;
      if (wrong) {
        EXPECT_EQ(more.status().code(), Code::corrupt) << kind;
      }
    }
}

TEST(Elements, csv_quotes_what_it_must) {
  const std::vector<Element> rows = {
      Element::dict({{"a", "plain"}, {"b", "with, comma"}}),
      Element::dict({{"a", "two\nlines"}, {"b", "a \"quoted\" word"}}),
      Element::dict({{"a", ""}, {"b", " "}})};
  for (const char* name : {"t.csv", "t.tsv", "t.csv.gz"}) {
    write(file(name), rows);
    EXPECT_EQ(all_of(file(name)), rows) << name;
  }
  EXPECT_EQ(read_file(file("t.csv")).value(),
            "a,b\r\nplain,\"with, comma\"\r\n\"two\nlines\",\"a \"\"quoted\"\" word\"\r\n, \r\n");
}

TEST(Elements, arrays_and_tokens_come_back) {
  const std::vector<Element> rows = {Element::dict({{"x", Literal::of<float>({2}, {1, 2})},
                                                    {"y", Literal::scalar(std::int64_t{3})}}),
                                     Element::dict({{"x", Literal::of<float>({2}, {4, 5})},
                                                    {"y", Literal::scalar(std::int64_t{6})}})};
  write(file("a.npz"), rows);
  EXPECT_EQ(all_of(file("a.npz")), rows);
  write(file("a.npy"), {Element(Literal::of<float>({2}, {1, 2}))});
  EXPECT_EQ(all_of(file("a.npy")).at(0), Element(Literal::of<float>({2}, {1, 2})));
  const auto tokens = all_of(kData + "megatron.idx");
  ASSERT_EQ(tokens.size(), 5u);
  EXPECT_EQ(tokens[3].at("document").integer(), 1);
  write(file("again.bin"), tokens, {.dtype = "ui16"});
  EXPECT_EQ(read_file(file("again.idx")).value(), read_file(kData + "megatron.idx").value());
}

TEST(Elements, safetensors_are_the_originals_rows_and_bytes) {
  const auto rows = all_of(kData + "rows.safetensors");
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[3].at("x"), Element(Literal::of<float>({2}, {1.5f, 1.75f})));
  EXPECT_EQ(rows[3].at("ids").array().integer(0), 3000009);
  EXPECT_EQ(rows[2].at("a").array().type().to_string(), Type(DType::ui8, {1, 2}).to_string());
  write(file("again.safetensors"), rows);
  EXPECT_EQ(read_file(file("again.safetensors")).value(),
            read_file(kData + "rows.safetensors").value());
  write(file("one.safetensors"), {Element(2.5), Element(3.5)});
  EXPECT_EQ(all_of(file("one.safetensors")).at(1).at("record"), Element(Literal::scalar(3.5)));
  // Another type or name than the first record's, texts, and tensors of a model.
  auto writer = create_elements(file("bad.safetensors")).value();
  EXPECT_TRUE(writer->add(rows[0]).ok());
  EXPECT_EQ(writer->add(Element(1)).code(), Code::invalid);
  EXPECT_EQ(create_elements(file("bad.safetensors")).value()->add(Element("text")).code(),
            Code::invalid);
}

TEST(Elements, every_truncation_and_flipped_bit_of_a_safetensors_header_is_found_or_harmless) {
  const std::string bytes = read_file(kData + "rows.safetensors").value();
  const auto read = [&](const std::string& changed) {
    std::ofstream(file("cut.safetensors"), std::ios::binary | std::ios::trunc) << changed;
    auto scanner = open_elements(file("cut.safetensors"));
    Element e;
    Result<bool> more = true;
    while (scanner && more && *more) more = (*scanner)->next(e);
    return scanner.ok() && more.ok();
  };
  ASSERT_TRUE(read(bytes));
  for (std::size_t n = 0; n < bytes.size(); ++n) EXPECT_FALSE(read(bytes.substr(0, n))) << n;
  const std::size_t head =
      8 + static_cast<unsigned char>(bytes[0]) + 256 * static_cast<unsigned char>(bytes[1]);
  int found = 0;
  for (std::size_t at = 0; at < head; ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ 1 << bit);
      found += !read(changed);
    }
  EXPECT_GT(found, static_cast<int>(head) * 4);  // others are names, types and spaces
}

TEST(Elements, examples_come_back) {
  const Element e = Element::dict({{"b", Element::bytes("\xff")},
                                   {"f", Literal::of<float>({2}, {0.5f, -1})},
                                   {"i", -7},
                                   {"j", Literal::of<std::int64_t>({3}, {1, 1000000007, -1})},
                                   {"s", "text"},
                                   {"words", Element::list({"a", "b"})},
                                   {"x", 0.25}});
  write(file("e.tfrecord"), {e, e});
  EXPECT_EQ(all_of(file("e.tfrecord")).at(1), e);
  EXPECT_EQ(read_file(file("e.tfrecord")).value(), read_file(kData + "example.tfrecord").value());
  EXPECT_EQ(encode_example(Element::dict({{"d", Element::dict({})}})).status().code(),
            Code::invalid);
}

TEST(Elements, json_keeps_bytes_and_refuses_depth) {
  for (int n = 0; n < 70; ++n) {
    const Element e = Element::bytes(golden_record(n).substr(0, static_cast<std::size_t>(n)));
    EXPECT_EQ(element_of_json(json_of(e), "").value(), e);
  }
  EXPECT_EQ(element_of_json(std::string(100000, '['), "x").status().code(), Code::corrupt);
  EXPECT_EQ(json_of(Element(Literal::of<std::int32_t>({2, 1}, {1, 2}))), "[[1],[2]]");
}

TEST(Convert, any_to_any) {
  const char* names[] = {"c.jsonl", "c.array_record", "c.tfrecord", "c.bagz", "c.jsonl.zst"};
  std::vector<Element> plain;
  for (const Element& e : samples())
    plain.push_back(Element::dict({{"n", e.at("n")}, {"text", e.at("text")}}));
  write(file("c.jsonl"), plain);
  for (const char* from : names) {
    for (const char* to : names) {
      if (from == std::string(to)) continue;
      const auto done = convert_elements(file(from), file(to), {});
      ASSERT_TRUE(done.ok()) << from << " " << to << ": " << done.status().message();
      EXPECT_EQ(done->records, std::ssize(plain));
      EXPECT_EQ(all_of(file(to)), plain) << from << " to " << to;
    }
  }
}

TEST(Convert, damaged_records_by_policy) {
  ASSERT_TRUE(write_file_atomic(file("d.jsonl"), "{\"n\": 1}\n{broken\n{\"n\": 3}\n").ok());
  const std::string to = file("d.array_record"), aside = to + ".quarantine.jsonl";
  std::filesystem::remove(to);
  std::filesystem::remove(aside);
  EXPECT_EQ(convert_elements(file("d.jsonl"), to, {}).status().code(), Code::corrupt);
  EXPECT_FALSE(file_exists(to));
  EXPECT_FALSE(file_exists(to + ".tmp"));
  const auto skipped = convert_elements(file("d.jsonl"), to, {.on_damage = OnDamage::skip});
  EXPECT_EQ(skipped->records, 2);
  EXPECT_EQ(skipped->damaged, 1);
  EXPECT_FALSE(file_exists(aside));
  ASSERT_TRUE(convert_elements(file("d.jsonl"), to, {.on_damage = OnDamage::quarantine}).ok());
  const auto kept = all_of(aside);
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0].at("bytes").view(), "{broken");
}

TEST(Convert, says_what_it_does_not_know) {
  EXPECT_EQ(convert_elements(file("c.jsonl"), file("c.what"), {}).status().code(), Code::invalid);
  EXPECT_EQ(convert_elements(file("c.jsonl"), file("c.jsonl"), {}).status().code(), Code::invalid);
  EXPECT_EQ(create_elements(file("c.tokens")).status().code(), Code::unsupported);
}

}  // namespace
}  // namespace strata::data
