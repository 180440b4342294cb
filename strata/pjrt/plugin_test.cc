// The plugin driven as a framework drives it, through the table alone.
#include <gmock/gmock.h>

#include <atomic>
#include <numeric>
#include <random>
#include <thread>

#include "strata/pjrt/compile_options.h"
#include "strata/pjrt/error.h"
#include "strata/pjrt/program.h"
#include "strata/pjrt/testing.h"

namespace strata::pjrt::testing {
namespace {

PJRT_NamedValue option(const char* name, const char* value) {
  PJRT_NamedValue out{
      sizeof out, nullptr,           name, std::strlen(name), PJRT_NamedValue::kString,
      {},         std::strlen(value)};
  out.string_value = value;
  return out;
}

constexpr const char* kAdd = R"(module @jit_add {
  func.func public @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.add %a, %b : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
})";

/// x + 1 of 64 Ki floats, whose argument is given away.
constexpr const char* kDonating = R"(module @jit_step {
  func.func public @main(%a: tensor<65536xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<65536xf32>) -> tensor<65536xf32> {
    %0 = stablehlo.add %a, %b : tensor<65536xf32>
    return %0 : tensor<65536xf32>
  }
})";

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Table, EverySlotIsThere) {
  const PJRT_Api* api = GetPjrtApi();
  EXPECT_EQ(api, GetPjrtApi());
  EXPECT_EQ(api->struct_size, sizeof(PJRT_Api));
  EXPECT_EQ(api->pjrt_api_version.major_version, 0);
  for (int slot = 0; slot < PJRT_Api::kSlots; ++slot) EXPECT_NE(api->slots[slot], nullptr) << slot;
}

TEST(Table, AStructThatIsTooSmallIsRefusedAndALargerOneIsNot) {
  auto args = fresh<PJRT_Client_Create_Args>();
  args.struct_size = 24;
  EXPECT_EQ(call(kClient_Create, args).code, PJRT_Error_Code_INVALID_ARGUMENT);
  struct {
    PJRT_Plugin_Attributes_Args args = fresh<PJRT_Plugin_Attributes_Args>();
    std::uint64_t later = 7;
  } larger;
  larger.args.struct_size = sizeof larger;
  EXPECT_TRUE(call(kPlugin_Attributes, larger.args).ok());
  EXPECT_EQ(larger.later, 7u);
}

TEST(Table, WhatIsNotThereSaysSo) {
  auto args = fresh<PJRT_Plugin_Initialize_Args>();
  const Outcome o = call(kClient_DmaMap, args);
  EXPECT_EQ(o.code, PJRT_Error_Code_UNIMPLEMENTED);
  EXPECT_NE(o.message.find("PJRT_Client_DmaMap"), std::string::npos);
}

TEST(ClientOptions, NumbersMayBeWords) {
  Client client({option("cpu_device_count", "3"), option("platform_name", "cpu")});
  ASSERT_TRUE(client.outcome.ok()) << client.outcome.message;
  EXPECT_EQ(client.devices.size(), 3u);
  auto name = fresh<PJRT_Client_PlatformName_Args>();
  name.client = client.client;
  call(kClient_PlatformName, name);
  EXPECT_EQ(std::string(name.platform_name, name.platform_name_size), "cpu");
}

TEST(ClientOptions, MistakesAreNamed) {
  for (auto [key, value] : {std::pair{"cpu_device_count", "0"},
                            {"cpu_device_count", "2x"},
                            {"cpu_device_count", "99999"},
                            {"device_count", "2"}}) {
    Client client({option(key, value)});
    EXPECT_EQ(client.outcome.code, PJRT_Error_Code_INVALID_ARGUMENT) << key << "=" << value;
    EXPECT_NE(client.outcome.message.find(key), std::string::npos) << client.outcome.message;
  }
}

// ---- arrays ------------------------------------------------------------------------------------

/// Arrays of random shapes and strides (zero, negative, permuted, with gaps) arrive as the
/// definition of strides says.
TEST(Buffers, AnyStridesIn) {
  Client client;
  std::mt19937 random(7);
  for (int trial = 0; trial < 200; ++trial) {
    const int rank = static_cast<int>(random() % 5);
    std::vector<std::int64_t> dims, strides;
    for (int d = 0; d < rank; ++d) dims.push_back(static_cast<std::int64_t>(random() % 5));
    std::int64_t lowest = 0, highest = 0;
    for (int d = 0; d < rank; ++d) {
      const auto stride = static_cast<std::int64_t>(random() % 25) - 12;
      strides.push_back(stride * 4);
      (stride < 0 ? lowest : highest) +=
          stride * std::max<std::int64_t>(dims[static_cast<std::size_t>(d)] - 1, 0);
    }
    std::vector<float> memory(static_cast<std::size_t>(highest - lowest + 1));
    std::iota(memory.begin(), memory.end(), 1.0f);
    const float* data = memory.data() - lowest;
    std::vector<float> want, got;
    std::vector<std::int64_t> index(static_cast<std::size_t>(rank), 0);
    const std::int64_t count =
        std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
    for (std::int64_t n = 0; n < count; ++n) {
      std::int64_t rest = n, at = 0;
      for (int d = rank; d-- > 0;) {
        const auto i = static_cast<std::size_t>(d);
        at += rest % dims[i] * (strides[i] / 4);
        rest /= dims[i];
      }
      want.push_back(data[at]);
    }
    PJRT_Buffer* buffer = client.buffer(data, dims, strides);
    STRATA_PJRT_OK(read(buffer, got));
    EXPECT_EQ(got, want) << "trial " << trial;
    destroy(buffer);
  }
}

/// A 4-bit number is what its lower half says, whatever stands above it.
TEST(Buffers, NarrowElementsAreCleaned) {
  Client client;
  const std::vector<std::uint8_t> data{0x0e, 0xfe, 0x17, 0x80};
  const std::int64_t dims[] = {4};
  for (auto [type, want] : {std::pair{PJRT_Buffer_Type_S4, std::vector<std::int8_t>{-2, -2, 7, 0}},
                            {PJRT_Buffer_Type_U4, {14, 14, 7, 0}},
                            {PJRT_Buffer_Type_S2, {-2, -2, -1, 0}}}) {
    auto args = fresh<PJRT_Client_BufferFromHostBuffer_Args>();
    args.client = client.client;
    args.data = data.data();
    args.type = type;
    args.dims = dims;
    args.num_dims = 1;
    args.device = client.devices[0];
    STRATA_PJRT_OK(call(kClient_BufferFromHostBuffer, args));
    EXPECT_TRUE(awaited(args.done_with_host_buffer).ok());
    const auto* held = static_cast<const std::int8_t*>(pointer(args.buffer));
    EXPECT_EQ(std::vector<std::int8_t>(held, held + 4), want);
    destroy(args.buffer);
  }
}

TEST(Buffers, OutInAnotherOrder) {
  Client client;
  const std::vector<float> data{0, 1, 2, 3, 4, 5};
  PJRT_Buffer* buffer = client.buffer(data.data(), {2, 3});
  const std::int64_t columns[] = {0, 1};
  PJRT_Buffer_MemoryLayout layout{};
  layout.tiled.minor_to_major = columns;
  layout.tiled.minor_to_major_size = 2;
  std::vector<float> got;
  STRATA_PJRT_OK(read(buffer, got, &layout));
  EXPECT_EQ(got, (std::vector<float>{0, 3, 1, 4, 2, 5}));
  const std::int64_t twice[] = {0, 0};
  layout.tiled.minor_to_major = twice;
  EXPECT_EQ(read(buffer, got, &layout).code, PJRT_Error_Code_INVALID_ARGUMENT);
  destroy(buffer);
}

TEST(Buffers, MemoryOfOthersIsTakenAsItLies) {
  Client client;
  std::vector<float> data(65536, 2.0f);
  PJRT_Event* done = nullptr;
  PJRT_Buffer* buffer =
      client.buffer(data.data(), {65536}, {4}, PJRT_HostBufferSemantics_kImmutableZeroCopy, &done);
  EXPECT_EQ(pointer(buffer), data.data());
  auto ready = fresh<PJRT_Event_IsReady_Args>();
  ready.event = done;
  call(kEvent_IsReady, ready);
  EXPECT_FALSE(ready.is_ready) << "the memory is in use";
  destroy(buffer);
  EXPECT_TRUE(awaited(done).ok());
}

TEST(Buffers, ADeletedOneSaysSo) {
  Client client;
  const float one = 1;
  PJRT_Buffer* buffer = client.buffer(&one, {});
  auto drop = fresh<PJRT_Buffer_Delete_Args>();
  drop.buffer = buffer;
  STRATA_PJRT_OK(call(kBuffer_Delete, drop));
  EXPECT_TRUE(is_deleted(buffer));
  std::vector<float> got;
  EXPECT_EQ(read(buffer, got).code, PJRT_Error_Code_INVALID_ARGUMENT);
  destroy(buffer);
}

// ---- programs ----------------------------------------------------------------------------------

TEST(Programs, Add) {
  Client client;
  PJRT_LoadedExecutable* add = nullptr;
  STRATA_PJRT_OK(client.compile(kAdd, add));
  const std::vector<float> a{1, 2, 3, 4}, b{10, 20, 30, 40};
  PJRT_Buffer *x = client.buffer(a.data(), {4}), *y = client.buffer(b.data(), {4});
  std::vector<PJRT_Buffer*> out(1);
  STRATA_PJRT_OK(execute(add, {x, y}, out));
  std::vector<float> got;
  STRATA_PJRT_OK(read(out[0], got));
  EXPECT_EQ(got, (std::vector<float>{11, 22, 33, 44}));
  EXPECT_FALSE(is_deleted(x));
  for (PJRT_Buffer* buffer : {x, y, out[0]}) destroy(buffer);
  destroy(add);
}

/// A running sum of an open size, as jax.export writes it, of an argument whose size is known:
/// shapes are refined here as where programs are loaded (runtime/specialized.h).
TEST(Programs, OpenShapesAreRefined) {
  const std::string text = R"(
func.func @main(%a: tensor<4xf32>) -> tensor<?xf32> {
  %x = stablehlo.convert %a : (tensor<4xf32>) -> tensor<?xf32>
  %i = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  %zero = stablehlo.constant dense<0> : tensor<1xi32>
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %w = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %l = stablehlo.subtract %w, %one : tensor<1xi32>
  %lz = stablehlo.concatenate %l, %zero, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %p = stablehlo.reshape %lz : (tensor<2xi32>) -> tensor<1x2xi32>
  %0 = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%x, %i, %w, %one, %one, %one, %p) {called_computations = [@sum]} : (tensor<?xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1x2xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func private @sum(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %r = stablehlo.add %a, %b : tensor<f32>
  return %r : tensor<f32>
})";
  Client client;
  PJRT_LoadedExecutable* sums = nullptr;
  STRATA_PJRT_OK(client.compile(text, sums));
  const std::vector<float> a{1, 2, 3, 4};
  PJRT_Buffer* x = client.buffer(a.data(), {4});
  std::vector<PJRT_Buffer*> out(1);
  STRATA_PJRT_OK(execute(sums, {x}, out));
  std::vector<float> got;
  STRATA_PJRT_OK(read(out[0], got));
  EXPECT_EQ(got, (std::vector<float>{1, 3, 6, 10}));
  for (PJRT_Buffer* buffer : {x, out[0]}) destroy(buffer);
  destroy(sums);

  std::string open = text;
  open.replace(open.find("tensor<4xf32>"), 13, "tensor<?xf32>");
  open.replace(open.find("(tensor<4xf32>)"), 15, "(tensor<?xf32>)");
  const Outcome o = client.compile(open, sums);
  EXPECT_EQ(o.code, PJRT_Error_Code_INVALID_ARGUMENT);
  EXPECT_NE(o.message.find("argument 0 is given without sizes: tensor<?xf32>"), std::string::npos)
      << o.message;
}

TEST(Programs, MistakesAreToldByTheirOwners) {
  Client client;
  PJRT_LoadedExecutable* none = nullptr;
  Outcome o = client.compile("module { func.func @main( }", none);
  EXPECT_EQ(o.code, PJRT_Error_Code_INVALID_ARGUMENT);
  EXPECT_NE(o.message.find("1:"), std::string::npos) << "where: " << o.message;
  EXPECT_EQ(client.compile(kAdd, none, plain_options(), "hlo").code, PJRT_Error_Code_UNIMPLEMENTED);
  EXPECT_EQ(client.compile(kAdd, none, "\x1a\x7f").code, PJRT_Error_Code_INVALID_ARGUMENT);
  // executable_build_options {num_replicas: 1, num_partitions: 2}
  o = client.compile(kAdd, none, std::string("\x1a\x04\x20\x01\x28\x02"));
  EXPECT_EQ(o.code, PJRT_Error_Code_INVALID_ARGUMENT);
  EXPECT_NE(o.message.find("no device 1: there are 1"), std::string::npos) << o.message;
}

TEST(Programs, ArgumentsAreChecked) {
  Client client;
  PJRT_LoadedExecutable* add = nullptr;
  STRATA_PJRT_OK(client.compile(kAdd, add));
  const std::vector<float> a{1, 2, 3, 4};
  PJRT_Buffer *x = client.buffer(a.data(), {4}), *square = client.buffer(a.data(), {2, 2});
  std::vector<PJRT_Buffer*> out(1);
  EXPECT_EQ(execute(add, {x}, out).code, PJRT_Error_Code_INVALID_ARGUMENT);
  const Outcome o = execute(add, {x, square}, out);
  EXPECT_EQ(o.code, PJRT_Error_Code_INVALID_ARGUMENT);
  EXPECT_NE(o.message.find("argument 1"), std::string::npos) << o.message;
  destroy(x);
  destroy(square);
  destroy(add);
}

TEST(Programs, MissingMemoryIsToldWithItsNumbers) {
  Client client;
  PJRT_LoadedExecutable* spread = nullptr;
  STRATA_PJRT_OK(client.compile(
      "module { func.func public @main(%x: tensor<f32>) -> tensor<4194304x4194304xf32> {\n"
      "%y = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<f32>) -> "
      "tensor<4194304x4194304xf32>\nreturn %y : tensor<4194304x4194304xf32> } }",
      spread));
  const std::vector<float> a(1 << 20);
  PJRT_Buffer *x = client.buffer(a.data(), {}), *one = client.buffer(a.data(), {1024, 1024}),
              *two = client.buffer(a.data(), {1024, 1024}),
              *small = client.buffer(a.data(), {512, 1024}),
              *gone = client.buffer(a.data(), {1024, 512});
  auto drop = fresh<PJRT_Buffer_Delete_Args>();
  drop.buffer = gone;
  call(kBuffer_Delete, drop);
  std::vector<PJRT_Buffer*> out(1);
  const Outcome o = execute(spread, {x}, out);
  EXPECT_EQ(o.code, PJRT_Error_Code_RESOURCE_EXHAUSTED);
  EXPECT_THAT(o.message, StartsWith("out of memory: 70368744177664 bytes (64 TiB) requested, "));
  EXPECT_THAT(o.message, HasSubstr(" available; in use: "));
  EXPECT_THAT(o.message, EndsWith("; largest buffers: 2 x f32[1024,1024] of 4194304 bytes (4 MiB), "
                                  "f32[512,1024] of 2097152 bytes (2 MiB)"));
  for (PJRT_Buffer* b : {x, one, two, small, gone}) destroy(b);
  destroy(spread);
}

TEST(Programs, DeepOnesDoNotNeedTheCallersStack) {
  std::string text = "module { func.func public @main(%x: tensor<f32>) -> tensor<f32> {\n",
              last = "%x";
  for (int i = 0; i < 3000; ++i) {
    text += fmt::format("%v{} = stablehlo.sine {} : tensor<f32>\n", i, last);
    last = fmt::format("%v{}", i);
  }
  text += fmt::format("return {} : tensor<f32> }} }}", last);
  Client client;
  Outcome outcome;
  PJRT_LoadedExecutable* deep = nullptr;
  struct Job {
    Client& client;
    std::string& text;
    Outcome& outcome;
    PJRT_LoadedExecutable*& deep;
  } job{client, text, outcome, deep};
  pthread_attr_t attr;
  pthread_attr_init(&attr);
  pthread_attr_setstacksize(&attr, 256 << 10);
  pthread_t thread;
  ASSERT_EQ(pthread_create(
                &thread, &attr,
                [](void* p) -> void* {
                  auto& j = *static_cast<Job*>(p);
                  j.outcome = j.client.compile(j.text, j.deep);
                  return nullptr;
                },
                &job),
            0);
  pthread_join(thread, nullptr);
  STRATA_PJRT_OK(outcome);
  destroy(deep);
}

// ---- donation ----------------------------------------------------------------------------------

class Donation : public ::testing::Test {
 protected:
  void SetUp() override { STRATA_PJRT_OK(client.compile(kDonating, step)); }
  void TearDown() override { destroy(step); }
  Client client;
  PJRT_LoadedExecutable* step = nullptr;
  std::vector<float> ones = std::vector<float>(65536, 1.0f);
};

TEST_F(Donation, TakesTheMemory) {
  PJRT_Buffer *x = client.buffer(ones.data(), {65536}), *one = client.buffer(ones.data(), {65536});
  const void* memory = pointer(x);
  for (int i = 0; i < 50; ++i) {
    std::vector<PJRT_Buffer*> out(1);
    STRATA_PJRT_OK(execute(step, {x, one}, out));
    EXPECT_TRUE(is_deleted(x));
    EXPECT_EQ(pointer(out[0]), memory);
    destroy(x);
    x = out[0];
  }
  std::vector<float> got;
  STRATA_PJRT_OK(read(x, got));
  EXPECT_EQ(got, std::vector<float>(65536, 51.0f));
  destroy(x);
  destroy(one);
}

TEST_F(Donation, NotOfWhatSomebodyLooksAt) {
  PJRT_Buffer *x = client.buffer(ones.data(), {65536}), *one = client.buffer(ones.data(), {65536});
  auto more = fresh<PJRT_Buffer_IncreaseExternalReferenceCount_Args>();
  more.buffer = x;
  STRATA_PJRT_OK(call(kBuffer_IncreaseExternalReferenceCount, more));
  std::vector<PJRT_Buffer*> out(1);
  STRATA_PJRT_OK(execute(step, {x, one}, out));
  EXPECT_FALSE(is_deleted(x));
  std::vector<float> got;
  STRATA_PJRT_OK(read(x, got));
  EXPECT_EQ(got, ones);
  auto fewer = fresh<PJRT_Buffer_DecreaseExternalReferenceCount_Args>();
  fewer.buffer = x;
  STRATA_PJRT_OK(call(kBuffer_DecreaseExternalReferenceCount, fewer));
  EXPECT_EQ(call(kBuffer_DecreaseExternalReferenceCount, fewer).code,
            PJRT_Error_Code_FAILED_PRECONDITION);
  for (PJRT_Buffer* buffer : {x, one, out[0]}) destroy(buffer);
}

TEST_F(Donation, MemoryThatSomebodyLooksAtOutlivesDeletion) {
  PJRT_Buffer* x = client.buffer(ones.data(), {65536});
  auto more = fresh<PJRT_Buffer_IncreaseExternalReferenceCount_Args>();
  more.buffer = x;
  STRATA_PJRT_OK(call(kBuffer_IncreaseExternalReferenceCount, more));
  const auto* seen = static_cast<const float*>(pointer(x));
  auto del = fresh<PJRT_Buffer_Delete_Args>();
  del.buffer = x;
  STRATA_PJRT_OK(call(kBuffer_Delete, del));
  EXPECT_TRUE(is_deleted(x));
  const std::vector<float> others(65536, 7.0f);
  PJRT_Buffer* y = client.buffer(others.data(), {65536});  // would have the memory, were it free
  EXPECT_EQ(std::vector<float>(seen, seen + 65536), ones);
  auto fewer = fresh<PJRT_Buffer_DecreaseExternalReferenceCount_Args>();
  fewer.buffer = x;
  STRATA_PJRT_OK(call(kBuffer_DecreaseExternalReferenceCount, fewer));
  EXPECT_EQ(call(kBuffer_IncreaseExternalReferenceCount, more).code,
            PJRT_Error_Code_INVALID_ARGUMENT);
  for (PJRT_Buffer* buffer : {x, y}) destroy(buffer);
}

TEST_F(Donation, NeverWritesOthersMemory) {
  PJRT_Event* done = nullptr;
  PJRT_Buffer *x = client.buffer(ones.data(), {65536}, {4},
                                 PJRT_HostBufferSemantics_kImmutableZeroCopy, &done),
              *one = client.buffer(ones.data(), {65536});
  std::vector<PJRT_Buffer*> out(1);
  STRATA_PJRT_OK(execute(step, {x, one}, out));
  EXPECT_EQ(ones, std::vector<float>(65536, 1.0f));
  EXPECT_TRUE(is_deleted(x));
  EXPECT_TRUE(awaited(done).ok());
  for (PJRT_Buffer* buffer : {x, one, out[0]}) destroy(buffer);
}

TEST_F(Donation, NotOfWhatTheCallKeeps) {
  PJRT_Buffer *x = client.buffer(ones.data(), {65536}), *one = client.buffer(ones.data(), {65536});
  std::vector<PJRT_Buffer*> out(1);
  STRATA_PJRT_OK(execute(step, {x, one}, out, {0}));
  EXPECT_FALSE(is_deleted(x));
  for (PJRT_Buffer* buffer : {x, one, out[0]}) destroy(buffer);
}

TEST_F(Donation, NotOfWhatIsGivenTwice) {
  PJRT_Buffer* x = client.buffer(ones.data(), {65536});
  std::vector<PJRT_Buffer*> out(1);
  EXPECT_EQ(execute(step, {x, x}, out).code, PJRT_Error_Code_INVALID_ARGUMENT);
  EXPECT_FALSE(is_deleted(x));
  destroy(x);
}

// ---- order and threads -------------------------------------------------------------------------

/// Results are there at once as handles; what they hold is what doing one after the other gives.
TEST(Order, ManyRunsAskedForAtOnce) {
  Client client;
  PJRT_LoadedExecutable* step = nullptr;
  STRATA_PJRT_OK(client.compile(kDonating, step));
  std::vector<float> ones(65536, 1.0f);
  PJRT_Buffer* one = client.buffer(ones.data(), {65536});
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      PJRT_Buffer* x = client.buffer(ones.data(), {65536});
      for (int i = 0; i < 200; ++i) {
        PJRT_Buffer* arguments[] = {x, one};
        PJRT_Buffer* const* argument_list = arguments;
        PJRT_Buffer* result = nullptr;
        PJRT_Buffer** result_list = &result;
        auto options = fresh<PJRT_ExecuteOptions>();
        auto args = fresh<PJRT_LoadedExecutable_Execute_Args>();
        args.executable = step;
        args.options = &options;
        args.argument_lists = &argument_list;
        args.num_devices = 1;
        args.num_args = 2;
        args.output_lists = &result_list;
        if (!call(kLoadedExecutable_Execute, args).ok()) ++wrong;
        destroy(x);  // before the run is done, as frameworks do
        x = result;
      }
      std::vector<float> got;
      if (!read(x, got).ok() || got != std::vector<float>(65536, 201.0f)) ++wrong;
      destroy(x);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  destroy(one);
  destroy(step);
}

TEST(Order, AFailureReachesWhatDependsOnIt) {
  Client client;
  PJRT_LoadedExecutable* add = nullptr;
  STRATA_PJRT_OK(client.compile(kAdd, add));
  auto broken = fresh<PJRT_Client_CreateErrorBuffer_Args>();
  const std::int64_t dims[] = {4};
  auto memory = fresh<PJRT_Device_DefaultMemory_Args>();
  memory.device = client.devices[0];
  call(kDevice_DefaultMemory, memory);
  broken.client = client.client;
  broken.error_code = PJRT_Error_Code_DATA_LOSS;
  broken.error_message = "gone";
  broken.error_message_size = 4;
  broken.shape_dims = dims;
  broken.shape_num_dims = 1;
  broken.shape_element_type = PJRT_Buffer_Type_F32;
  broken.memory = memory.memory;
  STRATA_PJRT_OK(call(kClient_CreateErrorBuffer, broken));
  const std::vector<float> a{1, 2, 3, 4};
  PJRT_Buffer* x = client.buffer(a.data(), {4});
  std::vector<PJRT_Buffer*> out(1);
  EXPECT_EQ(execute(add, {x, broken.buffer}, out).code, PJRT_Error_Code_DATA_LOSS);
  std::vector<float> got;
  const Outcome o = read(out[0], got);
  EXPECT_EQ(o.code, PJRT_Error_Code_DATA_LOSS);
  EXPECT_EQ(o.message, "gone");
  for (PJRT_Buffer* buffer : {x, broken.buffer, out[0]}) destroy(buffer);
  destroy(add);
}

// ---- serialisation -----------------------------------------------------------------------------

TEST(Serialised, ComesBackTheSame) {
  auto program = compile_program(kAdd, plain_options());
  auto again = read_program(program->serialize(), "");
  EXPECT_EQ(again->name, "jit_add");
  EXPECT_EQ(again->fingerprint, program->fingerprint);
  EXPECT_EQ(again->executable->result_types(), program->executable->result_types());
}

TEST(Serialised, DamageIsFound) {
  const std::string bytes = compile_program(kAdd, plain_options())->serialize();
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(read_program(std::string_view(bytes).substr(0, size), ""), Failure) << size;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string flipped = bytes;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << (at % 8)));
    EXPECT_THROW(read_program(flipped, ""), Failure) << at;
  }
}

/// Any bytes give options or a Failure.
TEST(CompileOptions, AnyBytes) {
  std::mt19937 random(11);
  const std::string whole = plain_options() + "\x3a\x0e\x0a\x08xla_flag\x12\x02\x10\x01";
  EXPECT_NO_THROW(compile_options(whole));
  for (int trial = 0; trial < 5000; ++trial) {
    std::string bytes = whole;
    for (int i = 0; i < 3; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
    bytes.resize(random() % (bytes.size() + 1));
    try {
      compile_options(bytes);
    } catch (const Failure&) {
    }
  }
}

TEST(CompileOptions, UnknownOnesAreNamed) {
  try {
    compile_options("\x3a\x09\x0a\x07mistake");
    FAIL() << "taken";
  } catch (const Failure& e) {
    EXPECT_NE(std::string(e.what()).find("'mistake'"), std::string::npos);
  }
}

}  // namespace
}  // namespace strata::pjrt::testing
