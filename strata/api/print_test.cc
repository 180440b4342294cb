// What arrays print, beside NumPy's str() (tools/goldens/printing.py).
#include <filesystem>
#include <fstream>
#include <sstream>

#include "strata/api/testing.h"

namespace strata {
namespace {

/// An array of this shape ("2,3", "-" for a scalar) of bytes in hexadecimal, again and again.
Array golden_array(const std::string& dtype, const std::string& shape, const std::string& bytes) {
  std::vector<std::int64_t> sizes;
  std::istringstream list(shape == "-" ? "" : shape);
  for (std::string size; std::getline(list, size, ',');) sizes.push_back(std::stoll(size));
  Literal out(Type(parse_dtype(dtype).value(), Shape::of(sizes)));
  for (std::size_t i = 0; i < out.bytes(); ++i)
    out.mutable_data()[i] =
        static_cast<std::byte>(std::stoi(bytes.substr(2 * i % bytes.size(), 2), nullptr, 16));
  return Array(std::move(out));
}

TEST(Print, AsNumPyDoes) {
  std::ifstream file(std::filesystem::path(__FILE__).parent_path() / "goldens/printing.txt");
  int arrays = 0, wrong = 0;
  for (std::string line; std::getline(file, line); ++arrays) {
    std::istringstream head(line);
    std::string dtype, shape, bytes, want;
    int lines = 0;
    head >> dtype >> shape >> lines >> bytes;
    for (int i = 0; i < lines; ++i) {
      ASSERT_TRUE(std::getline(file, line));
      want += (i ? "\n" : "") + line;
    }
    const std::string got = golden_array(dtype, shape, bytes).to_string();
    if (got != want && ++wrong <= 20)
      ADD_FAILURE() << dtype << "[" << shape << "] of " << bytes << "\n"
                    << got << "\nnot\n"
                    << want;
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(arrays, 1300);
}

TEST(Print, NumbersThatNumPyDoesNotKnow) {
  EXPECT_EQ(array({0.5f, 2.0f}).astype(DType::f8E4M3FN).to_string(), "[0.5 2]");
  EXPECT_EQ(array({1, -2}).astype(DType::i4).to_string(), "[1 -2]");
}

}  // namespace
}  // namespace strata
