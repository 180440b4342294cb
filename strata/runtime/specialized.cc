#include "strata/runtime/specialized.h"

#include "strata/base/error.h"
#include "strata/transform/refine.h"

namespace strata::runtime {

std::vector<op::Known> known(std::span<const Buffer> arguments) {
  std::vector<op::Known> out;
  for (const Buffer& b : arguments) out.push_back({b.type(), b.literal()});
  return out;
}

Specialized::Specialized(const ir::Block& block, CompileOptions options)
    : block_(block),
      options_(std::move(options)),
      open_(op::is_dynamic(block) || op::needs_values(block)) {}

std::unique_ptr<ir::Block> Specialized::block(const std::vector<op::Known>& arguments) {
  if (!open_) return ir::clone(block_);
  std::lock_guard lock(mutex_);
  return refined(arguments);
}

/// Types alone are tried first: most programs make shapes of sizes, and are then the same for all
/// elements.
std::unique_ptr<ir::Block> Specialized::refined(const std::vector<op::Known>& arguments) {
  if (!by_value_) {
    std::vector<op::Known> types;
    for (const op::Known& a : arguments) types.push_back({a.type, std::nullopt});
    try {
      std::unique_ptr<ir::Block> out = transform::refine(block_, types);
      if (!op::needs_values(*out)) return out;
    } catch (const Error& e) {
      if (!e.is_unsupported()) throw;
    }
    by_value_ = true;
  }
  return transform::refine(block_, arguments);
}

/// What the compiled form depends on besides the program.
std::string Specialized::key(const std::vector<op::Known>& arguments) const {
  std::string out;
  if (!open_) return out;
  for (const op::Known& a : arguments) {
    out += a.type.to_string() + ';';
    if (by_value_ && a.value && op::may_be_shape(a.type))
      out.append(reinterpret_cast<const char*>(a.value->data()), a.value->bytes());
  }
  return out;
}

std::shared_ptr<Executable> Specialized::executable(const std::vector<op::Known>& arguments) {
  std::lock_guard lock(mutex_);
  if (auto it = compiled_.find(key(arguments)); it != compiled_.end()) return it->second;
  std::unique_ptr<ir::Block> block = open_ ? refined(arguments) : nullptr;
  return compiled_[key(arguments)] = default_client().compile(block ? *block : block_, options_);
}

}  // namespace strata::runtime
