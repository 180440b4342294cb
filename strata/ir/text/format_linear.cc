// Linear algebra, transforms, random numbers, normalisation.
#include "strata/ir/text/format_help.h"
#include "strata/ir/text/type_text.h"
#include "strata/type/number.h"

namespace strata::ir {
namespace {

// ---- cholesky %a, lower = true : T (false is not shown) ----------------------------------------

void print_cholesky(TextPrinter& p, const Op& op) {
  p << " ";
  p.operands(op);
  if (op.attrs.get_or<bool>("lower", false)) p << ", lower = true";
  p.other_attributes(op, {"lower"});
  p.same_or_functional_type(op);
}
void parse_cholesky(TextParser& p, Draft& draft) {
  draft.operands = {p.operand()};
  if (p.consume(",")) {
    p.expect("lower");
    p.expect("=");
    draft.attrs.set("lower", p.attribute());
  }
  p.attributes(draft);
  p.same_or_functional_type(draft);
}
void cholesky_from_generic(TextParser& p, Draft& draft) {
  optional_flag(p, draft, "lower");
  if (!draft.attrs.get_or<bool>("lower", false))
    draft.attrs.erase("lower");  // as the short form reads back
}

// ---- triangular_solve: generic -----------------------------------------------------------------

constexpr const char* kFlags[] = {"left_side", "lower", "unit_diagonal"};

void triangular_from_generic(TextParser& p, Draft& draft) {
  for (const char* name : kFlags) p.need<bool>(draft, name, "boolean");
  enum_from_generic(p, draft, "transpose_a", "transpose", {"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"},
                    true);
}
GenericForm triangular_to_generic(const Op& op) {
  GenericForm out = plain_form(op);
  enum_to_generic(out.attrs, "transpose_a", "transpose");
  return out;
}

// ---- fft %a, type = FFT, length = [8] : (T) -> T -----------------------------------------------

void print_fft(TextPrinter& p, const Op& op) {
  p << " ";
  p.operands(op);
  p.format(", type = {}, length = {}", op.attr<std::string>("fft_type"),
           TextPrinter::list(op.attr<Ints>("fft_length")));
  p.other_attributes(op, {"fft_type", "fft_length"});
  p.functional_type(op);
}
void parse_fft(TextParser& p, Draft& draft) {
  draft.operands = {p.operand()};
  p.expect(",");
  p.expect("type");
  p.expect("=");
  draft.attrs.set("fft_type", std::string(p.word("a kind of transform")));
  p.expect(",");
  p.expect("length");
  p.expect("=");
  draft.attrs.set("fft_length", p.ints());
  p.attributes(draft);
  p.functional_type(draft);
}
void fft_from_generic(TextParser& p, Draft& draft) {
  enum_from_generic(p, draft, "fft_type", "fft_type", {"FFT", "IFFT", "RFFT", "IRFFT"}, true);
  need_ints(p, draft, "fft_length");
}
GenericForm fft_to_generic(const Op& op) {
  GenericForm out = plain_form(op);
  enum_to_generic(out.attrs, "fft_type", "fft_type");
  return out;
}

// ---- rng %a, %b, %shape, distribution = UNIFORM : (T, T, S) -> T -------------------------------

void print_rng(TextPrinter& p, const Op& op) {
  p << " ";
  p.operands(op);
  p << ", distribution = " << op.attr<std::string>("rng_distribution");
  p.other_attributes(op, {"rng_distribution"});
  p.functional_type(op);
}
void parse_rng(TextParser& p, Draft& draft) {
  for (int i = 0; i < 3; ++i) {
    draft.operands.push_back(p.operand());
    p.expect(",");
  }
  p.expect("distribution");
  p.expect("=");
  draft.attrs.set("rng_distribution", std::string(p.word("a distribution")));
  p.attributes(draft);
  p.functional_type(draft);
}
void rng_from_generic(TextParser& p, Draft& draft) {
  enum_from_generic(p, draft, "rng_distribution", "rng_distribution", {"UNIFORM", "NORMAL"}, true);
}
GenericForm rng_to_generic(const Op& op) {
  GenericForm out = plain_form(op);
  enum_to_generic(out.attrs, "rng_distribution", "rng_distribution");
  return out;
}

// ---- batch_norm_*: epsilon is an f32 -----------------------------------------------------------

void batch_norm_from_generic(TextParser& p, Draft& draft) {
  need_integer(p, draft, "feature_index");
  const Attr* a = draft.attrs.find("epsilon");
  if (a == nullptr)
    p.fail_at(p.op_offset(), fmt::format("{} requires attribute 'epsilon'", draft.info->name));
  if (std::holds_alternative<double>(*a)) return;
  const std::string text = p.need<Opaque>(draft, "epsilon", "number").text;
  std::size_t colon = text.find(" : f32");
  std::string_view number = std::string_view(text).substr(0, colon);
  std::optional<std::uint64_t> bits;
  if (colon != text.npos && colon + 6 == text.size()) {
    if (number.substr(0, 2) == "0x")
      bits = std::stoull(std::string(number.substr(2)), nullptr, 16);
    else
      bits = parse_float_bits(number, DType::f32);
  }
  if (!bits)
    p.fail_at(p.op_offset(), fmt::format("attribute 'epsilon' of {} is {}, which is no f32",
                                         draft.info->name, text));
  draft.attrs.set("epsilon", float_value(*bits, DType::f32));
}
GenericForm batch_norm_to_generic(const Op& op) {
  GenericForm out = plain_form(op);
  out.attrs.set("epsilon",
                Opaque{float_text(float_bits(op.attr<double>("epsilon"), DType::f32), DType::f32) +
                       " : f32"});
  return out;
}
std::string_view batch_norm_name(const Op& op, int result) {
  constexpr std::string_view training[] = {"output", "batch_mean", "batch_var"},
                             grad[] = {"grad_operand", "grad_scale", "grad_offset"};
  if (op.num_results() != 3) return "";
  return (op.operands.size() == 3 ? training : grad)[result];
}

}  // namespace

namespace formats {
const TextFormat cholesky{
    .print = print_cholesky, .parse = parse_cholesky, .from_generic = cholesky_from_generic};
const TextFormat triangular_solve{.from_generic = triangular_from_generic,
                                  .to_generic = triangular_to_generic};
const TextFormat fft{.print = print_fft,
                     .parse = parse_fft,
                     .from_generic = fft_from_generic,
                     .to_generic = fft_to_generic};
const TextFormat rng{.print = print_rng,
                     .parse = parse_rng,
                     .from_generic = rng_from_generic,
                     .to_generic = rng_to_generic};
const TextFormat batch_norm{.from_generic = batch_norm_from_generic,
                            .to_generic = batch_norm_to_generic,
                            .result_name = batch_norm_name};
}  // namespace formats
}  // namespace strata::ir
