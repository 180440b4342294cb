#include "strata/data/text_sample.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "strata/base/file.h"

namespace strata::data {
namespace {

/// Samples documents that are in memory: the plain twin.
std::vector<std::string> of_documents(const std::vector<std::string>& documents, double bytes) {
  constexpr std::size_t kPiece = 65536;
  std::vector<std::string_view> pieces;
  double total = 0;
  for (std::string_view rest : documents) {
    total += static_cast<double>(rest.size());
    while (!rest.empty()) {
      const std::size_t n =
          std::min(rest.find('\n', std::min(kPiece, rest.size() - 1)), rest.size() - 1) + 1;
      pieces.push_back(rest.substr(0, n));
      rest.remove_prefix(n);
    }
  }
  std::vector<std::string> out;
  double before = 0, taken = 0;
  for (std::string_view piece : pieces) {
    before += static_cast<double>(piece.size());
    if (taken >= before / total * bytes) continue;
    out.emplace_back(piece);
    taken += static_cast<double>(piece.size());
  }
  return out;
}

/// Lines of 1 to `most` letters.
std::string lines(std::size_t size, std::size_t most, std::mt19937& random) {
  std::string out;
  while (out.size() < size) {
    out.append(1 + random() % most, static_cast<char>('a' + random() % 26));
    if (random() % 50 > 0) out += '\n';
  }
  return out;
}

std::string file(const std::string& name) { return ::testing::TempDir() + name; }

TEST(TextSample, IsThatOfDocumentsInMemory) {
  std::mt19937 random(2);
  const std::vector<std::size_t> sizes = {3 << 20, 70000, 65536, 65537, 1, 200000};
  std::vector<std::string> files, documents;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    files.push_back(file("sample" + std::to_string(i) + ".txt"));
    ASSERT_TRUE(write_file_atomic(files.back(), lines(sizes[i], i % 2 ? 90000 : 80, random)).ok());
  }
  std::string json;
  for (int i = 0; i < 300; ++i)
    json += "{\"text\": \"" + std::string(random() % 2000, 'x') + "\\n\"}\n";
  files.push_back(file("sample.jsonl"));
  ASSERT_TRUE(write_file_atomic(files.back(), json).ok());
  for (const std::string& f : files)
    for (std::string& d : read_documents(f).value()) documents.push_back(std::move(d));
  for (double bytes : {0.0, 1.0, 1e5, 7e5, 3e6, 1e9})
    EXPECT_EQ(sample_documents(files, {}, bytes).value(), of_documents(documents, bytes)) << bytes;
  EXPECT_EQ(sample_documents({}, {}, 10).value().size(), 0u);
  EXPECT_EQ(sample_documents({file("sample.no")}, {}, 10).status().code(), Code::not_found);
}

TEST(TextSample, OfALongTextIsAsLongAsAskedFor) {
  std::mt19937 random(3);
  const std::string block = lines(1 << 20, 80, random);
  std::ofstream out(file("sample_large.txt"), std::ios::binary);
  for (int i = 0; i < 32; ++i) out << block;
  out.close();
  std::size_t bytes = 0;
  for (const std::string& s : sample_documents({file("sample_large.txt")}, {}, 1 << 20).value())
    bytes += s.size();
  EXPECT_GE(bytes, std::size_t{1} << 20);
  EXPECT_LT(bytes, (std::size_t{1} << 20) + (2 << 16));
  std::filesystem::remove(file("sample_large.txt"));
}

}  // namespace
}  // namespace strata::data
