#include <fmt/format.h>

#include <map>

#include "strata/compile/pipeline.h"
#include "strata/compile/plan/launch_cost.h"
#include "strata/compile/plan/make_plan.h"

namespace strata::compile {
namespace {

std::string text(const Plan& plan, const Address& a) {
  static const char* kinds[] = {"arg", "result", "constant", "temp", "scratch"};
  const PlanBuffer& b = plan.buffers[static_cast<std::size_t>(a.buffer)];
  bool placed = b.kind == PlanBuffer::Kind::temporary || b.kind == PlanBuffer::Kind::scratch;
  const char* kind = kinds[static_cast<int>(b.kind)];
  std::string out =
      placed ? fmt::format("{}@{}", kind, b.offset) : fmt::format("{}{}", kind, b.number);
  if (a.offset) out += fmt::format("+{}", a.offset);
  if (a.counter >= 0) out += fmt::format("[i{}*{}]", a.counter, a.stride);
  return out;
}

std::string text(const Plan& plan, const Launch& l) {
  const loop::Kernel& k = *plan.kernels[static_cast<std::size_t>(l.kernel)];
  std::string out =
      fmt::format("{} #{} grid {}{}(", k.name, l.kernel, k.grid, l.parallel ? " parallel" : "");
  for (std::size_t i = 0; i < l.arguments.size(); ++i) {
    const loop::Ref& ref = *k.parameters()[i];
    out += fmt::format("{}{}:{}[{}]", i ? ", " : "", text(plan, l.arguments[i]), name(ref.dtype),
                       ref.size);
  }
  return out + ")";
}

std::string text(const Plan& plan, const LaunchNative& l) {
  std::string out = fmt::format("{} grid {}{}(", l.symbol, l.grid, l.parallel ? " parallel" : "");
  for (std::size_t i = 0; i < l.arguments.size(); ++i)
    out += (i ? ", " : "") + text(plan, l.arguments[i]);
  return out + ")";
}

std::string text(const Plan& plan, const Copy& c) {
  return fmt::format("copy {} -> {} ({} bytes)", text(plan, c.from), text(plan, c.to), c.bytes);
}

/// A pipeline is one launch to whoever measures: its name, and all of it.
runtime::Launch one_launch(const Plan& plan, const TilePipeline& c) {
  std::string names, all;
  for (const Launch& l : c.launches) {
    names += (names.empty() ? "" : "+") + plan.kernels[static_cast<std::size_t>(l.kernel)]->name;
    all += (all.empty() ? "" : "; ") + text(plan, l);
  }
  return {names, fmt::format("tile pipeline of {} slices: {}", c.slices, all)};
}

/// Describes concurrent launch streams as one launch, and names each kernel once.
runtime::Launch one_launch(const Plan& plan, const ConcurrentLaunches& s) {
  std::map<int, int> times;
  std::vector<int> order;
  for (const Launch& l : s.launches)
    if (times[l.kernel]++ == 0) order.push_back(l.kernel);
  std::string names, all;
  for (int k : order) {
    const std::string& name = plan.kernels[static_cast<std::size_t>(k)]->name;
    names += (names.empty() ? "" : "+") + name;
    all += fmt::format("{}{} #{} {} times", all.empty() ? "" : ", ", name, k, times[k]);
  }
  return {names, fmt::format("{} concurrent sequences: {}", s.streams, all)};
}

void add_launches(const Plan& plan, const Steps& steps, std::vector<runtime::Launch>& out) {
  for (const Step& step : steps) {
    if (const auto* l = std::get_if<Launch>(&step.what))
      out.push_back({plan.kernels[static_cast<std::size_t>(l->kernel)]->name, text(plan, *l)});
    else if (const auto* n = std::get_if<LaunchNative>(&step.what); n && n->grid > 0)
      out.push_back({n->symbol, text(plan, *n)});
    else if (const auto* pipeline = std::get_if<TilePipeline>(&step.what))
      out.push_back(one_launch(plan, *pipeline));
    else if (const auto* streams = std::get_if<ConcurrentLaunches>(&step.what))
      out.push_back(one_launch(plan, *streams));
    else if (const auto* c = std::get_if<Copy>(&step.what); c && is_timed(*c))
      out.push_back({"copy", text(plan, *c)});
    else if (const auto* f = std::get_if<CountedLoop>(&step.what); f && f->count > 0)
      add_launches(plan, f->body, out);
    else if (const auto* w = std::get_if<WhileLoop>(&step.what))
      add_launches(plan, w->condition, out), add_launches(plan, w->body, out);
    else if (const auto* b = std::get_if<Branch>(&step.what))
      for (const Steps& s : b->branches) add_launches(plan, s, out);
  }
}

void print(const Plan& plan, const Steps& steps, int depth, std::string& out) {
  std::string pad(static_cast<std::size_t>(depth) * 2, ' ');
  for (const Step& step : steps) {
    if (const auto* l = std::get_if<Launch>(&step.what)) {
      out += pad + text(plan, *l) + "\n";
    } else if (const auto* n = std::get_if<LaunchNative>(&step.what)) {
      out += pad + text(plan, *n) + "\n";
    } else if (const auto* pipeline = std::get_if<TilePipeline>(&step.what)) {
      out += fmt::format("{}tile pipeline of {} slices, scratch {} bytes\n", pad, pipeline->slices,
                         pipeline->scratch_bytes);
      for (const Launch& l : pipeline->launches) out += pad + "  " + text(plan, l) + "\n";
    } else if (const auto* s = std::get_if<ConcurrentLaunches>(&step.what)) {
      out += fmt::format("{}{} concurrent sequences in {} claims, scratch {} bytes\n", pad,
                         s->streams, s->claims.size(), s->scratch_bytes);
      for (const Launch& l : s->launches) out += pad + "  " + text(plan, l) + "\n";
    } else if (const auto* c = std::get_if<Copy>(&step.what)) {
      out += pad + text(plan, *c) + (c->why.empty() ? "" : ": " + c->why) + "\n";
    } else if (const auto* f = std::get_if<CountedLoop>(&step.what)) {
      out += fmt::format("{}for i{} to {}{}\n", pad, f->counter, f->count,
                         f->reverse ? " reverse" : "");
      print(plan, f->body, depth + 1, out);
    } else if (const auto* w = std::get_if<WhileLoop>(&step.what)) {
      out += fmt::format("{}while {}\n", pad, text(plan, w->predicate));
      print(plan, w->condition, depth + 2, out);
      out += pad + "do\n";
      print(plan, w->body, depth + 1, out);
    } else if (const auto* b = std::get_if<Branch>(&step.what)) {
      out += fmt::format("{}branch on {}\n", pad, text(plan, b->index));
      for (const Steps& s : b->branches) {
        out += pad + "case\n";
        print(plan, s, depth + 1, out);
      }
    }
  }
}

}  // namespace

std::vector<runtime::Launch> launches(const Plan& plan) {
  std::vector<runtime::Launch> out;
  add_launches(plan, plan.steps, out);
  return out;
}

std::string print(const Plan& plan) {
  std::string out = fmt::format("plan {}: {} kernels, arena {} bytes\n", plan.name,
                                plan.kernels.size(), plan.arena_bytes);
  print(plan, plan.steps, 1, out);
  return out;
}

std::vector<LaunchCost> launch_costs(const ir::Block& block) {
  return launch_costs(make_plan(*prepare(block), {}, CpuTarget::host()));
}

}  // namespace strata::compile
