#include "strata/model/published/rope_parameters.h"

#include <cmath>

#include "strata/base/error.h"

namespace strata::model::published {

using decoder::Rope;

namespace {

Rope::Type type_of(const std::string& name, bool old_longrope) {
  if (old_longrope && (name == "su" || name == "yarn")) return Rope::Type::longrope;
  if (name == "default" || name == "none") return Rope::Type::plain;
  if (name == "linear") return Rope::Type::linear;
  if (name == "dynamic") return Rope::Type::dynamic;
  if (name == "llama3") return Rope::Type::llama3;
  if (name == "yarn") return Rope::Type::yarn;
  if (name == "longrope") return Rope::Type::longrope;
  if (name == "proportional") return Rope::Type::proportional;
  throw Error("config.json",
              "rope_type={}: there are default, linear, dynamic, llama3, yarn, longrope, "
              "proportional",
              name)
      .unsupported();
}

/// The object that holds the parameters, if any.
std::optional<Config> parameters_of(const Config& c, const std::string& layer_type) {
  const std::optional<Config> all =
      c.has("rope_parameters") ? c.child("rope_parameters") : c.child("rope_scaling");
  if (!all || layer_type.empty() || !all->has_object(layer_type)) return all;
  return all->child(layer_type);
}

double yarn_scale(double factor, double by) {
  return factor <= 1 ? 1.0 : 0.1 * by * std::log(factor) + 1;
}

}  // namespace

Rope rope_of(const Config& c, std::int64_t head_dim, const RopeDefaults& defaults) {
  const std::optional<Config> inside = parameters_of(c, defaults.layer_type);
  const auto has = [&](std::string_view key) { return (inside && inside->has(key)) || c.has(key); };
  const auto number = [&](std::string_view key, double fallback) {
    return inside && inside->has(key) ? inside->number(key) : c.number(key, fallback);
  };
  Rope r;
  if (inside)
    r.type =
        type_of(inside->text("rope_type", inside->text("type", "default")), defaults.old_longrope);
  r.theta = number("rope_theta", defaults.theta);
  const double part = number("partial_rotary_factor", 1);
  if (!(part > 0) || part > 1)
    throw Error("config.json", "partial_rotary_factor={}: allowed are numbers above 0, up to 1",
                part);
  // Of all pairs of a proportional one the first turn; else of the first elements all do.
  const bool whole = r.type == Rope::Type::proportional;
  r.width = whole ? head_dim : static_cast<std::int64_t>(static_cast<double>(head_dim) * part);
  if (whole) r.proportion = part;
  r.length = c.integer("max_position_embeddings", 0);
  if (whole) r.factor = number("factor", 1);
  if (r.type == Rope::Type::plain || whole) return r;

  const Config& holder = inside->has("original_max_position_embeddings") ? *inside : c;
  r.original_length = holder.integer("original_max_position_embeddings", r.length);
  const bool by_ratio = r.type == Rope::Type::yarn || r.type == Rope::Type::longrope;
  if (has("factor"))
    r.factor = number("factor", 1);
  else if (by_ratio && r.original_length > 0)
    r.factor = static_cast<double>(r.length) / static_cast<double>(r.original_length);
  else
    throw Error("config.json", "{}", "the rotary scaling has no factor");
  if (r.type == Rope::Type::llama3) {
    r.low_freq_factor = inside->number("low_freq_factor");
    r.high_freq_factor = inside->number("high_freq_factor");
  }
  if (r.type == Rope::Type::yarn) {
    r.beta_fast = inside->number("beta_fast", 32);
    r.beta_slow = inside->number("beta_slow", 1);
    r.truncate = inside->flag("truncate", true);
    const double one = inside->number("mscale", 0), all = inside->number("mscale_all_dim", 0);
    r.attention_factor = one != 0 && all != 0
                             ? yarn_scale(r.factor, one) / yarn_scale(r.factor, all)
                             : yarn_scale(r.factor, 1);
  }
  if (r.type == Rope::Type::longrope) {
    r.short_factor = inside->numbers("short_factor");
    r.long_factor = inside->numbers("long_factor");
    if (r.factor > 1)
      r.attention_factor =
          std::sqrt(1 + std::log(r.factor) / std::log(static_cast<double>(r.original_length)));
  }
  if (by_ratio) r.attention_factor = inside->number("attention_factor", r.attention_factor);
  return r;
}

}  // namespace strata::model::published
