// Files that NumPy and jax.numpy.save wrote (tools/goldens/npy_files.py), read and written again;
// and what is no such file.
#include "strata/type/npy.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "strata/base/file.h"
#include "strata/base/format/zip.h"

namespace strata {
namespace {

const std::filesystem::path kFolder =
    std::filesystem::path(__FILE__).parent_path() / "testdata/npy";

std::string file(const std::string& name) {
  auto bytes = read_file((kFolder / name).string());
  EXPECT_TRUE(bytes.ok()) << name;
  return bytes ? *bytes : "";
}

/// `f32[2,3]:` and the bytes in hexadecimal.
std::string held(const Literal& x) {
  std::string out = fmt::format("{}[{}]:", name(x.dtype()), fmt::join(x.shape().sizes(), ","));
  for (std::size_t i = 0; i < x.bytes(); ++i)
    out += fmt::format("{:02x}", static_cast<unsigned>(x.data()[i]));
  return out;
}

/// The strings of expected.json: `"NAME": "VALUE"` a line, of .npy files; those inside of .npz
/// files have no such ending.
std::map<std::string, std::string> expected() {
  std::map<std::string, std::string> out;
  const std::string text = file("expected.json");
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    const std::size_t colon = line.find("\": \"");
    if (colon == std::string::npos) continue;
    const std::size_t from = line.find('"') + 1, to = line.rfind('"');
    out[line.substr(from, colon - from)] = line.substr(colon + 4, to - colon - 4);
  }
  return out;
}

TEST(Npy, ReadsWhatNumPyWrote) {
  int read = 0;
  for (const auto& [name, value] : expected()) {
    if (!name.ends_with(".npy")) continue;
    auto array = decode_npy(file(name), name);
    if (value == "unsupported") {
      ASSERT_FALSE(array.ok()) << name;
      EXPECT_EQ(array.status().code(), Code::unsupported) << name;
      continue;
    }
    ASSERT_TRUE(array.ok()) << array.status().message();
    EXPECT_EQ(held(*array), value) << name;
    ++read;
  }
  EXPECT_EQ(read, 26);
}

TEST(Npy, WritesTheBytesThatNumPyWrites) {
  for (const char* name : {"float32.npy", "bool.npy", "bfloat16.npy", "complex128.npy",
                           "uint64.npy", "scalar.npy", "empty.npy", "vector.npy", "one.npy"}) {
    const std::string bytes = file(name);
    auto array = decode_npy(bytes, name);
    ASSERT_TRUE(array.ok());
    auto written = encode_npy(*array);
    ASSERT_TRUE(written.ok());
    EXPECT_EQ(*written, bytes) << name;
  }
  EXPECT_EQ(encode_npy(Literal(Type(DType::f8E5M2, Shape{2}))).status().code(), Code::unsupported);
}

TEST(Npy, RefusesEveryCutOffFile) {
  for (const char* name : {"float32.npy", "version2.npy", "fortran.npy"}) {
    const std::string bytes = file(name);
    for (std::size_t size = 0; size < bytes.size(); ++size)
      EXPECT_EQ(decode_npy(std::string_view(bytes).substr(0, size), name).status().code(),
                Code::corrupt)
          << name << " " << size;
  }
}

std::string with_header(const std::string& header) {
  std::string out("\x93NUMPY\x01\x00", 8);
  out += {static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  return out + header + std::string(64, '\0');
}
Code code_of(const std::string& header) {
  return decode_npy(with_header(header), "made").status().code();
}

TEST(Npy, HeadersAreReadStrictly) {
  EXPECT_EQ(code_of("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"), Code::ok);
  EXPECT_EQ(code_of(R"({"shape": (2L,), "fortran_order": True, "descr": "=f4"})"), Code::ok);
  for (const char* header :
       {"", "{}", "{'descr': '<f4'}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } x",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}",
        "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2,)}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, "
        "4611686018427387904, 0)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (17,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'other': 1}",
        "{'descr': [('a', '<f4'"})
    EXPECT_EQ(code_of(header), Code::corrupt) << header;
  for (const char* descr : {"<f3", "f4", "|O", "<U3", "", "*f4"})
    EXPECT_EQ(
        code_of(fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': (1,)}}", descr)),
        Code::unsupported)
        << descr;
}

TEST(Npz, ReadsStoredAndDeflatedFiles) {
  auto wanted = expected();
  for (const char* name : {"stored.npz", "deflated.npz"}) {
    auto arrays = decode_npz(file(name), name);
    ASSERT_TRUE(arrays.ok()) << arrays.status().message();
    EXPECT_EQ(arrays->size(), std::string(name) == "stored.npz" ? 6u : 4u);
    for (const auto& [key, array] : *arrays) EXPECT_EQ(held(array), wanted.at(key)) << key;
    auto written = encode_npz(*arrays);
    ASSERT_TRUE(written.ok());
    auto again = decode_npz(*written, "again");
    ASSERT_TRUE(again.ok()) << again.status().message();
    ASSERT_EQ(again->size(), arrays->size());
    for (std::size_t i = 0; i < arrays->size(); ++i) {
      EXPECT_EQ((*again)[i].first, (*arrays)[i].first);
      EXPECT_TRUE((*again)[i].second.same_bits((*arrays)[i].second));
    }
  }
}

TEST(Npz, DamageIsSeen) {
  for (const char* name : {"stored.npz", "deflated.npz"}) {
    const std::string bytes = file(name);
    for (std::size_t size = 0; size < bytes.size(); size += 7)
      EXPECT_FALSE(decode_npz(std::string_view(bytes).substr(0, size), name).ok()) << size;
    // A byte of some file's contents: its checksum tells.
    std::string damaged = bytes;
    damaged[100] = static_cast<char>(damaged[100] ^ 0x40);
    EXPECT_EQ(decode_npz(damaged, name).status().code(), Code::corrupt);
  }
}

TEST(Zip, FilesComeBack) {
  const std::vector<ZipFile> files = {
      {"a", ""}, {"b/c.txt", "hello"}, {"binary", std::string("\0\1\2\xff", 4)}};
  auto bytes = write_zip(files);
  ASSERT_TRUE(bytes.ok());
  auto again = read_zip(*bytes + "a comment", "made");
  EXPECT_FALSE(read_zip(*bytes + std::string(70000, ' '), "made").ok())
      << "longer than a comment may be";
  ASSERT_TRUE(again.ok()) << again.status().message();
  ASSERT_EQ(again->size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ((*again)[i].name, files[i].name);
    EXPECT_EQ((*again)[i].bytes, files[i].bytes);
  }
}

// zip64.npz: all numbers in 64 bits (tools/goldens/npy_files.py, which asked NumPy whether it reads
// it).
TEST(Zip, NumbersOf64BitsAreReadAndWritten) {
  const std::string bytes = file("zip64.npz");
  auto arrays = decode_npz(bytes, "zip64.npz");
  ASSERT_TRUE(arrays.ok()) << arrays.status().message();
  const auto wanted = expected();
  ASSERT_EQ(arrays->size(), 2u);
  for (const auto& [key, array] : *arrays) EXPECT_EQ(held(array), wanted.at(key)) << key;
  auto files = read_zip(bytes, "zip64.npz");
  ASSERT_TRUE(files.ok());
  EXPECT_EQ(*write_zip(*files, {.wide_from = 0}), bytes);
  for (std::uint64_t from : {1, 50, 200, 700}) {
    auto some = read_zip(*write_zip(*files, {.wide_from = from}), "some");
    ASSERT_TRUE(some.ok()) << from << ": " << some.status().message();
    ASSERT_EQ(some->size(), files->size());
    for (std::size_t i = 0; i < files->size(); ++i) EXPECT_EQ((*some)[i].bytes, (*files)[i].bytes);
  }
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(read_zip(std::string_view(bytes).substr(0, size), "cut").ok()) << size;
}

TEST(Zip, ManyFilesAreCountedIn64Bits) {
  std::vector<ZipFile> files(66000);
  for (std::size_t i = 0; i < files.size(); ++i) files[i].name = std::to_string(i);
  auto again = read_zip(*write_zip(files), "many");
  ASSERT_TRUE(again.ok()) << again.status().message();
  ASSERT_EQ(again->size(), files.size());
  EXPECT_EQ(again->back().name, "65999");
}

TEST(Zip, LargeFilesAreInflatedPieceByPiece) {
  auto arrays = decode_npz(file("large.npz"), "large.npz");
  ASSERT_TRUE(arrays.ok()) << arrays.status().message();
  const Literal& x = arrays->at(0).second;
  ASSERT_EQ(x.type(), Type(DType::i32, Shape{100000}));
  for (int i = 0; i < 100000; ++i)
    ASSERT_EQ(x.span<std::int32_t>()[static_cast<std::size_t>(i)], i % 100);
}

TEST(Zip, RefusesWhatItDoesNotRead) {
  std::string bytes = *write_zip({{"a", "hello"}});
  const std::size_t entry = bytes.find("PK\x01\x02");
  ASSERT_NE(entry, std::string::npos);
  auto changed = [&](std::size_t at, char to) {
    std::string out = bytes;
    out[entry + at] = to;
    return read_zip(out, "made").status();
  };
  EXPECT_EQ(changed(10, 12).code(), Code::unsupported) << "bzip2";
  EXPECT_EQ(changed(8, 1).code(), Code::unsupported) << "encrypted";
  EXPECT_EQ(changed(16, 0x11).code(), Code::corrupt) << "checksum";
  EXPECT_EQ(changed(20, 0x7f).code(), Code::corrupt) << "size";
  EXPECT_EQ(changed(42, 0x7f).code(), Code::corrupt) << "offset";
}

}  // namespace
}  // namespace strata
