#include "strata/conformance/program.h"

#include <algorithm>

#include "strata/base/error.h"
#include "strata/ir/export/entry.h"
#include "strata/ir/read.h"
#include "strata/ir/text/printer.h"
#include "strata/ir/verify.h"

namespace strata::conformance {
namespace {

std::string first_difference(std::string_view a, std::string_view b) {
  std::size_t at = static_cast<std::size_t>(
      std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
  std::size_t line = static_cast<std::size_t>(
                         std::count(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(at), '\n')) +
                     1;
  auto excerpt = [&](std::string_view text) {
    return std::string(text.substr(at < 30 ? 0 : at - 30, 80));
  };
  return fmt::format("line {}: '{}' became '{}'", line, excerpt(a), excerpt(b));
}

}  // namespace

std::vector<Part> split(std::string_view text) {
  if (ir::is_binary(text)) return {{text, 1}};
  return ir::split_parts(text);
}

namespace {

Result<std::unique_ptr<ir::Module>> read(const Part& part, const std::string& filename,
                                         const std::string& platform) {
  const ir::ParseOptions options{.first_line = part.first_line};
  if (!ir::is_jax_export(part.text)) return ir::read(part.text, filename, options);
  auto e = ir::read_jax_export(part.text, filename);
  if (!e) return e.status();
  return ir::read_exported(*e, filename, platform, options);
}

}  // namespace

Result<std::unique_ptr<ir::Module>> load(const Part& part, const std::string& filename,
                                         const std::string& platform) {
  auto module = read(part, filename, platform);
  if (!module) return module.status();
  if (Status s = ir::verify(**module); !s.ok()) return s;
  return module;
}

Result<std::vector<ir::Function*>> entries(const ir::Module& module, const std::string& name,
                                           const std::string& filename) {
  if (!name.empty()) {
    ir::Function* f = module.find(name);
    if (f == nullptr) return Status(Code::invalid, "{}: no function @{}", filename, name);
    return std::vector<ir::Function*>{f};
  }
  for (const char* usual : {"main", "jit_main"})
    if (ir::Function* f = module.find(usual)) return std::vector<ir::Function*>{f};
  std::vector<ir::Function*> out;
  for (const auto& f : module.functions)
    if (f->body.num_arguments() == 0) out.push_back(f.get());
  if (out.empty() && module.entry() != nullptr) out.push_back(module.entry());
  return out;
}

Status print_is_fixpoint(const ir::Module& module) {
  std::string once = ir::print(module);
  auto read = ir::parse(once, "printed");
  if (!read)
    return Status(Code::invalid, "what was printed cannot be read: {}", read.status().message());
  std::string twice = ir::print(**read);
  if (once != twice)
    return Status(Code::invalid, "printing is no fixpoint: {}", first_difference(once, twice));
  return Status();
}

}  // namespace strata::conformance
