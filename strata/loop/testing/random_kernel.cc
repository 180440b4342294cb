#include "strata/loop/testing/random_kernel.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <utility>

#include "strata/loop/semantics.h"

namespace strata::loop::testing {
namespace {

constexpr std::array kTypes = {DType::f32,  DType::f32,  DType::f32,  DType::f64,
                               DType::i32,  DType::i32,  DType::i64,  DType::i1,
                               DType::i8,   DType::i16,  DType::ui8,  DType::ui16,
                               DType::ui32, DType::ui64, DType::bf16, DType::f16};
constexpr std::array kBinary = {Opcode::add, Opcode::sub,  Opcode::mul, Opcode::div,
                                Opcode::rem, Opcode::min,  Opcode::max, Opcode::and_,
                                Opcode::or_, Opcode::xor_, Opcode::shl, Opcode::shr};
constexpr std::array kUnary = {Opcode::neg,    Opcode::abs,  Opcode::not_,  Opcode::sqrt,
                               Opcode::floor,  Opcode::ceil, Opcode::trunc, Opcode::rint,
                               Opcode::popcnt, Opcode::clz};
constexpr std::array kCombiners = {Opcode::add,  Opcode::mul, Opcode::min, Opcode::max,
                                   Opcode::and_, Opcode::or_, Opcode::xor_};
constexpr std::int64_t kLargest = std::int64_t{1} << 30;  // of an index

/// What the generator knows of a value; never what folding made of it, so that all options see the
/// same calls.
struct Value {
  Inst* inst;
  VType type;
};
struct Place {
  Index index;
  int lanes;
  std::int64_t most;
};

class Generator {
 public:
  Generator(Kernel& kernel, std::uint64_t seed, BuilderOptions build, RandomOptions options)
      : kernel_(kernel), builder_(kernel, build), random_(seed), options_(options) {
    lanes_ = 2 << below(4);
    budget_ = options.statements;
    kernel.grid = below(3) == 0 ? 1 : 1 + below(4);
    for (int i = 0; i < 3; ++i)
      inputs_.push_back(builder_.parameter(type(), 1 + below(70), Ref::Mode::in));
    for (int i = 0; i < 2; ++i)
      outputs_.push_back(builder_.parameter(type(), kernel.grid * kChunk, Ref::Mode::inout));
    scratch_ = builder_.scratch(type(), kChunk);
  }

  void run() {
    places_.push_back({builder_.grid(), 1, kernel_.grid - 1});
    builder_.for_(0, kChunk, 1, [&](Index i) {
      builder_.store(scratch_, i, builder_.constant_int(scratch_->dtype, 1));
    });
    while (budget_ > 0) block(0);
    for (Ref* output : outputs_) store(output);
  }

 private:
  static constexpr std::int64_t kChunk = 48;

  // ---- choices

  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  template <class List>
  auto& any(List& list) {
    return list[static_cast<std::size_t>(below(static_cast<int>(list.size())))];
  }
  DType type() { return any(kTypes); }
  DType type_of(Opcode code) {
    DType dtype = type();
    while (!accepts(code, dtype)) dtype = type();
    return dtype;
  }

  std::uint64_t random_bits(DType dtype) {
    switch (below(4)) {
      case 0:
        return semantics::convert(dtype, DType::i64, static_cast<std::uint64_t>(below(9) - 4));
      case 1:
        return semantics::convert(dtype, DType::f64,
                                  semantics::of(std::ldexp(below(200) - 100, below(12) - 6)));
      case 2: {
        constexpr std::array edges = {0.0,  -0.0,          1.0,    -1.0,      1e-40,
                                      3e38, -2147483648.0, 9.3e18, 0x1p-1074, 65504.0};
        return semantics::convert(dtype, DType::f64, semantics::of(any(edges)));
      }
      default:
        return is_float(dtype)
                   ? semantics::convert(dtype, DType::f32, semantics::of(float(below(1000))))
                   : random_();
    }
  }
  Inst* constant(DType dtype) { return builder_.constant_bits(dtype, random_bits(dtype)); }

  /// A value of the type in scope or a constant; `widest` lanes at most.
  Value value(DType dtype, int widest) {
    std::vector<Value> fitting;
    for (const Value& v : values_)
      if (v.type.dtype == dtype && v.type.lanes <= widest) fitting.push_back(v);
    if (below(8) == 0) return {constant(dtype), {dtype, 1}};
    if (fitting.empty()) return converted(dtype, widest);
    return fitting[fitting.size() - 1 -
                   static_cast<std::size_t>(
                       below(static_cast<int>(std::min<std::size_t>(fitting.size(), 6))))];
  }
  Value value(DType dtype) { return value(dtype, lanes_); }
  /// Something of another type, else an element of an input.
  Value converted(DType dtype, int widest) {
    std::vector<Value> fitting;
    for (const Value& v : values_)
      if (v.type.lanes <= widest) fitting.push_back(v);
    if (!fitting.empty() && below(2)) {
      Value from = any(fitting);
      return {builder_.convert(dtype, from.inst), {dtype, from.type.lanes}};
    }
    Ref* input = any(inputs_);
    return {builder_.convert(dtype, builder_.load(input, below(static_cast<int>(input->size)))),
            {dtype, 1}};
  }
  void keep(Inst* inst, DType dtype, std::initializer_list<Value> from) {
    int lanes = 1;
    for (const Value& v : from) lanes = std::max(lanes, v.type.lanes);
    values_.push_back({inst, {dtype, lanes}});
  }

  /// An index below `size`.
  Place place(std::int64_t size) {
    Place p = any(places_);
    for (int i = below(3); i > 0; --i) p = changed(p);
    if (p.most >= size) p = {builder_.mod(p.index, size), p.lanes, size - 1};
    if (below(6) == 0) p = opaque(size);
    return p;
  }
  Place changed(const Place& p) {
    std::int64_t n = 1 + below(50);
    switch (below(5)) {
      case 0: return {builder_.div(p.index, n), p.lanes, p.most / n};
      case 1: return {builder_.mod(p.index, n), p.lanes, std::min(p.most, n - 1)};
      case 2:
        return p.most < kLargest / 64 ? Place{p.index * n + (n - 1), p.lanes, p.most * n + n - 1}
                                      : p;
      case 3: {
        Place other = any(places_);
        bool small = p.most < kLargest / 2 && other.most < kLargest / 2;
        return small ? Place{p.index + other.index, std::max(p.lanes, other.lanes),
                             p.most + other.most}
                     : p;
      }
      default: return {p.index + n, p.lanes, p.most + n};
    }
  }
  Place opaque(std::int64_t size) {
    Value v = value(DType::i64);
    Inst* low = builder_.binary(Opcode::max, v.inst, builder_.constant_int(DType::i64, 0));
    Inst* in = builder_.binary(Opcode::min, low, builder_.constant_int(DType::i64, size - 1));
    return {builder_.index_of(in, 0, size - 1), v.type.lanes, size - 1};
  }

  // ---- statements

  struct Restore {
    Generator* self;
    std::mt19937_64 random;
    int budget;
    ~Restore() {
      self->random_ = random;
      self->budget_ = budget;
    }
  };
  /// `f` with its own stream of choices and statements, so that what follows does not depend on
  /// whether it was called (a branch that folds away is not).
  template <class F>
  auto apart(F f) {
    int budget = std::min(budget_, 2 + below(10));
    budget_ -= budget;
    return [this, f, budget, seed = random_()](auto... args) {
      std::mt19937_64 outer_random = std::exchange(random_, std::mt19937_64(seed));
      int outer_budget = std::exchange(budget_, budget);
      Restore restore{this, outer_random, outer_budget};
      return f(args...);
    };
  }

  void block(int depth) {
    std::size_t values = values_.size(), locals = locals_.size(), places = places_.size();
    for (int i = 3 + below(6); i > 0 && budget_ > 0; --i) statement(depth);
    if (depth == 0) return;
    values_.resize(values);
    locals_.resize(locals);
    places_.erase(places_.begin() + static_cast<std::ptrdiff_t>(places), places_.end());
  }

  void statement(int depth) {
    --budget_;
    if (depth < 4 && below(7) == 0) return control(depth);
    switch (below(12)) {
      case 0: return load();
      case 1: return load();
      case 2: return store(below(3) ? any(outputs_) : scratch_);
      case 3: return use_local();
      case 4: return compare();
      case 5: return guarded();
      case 6: return convert();
      case 7: return fused();
      case 8: return unary();
      case 9: return reduced();
      default: return binary();
    }
  }

  void unary() {
    Opcode code = any(kUnary);
    DType dtype = type_of(code);
    Value a = value(dtype);
    keep(builder_.unary(code, a.inst), dtype, {a});
  }
  void binary() {
    Opcode code = any(kBinary);
    DType dtype = type_of(code);
    Value a = value(dtype), b = value(dtype);
    keep(builder_.binary(code, a.inst, b.inst), dtype, {a, b});
  }
  void fused() {
    if (below(8) == 0) {
      Value acc = value(DType::i32), a = value(DType::i32), b = value(DType::i32);
      return keep(builder_.dot4(acc.inst, a.inst, b.inst), DType::i32, {acc, a, b});
    }
    if (below(4) == 0) {
      DType sum = below(2) ? DType::f32 : DType::i32;
      Value acc = value(sum), a = value(DType::i32), b = value(DType::i32);
      return keep(builder_.dot2(acc.inst, a.inst, b.inst), sum, {acc, a, b});
    }
    DType dtype = below(2) ? DType::f32 : DType::f64;
    Value a = value(dtype), b = value(dtype), c = value(dtype);
    keep(builder_.fma(a.inst, b.inst, c.inst), dtype, {a, b, c});
  }
  void compare() {
    DType dtype = type();
    if (!accepts(Opcode::cmp, dtype)) return;
    Value a = value(dtype), b = value(dtype);
    if (below(3) == 0) {
      Place x = place(1000), y = place(1000);
      keep(builder_.less(x.index, y.index), DType::i1,
           {{nullptr, {DType::i64, std::max(x.lanes, y.lanes)}}});
    } else {
      keep(builder_.compare(static_cast<Compare>(below(6)), a.inst, b.inst), DType::i1, {a, b});
    }
    Value pred = values_.back();
    keep(builder_.select(pred.inst, a.inst, b.inst), dtype, {pred, a, b});
  }
  void convert() {
    if (below(5) == 0) {
      Place p = place(kLargest);
      values_.push_back({builder_.value(p.index), {DType::i64, p.lanes}});
      return;
    }
    DType from = type(), to = type();
    Value a = value(from);
    bool same_width = bit_width(from) == bit_width(to) && from != DType::i1;
    if (!same_width || below(3) == 0) return keep(builder_.convert(to, a.inst), to, {a});
    keep(builder_.bitcast(to, without_nan(a)), to, {a});
  }
  /// A NaN's bits are not defined, so they must not be looked at.
  Inst* without_nan(const Value& a) {
    DType dtype = a.type.dtype;
    if (!is_float(dtype)) return a.inst;
    Inst* wide = builder_.convert(compute_type(dtype), a.inst);
    return builder_.select(builder_.compare(Compare::eq, wide, wide), a.inst,
                           builder_.constant(dtype, 2));
  }

  /// A place in this grid point's part of a buffer.
  Index own(const Ref* ref, const Index& within) {
    return ref->mode == Ref::Mode::inout ? builder_.grid() * kChunk + within : within;
  }
  void load() {
    if (below(4) == 0) {
      Ref* ref = below(2) ? any(outputs_) : scratch_;
      Place p = place(kChunk);
      return values_.push_back({builder_.load(ref, own(ref, p.index)), {ref->dtype, p.lanes}});
    }
    Ref* ref = any(inputs_);
    Place p = place(ref->size);
    if (below(4) == 0)
      builder_.fetch(ref, places_[0].index * 1000 - below(2000));  // anywhere, of no consequence
    values_.push_back({builder_.load(ref, p.index), {ref->dtype, p.lanes}});
  }
  /// In a vector loop by its own index, whose lanes no folding takes away; else, and sometimes, at
  /// a uniform one.
  void store(Ref* ref) {
    if (in_vector_ && below(4))
      return builder_.store(ref, own(ref, builder_.mod(strip_, kChunk)), value(ref->dtype).inst);
    Index at = builder_.mod(places_[0].index + below(100), kChunk);
    builder_.store(ref, own(ref, at), value(ref->dtype, 1).inst);
  }

  void use_local() {
    if (locals_.empty() || below(3) == 0) {
      int lanes = below(2) ? lanes_ : 1;
      Value initial = value(type(), lanes);
      Inst* local = builder_.local(initial.inst, lanes);
      locals_.push_back({local, {initial.type.dtype, lanes}});
    }
    Value local = any(locals_);
    if (below(2)) {
      values_.push_back({builder_.get(local.inst), local.type});
    } else {
      builder_.set(local.inst, value(local.type.dtype, local.type.lanes).inst);
    }
  }
  void reduced() {
    if (in_vector_ || locals_.empty()) return use_local();
    Value local = any(locals_);
    Opcode code = any(kCombiners);
    if (!accepts(code, local.type.dtype)) return;
    Inst* wide = builder_.get(local.inst);
    bool one = below(2);
    values_.push_back(
        {one ? builder_.extract(wide, below(local.type.lanes)) : builder_.reduce(code, wide),
         {local.type.dtype, 1}});
  }

  void guarded() {
    Ref* ref = any(inputs_);
    Place p = place(ref->size * 2);
    Inst* inside = builder_.less(p.index, ref->size);
    Value otherwise = value(ref->dtype);
    Inst* v =
        builder_.guarded(inside, apart([&] {
                           Inst* loaded = builder_.load(ref, p.index);
                           return accepts(Opcode::max, ref->dtype)
                                      ? builder_.binary(Opcode::max, loaded, constant(ref->dtype))
                                      : loaded;
                         }),
                         otherwise.inst);
    keep(v, ref->dtype, {otherwise, {nullptr, {ref->dtype, p.lanes}}});
  }

  // ---- control

  void control(int depth) {
    switch (below(in_vector_ ? 4 : 6)) {
      case 0: return loop(depth);
      case 1: return branch(depth);
      case 2: return turn(depth);
      case 3: return options_.calls ? call() : loop(depth);
      default: return strips(depth);
    }
  }
  void loop(int depth) {
    std::int64_t begin = below(3), extent = below(5), step = 1 + below(3);
    auto body = [&](const Index& first) {
      builder_.for_(first, first + extent, step, apart([&](Index i) {
                      places_.push_back({i, 1, kLargest / 64});
                      block(depth + 1);
                      places_.pop_back();
                    }));
    };
    body(below(2) ? Index(begin) : builder_.grid() * extent + begin);
  }
  void strips(int depth) {
    std::int64_t begin = below(2) * below(20), extent = below(8) == 0 ? below(3) : below(100);
    Place base = below(2) ? Place{begin, 1, begin}
                          : Place{builder_.grid() * extent, 1, (kernel_.grid - 1) * extent};
    in_vector_ = true;
    builder_.vector(base.index, base.index + extent, lanes_, apart([&](Index i) {
                      strip_ = i;
                      places_.push_back({i, lanes_, base.most + extent});
                      block(depth + 1);
                      places_.pop_back();
                    }));
    in_vector_ = false;
  }
  void branch(int depth) {
    Value pred = value(DType::i1, 1);
    auto then = apart([&] { block(depth + 1); });
    auto otherwise = apart([&] { block(depth + 1); });
    builder_.if_(pred.inst, then, below(2) ? std::function<void()>(otherwise) : nullptr);
  }
  /// A while loop of a few turns.
  void turn(int depth) {
    Inst* count = builder_.local(builder_.constant_int(DType::i32, 0));
    Inst* limit = builder_.constant_int(DType::i32, below(4));
    Inst* one = builder_.constant_int(DType::i32, 1);
    builder_.while_([&] { return builder_.compare(Compare::lt, builder_.get(count), limit); },
                    apart([&] {
                      builder_.set(count, builder_.binary(Opcode::add, builder_.get(count), one));
                      block(depth + 1);
                    }));
  }
  void call() {
    Value a = value(DType::i32, 1), b = value(DType::i64, 1);
    values_.push_back(
        {builder_.call("strata_test_mix", {DType::i64, 1}, {a.inst, b.inst}), {DType::i64, 1}});
  }

  Kernel& kernel_;
  Builder builder_;
  std::mt19937_64 random_;
  RandomOptions options_;
  std::vector<Ref*> inputs_, outputs_;
  Ref* scratch_ = nullptr;
  std::vector<Value> values_, locals_;
  std::vector<Place> places_;
  int lanes_ = 8;
  int budget_ = 0;
  bool in_vector_ = false;
  Index strip_;  // of the open vector loop
};

std::vector<const Ref*> parameters(const Kernel& kernel) {
  std::vector<Ref*> found = kernel.parameters();
  return {found.begin(), found.end()};
}

std::uint64_t element(const Ref& ref, const std::vector<std::byte>& buffer, std::int64_t i) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &buffer[static_cast<std::size_t>(i) * byte_width(ref.dtype)],
              byte_width(ref.dtype));
  return bits;
}

}  // namespace

std::unique_ptr<Kernel> random_kernel(std::uint64_t seed, BuilderOptions build,
                                      RandomOptions options) {
  auto kernel = std::make_unique<Kernel>(fmt::format("random{}", seed));
  Generator(*kernel, seed, build, options).run();
  return kernel;
}

const RuntimeFunctions& random_functions() {
  static const RuntimeFunctions functions = {
      {"strata_test_mix", [](std::span<const std::uint64_t> args) {
         return (args[0] * 0x9e3779b97f4a7c15u) ^ (args[1] + 77);
       }}};
  return functions;
}

Buffers random_buffers(const Kernel& kernel, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Buffers buffers;
  for (const Ref* ref : parameters(kernel)) {
    std::size_t width = byte_width(ref->dtype);
    auto& buffer = buffers.emplace_back(static_cast<std::size_t>(ref->size) * width);
    for (std::int64_t i = 0; i < ref->size; ++i) {
      std::uint64_t bits = random();
      if (random() % 4 || ref->dtype == DType::i1) {
        double small = std::ldexp(static_cast<double>(random() % 400) - 200,
                                  static_cast<int>(random() % 10) - 5);
        bits = semantics::convert(ref->dtype, DType::f64, semantics::of(small));
      }
      std::memcpy(&buffer[static_cast<std::size_t>(i) * width], &bits, width);
    }
  }
  return buffers;
}

std::vector<void*> pointers(Buffers& buffers) {
  std::vector<void*> list;
  for (auto& buffer : buffers) list.push_back(buffer.data());
  return list;
}

std::string difference(const Kernel& kernel, const Buffers& a, const Buffers& b) {
  std::vector<const Ref*> refs = parameters(kernel);
  for (std::size_t p = 0; p < refs.size(); ++p) {
    for (std::int64_t i = 0; i < refs[p]->size; ++i) {
      std::uint64_t x = element(*refs[p], a[p], i), y = element(*refs[p], b[p], i);
      DType dtype = refs[p]->dtype;
      bool nans = is_float(dtype) && std::isnan(semantics::widen(dtype, x)) &&
                  std::isnan(semantics::widen(dtype, y));
      if (x != y && !nans)
        return fmt::format("buffer {}[{}] of {}: 0x{:x} and 0x{:x}", refs[p]->id, i,
                           strata::name(dtype), x, y);
    }
  }
  return "";
}

}  // namespace strata::loop::testing
