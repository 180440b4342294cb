#include "strata/conformance/execute.h"

#include <algorithm>
#include <stdexcept>

#include "strata/compile/cpu/cpu_client.h"
#include "strata/ir/verify.h"
#include "strata/op/collective/world.h"
#include "strata/op/control/probe.h"
#include "strata/op/evaluate.h"

namespace strata::conformance {
namespace {

using ir::Block;
using ir::Function;
using ir::Op;
using ir::Value;

bool is_array_constant(const Op& op) {
  const ir::Attr* value =
      op.operands.empty() && op.num_results() == 1 ? op.attrs.find("value") : nullptr;
  const Literal* literal = value == nullptr ? nullptr : std::get_if<Literal>(value);
  return literal != nullptr && literal->type() == op.result()->type() && literal->count() > 1;
}

/// Moves the block's large constants out of it.
void take_constants(Block& block, Function& f, std::vector<Literal>& values, ir::ValueMap& map,
                    std::vector<std::unique_ptr<Op>>& taken) {
  for (auto& op : block.ops()) {
    if (is_array_constant(*op)) {
      values.push_back(op->attr<Literal>("value"));
      map.set(op->result(), f.body.add_argument(op->result()->type()));
      taken.push_back(std::move(op));
      continue;
    }
    if (op->info().isolated) continue;
    for (auto& region : op->regions) take_constants(*region, f, values, map, taken);
  }
  std::erase(block.ops(), nullptr);
}

}  // namespace

Verdict verdict_of(const Status& status) {
  switch (status.code()) {
    case Code::ok: return Verdict::equal;
    case Code::invalid:
    case Code::corrupt: return Verdict::malformed;
    case Code::unsupported: return Verdict::unsupported;
    default: return Verdict::world;
  }
}

std::vector<Literal> constants_to_arguments(Function& f) {
  std::vector<Literal> values;
  ir::ValueMap map;
  std::vector<std::unique_ptr<Op>> taken;
  take_constants(f.body, f, values, map, taken);
  ir::replace_uses(f.body, map);
  f.arg_attrs.resize(static_cast<std::size_t>(f.body.num_arguments()));
  return values;
}

Callable::Callable(Function& f, Mode mode, bool fold, bool timed)
    : f_(&f), num_results_(f.body.results.size()), checks_(extract_checks(f)) {
  if (mode == Mode::reference) return;
  if (!fold) constants_ = constants_to_arguments(f);
  compile::register_cpu();
  specialized_ = std::make_unique<runtime::Specialized>(
      f.body, runtime::CompileOptions{.name = f.name, .timed = timed});
  if (!specialized_->is_open()) executable_ = specialized_->executable();
}

void Callable::compile(const std::vector<Literal>& arguments) const {
  if (specialized_ == nullptr || executable_ != nullptr) return;
  specialized_->executable(runtime::known(buffers(arguments)));
}

std::vector<runtime::Buffer> Callable::run(const std::vector<Literal>& arguments,
                                           std::string* printed) const {
  if (specialized_ == nullptr) {
    op::probes().clear();
    op::World world;
    if (printed != nullptr) world.print = [&](const std::string& text) { *printed += text; };
    std::vector<Literal> results = op::evaluate(f_->body, arguments, world);
    return {results.begin(), results.end()};
  }
  std::vector<runtime::Buffer> all = buffers(arguments);
  const auto executable = executable_ ? executable_ : specialized_->executable(runtime::known(all));
  return executable->run(std::move(all));
}

std::vector<runtime::Buffer> Callable::run_timed(const std::vector<Literal>& arguments,
                                                 runtime::LaunchTimes& times) const {
  std::vector<runtime::Buffer> in = buffers(arguments), out = executable_->results_for(in);
  std::vector<void*> from, to;
  for (runtime::Buffer& b : in) from.push_back(const_cast<std::byte*>(b.data()));
  for (runtime::Buffer& b : out) to.push_back(b.mutable_data());
  executable_->run_timed(from.data(), to.data(), times);
  return out;
}

std::vector<runtime::Buffer> Callable::buffers(const std::vector<Literal>& arguments) const {
  std::vector<runtime::Buffer> all(arguments.begin(), arguments.end());
  for (const Literal& c : constants_) all.emplace_back(c);
  return all;
}

std::vector<Literal> literals(const std::vector<runtime::Buffer>& buffers) {
  std::vector<Literal> out;
  for (const runtime::Buffer& b : buffers) out.push_back(b.literal());
  return out;
}

Result<std::vector<Literal>> arguments_of(const Function& f, const checkpoint::TensorFile& file,
                                          const std::string& name) {
  std::vector<Literal> out;
  for (int i = 0; i < f.body.num_arguments(); ++i) {
    auto it = file.tensors.find(fmt::format("in.{}", i));
    if (it == file.tensors.end())
      return Status(Code::invalid, "{}: no tensor in.{} for argument {} of @{}", name, i, i,
                    f.name);
    const Type& want = f.body.argument(i)->type();
    if (!ir::may_be_same(it->second.type(), want))
      return Status(Code::invalid, "{}: in.{} is {}, argument {} of @{} is {}", name, i,
                    it->second.type().to_string(), i, f.name, want.to_string());
    out.push_back(it->second);
  }
  return out;
}

op::Demand tolerance_of(const checkpoint::TensorFile& file) {
  auto number = [&](const char* key) {
    auto it = file.metadata.find(key);
    return it == file.metadata.end() ? 0.0 : std::strtod(it->second.c_str(), nullptr);
  };
  return {.kind = op::Demand::Kind::within, .rtol = number("rtol"), .atol = number("atol")};
}

std::vector<std::string> differences(const std::vector<Literal>& results, std::size_t count,
                                     const checkpoint::TensorFile& file, const op::Demand& demand,
                                     op::Distance* largest) {
  std::vector<std::string> out;
  for (std::size_t r = 0; r < count; ++r) {
    auto it = file.tensors.find(fmt::format("out.{}", r));
    if (it == file.tensors.end()) {
      out.push_back(fmt::format("output {} is not in the file of expected values", r));
      continue;
    }
    const Literal &got = results[r], &want = it->second;
    if (!(got.type() == want.type()))
      out.push_back(fmt::format("output {} is {}, expected {}", r, got.type().to_string(),
                                want.type().to_string()));
    else if (auto difference = op::compare(demand, got, want, largest))
      out.push_back(fmt::format("output {} differs {}", r, op::to_string(*difference)));
  }
  return out;
}

}  // namespace strata::conformance
