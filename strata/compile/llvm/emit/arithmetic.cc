#include "strata/compile/llvm/emit/arithmetic.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include <cmath>
#include <numeric>

#include "strata/base/check.h"

namespace strata::compile {

using llvm::Value;
using loop::Compare;
using loop::Opcode;

int lanes_of(Value* value) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  return vector ? static_cast<int>(vector->getNumElements()) : 1;
}

namespace {

llvm::Type* widened(llvm::Type* scalar, int lanes) {
  return lanes == 1 ? scalar : llvm::FixedVectorType::get(scalar, lanes);
}

llvm::Type* like(Value* shape, llvm::Type* scalar) { return widened(scalar, lanes_of(shape)); }

/// In byte j of entry m the place of the j-th of the bits that m has; 0 where there are no more.
llvm::GlobalVariable* places_of_bits(llvm::Module& module) {
  if (llvm::GlobalVariable* made = module.getNamedGlobal("places_of_bits")) return made;
  std::vector<std::uint64_t> places;
  for (unsigned mask = 0; mask < 256; ++mask) {
    std::uint64_t all = 0;
    for (std::uint64_t bit = 0, j = 0; bit < 8; ++bit)
      if (mask >> bit & 1) all |= bit << (8 * j++);
    places.push_back(all);
  }
  llvm::Constant* table = llvm::ConstantDataArray::get(module.getContext(), places);
  return new llvm::GlobalVariable(module, table->getType(), true, llvm::GlobalValue::PrivateLinkage,
                                  table, "places_of_bits");
}

bool half_word(DType d) { return d == DType::bf16 || d == DType::f16; }

/// The float constant on all lanes of a value, if it is one.
const llvm::APFloat* splat_float(Value* v) {
  auto* c = llvm::dyn_cast<llvm::Constant>(v);
  if (!c) return nullptr;
  if (c->getType()->isVectorTy()) c = c->getSplatValue();
  auto* f = llvm::dyn_cast_or_null<llvm::ConstantFP>(c);
  return f ? &f->getValueAPF() : nullptr;
}

}  // namespace

// ---- types and constants

llvm::Type* Arithmetic::type(DType dtype, int lanes) {
  if (dtype == DType::f32) return widened(b_.getFloatTy(), lanes);
  if (dtype == DType::f64) return widened(b_.getDoubleTy(), lanes);
  STRATA_CHECK(!is_complex(dtype), "the loop form has no {} values", name(dtype));
  if (is_float(dtype))
    return widened(b_.getIntNTy(static_cast<unsigned>(8 * byte_width(dtype))), lanes);
  return widened(b_.getIntNTy(static_cast<unsigned>(bit_width(dtype))), lanes);
}

llvm::Type* Arithmetic::stored_type(DType dtype, int lanes) {
  return bit_width(dtype) < 8 ? widened(b_.getInt8Ty(), lanes) : type(dtype, lanes);
}

Value* Arithmetic::from_stored(DType dtype, Value* value) {
  if (dtype == DType::i1)
    return b_.CreateICmpNE(value, llvm::Constant::getNullValue(value->getType()));
  return bit_width(dtype) < 8 ? b_.CreateTrunc(value, type(dtype, lanes_of(value))) : value;
}

Value* Arithmetic::to_stored(DType dtype, Value* value) {
  if (bit_width(dtype) >= 8) return value;
  llvm::Type* to = stored_type(dtype, lanes_of(value));
  return is_signed(dtype) ? b_.CreateSExt(value, to) : b_.CreateZExt(value, to);
}

llvm::Constant* Arithmetic::constant(DType dtype, std::uint64_t bits) {
  llvm::Type* t = type(dtype, 1);
  unsigned width = t->getPrimitiveSizeInBits();
  llvm::APInt value(64, bits);
  value = value.trunc(width);
  if (dtype == DType::f32)
    return llvm::ConstantFP::get(t, llvm::APFloat(llvm::APFloat::IEEEsingle(), value));
  if (dtype == DType::f64)
    return llvm::ConstantFP::get(t, llvm::APFloat(llvm::APFloat::IEEEdouble(), value));
  return llvm::ConstantInt::get(t, value);
}

Value* Arithmetic::stretch(Value* value, int lanes) {
  int have = lanes_of(value);
  STRATA_CHECK(have == 1 || have == lanes, "{} lanes meet {}", have, lanes);
  return have == lanes ? value : b_.CreateVectorSplat(static_cast<unsigned>(lanes), value);
}

llvm::AllocaInst* Arithmetic::slot(llvm::Type* type) {
  llvm::BasicBlock& entry = b_.GetInsertBlock()->getParent()->getEntryBlock();
  llvm::IRBuilder<> at_entry(&entry, entry.begin());
  return at_entry.CreateAlloca(type);
}

// ---- pieces of the machine's width

Value* Arithmetic::sub_vector(Value* v, int first, int count) {
  std::vector<int> mask(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) mask[static_cast<std::size_t>(i)] = first + i;
  return b_.CreateShuffleVector(v, mask);
}

Value* Arithmetic::joined(Value* low, Value* high) {
  std::vector<int> mask(static_cast<std::size_t>(2 * lanes_of(low)));
  std::iota(mask.begin(), mask.end(), 0);
  return b_.CreateShuffleVector(low, high, mask);
}

Value* Arithmetic::pieces(const std::vector<Value*>& args, int lanes,
                          const std::function<Value*(const std::vector<Value*>&)>& f) {
  int total = lanes_of(args[0]);
  if (total <= lanes) return f(args);
  std::vector<Value*> parts;
  for (int first = 0; first < total; first += lanes) {
    std::vector<Value*> part;
    for (Value* a : args) part.push_back(sub_vector(a, first, lanes));
    parts.push_back(f(part));
  }
  while (parts.size() > 1) {  // concatenate in pairs
    std::vector<Value*> joined;
    for (std::size_t i = 0; i < parts.size(); i += 2)
      joined.push_back(this->joined(parts[i], parts[i + 1]));
    parts = std::move(joined);
  }
  return parts[0];
}

Value* Arithmetic::intrinsic(llvm::Intrinsic::ID id, Value* a) {
  return b_.CreateUnaryIntrinsic(id, a);
}

// ---- one operand

Value* Arithmetic::unary(Opcode code, DType dtype, Value* a) {
  bool is_real = a->getType()->isFPOrFPVectorTy();
  if (half_word(dtype)) {  // held as integers: the sign bit is the sign
    if (code == Opcode::neg) return b_.CreateXor(a, 0x8000);
    if (code == Opcode::abs) return b_.CreateAnd(a, 0x7fff);
  }
  STRATA_CHECK(is_real || !is_float(dtype), "no arithmetic on {}", name(dtype));
  switch (code) {
    case Opcode::neg: return is_real ? b_.CreateFNeg(a) : b_.CreateNeg(a);
    case Opcode::abs:
      if (is_real) return intrinsic(llvm::Intrinsic::fabs, a);
      return is_signed(dtype) ? b_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, a, b_.getFalse())
                              : a;
    case Opcode::not_: return b_.CreateNot(a);
    case Opcode::sqrt: return intrinsic(llvm::Intrinsic::sqrt, a);
    case Opcode::floor: return intrinsic(llvm::Intrinsic::floor, a);
    case Opcode::ceil: return intrinsic(llvm::Intrinsic::ceil, a);
    case Opcode::trunc: return intrinsic(llvm::Intrinsic::trunc, a);
    case Opcode::rint: return intrinsic(llvm::Intrinsic::roundeven, a);
    case Opcode::popcnt: return intrinsic(llvm::Intrinsic::ctpop, a);
    case Opcode::clz: return b_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, a, b_.getFalse());
    default: STRATA_UNREACHABLE("{} is no unary instruction", loop::name(code));
  }
}

// ---- two operands

Value* Arithmetic::binary(Opcode code, DType dtype, Value* a, Value* b) {
  if (a->getType()->isFPOrFPVectorTy()) return float_binary(code, a, b);
  STRATA_CHECK(!is_float(dtype), "no arithmetic on {}", name(dtype));
  return integer_binary(code, dtype, a, b);
}

Value* Arithmetic::float_binary(Opcode code, Value* a, Value* b) {
  switch (code) {
    case Opcode::add: return b_.CreateFAdd(a, b);
    case Opcode::sub: return b_.CreateFSub(a, b);
    case Opcode::mul: return b_.CreateFMul(a, b);
    case Opcode::div: return b_.CreateFDiv(a, b);
    case Opcode::rem: return remainder(a, b);
    case Opcode::min: return extremum(false, a, b);
    case Opcode::max: return extremum(true, a, b);
    default: STRATA_UNREACHABLE("{} is no instruction of floats", loop::name(code));
  }
}

Value* Arithmetic::integer_binary(Opcode code, DType dtype, Value* a, Value* b) {
  bool is_signed = strata::is_signed(dtype);
  llvm::Type* t = a->getType();
  unsigned width = t->getScalarSizeInBits();
  switch (code) {
    case Opcode::add: return b_.CreateAdd(a, b);
    case Opcode::sub: return b_.CreateSub(a, b);
    case Opcode::mul: return b_.CreateMul(a, b);
    case Opcode::div: return divide(false, is_signed, a, b);
    case Opcode::rem: return divide(true, is_signed, a, b);
    case Opcode::min:
      return b_.CreateBinaryIntrinsic(is_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, a,
                                      b);
    case Opcode::max:
      return b_.CreateBinaryIntrinsic(is_signed ? llvm::Intrinsic::smax : llvm::Intrinsic::umax, a,
                                      b);
    case Opcode::and_: return b_.CreateAnd(a, b);
    case Opcode::or_: return b_.CreateOr(a, b);
    case Opcode::xor_: return b_.CreateXor(a, b);
    case Opcode::shl:
    case Opcode::shr: {
      auto* limit = llvm::ConstantInt::get(t, width);
      auto* last = llvm::ConstantInt::get(t, width - 1);
      if (width == 1) {  // a shift by 1 is a shift by the width
        return code == Opcode::shr && is_signed ? a : b_.CreateAnd(a, b_.CreateNot(b));
      }
      if (code == Opcode::shr && is_signed)
        return b_.CreateAShr(a, b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b, last));
      Value* inside = b_.CreateICmpULT(b, limit);
      Value* amount = b_.CreateSelect(inside, b, llvm::Constant::getNullValue(t));
      Value* shifted = code == Opcode::shl ? b_.CreateShl(a, amount) : b_.CreateLShr(a, amount);
      return b_.CreateSelect(inside, shifted, llvm::Constant::getNullValue(t));
    }
    default: STRATA_UNREACHABLE("{} is no instruction of integers", loop::name(code));
  }
}

/// Total division (loop.h): the cases the machine faults on divide by one instead and are chosen
/// over afterwards.
Value* Arithmetic::divide(bool want_remainder, bool is_signed, Value* a, Value* b) {
  llvm::Type* t = a->getType();
  auto* zero = llvm::Constant::getNullValue(t);
  auto* ones = llvm::Constant::getAllOnesValue(t);
  auto* one = llvm::ConstantInt::get(t, 1);
  Value* by_zero = b_.CreateICmpEQ(b, zero);
  Value* unsafe = by_zero;
  if (is_signed && t->getScalarSizeInBits() > 1) {
    auto* lowest =
        llvm::ConstantInt::get(t, llvm::APInt::getSignedMinValue(t->getScalarSizeInBits()));
    unsafe =
        b_.CreateOr(by_zero, b_.CreateAnd(b_.CreateICmpEQ(a, lowest), b_.CreateICmpEQ(b, ones)));
  }
  Value* divisor = b_.CreateSelect(unsafe, one, b);
  bool by_floats =
      lanes_of(a) > 1 && t->getScalarSizeInBits() <= 32 && !llvm::isa<llvm::Constant>(b);
  if (by_floats) {  // the machine has no division of integer vectors
    Value* quotient = divide_by_floats(is_signed, a, divisor);
    if (want_remainder)
      return b_.CreateSelect(by_zero, a, b_.CreateSub(a, b_.CreateMul(quotient, divisor)));
    return b_.CreateSelect(by_zero, ones, quotient);
  }
  if (want_remainder)
    return b_.CreateSelect(by_zero, a,
                           is_signed ? b_.CreateSRem(a, divisor) : b_.CreateURem(a, divisor));
  return b_.CreateSelect(by_zero, ones,
                         is_signed ? b_.CreateSDiv(a, divisor) : b_.CreateUDiv(a, divisor));
}

/// Quotients of at most 32 bits through f64: the rounded quotient of two such integers truncates to
/// the exact one, since a quotient that is no integer differs from the next one by more than half
/// an ulp.
Value* Arithmetic::divide_by_floats(bool is_signed, Value* a, Value* b) {
  llvm::Type* t = like(a, b_.getDoubleTy());
  if (is_signed)
    return b_.CreateFPToSI(b_.CreateFDiv(b_.CreateSIToFP(a, t), b_.CreateSIToFP(b, t)),
                           a->getType());
  return b_.CreateFPToUI(b_.CreateFDiv(b_.CreateUIToFP(a, t), b_.CreateUIToFP(b, t)), a->getType());
}

/// With z = 1 / d rounded, q = x z is off by less than two ulp, r = x - q d tells by how much, and
/// q + r z rounds to x / d (Brisebarre, Muller, Raina 2004), where nothing on the way overflows or
/// is subnormal. Where a lane may, all lanes are divided. z is the same for all strips, and three
/// instructions a vector are far from the time of a division.
Value* Arithmetic::divide_by_uniform(Value* x, Value* d) {
  bool is_double = d->getType()->isDoubleTy();
  int lanes = lanes_of(x), mantissa = is_double ? 52 : 23, bias = is_double ? 1023 : 127;
  int reach = is_double ? 200 : 24, low = is_double ? -400 : -70;
  llvm::Type *t = d->getType(), *word = b_.getIntNTy(t->getScalarSizeInBits());
  auto power = [&](int exponent) { return llvm::ConstantFP::get(t, std::ldexp(1.0, exponent)); };
  auto bits_of_power = [&](int exponent) {
    return llvm::ConstantInt::get(word, std::uint64_t(exponent + bias) << mantissa);
  };
  Value* magnitude = intrinsic(llvm::Intrinsic::fabs, d);
  Value* moderate = b_.CreateAnd(b_.CreateFCmpOGE(magnitude, power(-reach)),
                                 b_.CreateFCmpOLE(magnitude, power(reach)));
  // |x| in [2^low, 2^-low), by bits without the sign, moved to the top
  Value* width = b_.CreateShl(b_.CreateSub(bits_of_power(-low), bits_of_power(low)), 1);
  Value* allowed =
      stretch(b_.CreateSelect(moderate, width, llvm::ConstantInt::get(word, 0)), lanes);
  Value* bits = b_.CreateBitCast(x, like(x, word));
  Value* above =
      b_.CreateSub(b_.CreateAdd(bits, bits), stretch(b_.CreateShl(bits_of_power(low), 1), lanes));
  Value* all = b_.CreateAndReduce(b_.CreateICmpULT(above, allowed));

  llvm::Function* f = b_.GetInsertBlock()->getParent();
  auto block = [&](const char* name) { return llvm::BasicBlock::Create(b_.getContext(), name, f); };
  auto *fast_block = block("div.fast"), *slow_block = block("div.slow"), *done = block("div.done");
  Value *divisors = stretch(d, lanes),
        *inverse = stretch(b_.CreateFDiv(llvm::ConstantFP::get(t, 1.0), d), lanes);
  b_.CreateCondBr(all, fast_block, slow_block,
                  llvm::MDBuilder(b_.getContext()).createBranchWeights(1000, 1));
  b_.SetInsertPoint(fast_block);
  Value* q = b_.CreateFMul(x, inverse);
  Value* fast = fma(fma(b_.CreateFNeg(q), divisors, x), inverse, q);
  b_.CreateBr(done);
  b_.SetInsertPoint(slow_block);
  Value* slow = b_.CreateFDiv(x, divisors);
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
  llvm::PHINode* result = b_.CreatePHI(x->getType(), 2);
  result->addIncoming(fast, fast_block);
  result->addIncoming(slow, slow_block);
  return result;
}

/// One instruction, which LLVM does not find where a side is fenced logic (emit_kernel.cc), an
/// absolute value say.
Value* Arithmetic::extremum_or_second(bool max, Value* a, Value* b) {
  bool is_double = a->getType()->getScalarType()->isDoubleTy();
  int widest = (target_.avx512 ? 64 : 32) / (is_double ? 8 : 4);
  if (lanes_of(a) < (is_double ? 2 : 4))
    return b_.CreateSelect(max ? b_.CreateFCmpOGT(a, b) : b_.CreateFCmpOLT(a, b), a, b);
  return pieces({a, b}, widest, [&](const std::vector<Value*>& v) -> Value* {
    using namespace llvm::Intrinsic;
    static constexpr llvm::Intrinsic::ID kSingle[] = {x86_sse_min_ps,        x86_sse_max_ps,
                                                      x86_avx_min_ps_256,    x86_avx_max_ps_256,
                                                      x86_avx512_min_ps_512, x86_avx512_max_ps_512};
    static constexpr llvm::Intrinsic::ID kDouble[] = {x86_sse2_min_pd,       x86_sse2_max_pd,
                                                      x86_avx_min_pd_256,    x86_avx_max_pd_256,
                                                      x86_avx512_min_pd_512, x86_avx512_max_pd_512};
    int bytes = lanes_of(v[0]) * (is_double ? 8 : 4), width = bytes == 64 ? 2 : bytes == 32 ? 1 : 0;
    std::vector<Value*> args = v;
    if (width == 2) args.push_back(b_.getInt32(4));  // exceptions: as set
    return b_.CreateIntrinsic((is_double ? kDouble : kSingle)[2 * width + max], {}, args);
  });
}

/// min and max: NaN wins, -0 below +0. x86's own instruction returns its second operand for NaNs
/// and equal zeros.
Value* Arithmetic::extremum(bool max, Value* a, Value* b) {
  if (splat_float(b)) std::swap(a, b);
  if (Value* v = extremum_with_constant(max, a, b)) return v;
  Value* ordered = ordered_extremum(max, a, b);
  return b_.CreateSelect(b_.CreateFCmpUNO(a, b), b_.CreateFAdd(a, b), ordered);
}

/// One or two instructions where one side is a number known beforehand, as in relu and clamp.
Value* Arithmetic::extremum_with_constant(bool max, Value* c, Value* x) {
  const llvm::APFloat* value = splat_float(c);
  if (!value || value->isNaN()) return nullptr;
  bool zero_of_other_side =
      value->isZero() && value->isNegative() != max;  // max(x, +0), min(x, -0)
  if (zero_of_other_side && !max) return nullptr;
  Value* chosen = extremum_or_second(max, c, x);
  return zero_of_other_side ? b_.CreateFAdd(chosen, c) : chosen;  // -0 + +0 = +0, all else stays
}

/// min and max of numbers, zeros in order; anything for NaN.
Value* Arithmetic::ordered_extremum(bool max, Value* a, Value* b) {
  int lanes = lanes_of(a);
  bool is_double = a->getType()->getScalarType()->isDoubleTy();
  int native = is_double ? 8 : 16;
  if (target_.avx512 && lanes >= native / 4) {
    return pieces({a, b}, native, [&](const std::vector<Value*>& v) -> Value* {
      int n = lanes_of(v[0]);
      bool full = n == native, half = 2 * n == native;
      using namespace llvm::Intrinsic;
      llvm::Intrinsic::ID id = is_double ? (full   ? x86_avx512_mask_range_pd_512
                                            : half ? x86_avx512_mask_range_pd_256
                                                   : x86_avx512_mask_range_pd_128)
                                         : (full   ? x86_avx512_mask_range_ps_512
                                            : half ? x86_avx512_mask_range_ps_256
                                                   : x86_avx512_mask_range_ps_128);
      Value* all =
          llvm::Constant::getAllOnesValue(full && !is_double ? b_.getInt16Ty() : b_.getInt8Ty());
      std::vector<Value*> args{v[0], v[1], b_.getInt32(max ? 5 : 4),
                               llvm::Constant::getNullValue(v[0]->getType()), all};
      if (full) args.push_back(b_.getInt32(4));  // rounding: as set
      return b_.CreateIntrinsic(id, {}, args);
    });
  }
  Value *first = extremum_or_second(max, a, b), *second = extremum_or_second(max, b, a);
  llvm::Type* bits = like(a, b_.getIntNTy(a->getType()->getScalarSizeInBits()));
  Value* x = b_.CreateBitCast(first, bits);
  Value* y = b_.CreateBitCast(second, bits);
  return b_.CreateBitCast(max ? b_.CreateAnd(x, y) : b_.CreateOr(x, y),
                          a->getType());  // differ only in the sign of zeros
}

/// C's fmod. Where |a / b| is small the quotient's integer part is right or one too large, and a -
/// q * b is exact in one fma; a step back mends the latter. Other lanes (huge quotients,
/// infinities, zeros, NaN) go to the library. A scalar below the divisor is the remainder: a branch
/// for that spares loops that wrap around now and then the division.
Value* Arithmetic::remainder(Value* a, Value* b) {
  llvm::Type* t = a->getType();
  llvm::Function* f = b_.GetInsertBlock()->getParent();
  auto block = [&](const char* name) { return llvm::BasicBlock::Create(b_.getContext(), name, f); };
  auto *fast_block = block("rem.fast"), *slow_block = block("rem.slow"), *done = block("rem.done");
  llvm::BasicBlock* below_block = nullptr;
  Value* magnitude_a = intrinsic(llvm::Intrinsic::fabs, a);
  Value* magnitude_b = intrinsic(llvm::Intrinsic::fabs, b);
  Value* below = b_.CreateFCmpOLT(magnitude_a, magnitude_b);  // also a finite a and an infinite b
  if (lanes_of(a) == 1) {
    below_block = b_.GetInsertBlock();
    auto* above = block("rem.above");
    b_.CreateCondBr(below, done, above);
    b_.SetInsertPoint(above);
  }
  Value* ratio = b_.CreateFDiv(magnitude_a, magnitude_b);
  Value* fast = b_.CreateFCmpOLT(
      ratio, llvm::ConstantFP::get(t, t->getScalarType()->isDoubleTy() ? 0x1p51 : 0x1p22));
  b_.CreateCondBr(lanes_of(a) > 1 ? b_.CreateAndReduce(fast) : fast, fast_block, slow_block);

  b_.SetInsertPoint(fast_block);
  Value* rest =
      fma(b_.CreateFNeg(intrinsic(llvm::Intrinsic::trunc, ratio)), magnitude_b, magnitude_a);
  Value* mended = b_.CreateSelect(b_.CreateFCmpOLT(rest, llvm::Constant::getNullValue(t)),
                                  b_.CreateFAdd(rest, magnitude_b), rest);
  Value* quick = b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign,
                                          b_.CreateSelect(below, magnitude_a, mended), a);
  b_.CreateBr(done);

  b_.SetInsertPoint(slow_block);
  Value* slow = remainder_call(a, b);
  b_.CreateBr(done);

  b_.SetInsertPoint(done);
  llvm::PHINode* result = b_.CreatePHI(t, 3);
  if (below_block) result->addIncoming(a, below_block);
  result->addIncoming(quick, fast_block);
  result->addIncoming(slow, slow_block);
  return result;
}

Value* Arithmetic::remainder_call(Value* a, Value* b) {
  bool is_double = a->getType()->getScalarType()->isDoubleTy();
  llvm::AllocaInst* x = slot(a->getType());
  llvm::AllocaInst* y = slot(a->getType());
  b_.CreateStore(a, x);
  b_.CreateStore(b, y);
  llvm::Module* module = b_.GetInsertBlock()->getModule();
  auto* signature = llvm::FunctionType::get(b_.getVoidTy(),
                                            {b_.getPtrTy(), b_.getPtrTy(), b_.getInt64Ty()}, false);
  auto callee =
      module->getOrInsertFunction(is_double ? "strata_fmod_f64" : "strata_fmod_f32", signature);
  b_.CreateCall(callee, {x, y, b_.getInt64(static_cast<std::uint64_t>(lanes_of(a)))});
  return b_.CreateLoad(a->getType(), x);
}

// ---- comparison, conversion

Value* Arithmetic::compare(Compare compare, DType dtype, Value* a, Value* b) {
  using P = llvm::CmpInst::Predicate;
  if (half_word(dtype))
    return this->compare(compare, DType::f32, convert(dtype, DType::f32, a),
                         convert(dtype, DType::f32, b));
  if (a->getType()->isFPOrFPVectorTy()) {
    static constexpr P kFloat[] = {P::FCMP_OEQ, P::FCMP_UNE, P::FCMP_OLT,
                                   P::FCMP_OLE, P::FCMP_OGT, P::FCMP_OGE};
    return b_.CreateFCmp(kFloat[static_cast<int>(compare)], a, b);
  }
  STRATA_CHECK(!is_float(dtype), "no comparison of {}", name(dtype));
  static constexpr P kSigned[] = {P::ICMP_EQ,  P::ICMP_NE,  P::ICMP_SLT,
                                  P::ICMP_SLE, P::ICMP_SGT, P::ICMP_SGE};
  static constexpr P kUnsigned[] = {P::ICMP_EQ,  P::ICMP_NE,  P::ICMP_ULT,
                                    P::ICMP_ULE, P::ICMP_UGT, P::ICMP_UGE};
  return b_.CreateICmp((is_signed(dtype) ? kSigned : kUnsigned)[static_cast<int>(compare)], a, b);
}

Value* Arithmetic::from_bf16(Value* a) {
  Value* wide = b_.CreateZExt(a, like(a, b_.getInt32Ty()));
  return b_.CreateBitCast(b_.CreateShl(wide, 16), like(a, b_.getFloatTy()));
}

/// Fenced, or else LLVM brings what is done with the result (a comparison, a conversion) back to
/// halves, of which processors below AVX512-FP16 compare and convert one at a time: forty times
/// slower, and wrong on vectors of sixteen (logarithms of negative numbers).
Value* Arithmetic::from_f16(Value* a) {
  Value* wide =
      b_.CreateFPExt(b_.CreateBitCast(a, like(a, b_.getHalfTy())), like(a, b_.getFloatTy()));
  return b_.CreateIntrinsic(llvm::Intrinsic::arithmetic_fence, {wide->getType()}, {wide});
}

/// Ties to even by integer arithmetic, NaN kept quiet (type/float.h: bf16_bits). The low half goes
/// last, so that widening the result again only masks it.
Value* Arithmetic::to_bf16(Value* a) {
  llvm::Type* word = like(a, b_.getInt32Ty());
  auto number = [&](std::uint32_t v) { return llvm::ConstantInt::get(word, v); };
  Value* u = b_.CreateBitCast(a, word);
  Value* odd = b_.CreateAnd(b_.CreateLShr(u, number(16)), number(1));
  Value* rounded = b_.CreateAdd(u, b_.CreateAdd(odd, number(0x7fff)));
  const bool has_gathers = target_.avx512 && lanes_of(a) >= 4;
  Value* chosen = has_gathers ? or_quiet_nan(rounded, a)
                              : b_.CreateSelect(b_.CreateFCmpUNO(a, a),
                                                b_.CreateOr(u, number(0x400000)), rounded);
  return b_.CreateTrunc(b_.CreateLShr(chosen, number(16)), like(a, b_.getInt16Ty()));
}

/// `otherwise` (words), but where `a` is NaN that one, quiet: one instruction, which looks the
/// answer up by the kind of number that `a` is.
Value* Arithmetic::or_quiet_nan(Value* otherwise, Value* a) {
  constexpr std::uint32_t kQuiet =
      0x22;  // of quiet and of signalling NaN; the others keep what is there
  return pieces({otherwise, a}, 16, [&](const std::vector<Value*>& v) -> Value* {
    using namespace llvm::Intrinsic;
    const int n = lanes_of(v[0]);
    const auto id = n == 16  ? x86_avx512_mask_fixupimm_ps_512
                    : n == 8 ? x86_avx512_mask_fixupimm_ps_256
                             : x86_avx512_mask_fixupimm_ps_128;
    std::vector<Value*> args{b_.CreateBitCast(v[0], v[1]->getType()), v[1],
                             b_.CreateVectorSplat(static_cast<unsigned>(n), b_.getInt32(kQuiet)),
                             b_.getInt32(0)};
    args.push_back(n == 16 ? static_cast<Value*>(b_.getInt16(0xffff)) : b_.getInt8(0xff));
    if (n == 16) args.push_back(b_.getInt32(4));  // the rounding that is set
    return b_.CreateBitCast(b_.CreateIntrinsic(id, {}, args), v[0]->getType());
  });
}

/// Floats as integers of at most 16 bits: clamped before they are converted, since processors
/// convert to 32 bits and saturate nowhere.
Value* Arithmetic::to_narrow(DType to, Value* a) {
  const int bits = bit_width(to);
  const double low = is_signed(to) ? -std::ldexp(1.0, bits - 1) : 0,
               high = std::ldexp(1.0, is_signed(to) ? bits - 1 : bits) - 1;
  auto number = [&](double v) { return llvm::ConstantFP::get(a->getType(), v); };
  Value* above = b_.CreateSelect(b_.CreateFCmpOLT(a, number(low)), number(low), a);
  Value* within = b_.CreateSelect(b_.CreateFCmpOGT(above, number(high)), number(high), above);
  Value* known = b_.CreateSelect(b_.CreateFCmpUNO(a, a), number(0), within);
  return b_.CreateTrunc(b_.CreateFPToSI(known, like(a, b_.getInt32Ty())), like(a, type(to, 1)));
}

/// Floats as integers of 32 bits and more. What is beyond them, and no number, is chosen after:
/// LLVM's own saturating conversions take the elements of a vector one at a time.
Value* Arithmetic::to_wide(DType to, Value* a) {
  llvm::Type* t = like(a, type(to, 1));
  const int bits = bit_width(to);
  const bool with_sign = is_signed(to);
  if (lanes_of(a) == 1)
    return b_.CreateIntrinsic(with_sign ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat,
                              {t, a->getType()}, {a});
  auto number = [&](double v) { return llvm::ConstantFP::get(a->getType(), v); };
  auto integer = [&](const llvm::APInt& v) { return llvm::ConstantInt::get(t, v); };
  Value* whole = with_sign ? b_.CreateFPToSI(a, t) : b_.CreateFPToUI(a, t);
  Value* most =
      integer(with_sign ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits));
  whole = b_.CreateSelect(b_.CreateFCmpOGE(a, number(std::ldexp(1.0, with_sign ? bits - 1 : bits))),
                          most, whole);
  if (!with_sign)
    return b_.CreateSelect(b_.CreateFCmpOGE(a, number(0)), whole,
                           integer(llvm::APInt::getZero(bits)));
  whole = b_.CreateSelect(b_.CreateFCmpOLT(a, number(-std::ldexp(1.0, bits - 1))),
                          integer(llvm::APInt::getSignedMinValue(bits)), whole);
  return b_.CreateSelect(b_.CreateFCmpUNO(a, a), integer(llvm::APInt::getZero(bits)), whole);
}

Value* Arithmetic::convert(DType from, DType to, Value* a) {
  if (from == to) return a;
  if (half_word(from)) {
    return convert(DType::f32, to, from == DType::bf16 ? from_bf16(a) : from_f16(a));
  }
  if (half_word(to)) {
    Value* single = convert(from, DType::f32, a);
    if (to == DType::bf16) return to_bf16(single);
    return b_.CreateBitCast(b_.CreateFPTrunc(single, like(a, b_.getHalfTy())),
                            like(a, b_.getInt16Ty()));
  }
  llvm::Type* t = like(a, type(to, 1));
  bool real_from = a->getType()->isFPOrFPVectorTy(), real_to = t->isFPOrFPVectorTy();
  STRATA_CHECK((real_from || !is_float(from)) && (real_to || !is_float(to)),
               "no conversion from {} to {}", name(from), name(to));
  if (to == DType::i1) {
    auto* zero = llvm::Constant::getNullValue(a->getType());
    return real_from ? b_.CreateFCmpUNE(a, zero) : b_.CreateICmpNE(a, zero);
  }
  if (real_from && real_to)
    return from == DType::f32 ? b_.CreateFPExt(a, t) : b_.CreateFPTrunc(a, t);
  if (real_to) return is_signed(from) ? b_.CreateSIToFP(a, t) : b_.CreateUIToFP(a, t);
  if (real_from && bit_width(to) <= 16) return to_narrow(to, a);
  if (real_from) return to_wide(to, a);
  return is_signed(from) ? b_.CreateSExtOrTrunc(a, t) : b_.CreateZExtOrTrunc(a, t);
}

// ---- products and reductions

Value* Arithmetic::fma(Value* a, Value* b, Value* c) {
  return b_.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c});
}

Value* Arithmetic::scale(Value* x, Value* k, Value* power) {
  int lanes = lanes_of(x);
  bool is_double = x->getType()->getScalarType()->isDoubleTy();
  int native = is_double ? 8 : 16;
  if (target_.avx512 && lanes >= native / 4) {
    return pieces({x, k}, native, [&](const std::vector<Value*>& v) -> Value* {
      using namespace llvm::Intrinsic;
      bool full = lanes_of(v[0]) == native, half = 2 * lanes_of(v[0]) == native;
      auto id = is_double ? (full   ? x86_avx512_mask_scalef_pd_512
                             : half ? x86_avx512_mask_scalef_pd_256
                                    : x86_avx512_mask_scalef_pd_128)
                          : (full   ? x86_avx512_mask_scalef_ps_512
                             : half ? x86_avx512_mask_scalef_ps_256
                                    : x86_avx512_mask_scalef_ps_128);
      Value* all =
          llvm::Constant::getAllOnesValue(full && !is_double ? b_.getInt16Ty() : b_.getInt8Ty());
      std::vector<Value*> args{v[0], v[1], llvm::Constant::getNullValue(v[0]->getType()), all};
      if (full) args.push_back(b_.getInt32(4));  // rounding: as set
      return b_.CreateIntrinsic(id, {}, args);
    });
  }
  auto power_of_two = [&](Value* biased) {
    return b_.CreateBitCast(b_.CreateShl(biased, is_double ? 52 : 23), x->getType());
  };
  Value* half = b_.CreateAShr(power, 1);
  return b_.CreateFMul(b_.CreateFMul(x, power_of_two(half)),
                       power_of_two(b_.CreateSub(power, half)));
}

/// AVX2 permutes eight; the bits above choose between the eights, each as the sign that a blend
/// looks at.
Value* Arithmetic::lookup_by_eights(Value* index, const std::vector<llvm::Constant*>& table) {
  llvm::ArrayRef<llvm::Constant*> entries(table);
  std::vector<Value*> parts;
  for (std::size_t i = 0; i < table.size(); i += 8)
    parts.push_back(b_.CreateIntrinsic(llvm::Intrinsic::x86_avx2_permps, {},
                                       {llvm::ConstantVector::get(entries.slice(i, 8)), index}));
  for (std::uint64_t bit = 3; parts.size() > 1; ++bit) {
    Value* sign = b_.CreateBitCast(b_.CreateShl(index, 31 - bit), parts[0]->getType());
    for (std::size_t i = 0; i < parts.size() / 2; ++i)
      parts[i] = b_.CreateIntrinsic(llvm::Intrinsic::x86_avx_blendv_ps_256, {},
                                    {parts[2 * i], parts[2 * i + 1], sign});
    parts.resize(parts.size() / 2);
  }
  return parts[0];
}

/// Two registers of entries in one permutation: 16 with registers of 8 lanes, 32 with those of 16.
Value* Arithmetic::lookup_in_two(Value* index, const std::vector<llvm::Constant*>& table) {
  llvm::ArrayRef<llvm::Constant*> entries(table);
  std::size_t half = table.size() / 2;
  Value *low = llvm::ConstantVector::get(entries.take_front(half)),
        *high = llvm::ConstantVector::get(entries.drop_front(half));
  auto id = half == 16 ? llvm::Intrinsic::x86_avx512_vpermi2var_ps_512
                       : llvm::Intrinsic::x86_avx512_vpermi2var_ps_256;
  return b_.CreateIntrinsic(id, {}, {low, index, high});
}

Value* Arithmetic::lookup(Value* index, const std::vector<llvm::Constant*>& table) {
  int lanes = lanes_of(index);
  auto by = [&](int width, auto&& permute) {
    return pieces({index}, width, [&](const std::vector<Value*>& v) { return permute(v[0]); });
  };
  if (target_.avx512 && lanes % 16 == 0 && (table.size() == 8 || table.size() == 16)) {
    std::vector<llvm::Constant*> sixteen = table;
    if (table.size() == 8) sixteen.insert(sixteen.end(), table.begin(), table.end());
    return by(16, [&](Value* at) -> Value* {
      return b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_permvar_sf_512, {},
                                {llvm::ConstantVector::get(sixteen), at});
    });
  }
  if (target_.avx512 && table.size() >= 16 && lanes % static_cast<int>(table.size() / 2) == 0)
    return by(static_cast<int>(table.size() / 2),
              [&](Value* at) { return lookup_in_two(at, table); });
  if (lanes % 8 == 0 && table.size() % 8 == 0)
    return by(8, [&](Value* at) { return lookup_by_eights(at, table); });
  auto* type = llvm::ArrayType::get(b_.getFloatTy(), table.size());
  auto* global = new llvm::GlobalVariable(*b_.GetInsertBlock()->getModule(), type, true,
                                          llvm::GlobalValue::PrivateLinkage,
                                          llvm::ConstantArray::get(type, table), "table");
  Value* chosen =
      b_.CreateZExt(b_.CreateAnd(index, table.size() - 1), like(index, b_.getInt64Ty()));
  auto entry = [&](Value* number) {
    return b_.CreateLoad(b_.getFloatTy(), b_.CreateGEP(b_.getFloatTy(), global, number));
  };
  if (lanes == 1) return entry(chosen);
  Value* out = llvm::PoisonValue::get(like(index, b_.getFloatTy()));
  for (std::uint64_t lane = 0; lane < static_cast<std::uint64_t>(lanes); ++lane)
    out = b_.CreateInsertElement(out, entry(b_.CreateExtractElement(chosen, lane)), lane);
  return out;
}

/// By a permutation that a table has for each mask of eight lanes; of sixteen, the second half is
/// turned behind the first.
Value* Arithmetic::compress_by_eights(Value* mask, Value* x) {
  const int lanes = lanes_of(x);
  llvm::Type* eight = widened(b_.getInt32Ty(), 8);
  std::vector<llvm::Constant*> numbers;
  for (std::uint32_t i = 0; i < 8; ++i) numbers.push_back(b_.getInt32(i));
  Value *count = llvm::ConstantVector::get(numbers), *zero = llvm::Constant::getNullValue(eight);
  auto permuted = [&](Value* v, Value* by) {
    return b_.CreateIntrinsic(llvm::Intrinsic::x86_avx2_permd, {}, {v, by});
  };
  auto all = [&](Value* n) { return b_.CreateVectorSplat(8, n); };
  auto together = [&](Value* some, Value* v) {
    Value* number = b_.CreateZExt(b_.CreateBitCast(some, b_.getInt8Ty()), b_.getInt64Ty());
    Value* places = b_.CreateLoad(
        b_.getInt64Ty(),
        b_.CreateGEP(b_.getInt64Ty(), places_of_bits(*b_.GetInsertBlock()->getModule()), number));
    return permuted(v, b_.CreateZExt(b_.CreateBitCast(places, widened(b_.getInt8Ty(), 8)), eight));
  };
  auto many = [&](Value* some) { return all(b_.CreateTrunc(chosen(some), b_.getInt32Ty())); };
  Value *low_mask = sub_vector(mask, 0, 8), *low = together(low_mask, sub_vector(x, 0, 8)),
        *in_low = many(low_mask);
  if (lanes == 8) return b_.CreateSelect(b_.CreateICmpULT(count, in_low), low, zero);
  Value *high_mask = sub_vector(mask, 8, 8), *in_all = b_.CreateAdd(in_low, many(high_mask));
  Value* high = permuted(together(high_mask, sub_vector(x, 8, 8)),
                         b_.CreateSub(count, in_low));  // by the low bits: turned around
  auto half = [&](std::uint32_t begin) {
    Value* at = b_.CreateAdd(count, all(b_.getInt32(begin)));
    Value* behind = b_.CreateSelect(b_.CreateICmpULT(at, in_all), high, zero);
    return begin ? behind : b_.CreateSelect(b_.CreateICmpULT(at, in_low), low, behind);
  };
  Value* first = half(0);
  return joined(first, half(8));
}

Value* Arithmetic::compress(Value* mask, Value* x) {
  llvm::Type* type = x->getType();
  Value* zero = llvm::Constant::getNullValue(type);
  const int lanes = lanes_of(x);
  if (lanes == 1) return b_.CreateSelect(mask, x, zero);
  const unsigned bits = type->getScalarSizeInBits();
  if (lanes == 8 || lanes == 16) {
    llvm::Type *integers = like(x, b_.getIntNTy(bits)), *words = like(x, b_.getInt32Ty());
    Value* given = b_.CreateBitCast(x, integers);
    auto of_words = [&](Value* w) {
      return target_.avx512 ? b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_compress, {words},
                                                 {w, llvm::Constant::getNullValue(words), mask})
                            : compress_by_eights(mask, w);
    };
    if (bits <= 32)
      return b_.CreateBitCast(b_.CreateTrunc(of_words(b_.CreateZExt(given, words)), integers),
                              type);
    Value *low = of_words(b_.CreateTrunc(given, words)),
          *high = of_words(b_.CreateTrunc(b_.CreateLShr(given, 32), words));
    return b_.CreateBitCast(
        b_.CreateOr(b_.CreateZExt(low, integers), b_.CreateShl(b_.CreateZExt(high, integers), 32)),
        type);
  }
  // Each lane goes where the next one chosen belongs; the next lane writes over what is not.
  llvm::Type* element = type->getScalarType();
  Value *all = slot(type), *at = b_.getInt64(0);
  b_.CreateStore(zero, all);
  for (std::uint64_t lane = 0; lane < static_cast<std::uint64_t>(lanes); ++lane) {
    Value* is_chosen = b_.CreateExtractElement(mask, lane);
    b_.CreateStore(b_.CreateSelect(is_chosen, b_.CreateExtractElement(x, lane),
                                   llvm::Constant::getNullValue(element)),
                   b_.CreateGEP(element, all, at));
    at = b_.CreateAdd(at, b_.CreateZExt(is_chosen, b_.getInt64Ty()));
  }
  return b_.CreateLoad(type, all);
}

Value* Arithmetic::chosen(Value* mask) {
  const int lanes = lanes_of(mask);
  if (lanes == 1) return b_.CreateZExt(mask, b_.getInt64Ty());
  Value* bits = b_.CreateBitCast(mask, b_.getIntNTy(static_cast<unsigned>(lanes)));
  return b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, b_.CreateZExt(bits, b_.getInt64Ty()));
}

Value* Arithmetic::integer_dot2(Value* acc, Value* a, Value* b) {
  const int lanes = lanes_of(acc);
  if (lanes < 4) {
    auto low = [&](Value* v) { return b_.CreateAShr(b_.CreateShl(v, 16), 16); };
    auto high = [&](Value* v) { return b_.CreateAShr(v, 16); };
    return b_.CreateAdd(acc,
                        b_.CreateAdd(b_.CreateMul(low(a), low(b)), b_.CreateMul(high(a), high(b))));
  }
  Value* both =
      pieces({a, b}, target_.avx512 ? 16 : 8, [&](const std::vector<Value*>& v) -> Value* {
        using namespace llvm::Intrinsic;
        const int n = lanes_of(v[0]);
        const auto id = n == 16  ? x86_avx512_pmaddw_d_512
                        : n == 8 ? x86_avx2_pmadd_wd
                                 : x86_sse2_pmadd_wd;
        llvm::Type* halves =
            llvm::FixedVectorType::get(b_.getInt16Ty(), static_cast<unsigned>(2 * n));
        return b_.CreateIntrinsic(id, {},
                                  {b_.CreateBitCast(v[0], halves), b_.CreateBitCast(v[1], halves)});
      });
  return b_.CreateAdd(acc, both);
}

Value* Arithmetic::dot2(DType dtype, Value* acc, Value* a, Value* b) {
  if (dtype == DType::i32) return integer_dot2(acc, a, b);
  int lanes = lanes_of(acc);
  if (target_.avx512bf16 && lanes >= 4) {
    return pieces({acc, a, b}, 16, [&](const std::vector<Value*>& v) -> Value* {
      using namespace llvm::Intrinsic;
      int n = lanes_of(v[0]);
      auto id = n == 16  ? x86_avx512bf16_dpbf16ps_512
                : n == 8 ? x86_avx512bf16_dpbf16ps_256
                         : x86_avx512bf16_dpbf16ps_128;
      llvm::Type* pairs =
          llvm::FixedVectorType::get(b_.getBFloatTy(), static_cast<unsigned>(2 * n));
      return b_.CreateIntrinsic(
          id, {}, {v[0], b_.CreateBitCast(v[1], pairs), b_.CreateBitCast(v[2], pairs)});
    });
  }
  llvm::Type* t = acc->getType();
  auto low = [&](Value* v) { return b_.CreateBitCast(b_.CreateShl(v, 16), t); };
  auto high = [&](Value* v) { return b_.CreateBitCast(b_.CreateAnd(v, 0xffff0000u), t); };
  return fma(high(a), high(b), fma(low(a), low(b), acc));
}

Value* Arithmetic::dot4(Value* acc, Value* a, Value* b) {
  if (target_.vnni && lanes_of(acc) >= 4)
    return pieces({acc, a, b}, 16, [&](const std::vector<Value*>& v) -> Value* {
      using namespace llvm::Intrinsic;
      const int n = lanes_of(v[0]);
      const auto id = n == 16  ? x86_avx512_vpdpbusd_512
                      : n == 8 ? x86_avx512_vpdpbusd_256
                               : x86_avx512_vpdpbusd_128;
      return b_.CreateIntrinsic(id, {}, {v[0], v[1], v[2]});
    });
  for (std::uint64_t byte = 0; byte < 4; ++byte) {
    Value* unsigned_byte = b_.CreateAnd(b_.CreateLShr(a, 8 * byte), 255);
    Value* signed_byte = b_.CreateAShr(b_.CreateShl(b, 24 - 8 * byte), 24);
    acc = b_.CreateAdd(acc, b_.CreateMul(unsigned_byte, signed_byte));
  }
  return acc;
}

Value* Arithmetic::reduce(Opcode combiner, DType dtype, Value* a) {
  for (int lanes = lanes_of(a); lanes > 2; lanes /= 2) {
    a = binary(combiner, dtype, sub_vector(a, 0, lanes / 2), sub_vector(a, lanes / 2, lanes / 2));
  }
  if (lanes_of(a) == 1) return a;
  return binary(combiner, dtype, b_.CreateExtractElement(a, std::uint64_t{0}),
                b_.CreateExtractElement(a, std::uint64_t{1}));
}

}  // namespace strata::compile
