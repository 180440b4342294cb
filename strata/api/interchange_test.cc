// Arrays in and out: vectors, spans, views, files of NumPy, DLPack.
#include <filesystem>
#include <fstream>

#include "strata/api/testing.h"

namespace strata {
namespace {

using ::testing::ElementsAre;
using testing::expect_array;
using ::testing::HasSubstr;
using testing::message_of;
using testing::shows_names;
using testing::type_of;
namespace snp = numpy;

TEST(Interchange, AsArrayCopiesOnlyWhereItMust) {
  shows_names("numpy.asarray");
  const Array x = array({1.5f, -2.0f});
  EXPECT_EQ(snp::asarray(x).state(), x.state());
  EXPECT_EQ(snp::asarray(x, float32).buffer().data(), x.buffer().data());
  EXPECT_NE(snp::asarray(x, {.copy = true}).buffer().data(), x.buffer().data());
  EXPECT_EQ(snp::asarray(x, {.copy = true}).to_vector<float>(), x.to_vector<float>());
  EXPECT_EQ(snp::asarray(x, {.copy = false}).state(), x.state());
  EXPECT_THAT(message_of([&] { (void)snp::asarray(x, {.dtype = int32, .copy = false}); }),
              HasSubstr("f32[2] cannot become i32 without a copy"));
  expect_array(snp::asarray(x, int32), "i32[2]", {1, -2});
  expect_array(snp::asarray(x, float64), "f32[2]", {1.5, -2});
  expect_array(snp::asarray(zeros({0, 3}), bfloat16), "bf16[0,3]", {});
  expect_array(snp::asarray(snp::nan, float16), "f16[]", {NAN});
  EXPECT_TRUE(snp::asarray(2).weak());
  EXPECT_FALSE(snp::asarray(2, int32).weak());
  expect_array(snp::asarray({1, 2, 3}), "i32[3]", {1, 2, 3});
  expect_array(snp::asarray({{1.5, 2.0}, {3.0, 4.0}}), "f32[2,2]", {1.5, 2, 3, 4});
  expect_array(snp::asarray(std::vector<float>{1, 2, 3, 4}, Sizes{2, 2}), "f32[2,2]", {1, 2, 3, 4});
  EXPECT_TRUE(jit([](Array v) { return snp::asarray(v, {.copy = true}); })(x).has_value());
}

TEST(Interchange, SpansAndViewsAreCopied) {
  float memory[6] = {0, 1, 2, 3, 4, 5};
  const Array x = snp::asarray(std::span<const float>(memory), Sizes{2, 3});
  memory[0] = 9;
  expect_array(x, "f32[2,3]", {0, 1, 2, 3, 4, 5});
  expect_array(snp::asarray(std::span<float>(memory, 2)), "f32[2]", {9, 1});
  expect_array(snp::asarray(std::span<const std::int64_t>()), "i32[0]", {});
  const double wide[2] = {1, 2};
  expect_array(snp::asarray(std::span<const double>(wide), {}, float16), "f16[2]", {1, 2});
}

/// As std::mdspan with a strided layout.
struct Transposed {
  using element_type = const float;
  static constexpr std::size_t rank() { return 2; }
  std::size_t extent(std::size_t d) const { return d == 0 ? 3 : 2; }
  std::size_t stride(std::size_t d) const { return d == 0 ? 1 : 3; }
  const float* data_handle() const { return data; }
  const float* data;
};

TEST(Interchange, ViewsOfSeveralDimensions) {
  const float memory[6] = {0, 1, 2, 3, 4, 5};
  expect_array(snp::asarray(Transposed{memory}), "f32[3,2]", {0, 3, 1, 4, 2, 5});
  const Array x = array({{1, 2, 3}, {4, 5, 6}});
  const snp::ArrayView<std::int32_t, 2> view(x);
  EXPECT_EQ(view(1, 2), 6);
  EXPECT_EQ(view.extent(1), 3);
  EXPECT_EQ(view.data_handle(), reinterpret_cast<const std::int32_t*>(x.buffer().data()))
      << "not copied";
  expect_array(snp::asarray(view), "i32[2,3]", {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(snp::elements<std::int32_t>(x), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(message_of([&] { snp::elements<float>(x); }),
              HasSubstr("i32[2,3] has no elements of f32"));
  EXPECT_THAT(message_of([&] { snp::ArrayView<std::int32_t, 1>{x}; }),
              HasSubstr("i32[2,3] does not have 1 dimensions"));
  EXPECT_THAT(message_of([&] {
                (void)jit([](Array v) {
                  snp::elements<std::int32_t>(v);
                  return v;
                })(x);
              }),
              HasSubstr("a traced array has no elements yet"));
}

TEST(Interchange, DlpackHandsMemoryOver) {
  shows_names("numpy.from_dlpack");
  for (const Array& x :
       {array({{1.5f, 2.0f}, {3.0f, 4.0f}}), arange(5), ones({2}, bfloat16), array({true, false}),
        array({std::complex<float>(1, 2)}), snp::full({}, 3.0f), arange(3).astype(uint8)}) {
    const void* memory = x.buffer().data();
    dlpack::ManagedTensor* t = snp::to_dlpack(x);
    EXPECT_EQ(t->dl_tensor.data, memory) << "not copied";
    EXPECT_EQ(t->flags, dlpack::kReadOnly);
    EXPECT_EQ(t->dl_tensor.ndim, x.ndim());
    const Array y = snp::from_dlpack(t);
    EXPECT_EQ(y.buffer().data(), memory) << "not copied";
    EXPECT_EQ(type_of(y), type_of(x));
    EXPECT_TRUE(y.literal().same_bits(x.literal()));
  }
  const Array none = snp::from_dlpack(snp::to_dlpack(zeros({0, 3})));
  EXPECT_EQ(type_of(none), "f32[0,3]");
}

/// Somebody else's tensor, which counts how often it is given back.
struct Foreign {
  dlpack::ManagedTensor tensor{};
  std::vector<double> data;
  std::vector<std::int64_t> sizes, strides;
  int* returned;
};
dlpack::ManagedTensor* foreign(std::vector<std::int64_t> sizes, std::vector<std::int64_t> strides,
                               int& returned, dlpack::DataType type) {
  auto* f = new Foreign{{}, {0, 1, 2, 3, 4, 5}, std::move(sizes), std::move(strides), &returned};
  f->tensor = {.version = dlpack::kVersion,
               .manager_ctx = f,
               .deleter =
                   [](dlpack::ManagedTensor* t) {
                     auto* self = static_cast<Foreign*>(t->manager_ctx);
                     ++*self->returned;
                     delete self;
                   },
               .flags = 0,
               .dl_tensor = {f->data.data(),
                             {dlpack::DeviceType::cpu, 0},
                             static_cast<std::int32_t>(f->sizes.size()),
                             type,
                             f->sizes.data(),
                             f->strides.empty() ? nullptr : f->strides.data(),
                             0}};
  return &f->tensor;
}
constexpr dlpack::DataType kF64{dlpack::TypeCode::floating, 64, 1};

TEST(Interchange, DlpackGivesMemoryBack) {
  int returned = 0;
  {
    const EnableX64 wide;
    const Array x = snp::from_dlpack(foreign({2, 3}, {}, returned, kF64), {.copy = false});
    EXPECT_EQ(returned, 0);
    expect_array(x + 1, "f64[2,3]", {1, 2, 3, 4, 5, 6});
  }
  EXPECT_EQ(returned, 1) << "with the last handle";
  const Array narrow = snp::from_dlpack(foreign({6}, {}, returned, kF64));
  EXPECT_EQ(returned, 2) << "copied as f32";
  EXPECT_EQ(type_of(narrow), "f32[6]");
  expect_array(snp::from_dlpack(foreign({3, 2}, {1, 3}, returned, kF64)), "f32[3,2]",
               {0, 3, 1, 4, 2, 5});
  EXPECT_EQ(returned, 3);
  EXPECT_THAT(message_of([&] {
                (void)snp::from_dlpack(foreign({3, 2}, {1, 3}, returned, kF64), {.copy = false});
              }),
              HasSubstr("f64[3,2] cannot be taken without a copy"));
  EXPECT_EQ(returned, 4);
}

TEST(Interchange, DlpackRefusesWhatItDoesNotTake) {
  int returned = 0;
  auto refused = [&](auto change) {
    dlpack::ManagedTensor* t = foreign({6}, {}, returned, kF64);
    change(*t);
    return message_of([&] { (void)snp::from_dlpack(t); });
  };
  EXPECT_THAT(refused([](auto& t) { t.version.major = 2; }),
              HasSubstr("version 2.0 of DLPack is not 1.x"));
  EXPECT_THAT(
      refused([](auto& t) { t.dl_tensor.device.device_type = static_cast<dlpack::DeviceType>(2); }),
      HasSubstr("on a device of kind 2"));
  EXPECT_THAT(refused([](auto& t) { t.dl_tensor.dtype.lanes = 4; }), HasSubstr("4 lanes"));
  EXPECT_THAT(refused([](auto& t) { t.dl_tensor.dtype.bits = 24; }), HasSubstr("24 bits"));
  EXPECT_THAT(refused([](auto& t) { t.dl_tensor.shape[0] = -1; }),
              HasSubstr("dimension 0 has size -1"));
  EXPECT_EQ(returned, 5) << "each given back";
  EXPECT_THAT(message_of([] { (void)snp::from_dlpack(nullptr); }), HasSubstr("there is no tensor"));
  EXPECT_THAT(message_of([] {
                (void)jit([](Array v) {
                  snp::to_dlpack(v);
                  return v;
                })(ones({2}));
              }),
              HasSubstr("a traced array has no elements yet"));
}

class Files : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_ =
      std::filesystem::path(::testing::TempDir()) /
      ("files_" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
};

TEST_F(Files, SaveAndLoad) {
  shows_names("numpy.save numpy.load");
  int i = 0;
  for (const Array& x :
       {array({{1.5f, -2.0f}, {snp::inf, 0.0f}}), arange(5), ones({2, 1}, bfloat16),
        array({true, false}), array({std::complex<float>(1, 2)}), zeros({0, 3}, float16),
        snp::full({}, 7), arange(3).astype(uint8)}) {
    const std::string name = path(fmt::format("x{}", i++));
    ASSERT_TRUE(snp::save(name, x).ok());
    auto y = snp::load(name + ".npy");
    ASSERT_TRUE(y.ok()) << y.status().message();
    EXPECT_EQ(type_of(*y), type_of(x));
    EXPECT_TRUE(y->literal().same_bits(x.literal()));
  }
  ASSERT_TRUE(snp::save(path("given.npy"), 2.5).ok());
  EXPECT_TRUE(snp::load(path("given.npy")).ok()) << "an ending that is there already";
  EXPECT_EQ(snp::load(path("none.npy")).status().code(), Code::not_found);
  std::ofstream(path("text.npy")) << "no array";
  EXPECT_EQ(snp::load(path("text.npy")).status().code(), Code::corrupt);
  EXPECT_FALSE(snp::save(path("no/folder"), ones({2})).ok());
}

TEST_F(Files, SixtyFourBitsAreASwitch) {
  {
    const EnableX64 wide;
    ASSERT_TRUE(snp::save(path("x"), array({1.5, 2.5})).ok());
    EXPECT_EQ(type_of(*snp::load(path("x.npy"))), "f64[2]");
  }
  expect_array(*snp::load(path("x.npy")), "f32[2]", {1.5, 2.5});
}

TEST_F(Files, SavezKeepsNames) {
  shows_names("numpy.savez");
  ASSERT_TRUE(snp::savez(path("m"), {ones({2}), arange(3)},
                         {{"w", array({{1.0f, 2.0f}})}, {"b", zeros({0}, bfloat16)}})
                  .ok());
  auto arrays = snp::load_npz(path("m.npz"));
  ASSERT_TRUE(arrays.ok()) << arrays.status().message();
  std::vector<std::string> names;
  for (const auto& [name, x] : *arrays) names.push_back(name + " " + type_of(x));
  EXPECT_THAT(names, ElementsAre("arr_0 f32[2]", "arr_1 i32[3]", "b bf16[0]", "w f32[1,2]"));
  expect_array((*arrays)[3].second, "f32[1,2]", {1, 2});
  EXPECT_EQ(snp::savez(path("m"), {ones({2})}, {{"arr_0", ones({1})}}).code(), Code::invalid);
  EXPECT_EQ(snp::load_npz(path("none.npz")).status().code(), Code::not_found);
}

TEST_F(Files, FromFileReadsNumbers) {
  shows_names("numpy.fromfile");
  std::ofstream(path("n"), std::ios::binary).write("\1\0\0\0\2\0\0\0\3\0\0\0\4", 13);
  auto read = [&](DType dtype, const snp::FromBuffer& options = {}) {
    return *snp::fromfile(path("n"), dtype, options);
  };
  expect_array(read(int32), "i32[3]", {1, 2, 3});
  expect_array(read(int32, {.count = 2}), "i32[2]", {1, 2});
  expect_array(read(int32, {.count = 9, .offset = 4}), "i32[2]", {2, 3});
  expect_array(read(uint8, {.offset = 12}), "ui8[1]", {4});
  expect_array(read(bool_, {.count = 5}), "i1[5]", {1, 0, 0, 0, 1});
  expect_array(read(float32, {.offset = 99}), "f32[0]", {});
  EXPECT_EQ(snp::fromfile(path("none")).status().code(), Code::not_found);
  EXPECT_THAT(message_of([&] { (void)snp::fromfile(path("n"), int32, {.offset = -1}); }),
              HasSubstr("the offset is at least 0, got -1"));
}

TEST(Interchange, BorrowedMemoryIsReadWhereItLies) {
  std::vector<float> memory{0, 1, 2, 3, 4, 5};
  int released = 0;
  {
    const Array x = snp::borrow(memory.data(), {2, 3}, [&] { ++released; });
    EXPECT_EQ(snp::elements<float>(x).data(), memory.data());
    expect_array(x * 2, "f32[2,3]", {0, 2, 4, 6, 8, 10});
    const Array copy = x;
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
  const Array y = borrow(std::span<const float>(memory), {3, -1});
  EXPECT_EQ(snp::elements<float>(y).data(), memory.data());
  expect_array(y, "f32[3,2]", {0, 1, 2, 3, 4, 5});
  expect_array(snp::borrow(std::span(memory).subspan(4)), "f32[2]", {4, 5});
  expect_array(snp::borrow(static_cast<const float*>(nullptr), {0, 3}, [&] { ++released; }),
               "f32[0,3]", {});
  EXPECT_EQ(released, 2);
}

TEST(Interchange, BorrowedMemoryIsNeverWrittenTo) {
  std::vector<float> memory(5000, 1.0f);
  auto step = jit([](Array x) { return x + 1; }, {.donate_argnums = 0});
  expect_array(step(snp::borrow(memory.data(), {5000}))[0], "f32[]", {2});
  EXPECT_EQ(memory, std::vector<float>(5000, 1.0f));
  // A tensor of another library that is read-only is no different.
  const Array x = snp::adopt(std::vector<float>(5000, 3.0f));
  expect_array(step(snp::from_dlpack(snp::to_dlpack(x)))[0], "f32[]", {4});
  expect_array(x[0], "f32[]", {3});
}

TEST(Interchange, AdoptedVectorsBecomeArrays) {
  std::vector<float> memory(5000, 1.0f);
  const float* place = memory.data();
  Array x = adopt(std::move(memory), {50, -1});
  EXPECT_EQ(type_of(x), "f32[50,100]");
  EXPECT_EQ(snp::elements<float>(x).data(), place);
  // Nobody else has it: a program that is given it may write there.
  x = jit([](Array y) { return y + 1; }, {.donate_argnums = 0})(std::move(x));
  EXPECT_EQ(snp::elements<float>(x).data(), place);
  expect_array(x[{0, 0}], "f32[]", {2});
  expect_array(adopt(std::vector<std::int32_t>()), "i32[0]", {});
}

TEST(Interchange, RefusesMemoryThatCannotStay) {
  std::vector<double> wide{1, 2};
  int released = 0;
  EXPECT_THAT(message_of([&] { snp::borrow(wide.data(), {2}, [&] { ++released; }); }),
              HasSubstr("f64 elements are 64 bits wide, and x64 is off"));
  EXPECT_EQ(released, 1);
  {
    EnableX64 on;
    expect_array(snp::borrow(wide.data(), {2}), "f64[2]", {1, 2});
  }
  const auto* odd = reinterpret_cast<const float*>(reinterpret_cast<const char*>(wide.data()) + 1);
  EXPECT_THAT(message_of([&] { snp::borrow(odd, {2}); }), HasSubstr("not aligned to 4 bytes"));
  EXPECT_THAT(message_of([&] { snp::borrow(static_cast<const float*>(nullptr), {2}); }),
              HasSubstr("there is no memory for 2 elements"));
  EXPECT_THAT(message_of([&] { snp::borrow(std::span<const float>(odd + 1, 0), {-1, 0, 2}); }),
              HasSubstr("not aligned"));
  EXPECT_THAT(message_of([&] { adopt(std::vector<float>(6), {4}); }),
              HasSubstr("6 values do not fill shape"));
}

}  // namespace
}  // namespace strata
