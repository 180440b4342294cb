#include "strata/compile/llvm/code_cache.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "strata/compile/llvm/fingerprint.h"
#include "strata/loop/loop.h"

namespace strata::compile {
namespace {

namespace fs = std::filesystem;

class CodeCacheTest : public ::testing::Test {
 protected:
  CodeCacheTest() { fs::remove_all(folder_); }
  ~CodeCacheTest() override { fs::remove_all(folder_); }

  std::string folder_ = ::testing::TempDir() + "code_cache_test";
};

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}
void put(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

TEST_F(CodeCacheTest, GivesBackWhatWasWritten) {
  CodeCache cache(folder_);
  EXPECT_FALSE(cache.read("key"));
  std::string object("code\0with any bytes\n", 20);
  cache.write("key", object);
  EXPECT_EQ(cache.read("key"), object);
  EXPECT_EQ(CodeCache(folder_).read("key"), object);
  EXPECT_FALSE(cache.read("another key"));
}

TEST_F(CodeCacheTest, DamageAtAnyByteIsNoticed) {
  CodeCache cache(folder_);
  cache.write("key", "some code");
  std::string whole = bytes_of(cache.path("key"));
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string flipped = whole;
    flipped[i] = static_cast<char>(flipped[i] ^ 4);
    put(cache.path("key"), flipped);
    EXPECT_FALSE(cache.read("key")) << "byte " << i;
    put(cache.path("key"), whole.substr(0, i));
    EXPECT_FALSE(cache.read("key")) << "cut to " << i;
  }
  cache.write("key", "some code");
  EXPECT_EQ(cache.read("key"), "some code");
}

TEST_F(CodeCacheTest, AKeyOfTheSamePlaceIsNotTheKey) {
  CodeCache cache(folder_);
  cache.write("key", "code");
  fs::create_directories(fs::path(cache.path("other")).parent_path());
  fs::copy_file(cache.path("key"), cache.path("other"));
  EXPECT_FALSE(cache.read("other"));
}

TEST_F(CodeCacheTest, StaysUnderItsBound) {
  CodeCache cache(folder_, 20'000);
  std::string object(1000, 'x');
  for (int i = 0; i < 600; ++i) cache.write("key " + std::to_string(i), object);
  std::uintmax_t total = 0;
  for (const auto& e : fs::recursive_directory_iterator(folder_))
    if (e.is_regular_file()) total += e.file_size();
  EXPECT_LT(total, 20'000u + 256 * 1200);
}

TEST_F(CodeCacheTest, AFolderThatCannotBeMadeIsNoFailure) {
  put(folder_, "a file");
  CodeCache cache(folder_);
  cache.write("key", "code");
  EXPECT_FALSE(cache.read("key"));
  CodeCache nowhere("");
  nowhere.write("key", "code");
  EXPECT_FALSE(nowhere.read("key"));
}

std::unique_ptr<loop::Kernel> kernel(const char* name, double factor, std::int64_t unused) {
  auto k = std::make_unique<loop::Kernel>(name);
  loop::Builder b(*k);
  loop::Ref* x = b.parameter(DType::f32, 10, loop::Ref::Mode::inout);
  b.constant(DType::i64, static_cast<double>(unused));
  b.store(x, 0, b.binary(loop::Opcode::mul, b.load(x, 1), b.constant(DType::f32, factor)));
  return k;
}

TEST(Fingerprint, IsOfTheStructureAlone) {
  EXPECT_EQ(fingerprint(*kernel("a", 2, 5)), fingerprint(*kernel("b", 2, 5)));
  EXPECT_NE(fingerprint(*kernel("a", 2, 5)), fingerprint(*kernel("a", 3, 5)));
}

TEST(Fingerprint, SeesRangesAndHints) {
  auto plain = kernel("a", 2, 5), ranged = kernel("a", 2, 5), streaming = kernel("a", 2, 5),
       ahead = kernel("a", 2, 5);
  for (loop::Inst& i : ranged->arena) i.high = 1000;
  for (loop::Inst& i : streaming->arena) i.streaming = true;
  for (loop::Inst& i : ahead->arena) i.ahead = i.code == loop::Opcode::load ? 1 : 0;
  EXPECT_NE(fingerprint(*plain), fingerprint(*ranged));
  EXPECT_NE(fingerprint(*plain), fingerprint(*streaming));
  EXPECT_NE(fingerprint(*plain), fingerprint(*ahead));
}

TEST(Fingerprint, SeesWhichBuffersAreAlike) {
  auto copy = [](std::int64_t size) {
    loop::Kernel k("copy");
    loop::Builder b(k);
    loop::Ref* x = b.parameter(DType::f32, 10, loop::Ref::Mode::in);
    b.store(b.parameter(DType::f32, size, loop::Ref::Mode::out), 0, b.load(x, 0));
    return fingerprint(k);
  };
  EXPECT_NE(copy(10), copy(11));
  EXPECT_EQ(copy(11), copy(12));
}

// Lanes some elements apart are read whole as far as the array goes, and what a predicate forbids
// may be beyond its end: such code is of the array's size.
TEST(Fingerprint, SeesWhereAnArrayEndsIfTheCodeDoes) {
  auto sums = [](std::int64_t size, std::int64_t step, bool guarded) {
    loop::Kernel k("sums");
    loop::Builder b(k);
    loop::Ref *x = b.parameter(DType::f32, size, loop::Ref::Mode::in),
              *y = b.parameter(DType::f32, 16, loop::Ref::Mode::out);
    b.vector(0, 16, 16, [&](loop::Index i) {
      auto load = [&] { return b.load(x, i * step); };
      b.store(y, i, guarded ? b.guarded(b.less(i, 9), load, b.constant(DType::f32, 0)) : load());
    });
    return fingerprint(k);
  };
  EXPECT_NE(sums(31, 2, false), sums(32, 2, false));
  EXPECT_NE(sums(9, 1, true), sums(10, 1, true));
  EXPECT_EQ(sums(31, 1, false), sums(32, 1, false));
}

}  // namespace
}  // namespace strata::compile
