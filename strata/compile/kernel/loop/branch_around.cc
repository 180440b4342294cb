#include "strata/compile/kernel/loop/branch_around.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "strata/loop/lookup.h"
#include "strata/loop/scale.h"

namespace strata::compile {
namespace {

using loop::Body;
using loop::Index;
using loop::Inst;
using loop::Kernel;
using loop::Opcode;

/// What a branch has to save: more than half of what a wrong guess costs.
constexpr int kWorthABranch = 16;

/// About how long a result takes (the processors differ by a cycle here or there).
int cycles(const Inst& inst) {
  bool is_real = is_float(inst.type.dtype);
  switch (inst.code) {
    case Opcode::constant:
    case Opcode::get:
    case Opcode::local:
    case Opcode::set:
    case Opcode::store: return 0;
    case Opcode::add:
    case Opcode::sub: return is_real ? 3 : 1;
    case Opcode::mul:
    case Opcode::fma:
    case Opcode::dot2:
    case Opcode::dot4:
    case Opcode::min:
    case Opcode::max: return is_real ? 4 : 3;
    case Opcode::div: return is_real ? 11 : 15;
    case Opcode::rem: return is_real ? 30 : 15;
    case Opcode::sqrt: return 14;
    case Opcode::floor:
    case Opcode::ceil:
    case Opcode::trunc:
    case Opcode::rint:
    case Opcode::convert: return 4;
    case Opcode::call: return 8;
    case Opcode::load: return 5;
    case Opcode::cmp:
    case Opcode::select: return 2;
    default: return 1;
  }
}

/// Whether it may stand later, and in a branch: it depends on its arguments alone and is seen by
/// its users alone.
bool is_movable(const Inst& inst) {
  switch (inst.code) {
    case Opcode::load:
    case Opcode::store:
    case Opcode::fetch:
    case Opcode::local:
    case Opcode::get:
    case Opcode::set:
    case Opcode::for_:
    case Opcode::vector:
    case Opcode::if_:
    case Opcode::while_:
    case Opcode::call: return loop::is_scale(inst) || loop::is_lookup(inst);
    default: return !inst.is_variable;
  }
}

/// Values of one kind are rarely equal to one number, so the side for those is not the usual one.
bool asks_for_equality(const Inst& condition) {
  return condition.code == Opcode::cmp &&
         (condition.compare == loop::Compare::eq || condition.compare == loop::Compare::ne);
}

class Branches {
 public:
  explicit Branches(Kernel& kernel) : kernel_(kernel) {
    for (const Inst& inst : kernel.arena) note_uses(inst);
  }

  void run(Body& body) {
    for (Inst* inst : body.insts)
      if (inst->code != Opcode::vector)
        for (auto& inner : inst->bodies) run(*inner);
    depth_.clear();
    std::vector<Inst*> before = std::move(body.insts);
    body.insts.clear();
    for (Inst* inst : before) {
      if (inst->code == Opcode::select) branch(body, inst);
      body.insts.push_back(inst);
      depth_[inst] = depth(*inst);
    }
  }

 private:
  void note_uses(const Inst& inst) {
    for (Inst* a : inst.args) users_[a].push_back(&inst);
    for (const Index* index : {&inst.index, &inst.begin, &inst.end})
      for (const Index::Term& term : index->terms()) users_[term.variable].push_back(&inst);
    if (inst.condition) users_[inst.condition].push_back(&inst);
  }

  int known(const Inst* inst) const {
    auto it = depth_.find(inst);
    return it == depth_.end() ? 0 : it->second;
  }
  /// When it is done, counted from the beginning of its body; what comes from outside is there
  /// then. A local holds what it was last set to in this body: branches in between are for the rare
  /// case.
  int depth(const Inst& inst) {
    int latest = 0;
    for (const Inst* a : inst.args) latest = std::max(latest, known(a));
    for (const Index::Term& term : inst.index.terms())
      latest = std::max(latest, known(term.variable));
    if (inst.code == Opcode::set) depth_[inst.var] = latest;
    if (inst.code == Opcode::get) latest = known(inst.var);
    return latest + cycles(inst);
  }

  /// Instructions of the body so far that only `root` needs, which only `reader` reads; in order.
  std::vector<Inst*> needed_for(const Body& body, const Inst* root, const Inst* reader) const {
    std::unordered_set<const Inst*> inside{reader};
    std::vector<Inst*> out;
    for (auto it = body.insts.rbegin(); it != body.insts.rend(); ++it) {
      auto users = users_.find(*it);
      if (!is_movable(**it) || users == users_.end() || (out.empty() && *it != root)) continue;
      bool alone = std::all_of(users->second.begin(), users->second.end(),
                               [&](const Inst* user) { return inside.count(user) != 0; });
      if (!alone) {
        if (*it == root) return {};
        continue;
      }
      out.push_back(*it);
      inside.insert(*it);
      if (out.size() == 1) inside.erase(reader);
    }
    std::reverse(out.begin(), out.end());
    return out;
  }

  /// Puts before `choice`, the last of the body, what it takes to make it a `get` of the side that
  /// was chosen.
  void branch(Body& body, Inst* choice) {
    Inst *condition = choice->args[0], *x = choice->args[1], *y = choice->args[2];
    if (choice->type.lanes > 1 || condition->type.lanes > 1 || x == y ||
        asks_for_equality(*condition))
      return;
    bool first_is_long = known(x) > known(y);
    Inst *long_side = first_is_long ? x : y, *short_side = first_is_long ? y : x;
    if (known(long_side) - std::max(known(short_side), known(condition)) < kWorthABranch) return;
    std::vector<Inst*> moved = needed_for(body, long_side, choice);
    std::unordered_set<const Inst*> inside(moved.begin(), moved.end());
    if (inside.count(condition) || inside.count(short_side) ||
        known(long_side) - begin_of(moved, inside) < kWorthABranch)
      return;

    std::erase_if(body.insts, [&](const Inst* inst) { return inside.count(inst) != 0; });
    Inst* slot = add(Opcode::local, choice->type, {short_side});
    Inst* branch = add(Opcode::if_, {DType::i1, 1}, {condition});
    Inst* set = add(Opcode::set, choice->type, {long_side});
    set->var = slot;
    moved.push_back(set);
    for (int arm = 0; arm < 2; ++arm) branch->bodies.push_back(std::make_unique<Body>());
    branch->bodies[first_is_long ? 0 : 1]->insts = std::move(moved);
    body.insts.push_back(slot);
    body.insts.push_back(branch);
    for (Inst* a : choice->args) std::erase(users_[a], choice);
    choice->code = Opcode::get;
    choice->args.clear();
    choice->var = slot;
    depth_[slot] = std::max(known(short_side), known(condition));
  }

  /// When the last of what these instructions take from elsewhere is done.
  int begin_of(const std::vector<Inst*>& insts,
               const std::unordered_set<const Inst*>& inside) const {
    int latest = 0;
    for (const Inst* inst : insts)
      for (const Inst* a : inst->args)
        if (!inside.count(a)) latest = std::max(latest, known(a));
    return latest;
  }

  Inst* add(Opcode code, loop::VType type, std::vector<Inst*> args) {
    kernel_.arena.emplace_back(code, type);
    Inst& inst = kernel_.arena.back();
    inst.id = static_cast<int>(kernel_.arena.size()) - 1;
    inst.args = std::move(args);
    note_uses(inst);
    return &inst;
  }

  Kernel& kernel_;
  std::unordered_map<const Inst*, std::vector<const Inst*>> users_;  // lookup only
  std::unordered_map<const Inst*, int> depth_;                       // lookup only
};

}  // namespace

void branch_around_long_sides(Kernel& kernel) { Branches(kernel).run(kernel.body); }

}  // namespace strata::compile
