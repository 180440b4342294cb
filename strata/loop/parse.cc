// The text form read back. Grammar, with [x] for "at most one x":
//
//   kernel  := kernel @name ( ref, ... ) grid INT { inst* }
//   ref     := %name : (in | out | inout | scratch) DTYPE [ INT ]
//   inst    := %name = opcode operands : DTYPE[xLANES] [in [INT, INT]]
//            | %name = load [ahead INT] %ref[index] [where %p else %v] : DTYPE[xLANES]
//            | store [streaming] %ref[index], %v [where %p]  |  set %local, %v
//            | fetch %ref[index]
//            | for %i = index to index step INT { inst* }
//            | vector %strip, %lane = index to index lanes INT { inst* }
//            | if %p { inst* } [else { inst* }]
//            | while { inst* yield %p } do { inst* }
//   index   := [-] item ((+ | -) item)*,  item := INT | %v | INT*%v
#include <charconv>
#include <map>

#include "strata/loop/lexer.h"
#include "strata/loop/loop.h"
#include "strata/loop/semantics.h"
#include "strata/loop/verify.h"

namespace strata::loop {
namespace {

using internal::is_digit;
using internal::Lexer;
using internal::Mistake;

constexpr std::size_t kMaxTerms = 256;

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) {}

  std::unique_ptr<Kernel> run() {
    lexer_.expect("kernel");
    kernel_ = std::make_unique<Kernel>(name_after('@'));
    lexer_.expect("(");
    while (!lexer_.take_if(")")) {
      if (!kernel_->refs.empty()) lexer_.expect(",");
      parse_ref();
    }
    lexer_.expect("grid");
    kernel_->grid = parse_int();
    parse_block(kernel_->body);
    if (!lexer_.peek().empty()) lexer_.fail("the end");
    return std::move(kernel_);
  }

 private:
  // ---- names and numbers

  std::string name_after(char sign) {
    std::string_view token = lexer_.peek();
    if (token.size() < 2 || token[0] != sign) lexer_.fail(fmt::format("a name after '{}'", sign));
    return std::string(lexer_.take().substr(1));
  }
  void define(const std::string& name, Inst* inst) {
    if (refs_.count(name) || !values_.emplace(name, inst).second)
      lexer_.fail(fmt::format("a new name instead of %{}", name));
  }
  Inst* parse_value() {
    std::string name = name_after('%');
    if (name == "g") return grid_index();
    auto found = values_.find(name);
    if (found == values_.end()) lexer_.fail(fmt::format("a value known here instead of %{}", name));
    return found->second;
  }
  Ref* parse_ref_name() {
    std::string name = name_after('%');
    auto found = refs_.find(name);
    if (found == refs_.end()) lexer_.fail(fmt::format("a buffer instead of %{}", name));
    return found->second;
  }
  template <class T>
  static std::optional<T> number(std::string_view token, int base = 10) {
    T value{};
    auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value, base);
    return error == std::errc() && end == token.data() + token.size() ? std::optional(value)
                                                                      : std::nullopt;
  }
  std::int64_t parse_int() {
    bool minus = lexer_.take_if("-");
    auto magnitude = number<std::uint64_t>(lexer_.peek());
    std::uint64_t limit = static_cast<std::uint64_t>(INT64_MAX) + (minus ? 1 : 0);
    if (!magnitude || *magnitude > limit) lexer_.fail("an integer of 64 bits");
    lexer_.take();
    return static_cast<std::int64_t>(minus ? 0 - *magnitude : *magnitude);
  }
  DType parse_dtype(std::string_view token) {
    auto dtype = strata::parse_dtype(token);
    if (!dtype || !is_loop_dtype(*dtype)) lexer_.fail("an element type");
    return *dtype;
  }
  VType parse_type() {
    std::string_view token = lexer_.peek();
    std::size_t x = token.find('x');
    VType type{parse_dtype(token.substr(0, x)), 1};
    if (x != std::string_view::npos)
      type.lanes = check_lanes(number<std::int64_t>(token.substr(x + 1)));
    lexer_.take();
    return type;
  }
  int check_lanes(std::optional<std::int64_t> lanes) {
    if (!lanes || *lanes < 1 || *lanes > kMaxLanes)
      lexer_.fail(fmt::format("lanes up to {}", kMaxLanes));
    return static_cast<int>(*lanes);
  }

  // ---- instructions

  Inst* add(Inst inst) {
    inst.id = static_cast<int>(kernel_->arena.size());
    kernel_->arena.push_back(std::move(inst));
    return &kernel_->arena.back();
  }
  Inst* emit(Body& body, Inst inst) {
    body.insts.push_back(add(std::move(inst)));
    return body.insts.back();
  }
  Inst* variable(int lanes, Inst* loop) {
    Inst inst(Opcode::index, {DType::i64, lanes});
    inst.is_variable = true;
    inst.loop = loop;
    return add(std::move(inst));
  }
  Inst* grid_index() {
    if (!kernel_->grid_index) {
      kernel_->grid_index = variable(1, nullptr);
      kernel_->grid_index->low = 0;
      kernel_->grid_index->high = std::max<std::int64_t>(0, kernel_->grid - 1);
    }
    return kernel_->grid_index;
  }

  void parse_ref() {
    std::string name = name_after('%');
    lexer_.expect(":");
    auto ref = std::make_unique<Ref>();
    ref->id = static_cast<int>(kernel_->refs.size());
    ref->mode = parse_mode();
    ref->dtype = parse_dtype(lexer_.peek());
    lexer_.take();
    lexer_.expect("[");
    ref->size = parse_int();
    lexer_.expect("]");
    if (name == "g" || !refs_.emplace(name, ref.get()).second)
      lexer_.fail(fmt::format("a new name instead of %{}", name));
    kernel_->refs.push_back(std::move(ref));
  }
  Ref::Mode parse_mode() {
    if (lexer_.take_if("in")) return Ref::Mode::in;
    if (lexer_.take_if("out")) return Ref::Mode::out;
    if (lexer_.take_if("inout")) return Ref::Mode::inout;
    if (lexer_.take_if("scratch")) return Ref::Mode::scratch;
    lexer_.fail("in, out, inout or scratch");
  }

  Index parse_index() {
    Index sum;
    bool minus = lexer_.take_if("-");
    do {
      sum = sum + parse_item(minus);
      if (sum.terms().size() > kMaxTerms) lexer_.fail(fmt::format("at most {} terms", kMaxTerms));
      minus = lexer_.peek() == "-";
    } while (lexer_.take_if("+") || lexer_.take_if("-"));
    return sum;
  }
  Index parse_item(bool minus) {
    if (lexer_.peek().substr(0, 1) == "%") return Index::of(parse_term()) * (minus ? -1 : 1);
    bool inner = lexer_.take_if("-");  // a + -3*b
    auto magnitude = number<std::uint64_t>(lexer_.peek());
    if (!magnitude) lexer_.fail("an index");
    lexer_.take();
    auto factor = static_cast<std::int64_t>(minus != inner ? 0 - *magnitude : *magnitude);
    return lexer_.take_if("*") ? Index::of(parse_term()) * factor : Index(factor);
  }
  Inst* parse_term() {
    Inst* term = parse_value();
    if (term->type.dtype != DType::i64 || term->code == Opcode::local)
      lexer_.fail("an i64 value before it");
    return term;
  }

  void parse_block(Body& body) {
    lexer_.expect("{");
    parse_insts(body);
    lexer_.expect("}");
  }
  void parse_insts(Body& body) {
    if (++depth_ > kMaxDepth) lexer_.fail(fmt::format("bodies at most {} deep", kMaxDepth));
    while (lexer_.peek() != "}" && lexer_.peek() != "yield") parse_inst(body);
    --depth_;
  }
  void parse_inst(Body& body) {
    if (lexer_.peek().substr(0, 1) == "%") return parse_assignment(body);
    if (lexer_.take_if("store")) return parse_store(body);
    if (lexer_.take_if("fetch")) return parse_fetch(body);
    if (lexer_.take_if("set")) return parse_set(body);
    if (lexer_.take_if("for")) return parse_for(body);
    if (lexer_.take_if("vector")) return parse_vector(body);
    if (lexer_.take_if("if")) return parse_if(body);
    if (lexer_.take_if("while")) return parse_while(body);
    lexer_.fail("an instruction");
  }

  void parse_assignment(Body& body) {
    std::string result = name_after('%');
    if (result == "g") lexer_.fail("a name other than %g");
    lexer_.expect("=");
    auto code = parse_opcode(lexer_.peek());
    if (!code) lexer_.fail("an opcode");
    lexer_.take();
    Inst inst(*code, {});
    std::string_view literal;
    bool minus = false;
    if (*code == Opcode::constant) {
      minus = lexer_.take_if("-");
      literal = lexer_.take();
    } else {
      parse_operands(inst);
    }
    lexer_.expect(":");
    inst.type = parse_type();
    if (*code == Opcode::constant) inst.bits = constant_bits(inst.type.dtype, literal, minus);
    parse_range(inst);
    define(result, emit(body, std::move(inst)));
  }
  void parse_operands(Inst& inst) {
    switch (inst.code) {
      case Opcode::store:
      case Opcode::fetch:
      case Opcode::set:
      case Opcode::for_:
      case Opcode::vector:
      case Opcode::if_:
      case Opcode::while_: lexer_.fail("an opcode that has a value");
      case Opcode::cmp: return parse_cmp(inst);
      case Opcode::index:
        lexer_.expect("[");
        inst.index = parse_index();
        return lexer_.expect("]");
      case Opcode::load: return parse_load(inst);
      case Opcode::get: inst.var = parse_value(); return;
      case Opcode::reduce: return parse_reduce(inst);
      case Opcode::extract:
        inst.args = {parse_value()};
        lexer_.expect(",");
        inst.bits = static_cast<std::uint64_t>(parse_int());
        return;
      case Opcode::call: return parse_call(inst);
      default: break;
    }
    do inst.args.push_back(parse_value());
    while (lexer_.take_if(",") && inst.args.size() < 3);
  }
  void parse_cmp(Inst& inst) {
    auto compare = parse_compare(lexer_.peek());
    if (!compare) lexer_.fail("a comparison");
    lexer_.take();
    inst.compare = *compare;
    inst.args = {parse_value()};
    lexer_.expect(",");
    inst.args.push_back(parse_value());
  }
  void parse_element(Inst& inst) {
    inst.ref = parse_ref_name();
    lexer_.expect("[");
    inst.index = parse_index();
    lexer_.expect("]");
  }
  void parse_load(Inst& inst) {
    if (lexer_.take_if("ahead")) inst.ahead = parse_int();
    parse_element(inst);
    if (!lexer_.take_if("where")) return;
    inst.args = {parse_value()};
    lexer_.expect("else");
    inst.args.push_back(parse_value());
  }
  void parse_reduce(Inst& inst) {
    auto combiner = parse_opcode(lexer_.peek());
    if (!combiner) lexer_.fail("a combiner");
    lexer_.take();
    inst.bits = static_cast<std::uint64_t>(*combiner);
    inst.args = {parse_value()};
  }
  void parse_call(Inst& inst) {
    inst.callee = name_after('@');
    lexer_.expect("(");
    while (!lexer_.take_if(")")) {
      if (!inst.args.empty()) lexer_.expect(",");
      inst.args.push_back(parse_value());
    }
  }
  void parse_range(Inst& inst) {
    if (inst.code == Opcode::index) {
      inst.low = inst.index.min();
      inst.high = inst.index.max();
    }
    if (inst.code == Opcode::constant && inst.type.dtype == DType::i64)
      inst.low = inst.high = static_cast<std::int64_t>(inst.bits);
    if (!lexer_.take_if("in")) return;
    lexer_.expect("[");
    inst.low = parse_int();
    lexer_.expect(",");
    inst.high = parse_int();
    lexer_.expect("]");
  }

  std::uint64_t constant_bits(DType dtype, std::string_view literal, bool minus) {
    auto bits = literal.substr(0, 2) == "0x" && !minus
                    ? number<std::uint64_t>(literal.substr(2), 16)
                    : std::nullopt;
    if (!bits && dtype == DType::i1 && !minus && (literal == "true" || literal == "false"))
      bits = literal == "true";
    if (!bits && is_integer(dtype)) {
      auto magnitude = number<std::uint64_t>(literal);
      if (magnitude && (!minus || is_signed(dtype))) bits = integer_bits(dtype, *magnitude, minus);
    }
    if (!bits && is_float(dtype)) bits = float_bits(dtype, literal, minus);
    if (!bits || semantics::trim(dtype, *bits) != *bits)
      lexer_.fail(fmt::format("a constant of {} before it", strata::name(dtype)));
    return *bits;
  }
  static std::optional<std::uint64_t> integer_bits(DType dtype, std::uint64_t magnitude,
                                                   bool minus) {
    std::uint64_t bits = semantics::trim(dtype, minus ? 0 - magnitude : magnitude);
    if (!is_signed(dtype)) return bits == magnitude ? std::optional(bits) : std::nullopt;
    bool kept = magnitude <= static_cast<std::uint64_t>(INT64_MAX) + (minus ? 1 : 0) &&
                static_cast<std::uint64_t>(semantics::as_int(dtype, bits)) ==
                    (minus ? 0 - magnitude : magnitude);
    return kept ? std::optional(bits) : std::nullopt;
  }
  std::optional<std::uint64_t> float_bits(DType dtype, std::string_view literal, bool minus) {
    if (literal.empty() || !is_digit(literal[0])) return std::nullopt;
    if (dtype == DType::f64) {
      auto value = real<double>(literal);
      return value ? std::optional(semantics::of(minus ? -*value : *value)) : std::nullopt;
    }
    auto value = real<float>(literal);
    return value ? std::optional(semantics::convert(dtype, DType::f32,
                                                    semantics::of(minus ? -*value : *value)))
                 : std::nullopt;
  }
  template <class T>
  static std::optional<T> real(std::string_view token) {
    T value{};
    auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
    return error == std::errc() && end == token.data() + token.size() ? std::optional(value)
                                                                      : std::nullopt;
  }

  // ---- what has no value

  void parse_store(Body& body) {
    Inst inst(Opcode::store, {});
    inst.streaming = lexer_.take_if("streaming");
    parse_element(inst);
    lexer_.expect(",");
    inst.args = {parse_value()};
    if (lexer_.take_if("where")) inst.args.push_back(parse_value());
    inst.type = {inst.ref->dtype, inst.index.lanes()};
    emit(body, std::move(inst));
  }
  void parse_fetch(Body& body) {
    Inst inst(Opcode::fetch, {});
    parse_element(inst);
    inst.type = {inst.ref->dtype, 1};
    emit(body, std::move(inst));
  }
  void parse_set(Body& body) {
    Inst inst(Opcode::set, {});
    inst.var = parse_value();
    lexer_.expect(",");
    inst.args = {parse_value()};
    inst.type = inst.var->type;
    emit(body, std::move(inst));
  }
  void parse_bounds(Inst& loop) {
    lexer_.expect("=");
    loop.begin = parse_index();
    lexer_.expect("to");
    loop.end = parse_index();
  }
  void parse_for(Body& body) {
    Inst* loop = emit(body, Inst(Opcode::for_, {DType::i64, 1}));
    std::string counter = name_after('%');
    parse_bounds(*loop);
    lexer_.expect("step");
    loop->step = parse_int();
    loop->counter = variable(1, loop);
    define(counter, loop->counter);
    set_ranges(*loop);
    parse_block(*loop->bodies.emplace_back(std::make_unique<Body>()));
  }
  void parse_vector(Body& body) {
    Inst* loop = emit(body, Inst(Opcode::vector, {DType::i64, 1}));
    std::string counter = name_after('%');
    lexer_.expect(",");
    std::string lane = name_after('%');
    parse_bounds(*loop);
    lexer_.expect("lanes");
    loop->lanes = check_lanes(parse_int());
    loop->counter = variable(1, loop);
    loop->lane = variable(loop->lanes, loop);
    define(counter, loop->counter);
    define(lane, loop->lane);
    set_ranges(*loop);
    parse_block(*loop->bodies.emplace_back(std::make_unique<Body>()));
  }
  void parse_if(Body& body) {
    Inst* branch = emit(body, Inst(Opcode::if_, {DType::i1, 1}));
    branch->args = {parse_value()};
    for (int arm = 0; arm < 2; ++arm) branch->bodies.push_back(std::make_unique<Body>());
    parse_block(*branch->bodies[0]);
    if (lexer_.take_if("else")) parse_block(*branch->bodies[1]);
  }
  void parse_while(Body& body) {
    Inst* loop = emit(body, Inst(Opcode::while_, {DType::i1, 1}));
    for (int part = 0; part < 2; ++part) loop->bodies.push_back(std::make_unique<Body>());
    lexer_.expect("{");
    parse_insts(*loop->bodies[0]);
    lexer_.expect("yield");
    loop->condition = parse_value();
    lexer_.expect("}");
    lexer_.expect("do");
    parse_block(*loop->bodies[1]);
  }

  Lexer lexer_;
  std::unique_ptr<Kernel> kernel_;
  std::map<std::string, Ref*> refs_;
  std::map<std::string, Inst*> values_;
  int depth_ = 0;
};

}  // namespace

Result<std::unique_ptr<Kernel>> parse(std::string_view text) {
  std::unique_ptr<Kernel> kernel;
  try {
    kernel = Parser(text).run();
  } catch (const Mistake& mistake) {
    return Status(Code::corrupt, std::string(mistake.message));
  }
  if (Status status = verify(*kernel); !status)
    return Status(Code::corrupt, std::string(status.message()));
  return kernel;
}

}  // namespace strata::loop
