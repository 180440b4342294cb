// check.expect_*: operations by which a program checks its own values.
//
// Contract (the check dialect of StableHLO's tests):
// - expect_eq %a, %b; expect_eq_const %a, dense<..>: equal numbers, NaN unequal to itself.
// - expect_almost_eq, expect_almost_eq_const: floats or complex; differ by at most `tolerance`
// (default 1e-4).
// - expect_close: floats or complex; between `min_ulp_difference` (0) and `max_ulp_difference` (1)
// numbers apart.
// - expect_serialized_eq %want, probe_id = "p", iter = k: equal to what `interpreter.probe`
// recorded as its k-th value. (C1) Both sides have one type. (C2) expect_almost_eq*, expect_close:
// of a float or complex dtype.
//
// Evaluated by reference, a check that fails throws. A runner that reports differences, or runs
// compiled code, takes the checks out of the program first and compares outside
// (conformance/checks.h).
#include "strata/op/control/check.h"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>

#include "strata/ir/text/format_help.h"
#include "strata/ir/text/literal_text.h"
#include "strata/ir/text/type_text.h"
#include "strata/ir/verify.h"
#include "strata/op/control/probe.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

// ---- comparison --------------------------------------------------------------------------------

/// A complex array as one of twice the real numbers, sharing its bytes.
Literal parts(const Literal& x) {
  std::vector<Dim> dims = x.shape().dims();
  dims.emplace_back(2);
  return Literal(Type(real_part(x.dtype()), Shape(std::move(dims))), x.storage());
}

std::uint64_t bits_at(const Literal& x, std::int64_t i) {
  std::uint64_t bits = 0;
  std::size_t width = byte_width(x.dtype());
  std::memcpy(&bits, x.data() + static_cast<std::size_t>(i) * width, width);
  return bits;
}

bool same_bytes(const Literal& a, const Literal& b, std::int64_t i) {
  std::size_t width = byte_width(a.dtype()), at = static_cast<std::size_t>(i) * width;
  return std::memcmp(a.data() + at, b.data() + at, width) == 0;
}

/// The number of a float's magnitude in the order of all magnitudes, and its sign.
std::pair<std::uint64_t, bool> magnitude(const Literal& x, std::int64_t i) {
  std::uint64_t bits = bits_at(x, i);
  if (x.dtype() == DType::f8E8M0FNU) return {bits, false};  // without a sign
  std::uint64_t sign = std::uint64_t{1} << (bit_width(x.dtype()) - 1);
  return {bits & (sign - 1), (bits & sign) != 0};
}

bool float_fits(const Demand& d, const Literal& got, const Literal& want, std::int64_t i) {
  double g = got.number(i), w = want.number(i);
  bool both_nan = std::isnan(g) && std::isnan(w);
  switch (d.kind) {
    case Demand::Kind::equal: return g == w;
    case Demand::Kind::same: return g == w || both_nan;
    case Demand::Kind::bits: return both_nan || same_bytes(got, want, i);
    case Demand::Kind::close: {
      if (both_nan) return true;
      if (!std::isfinite(g) || !std::isfinite(w)) {
        std::uint64_t distance =
            same_bytes(got, want, i) ? 0 : std::numeric_limits<std::uint64_t>::max();
        return distance >= d.min_ulp && distance <= d.max_ulp;
      }
      std::uint64_t distance = ulp_distance(got, want, i);
      return distance >= d.min_ulp && distance <= d.max_ulp;
    }
    case Demand::Kind::almost:
    case Demand::Kind::within:
      if (both_nan || g == w) return true;
      if (d.same_sign && g != 0 && w != 0 && std::signbit(g) != std::signbit(w)) return false;
      return std::isfinite(w) && std::fabs(g - w) <= d.atol + d.rtol * std::fabs(w);
  }
  STRATA_UNREACHABLE("demand {}", static_cast<int>(d.kind));
}

/// `got` and `want` as parts; element i is numbers 2i and 2i + 1.
bool complex_fits(const Demand& d, const Literal& got, const Literal& want, std::int64_t i) {
  if (d.kind != Demand::Kind::within)
    return float_fits(d, got, want, 2 * i) && float_fits(d, got, want, 2 * i + 1);
  double gr = got.number(2 * i), gi = got.number(2 * i + 1), wr = want.number(2 * i),
         wi = want.number(2 * i + 1);
  bool got_nan = std::isnan(gr) || std::isnan(gi), want_nan = std::isnan(wr) || std::isnan(wi);
  if (got_nan || want_nan) return got_nan && want_nan;
  if (gr == wr && gi == wi) return true;
  double size = std::hypot(wr, wi);
  return std::isfinite(size) && std::hypot(gr - wr, gi - wi) <= d.atol + d.rtol * size;
}

bool fits(const Demand& d, const Literal& got, const Literal& want, std::int64_t i) {
  if (is_float(got.dtype())) return float_fits(d, got, want, i);
  return is_integer(got.dtype()) ? got.integer(i) == want.integer(i) : same_bytes(got, want, i);
}

std::string number_text(const Literal& x, std::int64_t i) {
  if (is_float(x.dtype()))
    return fmt::format("{:.{}g}", x.number(i), x.dtype() == DType::f64 ? 17 : 9);
  return is_bool(x.dtype())       ? (x.integer(i) != 0 ? "true" : "false")
         : is_unsigned(x.dtype()) ? fmt::format("{}", static_cast<std::uint64_t>(x.integer(i)))
                                  : fmt::format("{}", x.integer(i));
}

Distance distance(const Literal& got, const Literal& want, std::int64_t i) {
  if (!is_float(got.dtype())) {
    double abs =
        std::fabs(static_cast<double>(got.integer(i)) - static_cast<double>(want.integer(i)));
    return {abs, abs};
  }
  double g = got.number(i), w = want.number(i);
  if (!std::isfinite(g) || !std::isfinite(w)) {
    bool equal = g == w || (std::isnan(g) && std::isnan(w));
    double far = equal ? 0 : std::numeric_limits<double>::infinity();
    return {far, far};
  }
  return {std::fabs(g - w), static_cast<double>(ulp_distance(got, want, i))};
}

std::string index_text(const Shape& shape, std::int64_t linear) {
  std::vector<std::int64_t> index(static_cast<std::size_t>(shape.rank()));
  for (int d = shape.rank(); d-- > 0; linear /= shape[d])
    index[static_cast<std::size_t>(d)] = linear % shape[d];
  return fmt::format("[{}]", fmt::join(index, ", "));
}

/// One element of an array of numbers, or of a complex one as its parts.
struct Element {
  const Literal &got, &want;
  std::int64_t first, count;  // the element's numbers

  Distance apart() const {
    Distance out;
    for (std::int64_t k = first; k < first + count; ++k) {
      Distance d = distance(got, want, k);
      out = {std::max(out.abs, d.abs), std::max(out.ulp, d.ulp)};
    }
    return out;
  }
  std::string text(const Literal& x) const {
    return count == 1 ? number_text(x, first)
                      : fmt::format("({}, {})", number_text(x, first), number_text(x, first + 1));
  }
};

}  // namespace

std::uint64_t ulp_distance(const Literal& got, const Literal& want, std::int64_t element) {
  auto [a, a_negative] = magnitude(got, element);
  auto [b, b_negative] = magnitude(want, element);
  if (a_negative != b_negative) return a + b;
  return a > b ? a - b : b - a;
}

std::optional<Difference> compare(const Demand& demand, const Literal& got, const Literal& want,
                                  Distance* largest) {
  STRATA_CHECK(got.type() == want.type(), "{} compared with {}", got.type().to_string(),
               want.type().to_string());
  bool complex = is_complex(got.dtype());
  Literal g = complex ? parts(got) : got, w = complex ? parts(want) : want;
  std::optional<Difference> out;
  for (std::int64_t i = 0; i < got.count(); ++i) {
    Element e{g, w, complex ? 2 * i : i, complex ? 2 : 1};
    bool fine = complex ? complex_fits(demand, g, w, i) : fits(demand, g, w, i);
    if (largest != nullptr) {
      Distance d = e.apart();
      if (std::isfinite(d.abs))
        *largest = {std::max(largest->abs, d.abs), std::max(largest->ulp, d.ulp)};
    }
    if (fine) continue;
    if (!out) {
      Distance d = e.apart();
      out = Difference{.index = i,
                       .at = index_text(got.shape(), i),
                       .got = e.text(g),
                       .want = e.text(w),
                       .abs = d.abs,
                       .ulp = d.ulp};
    }
    ++out->count;
  }
  return out;
}

std::string to_string(const Difference& d) {
  std::string more = d.count > 1 ? fmt::format(", {} elements differ", d.count) : "";
  return fmt::format("at {}: got {}, want {} (abs {:.3g}, ulp {:.3g}){}", d.at, d.got, d.want,
                     d.abs, d.ulp, more);
}

// ---- what each spelling demands ----------------------------------------------------------------

namespace {

constexpr double kAlmost = 1e-4;

Demand equal_demand() { return {.kind = Demand::Kind::equal}; }
Demand almost_demand(double tolerance) { return {.kind = Demand::Kind::almost, .atol = tolerance}; }

/// The targets of custom calls: their tolerances are fixed, and `check.eq` chooses by the dtype.
std::optional<Demand> custom_call_demand(const ir::Op& op) {
  const ir::Attr* attr = op.attrs.find("call_target_name");
  const std::string* target = attr == nullptr ? nullptr : std::get_if<std::string>(attr);
  if (target == nullptr || op.operands.size() != 2) return std::nullopt;
  if (*target == "check.expect_eq") return equal_demand();
  if (*target == "check.expect_close") return Demand{.kind = Demand::Kind::close, .max_ulp = 3};
  if (*target == "check.expect_almost_eq")
    return Demand{.kind = Demand::Kind::almost, .atol = 1e-3, .same_sign = true};
  if (*target == "check.eq")
    return is_inexact(op.operand(1)->dtype()) ? almost_demand(kAlmost) : equal_demand();
  return std::nullopt;
}

double number_attr(const ir::Op& op, const std::string& name, double otherwise) {
  const ir::Attr* attr = op.attrs.find(name);
  const double* number = attr == nullptr ? nullptr : std::get_if<double>(attr);
  return number == nullptr ? otherwise : *number;
}
std::uint64_t count_attr(const Attrs& attrs, const std::string& name, std::uint64_t otherwise) {
  const ir::Attr* attr = attrs.find(name);
  const std::int64_t* number = attr == nullptr ? nullptr : std::get_if<std::int64_t>(attr);
  return number == nullptr ? otherwise : static_cast<std::uint64_t>(*number);
}

}  // namespace

std::optional<Demand> demand_of(const ir::Op& op) {
  const std::string& name = op.name();
  if (name == "stablehlo.custom_call") return custom_call_demand(op);
  if (name == "check.expect_eq" || name == "check.expect_eq_const") return equal_demand();
  if (name == "check.expect_serialized_eq") return Demand{.kind = Demand::Kind::same};
  if (name == "check.expect_almost_eq" || name == "check.expect_almost_eq_const")
    return almost_demand(number_attr(op, "tolerance", kAlmost));
  if (name == "check.expect_close")
    return Demand{.kind = Demand::Kind::close,
                  .min_ulp = count_attr(op.attrs, "min_ulp_difference", 0),
                  .max_ulp = count_attr(op.attrs, "max_ulp_difference", 1)};
  return std::nullopt;
}

namespace {

// ---- inference, evaluation ---------------------------------------------------------------------

void expect_inexact(std::string_view op, const Type& type) {
  if (!type.is_tensor() || !is_inexact(type.dtype()))
    throw Error(std::string(op), "operands must be floats or complex, got {} (C2)",
                type.to_string());
}
void expect_same_type(std::string_view op, const Type& got, const Type& want) {
  if (!got.is_tensor() || !ir::may_be_same(got, want))
    throw Error(std::string(op), "both sides must have one type, got {} and {} (C1)",
                got.to_string(), want.to_string());
}

using Regions = std::span<const std::unique_ptr<Block>>;

template <const char* name, bool inexact>
std::vector<Type> infer_pair(std::span<Value* const> operands, const Attrs&, Regions) {
  expect_operands(name, operands, 2);
  expect_same_type(name, operands[0]->type(), operands[1]->type());
  if (inexact) expect_inexact(name, operands[0]->type());
  return {};
}
template <const char* name, bool inexact>
std::vector<Type> infer_const(std::span<Value* const> operands, const Attrs& attrs, Regions) {
  expect_operands(name, operands, 1);
  expect_same_type(name, operands[0]->type(), expect_attr<Literal>(name, attrs, "value").type());
  if (inexact) expect_inexact(name, operands[0]->type());
  return {};
}
template <const char* name>
std::vector<Type> infer_serialized(std::span<Value* const> operands, const Attrs& attrs, Regions) {
  expect_operands(name, operands, 1);
  expect_attr<std::string>(name, attrs, "probe_id");
  return {};
}

Literals evaluate_check(const Op& op, std::span<const Literal> operands, Evaluator&) {
  const Literal& want = operands.size() > 1 ? operands[1] : op.attr<Literal>("value");
  if (auto difference = compare(*demand_of(op), operands[0], want))
    throw Error(std::string(short_name(op.name())), "{}", to_string(*difference))
        .at(op.where.text());
  return {};
}
/// (C3) The probe was reached that often.
Literals evaluate_serialized(const Op& op, std::span<const Literal> operands, Evaluator&) {
  const std::string& id = op.attr<std::string>("probe_id");
  std::uint64_t iteration = count_attr(op.attrs, "iteration", 0);
  const std::vector<Literal>& recorded = probes()[id];
  std::string name(short_name(op.name()));
  if (iteration >= recorded.size())
    throw Error(name, "probe '{}' recorded {} values, none for iteration {} (C3)", id,
                recorded.size(), iteration)
        .at(op.where.text());
  const Literal& got = recorded[iteration];
  if (!(got.type() == operands[0].type()))
    throw Error(name, "probe '{}' recorded {}, expected {} (C1)", id, got.type().to_string(),
                operands[0].type().to_string())
        .at(op.where.text());
  if (auto difference = compare(*demand_of(op), got, operands[0]))
    throw Error(name, "{}", to_string(*difference)).at(op.where.text());
  return {};
}

// ---- text: check.expect_close %a, %b, max_ulp_difference = 3, min_ulp_difference = 1 : T, T ----

/// ", name = <attribute>" if it follows.
bool parse_named(ir::TextParser& p, const char* name) {
  std::size_t comma = p.offset();
  if (!p.consume(",")) return false;
  if (p.consume(name)) {
    p.expect("=");
    return true;
  }
  p.seek(comma);
  return false;
}
void parse_unsigned(ir::TextParser& p, ir::Draft& draft, const char* name) {
  std::string digits(p.number());
  char* end = nullptr;
  errno = 0;
  std::uint64_t value = std::strtoull(digits.c_str(), &end, 10);
  if (errno != 0 || digits.empty() || digits[0] == '-' || *end != 0)
    p.fail("{} is no unsigned number of 64 bits", digits);
  draft.attrs.set(name, static_cast<std::int64_t>(value));
}

/// ", tolerance = 0.2" if it follows, with or without its type: another colon may begin that of the
/// operands.
void parse_tolerance(ir::TextParser& p, ir::Draft& draft) {
  if (!parse_named(p, "tolerance")) return;
  const std::string text(p.number());
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != 0 || !(value >= 0)) p.fail("'{}' is no tolerance", text);
  draft.attrs.set("tolerance", value);
  const std::size_t colon = p.offset();
  if (!p.consume(":") || !p.consume("f64")) p.seek(colon);
}

void print_pair(ir::TextPrinter& p, const Op& op) {
  p << " ";
  p.operands(op);
  if (op.attrs.has("tolerance"))
    p << ", tolerance = " << ir::attr_text(*op.attrs.find("tolerance"));
  p.other_attributes(op, {"tolerance"});
  p << " : " << op.operand(0)->type().to_string();
}
void parse_pair(ir::TextParser& p, ir::Draft& draft) {
  draft.operands = {p.operand()};
  p.expect(",");
  draft.operands.push_back(p.operand());
  parse_tolerance(p, draft);
  p.attributes(draft);
  p.expect(":");
  std::size_t where = p.offset();
  p.operand_types(draft, std::vector<Type>(2, ir::parse_type(p)), where);
}

void print_const(ir::TextPrinter& p, const Op& op) {
  const Literal& value = op.attr<Literal>("value");
  p << " ";
  p.operands(op);
  p << ", " << ir::dense_text(value) << " : " << value.type().to_string();
  if (op.attrs.has("tolerance"))
    p << ", tolerance = " << ir::attr_text(*op.attrs.find("tolerance"));
  p.other_attributes(op, {"value", "tolerance"});
}
void parse_const(ir::TextParser& p, ir::Draft& draft) {
  draft.operands = {p.operand()};
  p.expect(",");
  draft.attrs.set("value", p.attribute());
  parse_tolerance(p, draft);
  p.attributes(draft);
}
void const_from_generic(ir::TextParser& p, ir::Draft& draft) {
  p.need<Literal>(draft, "value", "constant");
}

void print_close(ir::TextPrinter& p, const Op& op) {
  p << " ";
  p.operands(op);
  p.format(", max_ulp_difference = {}", count_attr(op.attrs, "max_ulp_difference", 1));
  if (op.attrs.has("min_ulp_difference"))
    p.format(", min_ulp_difference = {}", count_attr(op.attrs, "min_ulp_difference", 0));
  p << " :";
  p.other_attributes(op, {"max_ulp_difference", "min_ulp_difference"});
  p << " " << ir::TextPrinter::types(op.operands);
}
void parse_close(ir::TextParser& p, ir::Draft& draft) {
  draft.operands = {p.operand()};
  p.expect(",");
  draft.operands.push_back(p.operand());
  if (parse_named(p, "max_ulp_difference")) parse_unsigned(p, draft, "max_ulp_difference");
  if (parse_named(p, "min_ulp_difference")) parse_unsigned(p, draft, "min_ulp_difference");
  p.expect(":");
  p.attributes(draft);
  std::size_t where = p.offset();
  std::vector<Type> types{ir::parse_type(p)};
  p.expect(",");
  types.push_back(ir::parse_type(p));
  p.operand_types(draft, types, where);
}

void print_serialized(ir::TextPrinter& p, const Op& op) {
  p << " ";
  p.operands(op);
  p << ", probe_id = " << ir::quoted(op.attr<std::string>("probe_id"));
  if (op.attrs.has("iteration")) p.format(", iter = {}", op.attr<std::int64_t>("iteration"));
  p.other_attributes(op, {"probe_id", "iteration"});
  p << " : " << op.operand(0)->type().to_string();
}
void parse_serialized(ir::TextParser& p, ir::Draft& draft) {
  draft.operands = {p.operand()};
  p.expect(",");
  p.expect("probe_id");
  p.expect("=");
  draft.attrs.set("probe_id", p.string());
  if (parse_named(p, "iter")) draft.attrs.set("iteration", p.integer());
  p.attributes(draft);
  p.expect(":");
  std::size_t where = p.offset();
  p.operand_types(draft, {ir::parse_type(p)}, where);
}
void serialized_from_generic(ir::TextParser& p, ir::Draft& draft) {
  p.need<std::string>(draft, "probe_id", "string");
}

constexpr ir::TextFormat kPairText{.print = print_pair, .parse = parse_pair};
constexpr ir::TextFormat kConstText{
    .print = print_const, .parse = parse_const, .from_generic = const_from_generic};
constexpr ir::TextFormat kCloseText{.print = print_close, .parse = parse_close};
constexpr ir::TextFormat kSerializedText{
    .print = print_serialized, .parse = parse_serialized, .from_generic = serialized_from_generic};

// ---- table -------------------------------------------------------------------------------------

constexpr None kChecks{"a check compares whole arrays and has no result"};
constexpr char kEq[] = "expect_eq", kEqConst[] = "expect_eq_const",
               kAlmostEq[] = "expect_almost_eq", kAlmostEqConst[] = "expect_almost_eq_const";
constexpr char kClose[] = "expect_close", kSerialized[] = "expect_serialized_eq";

OpDef check(const char* name, const char* summary, decltype(ir::OpInfo::infer) infer,
            const ir::TextFormat& text, Evaluate evaluate = evaluate_check) {
  return {
      .info = {.name = std::string("check.") + name,
               .infer = std::move(infer),
               .has_effect = true,
               .text = &text},
      .summary = summary,
      .traits = {},
      .evaluate = evaluate,
      .jvp = kChecks,
      .linearize = None{"no regions"},
      .transpose = kChecks,
      .batch = kChecks,
      .shard = kChecks,
      .cost = move_cost,
      .lowering = None{"checks are taken out before a program is compiled, and compared outside "
                       "(conformance/checks.h)"},
  };
}

}  // namespace

std::span<const OpDef> check_defs() {
  static const OpDef defs[] = {
      check(kAlmostEq, "two float arrays are almost equal (check.expect_almost_eq)",
            infer_pair<kAlmostEq, true>, kPairText),
      check(kAlmostEqConst,
            "a float array is almost equal to a constant (check.expect_almost_eq_const)",
            infer_const<kAlmostEqConst, true>, kConstText),
      check(kClose, "two float arrays are a few numbers apart (check.expect_close)",
            infer_pair<kClose, true>, kCloseText),
      check(kEq, "two arrays are equal (check.expect_eq)", infer_pair<kEq, false>, kPairText),
      check(kEqConst, "an array is equal to a constant (check.expect_eq_const)",
            infer_const<kEqConst, false>, kConstText),
      check(kSerialized, "an array is equal to what a probe recorded (check.expect_serialized_eq)",
            infer_serialized<kSerialized>, kSerializedText, evaluate_serialized),
  };
  return defs;
}

}  // namespace strata::op
