#include "strata/pjrt/program.h"

#include <pthread.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <exception>
#include <functional>

#include "strata/base/checksum.h"
#include "strata/base/error.h"
#include "strata/ir/bytecode/writer.h"
#include "strata/ir/pass/pass.h"
#include "strata/ir/read.h"
#include "strata/ir/text/attr_text.h"
#include "strata/ir/text/printer.h"
#include "strata/ir/verify.h"
#include "strata/op/def.h"
#include "strata/op/foreign/foreign.h"
#include "strata/pjrt/client.h"
#include "strata/pjrt/error.h"
#include "strata/pjrt/sharded_program.h"
#include "strata/runtime/specialized.h"

namespace strata::pjrt {
namespace {

constexpr std::size_t kStack = 256u << 20;  // address space: what is not used costs nothing

/// Runs `f` on a thread with a deep stack; its exception comes back.
void on_deep_stack(const std::function<void()>& f) {
  struct Call {
    const std::function<void()>& f;
    std::exception_ptr thrown;
  } call{f, {}};
  pthread_attr_t attr;
  pthread_attr_init(&attr);
  pthread_attr_setstacksize(&attr, kStack);
  pthread_t thread;
  const int error = pthread_create(
      &thread, &attr,
      [](void* arg) -> void* {
        auto& call = *static_cast<Call*>(arg);
        try {
          call.f();
        } catch (...) {
          call.thrown = std::current_exception();
        }
        return nullptr;
      },
      &call);
  pthread_attr_destroy(&attr);
  if (error != 0)
    fail(PJRT_Error_Code_RESOURCE_EXHAUSTED, "no thread to compile on: {}", std::strerror(error));
  pthread_join(thread, nullptr);
  if (call.thrown) std::rethrow_exception(call.thrown);
}

/// An integer attribute of any width, or `otherwise`.
std::int64_t integer(const ir::Attrs& attrs, std::string_view name, std::int64_t otherwise) {
  const ir::Attr* attr = attrs.find(name);
  if (attr == nullptr) return otherwise;
  if (const auto* value = std::get_if<std::int64_t>(attr)) return *value;
  const auto* text = std::get_if<ir::Opaque>(attr);
  std::int64_t out = otherwise;
  if (text != nullptr)
    std::from_chars(text->text.data(), text->text.data() + text->text.size(), out);
  return out;
}

bool flag(const ir::Attrs& attrs, std::string_view name) {
  const ir::Attr* attr = attrs.find(name);
  const bool* value = attr ? std::get_if<bool>(attr) : nullptr;
  return value != nullptr && *value;
}

std::string word(const ir::Attrs& attrs, std::string_view name, const char* otherwise) {
  const ir::Attr* attr = attrs.find(name);
  const auto* value = attr ? std::get_if<std::string>(attr) : nullptr;
  return value ? *value : otherwise;
}

const ir::Attrs& at(const std::vector<ir::Attrs>& all, std::size_t i) {
  static const ir::Attrs none;
  return i < all.size() ? all[i] : none;
}

Result<std::unique_ptr<ir::Module>> read(std::string_view code) {
  auto module = ir::read(code, "program");
  if (!module) return module.status();
  if (Status s = ir::verify(**module); !s.ok()) return s;
  return module;
}

/// Places of a program: which arguments are given away, and the layouts of all.
void read_ports(const ir::Function& f, Program& out) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(f.body.num_arguments()); ++i) {
    const ir::Attrs& attrs = at(f.arg_attrs, i);
    out.argument_orders.push_back(order_of(attrs, f.body.argument(static_cast<int>(i))->type()));
    out.donated.push_back(attrs.find("tf.aliasing_output") != nullptr ||
                          flag(attrs, "jax.buffer_donor"));
    out.argument_tokens.push_back(f.body.argument(static_cast<int>(i))->type().is_token());
    out.argument_kinds.push_back(word(attrs, "mhlo.memory_kind", "device"));
  }
  for (std::size_t r = 0; r < f.body.results.size(); ++r) {
    const ir::Attrs& attrs = at(f.result_attrs, r);
    out.result_orders.push_back(order_of(attrs, f.body.results[r]->type()));
    out.result_tokens.push_back(f.body.results[r]->type().is_token());
    out.result_kinds.push_back(word(attrs, "mhlo.memory_kind", "device"));
  }
}

/// 32 digits of what the bytes are.
std::string digest(std::string_view code, std::string_view options) {
  std::string out;
  std::uint32_t crc = crc32c(kVersion);
  for (std::string_view part : {code, options, code, options})
    out += hex32(crc = crc32c(part, crc ^ static_cast<std::uint32_t>(out.size())));
  return out;
}

/// The function for arguments of the types that it states, where shapes are to be found out: all
/// static. Null where they are already, as JAX sends them.
std::unique_ptr<ir::Block> refined(const ir::Function& f) {
  runtime::Specialized specialized(f.body);
  if (!specialized.is_open()) return nullptr;
  std::vector<op::Known> arguments;
  for (const auto& a : f.body.arguments()) arguments.push_back({a->type(), std::nullopt});
  return specialized.block(arguments);
}

/// As it is compiled: one function without calls.
std::unique_ptr<ir::Module> lowered(std::string_view code) {
  auto module = read(code);
  if (!module) fail(module.status());
  ir::use_chlo(**module);
  ir::inline_calls(**module);
  return std::move(*module);
}

/// What a device runs, on arrays in their layouts.
struct ToCompile {
  explicit ToCompile(std::unique_ptr<ir::Module> read) : module(std::move(read)) {}
  std::unique_ptr<ir::Module> module;
  std::unique_ptr<ir::Block> fixed, lying;
  DeviceProgram part;
  const ir::Block* before = nullptr;  // its arrays are row-major
  const ir::Block& body() const { return lying ? *lying : *before; }
};

ToCompile to_compile(std::unique_ptr<ir::Module> module, const Program& program) {
  ToCompile out(std::move(module));
  ir::Function& f = *out.module->entry();
  const std::int64_t replicas = program.options.replicas, partitions = program.options.partitions;
  out.fixed = refined(f);
  if (replicas * partitions > 1) {
    if (out.fixed)
      fail(PJRT_Error_Code_UNIMPLEMENTED, "a program of open shapes on {} devices",
           replicas * partitions);
    out.part = device_program(*out.module, replicas, partitions);
  }
  out.before = out.part.body ? out.part.body.get() : out.fixed ? out.fixed.get() : &f.body;
  out.lying = laid_out(*out.before, program.argument_orders, program.result_orders);
  return out;
}

/// What a framework offers without saying for which result (`jax.buffer_donor`, where several
/// devices run) is given away only where a result has its size, as by XLA.
void keep_unused_donors(const ir::Function& f, Program& out) {
  for (std::size_t i = 0; i < out.donated.size(); ++i) {
    if (!out.donated[i] || at(f.arg_attrs, i).find("tf.aliasing_output") != nullptr) continue;
    const auto& results = out.executable->result_types();
    out.donated[i] = std::any_of(results.begin(), results.end(), [&](const Type& t) {
      return t.bytes() == out.executable->argument_types()[i].bytes();
    });
  }
}

void compile(Program& out) {
  std::unique_ptr<ir::Module> module = lowered(out.code);
  ir::Function* f = module->entry();
  if (f == nullptr) fail(PJRT_Error_Code_INVALID_ARGUMENT, "the program has no function to run");
  for (auto [name, n] : {std::pair{"mhlo.num_replicas", out.options.replicas},
                         std::pair{"mhlo.num_partitions", out.options.partitions}})
    if (const std::int64_t stated = integer(module->attrs, name, 1); stated > 1 && stated != n)
      fail(PJRT_Error_Code_INVALID_ARGUMENT, "{} is {}, the compile options say {}", name, stated,
           n);
  out.name = module->name.empty() ? f->name : module->name;
  read_ports(*f, out);
  ir::walk(f->body, [&](const ir::Op& op) { out.calls_out |= op::foreign::is_resolvable(op); });
  ToCompile ready = to_compile(std::move(module), out);
  ir::walk(*ready.before, [&](const ir::Op& op) {
    if (op::def(op).cost == nullptr) return;
    const op::Work work = op::def(op).cost(op);
    out.flops += work.flops;
    out.bytes_accessed += work.bytes;
  });
  out.argument_shardings = std::move(ready.part.arguments);
  out.result_shardings = std::move(ready.part.results);
  out.argument_shardings.resize(out.donated.size());
  out.result_shardings.resize(out.result_kinds.size());
  out.executable = runtime::default_client().compile(
      ready.body(), {.donated = out.donated, .name = out.name, .keep = false});
  if (out.options.replicas * out.options.partitions > 1) keep_unused_donors(*f, out);
}

constexpr std::string_view kMagic = "StrataX1";

void put(std::string& out, std::string_view bytes) {
  const std::uint64_t size = bytes.size();
  for (int i = 0; i < 8; ++i) out += static_cast<char>(size >> (8 * i));
  out += bytes;
}

std::string_view get(std::string_view& rest) {
  std::uint64_t size = 0;
  if (rest.size() < 8)
    fail(PJRT_Error_Code_INVALID_ARGUMENT, "the serialised program is cut short");
  for (int i = 0; i < 8; ++i)
    size |=
        static_cast<std::uint64_t>(static_cast<unsigned char>(rest[static_cast<std::size_t>(i)]))
        << (8 * i);
  rest.remove_prefix(8);
  if (size > rest.size())
    fail(PJRT_Error_Code_INVALID_ARGUMENT, "the serialised program is cut short");
  std::string_view out = rest.substr(0, size);
  rest.remove_prefix(size);
  return out;
}

}  // namespace

std::shared_ptr<Program> compile_program(std::string_view code, std::string_view options) {
  auto out = std::make_shared<Program>();
  out->code = std::string(code);
  out->options_bytes = std::string(options);
  out->options = compile_options(options);
  out->fingerprint = digest(code, options);
  on_deep_stack([&] { compile(*out); });
  return out;
}

std::shared_ptr<runtime::Executable> Program::timed(bool* made) {
  std::lock_guard lock(mutex_);
  if (timed_) return timed_;
  on_deep_stack([&] {
    timed_ = runtime::default_client().compile(
        to_compile(lowered(code), *this).body(),
        {.donated = donated, .name = name, .keep = false, .timed = true});
  });
  if (made) *made = true;
  return timed_;
}

// What compiling costs is paid once: machine code is found again by its structure
// (compile/llvm/code_cache.h).
std::string Program::serialize() const {
  std::string out(kMagic);
  put(out, kVersion);
  put(out, options_bytes);
  put(out, code);
  put(out, hex32(crc32c(out)));
  return out;
}

std::shared_ptr<Program> read_program(std::string_view bytes, std::string_view other_options) {
  if (!bytes.starts_with(kMagic))
    fail(PJRT_Error_Code_INVALID_ARGUMENT, "these bytes are no program that Strata serialised");
  std::string_view rest = bytes.substr(kMagic.size());
  const std::string_view version = get(rest), options = get(rest), code = get(rest);
  const std::string sum = hex32(crc32c(bytes.substr(0, bytes.size() - rest.size())));
  if (get(rest) != sum || !rest.empty())
    fail(PJRT_Error_Code_DATA_LOSS, "the serialised program is damaged");
  if (version != kVersion)
    fail(PJRT_Error_Code_FAILED_PRECONDITION, "a program of {} for {}", version, kVersion);
  return compile_program(code, other_options.empty() ? options : other_options);
}

namespace {

/// Whether a custom call in the function names another one that it computes with.
bool names(const ir::Function& f, const std::string& other) {
  bool found = false;
  ir::walk(f.body, [&](const ir::Op& op) {
    const ir::Attr* called = op.attrs.find("called_computations");
    if (called != nullptr) found |= ir::attr_text(*called).find('@' + other) != std::string::npos;
  });
  return found;
}

/// The entry function becomes that of one device; what it calls is inlined.
void show_of_device(ir::Module& module, const Program& program) {
  const std::unique_ptr<ir::Module> parted = lowered(program.code);
  DeviceProgram part =
      device_program(*parted, program.options.replicas, program.options.partitions);
  const ir::Function* whole = module.entry();
  std::vector<std::unique_ptr<ir::Function>> kept;
  for (auto& f : module.functions)
    if (f.get() == whole)
      part.function->name = f->name;
    else if (names(*part.function, f->name))
      kept.push_back(std::move(f));
  kept.insert(kept.begin(), std::move(part.function));
  module.functions = std::move(kept);
}

}  // namespace

std::string shown_program(const Program& program) {
  constexpr std::size_t kLarge = 1 << 20;  // bytes
  std::string out;
  on_deep_stack([&] {
    auto module = read(program.code);
    if (!module) fail(module.status());
    if (program.options.partitions > 1) show_of_device(**module, program);
    say_layouts(**module, program.argument_orders, program.result_orders);
    if (program.code.size() > kLarge)
      if (auto bytes = ir::write_bytecode(**module); bytes.ok())
        return void(out = *std::move(bytes));
    out = ir::print(**module);
  });
  return out;
}

}  // namespace strata::pjrt
