// Upstream's names have one in `strata`, too; and a program that says `using namespace` of both
// finds them.
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "strata/api/testing.h"

namespace strata {
namespace {

std::string text_at(const std::filesystem::path& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << path;
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}
std::string text_of(const std::string& path) {
  return text_at(std::filesystem::path(__FILE__).parent_path() / "../../.." / path);
}

/// The names of jax.numpy itself, without those of its modules and those that C++ has no use for.
std::set<std::string> upstream_names() {
  std::set<std::string> out;
  std::istringstream all(text_of("strata/api/names/upstream.txt"));
  for (std::string line; std::getline(all, line);) {
    if (!line.starts_with("numpy.")) continue;
    const std::string name = line.substr(6, line.find('(') - 6);
    if (name.find('.') == std::string::npos) out.insert(name);
  }
  std::istringstream none(text_of("strata/api/names/not_applicable.tsv"));
  for (std::string line; std::getline(none, line);)
    if (line.starts_with("numpy.")) out.erase(line.substr(6, line.find('\t') - 6));
  return out;
}

/// All of strata/api/numpy's headers: each brings its own names into strata.
std::string headers_of_numpy() {
  std::string out;
  for (const auto& file :
       std::filesystem::recursive_directory_iterator(std::filesystem::path(__FILE__).parent_path()))
    if (file.path().extension() == ".h") out += text_at(file.path());
  return out;
}

TEST(Names, OfJaxNumpyStandInStrata) {
  // Names that strata has from another header: array.h, index.h and options.h.
  const std::set<std::string> elsewhere = {
      "array",   "newaxis", "bfloat16", "bool_",  "complex64", "complex128",
      "float16", "float32", "float64",  "int8",   "int16",     "int32",
      "int64",   "uint8",   "uint16",   "uint32", "uint64"};
  const std::set<std::string> with_underscore = {"std", "delete"};
  const std::string header = headers_of_numpy();
  int found = 0;
  for (const std::string& name : upstream_names()) {
    if (elsewhere.contains(name)) continue;
    const std::string ours = with_underscore.contains(name) ? name + "_" : name;
    EXPECT_NE(header.find("using numpy::" + ours + ";"), std::string::npos)
        << "strata has no " << ours;
    ++found;
  }
  EXPECT_GT(found, 300);
}

TEST(Names, AreFoundWithoutANamespace) {
  const Array x = array({3.0f, 1.0f, 2.0f});
  EXPECT_THAT(sort(x).to_vector<float>(), ::testing::ElementsAre(1, 2, 3));
  EXPECT_THAT(pow(x, 2).to_vector<float>(), ::testing::ElementsAre(9, 1, 4));
  EXPECT_EQ(diag(x).shape(), Shape({3, 3}));
  EXPECT_EQ(median(x).item<float>(), 2);
  EXPECT_EQ(strata::linalg::norm(array({3.0f, 4.0f})).item<float>(), 5);
  EXPECT_EQ(strata::fft::fft(x).dtype(), complex64);
}

}  // namespace
}  // namespace strata

// As a program has it that takes everything from everywhere.
namespace everything {
using namespace std;     // NOLINT
using namespace strata;  // NOLINT

TEST(Names, MeetThoseOfTheLibrary) {
  const Array x = strata::array({3.0f, 1.0f, 2.0f});
  vector<float> v{3, 1, 2};
  sort(v.begin(), v.end());
  EXPECT_EQ(sort(x).to_vector<float>(), v);
  EXPECT_EQ(pow(x, 2).to_vector<float>()[0], 9);
  EXPECT_EQ(pow(3.0, 2.0), 9);
  EXPECT_EQ(max(x).item<float>(), 3);
  EXPECT_EQ(max(2, 3), 3);
  EXPECT_EQ(real(x).to_vector<float>()[0], 3);
  EXPECT_EQ(unique(x).shape(0), 3);
  EXPECT_EQ(copy(x).shape(0), 3);
  EXPECT_EQ(fmod(x, 2).to_vector<float>()[1], 1);
  EXPECT_EQ(gradient(x).size(), 1u);
  EXPECT_EQ(partition(x, 1).to_vector<float>()[1], 2);
}

}  // namespace everything
