// Dtypes: what finfo, iinfo and can_cast say is what NumPy 2.4 and ml_dtypes say of the same types.
#include "strata/api/testing.h"

namespace strata {
namespace {

using testing::message_of;
using testing::shows_names;
using ::testing::StartsWith;
namespace snp = strata::numpy;

TEST(DTypes, NarrowOnesHaveNames) {
  shows_names(
      "numpy.dtype numpy.int2 numpy.int4 numpy.uint2 numpy.uint4 numpy.float4_e2m1fn "
      "numpy.float6_e2m3fn numpy.float6_e3m2fn numpy.float8_e3m4 numpy.float8_e4m3 "
      "numpy.float8_e4m3b11fnuz numpy.float8_e4m3fn numpy.float8_e4m3fnuz numpy.float8_e5m2 "
      "numpy.float8_e5m2fnuz numpy.float8_e8m0fnu");
  const std::vector<std::pair<std::string, DType>> all = {
      {"int2", snp::int2},
      {"int4", snp::int4},
      {"uint2", snp::uint2},
      {"uint4", snp::uint4},
      {"float4_e2m1fn", snp::float4_e2m1fn},
      {"float6_e2m3fn", snp::float6_e2m3fn},
      {"float6_e3m2fn", snp::float6_e3m2fn},
      {"float8_e3m4", snp::float8_e3m4},
      {"float8_e4m3", snp::float8_e4m3},
      {"float8_e4m3b11fnuz", snp::float8_e4m3b11fnuz},
      {"float8_e4m3fn", snp::float8_e4m3fn},
      {"float8_e4m3fnuz", snp::float8_e4m3fnuz},
      {"float8_e5m2", snp::float8_e5m2},
      {"float8_e5m2fnuz", snp::float8_e5m2fnuz},
      {"float8_e8m0fnu", snp::float8_e8m0fnu},
      {"float32", float32},
      {"bool", bool_},
      {"complex64", complex64}};
  for (const auto& [name, dtype] : all) EXPECT_EQ(snp::dtype(name), dtype) << name;
  EXPECT_EQ(bit_width(snp::int4), 4);
  EXPECT_EQ(bit_width(snp::float8_e5m2), 8);
  // Arrays of them hold their numbers: 3 bits of mantissa round 1.1 to 1.125, 2 bits to 1.
  EXPECT_EQ(Array(1.1f).astype(snp::float8_e4m3fn).astype(float32).item<float>(), 1.125f);
  EXPECT_EQ(Array(1.1f).astype(snp::float8_e5m2).astype(float32).item<float>(), 1.0f);
  EXPECT_EQ(Array(1.7f).astype(int32).astype(float32).item<float>(), 1.0f);
  EXPECT_EQ(Array(1.1f).astype(float16).astype(float32).item<float>(), 1.099609375f);
  EXPECT_EQ(array({-8, 7}).astype(snp::int4).astype(int32).to_vector<int>(),
            (std::vector<int>{-8, 7}));
  EXPECT_THAT(message_of([] { snp::dtype("float7"); }),
              StartsWith("dtype: \"float7\" is no dtype"));
}

TEST(DTypes, FloatInfo) {
  shows_names("numpy.finfo");
  const auto f = snp::finfo(float32);
  EXPECT_EQ(f.bits, 32);
  EXPECT_EQ(f.nmant, 23);
  EXPECT_EQ(f.nexp, 8);
  EXPECT_EQ(f.minexp, -126);
  EXPECT_EQ(f.maxexp, 128);
  EXPECT_EQ(f.precision, 6);
  EXPECT_EQ(f.eps, 0x1p-23);
  EXPECT_EQ(f.epsneg, 0x1p-24);
  EXPECT_EQ(f.max, std::numeric_limits<float>::max());
  EXPECT_EQ(f.min, -f.max);
  EXPECT_EQ(f.tiny, std::numeric_limits<float>::min());
  EXPECT_EQ(f.smallest_subnormal, std::numeric_limits<float>::denorm_min());
  EXPECT_DOUBLE_EQ(f.resolution, 1e-6);
  EXPECT_EQ(snp::finfo(complex64).dtype, float32);
  EXPECT_EQ(snp::finfo(float64).precision, 15);
  EXPECT_EQ(snp::finfo(float16).max, 65504);
  EXPECT_EQ(snp::finfo(float16).maxexp, 16);
  EXPECT_EQ(snp::finfo(bfloat16).eps, 0x1p-7);
  EXPECT_EQ(snp::finfo(snp::float8_e4m3fn).max, 448);
  EXPECT_EQ(snp::finfo(snp::float8_e5m2).max, 57344);
  EXPECT_EQ(snp::finfo(snp::float8_e5m2).smallest_normal, 0x1p-14);
  EXPECT_EQ(snp::finfo(snp::float4_e2m1fn).max, 6);
  EXPECT_THAT(message_of([] { snp::finfo(int32); }),
              StartsWith("finfo: a float type is needed, got i32; iinfo knows integers"));
}

TEST(DTypes, IntegerInfo) {
  shows_names("numpy.iinfo");
  EXPECT_EQ(snp::iinfo(int8).min, -128);
  EXPECT_EQ(snp::iinfo(int8).max, 127U);
  EXPECT_EQ(snp::iinfo(uint8).min, 0);
  EXPECT_EQ(snp::iinfo(uint8).max, 255U);
  EXPECT_EQ(snp::iinfo(int64).min, std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(snp::iinfo(uint64).max, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(snp::iinfo(snp::int4).min, -8);
  EXPECT_EQ(snp::iinfo(snp::uint2).max, 3U);
  EXPECT_EQ(snp::iinfo(int32).bits, 32);
  EXPECT_THAT(message_of([] { snp::iinfo(float32); }),
              StartsWith("iinfo: an integer type is needed, got f32; finfo knows floats"));
}

TEST(DTypes, CanCast) {
  shows_names("numpy.can_cast");
  const std::vector<DType> types = {bool_,   int8,    int16,     int32,     int64,
                                    uint8,   uint16,  uint32,    uint64,    float16,
                                    float32, float64, complex64, complex128};
  // Rows: from; columns: to. numpy.can_cast of each pair, "safe" and "same_kind".
  const std::vector<std::string> safe = {
      "11111111111111", "01111000011111", "00111000001111", "00011000000101", "00001000000101",
      "00111111111111", "00011011101111", "00001001100101", "00000000100101", "00000000011111",
      "00000000001111", "00000000000101", "00000000000011", "00000000000001"};
  const std::vector<std::string> same_kind = {
      "11111111111111", "01111000011111", "01111000011111", "01111000011111", "01111000011111",
      "01111111111111", "01111111111111", "01111111111111", "01111111111111", "00000000011111",
      "00000000011111", "00000000011111", "00000000000011", "00000000000011"};
  for (std::size_t i = 0; i < types.size(); ++i)
    for (std::size_t j = 0; j < types.size(); ++j) {
      EXPECT_EQ(snp::can_cast(types[i], types[j]), safe[i][j] == '1')
          << name(types[i]) << " to " << name(types[j]);
      EXPECT_EQ(snp::can_cast(types[i], types[j], "same_kind"), same_kind[i][j] == '1')
          << name(types[i]) << " to " << name(types[j]) << ", same_kind";
      EXPECT_TRUE(snp::can_cast(types[i], types[j], "unsafe"));
      EXPECT_EQ(snp::can_cast(types[i], types[j], "no"), i == j);
    }
  EXPECT_THAT(message_of([] { snp::can_cast(int8, int16, "maybe"); }),
              StartsWith("can_cast: casting is"));
}

}  // namespace
}  // namespace strata
