#include "strata/compile/llvm/jit.h"

#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/ExecutionUtils.h>
#include <llvm/ExecutionEngine/Orc/ExecutorProcessControl.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/DCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include <map>
#include <mutex>

#include "strata/base/check.h"
#include "strata/base/stage_times.h"
#include "strata/compile/cpu/processor_features.h"
#include "strata/compile/llvm/runtime_symbols.h"
#include "strata/loop/tiles.h"

namespace strata::compile {
namespace {

[[noreturn]] void refuse(void*, const char* reason, bool) {
  throw InternalError(fmt::format("LLVM: {}", reason));
}

void initialize_llvm() {
  static const bool done = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::install_fatal_error_handler(refuse);
    return true;
  }();
  (void)done;
}

template <class T>
T checked(llvm::Expected<T> value, const char* what) {
  if (value) return std::move(*value);
  throw InternalError(fmt::format("{}: {}", what, llvm::toString(value.takeError())));
}
void checked(llvm::Error error, const char* what) {
  if (error) throw InternalError(fmt::format("{}: {}", what, llvm::toString(std::move(error))));
}

/// Strict IEEE: nothing is contracted or reassociated (loop.h).
std::unique_ptr<llvm::TargetMachine> make_machine(const std::string& cpu,
                                                  const std::string& features) {
  initialize_llvm();
  std::string triple = llvm::sys::getProcessTriple(), error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  STRATA_CHECK(target, "LLVM knows no target {}: {}", triple, error);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, cpu, features, options, llvm::Reloc::PIC_,
                                  llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default, true));
  STRATA_CHECK(machine, "LLVM makes no machine for {} {}", triple, cpu);
  return machine;
}

/// A machine is not made for two threads, and takes a while to make.
llvm::TargetMachine& machine_of_thread(const CpuTarget& target) {
  thread_local std::map<std::string, std::unique_ptr<llvm::TargetMachine>> machines;
  auto& machine = machines[target.cpu + " " + target.features];
  if (!machine) machine = make_machine(target.cpu, target.features);
  return *machine;
}

/// The kernels are vector code already; what is left is to make registers of locals, share
/// addresses and hoist.
void optimize(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager cgscc;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(cgscc);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, cgscc, modules);

  llvm::ModulePassManager inlines;
  inlines.addPass(llvm::AlwaysInlinerPass());
  inlines.run(module, modules);

  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(true));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), true));
  passes.addPass(llvm::EarlyCSEPass(true));
  passes.addPass(llvm::DCEPass());
  for (llvm::Function& f : module)
    if (!f.isDeclaration()) passes.run(f, functions);
}

}  // namespace

CpuTarget CpuTarget::named(const std::string& name) {
  initialize_llvm();
  std::size_t comma = std::min(name.find(','), name.size());
  std::string cpu = name.substr(0, comma), changes = name.substr(std::min(comma + 1, name.size()));
  CpuTarget target;
  if (cpu.empty() || cpu == "native") {
    target.cpu = llvm::sys::getHostCPUName().str();
    std::map<std::string, bool> sorted;
    for (const auto& feature : llvm::sys::getHostCPUFeatures())
      sorted[feature.getKey().str()] = feature.getValue();
    for (const auto& [name, on] : sorted)
      target.features += (target.features.empty() ? "" : ",") + std::string(on ? "+" : "-") + name;
  } else {
    target.cpu = cpu;
  }
  if (!changes.empty()) target.features += (target.features.empty() ? "" : ",") + changes;
  // LLVM 19 turns a masked vcmpph around to read a spilled operand, and leaves the predicate: x <=
  // 0 becomes 0 <= x. SSE4A's insertq, by which it puts bytes of a mask together, is not VEX: a Zen
  // 3 takes 350 cycles where registers of 32 bytes are in use.
  target.features += (target.features.empty() ? "" : ",") + std::string("-avx512fp16,-sse4a");
  auto machine = make_machine(target.cpu, target.features);
  target.avx512 =
      machine->getMCSubtargetInfo()->checkFeatures("+avx512f,+avx512vl,+avx512bw,+avx512dq");
  // Processors with AMX run vdpbf16ps at a quarter of the rate of an f32 product: two of those are
  // faster, and as exact as the reference.
  target.avx512bf16 =
      target.avx512 && machine->getMCSubtargetInfo()->checkFeatures("+avx512bf16,-amx-bf16");
  target.vnni = target.avx512 && machine->getMCSubtargetInfo()->checkFeatures("+avx512vnni");
  return target;
}

const CpuTarget& CpuTarget::host() {
  static const CpuTarget& target = *new CpuTarget([] {
    const char* wanted = std::getenv("STRATA_CPU");
    CpuTarget target = named(wanted ? wanted : "");
    auto machine = make_machine(target.cpu, target.features);
    target.tiles = target.avx512 &&
                   machine->getMCSubtargetInfo()->checkFeatures("+amx-tile,+amx-bf16") &&
                   loop::have_tiles();
    return target;
  }());
  return target;
}

const CpuTarget& CpuTarget::of(const std::string& name) {
  if (name.empty()) return host();
  static std::mutex mutex;
  static auto& known = *new std::map<std::string, CpuTarget>;
  std::lock_guard lock(mutex);
  auto it = known.find(name);
  if (it == known.end()) it = known.emplace(name, named(name)).first;
  return it->second;
}

std::uint64_t CpuTarget::feature_bits() const {
  auto machine = make_machine(cpu, features);
  std::uint64_t bits = 0;
#define STRATA_ADD_FEATURE(bit, name) \
  if (machine->getMCSubtargetInfo()->checkFeatures("+" name)) bits |= std::uint64_t{1} << (bit);
  STRATA_PROCESSOR_FEATURES(STRATA_ADD_FEATURE)
#undef STRATA_ADD_FEATURE
  return bits;
}

struct Jit::State {
  std::unique_ptr<llvm::orc::ExecutionSession> session;
  std::unique_ptr<llvm::orc::ObjectLinkingLayer> linker;
  llvm::orc::JITDylib* library = nullptr;
  std::mutex mutex;
  std::map<std::string, void*> defined;  // runtime symbols already told to the linker
  std::string problem;                   // the last one the linker spoke of
};

Jit& Jit::global() {
  static Jit& jit = *new Jit;
  return jit;
}

Jit::Jit() : state_(new State) {
  initialize_llvm();
  auto control = checked(llvm::orc::SelfExecutorProcessControl::Create(), "the JIT cannot start");
  char prefix = '\0';
  state_->session = std::make_unique<llvm::orc::ExecutionSession>(std::move(control));
  state_->session->setErrorReporter(
      [state = state_.get()](llvm::Error e) { state->problem = llvm::toString(std::move(e)); });
  state_->linker = std::make_unique<llvm::orc::ObjectLinkingLayer>(
      *state_->session, state_->session->getExecutorProcessControl().getMemMgr());
  state_->library = &state_->session->createBareJITDylib("strata");
  state_->library->addGenerator(
      checked(llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(prefix),
              "the process's own symbols cannot be read"));
}

std::string Jit::make_object(llvm::Module& module, const CpuTarget& target, bool assembly) {
  llvm::TargetMachine& machine = machine_of_thread(target);
  module.setDataLayout(machine.createDataLayout());
  module.setTargetTriple(machine.getTargetTriple().str());
  std::string problems;
  llvm::raw_string_ostream out(problems);
  if (llvm::verifyModule(module, &out))
    throw InternalError(
        fmt::format("LLVM refuses module {}: {}", module.getName().str(), problems));
  {
    Stage optimizes("  optimise");
    optimize(module, machine);
  }
  Stage generates("  generate");
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager codegen;
  auto kind = assembly ? llvm::CodeGenFileType::AssemblyFile : llvm::CodeGenFileType::ObjectFile;
  STRATA_CHECK(!machine.addPassesToEmitFile(codegen, stream, nullptr, kind, true),
               "LLVM cannot write objects");
  codegen.run(module);
  return std::string(bytes.data(), bytes.size());
}

Jit::Code Jit::link(std::string object, const std::string& symbol) {
  std::vector<std::string> objects;
  objects.push_back(std::move(object));
  return link(std::move(objects), std::vector<std::string>{symbol})[0];
}

std::vector<Jit::Code> Jit::link(std::vector<std::string> objects,
                                 const std::vector<std::string>& symbols) {
  std::lock_guard lock(state_->mutex);
  auto& session = *state_->session;
  llvm::orc::SymbolMap fresh;
  for (const auto& [name, address] : runtime_symbols()) {
    if (!state_->defined.emplace(name, address).second) continue;
    fresh[session.intern(name)] = {llvm::orc::ExecutorAddr::fromPtr(address),
                                   llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  }
  if (!fresh.empty())
    checked(state_->library->define(llvm::orc::absoluteSymbols(std::move(fresh))),
            "runtime symbols");
  std::vector<llvm::orc::ResourceTrackerSP> trackers;
  for (std::string& object : objects) {
    trackers.push_back(state_->library->createResourceTracker());
    checked(state_->linker->add(trackers.back(),
                                llvm::MemoryBuffer::getMemBufferCopy(object, "kernel")),
            "an object cannot be added");
  }
  llvm::orc::SymbolLookupSet wanted;
  for (const std::string& symbol : symbols) wanted.add(session.intern(symbol));
  auto found =
      session.lookup(llvm::orc::makeJITDylibSearchOrder(state_->library), std::move(wanted));
  if (!found) {
    llvm::consumeError(found.takeError());
    throw InternalError(fmt::format("code cannot be linked: {}", state_->problem));
  }
  std::vector<Code> out;
  for (std::size_t i = 0; i < symbols.size(); ++i)
    out.emplace_back((*found)[session.intern(symbols[i])].getAddress().toPtr<void*>(),
                     [state = state_.get(), tracker = trackers[i]](void*) {
                       std::lock_guard lock(state->mutex);
                       llvm::consumeError(tracker->remove());
                     });
  return out;
}

}  // namespace strata::compile
