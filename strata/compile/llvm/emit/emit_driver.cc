#include "strata/compile/llvm/emit/emit_driver.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <functional>
#include <map>

#include "strata/base/check.h"
#include "strata/compile/llvm/emit/emit_concurrent_launches.h"
#include "strata/compile/llvm/emit/emit_kernel.h"
#include "strata/compile/llvm/emit/emit_launches.h"
#include "strata/compile/llvm/emit/emit_tile_pipeline.h"
#include "strata/compile/plan/launch_cost.h"

namespace strata::compile {
namespace {

using llvm::Value;

class DriverEmitter {
 public:
  DriverEmitter(const Plan& plan, const InlinedLaunches& inlined,
                const std::vector<std::string>& kernels, llvm::Module& module, bool timed)
      : plan_(plan),
        kernels_(kernels),
        module_(module),
        b_(module.getContext()),
        timed_(timed),
        inlined_(inlined) {}

  llvm::Function* emit(const std::string& symbol) {
    auto* signature = llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy()}, false);
    function_ = llvm::Function::Create(signature, llvm::Function::ExternalLinkage, symbol, module_);
    function_->addFnAttr(llvm::Attribute::NoUnwind);
    set_target(*function_, plan_.target);  // as that of kernels, to be one with them
    entry_ = block("entry");
    auto* first = block("steps");
    b_.SetInsertPoint(first);
    counters_.assign(static_cast<std::size_t>(plan_.num_counters), nullptr);
    steps(plan_.steps);
    b_.CreateRetVoid();
    llvm::IRBuilder<>(entry_).CreateBr(first);
    return function_;
  }

 private:
  void steps(const Steps& all) {
    for (std::size_t i = 0; i < all.size();) {
      std::size_t end = i;
      while (end < all.size() && is_of_table(all[end])) ++end;
      if (end - i >= kTableLaunches) {
        launch_all({all.data() + i, end - i});
        i = end;
      } else {
        std::visit([this](const auto& s) { emit(s); }, all[i++].what);
      }
    }
  }

  bool is_of_table(const Step& step) const {
    const Launch* launch = table_launch(step);
    return launch && !inlined_.has(*launch);
  }

  void launch_all(std::span<const Step> launches) {
    for (const Step& step : launches) expect_arguments(std::get<Launch>(step.what));
    auto tell = [this](const char* name, Value* launch) {
      if (timed_) call(name, {launch});
    };
    LaunchTableNeeds needs{
        entry_, [this](PlanBuffer::Kind kind) { return list(kind); },
        [this](int kernel) { return llvm::cast<llvm::Constant>(callee(kernel)); }, tell, launches_};
    emit_launches(plan_, launches, needs, b_);
    launches_ += static_cast<std::int64_t>(launches.size());
  }

  void expect_arguments(const Launch& launch) {
    const loop::Kernel& kernel = *plan_.kernels.at(static_cast<std::size_t>(launch.kernel));
    STRATA_CHECK(launch.arguments.size() == kernel.parameters().size(),
                 "kernel {} takes {} buffers, its launch gives {}", kernel.name,
                 kernel.parameters().size(), launch.arguments.size());
  }

  void emit(const Launch& launch) {
    const loop::Kernel& kernel = *plan_.kernels.at(static_cast<std::size_t>(launch.kernel));
    std::size_t n = launch.arguments.size();
    expect_arguments(launch);
    auto* type = llvm::ArrayType::get(b_.getPtrTy(), n);
    llvm::IRBuilder<> at_entry(entry_, entry_->begin());
    Value* refs = at_entry.CreateAlloca(type);
    for (std::size_t i = 0; i < n; ++i)
      b_.CreateStore(address(launch.arguments[i]), b_.CreateConstGEP2_64(type, refs, 0, i));
    profile("strata_profile_begin");
    Value* points = number(kernel.grid);
    if (launch.parallel) {
      call(launch.brief ? "strata_parallel_for_brief" : "strata_parallel_for",
           {points, number(launch.grain), callee(launch.kernel), refs});
    } else {
      Value* kernel_function =
          inlined_.has(launch) ? inlined_kernel(launch.kernel) : callee(launch.kernel);
      b_.CreateCall(llvm::FunctionCallee(kernel_type(), kernel_function),
                    {refs, number(0), points});
    }
    profile("strata_profile_end");
    ++launches_;
  }

  /// The kernel as a function of this module that the optimiser puts where it is called.
  llvm::Function* inlined_kernel(int kernel) {
    llvm::Function*& f = inlined_kernels_[kernel];
    if (f) return f;
    f = emit_kernel(*plan_.kernels.at(static_cast<std::size_t>(kernel)), module_,
                    fmt::format("{}_inlined_{}", function_->getName().str(), kernel), plan_.target);
    f->setLinkage(llvm::GlobalValue::InternalLinkage);
    f->addFnAttr(llvm::Attribute::AlwaysInline);
    return f;
  }

  void emit(const LaunchNative& launch) {
    if (launch.grid <= 0) return;
    std::size_t n = launch.arguments.size();
    auto* type = llvm::ArrayType::get(b_.getPtrTy(), n + 1);
    Value* refs = llvm::IRBuilder<>(entry_, entry_->begin()).CreateAlloca(type);
    for (std::size_t i = 0; i < n; ++i)
      b_.CreateStore(address(launch.arguments[i]), b_.CreateConstGEP2_64(type, refs, 0, i));
    auto* params =
        llvm::ConstantDataArray::get(b_.getContext(), llvm::ArrayRef<std::int64_t>(launch.params));
    auto* global = new llvm::GlobalVariable(module_, params->getType(), true,
                                            llvm::GlobalValue::PrivateLinkage, params, "params");
    b_.CreateStore(global, b_.CreateConstGEP2_64(type, refs, 0, n));
    Value* function = module_.getOrInsertFunction(launch.symbol, kernel_type()).getCallee();
    profile("strata_profile_begin");
    if (launch.parallel && launch.grid > 1)
      call("strata_parallel_for", {number(launch.grid), number(launch.grain), function, refs});
    else
      b_.CreateCall(llvm::FunctionCallee(kernel_type(), function),
                    {refs, number(0), number(launch.grid)});
    profile("strata_profile_end");
    ++launches_;
    if (launch.may_fail) end_if_failed();
  }

  void emit(const TilePipeline& chain) {
    std::vector<const Address*> outside = pipeline_arguments(plan_, chain);
    for (const Launch& l : chain.launches) expect_arguments(l);
    auto* type = llvm::ArrayType::get(b_.getPtrTy(), std::max<std::size_t>(1, outside.size()));
    Value* bases = llvm::IRBuilder<>(entry_, entry_->begin()).CreateAlloca(type);
    for (std::size_t i = 0; i < outside.size(); ++i)
      b_.CreateStore(address(*outside[i]), b_.CreateConstGEP2_64(type, bases, 0, i));
    Value* function =
        emit_tile_pipeline(plan_, chain, module_, [this](int kernel) { return callee(kernel); });
    profile("strata_profile_begin");
    call("strata_parallel_for", {number(chain.slices), number(1), function, bases});
    profile("strata_profile_end");
    ++launches_;
  }

  void emit(const ConcurrentLaunches& streams) {
    for (const Launch& l : streams.launches) expect_arguments(l);
    profile("strata_profile_begin");
    emit_concurrent_launches(
        plan_, streams,
        {entry_, [this](PlanBuffer::Kind kind) { return list(kind); },
         [this](int kernel) { return llvm::cast<llvm::Constant>(callee(kernel)); }},
        b_);
    profile("strata_profile_end");
    ++launches_;
  }

  /// What comes after a failure would work on values that nobody made, perhaps for ever.
  void end_if_failed() {
    if (failed_ == nullptr) {
      llvm::IRBuilder<> at_entry(entry_);
      failed_ = at_entry.CreateLoad(
          b_.getPtrTy(), at_entry.CreateConstGEP1_64(b_.getInt8Ty(), function_->getArg(0),
                                                     offsetof(RunContext, failed)));
    }
    auto *stop = block("failed"), *go_on = block("made");
    b_.CreateCondBr(b_.CreateICmpNE(b_.CreateLoad(b_.getInt8Ty(), failed_), b_.getInt8(0)), stop,
                    go_on);
    b_.SetInsertPoint(stop);
    b_.CreateRetVoid();
    b_.SetInsertPoint(go_on);
  }

  void emit(const Copy& copy) {
    if (is_timed(copy)) profile("strata_profile_begin");
    constexpr std::int64_t kForAllThreads = 1 << 20;  // bytes
    if (copy.bytes >= kForAllThreads && copy.from.buffer != copy.to.buffer)
      call("strata_copy", {address(copy.to), address(copy.from), number(copy.bytes)});
    else
      b_.CreateMemMove(address(copy.to), llvm::MaybeAlign(1), address(copy.from),
                       llvm::MaybeAlign(1), number(copy.bytes));
    if (!is_timed(copy)) return;
    profile("strata_profile_end");
    ++launches_;
  }

  void emit(const CountedLoop& loop) {
    if (loop.count <= 0) return;
    auto* before = b_.GetInsertBlock();
    auto *repeat = block("loop"), *exit = block("exit");
    b_.CreateBr(repeat);
    b_.SetInsertPoint(repeat);
    llvm::PHINode* turn = b_.CreatePHI(b_.getInt64Ty(), 2);
    turn->addIncoming(number(0), before);
    Value* counter = loop.reverse ? b_.CreateSub(number(loop.count - 1), turn) : turn;
    counters_.at(static_cast<std::size_t>(loop.counter)) = counter;
    steps(loop.body);
    counters_.at(static_cast<std::size_t>(loop.counter)) = nullptr;
    Value* next = b_.CreateAdd(turn, number(1));
    turn->addIncoming(next, b_.GetInsertBlock());
    b_.CreateCondBr(b_.CreateICmpSLT(next, number(loop.count)), repeat, exit);
    b_.SetInsertPoint(exit);
  }

  void emit(const WhileLoop& loop) {
    auto *test = block("while"), *repeat = block("repeat"), *exit = block("exit");
    b_.CreateBr(test);
    b_.SetInsertPoint(test);
    steps(loop.condition);
    b_.CreateCondBr(
        b_.CreateICmpNE(b_.CreateLoad(b_.getInt8Ty(), address(loop.predicate)), b_.getInt8(0)),
        repeat, exit);
    b_.SetInsertPoint(repeat);
    steps(loop.body);
    b_.CreateBr(test);
    b_.SetInsertPoint(exit);
  }

  void emit(const Branch& branch) {
    STRATA_CHECK(!branch.branches.empty(), "a branch without arms");
    auto* exit = block("exit");
    std::vector<llvm::BasicBlock*> arms;
    for (std::size_t i = 0; i < branch.branches.size(); ++i) arms.push_back(block("arm"));
    if (branch.boolean) {
      STRATA_CHECK(arms.size() == 2, "an if with {} arms", arms.size());
      b_.CreateCondBr(
          b_.CreateICmpNE(b_.CreateLoad(b_.getInt8Ty(), address(branch.index)), b_.getInt8(0)),
          arms[0], arms[1]);
    } else {
      auto* choice = b_.CreateSwitch(
          b_.CreateAlignedLoad(b_.getInt32Ty(), address(branch.index), llvm::Align(1)),
          arms.back());
      for (std::size_t i = 0; i + 1 < arms.size(); ++i)
        choice->addCase(b_.getInt32(static_cast<std::uint32_t>(i)), arms[i]);
    }
    for (std::size_t i = 0; i < arms.size(); ++i) {
      b_.SetInsertPoint(arms[i]);
      steps(branch.branches[i]);
      b_.CreateBr(exit);
    }
    b_.SetInsertPoint(exit);
  }

  // ---- addresses

  Value* address(const Address& a) {
    Value* pointer = base(a.buffer);
    std::int64_t offset = a.offset;
    Value* moved = number(offset);
    if (a.counter >= 0) {
      Value* counter = counters_.at(static_cast<std::size_t>(a.counter));
      STRATA_CHECK(counter, "an address counts with loop {} outside of it", a.counter);
      moved = b_.CreateAdd(moved, b_.CreateMul(counter, number(a.stride)));
    }
    return b_.CreateGEP(b_.getInt8Ty(), pointer, moved);
  }

  /// Where the addresses of buffers of a kind are one after another; read from the context once, at
  /// entry. That of the arena, where temporaries are, stands in the context itself.
  Value* list(PlanBuffer::Kind kind) {
    Value*& v = lists_[kind];
    if (v) return v;
    llvm::IRBuilder<> at_entry(entry_);
    auto field = [&](std::size_t byte) {
      return at_entry.CreateConstGEP1_64(b_.getInt8Ty(), function_->getArg(0), byte);
    };
    auto load = [&](std::size_t byte) { return at_entry.CreateLoad(b_.getPtrTy(), field(byte)); };
    switch (kind) {
      case PlanBuffer::Kind::argument: return v = load(offsetof(RunContext, arguments));
      case PlanBuffer::Kind::result: return v = load(offsetof(RunContext, results));
      case PlanBuffer::Kind::constant: return v = load(offsetof(RunContext, constants));
      case PlanBuffer::Kind::temporary: return v = field(offsetof(RunContext, arena));
      case PlanBuffer::Kind::scratch: break;
    }
    STRATA_UNREACHABLE("scratch of a chain used outside of it");
  }

  /// Where a buffer begins; read once, at entry.
  Value* base(int buffer) {
    Value*& v = bases_[buffer];
    if (v) return v;
    const PlanBuffer& what = plan_.buffers.at(static_cast<std::size_t>(buffer));
    const bool temporary = what.kind == PlanBuffer::Kind::temporary;
    Value* addresses = list(what.kind);
    llvm::IRBuilder<> at_entry(entry_);
    v = at_entry.CreateLoad(
        b_.getPtrTy(),
        at_entry.CreateConstGEP1_64(b_.getPtrTy(), addresses,
                                    temporary ? 0 : static_cast<std::uint64_t>(what.number)));
    if (temporary) v = at_entry.CreateGEP(b_.getInt8Ty(), v, number(what.offset));
    return v;
  }

  // ---- calls

  llvm::FunctionType* kernel_type() {
    return llvm::FunctionType::get(b_.getVoidTy(),
                                   {b_.getPtrTy(), b_.getInt64Ty(), b_.getInt64Ty()}, false);
  }
  Value* callee(int kernel) {
    return module_.getOrInsertFunction(kernels_.at(static_cast<std::size_t>(kernel)), kernel_type())
        .getCallee();
  }

  void call(const char* name, const std::vector<Value*>& args) {
    std::vector<llvm::Type*> types;
    for (Value* a : args) types.push_back(a->getType());
    b_.CreateCall(
        module_.getOrInsertFunction(name, llvm::FunctionType::get(b_.getVoidTy(), types, false)),
        args);
  }
  void profile(const char* name) {
    if (timed_) call(name, {number(launches_)});
  }

  Value* number(std::int64_t n) { return b_.getInt64(static_cast<std::uint64_t>(n)); }
  llvm::BasicBlock* block(const char* name) {
    return llvm::BasicBlock::Create(b_.getContext(), name, function_);
  }

  const Plan& plan_;
  const std::vector<std::string>& kernels_;
  llvm::Module& module_;
  llvm::IRBuilder<> b_;
  bool timed_;
  llvm::Function* function_ = nullptr;
  llvm::BasicBlock* entry_ = nullptr;
  std::vector<Value*> counters_;
  const InlinedLaunches& inlined_;
  std::map<int, llvm::Function*> inlined_kernels_;
  std::map<PlanBuffer::Kind, Value*> lists_;
  std::map<int, Value*> bases_;
  Value* failed_ = nullptr;  // RunContext::failed, read at entry
  std::int64_t launches_ = 0;
};

}  // namespace

llvm::Function* emit_driver(const Plan& plan, const InlinedLaunches& inlined,
                            const std::vector<std::string>& kernels, llvm::Module& module,
                            const std::string& symbol, bool timed) {
  return DriverEmitter(plan, inlined, kernels, module, timed).emit(symbol);
}

}  // namespace strata::compile
