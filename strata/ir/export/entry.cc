#include "strata/ir/export/entry.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "strata/base/error.h"

namespace strata::ir {
namespace {

/// Where the platform stands among those of the export.
Result<std::size_t> number_of(const JaxExport& e, std::string_view platform) {
  const auto it = std::find(e.platforms.begin(), e.platforms.end(), platform);
  if (it != e.platforms.end()) return static_cast<std::size_t>(it - e.platforms.begin());
  if (e.any_platform) return std::size_t{0};
  std::string quoted = fmt::format("\"{}\"", platform);
  for (const std::string& p : e.platforms) quoted += fmt::format(", \"{}\"", p);
  return Status(
      Code::unsupported,
      "exported for {}, not for {}: export it with platforms=[{}] (jax.export.export), or load the "
      "program of another platform by its name (Program::load(file, {{.platform = \"{}\"}}), "
      "strata-run and strata compile --platform={})",
      fmt::join(e.platforms, ", "), platform, quoted, e.platforms.empty() ? "" : e.platforms[0],
      e.platforms.empty() ? "" : e.platforms[0]);
}

/// The type as programs write it: open dimensions without their expressions.
Type plain(const Type& type) {
  if (!type.is_tensor()) return type;
  std::vector<Dim> dims = type.shape().dims();
  for (Dim& d : dims)
    if (!d.is_static()) d = Dim::unknown();
  return type.with(Shape(std::move(dims)));
}

/// The entry with `e`'s inputs in place of its arguments; takes its operations, not yet verified.
std::unique_ptr<Function> completed(Function& f, const JaxExport& e, std::size_t number,
                                    const Registry& registry) {
  auto out = std::make_unique<Function>(f.name);
  out->is_public = f.is_public;
  out->has_visibility = f.has_visibility;
  out->attrs = f.attrs;
  out->result_attrs = f.result_attrs;
  out->arg_attrs.resize(e.inputs.size());
  const std::size_t front = e.platforms.size() > 1 ? 1 : 0;
  Builder b(out->body);
  Values inputs;
  ValueMap map;
  for (const Type& type : e.input_types) inputs.push_back(out->body.add_argument(plain(type)));
  if (front == 1)
    map.set(f.body.argument(0),
            b.create(*registry.find("stablehlo.constant"), {},
                     {{"value", Literal::scalar(static_cast<std::int32_t>(number))}}, {},
                     {Type::scalar(DType::i32)})
                .result());
  for (std::size_t k = 0; k < e.kept.size(); ++k) {
    const auto input = static_cast<std::size_t>(e.kept[k]);
    const Value* was = f.body.argument(static_cast<int>(front + k));
    inputs[input]->set_type(was->type());
    inputs[input]->set_hint(was->hint());
    if (front + k < f.arg_attrs.size()) out->arg_attrs[input] = f.arg_attrs[front + k];
    map.set(was, inputs[input]);
  }
  for (auto& op : f.body.ops()) {
    op->operands = map(op->operands);
    for (auto& region : op->regions) replace_uses(*region, map);
    out->body.append(std::move(op));
  }
  out->body.results = map(f.body.results);
  f.body.ops().clear();
  return out;
}

}  // namespace

Result<std::unique_ptr<Module>> read_exported(const JaxExport& e, std::string_view filename,
                                              std::string_view platform,
                                              const ParseOptions& options) {
  if (e.devices != 1)
    return Status(Code::unsupported, "{}: an export for {} devices", filename, e.devices);
  auto located = [&](const Status& s) { return Status(s.code(), "{}: {}", filename, s.message()); };
  if (!e.ordered_effects.empty())
    return located(
        Status(Code::unsupported, "ordered effects: {}", fmt::join(e.ordered_effects, ", ")));
  Result<std::size_t> number = number_of(e, platform);
  if (!number) return located(number.status());
  Result<std::unique_ptr<Module>> module = read_bytecode(e.program, filename, options);
  if (!module) return module;
  Function* f = (*module)->entry();
  if (f == nullptr) return located(Status(Code::invalid, "no function to run"));
  const std::size_t front = e.platforms.size() > 1 ? 1 : 0, takes = front + e.kept.size(),
                    has = static_cast<std::size_t>(f->body.num_arguments()),
                    gives = f->body.results.size();
  if (takes != has || e.outputs.size() != gives)
    return located(Status(Code::corrupt, "@{} has {} arguments and {} results, not {} and {}",
                          f->name, has, gives, takes, e.outputs.size()));
  if (front == 1 && f->body.argument(0)->type() != Type::scalar(DType::i32))
    return located(Status(Code::corrupt, "@{} takes {} for the number of a platform", f->name,
                          f->body.argument(0)->type().to_string()));
  const Registry& registry = options.registry ? *options.registry : Registry::global();
  std::unique_ptr<Function> whole = completed(*f, e, *number, registry);
  for (auto& function : (*module)->functions)
    if (function.get() == f) {
      function = std::move(whole);
      break;
    }
  return module;
}

}  // namespace strata::ir
