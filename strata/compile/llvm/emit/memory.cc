#include "strata/compile/llvm/emit/memory.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <bit>

#include "strata/base/check.h"

namespace strata::compile {

using llvm::Value;
using loop::Index;
using loop::Inst;
using loop::Opcode;

namespace {

bool is_uniform(const Index::Term& term) { return term.variable->type.lanes == 1; }
/// The lane number of an open vector loop.
bool is_lane(const Index::Term& term) { return !is_uniform(term) && term.variable->is_variable; }

/// The most by which lanes may be apart so that all of memory between them is read or written:
/// more is wasted, or rarely complete.
constexpr std::int64_t kWidestStride = 4;

/// By how many elements the lanes of an access are apart, in order of the lanes; 0 where that is
/// not one number.
std::int64_t stride_of(const Index& index) {
  std::int64_t stride = 0;
  for (const Index::Term& term : index.terms()) {
    if (is_uniform(term)) continue;
    if (!is_lane(term) || stride != 0) return 0;
    stride = term.coefficient;
  }
  return stride;
}

llvm::Align element_alignment(const Inst& inst) { return llvm::Align(byte_width(inst.ref->dtype)); }

}  // namespace

// ---- buffers

void Memory::keep_apart(const loop::Kernel& kernel) {
  llvm::MDBuilder metadata(b_.getContext());
  llvm::MDNode* domain = metadata.createAnonymousAliasScopeDomain();
  std::vector<llvm::MDNode*> own;
  for (std::size_t i = 0; i < kernel.refs.size(); ++i)
    own.push_back(metadata.createAnonymousAliasScope(domain));
  for (std::size_t i = 0; i < kernel.refs.size(); ++i) {
    const loop::Ref& ref = *kernel.refs[i];
    std::vector<llvm::Metadata*> others;
    for (std::size_t k = 0; k < kernel.refs.size(); ++k) {
      const loop::Ref& other = *kernel.refs[k];
      bool may_be_one = ref.dtype == other.dtype && ref.size == other.size &&
                        ref.mode != loop::Ref::Mode::scratch &&
                        other.mode != loop::Ref::Mode::scratch;
      if (k != i && !may_be_one) others.push_back(own[k]);
    }
    scopes_[ref.id] = {llvm::MDNode::get(b_.getContext(), own[i]),
                       others.empty() ? nullptr : llvm::MDNode::get(b_.getContext(), others)};
  }
}

/// The access, marked as one to its buffer.
template <class Access>
Access* Memory::of(const Inst& inst, Access* access) {
  auto found = scopes_.find(inst.ref->id);
  if (found == scopes_.end()) return access;
  access->setMetadata(llvm::LLVMContext::MD_alias_scope, found->second.own);
  if (found->second.others)
    access->setMetadata(llvm::LLVMContext::MD_noalias, found->second.others);
  return access;
}

// ---- indices

Value* Memory::index_value(const Index& index) {
  Value* sum = b_.getInt64(static_cast<std::uint64_t>(index.constant()));
  for (bool uniform : {true, false}) {  // uniform terms first: one stretch
    for (const Index::Term& term : index.terms()) {
      if (is_uniform(term) != uniform) continue;
      Value* v = value_(term.variable);
      Value* factor =
          llvm::ConstantInt::get(v->getType(), static_cast<std::uint64_t>(term.coefficient));
      sum = b_.CreateAdd(math_.stretch(sum, lanes_of(v)), b_.CreateMul(v, factor));
    }
  }
  return sum;
}

std::pair<std::int64_t, std::int64_t> Memory::range(const Inst* v) const {
  if (v->code == Opcode::index && !v->is_variable)
    return {std::max(v->low, v->index.min()), std::min(v->high, v->index.max())};
  if (v->code == Opcode::constant)
    return {static_cast<std::int64_t>(v->bits), static_cast<std::int64_t>(v->bits)};
  return {v->low, v->high};
}

/// Term by term and the constant last: accesses beside each other share all but that, before LLVM
/// looks for what they share.
Value* Memory::element_pointer(const loop::Ref* ref, const Index& uniform) {
  auto found = pointers_.find(ref->id);
  STRATA_CHECK(found != pointers_.end(), "buffer %{} is not bound", ref->id);
  llvm::Type* element = math_.stored_type(ref->dtype, 1);
  Value* at = found->second;
  for (const Index::Term& term : uniform.terms())
    at = b_.CreateGEP(element, at,
                      b_.CreateMul(value_(term.variable),
                                   b_.getInt64(static_cast<std::uint64_t>(term.coefficient))));
  return uniform.constant() == 0
             ? at
             : b_.CreateGEP(element, at,
                            b_.getInt64(static_cast<std::uint64_t>(uniform.constant())));
}

Memory::Place Memory::place(const Inst& inst, int lanes) {
  Value* base = element_pointer(inst.ref, inst.index.at_first_lane());
  std::vector<Index::Term> varying;
  for (const Index::Term& term : inst.index.terms())
    if (!is_uniform(term)) varying.push_back(term);
  if (varying.empty()) return {Place::Kind::uniform, base};
  const std::int64_t stride = stride_of(inst.index);
  if (stride == 1) return {Place::Kind::contiguous, base};
  if (stride == -1) return {Place::Kind::backwards, base};
  return {Place::Kind::scattered,
          scattered(base, math_.stored_type(inst.ref->dtype, 1), varying, lanes)};
}

/// Pointers of all lanes; offsets in 32 bits where they fit, for the machine's wider gather.
Value* Memory::scattered(Value* base, llvm::Type* element, const std::vector<Index::Term>& terms,
                         int lanes) {
  std::int64_t reach = 0;
  for (const Index::Term& term : terms) {
    auto [low, high] = range(term.variable);
    std::int64_t largest = low == INT64_MIN ? INT64_MAX : std::max(std::abs(low), std::abs(high));
    std::int64_t product = 0;
    if (__builtin_mul_overflow(largest, std::abs(term.coefficient), &product) ||
        __builtin_add_overflow(reach, product, &reach))
      reach = INT64_MAX;
  }
  llvm::Type* t = math_.type(reach <= INT32_MAX ? DType::i32 : DType::i64, lanes);
  Value* sum = llvm::Constant::getNullValue(t);
  for (const Index::Term& term : terms) {
    Value* v = b_.CreateSExtOrTrunc(math_.stretch(value_(term.variable), lanes), t);
    sum = b_.CreateAdd(
        sum, b_.CreateMul(
                 v, llvm::ConstantInt::get(t, static_cast<std::uint64_t>(term.coefficient), true)));
  }
  return b_.CreateGEP(element, base, sum);
}

// ---- masks

Value* Memory::any(Value* mask) { return lanes_of(mask) == 1 ? mask : b_.CreateOrReduce(mask); }

/// Lanes alive for which the predicate holds; null when all are.
Value* Memory::combined_mask(Value* predicate, int lanes) {
  Value* mask = alive_.mask && lanes_of(alive_.mask) == lanes ? alive_.mask : nullptr;
  if (!predicate) return mask;
  predicate = math_.stretch(predicate, lanes);
  return mask ? b_.CreateAnd(mask, predicate) : predicate;
}

Value* Memory::reversed(Value* v) { return b_.CreateVectorReverse(v); }

void Memory::when(Value* condition, const std::function<void()>& f) {
  llvm::Function* function = b_.GetInsertBlock()->getParent();
  auto* then = llvm::BasicBlock::Create(b_.getContext(), "then", function);
  auto* exit = llvm::BasicBlock::Create(b_.getContext(), "exit", function);
  b_.CreateCondBr(condition, then, exit);
  b_.SetInsertPoint(then);
  f();
  b_.CreateBr(exit);
  b_.SetInsertPoint(exit);
}

// ---- loads

Value* Memory::load(const Inst& inst) {
  int lanes = inst.type.lanes;
  DType dtype = inst.ref->dtype;
  if (std::int64_t stride = stride_of(inst.index);
      stride > 1 && stride <= kWidestStride && !alive_.mask && inst.args.empty())
    return strided_load(inst, stride);
  Place at = place(inst, lanes);
  if (at.kind == Place::Kind::uniform) return uniform_load(inst, at.pointer, lanes);

  llvm::Type* t = math_.stored_type(dtype, lanes);
  Value* mask = combined_mask(inst.args.empty() ? nullptr : value_(inst.args[0]), lanes);
  Value* otherwise = inst.args.size() > 1
                         ? math_.to_stored(dtype, math_.stretch(value_(inst.args[1]), lanes))
                         : llvm::Constant::getNullValue(t);
  llvm::Align align = element_alignment(inst);
  if (at.kind == Place::Kind::scattered) {
    if (Value* known = known_lanes(inst, lanes, mask, otherwise))
      return math_.from_stored(dtype, known);
    if (!mask) mask = llvm::Constant::getAllOnesValue(math_.type(DType::i1, lanes));
    return math_.from_stored(
        dtype, of(inst, b_.CreateMaskedGather(t, at.pointer, align, mask, otherwise)));
  }
  if (at.kind == Place::Kind::contiguous) {
    if (inst.ahead) fetch_ahead(inst, at.pointer, lanes);
    Value* v = mask ? masked_load(inst, t, at.pointer, mask, otherwise)
                    : of(inst, b_.CreateAlignedLoad(t, at.pointer, align));
    return math_.from_stored(dtype, v);
  }
  Value* first = b_.CreateGEP(math_.stored_type(dtype, 1), at.pointer,
                              b_.getInt64(static_cast<std::uint64_t>(1 - lanes)));
  Value* v = mask ? masked_load(inst, t, first, reversed(mask), reversed(otherwise))
                  : of(inst, b_.CreateAlignedLoad(t, first, align));
  return math_.from_stored(dtype, reversed(v));
}

/// Lanes of which is known when code is made how many elements they read from the first: vectors
/// that are on each other, from the least to the farthest of them, out of which lanes are picked;
/// null where they are not known, or too far from each other.
Value* Memory::known_lanes(const Inst& inst, int lanes, Value* mask, Value* otherwise) {
  constexpr std::int64_t kMostVectors = 4;
  std::vector<std::int64_t> at(static_cast<std::size_t>(lanes), 0);
  std::vector<bool> alive(at.size(), true);
  auto number = [](Value* v, std::size_t lane) -> llvm::ConstantInt* {
    auto* constant = llvm::dyn_cast<llvm::Constant>(v);
    return constant ? llvm::dyn_cast_or_null<llvm::ConstantInt>(
                          constant->getAggregateElement(static_cast<unsigned>(lane)))
                    : nullptr;
  };
  for (const Index::Term& term : inst.index.terms()) {
    if (is_uniform(term)) continue;
    Value* v = value_(term.variable);
    for (std::size_t i = 0; i < at.size(); ++i) {
      const auto* x = number(v, i);
      if (!x) return nullptr;
      at[i] += x->getSExtValue() * term.coefficient;
    }
  }
  if (mask)
    for (std::size_t i = 0; i < at.size(); ++i) {
      const auto* x = number(mask, i);
      if (!x) return nullptr;
      alive[i] = x->isOne();
    }
  std::int64_t least = INT64_MAX, most = INT64_MIN;
  for (std::size_t i = 0; i < at.size(); ++i)
    if (alive[i]) least = std::min(least, at[i]), most = std::max(most, at[i]);
  if (least > most) return otherwise;
  const std::int64_t span = most - least + 1, vectors = (span + lanes - 1) / lanes;
  if (vectors > kMostVectors) return nullptr;
  llvm::Type* element = math_.stored_type(inst.ref->dtype, 1);
  llvm::Type* t = math_.stored_type(inst.ref->dtype, lanes);
  Value* base =
      b_.CreateConstGEP1_64(element, element_pointer(inst.ref, inst.index.at_first_lane()),
                            static_cast<std::uint64_t>(least));
  Value* out = nullptr;
  for (std::int64_t v = 0; v < vectors; ++v) {
    const std::int64_t first = v + 1 < vectors || vectors == 1 ? v * lanes : span - lanes;
    Value* part = nullptr;
    if (span >= lanes) {
      part =
          of(inst, b_.CreateAlignedLoad(
                       t, b_.CreateConstGEP1_64(element, base, static_cast<std::uint64_t>(first)),
                       element_alignment(inst)));
    } else {  // no more than there is
      part = of(inst, b_.CreateAlignedLoad(
                          llvm::FixedVectorType::get(element, static_cast<unsigned>(span)), base,
                          element_alignment(inst)));
      std::vector<int> wide;
      for (int i = 0; i < lanes; ++i) wide.push_back(i < span ? i : -1);
      part = b_.CreateShuffleVector(part, wide);
    }
    std::vector<int> from;
    for (std::size_t i = 0; i < at.size(); ++i) {
      const std::int64_t place = at[i] - least - first;
      const bool here = alive[i] && place >= 0 && place < lanes;
      from.push_back(here  ? static_cast<int>(place) + (out ? lanes : 0)
                     : out ? static_cast<int>(i)
                           : -1);
    }
    out = out ? b_.CreateShuffleVector(out, part, from) : b_.CreateShuffleVector(part, from);
  }
  return mask ? b_.CreateSelect(mask, out, otherwise) : out;
}

/// Words of one and two bytes are read under masks by AVX-512 only; elsewhere they are read one by
/// one, unless all are or none is, which masks of places in a row mostly say (the two sides of a
/// concatenation).
bool Memory::masks_words(llvm::Type* t) const {
  return math_.target().avx512 || t->getScalarSizeInBits() >= 32;
}
Value* Memory::masked_load(const Inst& inst, llvm::Type* t, Value* first, Value* mask,
                           Value* otherwise) {
  const llvm::Align align = element_alignment(inst);
  auto some = [&]() -> Value* {
    return of(inst, b_.CreateMaskedLoad(t, first, align, mask, otherwise));
  };
  if (masks_words(t)) {
    // Where a predicate lets no lane live, the place may be no memory at all: the processor reads
    // nothing there, but takes hundreds of cycles to find that out.
    if (!inst.args.empty()) first = inside_or_begin(inst, first);
    return some();
  }
  if (auto* count =
          mask == alive_.mask ? llvm::dyn_cast_or_null<llvm::ConstantInt>(alive_.first) : nullptr)
    return load_first(inst, first, static_cast<int>(count->getZExtValue()), otherwise);
  llvm::Function* function = b_.GetInsertBlock()->getParent();
  auto block = [&](const char* name) {
    return llvm::BasicBlock::Create(b_.getContext(), name, function);
  };
  auto *all_block = block("all"), *not_all = block("not.all"), *some_block = block("some"),
       *done = block("loaded");
  b_.CreateCondBr(b_.CreateAndReduce(mask), all_block, not_all);
  b_.SetInsertPoint(all_block);
  Value* all = of(inst, b_.CreateAlignedLoad(t, first, align));
  b_.CreateBr(done);
  b_.SetInsertPoint(not_all);
  b_.CreateCondBr(any(mask), some_block, done);
  b_.SetInsertPoint(some_block);
  Value* few = some();
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
  llvm::PHINode* out = b_.CreatePHI(t, 3);
  out->addIncoming(all, all_block);
  out->addIncoming(otherwise, not_all);
  out->addIncoming(few, some_block);
  return out;
}

/// The first `count` lanes in pieces of a power of two, the others of `otherwise`.
Value* Memory::load_first(const Inst& inst, Value* at, int count, Value* otherwise) {
  const int lanes = lanes_of(otherwise);
  llvm::Type* element = otherwise->getType()->getScalarType();
  Value* out = otherwise;
  for (int begin = 0, some; begin < count; begin += some) {
    some = static_cast<int>(std::bit_floor(static_cast<unsigned>(count - begin)));
    Value* place = b_.CreateConstGEP1_64(element, at, static_cast<std::uint64_t>(begin));
    Value* piece = of(
        inst, b_.CreateAlignedLoad(llvm::FixedVectorType::get(element, static_cast<unsigned>(some)),
                                   place, element_alignment(inst)));
    std::vector<int> wide, from;
    for (int i = 0; i < lanes; ++i) {
      wide.push_back(i < some ? i : -1);
      from.push_back(begin <= i && i < begin + some ? lanes + i - begin : i);
    }
    out = b_.CreateShuffleVector(out, b_.CreateShuffleVector(piece, wide), from);
  }
  return out;
}

/// `first`, from where as many elements as lanes are read, or the array's begin where none of those
/// is one of its elements.
Value* Memory::inside_or_begin(const Inst& inst, Value* first) {
  if (inst.index.min() >= 0 && inst.index.max() < inst.ref->size) return first;
  const auto width = static_cast<std::int64_t>(byte_width(inst.ref->dtype)),
             before = (inst.type.lanes - 1) * width;
  auto number = [&](std::int64_t x) { return b_.getInt64(static_cast<std::uint64_t>(x)); };
  Value* begin = pointers_[inst.ref->id];
  Value* at = b_.CreateSub(b_.CreatePtrToInt(first, b_.getInt64Ty()),
                           b_.CreatePtrToInt(begin, b_.getInt64Ty()));
  return b_.CreateSelect(
      b_.CreateICmpULT(b_.CreateAdd(at, number(before)), number(inst.ref->size * width + before)),
      first, begin);
}

/// Lanes a few elements apart: all from the first to the last are read, in two halves, and those
/// between left out. The halves begin at a multiple of the stride where the array has elements
/// before and after, so that what others read between these lanes is read once; else they end at
/// the last lane.
Value* Memory::strided_load(const Inst& inst, std::int64_t stride) {
  const int lanes = inst.type.lanes, step = static_cast<int>(stride), half = lanes * step / 2;
  std::int64_t before = (inst.index.constant() % stride + stride) % stride;
  if (inst.index.min() < before) before = 0;
  const bool whole = inst.index.max() < inst.ref->size - (stride - 1 - before);
  const int first = static_cast<int>(before), overlap = whole ? 0 : step - 1 - first;
  auto* t = llvm::FixedVectorType::get(math_.stored_type(inst.ref->dtype, 1),
                                       static_cast<unsigned>(half));
  Value* low_at = element_pointer(inst.ref, inst.index.at_first_lane() - before);
  Value* high_at = b_.CreateConstGEP1_64(t->getElementType(), low_at,
                                         static_cast<std::uint64_t>(half - overlap));
  Value *low = of(inst, b_.CreateAlignedLoad(t, low_at, element_alignment(inst))),
        *high = of(inst, b_.CreateAlignedLoad(t, high_at, element_alignment(inst)));
  std::vector<int> from;
  for (int lane = 0, at = first; lane < lanes; ++lane, at += step)
    from.push_back(at < half ? at : at + overlap);
  return math_.from_stored(inst.ref->dtype, b_.CreateShuffleVector(low, high, from));
}

void Memory::fetch(const Inst& inst) { fetch_line(element_pointer(inst.ref, inst.index)); }

/// Into the second level, where it is beside what is at work now; past an array's end nothing
/// happens.
void Memory::fetch_line(Value* pointer) {
  b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {pointer->getType()},
                     {pointer, b_.getInt32(0), b_.getInt32(2), b_.getInt32(1)});
}

/// Every cache line once.
void Memory::fetch_ahead(const Inst& inst, Value* pointer, int lanes) {
  constexpr std::int64_t kLine = 64;
  const auto width = static_cast<std::int64_t>(byte_width(inst.ref->dtype));
  for (std::int64_t at = 0; at < lanes * width; at += kLine)
    fetch_line(b_.CreateGEP(b_.getInt8Ty(), pointer,
                            b_.getInt64(static_cast<std::uint64_t>(inst.ahead * width + at))));
}

/// One element for all lanes. Where a predicate may forbid the access, a slot of the stack is read
/// instead.
Value* Memory::uniform_load(const Inst& inst, Value* pointer, int lanes) {
  DType dtype = inst.ref->dtype;
  llvm::Type* t = math_.stored_type(dtype, 1);
  if (inst.args.empty()) {
    return math_.stretch(
        math_.from_stored(dtype,
                          of(inst, b_.CreateAlignedLoad(t, pointer, element_alignment(inst)))),
        lanes);
  }
  Value* predicate = value_(inst.args[0]);
  Value* mask = lanes_of(predicate) > 1 ? combined_mask(predicate, lanes_of(predicate)) : predicate;
  Value* otherwise = inst.args.size() > 1 ? value_(inst.args[1])
                                          : llvm::Constant::getNullValue(math_.type(dtype, 1));
  llvm::AllocaInst* spare = math_.slot(t);
  Value* safe = b_.CreateSelect(any(mask), pointer, spare);
  Value* v = math_.from_stored(
      dtype, b_.CreateFreeze(b_.CreateAlignedLoad(t, safe, element_alignment(inst))));
  return b_.CreateSelect(predicate, math_.stretch(v, lanes), math_.stretch(otherwise, lanes));
}

// ---- stores

/// Those that may go past the caches share one branch for each buffer.
void Memory::store(std::span<const Inst* const> all) {
  for (std::size_t i = 0; i < all.size();) {
    std::size_t n = turns(all.subspan(i)), end = i;
    std::vector<Strip> strips;
    while (end < all.size() && all[end]->ref == all[i]->ref) {
      std::size_t more = turns(all.subspan(end));
      if (!streams(*all[end], more)) break;
      strips.push_back(strip(all.subspan(end, more)));
      end += more;
    }
    if (end > i) {
      stream(strips);
    } else {
      if (n > 1)
        write(strip(all.subspan(i, n)), element_alignment(*all[i]));
      else
        store_one(*all[i]);
      end = i + n;
    }
    i = end;
  }
}

/// How many stores from the first on fill memory by turns: as many as their lanes are elements
/// apart; else 1.
std::size_t Memory::turns(std::span<const Inst* const> stores) const {
  const std::int64_t stride = stride_of(stores[0]->index);
  const auto n = static_cast<std::size_t>(std::max<std::int64_t>(1, stride));
  if (alive_.mask || stride < 2 || stride > kWidestStride || stores.size() < n) return 1;
  for (std::size_t i = 0; i < n; ++i) {
    const Inst& inst = *stores[i];
    if (inst.ref != stores[0]->ref || inst.args.size() > 1 ||
        inst.streaming != stores[0]->streaming)
      return 1;
    if (!(inst.index == stores[0]->index + static_cast<std::int64_t>(i))) return 1;
  }
  return n;
}

Memory::Strip Memory::strip(std::span<const Inst* const> turns) {
  const Inst& first = *turns[0];
  std::vector<Value*> values;
  for (const Inst* inst : turns) {
    int lanes = std::max(inst->args[0]->type.lanes, inst->index.lanes());
    values.push_back(
        math_.stretch(math_.to_stored(inst->ref->dtype, value_(inst->args[0])), lanes));
  }
  return {&first, element_pointer(first.ref, first.index.at_first_lane()),
          interleaved(std::move(values))};
}

/// Lane 0 of all values, then lane 1 of all, ...
Value* Memory::interleaved(std::vector<Value*> values) {
  const int n = static_cast<int>(values.size()), lanes = lanes_of(values[0]);
  if (n == 1) return values[0];
  if (n % 2 == 0) {  // by twos, which machines have instructions for
    std::vector<Value*> even, odd;
    for (std::size_t i = 0; i < values.size(); ++i) (i % 2 ? odd : even).push_back(values[i]);
    Value *a = interleaved(std::move(even)), *b = interleaved(std::move(odd));
    std::vector<int> from;
    for (int i = 0; i < n / 2 * lanes; ++i) from.insert(from.end(), {i, n / 2 * lanes + i});
    return b_.CreateShuffleVector(a, b, from);
  }
  std::vector<int> side_by_side, from;
  for (int i = 0; i < 2 * lanes; ++i) side_by_side.push_back(i);
  Value *low = b_.CreateShuffleVector(values[0], values[1], side_by_side),
        *high = b_.CreateShuffleVector(values[2], values[2], side_by_side);
  for (int i = 0; i < lanes; ++i) from.insert(from.end(), {i, lanes + i, 2 * lanes + i});
  return b_.CreateShuffleVector(low, high, from);
}

/// AMD's processors without AVX-512 take 20 cycles for a register that is stored under a mask, and
/// words of one and two bytes nobody stores so without.
void Memory::masked_store(const Inst& inst, Value* stored, Value* first, Value* mask) {
  const llvm::Align align = element_alignment(inst);
  if (math_.target().avx512)
    return void(of(inst, b_.CreateMaskedStore(stored, first, align, mask)));
  if (mask == alive_.mask && alive_.first) return store_first(inst, stored, first, alive_.first);
  Value* all = b_.CreateAndReduce(mask);
  when(all, [&] { of(inst, b_.CreateAlignedStore(stored, first, align)); });
  when(b_.CreateAnd(any(mask), b_.CreateNot(all)),
       [&] { of(inst, b_.CreateMaskedStore(stored, first, align, mask)); });
}

/// The first `count` lanes, fewer than all, in pieces of a power of two.
void Memory::store_first(const Inst& inst, Value* stored, Value* at, Value* count) {
  const int lanes = lanes_of(stored);
  auto part = [&](int begin, int some) {
    std::vector<int> from;
    for (int i = begin; i < begin + some; ++i) from.push_back(i < lanes_of(stored) ? i : -1);
    return b_.CreateShuffleVector(stored, from);
  };
  for (auto some = static_cast<int>(std::bit_ceil(static_cast<unsigned>(lanes)) / 2); some > 0;
       some /= 2) {
    Value *low = part(0, some), *high = part(some, some);
    Value* has =
        b_.CreateICmpNE(b_.CreateAnd(count, static_cast<std::uint64_t>(some)), b_.getInt64(0));
    auto* known = llvm::dyn_cast<llvm::ConstantInt>(has);
    auto write = [&] { of(inst, b_.CreateAlignedStore(low, at, element_alignment(inst))); };
    if (!known)
      when(has, write);
    else if (known->isOne())
      write();
    Value* behind = b_.CreateConstGEP1_64(stored->getType()->getScalarType(), at,
                                          static_cast<std::uint64_t>(some));
    stored = !known ? b_.CreateSelect(has, high, low) : known->isOne() ? high : low;
    at = !known ? b_.CreateSelect(has, behind, at) : known->isOne() ? behind : at;
  }
}

void Memory::store_one(const Inst& inst) {
  const Inst* source = inst.args[0];
  Value* predicate = inst.args.size() > 1 ? value_(inst.args[1]) : nullptr;
  int lanes = std::max(source->type.lanes, inst.index.lanes());
  if (predicate) lanes = std::max(lanes, lanes_of(predicate));
  Place at = place(inst, lanes);
  Value* stored = math_.to_stored(inst.ref->dtype, value_(source));
  if (at.kind == Place::Kind::uniform && source->type.lanes == 1)
    return uniform_store(inst, at.pointer, stored);

  llvm::Align align = element_alignment(inst);
  stored = math_.stretch(stored, lanes);
  Value* mask = combined_mask(predicate, lanes);
  if (at.kind == Place::Kind::backwards) {
    at.pointer = b_.CreateGEP(math_.stored_type(inst.ref->dtype, 1), at.pointer,
                              b_.getInt64(static_cast<std::uint64_t>(1 - lanes)));
    stored = reversed(stored);
    if (mask) mask = reversed(mask);
    at.kind = Place::Kind::contiguous;
  }
  if (at.kind == Place::Kind::contiguous) {
    if (mask) {
      masked_store(inst, stored, at.pointer, mask);
    } else {
      of(inst, b_.CreateAlignedStore(stored, at.pointer, align));
    }
    return;
  }
  // Lanes may meet in one element: a scatter writes in the order of lanes, so the last one stays.
  Value* pointers = at.kind == Place::Kind::uniform ? math_.stretch(at.pointer, lanes) : at.pointer;
  of(inst, b_.CreateMaskedScatter(stored, pointers, align, mask));
}

void Memory::uniform_store(const Inst& inst, Value* pointer, Value* stored) {
  auto write = [&] { of(inst, b_.CreateAlignedStore(stored, pointer, element_alignment(inst))); };
  if (inst.args.size() < 2) return write();
  Value* predicate = value_(inst.args[1]);
  Value* mask = lanes_of(predicate) > 1 ? combined_mask(predicate, lanes_of(predicate)) : predicate;
  when(any(mask), write);
}

/// The bytes, 64 or 32, at a multiple of which every strip starts, counted from the buffer's
/// beginning; else 0.
std::uint64_t Memory::strip_alignment(const Inst& inst) const {
  std::int64_t width = static_cast<std::int64_t>(byte_width(inst.ref->dtype)),
               all = inst.index.constant() * width | 64;
  for (const Index::Term& term : inst.index.terms())
    all |= term.coefficient * (is_uniform(term) ? 1 : term.variable->type.lanes) * width;
  return all % 64 == 0 ? 64 : all % 32 == 0 ? 32 : 0;
}

/// Whether a store, of so many that take turns, writes whole strips that are so that they may go
/// past the caches.
bool Memory::streams(const Inst& inst, std::size_t turns) const {
  if (!inst.streaming || alive_.mask || inst.args.size() > 1 || strip_alignment(inst) == 0)
    return false;
  return stride_of(inst.index) == static_cast<std::int64_t>(turns);
}

void Memory::write(const Strip& strip, llvm::Align alignment, llvm::MDNode* hint) {
  auto* store = of(*strip.first, b_.CreateAlignedStore(strip.stored, strip.pointer, alignment));
  if (hint) store->setMetadata(llvm::LLVMContext::MD_nontemporal, hint);
}

void Memory::stream(std::span<const Strip> strips) {
  Value* base = b_.CreatePtrToInt(pointers_[strips[0].first->ref->id], b_.getInt64Ty());
  Value* aligned = b_.CreateICmpEQ(b_.CreateAnd(base, 63), b_.getInt64(0));
  auto* past_caches =
      llvm::MDNode::get(b_.getContext(), llvm::ConstantAsMetadata::get(b_.getInt32(1)));
  when(aligned, [&] {
    for (const Strip& s : strips) write(s, llvm::Align(strip_alignment(*s.first)), past_caches);
  });
  when(b_.CreateNot(aligned), [&] {
    for (const Strip& s : strips) write(s, element_alignment(*s.first));
  });
  streamed_ = true;
}

void Memory::finish() {
  if (streamed_) b_.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, {});
}

}  // namespace strata::compile
