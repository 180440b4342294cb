#include "strata/compile/llvm/emit/emit_launches.h"

#include <llvm/IR/Module.h>

#include <algorithm>

#include "strata/base/check.h"

namespace strata::compile {
namespace {

using llvm::Constant;
using llvm::Value;

class TableEmitter {
 public:
  TableEmitter(const Plan& plan, std::span<const Step> launches, const LaunchTableNeeds& needs,
               llvm::IRBuilder<>& b)
      : plan_(plan),
        launches_(launches),
        needs_(needs),
        b_(b),
        function_(b.GetInsertBlock()->getParent()) {
    launch_type_ = llvm::StructType::get(
        b_.getContext(),
        {b_.getPtrTy(), b_.getInt64Ty(), b_.getInt64Ty(), b_.getInt64Ty(), b_.getInt64Ty()});
    place_type_ =
        llvm::StructType::get(b_.getContext(), {b_.getInt64Ty(), b_.getInt64Ty(), b_.getInt64Ty()});
  }

  void emit() {
    Value* launches = table(launch_rows(), launch_type_);
    Value* places = table(places_, place_type_);
    constexpr unsigned kLists = 4;
    auto* lists_type = llvm::ArrayType::get(b_.getPtrTy(), kLists);
    Value* lists = slot(lists_type);
    for (unsigned i = 0; i < kLists; ++i)
      b_.CreateStore(needs_.list(static_cast<PlanBuffer::Kind>(i)),
                     b_.CreateConstGEP2_64(lists_type, lists, 0, i));
    Value* refs = slot(llvm::ArrayType::get(b_.getPtrTy(), most_));
    loop(number(0), number(static_cast<std::int64_t>(launches_.size())), [&](Value* i) {
      Value* row = b_.CreateGEP(launch_type_, launches, i);
      Value *first = field(row, 3), *count = field(row, 4);
      loop(number(0), count, [&](Value* n) {
        Value* place = b_.CreateGEP(place_type_, places, b_.CreateAdd(first, n));
        Value* list =
            b_.CreateLoad(b_.getPtrTy(), b_.CreateGEP(b_.getPtrTy(), lists, part(place, 0)));
        Value* base =
            b_.CreateLoad(b_.getPtrTy(), b_.CreateGEP(b_.getPtrTy(), list, part(place, 1)));
        b_.CreateStore(b_.CreateGEP(b_.getInt8Ty(), base, part(place, 2)),
                       b_.CreateGEP(b_.getPtrTy(), refs, n));
      });
      run(row, refs, b_.CreateAdd(i, number(needs_.launches)));
    });
  }

 private:
  /// kernel, grid points, grain (0: all on the caller), first place, number of places.
  std::vector<Constant*> launch_rows() {
    std::vector<Constant*> rows;
    for (const Step& step : launches_) {
      const Launch& l = std::get<Launch>(step.what);
      rows.push_back(llvm::ConstantStruct::get(
          launch_type_,
          {needs_.callee(l.kernel),
           number(plan_.kernels.at(static_cast<std::size_t>(l.kernel))->grid),
           number(l.parallel ? l.grain : 0), number(static_cast<std::int64_t>(places_.size())),
           number(static_cast<std::int64_t>(l.arguments.size()))}));
      for (const Address& a : l.arguments) places_.push_back(place(a));
      most_ = std::max(most_, l.arguments.size());
    }
    return rows;
  }
  /// Returns a row of the table of places: the list of the context that holds the buffer's address,
  /// the number in that list, the offset. Temporaries are offsets into the arena.
  Constant* place(const Address& a) {
    const PlanBuffer& buffer = plan_.buffers.at(static_cast<std::size_t>(a.buffer));
    const bool temporary = buffer.kind == PlanBuffer::Kind::temporary;
    return llvm::ConstantStruct::get(
        place_type_,
        {number(static_cast<std::int64_t>(buffer.kind)), number(temporary ? 0 : buffer.number),
         number(a.offset + (temporary ? buffer.offset : 0))});
  }

  void run(Value* row, Value* refs, Value* launch) {
    needs_.tell("strata_profile_begin", launch);
    Value *kernel = field(row, 0), *points = field(row, 1), *grain = field(row, 2);
    auto *alone = block("alone"), *together = block("together"), *done = block("done");
    b_.CreateCondBr(b_.CreateICmpEQ(grain, number(0)), alone, together);
    b_.SetInsertPoint(alone);
    auto* kernel_type = llvm::FunctionType::get(
        b_.getVoidTy(), {b_.getPtrTy(), b_.getInt64Ty(), b_.getInt64Ty()}, false);
    b_.CreateCall(llvm::FunctionCallee(kernel_type, kernel), {refs, number(0), points});
    b_.CreateBr(done);
    b_.SetInsertPoint(together);
    auto* parallel_type = llvm::FunctionType::get(
        b_.getVoidTy(), {b_.getInt64Ty(), b_.getInt64Ty(), b_.getPtrTy(), b_.getPtrTy()}, false);
    b_.CreateCall(function_->getParent()->getOrInsertFunction("strata_parallel_for", parallel_type),
                  {points, grain, kernel, refs});
    b_.CreateBr(done);
    b_.SetInsertPoint(done);
    needs_.tell("strata_profile_end", launch);
  }

  /// for (i = begin; i < end; ++i) body(i).
  void loop(Value* begin, Value* end, const std::function<void(Value*)>& body) {
    auto *before = b_.GetInsertBlock(), *test = block("row"), *inside = block("do"),
         *exit = block("rows");
    b_.CreateBr(test);
    b_.SetInsertPoint(test);
    llvm::PHINode* i = b_.CreatePHI(b_.getInt64Ty(), 2);
    i->addIncoming(begin, before);
    b_.CreateCondBr(b_.CreateICmpSLT(i, end), inside, exit);
    b_.SetInsertPoint(inside);
    body(i);
    i->addIncoming(b_.CreateAdd(i, number(1)), b_.GetInsertBlock());
    b_.CreateBr(test);
    b_.SetInsertPoint(exit);
  }

  Value* table(const std::vector<Constant*>& rows, llvm::StructType* type) {
    auto* array = llvm::ArrayType::get(type, rows.size());
    return new llvm::GlobalVariable(*function_->getParent(), array, true,
                                    llvm::GlobalValue::PrivateLinkage,
                                    llvm::ConstantArray::get(array, rows), "launches");
  }
  Value* field(Value* row, unsigned n) {
    return b_.CreateLoad(n == 0 ? static_cast<llvm::Type*>(b_.getPtrTy()) : b_.getInt64Ty(),
                         b_.CreateStructGEP(launch_type_, row, n));
  }
  Value* part(Value* place, unsigned n) {
    return b_.CreateLoad(b_.getInt64Ty(), b_.CreateStructGEP(place_type_, place, n));
  }
  Value* slot(llvm::Type* type) {
    return llvm::IRBuilder<>(needs_.entry, needs_.entry->begin()).CreateAlloca(type);
  }
  llvm::ConstantInt* number(std::int64_t n) { return b_.getInt64(static_cast<std::uint64_t>(n)); }
  llvm::BasicBlock* block(const char* name) {
    return llvm::BasicBlock::Create(b_.getContext(), name, function_);
  }

  const Plan& plan_;
  std::span<const Step> launches_;
  const LaunchTableNeeds& needs_;
  llvm::IRBuilder<>& b_;
  llvm::Function* function_;
  llvm::StructType *launch_type_, *place_type_;
  std::vector<Constant*> places_;
  std::size_t most_ = 1;  // places of one launch
};

}  // namespace

const Launch* table_launch(const Step& step) {
  const Launch* launch = std::get_if<Launch>(&step.what);
  if (!launch || std::any_of(launch->arguments.begin(), launch->arguments.end(),
                             [](const Address& a) { return a.counter >= 0; }))
    return nullptr;
  return launch;
}

void emit_launches(const Plan& plan, std::span<const Step> launches, const LaunchTableNeeds& needs,
                   llvm::IRBuilder<>& b) {
  TableEmitter(plan, launches, needs, b).emit();
}

}  // namespace strata::compile
