#include "strata/compile/llvm/emit/emit_tile_pipeline.h"

#include <llvm/IR/IRBuilder.h>

#include <algorithm>

namespace strata::compile {
namespace {

using llvm::Value;

bool in_scratch(const Plan& plan, const Address& a) {
  return plan.buffers[static_cast<std::size_t>(a.buffer)].kind == PlanBuffer::Kind::scratch;
}

class TilePipelineEmitter {
 public:
  TilePipelineEmitter(const Plan& plan, const TilePipeline& pipeline, llvm::Module& module,
                      const std::function<Value*(int)>& callee)
      : plan_(plan),
        pipeline_(pipeline),
        module_(module),
        callee_(callee),
        b_(module.getContext()) {
    type_ = llvm::FunctionType::get(b_.getVoidTy(),
                                    {b_.getPtrTy(), b_.getInt64Ty(), b_.getInt64Ty()}, false);
  }

  llvm::Function* emit() {
    function_ =
        llvm::Function::Create(type_, llvm::Function::PrivateLinkage, "tile_pipeline", module_);
    function_->addFnAttr(llvm::Attribute::NoUnwind);
    auto *entry = block("entry"), *test = block("part"), *inside = block("do"),
         *exit = block("done");
    b_.SetInsertPoint(entry);
    prepare();
    b_.CreateBr(test);
    b_.SetInsertPoint(test);
    llvm::PHINode* part = b_.CreatePHI(b_.getInt64Ty(), 2);
    part->addIncoming(function_->getArg(1), entry);
    b_.CreateCondBr(b_.CreateICmpSLT(part, function_->getArg(2)), inside, exit);
    b_.SetInsertPoint(inside);
    std::size_t given = 0;
    for (const Launch& l : pipeline_.launches) launch(l, part, given);
    part->addIncoming(b_.CreateAdd(part, number(1)), b_.GetInsertBlock());
    b_.CreateBr(test);
    b_.SetInsertPoint(exit);
    b_.CreateRetVoid();
    return function_;
  }

 private:
  void prepare() {
    std::size_t most = 1;
    for (const Launch& l : pipeline_.launches) most = std::max(most, l.arguments.size());
    refs_type_ = llvm::ArrayType::get(b_.getPtrTy(), most);
    refs_ = b_.CreateAlloca(refs_type_);
    if (pipeline_.scratch_bytes == 0) return;
    auto scratch = module_.getOrInsertFunction(
        "strata_chain_scratch", llvm::FunctionType::get(b_.getPtrTy(), {b_.getInt64Ty()}, false));
    scratch_ = b_.CreateCall(scratch, {number(pipeline_.scratch_bytes)});
  }

  void launch(const Launch& l, Value* part, std::size_t& given) {
    for (std::size_t i = 0; i < l.arguments.size(); ++i) {
      const Address& a = l.arguments[i];
      Value* place =
          in_scratch(plan_, a)
              ? shifted(a, part)
              : b_.CreateLoad(b_.getPtrTy(),
                              b_.CreateConstGEP1_64(b_.getPtrTy(), function_->getArg(0), given++));
      b_.CreateStore(place, b_.CreateConstGEP2_64(refs_type_, refs_, 0, i));
    }
    std::int64_t points =
        plan_.kernels.at(static_cast<std::size_t>(l.kernel))->grid / pipeline_.slices;
    Value* first = b_.CreateMul(part, number(points));
    b_.CreateCall(llvm::FunctionCallee(type_, callee_(l.kernel)),
                  {refs_, first, b_.CreateAdd(first, number(points))});
  }

  Value* shifted(const Address& a, Value* part) {
    const PlanBuffer& buffer = plan_.buffers[static_cast<std::size_t>(a.buffer)];
    Value* begins = b_.CreateMul(part, number(buffer.bytes / pipeline_.slices));
    return b_.CreateGEP(b_.getInt8Ty(), scratch_, b_.CreateSub(number(buffer.offset), begins));
  }

  llvm::ConstantInt* number(std::int64_t n) { return b_.getInt64(static_cast<std::uint64_t>(n)); }
  llvm::BasicBlock* block(const char* name) {
    return llvm::BasicBlock::Create(b_.getContext(), name, function_);
  }

  const Plan& plan_;
  const TilePipeline& pipeline_;
  llvm::Module& module_;
  const std::function<Value*(int)>& callee_;
  llvm::IRBuilder<> b_;
  llvm::FunctionType* type_;
  llvm::Function* function_ = nullptr;
  llvm::ArrayType* refs_type_ = nullptr;
  Value *refs_ = nullptr, *scratch_ = nullptr;
};

}  // namespace

std::vector<const Address*> pipeline_arguments(const Plan& plan, const TilePipeline& pipeline) {
  std::vector<const Address*> out;
  for (const Launch& l : pipeline.launches)
    for (const Address& a : l.arguments)
      if (!in_scratch(plan, a)) out.push_back(&a);
  return out;
}

llvm::Function* emit_tile_pipeline(const Plan& plan, const TilePipeline& pipeline,
                                   llvm::Module& module, const std::function<Value*(int)>& callee) {
  return TilePipelineEmitter(plan, pipeline, module, callee).emit();
}

}  // namespace strata::compile
