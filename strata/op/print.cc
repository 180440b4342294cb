// interpreter.print: prints its operand as the reference evaluator comes by.
//
// Contract (the interpreter dialect of StableHLO): one tensor; no results; an effect. Prints "%0 = " and the value, under the name
// that the text gave it; what is printed goes to World::print (op/world.h), whole, so that processes do not mix theirs.
#include "strata/op/print.h"

#include <cstdio>

#include "strata/ir/text/parser.h"
#include "strata/ir/text/printer.h"
#include "strata/ir/text/type_text.h"
#include "strata/op/quantized.h"
#include "strata/op/rules.h"
#include "strata/op/world.h"
#include "strata/type/number.h"

namespace strata::op {
namespace {

constexpr None kPrints{"printing has no derivative"};

constexpr char kName[] = "operand_name";  // the operand as the text names it; not printed, for it is read again

std::uint64_t bits(const std::byte* at, DType dtype) {
  std::uint64_t out = 0;
  std::memcpy(&out, at, byte_width(dtype));
  return out;
}

std::string element_text(const Literal& x, std::int64_t i, const char* open, const char* comma, const char* close) {
  DType dtype = x.dtype();
  const std::byte* at = x.data() + static_cast<std::size_t>(i) * byte_width(dtype);
  if (is_bool(dtype)) return x.integer(i) != 0 ? "true" : "false";
  if (is_float(dtype)) return float_text(bits(at, dtype), dtype);
  if (is_signed(dtype)) return fmt::format("{}", x.integer(i));
  if (is_unsigned(dtype)) return fmt::format("{}", static_cast<std::uint64_t>(x.integer(i)));
  DType part = real_part(dtype);
  return open + float_text(bits(at, part), part) + comma + float_text(bits(at + byte_width(part), part), part) + close;
}

/// Writes a value from one dimension on.
class Rows {
 public:
  Rows(const Literal& x, std::string& out) : x_(x), out_(out) {}
  void write(int dim, bool is_last) {
    if (dim == x_.type().rank()) {
      out_ += element_text(x_, next_++, "[", ", ", "]");
      if (!is_last) out_ += ", ";
      return;
    }
    line(dim + 1);
    out_ += "[";
    std::int64_t size = x_.shape()[dim];
    for (std::int64_t i = 0; i < size; ++i) write(dim + 1, i + 1 == size);
    out_ += "]";
    if (is_last)
      line(dim);
    else
      out_ += ",";
  }

 private:
  void line(int indent) { out_ += "\n" + std::string(static_cast<std::size_t>(indent) * 2, ' '); }
  const Literal& x_;
  std::string& out_;
  std::int64_t next_ = 0;
};

void write_nested(const Literal& x, int dim, std::int64_t& next, std::string& out) {
  if (dim == x.type().rank()) {
    out += element_text(x, next++, "(", ",", ")");
    return;
  }
  out += "[";
  for (std::int64_t i = 0; i < x.shape()[dim]; ++i) {
    if (i > 0) out += ", ";
    write_nested(x, dim + 1, next, out);
  }
  out += "]";
}

std::vector<Type> infer(std::span<Value* const> operands, const Attrs&, std::span<const std::unique_ptr<Block>>) {
  expect_operands("print", operands, 1);
  if (!operands[0]->type().is_tensor()) throw Error("print", "the operand must be a tensor, got {}", operands[0]->type().to_string());
  return {};
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator& evaluator) {
  std::string text = fmt::format("%{} = {}\n", op.attrs.get_or<std::string>(kName, "0"), value_text(operands[0]));
  const auto& print = evaluator.process().world().print;
  if (print)
    print(text);
  else
    std::fputs(text.c_str(), stdout);
  return {};
}

void print_op(ir::TextPrinter& p, const Op& op) {
  p << " ";
  p.operands(op);
  p.other_attributes(op, {kName});
  p << " : " << op.operand(0)->type().to_string();
}
void parse_op(ir::TextParser& p, ir::Draft& draft) {
  (void)p.peek();
  std::size_t from = p.offset();
  draft.operands = {p.operand()};
  std::string name(p.text().substr(from, p.offset() - from));
  draft.attrs.set(kName, name.substr(name.find('%') + 1));
  p.attributes(draft);
  p.expect(":");
  std::size_t where = p.offset();
  p.operand_types(draft, {ir::parse_type(p)}, where);
}
ir::GenericForm to_generic(const Op& op) {
  ir::GenericForm out{.attrs = op.attrs, .regions = {}, .owned = {}};
  out.attrs.erase(kName);
  return out;
}
constexpr ir::TextFormat kText{.print = print_op, .parse = parse_op, .to_generic = to_generic};

}  // namespace

std::string value_text(const Literal& value) {
  std::string out = value.type().to_string() + " {";
  Rows(value, out).write(0, true);
  return out + "}";
}

std::string dense_value_text(const Literal& value) {
  std::string body;
  std::int64_t next = 0;
  if (value.count() > 1 && value.is_splat())
    body = element_text(value, 0, "(", ",", ")");
  else if (value.count() > 0)
    write_nested(value, 0, next, body);
  if (value.count() == 1) {  // one element is a splat too
    body = element_text(value, 0, "(", ",", ")");
  }
  return "dense<" + body + "> : " + value.type().to_string();
}

const OpDef& print_def() {
  static const OpDef d{
      .info = {.name = "interpreter.print", .infer = infer, .has_effect = true, .text = &kText, .quantized = quantized::as_stated},
      .summary = "prints its operand as the reference evaluator comes by (interpreter.print)",
      .traits = {.moves_only = true},
      .evaluate = evaluate,
      .jvp = kPrints,
      .linearize = kPrints,
      .transpose = kPrints,
      .batch = None{"an effect happens once, not once for each example"},
      .shard = None{"whole arrays are printed"},
      .cost = move_cost,
      .lowering = None{"only reference evaluation prints"},
  };
  return d;
}

}  // namespace strata::op
