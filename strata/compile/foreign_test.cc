// Custom calls by handlers from outside: by reference and compiled, on one thread and several.
#include "strata/op/foreign/foreign.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <mutex>
#include <thread>

#include "strata/compile/compile_testing.h"
#include "strata/ir/text/parser.h"
#include "strata/op/catalog.h"
#include "strata/op/foreign/foreign_attributes.h"

namespace strata::compile {
namespace {

using op::foreign::Bound;
using op::foreign::Buffers;
using op::foreign::Call;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::unique_ptr<ir::Module> parsed(const std::string& text) {
  op::catalog();
  auto module = ir::parse(text);
  EXPECT_TRUE(module.ok()) << module.status().message();
  return std::move(*module);
}
const ir::Block& body(const std::unique_ptr<ir::Module>& module) { return module->entry()->body; }

std::vector<float> floats(const Literal& x) {
  auto view = x.span<float>();
  return {view.begin(), view.end()};
}

/// result = factor * operand, element by element in memory.
Result<Bound> scale(const Call& call) {
  auto attributes = op::foreign::attributes_of(call.attrs);
  if (!attributes) return attributes.status();
  const op::foreign::Attribute* factor = attributes->find("factor");
  if (factor == nullptr || factor->dtype != DType::f32)
    return Status(Code::invalid, "needs a factor of type f32");
  float by;
  std::memcpy(&by, factor->bytes.data(), sizeof by);
  return Bound([by, n = call.operands[0].shape().count()](const Buffers& at, void*) {
    for (std::int64_t i = 0; i < n; ++i)
      static_cast<float*>(at.results[0])[i] = by * static_cast<const float*>(at.operands[0])[i];
    return Status();
  });
}
const bool scale_added = op::foreign::add_handler("test.scale", scale);

/// What handlers of one test saw, in order.
struct Log {
  std::mutex mutex;
  std::vector<std::int64_t> seen;
  void add(std::int64_t n) {
    std::lock_guard lock(mutex);
    seen.push_back(n);
  }
} log_of_calls;

/// Writes down its first operand that is an array, an i32; fails from `limit` on.
Result<Bound> record(const Call& call) {
  std::size_t first = 0;
  while (call.operands[first].is_token()) ++first;
  auto attributes = op::foreign::attributes_of(call.attrs);
  const op::foreign::Attribute* limit = attributes ? attributes->find("limit") : nullptr;
  return Bound(
      [first, most = limit ? *limit->integer() : std::int64_t{1} << 40](const Buffers& at, void*) {
        std::int32_t n;
        std::memcpy(&n, at.operands[first], sizeof n);
        log_of_calls.add(n);
        return n >= most ? Status(Code::invalid, "{} is too much", n) : Status();
      });
}
const bool record_added = op::foreign::add_handler("test.record", record);

std::vector<std::int64_t> seen_by(const std::function<void()>& run) {
  log_of_calls.seen.clear();
  run();
  return log_of_calls.seen;
}
std::string message_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const op::foreign::Failure& e) {
    return e.message();
  }
  return "nothing was thrown";
}

TEST(Foreign, a_handler_computes_a_value) {
  auto module = parsed(R"(
func.func @main(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %0 = stablehlo.exponential %x : tensor<3x5xf32>
  %1 = stablehlo.custom_call @test.scale(%0) {api_version = 4 : i32, backend_config = {factor = 2.5 : f32}} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %2 = stablehlo.add %1, %x : tensor<3x5xf32>
  return %2 : tensor<3x5xf32>
})");
  testing::expect_compiled_equals_reference(body(module));
  std::vector<Literal> one{Literal::full(Type(DType::f32, {3, 5}), 0.0)};
  EXPECT_THAT(floats(testing::run_compiled(body(module), one)[0]), ::testing::Each(2.5f));
}

TEST(Foreign, a_call_that_the_handler_refuses_fails_with_its_words) {
  auto module = parsed(R"(
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.custom_call @test.scale(%x) {mhlo.backend_config = {factor = 2 : i64}} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
})");
  std::vector<Literal> x{Literal(Type(DType::f32, {2}))};
  EXPECT_EQ(message_of([&] { (void)op::evaluate(body(module), x); }), "needs a factor of type f32");
  EXPECT_EQ(message_of([&] { (void)testing::run_compiled(body(module), x); }),
            "needs a factor of type f32");
}

TEST(Foreign, no_handler_is_refused_before_anything_runs) {
  auto module = parsed(R"(
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.custom_call @test.nobody(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
})");
  std::vector<Literal> x{Literal(Type(DType::f32, {2}))};
  for (bool compiled : {false, true}) try {
      (void)(compiled ? testing::run_compiled(body(module), x) : op::evaluate(body(module), x));
      FAIL() << "a target without a handler ran";
    } catch (const Error& e) {
      EXPECT_TRUE(e.is_unsupported());
      EXPECT_THAT(e.message(), HasSubstr("@test.nobody is not supported"));
    }
}

/// Calls with tokens in loops and branches, and calls without them whose operands would let them
/// move.
const char* kOrdered = R"(
func.func @main(%n: tensor<i32>) -> tensor<i32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %ten = stablehlo.constant dense<10> : tensor<i32>
  %t = stablehlo.create_token : !stablehlo.token
  %big = stablehlo.multiply %n, %ten : tensor<i32>
  stablehlo.custom_call @test.record(%big) {has_side_effect = true} : (tensor<i32>) -> ()
  stablehlo.custom_call @test.record(%one) {has_side_effect = true} : (tensor<i32>) -> ()
  stablehlo.custom_call @test.record(%one) {has_side_effect = true} : (tensor<i32>) -> ()
  %w:2 = stablehlo.while(%i = %one, %s = %t) : tensor<i32>, !stablehlo.token
    cond {
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %u = stablehlo.custom_call @test.record(%s, %i) {has_side_effect = true, mhlo.backend_config = {limit = LIMIT : i64}} : (!stablehlo.token, tensor<i32>) -> !stablehlo.token
      %odd = stablehlo.remainder %i, %two : tensor<i32>
      "stablehlo.case"(%odd) ({
        stablehlo.return
      }, {
        %m = stablehlo.negate %i : tensor<i32>
        stablehlo.custom_call @test.record(%m) {has_side_effect = true} : (tensor<i32>) -> ()
        stablehlo.return
      }) : (tensor<i32>) -> ()
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j, %u : tensor<i32>, !stablehlo.token
    }
  stablehlo.custom_call @test.record(%w#1, %two) {has_side_effect = true} : (!stablehlo.token, tensor<i32>) -> ()
  return %w#0 : tensor<i32>
})";
std::string ordered(const char* limit) {
  std::string text = kOrdered;
  return text.replace(text.find("LIMIT"), 5, limit);
}

TEST(Foreign, calls_are_made_in_the_programs_order) {
  auto module = parsed(ordered("1000"));
  std::vector<Literal> n{Literal::scalar<std::int32_t>(4)};
  auto order = ElementsAre(40, 1, 1, 1, -1, 2, 3, -3, 2);
  EXPECT_THAT(seen_by([&] { (void)op::evaluate(body(module), n); }), order);
  EXPECT_THAT(seen_by([&] { (void)testing::run_plan(body(module), n); }), order);
  for (int threads : {1, 2}) {
    set_num_threads(threads);
    EXPECT_THAT(seen_by([&] { (void)testing::run_once(body(module), n); }), order);
  }
  set_num_threads(0);
}

// What the first call reads is computed in one kernel with what comes after the second.
TEST(Foreign, fusion_does_not_part_a_call_from_its_place) {
  auto module = parsed(R"(
func.func @main(%x: tensor<4xi32>, %one: tensor<i32>) -> tensor<4xi32> {
  %e = stablehlo.multiply %x, %x : tensor<4xi32>
  stablehlo.custom_call @test.record(%e) {has_side_effect = true} : (tensor<4xi32>) -> ()
  stablehlo.custom_call @test.record(%one) {has_side_effect = true} : (tensor<i32>) -> ()
  %f = stablehlo.add %e, %x : tensor<4xi32>
  return %f : tensor<4xi32>
})");
  std::vector<Literal> arguments{Literal::of<std::int32_t>({4}, {5, 6, 7, 8}),
                                 Literal::scalar<std::int32_t>(1)};
  EXPECT_THAT(seen_by([&] { (void)op::evaluate(body(module), arguments); }), ElementsAre(25, 1));
  EXPECT_THAT(seen_by([&] { (void)testing::run_once(body(module), arguments); }),
              ElementsAre(25, 1));
}

TEST(Foreign, after_a_failure_no_call_is_made) {
  auto module = parsed(ordered("2"));
  std::vector<Literal> n{Literal::scalar<std::int32_t>(1000000)};
  for (bool compiled : {false, true}) {
    std::string message;
    auto seen = seen_by([&] {
      message = message_of([&] {
        (void)(compiled ? testing::run_compiled(body(module), n) : op::evaluate(body(module), n));
      });
    });
    EXPECT_EQ(message, "2 is too much");
    EXPECT_THAT(seen, ElementsAre(10000000, 1, 1, 1, -1, 2));
  }
}

// A failure inside a loop that runs as long as what the handler gives says so.
TEST(Foreign, a_failed_loop_ends) {
  static const bool added = op::foreign::add_handler("test.no", [](const Call&) -> Result<Bound> {
    return Bound([](const Buffers& at, void*) -> Status {
      std::memset(at.results[0], 1, 1);
      throw std::runtime_error("thrown by a handler");
    });
  });
  ASSERT_TRUE(added);
  auto module = parsed(R"(
func.func @main(%n: tensor<i1>) -> tensor<i1> {
  %w = stablehlo.while(%i = %n) : tensor<i1>
    cond {
      stablehlo.return %i : tensor<i1>
    } do {
      %j = stablehlo.custom_call @test.no(%i) : (tensor<i1>) -> tensor<i1>
      stablehlo.return %j : tensor<i1>
    }
  return %w : tensor<i1>
})");
  std::vector<Literal> yes{Literal::full(Type::scalar(DType::i1), 1)};
  EXPECT_EQ(message_of([&] { (void)testing::run_compiled(body(module), yes); }),
            "thrown by a handler");
  EXPECT_EQ(message_of([&] { (void)op::evaluate(body(module), yes); }), "thrown by a handler");
}

/// The operand's memory as a result of one dimension.
Result<Bound> memory(const Call& call) {
  return Bound([bytes = call.results[0].bytes()](const Buffers& at, void*) {
    std::memcpy(at.results[0], at.operands[0], bytes);
    return Status();
  });
}
const bool memory_added = op::foreign::add_handler("test.memory", memory);

TEST(Foreign, layouts_are_of_memory) {
  auto module = parsed(R"(
func.func @main(%x: tensor<2x3xf32>, %y: tensor<2x2x3xf32>) -> (tensor<6xf32>, tensor<2x3xf32>, tensor<12xf32>) {
  %0 = stablehlo.custom_call @test.memory(%x) {operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<0> : tensor<1xindex>]} : (tensor<2x3xf32>) -> tensor<6xf32>
  %1 = stablehlo.custom_call @test.memory(%x) {operand_layouts = [dense<[1, 0]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = stablehlo.custom_call @test.memory(%y) {operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], result_layouts = [dense<0> : tensor<1xindex>]} : (tensor<2x2x3xf32>) -> tensor<12xf32>
  return %0, %1, %2 : tensor<6xf32>, tensor<2x3xf32>, tensor<12xf32>
})");
  std::vector<Literal> arguments{
      Literal::of<float>({2, 3}, {1, 2, 3, 4, 5, 6}),
      Literal::of<float>({2, 2, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})};
  for (bool compiled : {false, true}) {
    std::vector<Literal> out = compiled ? testing::run_compiled(body(module), arguments)
                                        : op::evaluate(body(module), arguments);
    EXPECT_THAT(floats(out[0]), ElementsAre(1, 4, 2, 5, 3, 6));
    EXPECT_THAT(floats(out[1]), ElementsAre(1, 3, 5, 2, 4, 6));
    EXPECT_THAT(floats(out[2]), ElementsAre(1, 4, 2, 5, 3, 6, 7, 10, 8, 11, 9, 12));
  }
  testing::expect_compiled_equals_reference(body(module));
}

TEST(Foreign, resolving_again_changes_nothing) {
  auto module = parsed(R"(
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %1 = stablehlo.custom_call @test.memory(%x) {operand_layouts = [dense<[1, 0]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
})");
  auto once = ir::clone(body(module));
  op::foreign::resolve(*once);
  std::size_t ops = once->ops().size();
  EXPECT_EQ(ops, 2u);
  op::foreign::resolve(*once);
  EXPECT_EQ(once->ops().size(), ops);
}

/// Adds 1 in place: its operand's memory must be its result's.
Result<Bound> increment(const Call& call) {
  return Bound([n = call.results[0].shape().count()](const Buffers& at, void*) {
    if (at.operands[0] != at.results[0])
      return Status(Code::invalid, "operand and result are two memories");
    for (std::int64_t i = 0; i < n; ++i) static_cast<float*>(at.results[0])[i] += 1;
    return Status();
  });
}
const bool increment_added = op::foreign::add_handler("test.increment", increment);

TEST(Foreign, an_aliased_operand_stays_as_it_was) {
  auto module = parsed(R"(
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.negate %x : tensor<4xf32>
  %1 = stablehlo.custom_call @test.increment(%0) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.multiply %1, %0 : tensor<4xf32>
  return %2, %0 : tensor<4xf32>, tensor<4xf32>
})");
  std::vector<Literal> x{Literal::of<float>({4}, {1, 2, 3, 4})};
  std::vector<Literal> out = testing::run_compiled(body(module), x);
  EXPECT_THAT(floats(out[0]), ElementsAre(0, 2, 6, 12));
  EXPECT_THAT(floats(out[1]), ElementsAre(-1, -2, -3, -4));
  testing::expect_compiled_equals_reference(body(module));
}

TEST(Foreign, values_without_elements_and_without_memory) {
  static const bool added =
      op::foreign::add_handler("test.empty", [](const Call& call) -> Result<Bound> {
        EXPECT_TRUE(call.operands[0].is_token() && call.results[0].is_token());
        EXPECT_EQ(call.operands[1], Type(DType::f32, {0, 3}));
        return Bound([](const Buffers&, void*) { return Status(); });
      });
  ASSERT_TRUE(added);
  auto module = parsed(R"(
func.func @main(%x: tensor<0x3xf32>) -> tensor<0x3xf32> {
  %t = stablehlo.create_token : !stablehlo.token
  %0:2 = stablehlo.custom_call @test.empty(%t, %x) {has_side_effect = true} : (!stablehlo.token, tensor<0x3xf32>) -> (!stablehlo.token, tensor<0x3xf32>)
  return %0#1 : tensor<0x3xf32>
})");
  testing::expect_compiled_equals_reference(body(module));
}

// Types that kernels do not know are in memory as the program says.
TEST(Foreign, complex_and_narrow_values) {
  auto module = parsed(R"(
func.func @main(%x: tensor<3xcomplex<f32>>, %y: tensor<5xi4>) -> (tensor<3xcomplex<f32>>, tensor<5xi4>) {
  %0 = stablehlo.add %x, %x : tensor<3xcomplex<f32>>
  %1 = stablehlo.custom_call @test.memory(%0) : (tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>>
  %2 = stablehlo.add %y, %y : tensor<5xi4>
  %3 = stablehlo.custom_call @test.memory(%2) : (tensor<5xi4>) -> tensor<5xi4>
  %4 = stablehlo.add %1, %0 : tensor<3xcomplex<f32>>
  return %4, %3 : tensor<3xcomplex<f32>>, tensor<5xi4>
})");
  testing::expect_compiled_equals_reference(body(module));
}

// Programs on other threads have contexts of their own.
TEST(Foreign, each_run_has_its_context) {
  static const bool added =
      op::foreign::add_handler("test.context", [](const Call&) -> Result<Bound> {
        return Bound([](const Buffers& at, void* context) {
          if (context == nullptr) return Status(Code::invalid, "no context");
          std::memcpy(at.results[0], context, sizeof(float));
          return Status();
        });
      });
  ASSERT_TRUE(added);
  auto module = parsed(R"(
func.func @main() -> tensor<f32> {
  %0 = stablehlo.custom_call @test.context() : () -> tensor<f32>
  return %0 : tensor<f32>
})");
  (void)message_of([&] { (void)testing::run_compiled(body(module), {}); });  // compiled once
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        float number = static_cast<float>(100 * t + i);
        op::foreign::WithContext with(&number);
        EXPECT_EQ(testing::run_compiled(body(module), {})[0].span<float>()[0], number);
        EXPECT_EQ(op::evaluate(body(module), {})[0].span<float>()[0], number);
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(message_of([&] { (void)testing::run_compiled(body(module), {}); }), "no context");
}

TEST(Foreign, the_first_handler_stays_until_it_is_replaced) {
  auto number = [](float n) {
    return [n](const Call&) -> Result<Bound> {
      return Bound([n](const Buffers& at, void*) {
        std::memcpy(at.results[0], &n, sizeof n);
        return Status();
      });
    };
  };
  auto module = parsed(
      "func.func @main() -> tensor<f32> {\n  %0 = stablehlo.custom_call @test.number() : () -> "
      "tensor<f32>\n  return %0 : tensor<f32>\n}");
  auto run = [&] { return testing::run_compiled(body(module), {})[0].span<float>()[0]; };
  EXPECT_TRUE(op::foreign::add_handler("test.number", number(1)));
  EXPECT_FALSE(op::foreign::add_handler("test.number", number(2)));
  EXPECT_EQ(run(), 1);
  op::foreign::replace_handler("test.number", number(3));
  EXPECT_EQ(run(), 3);
}

// ---- targets that Strata knows itself ----------------------------------------------------------

TEST(Foreign, what_only_says_where_a_value_lies_is_gone) {
  auto module = parsed(R"(
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{replicated}"} : (tensor<3xf32>) -> tensor<3xf32>
  %1 = stablehlo.custom_call @annotate_device_placement(%0) {has_side_effect = true} : (tensor<3xf32>) -> tensor<3xf32>
  stablehlo.custom_call @dce_sink(%1) {has_side_effect = true} : (tensor<3xf32>) -> ()
  return %1 : tensor<3xf32>
})");
  testing::expect_compiled_equals_reference(body(module));
  EXPECT_TRUE(prepare(body(module))->ops().empty());
}

TEST(Foreign, approximate_top_k_is_exact) {
  for (std::string direction : {"gt", "lt"}) {
    auto module = parsed(
        R"(
func.func private @top_k_)" +
        direction +
        R"(_f32_comparator(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func public @main(%x: tensor<2x5xf32>) -> (tensor<2x2xf32>, tensor<2x2xi32>) {
  %i = stablehlo.iota dim = 1 : tensor<2x5xi32>
  %v = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %p = stablehlo.constant dense<-1> : tensor<i32>
  %0:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %v, %p) {called_computations = [@top_k_)" +
        direction +
        R"(_f32_comparator], mhlo.backend_config = {aggregate_to_topk = true, is_fallback = true, recall_target = 9.500000e-01 : f32, reduction_dim = 1 : i64, reduction_input_size_override = -1 : i64, top_k = 2 : i64}} : (tensor<2x5xf32>, tensor<2x5xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x2xf32>, tensor<2x2xi32>)
  return %0#0, %0#1 : tensor<2x2xf32>, tensor<2x2xi32>
})");
    std::vector<Literal> x{Literal::of<float>({2, 5}, {3, 1, 4, 1, 5, 9, 2, 6, 5, 3})};
    std::vector<Literal> out = testing::run_compiled(body(module), x);
    if (direction == "gt")
      EXPECT_THAT(floats(out[0]), ElementsAre(5, 4, 9, 6));
    else
      EXPECT_THAT(floats(out[0]), ElementsAre(1, 1, 2, 3));
    testing::expect_compiled_equals_reference(body(module));
  }
}

/// Q R = A and Q^H Q = 1, of the first n columns.
TEST(Foreign, qr_factorises) {
  for (std::string type : {"f32", "f64", "complex<f32>", "complex<f64>"})
    for (auto [m, n] : {std::pair(5, 3), std::pair(3, 3), std::pair(2, 4), std::pair(1, 1)}) {
      int k = std::min(m, n);
      std::string a = fmt::format("tensor<2x{}x{}x{}>", m, n, type),
                  tau = fmt::format("tensor<2x{}x{}>", k, type);
      // Of a wide matrix the product takes the reflectors' columns alone.
      std::string v = fmt::format("tensor<2x{}x{}x{}>", m, k, type);
      auto module = parsed(fmt::format(R"(
func.func @main(%x: {0}) -> ({0}, {2}) {{
  %0:2 = stablehlo.custom_call @Qr(%x) : ({0}) -> ({0}, {1})
  %1 = stablehlo.slice %0#0 [0:2, 0:{3}, 0:{4}] : ({0}) -> {2}
  %2 = stablehlo.custom_call @ProductOfElementaryHouseholderReflectors(%1, %0#1) : ({2}, {1}) -> {2}
  return %0#0, %2 : {0}, {2}
}})",
                                       a, tau, v, m, k));
      std::vector<Literal> x = testing::arguments_of(body(module), 7);
      std::vector<Literal> out = testing::run_compiled(body(module), x);
      auto number = [](const Literal& l, std::int64_t i) {
        return is_complex(l.dtype()) ? std::complex<double>(op::real_view(l).number(2 * i),
                                                            op::real_view(l).number(2 * i + 1))
                                     : std::complex<double>(l.number(i));
      };
      double bound = type.find("64") != std::string::npos ? 1e-13 : 1e-5;
      for (int b = 0; b < 2; ++b)
        for (int i = 0; i < m; ++i) {
          for (int j = 0; j < n; ++j) {
            std::complex<double> sum = 0;
            for (int l = 0; l <= std::min(j, k - 1); ++l)
              sum += number(out[1], (b * m + i) * k + l) * number(out[0], (b * m + l) * n + j);
            EXPECT_LT(std::abs(sum - number(x[0], (b * m + i) * n + j)), bound)
                << type << " " << m << "x" << n;
          }
          for (int j = 0; j < k && i < k; ++j) {
            std::complex<double> sum = 0;
            for (int l = 0; l < m; ++l)
              sum += std::conj(number(out[1], (b * m + l) * k + i)) *
                     number(out[1], (b * m + l) * k + j);
            EXPECT_LT(std::abs(sum - std::complex<double>(i == j)), bound)
                << type << " " << m << "x" << n;
          }
        }
      testing::expect_compiled_equals_reference(body(module));
    }
}

}  // namespace
}  // namespace strata::compile
