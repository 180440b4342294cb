#include "strata/ir/verify.h"

#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "strata/base/error.h"
#include "strata/ir/constraint.h"
#include "strata/ir/declaration.h"
#include "strata/ir/text/type_text.h"

namespace strata::ir {
namespace {

/// A mistake, on its way out of the recursion.
struct Broken {
  std::string message;
  Code code = Code::invalid;
};

template <class... Args>
[[noreturn]] void broken(const Op& op, fmt::format_string<Args...> f, Args&&... args) {
  std::string where = op.where.text();
  if (!where.empty()) where += ": ";
  throw Broken{where + op.name() + ": " + fmt::format(f, std::forward<Args>(args)...)};
}

/// Functions of a module by name.
using Functions = std::unordered_map<std::string_view, const Function*>;
Functions functions_of(const Module& module) {
  Functions out;
  for (const auto& f : module.functions)
    if (!out.emplace(f->name, f.get()).second)
      throw Broken{fmt::format("function @{} twice", f->name)};
  return out;
}

/// f of @f and of @"f".
std::string symbol_of(const Opaque& reference) {
  std::string symbol = reference.text.substr(1);
  return symbol.size() > 1 && symbol.front() == '"' ? symbol.substr(1, symbol.size() - 2) : symbol;
}

/// The function that an operation stands for: a call's callee, a composite's decomposition.
std::optional<std::string> callee_of(const Op& op) {
  if (op.name() == "func.call") return op.attr<std::string>("callee");
  if (op.name() == "stablehlo.composite") return symbol_of(op.attr<Opaque>("decomposition"));
  return std::nullopt;
}

class Verifier {
 public:
  /// `functions`: those that may be called; null where calls are not followed.
  explicit Verifier(const Functions* functions) : functions_(functions) {}

  void block(const Block& b) {
    std::vector<const Value*> added;
    auto show = [&](const Value* v) {
      visible_.insert(v);
      added.push_back(v);
    };
    for (const auto& a : b.arguments()) show(a.get());
    for (const auto& op : b.ops()) {
      this->op(*op, b);
      for (const Value* v : op->results()) show(v);
    }
    for (std::size_t i = 0; i < b.results.size(); ++i)
      if (visible_.count(b.results[i]) == 0)
        throw Broken{fmt::format("result {} of a block is not defined there", i)};
    for (const Value* v : added) visible_.erase(v);
  }

 private:
  void op(const Op& op, const Block& parent) {
    if (op.block() != &parent) broken(op, "does not know the block that holds it");
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      if (op.operands[i] == nullptr) broken(op, "operand {} is null", i);
      if (visible_.count(op.operands[i]) == 0) broken(op, "operand {} is not defined before it", i);
    }
    if (++depth_ > kDeepest) broken(op, "nested more than {} levels deep", kDeepest);
    for (const auto& r : op.regions) region(op, *r);
    --depth_;
    types(op);
    if (functions_ != nullptr && op.name() == "func.call") call(op);
    if (functions_ != nullptr && op.name() == "stablehlo.composite") composite(op);
  }

  void region(const Op& op, const Block& r) {
    if (!op.info().isolated) return in_region(op, r);
    std::unordered_set<const Value*> around;
    around.swap(visible_);
    in_region(op, r);
    around.swap(visible_);
  }
  /// A mistake of the block itself says which operation holds it.
  void in_region(const Op& op, const Block& r) {
    try {
      block(r);
    } catch (const Broken& b) {
      if (b.message.substr(0, 7) == "result ") broken(op, "{}", b.message);
      throw;
    }
  }

  /// An operand or a result that is quantised, or null.
  static const Value* quantized(const Op& op) {
    for (const Value* v : op.operands)
      if (v->type().is_quantized()) return v;
    for (int r = 0; r < op.num_results(); ++r)
      if (op.result(r)->type().is_quantized()) return op.result(r);
    return nullptr;
  }

  /// " (C1)" where the specification has a constraint that gives the results.
  static std::string by(const Op& op) {
    std::string_view constraints = inferred_by(op.info());
    return constraints.empty() ? "" : fmt::format(" ({})", constraints);
  }

  void types(const Op& op) {
    // Attributes of a kind that a rule did not expect fail its own checks: in a program that is the
    // program's mistake.
    try {
      if (const Value* q = quantized(op); q != nullptr && (op.info().infer || op.info().verify)) {
        if (op.info().quantized == nullptr)
          broken(op, "is not defined for {}", q->type().to_string());
        return op.info().quantized(op);
      }
      if (op.info().verify) return op.info().verify(op);
      if (!op.info().infer) return;
      std::vector<Type> inferred = op.info().infer(op.operands, op.attrs, op.regions);
      if (inferred.size() != static_cast<std::size_t>(op.num_results()))
        broken(op, "has {} results, but {} are inferred{}", op.num_results(), inferred.size(),
               by(op));
      for (std::size_t i = 0; i < inferred.size(); ++i)
        if (const Type& stated = op.result(static_cast<int>(i))->type();
            !may_be_same(stated, inferred[i]))
          broken(op, "result {} is {}, but {} is inferred{}", i, stated.to_string(),
                 inferred[i].to_string(), by(op));
    } catch (const Error& e) {
      std::string where = e.where().empty() ? op.where.text() : e.where();
      throw Broken{(where.empty() ? "" : where + ": ") + e.operation() + ": " + e.message(),
                   e.is_unsupported() ? Code::unsupported : Code::invalid};
    } catch (const InternalError& e) {
      broken(op, "is malformed ({})", e.reason());
    }
  }

  void call(const Op& op) {
    const Attr* a = op.attrs.find("callee");
    const std::string* callee = a == nullptr ? nullptr : std::get_if<std::string>(a);
    if (callee == nullptr) broken(op, "requires attribute 'callee'");
    auto found = functions_->find(*callee);
    if (found == functions_->end()) broken(op, "function @{} is not defined", *callee);
    const Function* f = found->second;
    std::vector<Type> given, taken, results;
    for (const Value* v : f->body.argument_values()) taken.push_back(v->type());
    for (const Value* v : op.operands) given.push_back(v->type());
    for (const Value* v : op.results()) results.push_back(v->type());
    if (given != taken)
      broken(op, "@{} takes {}, but is given {}", *callee, type_list_text(taken),
             type_list_text(given));
    if (results != result_types(*f))
      broken(op, "@{} returns {}, but {} is stated", *callee, type_list_text(result_types(*f)),
             type_list_text(results));
  }

  /// A composite is as its decomposition; what is wrong with the attribute itself, the operation
  /// says.
  void composite(const Op& op) {
    std::string name = symbol_of(op.attr<Opaque>("decomposition"));
    auto found = functions_->find(name);
    if (found == functions_->end()) broken(op, "function @{} is not defined (C2)", name);
    const Function* f = found->second;
    std::vector<Type> given, taken, results;
    for (const Value* v : f->body.argument_values()) taken.push_back(v->type());
    for (const Value* v : op.operands) given.push_back(v->type());
    for (const Value* v : op.results()) results.push_back(v->type());
    if (given != taken)
      broken(op, "@{} takes {}, but is given {} (C3)", name, type_list_text(taken),
             type_list_text(given));
    if (results != result_types(*f))
      broken(op, "@{} returns {}, but {} is stated (C4)", name, type_list_text(result_types(*f)),
             type_list_text(results));
  }

  static constexpr int kDeepest = 512;
  const Functions* functions_;
  std::unordered_set<const Value*> visible_;  // lookup only
  int depth_ = 0;
};

/// No function may reach itself through calls: the compiler inlines them all.
class Recursion {
 public:
  explicit Recursion(const Functions& functions) : functions_(functions) {}
  void check(const Module& module) {
    for (const auto& f : module.functions) {
      path_.clear();
      visit(*f);
    }
  }

 private:
  void visit(const Function& f) {
    if (done_.count(&f) != 0) return;
    path_.insert(&f);
    std::map<std::string, const Op*> calls;  // the first of each function
    walk(f.body, [&](const Op& op) {
      if (std::optional<std::string> callee = callee_of(op)) calls.emplace(*callee, &op);
    });
    for (const auto& [name, op] : calls) {
      auto g = functions_.find(name);
      if (g == functions_.end()) continue;
      if (path_.count(g->second) != 0) broken(*op, "function @{} calls itself", name);
      if (path_.size() > kLongest) broken(*op, "calls nested more than {} deep", kLongest);
      visit(*g->second);
    }
    path_.erase(&f);
    done_.insert(&f);
  }

  static constexpr std::size_t kLongest = 1000;
  const Functions& functions_;
  std::unordered_set<const Function*> path_, done_;
};

}  // namespace

bool may_be_same(const Type& a, const Type& b) {
  if (a == b) return true;
  if (a.kind() != b.kind() || a.is_token()) return a.kind() == b.kind();
  if (a.is_tuple() || a.is_future()) {
    if (a.elements().size() != b.elements().size()) return false;
    for (std::size_t i = 0; i < a.elements().size(); ++i)
      if (!may_be_same(a.elements()[i], b.elements()[i])) return false;
    return true;
  }
  if (a.dtype() != b.dtype() || a.rank() != b.rank() || a.is_quantized() != b.is_quantized())
    return false;
  if (a.is_quantized() && !(*a.quantization() == *b.quantization())) return false;
  for (int i = 0; i < a.rank(); ++i) {
    const Dim &x = a.shape().dim(i), &y = b.shape().dim(i);
    if (x.is_static() && y.is_static() && x != y) return false;
    if (x.is_static() && y.is_bounded() && x.size() > y.bound()) return false;
    if (y.is_static() && x.is_bounded() && y.size() > x.bound()) return false;
  }
  return true;
}

Status verify(const Block& block) {
  try {
    Verifier(nullptr).block(block);
  } catch (const Broken& b) {
    return Status(b.code, b.message);
  }
  return Status();
}

namespace {

/// `function`: the one under way, for mistakes that have no place.
void check(const Module& module, std::string& function) {
  Functions functions = functions_of(module);
  for (const auto& f : module.functions) {
    function = f->name;
    Verifier(&functions).block(f->body);
  }
  Recursion(functions).check(module);
  for (const auto& inner : module.modules) check(*inner, function);
}

}  // namespace

Status verify(const Module& module) {
  std::string function;
  try {
    check(module, function);
  } catch (const Broken& b) {
    bool placed = b.message.substr(0, 7) != "result ";
    return Status(b.code,
                  placed ? b.message : fmt::format("function @{}: {}", function, b.message));
  }
  return Status();
}

}  // namespace strata::ir
