// Operations between processes: the generic form alone, with the channel's handle packed.
#include "strata/ir/text/format_help.h"

namespace strata::ir {
namespace {

constexpr char kHandle[] = "channel_handle", kPrefix[] = "#stablehlo.channel_handle",
               kId[] = "channel_id", kType[] = "channel_type";
constexpr const char* kUnits[] = {"use_global_device_ids", "has_dynamic_root"};

void handle_from_generic(TextParser& p, Draft& draft) {
  if (!draft.attrs.has(kHandle)) {
    for (const char* name : {kId, kType})
      if (draft.attrs.has(name)) need_integer(p, draft, name);
    if (draft.attrs.has(kType) && !draft.attrs.has(kId))
      p.fail_at(p.op_offset(),
                fmt::format("attribute '{}' of {} needs '{}'", kType, draft.info->name, kId));
    return;
  }
  Fields fields = struct_fields(p, draft, kHandle, kPrefix);
  if (fields["handle"].size() != 1 || fields["type"].size() != 1)
    p.fail_at(p.op_offset(), fmt::format("attribute '{}' of {} needs a handle and a type", kHandle,
                                         draft.info->name));
  draft.attrs.erase(kHandle);
  draft.attrs.set(kId, fields["handle"][0]).set(kType, fields["type"][0]);
}

/// Lists of processes are tensors of i64 in two dimensions; groups may also be said by axes of a
/// mesh.
void need_pairs(TextParser& p, const Draft& draft, const char* name, bool or_axes) {
  const Attr* a = draft.attrs.find(name);
  if (a == nullptr || (or_axes && std::holds_alternative<Opaque>(*a))) return;
  const Literal& literal = p.need<Literal>(draft, name, "tensor<?x?xi64>");
  if (literal.dtype() != DType::i64 || literal.shape().rank() != 2)
    p.fail_at(p.op_offset(), fmt::format("attribute '{}' of {} is {}, which is no tensor<?x?xi64>",
                                         name, draft.info->name, literal.type().to_string()));
}

void from_generic(TextParser& p, Draft& draft) {
  handle_from_generic(p, draft);
  need_pairs(p, draft, "replica_groups", true);
  need_pairs(p, draft, "source_target_pairs", false);
  for (const char* name : kUnits) {
    const Attr* a = draft.attrs.find(name);
    if (a == nullptr) continue;
    const Opaque* unit = std::get_if<Opaque>(a);
    if (unit != nullptr && unit->text == "unit")
      draft.attrs.set(name, true);
    else if (!p.need<bool>(draft, name, "boolean"))
      draft.attrs.erase(name);
  }
}

GenericForm to_generic(const Op& op) {
  GenericForm out = plain_form(op);
  if (op.attrs.has(kId)) {
    out.attrs.erase(kId);
    out.attrs.erase(kType);
    out.attrs.set(kHandle, Opaque{fmt::format("{}<handle = {}, type = {}>", kPrefix,
                                              op.attr<std::int64_t>(kId),
                                              op.attrs.get_or<std::int64_t>(kType, 0))});
  }
  for (const char* name : kUnits)
    if (op.attrs.get_or<bool>(name, false)) out.attrs.set(name, Opaque{"unit"});
  return out;
}

void reduce_from_generic(TextParser& p, Draft& draft) {
  from_generic(p, draft);
  bool one_type = std::all_of(draft.operands.begin(), draft.operands.end(), [&](const Value* v) {
    return v->dtype() == draft.operands[0]->dtype();
  });
  combiner_from_generic(p, draft, one_type);
}
GenericForm reduce_to_generic(const Op& op) {
  GenericForm out = to_generic(op);
  combiner_to_generic(out, op);
  return out;
}

}  // namespace

namespace formats {
const TextFormat collective{.from_generic = from_generic, .to_generic = to_generic};
const TextFormat collective_reduce{.from_generic = reduce_from_generic,
                                   .to_generic = reduce_to_generic};
}  // namespace formats
}  // namespace strata::ir
