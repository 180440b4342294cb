#include "strata/compile/llvm/emit/emit_kernel.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Module.h>

#include <map>
#include <span>
#include <unordered_map>

#include "strata/base/check.h"
#include "strata/compile/llvm/emit/arithmetic.h"
#include "strata/compile/llvm/emit/memory.h"
#include "strata/loop/compress.h"
#include "strata/loop/lanes.h"
#include "strata/loop/lookup.h"
#include "strata/loop/scale.h"
#include "strata/loop/tiles.h"

namespace strata::compile {
namespace {

using llvm::Value;
using loop::Body;
using loop::Index;
using loop::Inst;
using loop::Opcode;

/// Prints one kernel. A `vector` body is printed twice where its extent leaves a rest: as a loop of
/// whole strips, and once under a mask of the lanes that are left.
class KernelEmitter {
 public:
  KernelEmitter(const loop::Kernel& kernel, llvm::Module& module, const CpuTarget& target)
      : kernel_(kernel),
        module_(module),
        b_(module.getContext()),
        math_(b_, target),
        values_(kernel.arena.size(), nullptr),
        memory_(b_, math_, [this](const Inst* i) { return value(i); }) {}

  llvm::Function* emit(std::string_view symbol, const CpuTarget& target) {
    auto* signature = llvm::FunctionType::get(
        b_.getVoidTy(), {b_.getPtrTy(), b_.getInt64Ty(), b_.getInt64Ty()}, false);
    function_ = llvm::Function::Create(signature, llvm::Function::ExternalLinkage,
                                       llvm::StringRef(symbol.data(), symbol.size()), module_);
    function_->addFnAttr(llvm::Attribute::NoUnwind);
    set_target(*function_, target);
    b_.SetInsertPoint(llvm::BasicBlock::Create(b_.getContext(), "entry", function_));
    auto* body = llvm::BasicBlock::Create(b_.getContext(), "body", function_);
    b_.SetInsertPoint(body);
    bind_buffers();
    grid();
    memory_.finish();
    b_.CreateRetVoid();
    llvm::IRBuilder<>(&function_->getEntryBlock()).CreateBr(body);
    return function_;
  }

 private:
  void bind_buffers() {
    std::size_t number = 0;
    std::int64_t scratch_bytes = 0;
    std::vector<std::pair<const loop::Ref*, std::int64_t>> scratch;
    for (const auto& ref : kernel_.refs) {
      if (ref->mode == loop::Ref::Mode::scratch) {
        scratch.emplace_back(ref.get(), scratch_bytes);
        scratch_bytes +=
            (ref->size * static_cast<std::int64_t>(byte_width(ref->dtype)) + 63) / 64 * 64;
        continue;
      }
      Value* place = b_.CreateConstGEP1_64(b_.getPtrTy(), function_->getArg(0), number++);
      memory_.bind(ref.get(), b_.CreateLoad(b_.getPtrTy(), place));
    }
    memory_.keep_apart(kernel_);
    if (scratch.empty()) return;
    Value* base = scratch_base(scratch_bytes);
    for (auto [ref, offset] : scratch)
      memory_.bind(ref,
                   b_.CreateConstGEP1_64(b_.getInt8Ty(), base, static_cast<std::uint64_t>(offset)));
  }

  /// Small scratch is on the stack, large scratch in the thread's own block.
  Value* scratch_base(std::int64_t bytes) {
    constexpr std::int64_t kStackBytes = 256 << 10;
    if (bytes <= kStackBytes) {
      llvm::AllocaInst* slot =
          math_.slot(llvm::ArrayType::get(b_.getInt8Ty(), static_cast<std::uint64_t>(bytes)));
      slot->setAlignment(llvm::Align(64));
      return slot;
    }
    auto callee = module_.getOrInsertFunction(
        "strata_scratch", llvm::FunctionType::get(b_.getPtrTy(), {b_.getInt64Ty()}, false));
    return b_.CreateCall(callee, {b_.getInt64(static_cast<std::uint64_t>(bytes))});
  }

  void grid() {
    auto run_point = [&](Value* g) {
      if (kernel_.grid_index) values_[static_cast<std::size_t>(kernel_.grid_index->id)] = g;
      body(kernel_.body);
    };
    if (kernel_.grid == 1) return run_point(b_.getInt64(0));
    counted(function_->getArg(1), function_->getArg(2), 1, run_point);
  }

  /// for (i = begin; i < end; i += step) f(i), the test at the bottom.
  void counted(Value* begin, Value* end, std::int64_t step, const std::function<void(Value*)>& f) {
    auto* preheader = b_.GetInsertBlock();
    auto* loop = llvm::BasicBlock::Create(b_.getContext(), "loop", function_);
    auto* exit = llvm::BasicBlock::Create(b_.getContext(), "exit", function_);
    b_.CreateCondBr(b_.CreateICmpSLT(begin, end), loop, exit);
    b_.SetInsertPoint(loop);
    llvm::PHINode* i = b_.CreatePHI(b_.getInt64Ty(), 2);
    i->addIncoming(begin, preheader);
    f(i);
    Value* next = b_.CreateAdd(i, b_.getInt64(static_cast<std::uint64_t>(step)), "", false, true);
    i->addIncoming(next, b_.GetInsertBlock());
    b_.CreateCondBr(b_.CreateICmpSLT(next, end), loop, exit);
    b_.SetInsertPoint(exit);
  }

  /// Stores go together, behind what they read of locals: one question of where their memory is
  /// does for all.
  void body(const Body& body) {
    std::vector<const Inst*> stores;
    auto store_all = [&] {
      memory_.store(stores);
      stores.clear();
    };
    for (const Inst* i : body.insts) {
      if (i->code == Opcode::store) {
        stores.push_back(i);
      } else {
        if (i->code != Opcode::get) store_all();
        instruction(*i);
      }
    }
    store_all();
  }

  void instruction(const Inst& i) {
    switch (i.code) {
      case Opcode::for_: return for_loop(i);
      case Opcode::vector: return vector_loop(i);
      case Opcode::if_: return branch(i);
      case Opcode::while_: return while_loop(i);
      case Opcode::local: {
        llvm::AllocaInst* slot = math_.slot(math_.type(i.type.dtype, i.type.lanes));
        b_.CreateStore(stretched(i.args[0], i.type.lanes), slot);
        values_[static_cast<std::size_t>(i.id)] = slot;
        made_under_[&i] = memory_.mask();
        return;
      }
      case Opcode::set: return assign(i);
      case Opcode::fetch: return memory_.fetch(i);
      default: values_[static_cast<std::size_t>(i.id)] = compute(i);
    }
  }

  Value* compute(const Inst& i) {
    DType dtype = i.type.dtype;
    int lanes = i.type.lanes;
    auto arg = [&](std::size_t n) { return stretched(i.args[n], lanes); };
    switch (i.code) {
      case Opcode::constant: return math_.stretch(math_.constant(dtype, i.bits), lanes);
      case Opcode::neg:
      case Opcode::abs:
      case Opcode::not_:
      case Opcode::sqrt:
      case Opcode::floor:
      case Opcode::ceil:
      case Opcode::trunc:
      case Opcode::rint:
      case Opcode::popcnt:
      case Opcode::clz: return math_.unary(i.code, dtype, arg(0));
      case Opcode::div:
        if (by_uniform(i)) return math_.divide_by_uniform(arg(0), value(i.args[1]));
        [[fallthrough]];
      case Opcode::rem:
        if (Value* narrow = narrow_division(i)) return narrow;
        if (Value* quotient = division_by_size(i)) return quotient;
        [[fallthrough]];
      case Opcode::add:
      case Opcode::sub:
      case Opcode::mul:
      case Opcode::min:
      case Opcode::max:
      case Opcode::and_:
      case Opcode::or_:
      case Opcode::xor_:
      case Opcode::shl:
      case Opcode::shr: return math_.binary(i.code, dtype, arg(0), arg(1));
      case Opcode::fma: return math_.fma(arg(0), arg(1), arg(2));
      case Opcode::dot2: return math_.dot2(dtype, arg(0), arg(1), arg(2));
      case Opcode::dot4: return math_.dot4(arg(0), arg(1), arg(2));
      case Opcode::cmp: return math_.compare(i.compare, i.args[0]->type.dtype, arg(0), arg(1));
      case Opcode::select: {
        if (Value* chosen = smaller_or_larger(i)) return chosen;
        Value* pred = value(i.args[0]);
        return b_.CreateSelect(pred, fenced(i.args[1], arg(1)), fenced(i.args[2], arg(2)));
      }
      case Opcode::convert: return math_.convert(i.args[0]->type.dtype, dtype, arg(0));
      case Opcode::bitcast: return b_.CreateBitCast(arg(0), math_.type(dtype, lanes));
      case Opcode::index: return memory_.index_value(i.index);
      case Opcode::load: return memory_.load(i);
      case Opcode::get: return b_.CreateLoad(math_.type(dtype, lanes), value(i.var));
      case Opcode::reduce: return reduce(i);
      case Opcode::extract: {
        Value* v = value(i.args[0]);
        return lanes_of(v) == 1 ? v : b_.CreateExtractElement(v, i.bits);
      }
      case Opcode::call: return call(i);
      case Opcode::local:
      case Opcode::set:
      case Opcode::store:
      case Opcode::fetch:
      case Opcode::for_:
      case Opcode::vector:
      case Opcode::if_:
      case Opcode::while_: break;
    }
    STRATA_UNREACHABLE("{} has no value", loop::name(i.code));
  }

  /// Whether lanes of floats are divided by one number (powers of two are LLVM's own), often enough
  /// that its inverse is worth while.
  bool by_uniform(const Inst& i) const {
    const Inst& divisor = *i.args[1];
    bool wide = i.type.lanes >= 8 && divisor.type.lanes == 1 &&
                (i.type.dtype == DType::f32 || i.type.dtype == DType::f64);
    std::uint64_t mantissa =
        i.type.dtype == DType::f32 ? (std::uint64_t{1} << 23) - 1 : (std::uint64_t{1} << 52) - 1;
    return wide && long_loop_ &&
           !(divisor.code == Opcode::constant && (divisor.bits & mantissa) == 0);
  }

  /// A choice between two floats by which is smaller or larger; null for others.
  Value* smaller_or_larger(const Inst& i) {
    const Inst& by = *i.args[0];
    if (by.code != Opcode::cmp ||
        (by.compare != loop::Compare::lt && by.compare != loop::Compare::gt))
      return nullptr;
    if (DType dtype = i.args[1]->type.dtype; dtype != DType::f32 && dtype != DType::f64)
      return nullptr;
    bool larger = by.compare == loop::Compare::gt,
         same = i.args[1] == by.args[0] && i.args[2] == by.args[1];
    bool turned = i.args[1] == by.args[1] && i.args[2] == by.args[0];  // x > y ? y : x
    if (!same && !turned) return nullptr;
    int lanes = i.type.lanes;
    return math_.extremum_or_second(larger == same, stretched(i.args[1], lanes),
                                    stretched(i.args[2], lanes));
  }

  /// Whether an instruction is bitwise logic in the machine.
  static bool is_logic(const Inst& i) {
    switch (i.code) {
      case Opcode::and_:
      case Opcode::or_:
      case Opcode::xor_:
      case Opcode::not_: return true;
      case Opcode::neg:
      case Opcode::abs: return is_float(i.type.dtype);
      case Opcode::bitcast: return is_logic(*i.args[0]);
      default: return false;
    }
  }
  /// A vector of bitwise logic that is about to be selected, kept apart from the selection: joined,
  /// they become a masked vpternlog, whose truth table LLVM below 22 permutes wrongly when an
  /// operand is in memory (llvm/llvm-project#157929).
  Value* fenced(const Inst* from, Value* v) {
    auto* type = llvm::dyn_cast<llvm::FixedVectorType>(v->getType());
    if (!type || !is_logic(*from) || type->getScalarSizeInBits() < 32) return v;
    bool is_int = type->getElementType()->isIntegerTy();
    llvm::Type* element = type->getScalarSizeInBits() == 64 ? b_.getDoubleTy() : b_.getFloatTy();
    auto* floats = llvm::FixedVectorType::get(element, type->getNumElements());
    Value* apart = b_.CreateIntrinsic(llvm::Intrinsic::arithmetic_fence, {floats},
                                      {is_int ? b_.CreateBitCast(v, floats) : v});
    return is_int ? b_.CreateBitCast(apart, type) : apart;
  }

  /// Division of an i64 known to be in 0 .. 2^32 - 1 by such a constant, as index arithmetic makes
  /// it: in 32 bits, where the machine has a high product.
  Value* narrow_division(const Inst& i) {
    const Inst* divisor = i.args[1];
    if (i.type.dtype != DType::i64 || divisor->code != Opcode::constant) return nullptr;
    std::int64_t d = static_cast<std::int64_t>(divisor->bits);
    auto [low, high] = memory_.range(i.args[0]);
    if (d <= 0 || d > INT32_MAX || low < 0 || high > UINT32_MAX) return nullptr;
    llvm::Type* wide = math_.type(DType::i64, i.type.lanes);
    llvm::Type* word = math_.type(DType::i32, i.type.lanes);
    Value* a = b_.CreateTrunc(stretched(i.args[0], i.type.lanes), word);
    auto* by = llvm::ConstantInt::get(word, static_cast<std::uint64_t>(d));
    return b_.CreateZExt(i.code == Opcode::div ? b_.CreateUDiv(a, by) : b_.CreateURem(a, by), wide);
  }

  /// Division of an i64 by one positive number, both below 2^31, as sizes that stand apart make it
  /// (loop/sizes.h): lanes by way of f64, which machines divide in lanes. The quotient of such
  /// integers, rounded, never reaches the next integer, so its whole part is exact.
  Value* division_by_size(const Inst& i) {
    const Inst* divisor = i.args[1];
    if (i.type.dtype != DType::i64 || divisor->type.lanes != 1) return nullptr;
    auto [low, high] = memory_.range(i.args[0]);
    auto [least, most] = memory_.range(divisor);
    if (low < 0 || high > INT32_MAX || least < 1 || most > INT32_MAX) return nullptr;
    int lanes = i.type.lanes;
    llvm::Type *wide = math_.type(DType::i64, lanes), *word = math_.type(DType::i32, lanes),
               *real = math_.type(DType::f64, lanes);
    Value *a = b_.CreateTrunc(stretched(i.args[0], lanes), word),
          *d = b_.CreateTrunc(value(divisor), b_.getInt32Ty());
    Value* by = math_.stretch(d, lanes);
    Value* quotient =
        lanes == 1 ? b_.CreateUDiv(a, by)
                   : b_.CreateFPToSI(
                         b_.CreateFDiv(b_.CreateSIToFP(a, real),
                                       math_.stretch(b_.CreateSIToFP(d, b_.getDoubleTy()), lanes)),
                         word);
    return b_.CreateZExt(
        i.code == Opcode::div ? quotient : b_.CreateSub(a, b_.CreateMul(quotient, by)), wide);
  }

  Value* call(const Inst& i) {
    if (auto move = loop::lane_move(i.callee, i.type.lanes)) return moved(i, *move);
    if (loop::is_scale(i)) {
      auto arg = [&](std::size_t n) { return stretched(i.args[n], i.type.lanes); };
      return math_.scale(arg(0), arg(1), arg(2));
    }
    if (loop::is_lookup(i)) {
      std::vector<llvm::Constant*> table;
      for (const Inst* entry : std::span(i.args).subspan(1))
        table.push_back(math_.constant(DType::f32, entry->bits));
      return math_.lookup(value(i.args[0]), table);
    }
    if (loop::is_compress(i))
      return math_.from_stored(
          i.type.dtype,
          math_.compress(stretched(i.args[0], i.type.lanes),
                         math_.to_stored(i.type.dtype, stretched(i.args[1], i.type.lanes))));
    if (loop::is_chosen(i)) return math_.chosen(value(i.args[0]));
    std::vector<llvm::Type*> types;
    std::vector<Value*> args;
    for (const Inst* a : i.args) {
      STRATA_CHECK(a->type.lanes == 1, "a call of {} on {} lanes", i.callee, a->type.lanes);
      bool is_place = a->code == Opcode::load && loop::takes_places(i.callee);
      args.push_back(is_place ? memory_.address(*a) : math_.to_stored(a->type.dtype, value(a)));
      types.push_back(args.back()->getType());
    }
    auto* signature = llvm::FunctionType::get(math_.stored_type(i.type.dtype, 1), types, false);
    return math_.from_stored(i.type.dtype,
                             b_.CreateCall(module_.getOrInsertFunction(i.callee, signature), args));
  }

  /// One shuffle, of integers where the machine has none of the type.
  Value* moved(const Inst& i, const loop::LaneMove& move) {
    int lanes = i.type.lanes;
    std::vector<int> from;
    for (int lane = 0; lane < lanes; ++lane) from.push_back(move.source(lane, lanes));
    Value *x = math_.to_stored(i.type.dtype, stretched(i.args[0], lanes)),
          *y = math_.to_stored(i.type.dtype, stretched(i.args[1], lanes));
    return math_.from_stored(i.type.dtype, b_.CreateShuffleVector(x, y, from));
  }

  /// Dead lanes keep what they hold, where it outlives the strip; what living lanes see never comes
  /// from dead ones (V7).
  void assign(const Inst& i) {
    int lanes = i.var->type.lanes;
    Value* slot = value(i.var);
    Value* next = stretched(i.args[0], lanes);
    if (Value* mask = memory_.mask();
        mask && lanes == lanes_of(mask) && made_under_.at(i.var) != mask) {
      next = b_.CreateSelect(mask, fenced(i.args[0], next), b_.CreateLoad(next->getType(), slot));
    }
    b_.CreateStore(next, slot);
  }

  // ---- control

  void for_loop(const Inst& i) {
    counted(memory_.index_value(i.begin), memory_.index_value(i.end), i.step, [&](Value* counter) {
      values_[static_cast<std::size_t>(i.counter->id)] = counter;
      body(*i.bodies[0]);
    });
  }

  void vector_loop(const Inst& i) {
    Value* zero = b_.getInt64(0);
    auto lanes = static_cast<std::uint64_t>(i.lanes);
    Value* extent = extent_of(i.end - i.begin);
    Value* strips = b_.CreateUDiv(extent, b_.getInt64(lanes));
    Value* rest = loop::has_whole_strips(i) ? zero : b_.CreateURem(extent, b_.getInt64(lanes));
    bind_lane(i);

    auto* known_strips = llvm::dyn_cast<llvm::ConstantInt>(strips);
    auto* known_rest = llvm::dyn_cast<llvm::ConstantInt>(rest);
    if (known_strips && known_strips->getZExtValue() == 1) {
      strip(i, zero, nullptr);
    } else if (!known_strips || !known_strips->isZero()) {
      long_loop_ = known_strips && known_strips->getZExtValue() * lanes >= 512;
      counted(zero, strips, 1, [&](Value* number) { strip(i, number, nullptr); });
      long_loop_ = false;
    }
    if (known_rest) {
      if (!known_rest->isZero()) strip(i, strips, rest);
      return;
    }
    when(b_.CreateICmpNE(rest, zero), [&] { strip(i, strips, rest); });
  }

  /// At least 0; a constant where it is known, for the builder does not fold the call.
  Value* extent_of(const Index& extent) {
    if (extent.is_constant())
      return b_.getInt64(static_cast<std::uint64_t>(std::max<std::int64_t>(0, extent.constant())));
    return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, memory_.index_value(extent),
                                    b_.getInt64(0));
  }

  void bind_lane(const Inst& i) {
    std::vector<std::uint64_t> numbers(static_cast<std::size_t>(i.lanes));
    for (std::size_t n = 0; n < numbers.size(); ++n) numbers[n] = n;
    Value* lane = i.lanes == 1 ? static_cast<Value*>(b_.getInt64(0))
                               : llvm::ConstantDataVector::get(b_.getContext(), numbers);
    values_[static_cast<std::size_t>(i.lane->id)] = lane;
  }

  /// One strip; `rest` says how many lanes are left, null all of them.
  void strip(const Inst& i, Value* number, Value* rest) {
    values_[static_cast<std::size_t>(i.counter->id)] = number;
    Value* mask = nullptr;
    if (rest) {
      llvm::Type* word = math_.type(DType::i32, i.lanes);
      Value* lane = b_.CreateTrunc(value(i.lane), word);
      mask = b_.CreateICmpULT(lane, math_.stretch(b_.CreateTrunc(rest, b_.getInt32Ty()), i.lanes));
    }
    where({mask, rest}, *i.bodies[0]);
  }

  void where(const Memory::Alive& alive, const Body& inner) {
    const Memory::Alive outer = memory_.alive();
    memory_.set_alive(alive);
    body(inner);
    memory_.set_alive(outer);
  }

  void when(Value* condition, const std::function<void()>& f) {
    auto* then = llvm::BasicBlock::Create(b_.getContext(), "then", function_);
    auto* exit = llvm::BasicBlock::Create(b_.getContext(), "exit", function_);
    b_.CreateCondBr(condition, then, exit);
    b_.SetInsertPoint(then);
    f();
    b_.CreateBr(exit);
    b_.SetInsertPoint(exit);
  }

  void branch(const Inst& i) {
    Value* condition = value(i.args[0]);
    bool has_else = i.bodies.size() > 1 && !i.bodies[1]->insts.empty();
    if (lanes_of(condition) > 1) {
      under(condition, *i.bodies[0]);
      if (has_else) under(b_.CreateNot(condition), *i.bodies[1]);
      return;
    }
    when(condition, [&] { body(*i.bodies[0]); });
    if (has_else) when(b_.CreateNot(condition), [&] { body(*i.bodies[1]); });
  }

  /// A body on those lanes where the condition holds, skipped where it holds on none.
  void under(Value* condition, const Body& inner) {
    Value* mask = memory_.mask() ? b_.CreateAnd(memory_.mask(), condition) : condition;
    when(b_.CreateOrReduce(mask), [&] { where({mask}, inner); });
  }

  void while_loop(const Inst& i) {
    auto* test = llvm::BasicBlock::Create(b_.getContext(), "while", function_);
    auto* repeat = llvm::BasicBlock::Create(b_.getContext(), "repeat", function_);
    auto* exit = llvm::BasicBlock::Create(b_.getContext(), "exit", function_);
    b_.CreateBr(test);
    b_.SetInsertPoint(test);
    body(*i.bodies[0]);
    STRATA_CHECK(i.condition && i.condition->type.lanes == 1,
                 "while_ without a uniform condition in kernel {}", kernel_.name);
    b_.CreateCondBr(value(i.condition), repeat, exit);
    b_.SetInsertPoint(repeat);
    body(*i.bodies[1]);
    b_.CreateBr(test);
    b_.SetInsertPoint(exit);
  }

  // ---- values

  /// Of i1 by or_: whether a living lane holds. Other reductions stand only where all lanes live.
  Value* reduce(const Inst& i) {
    Value* v = value(i.args[0]);
    auto combiner = static_cast<Opcode>(i.bits);
    if (i.type.dtype != DType::i1 || combiner != Opcode::or_ || lanes_of(v) == 1)
      return math_.reduce(combiner, i.type.dtype, v);
    return b_.CreateOrReduce(memory_.mask() ? b_.CreateAnd(memory_.mask(), v) : v);
  }

  Value* value(const Inst* i) {
    Value* v = values_[static_cast<std::size_t>(i->id)];
    STRATA_CHECK(v, "kernel {}: %{} is used before it is computed", kernel_.name, i->id);
    return v;
  }
  Value* stretched(const Inst* i, int lanes) { return math_.stretch(value(i), lanes); }

  const loop::Kernel& kernel_;
  llvm::Module& module_;
  llvm::IRBuilder<> b_;
  Arithmetic math_;
  std::vector<Value*> values_;
  Memory memory_;
  llvm::Function* function_ = nullptr;
  std::unordered_map<const Inst*, Value*>
      made_under_;          // the mask under which a local was made; looked up, never walked
  bool long_loop_ = false;  // in whole strips of a vector loop of many elements
};

}  // namespace

void set_target(llvm::Function& function, const CpuTarget& target) {
  function.addFnAttr("target-cpu", target.cpu);
  function.addFnAttr("target-features", target.features);
  if (target.avx512) function.addFnAttr("prefer-vector-width", "512");
}

llvm::Function* emit_kernel(const loop::Kernel& kernel, llvm::Module& module,
                            std::string_view symbol, const CpuTarget& target) {
  return KernelEmitter(kernel, module, target).emit(symbol, target);
}

}  // namespace strata::compile
