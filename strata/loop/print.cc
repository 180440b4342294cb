// The text form of a kernel.
#include <algorithm>

#include "strata/loop/loop.h"
#include "strata/loop/semantics.h"

namespace strata::loop {
namespace {

std::string_view name(Ref::Mode mode) {
  switch (mode) {
    case Ref::Mode::in: return "in";
    case Ref::Mode::out: return "out";
    case Ref::Mode::inout: return "inout";
    case Ref::Mode::scratch: return "scratch";
  }
  STRATA_UNREACHABLE("mode {}", static_cast<int>(mode));
}

/// The shortest decimal that reads back as the same bits; bits in hexadecimal where there is none.
std::string number(DType dtype, std::uint64_t bits) {
  if (dtype == DType::i1) return bits ? "true" : "false";
  if (is_signed(dtype)) return fmt::format("{}", semantics::as_int(dtype, bits));
  if (!is_float(dtype)) return fmt::format("{}", bits);
  double value = semantics::widen(dtype, bits);
  if (!std::isfinite(value)) return fmt::format("0x{:x}", bits);
  std::string text =
      dtype == DType::f64 ? fmt::format("{}", value) : fmt::format("{}", static_cast<float>(value));
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

class Printer {
 public:
  explicit Printer(const Kernel& kernel) : kernel_(kernel), numbers_(kernel.arena.size(), 0) {
    next_ = static_cast<int>(kernel.refs.size());
    if (kernel.grid_index) numbers_[static_cast<std::size_t>(kernel.grid_index->id)] = kGrid;
  }

  std::string print() {
    std::string refs;
    for (const auto& ref : kernel_.refs)
      refs += fmt::format("{}%{}: {} {}[{}]", ref->id ? ", " : "", ref->id, name(ref->mode),
                          strata::name(ref->dtype), ref->size);
    text_ = fmt::format("kernel @{}({}) grid {} {{\n", kernel_.name, refs, kernel_.grid);
    print(kernel_.body);
    return text_ + "}\n";
  }

 private:
  static constexpr int kGrid = -1;

  int& number_of(const Inst* inst) { return numbers_[static_cast<std::size_t>(inst->id)]; }
  std::string define(const Inst* inst) { return fmt::format("%{}", number_of(inst) = next_++); }
  std::string use(const Inst* inst) {
    return number_of(inst) == kGrid ? "%g" : fmt::format("%{}", number_of(inst));
  }
  std::string args(const Inst& inst) {
    std::string list;
    for (const Inst* arg : inst.args) list += (list.empty() ? "" : ", ") + use(arg);
    return list;
  }

  static std::string term(const std::string& variable, std::int64_t coefficient) {
    if (coefficient == 1) return variable;
    return coefficient == -1 ? "-" + variable : fmt::format("{}*{}", coefficient, variable);
  }
  std::string print(const Index& index) {
    std::vector<Index::Term> terms = index.terms();
    std::sort(terms.begin(), terms.end(),
              [&](auto& a, auto& b) { return number_of(a.variable) < number_of(b.variable); });
    std::string text;
    for (const Index::Term& t : terms) {
      bool minus = !text.empty() && t.coefficient < 0 && t.coefficient != INT64_MIN;
      if (!text.empty()) text += minus ? " - " : " + ";
      text += term(use(t.variable), minus ? -t.coefficient : t.coefficient);
    }
    if (text.empty()) return fmt::format("{}", index.constant());
    if (index.constant() == 0) return text;
    if (index.constant() < 0 && index.constant() != INT64_MIN)
      return fmt::format("{} - {}", text, -index.constant());
    return fmt::format("{} + {}", text, index.constant());
  }

  static std::string print(VType type) {
    return type.lanes == 1 ? std::string(strata::name(type.dtype))
                           : fmt::format("{}x{}", strata::name(type.dtype), type.lanes);
  }
  /// What is known of a value beyond what follows from its parts.
  static std::string range(const Inst& inst) {
    if (inst.code == Opcode::constant) return "";
    bool follows =
        inst.code == Opcode::index && inst.low <= inst.index.min() && inst.high >= inst.index.max();
    if (follows || (inst.low == INT64_MIN && inst.high == INT64_MAX)) return "";
    return fmt::format(" in [{}, {}]", inst.low, inst.high);
  }
  std::string element(const Inst& inst) {
    return fmt::format("%{}[{}]", inst.ref->id, print(inst.index));
  }

  std::string operands(const Inst& inst) {
    switch (inst.code) {
      case Opcode::constant: return number(inst.type.dtype, inst.bits);
      case Opcode::cmp: return fmt::format("{} {}", loop::name(inst.compare), args(inst));
      case Opcode::index: return fmt::format("[{}]", print(inst.index));
      case Opcode::load:
        return (inst.ahead ? fmt::format("ahead {} ", inst.ahead) : "") + element(inst) +
               (inst.args.empty()
                    ? ""
                    : fmt::format(" where {} else {}", use(inst.args[0]), use(inst.args[1])));
      case Opcode::get: return use(inst.var);
      case Opcode::reduce:
        return fmt::format("{} {}", loop::name(static_cast<Opcode>(inst.bits)), args(inst));
      case Opcode::extract: return fmt::format("{}, {}", args(inst), inst.bits);
      case Opcode::call: return fmt::format("@{}({})", inst.callee, args(inst));
      default: return args(inst);
    }
  }

  void line(const std::string& text) {
    text_ += std::string(static_cast<std::size_t>(2 * depth_), ' ') + text + "\n";
  }

  void print(const Body& body) {
    ++depth_;
    for (const Inst* inst : body.insts) print(*inst);
    --depth_;
  }
  void print(const Inst& inst) {
    switch (inst.code) {
      case Opcode::store:
        return line(fmt::format("store {}{}, {}{}", inst.streaming ? "streaming " : "",
                                element(inst), use(inst.args[0]),
                                inst.args.size() > 1 ? " where " + use(inst.args[1]) : ""));
      case Opcode::fetch: return line("fetch " + element(inst));
      case Opcode::set: return line(fmt::format("set {}, {}", use(inst.var), args(inst)));
      case Opcode::for_: return print_for(inst);
      case Opcode::vector: return print_vector(inst);
      case Opcode::if_: return print_if(inst);
      case Opcode::while_: return print_while(inst);
      default: break;
    }
    std::string right = fmt::format("{} {} : {}{}", loop::name(inst.code), operands(inst),
                                    print(inst.type), range(inst));
    line(fmt::format("{} = {}", define(&inst), right));
  }
  void print_for(const Inst& loop) {
    std::string bounds =
        fmt::format("{} to {} step {}", print(loop.begin), print(loop.end), loop.step);
    line(fmt::format("for {} = {} {{", define(loop.counter), bounds));
    print(*loop.bodies[0]);
    line("}");
  }
  void print_vector(const Inst& loop) {
    std::string bounds =
        fmt::format("{} to {} lanes {}", print(loop.begin), print(loop.end), loop.lanes);
    std::string counter = define(loop.counter);
    line(fmt::format("vector {}, {} = {} {{", counter, define(loop.lane), bounds));
    print(*loop.bodies[0]);
    line("}");
  }
  void print_if(const Inst& branch) {
    line(fmt::format("if {} {{", args(branch)));
    print(*branch.bodies[0]);
    if (!branch.bodies[1]->insts.empty()) {
      line("} else {");
      print(*branch.bodies[1]);
    }
    line("}");
  }
  void print_while(const Inst& loop) {
    line("while {");
    print(*loop.bodies[0]);
    ++depth_;
    line("yield " + use(loop.condition));
    --depth_;
    line("} do {");
    print(*loop.bodies[1]);
    line("}");
  }

  const Kernel& kernel_;
  std::vector<int> numbers_;
  int next_ = 0;
  int depth_ = 0;
  std::string text_;
};

}  // namespace

std::string print(const Kernel& kernel) { return Printer(kernel).print(); }

}  // namespace strata::loop
