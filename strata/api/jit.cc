#include "strata/api/jit.h"

#include "strata/ir/text/printer.h"

#include "strata/runtime/client.h"

namespace strata::internal {

std::string jit_key(const std::string& structure, std::span<const Array> leaves) {
  std::string key = structure;
  key += x64_enabled() ? "|wide" : "|";
  for (const Array& leaf : leaves) {
    key += ';';
    key += name(leaf.dtype());
    if (leaf.weak()) key += '~';
    for (const Dim& d : leaf.shape().dims()) {
      key += ',';
      key += std::to_string(d.size());
    }
  }
  return key;
}

std::shared_ptr<runtime::Executable> compile(const Program& program, const std::string& name, std::vector<bool> donated) {
  STRATA_CHECK(program.captured.empty(), "the program of jit captured {} arrays", program.captured.size());
  runtime::CompileOptions options;
  options.donated = std::move(donated);
  options.name = name;
  return runtime::default_client().compile(*program.block, options);
}

std::vector<Array> run(runtime::Executable& executable, std::vector<Array> leaves, const std::vector<bool>& weak) {
  std::vector<runtime::Buffer> arguments;
  arguments.reserve(leaves.size());
  for (Array& leaf : leaves) arguments.push_back(std::move(leaf).buffer());
  std::vector<runtime::Buffer> results = executable.run(std::move(arguments));
  std::vector<Array> out;
  out.reserve(results.size());
  for (std::size_t i = 0; i < results.size(); ++i) out.push_back(concrete(std::move(results[i]), weak[i]));
  return out;
}

}  // namespace strata::internal

namespace strata {

std::string Lowered::as_text() const {
  ir::Module module;
  module.name = "jit_" + name_;
  ir::Function& f = module.add("main");
  for (std::size_t i = 0; i < static_cast<std::size_t>(program_->block->num_arguments()); ++i)
    f.body.add_argument(program_->block->argument(static_cast<int>(i))->type());
  ir::Builder b(f.body);
  f.body.results = ir::inline_block(b, *program_->block, f.body.argument_values());
  return ir::print(module);
}

}  // namespace strata
