// Names and types of the opcodes.
#include "strata/loop/loop.h"

#include <algorithm>
#include <array>

namespace strata::loop {
namespace {

// clang-format off: tables
constexpr std::array<std::string_view, 44> kNames = {
    "constant", "add",  "sub",   "mul",    "div",   "rem",    "min",    "max",     "and",     "or",    "xor",
    "shl",      "shr",  "neg",   "abs",    "not",   "sqrt",   "floor",  "ceil",    "trunc",   "rint",  "popcnt",
    "clz",      "fma",  "cmp",   "select", "convert", "bitcast", "index", "load",  "store",   "fetch", "local",
    "get",      "set",      "reduce", "extract", "dot2", "dot4", "for",   "vector", "if",
    "while",    "call"};
// clang-format on
static_assert(static_cast<std::size_t>(Opcode::call) + 1 == kNames.size());
constexpr std::array<std::string_view, 6> kCompares = {"eq", "ne", "lt", "le", "gt", "ge"};

bool is_arithmetic_float(DType dtype) { return dtype == DType::f32 || dtype == DType::f64; }

}  // namespace

std::string_view name(Opcode code) { return kNames.at(static_cast<std::size_t>(code)); }
std::string_view name(Compare c) { return kCompares.at(static_cast<std::size_t>(c)); }

std::optional<Opcode> parse_opcode(std::string_view text) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == text) return static_cast<Opcode>(i);
  return std::nullopt;
}
std::optional<Compare> parse_compare(std::string_view text) {
  for (std::size_t i = 0; i < kCompares.size(); ++i)
    if (kCompares[i] == text) return static_cast<Compare>(i);
  return std::nullopt;
}

void drop_fetches(Kernel& kernel, const Ref& ref) {
  auto drop = [&](auto& self, Body& body) -> void {
    std::erase_if(body.insts,
                  [&](const Inst* i) { return i->code == Opcode::fetch && i->ref == &ref; });
    for (Inst* i : body.insts)
      for (const auto& inner : i->bodies) self(self, *inner);
  };
  drop(drop, kernel.body);
  for (Inst& i : kernel.arena)
    if (i.ref == &ref) i.ahead = 0;
}

void set_ranges(Inst& loop) {
  if (loop.code == Opcode::for_) {
    std::int64_t last = loop.end.max();
    loop.counter->low = loop.begin.min();
    loop.counter->high =
        std::max(loop.counter->low, last == INT64_MIN || last == INT64_MAX ? last : last - 1);
    return;
  }
  std::int64_t extent = (loop.end - loop.begin).max();
  loop.low = 0;
  loop.high = extent == INT64_MAX ? extent
                                  : std::max<std::int64_t>(0, extent == INT64_MIN ? 0 : extent - 1);
  loop.counter->low = loop.lane->low = 0;
  loop.counter->high = loop.high / loop.lanes;
  loop.lane->high = std::min<std::int64_t>(loop.high, loop.lanes - 1);
}

bool has_whole_strips(const Inst& loop) {
  Index extent = loop.end - loop.begin;
  auto whole = [&](std::int64_t n) { return n % loop.lanes == 0; };
  return whole(extent.constant()) &&
         std::all_of(extent.terms().begin(), extent.terms().end(),
                     [&](const Index::Term& t) { return whole(t.coefficient); });
}

// clang-format off: tables
bool is_loop_dtype(DType dtype) {
  switch (dtype) {
    case DType::i1:
    case DType::i8: case DType::i16: case DType::i32: case DType::i64:
    case DType::ui8: case DType::ui16: case DType::ui32: case DType::ui64:
    case DType::bf16: case DType::f16: case DType::f32: case DType::f64: return true;
    default: return false;
  }
}

bool accepts(Opcode code, DType dtype) {
  if (!is_loop_dtype(dtype)) return false;
  bool number = is_integer(dtype), real = is_arithmetic_float(dtype), boolean = dtype == DType::i1;
  switch (code) {
    case Opcode::add: case Opcode::sub: case Opcode::mul: case Opcode::div: case Opcode::rem:
    case Opcode::neg: case Opcode::abs: return number || real;
    case Opcode::min: case Opcode::max: case Opcode::cmp: return number || real || boolean;
    case Opcode::and_: case Opcode::or_: case Opcode::xor_: case Opcode::not_: return number || boolean;
    case Opcode::shl: case Opcode::shr: case Opcode::popcnt: case Opcode::clz: return number;
    case Opcode::sqrt: case Opcode::floor: case Opcode::ceil: case Opcode::trunc: case Opcode::rint: case Opcode::fma: return real;
    case Opcode::index: return dtype == DType::i64;
    default: return true;
  }
}
// clang-format on

int join_lanes(const std::vector<Inst*>& args) {
  int lanes = 1;
  for (const Inst* arg : args) {
    if (arg->type.lanes == 1) continue;
    STRATA_CHECK(lanes == 1 || lanes == arg->type.lanes, "values of {} and {} lanes do not meet",
                 lanes, arg->type.lanes);
    lanes = arg->type.lanes;
  }
  return lanes;
}

Kernel::Kernel(std::string name) : name(std::move(name)) {}
Kernel::~Kernel() = default;

std::vector<Ref*> Kernel::parameters() const {
  std::vector<Ref*> found;
  for (const auto& ref : refs)
    if (ref->mode != Ref::Mode::scratch) found.push_back(ref.get());
  return found;
}

}  // namespace strata::loop
