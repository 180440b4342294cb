#include "strata/compile/llvm/object_file.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <map>

#include "strata/base/check.h"
#include "strata/base/error.h"
#include "strata/compile/cpu/object_program.h"
#include "strata/compile/llvm/emit/emit_driver.h"
#include "strata/compile/llvm/emit/emit_kernel.h"
#include "strata/compile/llvm/fingerprint.h"
#include "strata/compile/llvm/jit.h"

namespace strata::compile {
namespace {

using llvm::Constant;

/// Addresses inside an object are 32 bits.
constexpr std::size_t kMostConstants = std::size_t{3} << 29;

class ObjectEmitter {
 public:
  ObjectEmitter(const Plan& plan, const ObjectInterface& interface, llvm::Module& module)
      : plan_(plan), interface_(interface), module_(module), b_(module.getContext()) {}

  void emit() {
    const InlinedLaunches inlined(plan_);
    const std::vector<std::string> symbols = kernels(inlined);
    llvm::Function* driver = emit_driver(plan_, inlined, symbols, module_, "driver", false);
    driver->setLinkage(llvm::GlobalValue::InternalLinkage);
    run(program(driver));
    constant(llvm::ConstantDataArray::getString(module_.getContext(), interface_.signature),
             interface_.name + "_signature")
        ->setLinkage(llvm::GlobalValue::ExternalLinkage);
  }

 private:
  /// Equal kernels that are called once; the symbol of each.
  std::vector<std::string> kernels(const InlinedLaunches& inlined) {
    std::map<std::string, std::string> by_structure;
    std::vector<std::string> out;
    for (std::size_t k = 0; k < plan_.kernels.size(); ++k) {
      if (!inlined.is_called(static_cast<int>(k))) {
        out.emplace_back();
        continue;
      }
      const auto& kernel = plan_.kernels[k];
      auto [it, fresh] =
          by_structure.emplace(fingerprint(*kernel), fmt::format("kernel_{}", by_structure.size()));
      if (fresh)
        emit_kernel(*kernel, module_, it->second, plan_.target)
            ->setLinkage(llvm::GlobalValue::InternalLinkage);
      out.push_back(it->second);
    }
    return out;
  }

  /// Memory of this object alone that nobody writes to.
  llvm::GlobalVariable* constant(Constant* value, const std::string& name = "") {
    const std::string symbol = name.empty() ? fmt::format("constant_{}", constants_++) : name;
    auto* global =
        llvm::cast<llvm::GlobalVariable>(module_.getOrInsertGlobal(symbol, value->getType()));
    global->setInitializer(value);
    global->setConstant(true);
    global->setLinkage(llvm::GlobalValue::PrivateLinkage);
    global->setAlignment(llvm::Align(64));
    return global;
  }
  Constant* constant(const Literal& literal) {
    return constant(llvm::ConstantDataArray::getRaw(
        llvm::StringRef(reinterpret_cast<const char*>(literal.data()), literal.bytes()),
        literal.bytes(), b_.getInt8Ty()));
  }
  Constant* number(std::int64_t n) { return b_.getInt64(static_cast<std::uint64_t>(n)); }

  /// The ObjectProgram.
  Constant* program(llvm::Function* driver) {
    std::vector<Constant*> addresses;
    for (const Literal& l : plan_.constants) addresses.push_back(constant(l));
    auto* table = llvm::ArrayType::get(b_.getPtrTy(), addresses.size());
    llvm::GlobalVariable* arena = constant(llvm::ConstantPointerNull::get(b_.getPtrTy()), "arena");
    arena->setConstant(false);
    static_assert(offsetof(ObjectProgram, features) == 8 && offsetof(ObjectProgram, driver) == 16 &&
                  offsetof(ObjectProgram, constants) == 24 &&
                  offsetof(ObjectProgram, arena_bytes) == 32 &&
                  offsetof(ObjectProgram, arena) == 40 && sizeof(ObjectProgram) == 48);
    return constant(llvm::ConstantStruct::getAnon(
        {number(kObjectVersion), b_.getInt64(plan_.target.feature_bits()), driver,
         constant(llvm::ConstantArray::get(table, addresses)), number(plan_.arena_bytes), arena}));
  }

  /// NAME_run: leaves all to the runtime.
  void run(Constant* program) {
    auto* signature = llvm::FunctionType::get(b_.getPtrTy(), {b_.getPtrTy(), b_.getPtrTy()}, false);
    auto* function = llvm::Function::Create(signature, llvm::Function::ExternalLinkage,
                                            interface_.name + "_run", module_);
    b_.SetInsertPoint(llvm::BasicBlock::Create(module_.getContext(), "entry", function));
    auto* called = llvm::FunctionType::get(b_.getPtrTy(),
                                           {b_.getPtrTy(), b_.getPtrTy(), b_.getPtrTy()}, false);
    b_.CreateRet(b_.CreateCall(module_.getOrInsertFunction(kRunObject, called),
                               {program, function->getArg(0), function->getArg(1)}));
  }

  const Plan& plan_;
  const ObjectInterface& interface_;
  llvm::Module& module_;
  llvm::IRBuilder<> b_;
  int constants_ = 0;
};

}  // namespace

std::string make_object_file(const Plan& plan, const ObjectInterface& interface) {
  std::size_t total = 0;
  for (const Literal& l : plan.constants) total += l.bytes();
  if (total > kMostConstants)
    throw Error(
        interface.name,
        "its constants take {} MB, an object file has room for {}: make the large ones inputs",
        total >> 20, kMostConstants >> 20);
  llvm::LLVMContext context;
  llvm::Module module(interface.name, context);
  ObjectEmitter(plan, interface, module).emit();
  return Jit::global().make_object(module, plan.target);
}

}  // namespace strata::compile
