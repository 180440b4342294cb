#include "strata/compile/llvm/emit/emit_concurrent_launches.h"

#include <llvm/IR/Module.h>

#include "strata/base/check.h"
#include "strata/compile/llvm/runtime_functions.h"

namespace strata::compile {
namespace {

using llvm::Constant;
using llvm::Value;

class ConcurrentLaunchesEmitter {
 public:
  ConcurrentLaunchesEmitter(const Plan& plan, const ConcurrentLaunches& streams,
                            const StreamsNeeds& needs, llvm::IRBuilder<>& b)
      : plan_(plan),
        streams_(streams),
        needs_(needs),
        b_(b),
        module_(*b.GetInsertBlock()->getModule()) {}

  void emit() {
    llvm::Type* i64 = b_.getInt64Ty();
    auto* claim = structure({i64, i64, i64, i64});
    auto* launch = structure({b_.getPtrTy(), i64, i64, i64});
    auto* place = structure({i64, i64, i64});
    static_assert(sizeof(StrataStreamClaim) == 32 && sizeof(StrataStreamLaunch) == 32 &&
                  sizeof(StrataStreamPlace) == 24 && sizeof(StrataStreams) == 40);
    std::vector<Constant*> claims, launches, places;
    for (const ConcurrentLaunches::Claim& c : streams_.claims)
      claims.push_back(
          row(claim, {number(c.first), number(c.count), number(c.begin), number(c.end)}));
    for (const Launch& l : streams_.launches) {
      STRATA_CHECK(l.arguments.size() <= kMostStreamPlaces, "a launch in a stream has {} places",
                   l.arguments.size());
      launches.push_back(
          row(launch, {needs_.callee(l.kernel),
                       number(plan_.kernels.at(static_cast<std::size_t>(l.kernel))->grid),
                       number(static_cast<std::int64_t>(places.size())),
                       number(static_cast<std::int64_t>(l.arguments.size()))}));
      for (const Address& a : l.arguments) places.push_back(row(place, place_of(a)));
    }
    auto* all = structure({b_.getPtrTy(), b_.getPtrTy(), b_.getPtrTy(), i64, i64});
    Constant* head = row(
        all, {table(claims, claim), table(launches, launch), table(places, place),
              number(static_cast<std::int64_t>(claims.size())), number(streams_.scratch_bytes)});
    call(global(head));
  }

 private:
  static constexpr unsigned kLists = 4;

  std::vector<Constant*> place_of(const Address& a) {
    const PlanBuffer& buffer = plan_.buffers.at(static_cast<std::size_t>(a.buffer));
    const bool placed =
        buffer.kind == PlanBuffer::Kind::temporary || buffer.kind == PlanBuffer::Kind::scratch;
    return {number(static_cast<std::int64_t>(buffer.kind)), number(placed ? 0 : buffer.number),
            number(a.offset + (placed ? buffer.offset : 0))};
  }
  void call(Constant* head) {
    static_assert(static_cast<unsigned>(PlanBuffer::Kind::scratch) == kLists);
    auto* lists_type = llvm::ArrayType::get(b_.getPtrTy(), kLists);
    Value* lists = llvm::IRBuilder<>(needs_.entry, needs_.entry->begin()).CreateAlloca(lists_type);
    for (unsigned i = 0; i < kLists; ++i)
      b_.CreateStore(needs_.list(static_cast<PlanBuffer::Kind>(i)),
                     b_.CreateConstGEP2_64(lists_type, lists, 0, i));
    auto* type = llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy(), b_.getPtrTy()}, false);
    b_.CreateCall(module_.getOrInsertFunction("strata_run_streams", type), {head, lists});
  }

  llvm::StructType* structure(std::vector<llvm::Type*> fields) {
    return llvm::StructType::get(b_.getContext(), fields);
  }
  static Constant* row(llvm::StructType* type, const std::vector<Constant*>& fields) {
    return llvm::ConstantStruct::get(type, fields);
  }
  Constant* table(const std::vector<Constant*>& rows, llvm::StructType* type) {
    return global(llvm::ConstantArray::get(llvm::ArrayType::get(type, rows.size()), rows));
  }
  Constant* global(Constant* value) {
    return new llvm::GlobalVariable(module_, value->getType(), true,
                                    llvm::GlobalValue::PrivateLinkage, value,
                                    "concurrent_launches");
  }
  llvm::ConstantInt* number(std::int64_t n) { return b_.getInt64(static_cast<std::uint64_t>(n)); }

  const Plan& plan_;
  const ConcurrentLaunches& streams_;
  const StreamsNeeds& needs_;
  llvm::IRBuilder<>& b_;
  llvm::Module& module_;
};

}  // namespace

void emit_concurrent_launches(const Plan& plan, const ConcurrentLaunches& streams,
                              const StreamsNeeds& needs, llvm::IRBuilder<>& b) {
  ConcurrentLaunchesEmitter(plan, streams, needs, b).emit();
}

}  // namespace strata::compile
