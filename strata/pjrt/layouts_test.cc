// Arrays and programs whose dimensions have another order than row-major.
#include "strata/pjrt/layouts.h"

#include <gmock/gmock.h>

#include "strata/pjrt/error.h"
#include "strata/pjrt/testing.h"

namespace strata::pjrt {
namespace {

using namespace testing;
using ::testing::HasSubstr;

TEST(Layouts, ModesAreRead) {
  const Type type(DType::f32, {2, 3, 4});
  auto order = [&](const char* mode) {
    return order_of(ir::Attrs{{"mhlo.layout_mode", std::string(mode)}}, type);
  };
  EXPECT_EQ(order("default"), (Order{2, 1, 0}));
  EXPECT_EQ(order("auto"), (Order{2, 1, 0}));
  EXPECT_EQ(order("{0,2,1}"), (Order{0, 2, 1}));
  EXPECT_EQ(order_of({}, Type::scalar(DType::f32)), Order());
  for (const char* wrong : {"{0,1}", "{0,0,1}", "{0,1,3}", "{0,1,2,}", "{0 1 2}", "columns", ""})
    EXPECT_THROW(order(wrong), Failure) << wrong;
  EXPECT_EQ(as_it_lies(type, {0, 2, 1}), Type(DType::f32, {3, 4, 2}));
  EXPECT_EQ(as_it_is_seen(Type(DType::f32, {3, 4, 2}), {0, 2, 1}), type);
  EXPECT_EQ(to_string(Order{0, 2, 1}), "{0,2,1}");
}

/// A layout in the interface's words.
struct Tiled {
  explicit Tiled(Order order) : order(std::move(order)) {
    layout.tiled.minor_to_major = this->order.data();
    layout.tiled.minor_to_major_size = this->order.size();
  }
  const PJRT_Buffer_MemoryLayout* get() const { return &layout; }
  Order order;
  PJRT_Buffer_MemoryLayout layout{};
};

PJRT_Buffer* columns(const Client& client, const std::vector<float>& data,
                     std::vector<std::int64_t> dims, const Order& order) {
  Tiled tiled(order);
  auto args = fresh<PJRT_Client_BufferFromHostBuffer_Args>();
  args.client = client.client;
  args.data = data.data();
  args.type = PJRT_Buffer_Type_F32;
  args.dims = dims.data();
  args.num_dims = dims.size();
  args.host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableOnlyDuringCall;
  args.device = client.devices[0];
  args.device_layout = &tiled.layout;
  const Outcome outcome = call(kClient_BufferFromHostBuffer, args);
  EXPECT_TRUE(outcome.ok()) << outcome.message;
  EXPECT_TRUE(awaited(args.done_with_host_buffer).ok());
  return args.buffer;
}

std::vector<float> memory_of(PJRT_Buffer* buffer, std::size_t count) {
  const auto* at = static_cast<const float*>(pointer(buffer));
  return {at, at + count};
}

TEST(Layouts, ABufferLiesAsItIsAsked) {
  Client client;
  const std::vector<float> data{0, 1, 2, 3, 4, 5};
  PJRT_Buffer* buffer = columns(client, data, {2, 3}, {0, 1});
  EXPECT_EQ(memory_of(buffer, 6), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  std::vector<float> got;
  STRATA_PJRT_OK(read(buffer, got, Tiled({1, 0}).get()));
  EXPECT_EQ(got, data);
  STRATA_PJRT_OK(read(buffer, got, Tiled({0, 1}).get()));
  EXPECT_EQ(got, (std::vector<float>{0, 3, 1, 4, 2, 5}));
  destroy(buffer);
}

constexpr const char* kSubtract = R"(
func.func @main(%a: tensor<2x3xf32> {mhlo.layout_mode = "{0,1}"}, %b: tensor<2x3xf32>)
    -> (tensor<2x3xf32>, tensor<3x2xf32> {mhlo.layout_mode = "{0,1}"}) {
  %0 = stablehlo.subtract %a, %b : tensor<2x3xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<3x2xf32>
})";

TEST(Layouts, AProgramTakesAndGivesThem) {
  Client client;
  PJRT_LoadedExecutable* program = nullptr;
  STRATA_PJRT_OK(client.compile(kSubtract, program));
  const std::vector<float> a{10, 11, 12, 13, 14, 15}, b{0, 1, 2, 3, 5, 7};
  PJRT_Buffer *first = columns(client, a, {2, 3}, {0, 1}),
              *second = client.buffer(b.data(), {2, 3});
  std::vector<PJRT_Buffer*> results(2);
  STRATA_PJRT_OK(execute(program, {first, second}, results));
  EXPECT_EQ(memory_of(results[0], 6), (std::vector<float>{10, 10, 10, 10, 9, 8}));
  // The transpose in columns has the bytes of what it was made of.
  EXPECT_EQ(memory_of(results[1], 6), (std::vector<float>{10, 10, 10, 10, 9, 8}));
  std::vector<float> got;
  STRATA_PJRT_OK(read(results[1], got, Tiled({1, 0}).get()));
  EXPECT_EQ(got, (std::vector<float>{10, 10, 10, 9, 10, 8}));
  std::vector<PJRT_Buffer*> none(2);
  const Outcome refused = execute(program, {second, second}, none);
  EXPECT_EQ(refused.code, PJRT_Error_Code_INVALID_ARGUMENT);
  EXPECT_THAT(refused.message, HasSubstr("argument 0 lies in the order {1,0}, not {0,1}"));
  for (PJRT_Buffer* buffer : {first, second, results[0], results[1]}) destroy(buffer);
  destroy(program);
}

}  // namespace
}  // namespace strata::pjrt
