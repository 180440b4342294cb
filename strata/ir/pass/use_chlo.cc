#include <optional>

#include "strata/base/error.h"
#include "strata/ir/pass/pass.h"
#include "strata/ir/text/attr_text.h"
#include "strata/ir/text/cursor.h"

namespace strata::ir {
namespace {

/// Whether it is written as jaxlib writes those of CHLO, or as python/strata_jax writes any: the
/// name of the decomposition follows from the operation's, with a number where the module has
/// several.
bool is_of_operation(const Op& op) {
  const Attr* name = op.attrs.find("name");
  const Attr* decomposition = op.attrs.find("decomposition");
  const auto* n = name ? std::get_if<std::string>(name) : nullptr;
  const auto* d = decomposition ? std::get_if<Opaque>(decomposition) : nullptr;
  return n != nullptr && d != nullptr &&
         (n->starts_with("chlo.") || n->starts_with("stablehlo.")) &&
         d->text.starts_with("@" + *n + ".impl");
}

/// The attributes of the operation that the composite stands for; nothing where they are not a
/// dictionary.
std::optional<Attrs> attributes(const Op& op) {
  const Attr* attr = op.attrs.find("composite_attributes");
  if (attr == nullptr) return Attrs();
  const auto* text = std::get_if<Opaque>(attr);
  if (text == nullptr || !text->text.starts_with("{")) return {};
  Cursor c(std::string_view(text->text).substr(1));
  return parse_attr_entries(c, {});
}

/// The types that the operation would have; nothing where it takes no such operands or attributes.
std::optional<std::vector<Type>> inferred(const OpInfo& info, const Op& composite,
                                          const Attrs& attrs) {
  if (!info.infer) return {};
  try {
    return info.infer(composite.operands, attrs, {});
  } catch (const Error&) {
    return {};
  }
}

void use_chlo(Block& block) {
  ValueMap map;
  std::vector<std::unique_ptr<Op>> old = std::move(block.ops()), replaced;
  block.ops().clear();
  Builder b(block);
  for (auto& op : old) {
    op->operands = map(op->operands);
    for (auto& region : op->regions) {
      replace_uses(*region, map);
      use_chlo(*region);
    }
    const OpInfo* info = op->name() == "stablehlo.composite" && is_of_operation(*op)
                             ? Registry::global().find(op->attr<std::string>("name"))
                             : nullptr;
    const std::optional<Attrs> attrs = info ? attributes(*op) : std::nullopt;
    const auto types = attrs ? inferred(*info, *op, *attrs) : std::nullopt;
    std::vector<Type> wanted;
    for (const Value* v : op->results()) wanted.push_back(v->type());
    if (!types || *types != wanted) {
      block.append(std::move(op));
      continue;
    }
    b.set_location(op->where);
    const Op& made = b.create(*info, op->operands, *attrs);
    for (int i = 0; i < op->num_results(); ++i) map.set(op->result(i), made.result(i));
    replaced.push_back(std::move(op));  // its results are keys of the map until the end
  }
  block.results = map(block.results);
}

}  // namespace

void use_chlo(Module& module) {
  for (const auto& f : module.functions) use_chlo(f->body);
}

}  // namespace strata::ir
