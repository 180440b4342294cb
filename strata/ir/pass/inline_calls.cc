#include <algorithm>
#include <map>
#include <set>

#include "strata/base/error.h"
#include "strata/ir/declaration.h"
#include "strata/ir/pass/pass.h"

namespace strata::ir {
namespace {

/// Functions that an operation runs as its regions, and has not got yet: attribute `bodies`.
const Strings* pending_bodies(const Op& op) {
  const Attr* a = op.regions.empty() ? op.attrs.find("bodies") : nullptr;
  return a == nullptr ? nullptr : std::get_if<Strings>(a);
}

/// The names after '@' in an attribute's text: @f, [[@f], [@"g h"]].
std::vector<std::string> symbols(std::string_view text) {
  std::vector<std::string> out;
  for (std::size_t at = text.find('@'); at != text.npos; at = text.find('@', at + 1)) {
    std::string_view rest = text.substr(at + 1);
    bool quoted = rest.substr(0, 1) == "\"";
    std::size_t end =
        quoted ? rest.find('"', 1) : std::min(rest.find_first_of(" ,]})>:"), rest.size());
    if (end == rest.npos) continue;
    out.emplace_back(quoted ? rest.substr(1, end - 1) : rest.substr(0, end));
  }
  return out;
}

/// Functions of the module that a custom call computes with (attribute `called_computations`), and
/// has not got yet as its regions; empty where one of them has no body here.
std::vector<std::string> pending_computations(const Module& m, const Op& op) {
  if (op.name() != "stablehlo.custom_call" || !op.regions.empty()) return {};
  const Attr* a = op.attrs.find("called_computations");
  const Opaque* list = a == nullptr ? nullptr : std::get_if<Opaque>(a);
  if (list == nullptr) return {};
  std::vector<std::string> out = symbols(list->text);
  for (const std::string& name : out)
    if (const Function* f = m.find(name); f == nullptr || is_declaration(*f)) return {};
  return out;
}

/// Functions are made free of calls one after the other, callees first, so that each body is copied
/// once per call.
class Inliner {
 public:
  explicit Inliner(Module& m) : m_(m) {}

  void function(Function& f) {
    if (done_.count(f.name) != 0) return;
    if (!open_.insert(f.name).second) throw Error("call", "function @{} calls itself", f.name);
    block(f.body);
    open_.erase(f.name);
    done_.insert(f.name);
  }

 private:
  static bool is_call(const Op& op) {
    return op.name() == "func.call" || op.name() == "stablehlo.composite";
  }
  /// The function that stands for the operation: a call's callee, a composite's decomposition.
  static std::string name_of(const Op& op) {
    if (op.name() == "func.call") return op.attr<std::string>("callee");
    std::string symbol = op.attr<Opaque>("decomposition").text.substr(1);
    return symbol.size() > 1 && symbol.front() == '"' ? symbol.substr(1, symbol.size() - 2)
                                                      : symbol;
  }

  void block(Block& b) {
    bool has_call =
        std::any_of(b.ops().begin(), b.ops().end(), [](const auto& op) { return is_call(*op); });
    for (auto& op : b.ops()) {
      for (auto& r : op->regions) block(*r);
      if (const Strings* names = pending_bodies(*op))
        for (const std::string& name : *names) op->regions.push_back(clone(body(*op, name)));
      for (const std::string& name : pending_computations(m_, *op))
        op->regions.push_back(clone(body(*op, name)));
    }
    if (!has_call) return;
    std::vector<std::unique_ptr<Op>> old = std::move(b.ops());
    b.ops().clear();
    Builder builder(b);
    ValueMap map;
    for (auto& op : old) {
      rename(*op, map);
      if (!is_call(*op)) {
        b.append(std::move(op));
        continue;
      }
      copied_ += size(callee(*op));
      if (copied_ > kMostCopied)
        throw Error("call", "inlining copies more than {} operations", kMostCopied);
      Values results = inline_block(builder, callee(*op).body, op->operands);
      for (int i = 0; i < op->num_results(); ++i)
        map.set(op->result(i), results[static_cast<std::size_t>(i)]);
      calls_.push_back(std::move(op));  // its results are keys of the map until the end
    }
    b.results = map(b.results);
  }

  const Block& body(const Op& op, const std::string& name) {
    Function* f = m_.find(name);
    if (f == nullptr) throw Error("call", "function @{} is not defined", name).at(op.where.text());
    function(*f);
    copied_ += size(*f);
    if (copied_ > kMostCopied)
      throw Error("call", "inlining copies more than {} operations", kMostCopied);
    return f->body;
  }

  static void rename(Op& op, const ValueMap& map) {
    op.operands = map(op.operands);
    for (auto& r : op.regions) replace_uses(*r, map);
  }

  Function& callee(const Op& op) {
    std::string name = name_of(op);
    Function* f = m_.find(name);
    if (f == nullptr) throw Error("call", "function @{} is not defined", name).at(op.where.text());
    if (is_declaration(*f))
      throw Error("call", "function @{} has no body", name).unsupported().at(op.where.text());
    if (f->body.num_arguments() != static_cast<int>(op.operands.size()) ||
        f->body.results.size() != static_cast<std::size_t>(op.num_results()))
      throw Error("call", "@{} takes {} values and returns {}, but is given {} for {}", name,
                  f->body.num_arguments(), f->body.results.size(), op.operands.size(),
                  op.num_results())
          .at(op.where.text());
    function(*f);
    return *f;
  }

  std::size_t size(const Function& f) {
    auto [it, is_new] = sizes_.try_emplace(f.name, 0);
    if (is_new) walk(f.body, [&](const Op&) { ++it->second; });
    return it->second;
  }

  static constexpr std::size_t kMostCopied =
      std::size_t{1} << 22;  // calls of calls double a program with each line of text
  Module& m_;
  std::size_t copied_ = 0;
  std::map<std::string, std::size_t> sizes_;
  std::set<std::string> done_, open_;
  std::vector<std::unique_ptr<Op>> calls_;
};

void drop_uncalled(Module& m) {
  for (bool changed = true; changed;) {
    std::set<std::string> called;
    for (const auto& f : m.functions)
      walk(f->body, [&](const Op& op) {
        if (const Strings* names = pending_bodies(op)) called.insert(names->begin(), names->end());
        for (const auto& [key, value] : op.attrs) {
          if (const std::string* s = std::get_if<std::string>(&value);
              s != nullptr && key == "callee")
            called.insert(*s);
          if (const Opaque* o = std::get_if<Opaque>(&value))
            for (std::string& name : symbols(o->text)) called.insert(std::move(name));
        }
      });
    const Function* entry = m.entry();
    std::size_t before = m.functions.size();
    std::erase_if(m.functions, [&](const auto& f) {
      return !f->is_public && f.get() != entry && called.count(f->name) == 0;
    });
    changed = m.functions.size() != before;
  }
}

}  // namespace

void inline_calls(Module& module) {
  Inliner inliner(module);
  for (const auto& f : module.functions) inliner.function(*f);
  drop_uncalled(module);
}

void dce(Module& module) {
  for (const auto& f : module.functions) remove_dead(f->body);
  drop_uncalled(module);
}

}  // namespace strata::ir
