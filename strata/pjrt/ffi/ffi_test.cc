// Handlers of XLA's FFI, written against its binary interface, in programs.
#include "strata/pjrt/ffi/ffi.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>

#include "strata/base/thread_pool.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/ir/text/parser.h"
#include "strata/op/catalog.h"
#include "strata/op/evaluate.h"
#include "strata/op/foreign/foreign.h"
#include "strata/pjrt/ffi/ffi_frame.h"

namespace strata::pjrt {
namespace {

using op::Literals;
using ::testing::ElementsAre;

Literals run(const std::string& text, const Literals& arguments, bool compiled) {
  op::catalog();
  auto module = ir::parse(text);
  EXPECT_TRUE(module.ok()) << module.status().message();
  const ir::Block& body = (*module)->entry()->body;
  if (!compiled) return op::evaluate(body, arguments);
  static auto client = compile::make_cpu_client();
  std::vector<runtime::Buffer> buffers(arguments.begin(), arguments.end());
  Literals out;
  for (runtime::Buffer& b : client->compile(body)->run(buffers)) out.push_back(b.literal());
  return out;
}
std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const op::foreign::Failure& e) {
    return e.message();
  }
  return "nothing was thrown";
}

// ---- handlers as another library has them: nothing but structs ---------------------------------

XLA_FFI_Error* error(const XLA_FFI_CallFrame* f, XLA_FFI_Error_Code code, const char* message) {
  XLA_FFI_Error_Create_Args args{32, nullptr, message, code};
  return f->api->Error_Create(&args);
}
/// What every handler does first when it is asked for its version.
bool answered(XLA_FFI_CallFrame* f, int major = 0) {
  if (f->extension_start == nullptr || f->extension_start->type != XLA_FFI_Extension_Metadata)
    return false;
  auto* metadata = reinterpret_cast<XLA_FFI_Metadata_Extension*>(f->extension_start)->metadata;
  metadata->api_version.major_version = major;
  metadata->api_version.minor_version = 3;
  return true;
}
XLA_FFI_Buffer& arg(XLA_FFI_CallFrame* f, int i) {
  return *static_cast<XLA_FFI_Buffer*>(f->args.args[i]);
}
XLA_FFI_Buffer& ret(XLA_FFI_CallFrame* f, int i) {
  return *static_cast<XLA_FFI_Buffer*>(f->rets.rets[i]);
}
int find(const XLA_FFI_Attrs& attrs, std::string_view name) {
  for (int i = 0; i < attrs.size; ++i)
    if (std::string_view(attrs.names[i]->ptr, attrs.names[i]->len) == name) return i;
  return -1;
}

XLA_FFI_Error* scale(XLA_FFI_CallFrame* f) {
  if (answered(f)) return nullptr;
  int at = find(f->attrs, "factor");
  if (at < 0 || f->attrs.types[at] != XLA_FFI_AttrType_SCALAR)
    return error(f, XLA_FFI_Error_Code_FAILED_PRECONDITION, "no factor");
  auto& factor = *static_cast<XLA_FFI_Scalar*>(f->attrs.attrs[at]);
  if (factor.dtype != XLA_FFI_DataType_F32)
    return error(f, XLA_FFI_Error_Code_INVALID_ARGUMENT, "the factor is not f32");
  std::int64_t n = 1;
  for (int d = 0; d < arg(f, 0).rank; ++d) n *= arg(f, 0).dims[d];
  for (std::int64_t i = 0; i < n; ++i)
    static_cast<float*>(ret(f, 0).data)[i] =
        *static_cast<float*>(factor.value) * static_cast<float*>(arg(f, 0).data)[i];
  return nullptr;
}

const char* kScale = R"(
func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.custom_call @ffi.scale(%x) {api_version = 4 : i32, backend_config = {factor = FACTOR}} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
})";
std::string scaled_by(const char* factor) {
  std::string text = kScale;
  return text.replace(text.find("FACTOR"), 6, factor);
}

TEST(Ffi, a_handler_gets_buffers_and_attributes) {
  ASSERT_TRUE(register_ffi("ffi.scale", {.execute = scale}).ok());
  for (bool compiled : {false, true})
    for (int threads : {1, 2}) {
      set_num_threads(threads);
      Literals out =
          run(scaled_by("1.5 : f32"), {Literal::of<float>({2, 2}, {1, 2, 3, 4})}, compiled);
      EXPECT_THAT(out[0].span<float>(), ElementsAre(1.5f, 3, 4.5f, 6));
    }
  set_num_threads(0);
}

TEST(Ffi, its_error_reaches_the_caller) {
  ASSERT_TRUE(register_ffi("ffi.scale", {.execute = scale}).ok());
  FfiRun about;
  op::foreign::WithContext with(&about);
  for (bool compiled : {false, true}) {
    EXPECT_EQ(
        message_of([&] { run(scaled_by("1.5"), {Literal(Type(DType::f32, {2, 2}))}, compiled); }),
        "the factor is not f32");
    EXPECT_EQ(about.error_code, XLA_FFI_Error_Code_INVALID_ARGUMENT);
    EXPECT_EQ(message_of([&] {
                run(scaled_by("\"text\""), {Literal(Type(DType::f32, {2, 2}))}, compiled);
              }),
              "no factor");
    EXPECT_EQ(about.error_code, XLA_FFI_Error_Code_FAILED_PRECONDITION);
  }
}

TEST(Ffi, handlers_of_another_version_are_refused) {
  auto newer = [](XLA_FFI_CallFrame* f) -> XLA_FFI_Error* { return answered(f, 7), nullptr; };
  Status status = register_ffi("ffi.newer", {.execute = newer});
  EXPECT_EQ(status.code(), Code::unsupported);
  EXPECT_EQ(status.message(), "the handler of 'ffi.newer' speaks FFI 7.3, expected 0");
  EXPECT_EQ(register_ffi("ffi.none", {}).code(), Code::invalid);
}

/// Names, kinds and values of all attributes as text, into a result of 256 bytes.
std::string said(const XLA_FFI_Attrs& attrs) {
  std::string out;
  for (int i = 0; i < attrs.size; ++i) {
    out += std::string(attrs.names[i]->ptr, attrs.names[i]->len) + "=";
    void* value = attrs.attrs[i];
    switch (attrs.types[i]) {
      case XLA_FFI_AttrType_STRING:
        out += std::string(static_cast<XLA_FFI_ByteSpan*>(value)->ptr,
                           static_cast<XLA_FFI_ByteSpan*>(value)->len);
        break;
      case XLA_FFI_AttrType_DICTIONARY:
        out += "{" + said(*static_cast<XLA_FFI_Attrs*>(value)) + "}";
        break;
      case XLA_FFI_AttrType_SCALAR: {
        auto* s = static_cast<XLA_FFI_Scalar*>(value);
        out +=
            fmt::format("{}:{}", static_cast<int>(s->dtype),
                        s->dtype == XLA_FFI_DataType_F64 ? *static_cast<double*>(s->value)
                                                         : *static_cast<std::uint8_t*>(s->value));
        break;
      }
      case XLA_FFI_AttrType_ARRAY: {
        auto* a = static_cast<XLA_FFI_Array*>(value);
        out += fmt::format("{}x{}", static_cast<int>(a->dtype), a->size);
        if (a->dtype == XLA_FFI_DataType_S32)
          out += fmt::format(":{}", fmt::join(static_cast<std::int32_t*>(a->data),
                                              static_cast<std::int32_t*>(a->data) + a->size, ","));
        break;
      }
    }
    out += ";";
  }
  return out;
}
XLA_FFI_Error* say(XLA_FFI_CallFrame* f) {
  if (answered(f)) return nullptr;
  std::string out = said(f->attrs);
  std::memset(ret(f, 0).data, 0, 256);
  std::memcpy(ret(f, 0).data, out.data(), std::min<std::size_t>(out.size(), 255));
  return nullptr;
}

TEST(Ffi, attributes_have_their_types_and_the_order_of_their_names) {
  ASSERT_TRUE(register_ffi("ffi.say", {.execute = say}).ok());
  const char* text = R"(
func.func @main() -> tensor<256xui8> {
  %0 = stablehlo.custom_call @ffi.say() {mhlo.backend_config = {z = 2.5, b = true, a = array<i32: 3, -1>, d = {y = 7 : ui8, x = "in"}, s = "text", l = [1, 2], t = dense<[4, 5, 6]> : tensor<3xi32>, n = 9 : i8}} : () -> tensor<256xui8>
  return %0 : tensor<256xui8>
})";
  for (bool compiled : {false, true}) {
    Literals out = run(text, {}, compiled);
    EXPECT_STREQ(reinterpret_cast<const char*>(out[0].data()),
                 "a=4x2:3,-1;b=1:1;d={x=in;y=6:7;};l=5x2;n=2:9;s=text;t=4x3:4,5,6;z=12:2.5;");
  }
}

// ---- stages and states -------------------------------------------------------------------------

int made = 0, deleted = 0, prepared = 0;
XLA_FFI_TypeId counter_type{0};

XLA_FFI_Error* instantiate(XLA_FFI_CallFrame* f) {
  if (answered(f)) return nullptr;
  if (f->args.size != 0 || f->rets.size != 0 || find(f->attrs, "start") < 0)
    return error(f, XLA_FFI_Error_Code_INTERNAL, "an instance sees attributes alone");
  ++made;
  auto* start = new std::int64_t(
      *static_cast<std::int64_t*>(static_cast<XLA_FFI_Scalar*>(f->attrs.attrs[0])->value));
  XLA_FFI_State_Set_Args args{48, nullptr, f->ctx, f->stage, &counter_type, start};
  return f->api->State_Set(&args);
}
XLA_FFI_Error* prepare(XLA_FFI_CallFrame* f) {
  if (answered(f)) return nullptr;
  ++prepared;
  XLA_FFI_State_Set_Args args{48, nullptr, f->ctx, f->stage, &counter_type, new std::int64_t(100)};
  return f->api->State_Set(&args);
}
XLA_FFI_Error* count(XLA_FFI_CallFrame* f) {
  if (answered(f)) return nullptr;
  std::int64_t* numbers[2];
  for (auto stage : {XLA_FFI_ExecutionStage_INSTANTIATE, XLA_FFI_ExecutionStage_PREPARE}) {
    XLA_FFI_State_Get_Args args{48, nullptr, f->ctx, stage, &counter_type, nullptr};
    if (XLA_FFI_Error* e = f->api->State_Get(&args)) return e;
    numbers[stage] = static_cast<std::int64_t*>(args.state);
  }
  *static_cast<std::int64_t*>(ret(f, 0).data) = (*numbers[0])++ + (*numbers[1])++;
  return nullptr;
}

TEST(Ffi, an_instance_lives_on_and_what_is_prepared_does_not) {
  auto id = register_ffi_type("ffi.counter", 0,
                              [](void* n) { ++deleted, delete static_cast<std::int64_t*>(n); });
  ASSERT_TRUE(id.ok());
  counter_type.type_id = *id;
  ASSERT_TRUE(register_ffi("ffi.count", {instantiate, prepare, nullptr, count}).ok());
  const char* text = R"(
func.func @main() -> tensor<i64> {
  %0 = stablehlo.custom_call @ffi.count() {mhlo.backend_config = {start = 5 : i64}} : () -> tensor<i64>
  return %0 : tensor<i64>
})";
  EXPECT_EQ(run(text, {}, true)[0].integer(0), 105);
  EXPECT_EQ(run(text, {}, true)[0].integer(0), 106);
  EXPECT_EQ(run(text, {}, false)[0].integer(0), 107);
  EXPECT_EQ(made, 1);
  EXPECT_EQ(prepared, 3);
  EXPECT_EQ(deleted, 3);
}

TEST(Ffi, types_have_one_number) {
  auto first = register_ffi_type("ffi.first", 0, nullptr);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(*register_ffi_type("ffi.first", 0, nullptr), *first);
  EXPECT_EQ(register_ffi_type("ffi.first", *first + 1000, nullptr).status().code(), Code::exists);
  EXPECT_EQ(register_ffi_type("ffi.second", *first, nullptr).status().code(), Code::exists);
  EXPECT_EQ(*register_ffi_type("ffi.third", 4711, nullptr), 4711);
}

// ---- what a call may ask -----------------------------------------------------------------------

XLA_FFI_Error* ask(XLA_FFI_CallFrame* f) {
  if (answered(f)) return nullptr;
  XLA_FFI_TypeId type{31337};
  XLA_FFI_ExecutionContext_Get_Args data{40, nullptr, f->ctx, &type, nullptr};
  if (XLA_FFI_Error* e = f->api->ExecutionContext_Get(&data)) return e;
  XLA_FFI_RunId_Get_Args run_id{32, nullptr, f->ctx, 0};
  XLA_FFI_DeviceOrdinal_Get_Args device{28, nullptr, f->ctx, -1};
  XLA_FFI_DeviceMemory_Allocate_Args memory{48, nullptr, f->ctx, 100, 128, nullptr};
  for (XLA_FFI_Error* e : {f->api->RunId_Get(&run_id), f->api->DeviceOrdinal_Get(&device),
                           f->api->DeviceMemory_Allocate(&memory)})
    if (e != nullptr) return e;
  if (reinterpret_cast<std::uintptr_t>(memory.data) % 128 != 0)
    return error(f, XLA_FFI_Error_Code_INTERNAL, "memory at an odd place");
  std::memset(memory.data, 1, 100);
  XLA_FFI_ThreadPool_Schedule_Args task{
      40, nullptr, f->ctx, [](void* n) { *static_cast<std::int64_t*>(n) += 1000; }, data.data};
  if (XLA_FFI_Error* e = f->api->ThreadPool_Schedule(&task)) return e;
  XLA_FFI_Stream_Get_Args stream{32, nullptr, f->ctx, nullptr};
  XLA_FFI_Error* none = f->api->Stream_Get(&stream);
  if (none == nullptr) return error(f, XLA_FFI_Error_Code_INTERNAL, "a stream");
  XLA_FFI_Error_Destroy_Args gone{24, nullptr, none};
  f->api->Error_Destroy(&gone);
  *static_cast<std::int64_t*>(ret(f, 0).data) =
      *static_cast<std::int64_t*>(data.data) + run_id.run_id + device.device_ordinal;
  return nullptr;
}

TEST(Ffi, a_call_knows_its_run) {
  ASSERT_TRUE(register_ffi("ffi.ask", {.execute = ask}).ok());
  const char* text = R"(
func.func @main() -> tensor<i64> {
  %0 = stablehlo.custom_call @ffi.ask() : () -> tensor<i64>
  return %0 : tensor<i64>
})";
  for (bool compiled : {false, true}) {
    std::int64_t number = 7;
    FfiRun about;
    about.run_id = 30;
    about.device = 2;
    about.add(31337, &number);
    {
      op::foreign::WithContext with(&about);
      EXPECT_EQ(run(text, {}, compiled)[0].integer(0), 1039);
    }
    EXPECT_EQ(message_of([&] { run(text, {}, compiled); }), "the run has no data of type 31337");
  }
}

/// Done later, by another thread.
XLA_FFI_Error* later(XLA_FFI_CallFrame* f) {
  if (answered(f)) return nullptr;
  XLA_FFI_Future_Create_Args args{24, nullptr, nullptr};
  if (XLA_FFI_Error* e = f->api->Future_Create(&args)) return e;
  f->future = args.future;
  std::thread([api = f->api, future = args.future, out = static_cast<std::int64_t*>(ret(f, 0).data),
               fails = f->attrs.size > 0] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    *out = 12;
    XLA_FFI_Future_SetAvailable_Args done{24, nullptr, future};
    XLA_FFI_Error_Create_Args why{32, nullptr, "it went wrong later", XLA_FFI_Error_Code_ABORTED};
    XLA_FFI_Future_SetError_Args failed{32, nullptr, future,
                                        fails ? api->Error_Create(&why) : nullptr};
    fails ? api->Future_SetError(&failed) : api->Future_SetAvailable(&done);
  }).detach();
  return nullptr;
}

TEST(Ffi, a_call_is_over_when_its_future_is_done) {
  ASSERT_TRUE(register_ffi("ffi.later", {.execute = later}).ok());
  auto text = [](const char* attrs) {
    return fmt::format(
        "func.func @main() -> tensor<i64> {{\n  %0 = stablehlo.custom_call @ffi.later(){} : () -> "
        "tensor<i64>\n  return %0 : tensor<i64>\n}}",
        attrs);
  };
  EXPECT_EQ(run(text(""), {}, true)[0].integer(0), 12);
  EXPECT_EQ(message_of([&] { run(text(" {mhlo.backend_config = {fails = true}}"), {}, true); }),
            "it went wrong later");
}

// ---- tokens, narrow types ----------------------------------------------------------------------

XLA_FFI_Error* narrow(XLA_FFI_CallFrame* f) {
  if (answered(f)) return nullptr;
  if (arg(f, 0).dtype != XLA_FFI_DataType_TOKEN || arg(f, 0).data != nullptr ||
      ret(f, 0).dtype != XLA_FFI_DataType_TOKEN)
    return error(f, XLA_FFI_Error_Code_INTERNAL, "expected a token");
  if (arg(f, 1).dtype != XLA_FFI_DataType_S4 || arg(f, 1).rank != 1 || arg(f, 1).dims[0] != 3)
    return error(f, XLA_FFI_Error_Code_INTERNAL, "expected 3 elements of S4");
  const auto* in = static_cast<const std::uint8_t*>(arg(f, 1).data);
  static_cast<std::uint8_t*>(ret(f, 1).data)[0] = in[0];
  static_cast<std::uint8_t*>(ret(f, 1).data)[1] = in[1];
  static_cast<std::uint8_t*>(ret(f, 2).data)[0] = in[0];
  static_cast<std::uint8_t*>(ret(f, 2).data)[1] = in[1];
  return nullptr;
}

TEST(Ffi, narrow_elements_are_packed_and_tokens_have_no_memory) {
  ASSERT_TRUE(register_ffi("ffi.narrow", {.execute = narrow}).ok());
  const char* text = R"(
func.func @main(%x: tensor<3xi4>) -> (tensor<3xi4>, tensor<2xui8>) {
  %t = stablehlo.create_token : !stablehlo.token
  %0:3 = stablehlo.custom_call @ffi.narrow(%t, %x) {has_side_effect = true} : (!stablehlo.token, tensor<3xi4>) -> (!stablehlo.token, tensor<3xi4>, tensor<2xui8>)
  return %0#1, %0#2 : tensor<3xi4>, tensor<2xui8>
})";
  Literal x(Type(DType::i4, {3}));
  for (int i = 0; i < 3; ++i) x.set_integer(i, std::array{-3, 7, -8}[static_cast<std::size_t>(i)]);
  for (bool compiled : {false, true}) {
    Literals out = run(text, {x}, compiled);
    EXPECT_TRUE(out[0].same_bits(x));
    EXPECT_EQ(out[1].integer(0), 0x7d);
    EXPECT_EQ(out[1].integer(1), 0x08);
  }
}

TEST(Ffi, packing_is_undone_by_unpacking) {
  for (DType dtype : {DType::i2, DType::ui2, DType::i4, DType::ui4, DType::f4E2M1FN})
    for (std::int64_t n : {0, 1, 2, 5, 16}) {
      std::vector<std::uint8_t> in(static_cast<std::size_t>(n)), out(in.size(), 0xee),
          bytes(in.size() + 1, 0xaa);
      for (std::int64_t i = 0; i < n; ++i) {
        int value = static_cast<int>(i * 5 % (1 << bit_width(dtype)));
        if (is_signed(dtype) && value >> (bit_width(dtype) - 1)) value -= 1 << bit_width(dtype);
        in[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(value);
      }
      pack(in.data(), n, dtype, bytes.data());
      unpack(bytes.data(), n, dtype, out.data());
      EXPECT_EQ(in, out) << name(dtype) << " " << n;
    }
}

}  // namespace
}  // namespace strata::pjrt
