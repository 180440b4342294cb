// GGUF files by gguf-py (tools/goldens/gguf_files.py), read and written again; and bytes that are
// no such file, or lie.
#include "strata/checkpoint/gguf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "strata/base/error.h"
#include "strata/base/file.h"

namespace strata::checkpoint {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const std::filesystem::path kFolder =
    std::filesystem::path(__FILE__).parent_path() / "testdata/gguf";

std::string bytes_of_file(const std::string& name) {
  return read_file((kFolder / name).string()).value();
}
json expected() { return json::parse(bytes_of_file("expected.json"))["files"]; }

/// "ARRAY UINT32" for "array of u32".
std::string upstream_type(const GgufValue& v) {
  const std::map<std::string, std::string> names = {
      {"u8", "UINT8"},    {"i8", "INT8"},     {"u16", "UINT16"}, {"i16", "INT16"},
      {"u32", "UINT32"},  {"i32", "INT32"},   {"u64", "UINT64"}, {"i64", "INT64"},
      {"f32", "FLOAT32"}, {"f64", "FLOAT64"}, {"bool", "BOOL"},  {"string", "STRING"}};
  const std::string name = type_name(v);
  constexpr std::string_view kArray = "array of ";
  return name.starts_with(kArray) ? "ARRAY " + names.at(name.substr(kArray.size()))
                                  : names.at(name);
}

/// As Python prints it.
template <class T>
std::string python(const T& x, bool quoted) {
  if constexpr (std::is_same_v<T, std::string>)
    return quoted ? "'" + x + "'" : x;
  else if constexpr (std::is_same_v<T, bool>)
    return x ? "True" : "False";
  else if constexpr (std::is_same_v<T, float>)
    return python(static_cast<double>(x), quoted);
  else if constexpr (std::is_same_v<T, double>)
    return fmt::format("{}", x);
  else
    return fmt::format(
        "{}", static_cast<std::conditional_t<std::is_signed_v<T>, long, unsigned long>>(x));
}
template <class T>
std::string python(const std::vector<T>& list, bool) {
  std::string out;
  for (T x : list) out += (out.empty() ? "" : ", ") + python<T>(x, true);
  return "[" + out + "]";
}
std::string python(const GgufValue& v) {
  return std::visit([](const auto& x) { return python(x, false); }, v);
}

TEST(Gguf, ReadsCodebooksAsGgufPyDoes) {
  const auto file = Gguf::open((kFolder / "codebooks.gguf").string());
  ASSERT_TRUE(file.ok()) << file.status().message();
  int count = 0;
  for (const GgufTensor& t : file->tensors()) {
    const GgufTensor* want = file->tensor(t.name + ".want");
    if (!want) continue;
    EXPECT_EQ(t.type.name(), t.name);
    EXPECT_FALSE(t.type.is_plain());
    EXPECT_TRUE(file->numbers_of(t)->same_bits(*file->numbers_of(*want))) << t.name;
    ++count;
  }
  EXPECT_EQ(count, 7);
}

/// Writes part `no` of `count` of a model, with one tensor of four numbers.
std::string write_part(const std::string& path, int no, int count, const std::string& tensor,
                       int all) {
  const GgufMetadata keys = {{"split.no", static_cast<std::uint16_t>(no)},
                             {"split.count", static_cast<std::uint16_t>(count)},
                             {"split.tensors.count", std::int32_t{all}},
                             {"general.name", std::string("part ") + std::to_string(no)}};
  const std::vector<float> numbers = {1.0f * static_cast<float>(no), 2, 3, 4};
  auto writer = GgufWriter::create(path, keys, {{.name = tensor, .shape = {4}}});
  EXPECT_TRUE(writer->add({reinterpret_cast<const char*>(numbers.data()), 16}).ok());
  EXPECT_TRUE(writer->finish().ok());
  return path;
}

TEST(Gguf, ReadsAModelInParts) {
  const std::string stem = testing::TempDir() + "parts";
  const std::string first = write_part(stem + "-00001-of-00002.gguf", 0, 2, "a", 2);
  EXPECT_EQ(Gguf::open(first).status().code(), Code::not_found);
  const std::string second = write_part(stem + "-00002-of-00002.gguf", 1, 2, "b", 2);
  const auto file = Gguf::open(first);
  ASSERT_TRUE(file.ok()) << file.status().message();
  ASSERT_EQ(file->tensors().size(), 2u);
  EXPECT_EQ(*file->text("general.name"), "part 0");
  EXPECT_EQ(find(file->metadata(), "split.count"), nullptr);
  const GgufTensor& b = *file->tensor("b");
  EXPECT_EQ(file->file_of(b).name(), second);
  EXPECT_EQ(file->numbers_of(b)->span<float>()[0], 1);
  EXPECT_EQ(file->bytes_of(*file->tensor("a")).number(1), 2);
  file->release(b);

  EXPECT_THAT(Gguf::open(second).status().message(),
              HasSubstr("part 2 of 2 of a model; the first is to be named, " + first));
  write_part(second, 0, 2, "b", 2);
  EXPECT_THAT(Gguf::open(first).status().message(),
              HasSubstr("does not say that it is part 2 of 2"));
  write_part(second, 1, 2, "a", 2);
  EXPECT_THAT(Gguf::open(first).status().message(), HasSubstr("the tensor 'a' is there twice"));
  write_part(second, 1, 2, "b", 3);
  write_part(first, 0, 2, "a", 3);
  EXPECT_THAT(Gguf::open(first).status().message(),
              HasSubstr("parts have 2 tensors, split.tensors.count says 3"));
  EXPECT_THAT(Gguf::open(write_part(stem + ".gguf", 0, 2, "a", 2)).status().message(),
              HasSubstr("one of 2 parts of a model; the name of part 1 ends in -00001-of-00002"));
  EXPECT_EQ(Gguf::open(write_part(stem + ".gguf", 0, 2000, "a", 2)).status().code(), Code::corrupt);
  for (const std::string& path : {first, second, stem + ".gguf"}) std::filesystem::remove(path);
}

TEST(Gguf, ReadsWhatGgufPyWrote) {
  const json files = expected();
  ASSERT_EQ(files.size(), 3u);
  for (const auto& [name, want] : files.items()) {
    auto file = Gguf::open((kFolder / name).string());
    ASSERT_TRUE(file.ok()) << file.status().message();
    EXPECT_EQ(file->version(), 3u);
    ASSERT_EQ(file->metadata().size(), want["keys"].size());
    for (const auto& [key, value] : file->metadata()) {
      const json& wanted = want["keys"].at(key);
      EXPECT_EQ(upstream_type(value), wanted[0].get<std::string>()) << key;
      EXPECT_EQ(python(value), wanted[1].get<std::string>()) << key;
    }
    ASSERT_EQ(file->tensors().size(), want["tensors"].size());
    for (const GgufTensor& t : file->tensors()) {
      const json& wanted = want["tensors"].at(t.name);
      EXPECT_EQ(t.type.name(), wanted["type"].get<std::string>()) << t.name;
      EXPECT_EQ(t.shape, wanted["shape"].get<std::vector<std::int64_t>>()) << t.name;
      EXPECT_EQ(t.bytes(), wanted["bytes"].get<std::uint64_t>()) << t.name;
      EXPECT_EQ(file->tensor(t.name), &t);
      const std::string whole = bytes_of_file(name);
      EXPECT_EQ(file->raw(t), std::string_view(whole).substr(wanted["offset"], t.bytes()))
          << t.name;
      if (!wanted.contains("sum")) {
        EXPECT_EQ(file->numbers_of(t).status().code(), Code::unsupported);
        continue;
      }
      auto numbers = file->numbers_of(t);
      ASSERT_TRUE(numbers.ok()) << numbers.status().message();
      double sum = 0;
      for (float x : numbers->span<float>()) sum += static_cast<double>(x);
      EXPECT_NEAR(sum, wanted["sum"].get<double>(), 1e-9 * (1 + std::abs(sum))) << t.name;
      EXPECT_EQ(numbers->span<float>().front(), wanted["first"].get<float>()) << t.name;
      EXPECT_EQ(numbers->span<float>().back(), wanted["last"].get<float>()) << t.name;
    }
    EXPECT_EQ(file->tensor("nobody"), nullptr);
  }
}

TEST(Gguf, WritesTheBytesOfGgufPy) {
  for (const std::string name : {"values.gguf", "aligned.gguf"}) {
    auto file = Gguf::open((kFolder / name).string());
    const std::string path = testing::TempDir() + "written.gguf";
    auto writer = GgufWriter::create(path, file->metadata(), file->tensors());
    ASSERT_TRUE(writer.ok()) << writer.status().message();
    for (const GgufTensor& t : file->tensors()) {
      const std::string_view raw = file->raw(t);
      ASSERT_TRUE(writer->add(raw.substr(0, 3)).ok());
      ASSERT_TRUE(writer->add(raw.substr(3)).ok());
    }
    ASSERT_TRUE(writer->finish().ok());
    EXPECT_EQ(*read_file(path), bytes_of_file(name));
  }
}

TEST(Gguf, TensorsShareTheFilesMemory) {
  auto file = Gguf::open((kFolder / "values.gguf").string());
  Literal x = file->bytes_of(*file->tensor("packed.Q4_K"));
  EXPECT_EQ(x.type().to_string(), Type(DType::ui8, {2, 144}).to_string());
  EXPECT_EQ(reinterpret_cast<const char*>(x.data()),
            file->raw(*file->tensor("packed.Q4_K")).data());
  file = Status(Code::not_found, "closed");
  EXPECT_LT(x.span<std::uint8_t>()[287], 60);  // the mapping lives as long as x
  EXPECT_FALSE(x.is_unique());
}

TEST(Gguf, KeysHaveTypes) {
  auto file = Gguf::open((kFolder / "values.gguf").string());
  EXPECT_EQ(*file->text("general.architecture"), "llama");
  EXPECT_EQ(*file->integer("a.i64"), -(std::int64_t{1} << 62));
  EXPECT_EQ(*file->number("a.f64"), 1.0 / 3);
  EXPECT_EQ(*file->number("a.u8"), 200);
  EXPECT_EQ(file->integer("a.u64").status().code(), Code::corrupt);  // above the largest i64
  EXPECT_THAT(file->integer("a.bool").status().message(),
              HasSubstr("'a.bool' is bool, not an integer"));
  EXPECT_THAT(file->text("list.u8").status().message(), HasSubstr("is array of u8, not a string"));
  EXPECT_EQ(file->text("nobody").status().code(), Code::not_found);
}

// ---- bytes that are no such file ---------------------------------------------------------------

TEST(Gguf, EveryShorterFileIsRefused) {
  for (const std::string name : {"values.gguf", "aligned.gguf"}) {
    const std::string whole = bytes_of_file(name);
    const auto file = Gguf::decode(whole, name);
    std::uint64_t end = 0;  // of the last tensor, which padding follows
    for (const GgufTensor& t : file->tensors())
      end = std::max<std::uint64_t>(
          end, static_cast<std::uint64_t>(file->raw(t).data() + t.bytes() - whole.data()));
    for (std::size_t size = 0; size < end; ++size) {
      const auto part = Gguf::decode(std::string_view(whole).substr(0, size), name);
      ASSERT_FALSE(part.ok()) << size;
      EXPECT_THAT(part.status().message(), HasSubstr(name));
    }
  }
}

/// Looks at every byte that a file says to have.
void look(const Gguf& file) {
  std::size_t sum = 0;
  for (const GgufTensor& t : file.tensors()) {
    for (char c : file.raw(t)) sum += static_cast<unsigned char>(c);
    if (auto numbers = file.numbers_of(t)) sum += static_cast<std::size_t>(numbers->count());
  }
  EXPECT_GE(sum, 0u);
}

TEST(Gguf, AnyByteMayBeWrong) {
  const std::string whole = bytes_of_file("values.gguf");
  int refused = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (int flip : {1, 0x80, 0xff}) {
      std::string wrong = whole;
      wrong[i] = static_cast<char>(wrong[i] ^ flip);
      auto file = Gguf::decode(wrong, "wrong");
      file ? look(*file) : void(++refused);
    }
  }
  EXPECT_GT(refused, 1000);
}

template <class T>
std::string raw(T x) {
  return std::string(reinterpret_cast<const char*>(&x), sizeof x);
}
std::string text(const std::string& s) { return raw<std::uint64_t>(s.size()) + s; }
std::string header(std::uint64_t tensors, std::uint64_t keys, std::uint32_t version = 3) {
  return "GGUF" + raw(version) + raw(tensors) + raw(keys);
}
std::string key(const std::string& name, std::uint32_t type, const std::string& value) {
  return text(name) + raw(type) + value;
}
std::string tensor(const std::string& name, const std::vector<std::uint64_t>& dims,
                   std::uint32_t type, std::uint64_t offset) {
  std::string out = text(name) + raw(static_cast<std::uint32_t>(dims.size()));
  for (std::uint64_t d : dims) out += raw(d);
  return out + raw(type) + raw(offset);
}
/// The header, padded to 32, and so many bytes of data.
std::string with_data(std::string head, std::size_t bytes) {
  head.resize((head.size() + 31) / 32 * 32);
  return head + std::string(bytes, '\0');
}

TEST(Gguf, SaysWhatIsWrong) {
  struct Row {
    std::string bytes;
    const char* message;
    Code code = Code::corrupt;
  };
  const std::uint64_t big = std::uint64_t{1} << 62;
  const Row rows[] = {
      {"", "this is no GGUF file but an empty file"},
      {"PK\x03\x04 and more", "this is no GGUF file but a zip archive"},
      {header(0, 0, 1), "version 1 of GGUF; 2 and 3 are read", Code::unsupported},
      {header(0, 0, 0x03000000), "big-endian", Code::unsupported},
      {header(big, 0), "tensors and 0 keys, at most 131072 and 65536"},
      {header(0, big), "0 tensors and 4611686018427387904 keys"},
      {header(0, 1) + raw(big), "a key has 4611686018427387904 bytes, at most 1024"},
      {header(0, 1) + key("a", 8, raw(big)), "a has 4611686018427387904 bytes, at most 16777216"},
      {header(0, 1) + key("a", 13, ""), "a has type 13, which there is not"},
      {header(0, 1) + key("a", 7, "\x02"), "a is a boolean of 2"},
      {header(0, 1) + key("a", 9, raw<std::uint32_t>(9) + raw<std::uint64_t>(1)),
       "a is an array of arrays"},
      {header(0, 1) + key("a", 9, raw<std::uint32_t>(77) + raw<std::uint64_t>(1)),
       "elements of type 77"},
      {header(0, 1) + key("a", 9, raw<std::uint32_t>(4) + raw(big)), "at most 4194304 are read"},
      {header(0, 1) + key("a", 9, raw<std::uint32_t>(8) + raw<std::uint64_t>(4000000)),
       "a has 4000000 elements, more than the file"},
      {header(0, 1) +
           key("tokenizer.ggml.tokens", 9, raw<std::uint32_t>(8) + raw<std::uint64_t>(3000000)),
       "at most 2097152 are read"},
      {header(0, 2) + key("a", 0, "x") + key("a", 0, "y"), "the key 'a' is there twice"},
      {header(0, 1) + key("general.alignment", 4, raw<std::uint32_t>(24)),
       "general.alignment is 24, no power of two"},
      {header(0, 1) + key("general.alignment", 4, raw<std::uint32_t>(0)), "general.alignment is 0"},
      {header(0, 1) + key("general.alignment", 8, text("x")),
       "general.alignment is string, no power"},
      {with_data(header(1, 0) + tensor(std::string(65, 'n'), {4}, 0, 0), 64),
       "a tensor's name has 65 bytes, at most 64"},
      {with_data(header(1, 0) + tensor("t", {1, 1, 1, 1, 1}, 0, 0), 64),
       "tensor 't' has rank 5, at most 4"},
      {with_data(header(1, 0) + tensor("t", {4, 0}, 0, 0), 64), "tensor 't' has a dimension of 0"},
      {with_data(header(1, 0) + tensor("t", {1u << 31, 1u << 31, 4}, 0, 0), 64),
       "tensor 't' has a dimension of 2147483648"},
      {with_data(header(1, 0) + tensor("t", {1u << 31, 1u << 20}, 0, 0), 64),
       "bytes from 0 on, of 64 that the file has"},
      {with_data(header(1, 0) + tensor("t", {4}, 0, 64), 64),
       "tensor 't' has 16 bytes from 64 on, of 64"},
      {with_data(header(1, 0) + tensor("t", {4}, 0, ~std::uint64_t{31}), 64),
       "tensor 't' has 16 bytes from"},
      {with_data(header(1, 0) + tensor("t", {4}, 0, 8), 64),
       "tensor 't' begins at 8, which is no multiple of 32"},
      {with_data(header(1, 0) + tensor("t", {4}, 99, 0), 64),
       "tensor 't' has type 99, which there is not"},
      {with_data(header(1, 0) + tensor("t", {48, 2}, 2, 0), 64),
       "rows of 48, which are no whole blocks of 32 (Q4_0)"},
      {with_data(header(1, 0) + tensor("t", {}, 2, 0), 64),
       "rows of 1, which are no whole blocks of 32"},
      {with_data(header(1, 0) + tensor("t", {256}, 9, 0), 96),
       "tensor 't' is packed as Q8_1, which Strata does not read", Code::unsupported},
      {with_data(header(2, 0) + tensor("t", {4}, 0, 0) + tensor("t", {4}, 0, 32), 64),
       "the tensor 't' is there twice"},
      {with_data(header(2, 0) + tensor("t", {9}, 0, 0) + tensor("u", {4}, 0, 32), 64),
       "tensors 't' and 'u' overlap"},
  };
  for (const Row& row : rows) {
    const auto file = Gguf::decode(row.bytes, "f.gguf");
    ASSERT_FALSE(file.ok()) << row.message;
    EXPECT_THAT(file.status().message(), HasSubstr(row.message));
    EXPECT_THAT(file.status().message(), testing::StartsWith("f.gguf: "));
    EXPECT_EQ(file.status().code(), row.code) << row.message;
  }
  EXPECT_TRUE(
      Gguf::decode(with_data(header(1, 0, 2) + tensor("t", {}, 0, 0), 32), "version 2").ok());
}

TEST(Gguf, ScalesAreFinite) {
  std::string bytes = with_data(header(1, 0) + tensor("t", {64}, 2, 0), 64);
  auto file = Gguf::decode(bytes, "f");
  ASSERT_TRUE(file->numbers_of(file->tensors()[0]).ok());
  bytes[bytes.size() - 64 + 19] = 0x7c;  // the second block's scale is infinite
  file = Gguf::decode(bytes, "f");
  EXPECT_EQ(file->numbers_of(file->tensors()[0]).status().message(),
            "f: tensor 't': the scale of block 1 is not finite");
}

template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(Gguf, WhatAFileCannotHold) {
  const std::string path = testing::TempDir() + "refused.gguf";
  auto create = [&](std::vector<GgufTensor> tensors, const GgufMetadata& metadata = {}) {
    return error_of([&] { (void)GgufWriter::create(path, metadata, std::move(tensors)); });
  };
  const GgufTensor x{"x", {2, 64}, BlockFormat(BlockKind::q4_0)};
  EXPECT_THAT(create({x, x}), HasSubstr("the tensor 'x' is given twice"));
  EXPECT_THAT(create({{"x", {48}, BlockFormat(BlockKind::q4_0)}}),
              HasSubstr("do not divide a row of 48"));
  EXPECT_THAT(create({{"x", {1, 1, 1, 1, 1}}}), HasSubstr("rank 5"));
  EXPECT_THAT(create({{"x", {0}}}), HasSubstr("a dimension of 0"));
  EXPECT_THAT(create({{"x", {1}, DType::c64}}), HasSubstr("no type for elements of complex"));
  EXPECT_THAT(create({{std::string(65, 'x'), {1}}}), HasSubstr("at most 64"));
  EXPECT_THAT(create({}, {{"a", true}, {"a", false}}), HasSubstr("the key 'a' is given twice"));
  EXPECT_THAT(create({}, {{"general.alignment", std::uint32_t{3}}}), HasSubstr("a power of two"));
  auto writer = GgufWriter::create(path, {}, {x});
  EXPECT_THAT(error_of([&] { (void)writer->finish(); }), HasSubstr("0 of 1 tensors"));
  EXPECT_THAT(error_of([&] { (void)writer->add(std::string(100, '\0')); }),
              HasSubstr("100 bytes are added to tensor 'x', which lacks 72"));
}

}  // namespace
}  // namespace strata::checkpoint
