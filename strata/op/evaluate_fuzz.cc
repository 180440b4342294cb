// libFuzzer target: any bytes are parsed with the catalog's operations; what verifies is printed in
// both forms and read back the same, and what is small is evaluated by reference, twice to the same
// bytes.
//
//   tools/fuzz.sh strata/op/evaluate_fuzz.cc strata/ir/text/testdata/seeds -max_total_time=60
//
// Small: at most 64 operations on at most 4096 elements each, numbers in attributes at most 64,
// nothing with an effect, and no `while`, which nothing bounds. Arguments hold a fixed pattern of
// bytes.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "strata/base/error.h"
#include "strata/ir/pass/pass.h"
#include "strata/ir/testing/text_mutator.h"
#include "strata/ir/text/parser.h"
#include "strata/ir/text/printer.h"
#include "strata/ir/verify.h"
#include "strata/op/def.h"
#include "strata/op/evaluate.h"

namespace {

using namespace strata;

constexpr std::int64_t kElements = 4096, kNumber = 64;
constexpr int kOperations = 64;

bool is_small(const Type& t) {
  if (!t.is_tensor() || !t.shape().is_static()) return false;
  return t.shape().count() <= kElements;
}

bool is_small(const ir::Attr& attr) {
  auto fits = [](std::int64_t n) { return n >= -kNumber && n <= kNumber; };
  if (const auto* n = std::get_if<std::int64_t>(&attr)) return fits(*n);
  if (const auto* list = std::get_if<ir::Ints>(&attr))
    return std::all_of(list->begin(), list->end(), fits);
  return true;
}

bool is_small(const ir::Block& block) {
  int operations = 0;
  bool small = true;
  for (const ir::Value* v : block.argument_values()) small = small && is_small(v->type());
  ir::walk(block, [&](const ir::Op& op) {
    ++operations;
    small = small && !op.info().has_effect && op.name() != "stablehlo.while";
    for (const ir::Value* v : op.results()) small = small && is_small(v->type());
    for (const auto& r : op.regions)
      for (const ir::Value* v : r->argument_values()) small = small && is_small(v->type());
    for (const auto& [name, value] : op.attrs) small = small && is_small(value);
  });
  return small && operations <= kOperations;
}

void check_text(const ir::Module& module, const ir::ParseOptions& options) {
  std::string once = ir::print(module);
  for (bool generic : {false, true}) {
    auto again = ir::parse(ir::print(module, {.generic = generic}), "again", options);
    if (!again || ir::print(**again) != once) std::abort();
  }
}

Literal pattern(const Type& type) {
  Literal out(type);
  if (bit_width(type.dtype()) < 8) return out;  // a byte holds fewer values than it could
  for (std::size_t i = 0; i < out.bytes(); ++i)
    out.mutable_data()[i] = static_cast<std::byte>(i * 37 % 251);
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool filled = !op::catalog().empty();
  (void)filled;
  ir::ParseOptions options{.limits = {.depth = 32, .literal_bytes = std::size_t{1} << 16}};
  auto module = ir::parse({reinterpret_cast<const char*>(data), size}, "fuzz", options);
  if (!module || !ir::verify(**module).ok()) return 0;
  check_text(**module, options);
  try {
    ir::inline_calls(**module);
    for (const auto& f : (*module)->functions) {
      if (!is_small(f->body)) continue;
      op::Literals arguments;
      for (const ir::Value* v : f->body.argument_values()) arguments.push_back(pattern(v->type()));
      op::Literals once = op::evaluate(f->body, arguments),
                   again = op::evaluate(f->body, arguments);
      for (std::size_t i = 0; i < once.size(); ++i)
        if (!once[i].same_bits(again[i])) std::abort();
    }
  } catch (const Error&) {  // the program's mistake, or what is not supported
  }
  return 0;
}
