#include "strata/train/step/step_program.h"

#include <fmt/format.h>

#include "strata/api/transform/jit.h"
#include "strata/data/conversations.h"
#include "strata/ir/declaration.h"
#include "strata/ir/pass/pass.h"
#include "strata/ir/text/printer.h"
#include "strata/model/decoder/model.h"
#include "strata/model/decoder/weights.h"
#include "strata/train/config/router_options.h"
#include "strata/train/pipeline.h"
#include "strata/train/state.h"
#include "strata/transform/export.h"

namespace strata::train {
namespace {

constexpr const char* kMesh = "mesh";

/// Types of a batch as `open_data` reads it.
Batch batch_types(const Config& c) {
  const Sizes shape = {sequences(c), c.max_target_length};
  const bool chats = data::names_conversations(c.train_data_columns);
  return eval_shape(
      [&](const Array& zero) {
        const Array whole = broadcast_to(zero, shape);
        Batch out{whole, whole};
        if (chats) out.weights = astype(whole, DType::f32);
        if (chats && c.packing) out.segments = out.positions = whole;
        return out;
      },
      zeros({}, DType::i32));
}

/// As `weight_types`, of models too that are too large for random numbers to be drawn.
tree::Tree types_of_weights(const Config& c, const Base& base) {
  namespace decoder = model::decoder;
  const decoder::Options* o = decoder::options_of(*base.model);
  if (base.weights || o == nullptr) return weight_types(c, base);
  const DType dtype = c.weight_dtype == "bfloat16" ? DType::bf16 : DType::f32;
  return eval_shape(
      [&](const Array& zero) {
        const decoder::Weights made = decoder::make_weights(
            *o, [&](std::string_view, const std::vector<std::int64_t>& shape, decoder::WeightKind) {
              return broadcast_to(zero, Sizes(shape));
            });
        return tree::of(made).with_metadata(
            [](const tree::Entry& e) { return decoder::logical_axes(e.name); });
      },
      zeros({}, dtype));
}

/// Constraints name the module's mesh instead of writing it out.
void name_the_mesh(ir::Block& block) {
  for (const auto& op : block.ops()) {
    if (const auto* text = std::get_if<ir::Opaque>(op->attrs.find("sharding"))) {
      const std::size_t from = text->text.find("<mesh<"), to = text->text.find("]>", from);
      if (from != std::string::npos && to != std::string::npos) {
        std::string named = text->text;
        named.replace(from + 1, to + 1 - from, std::string("@") + kMesh);
        op->attrs.set("sharding", ir::Opaque{named});
      }
    }
    for (const auto& region : op->regions) name_the_mesh(*region);
  }
}

std::vector<StepValue> arguments_of(const State& state, const Batch& batch,
                                    const nn::LogicalMesh* mesh) {
  std::vector<StepValue> out;
  tree::for_each_path(
      state, [&](const std::string& path, const Array& x) { out.push_back({path, x.type()}); });
  if (mesh) {
    const std::vector<mesh::NamedSharding> shardings = shardings_of(state, *mesh);
    for (std::size_t i = 0; i < out.size(); ++i) out[i].sharding = shardings[i];
  }
  tree::for_each_path(
      batch,
      [&](const std::string& path, const Array& x) {
        out.push_back({path, x.type()});
        if (mesh) out.back().sharding = sharding_of_batch(*mesh);
      },
      "batch");
  return out;
}

/// Results in the order of the program, whose last ones take the memory of the state.
std::vector<StepValue> results_of(std::vector<StepValue>& arguments, const Outcome& outcome,
                                  std::size_t state_leaves) {
  std::vector<StepValue> out;
  tree::for_each_path(
      outcome, [&](const std::string& path, const Array& x) { out.push_back({path, x.type()}); },
      "outcome");
  for (std::size_t i = 0; i < state_leaves; ++i) {
    arguments[i].donated_to = static_cast<int>(out.size());
    out.push_back({arguments[i].name, arguments[i].type, arguments[i].sharding});
  }
  return out;
}

void set_sharding(ir::Attrs& attrs, const StepValue& value) {
  if (!value.sharding) return;
  const auto rank = static_cast<std::size_t>(value.type.rank());
  attrs.set("sdy.sharding",
            ir::Opaque{value.sharding->to_tensor_sharding(kMesh, rank).to_attribute()});
}

}  // namespace

std::string StepProgram::text(transform::GroupedProducts how) const {
  const std::unique_ptr<ir::Module> m = copy();
  const bool cut = !arguments.empty() && arguments[0].sharding;
  const mesh::AbstractMesh* mesh = cut ? &arguments[0].sharding->mesh().abstract() : nullptr;
  transform::export_stablehlo(m->entry()->body, how, mesh);
  ir::outline_composites(*m);
  return ir::print(*m);
}

std::unique_ptr<ir::Module> StepProgram::copy() const {
  const ir::Function& from = *module->entry();
  auto out = std::make_unique<ir::Module>();
  out->name = module->name;
  out->attrs = module->attrs;
  ir::Function& f = out->add(from.name);
  f.is_public = from.is_public;
  f.arg_attrs = from.arg_attrs;
  f.result_attrs = from.result_attrs;
  for (const StepValue& a : arguments) f.body.add_argument(a.type);
  ir::Builder b(f.body);
  f.body.results = ir::inline_block(b, from.body, f.body.argument_values());
  return out;
}

std::int64_t StepProgram::devices() const {
  return arguments.empty() || !arguments[0].sharding ? 1 : arguments[0].sharding->mesh().size();
}

StepProgram step_program(const Config& c, const Base& base,
                         std::shared_ptr<const nn::LogicalMesh> mesh) {
  const tree::Tree weights = types_of_weights(c, base);
  const Optimizer optimizer = make_optimizer(c, weights, base.frozen);
  const State state = eval_shape([&](const tree::Tree& t) { return init(t, optimizer); }, weights);
  const Batch batch = batch_types(c);
  Step step = make_step(base.model, optimizer, step_options(c, *base.model));
  if (mesh) step = on_mesh(std::move(step), mesh, pipeline_of(c, *base.model));
  Outcome outcome;
  const auto lowered = jit(
                           [&](const State& s, const Batch& b) {
                             auto out = step(s, b);
                             outcome = out.first;
                             return out;
                           },
                           JitOptions{.name = "train_step"})
                           .lower(state, batch);
  StepProgram out;
  out.sequences = sequences(c);
  out.length = c.max_target_length;
  out.arguments = arguments_of(state, batch, mesh.get());
  std::size_t leaves = 0;
  tree::for_each(state, [&](const Array&) { ++leaves; });
  out.results = results_of(out.arguments, outcome, leaves);
  out.module = std::make_unique<ir::Module>();
  out.module->name = "train_step";
  if (mesh) {
    ir::add_mesh(*out.module, ir::Mesh{kMesh, mesh->mesh().to_shardy(), ""});
    out.module->attrs.set("mhlo.num_partitions",
                          ir::Opaque{fmt::format("{} : i32", mesh->mesh().size())});
  }
  ir::Function& f = out.module->add("main");
  f.is_public = true;
  for (const StepValue& a : out.arguments) f.body.add_argument(a.type);
  ir::Builder b(f.body);
  f.body.results = ir::inline_block(b, lowered.block(), f.body.argument_values());
  f.arg_attrs.resize(out.arguments.size());
  f.result_attrs.resize(out.results.size());
  for (std::size_t i = 0; i < out.arguments.size(); ++i) {
    set_sharding(f.arg_attrs[i], out.arguments[i]);
    if (out.arguments[i].donated_to >= 0)
      f.arg_attrs[i].set("tf.aliasing_output",
                         ir::Opaque{fmt::format("{} : i32", out.arguments[i].donated_to)});
  }
  for (std::size_t i = 0; i < out.results.size(); ++i)
    set_sharding(f.result_attrs[i], out.results[i]);
  if (mesh) name_the_mesh(f.body);
  return out;
}

StepProgram step_program(const Config& c, std::shared_ptr<const nn::LogicalMesh> mesh) {
  Base base;
  if (c.init.empty()) {
    base.model = make_model(c);
  } else {
    auto opened = open_base(c);
    if (!opened) throw ConfigError(opened.status().message());
    base = std::move(*opened);
  }
  return step_program(c, base, std::move(mesh));
}

}  // namespace strata::train
