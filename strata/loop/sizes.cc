#include "strata/loop/sizes.h"

#include <algorithm>
#include <bit>
#include <map>
#include <unordered_set>

#include "strata/loop/compress.h"
#include "strata/loop/lanes.h"
#include "strata/loop/verify.h"

namespace strata::loop {
namespace {

/// Ranges tell how wide arithmetic has to be, so their bounds are those of widths; any that holds
/// the values is right.
std::int64_t lower_bound_of(std::int64_t low) {
  return low >= 0 ? 0 : low >= INT32_MIN ? INT32_MIN : INT64_MIN;
}
std::int64_t upper_bound_of(std::int64_t high) { return high <= INT32_MAX ? INT32_MAX : INT64_MAX; }

bool is_structure(std::int64_t factor) { return factor >= -1 && factor <= 1; }

/// Whether a vector loop's body has an instruction that may not stand under a mask (V7).
bool needs_whole_strips(const Body& body) {
  return std::any_of(body.insts.begin(), body.insts.end(), [](const Inst* i) {
    if (i->code == Opcode::reduce && i->type.dtype != DType::i1) return true;
    if (i->code == Opcode::extract && i->bits != 0) return true;
    if (i->code == Opcode::call &&
        (lane_move(i->callee, i->type.lanes) || is_compress(*i) || is_chosen(*i)))
      return true;
    return std::any_of(i->bodies.begin(), i->bodies.end(),
                       [](const auto& b) { return needs_whole_strips(*b); });
  });
}

/// Whether an integer was computed from indices.
bool is_size(const Inst& i, int depth = 8) {
  if (i.code == Opcode::index) return true;
  bool arithmetic = i.code == Opcode::convert || (i.code >= Opcode::add && i.code <= Opcode::max);
  if (!arithmetic || depth == 0 || !is_integer(i.type.dtype)) return false;
  return std::any_of(i.args.begin(), i.args.end(),
                     [&](const Inst* a) { return is_size(*a, depth - 1); });
}

class Copy {
 public:
  explicit Copy(const Kernel& from) : from_(from), made_(from.arena.size(), nullptr) {
    out_.kernel = std::make_unique<Kernel>(from.name);
  }

  SizedKernel run() && {
    Kernel& kernel = *out_.kernel;
    kernel.grid = from_.grid;
    refs();
    if (from_.grid_index) kernel.grid_index = variable(*from_.grid_index, nullptr);
    body(from_.body, kernel.body);
    drop_unused_constants(kernel.body);
    kernel.body.insts.insert(kernel.body.insts.begin(), loads_.begin(), loads_.end());
    numbers_->size = std::max<std::int64_t>(1, static_cast<std::int64_t>(out_.numbers.size()));
    return std::move(out_);
  }

 private:
  // ---- buffers

  void refs() {
    for (const auto& ref : from_.refs) {
      Ref& copy = add_ref(ref->dtype, ref->mode);
      if (ref->mode == Ref::Mode::scratch) {
        copy.size = static_cast<std::int64_t>(
            std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(1, ref->size))));
      } else {
        auto alike = std::find_if(from_.refs.begin(), from_.refs.end(), [&](const auto& other) {
          return other->dtype == ref->dtype && other->size == ref->size &&
                 other->mode != Ref::Mode::scratch;
        });
        copy.size = kMaxElements - (alike - from_.refs.begin());
      }
    }
    numbers_ = &add_ref(DType::i64, Ref::Mode::in);
  }
  Ref& add_ref(DType dtype, Ref::Mode mode) {
    auto& refs = out_.kernel->refs;
    refs.push_back(std::make_unique<Ref>(Ref{static_cast<int>(refs.size()), dtype, 0, mode}));
    return *refs.back();
  }

  // ---- instructions

  Inst* add(Inst inst) {
    auto& arena = out_.kernel->arena;
    inst.id = static_cast<int>(arena.size());
    arena.push_back(std::move(inst));
    return &arena.back();
  }
  Inst* emit(Inst inst) {
    used_.insert(inst.args.begin(), inst.args.end());
    Inst* made = add(std::move(inst));
    bodies_.back().body->insts.push_back(made);
    return made;
  }
  Inst*& made(const Inst* old) { return made_[static_cast<std::size_t>(old->id)]; }

  Inst* variable(const Inst& old, Inst* loop) {
    Inst inst(old.code, old.type);
    inst.is_variable = true;
    inst.loop = loop;
    loosen(inst, old.low, old.high);
    if (is_lane(old)) inst.high = loop->lanes - 1;
    return made(&old) = add(std::move(inst));
  }
  static void loosen(Inst& inst, std::int64_t low, std::int64_t high) {
    inst.low = lower_bound_of(low);
    inst.high = upper_bound_of(high);
  }

  /// A number from the buffer.
  Inst* number(std::int64_t n) {
    Inst load(Opcode::load, {DType::i64, 1});
    load.ref = numbers_;
    load.index = Index(static_cast<std::int64_t>(out_.numbers.size()));
    loosen(load, n, n);
    if (n > 0) load.low = 1;  // it may be divided by
    out_.numbers.push_back(n);
    loads_.push_back(add(std::move(load)));
    return loads_.back();
  }

  // ---- indices

  /// The index with its numbers apart. Equal ones share theirs where both are visible.
  Index apart(const Index& index) {
    std::vector<std::int64_t> key{index.constant()};
    for (const Index::Term& term : index.terms())
      key.insert(key.end(), {term.variable->id, term.coefficient});
    for (const Open& open : bodies_)
      if (auto found = open.indices.find(key); found != open.indices.end()) return found->second;
    return bodies_.back().indices[key] = new_index(index);
  }
  Index new_index(const Index& index) {
    Index out;
    for (const Index::Term& term : index.terms()) {
      if (is_counted_with_lane(index, term)) continue;  // with its lane
      if (const Inst* counter = counter_of(index, term)) {
        Index element =
            Index::of(made(counter)) * counter->loop->lanes + Index::of(made(term.variable));
        out = out + scaled(element, term.coefficient);
      } else if (is_structure(term.coefficient) || is_start_of_strip(term)) {
        out = out + Index::of(made(term.variable)) * term.coefficient;
      } else {
        out = out + scaled(Index::of(made(term.variable)), term.coefficient);
      }
    }
    if (index.constant() != 0) out = out + Index::of(number(index.constant()));
    return out;
  }
  Index scaled(const Index& index, std::int64_t factor) {
    if (is_structure(factor)) return index * factor;
    Inst value(Opcode::index, {DType::i64, index.lanes()});
    value.index = index;
    loosen(value, index.min(), index.max());
    Index product = index * factor;
    Inst mul(Opcode::mul, {DType::i64, index.lanes()});
    loosen(mul, product.min(), product.max());
    mul.args = {emit(std::move(value)), number(factor)};
    return Index::of(emit(std::move(mul)));
  }
  static std::int64_t coefficient(const Index& index, const Inst* variable) {
    for (const Index::Term& term : index.terms())
      if (term.variable == variable) return term.coefficient;
    return 0;
  }
  static bool is_lane(const Inst& v) { return v.is_variable && v.loop && v.loop->lane == &v; }
  static bool is_strip(const Inst& v) {
    return v.is_variable && v.loop && v.loop->lane && v.loop->counter == &v;
  }
  /// The counter of a lane's loop, where the index counts elements of that loop; else null.
  static const Inst* counter_of(const Index& index, const Index::Term& lane) {
    if (!is_lane(*lane.variable)) return nullptr;
    const Inst* loop = lane.variable->loop;
    return coefficient(index, loop->counter) == lane.coefficient * loop->lanes ? loop->counter
                                                                               : nullptr;
  }
  static bool is_counted_with_lane(const Index& index, const Index::Term& strip) {
    if (!is_strip(*strip.variable)) return false;
    std::int64_t lane = coefficient(index, strip.variable->loop->lane);
    return lane != 0 && strip.coefficient == lane * strip.variable->loop->lanes;
  }
  static bool is_start_of_strip(const Index::Term& term) {
    return is_strip(*term.variable) && term.coefficient == term.variable->loop->lanes;
  }

  // ---- bodies

  void body(const Body& from, Body& to) {
    bodies_.push_back({&to, {}});
    for (const Inst* i : from.insts) instruction(*i);
    bodies_.pop_back();
  }

  /// Those that came from the buffer at last. (Their users are of the same body or one within it.)
  void drop_unused_constants(Body& body) {
    for (Inst* i : body.insts)
      for (const auto& b : i->bodies) drop_unused_constants(*b);
    body.insts.erase(std::remove_if(body.insts.begin(), body.insts.end(),
                                    [&](const Inst* i) {
                                      return i->code == Opcode::constant && !used_.count(i);
                                    }),
                     body.insts.end());
  }

  void instruction(const Inst& old) {
    Inst inst(old.code, old.type);
    for (std::size_t a = 0; a < old.args.size(); ++a) inst.args.push_back(argument(old, a));
    inst.bits = old.bits;
    inst.compare = old.compare;
    if (old.ref) inst.ref = out_.kernel->refs[static_cast<std::size_t>(old.ref->id)].get();
    inst.index = apart(old.index);
    if (old.var) inst.var = made(old.var);
    inst.step = old.step;
    inst.lanes = old.lanes;
    inst.callee = old.callee;
    loosen(inst, old.low, old.high);
    if (!old.bodies.empty() && (old.code == Opcode::for_ || old.code == Opcode::vector))
      bounds(old, inst);
    Inst* copy = made(&old) = emit(std::move(inst));
    if (old.counter) copy->counter = variable(*old.counter, copy);
    if (old.lane) copy->lane = variable(*old.lane, copy);
    for (const auto& b : old.bodies) {
      copy->bodies.push_back(std::make_unique<Body>());
      body(*b, *copy->bodies.back());
    }
    if (old.condition) used_.insert(copy->condition = made(old.condition));
  }

  /// Whether constants of the instruction may be sizes: those that indices are divided by, and
  /// those that integers are moved by or compared with, for an index may be read from an array.
  static bool takes_sizes(const Inst& user, const Inst& other) {
    switch (user.code) {
      case Opcode::div:
      case Opcode::rem: return is_size(other);
      case Opcode::add:
      case Opcode::sub:
      case Opcode::min:
      case Opcode::max:
      case Opcode::cmp: return other.type.dtype == DType::i32 || other.type.dtype == DType::i64;
      default: return false;
    }
  }

  /// An argument; a constant that may be a size comes from the buffer.
  Inst* argument(const Inst& user, std::size_t a) {
    const Inst& arg = *user.args[a];
    bool meets_size =
        user.args.size() == 2 && is_integer(arg.type.dtype) && takes_sizes(user, *user.args[1 - a]);
    if (arg.code != Opcode::constant || !meets_size) return made(&arg);
    DType dtype = arg.type.dtype;
    int width = static_cast<int>(bit_width(dtype));
    std::int64_t value = static_cast<std::int64_t>(arg.bits << (64 - width)) >> (64 - width);
    if (is_structure(value)) return made(&arg);
    Inst* n = number(value);
    if (dtype == DType::i64) return n;
    Inst narrow(Opcode::convert, {dtype, 1});
    narrow.args = {n};
    return emit(std::move(narrow));
  }

  void bounds(const Inst& old, Inst& loop) {
    loop.begin = apart(old.begin);
    Index extent = old.end - old.begin;
    if (!extent.is_constant()) {
      loop.end = apart(old.end);
    } else if (is_structure(extent.constant()) ||
               (old.code == Opcode::vector && extent.constant() == old.lanes)) {
      loop.end = loop.begin + extent;  // one turn
    } else if (old.code == Opcode::vector && extent.constant() % old.lanes == 0 &&
               needs_whole_strips(*old.bodies[0])) {
      loop.end = loop.begin + Index::of(number(extent.constant() / old.lanes)) * old.lanes;
    } else {
      loop.end = loop.begin + Index::of(number(extent.constant()));
    }
  }

  struct Open {
    Body* body;
    std::map<std::vector<std::int64_t>, Index>
        indices;  // what they became, by constant, variables and coefficients
  };

  const Kernel& from_;
  SizedKernel out_;
  std::vector<Inst*> made_;               // by the old one's id
  std::vector<Open> bodies_;              // those being written, the innermost last
  std::unordered_set<const Inst*> used_;  // as arguments; lookup only
  std::vector<Inst*> loads_;              // of numbers: before everything else
  Ref* numbers_ = nullptr;
};

}  // namespace

SizedKernel with_sizes_apart(const Kernel& kernel) { return Copy(kernel).run(); }

}  // namespace strata::loop
