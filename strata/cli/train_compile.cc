// `strata train-compile`: what a training step takes of each chip, and what it moves between them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "strata/base/file.h"
#include "strata/cli/compile_target.h"
#include "strata/cli/maxtext.h"
#include "strata/train/maxtext/topology.h"
#include "strata/train/maxtext/translate.h"
#include "strata/train/report/memory_need.h"
#include "strata/train/report/mesh_report.h"
#include "strata/train/state.h"
#include "strata/train/step/parallelism.h"
#include "strata/train/step/step_time.h"

namespace strata::cli {
namespace {

namespace maxtext = train::maxtext;
using nlohmann::ordered_json;

struct Options {
  std::vector<std::string> arguments;
  std::string target, output;
  bool json = false;
};

/// A step, and what it is to be compiled for.
struct Job {
  train::Config config;
  std::string topology;  // as the user calls it
  std::string target;    // "tpu:v5e:16x16"; empty where it has no name here
};

Job maxtext_job(const Options& o) {
  const maxtext::Resolved r = resolve_maxtext(o.arguments);
  const std::string* slice = r.values.at("compile_topology").text();
  if (slice == nullptr || slice->empty())
    throw train::ConfigError(
        "compile_topology: a slice is needed, such as compile_topology=v5e-256");
  const double slices = maxtext::number(r.values.at("compile_topology_num_slices"));
  if (slices < 1)
    throw train::ConfigError(fmt::format(
        "compile_topology_num_slices={}: You must set it to a positive integer", slices));
  const maxtext::Translation t = maxtext::translate(r, false);
  for (const std::string& note : t.notes) std::cerr << note << "\n";
  Job out{train::read_config({}, t.keys, train::Data::optional), *slice, o.target};
  const std::string shape = maxtext::topology_of(*slice);
  if (out.target.empty() && slices == 1 && !shape.empty()) out.target = "tpu:" + shape;
  return out;
}

Job own_job(const Options& o) {
  const std::int64_t devices = maxtext::devices_of_topology(o.target);
  if (devices == 0)
    throw train::ConfigError(
        "--target: a topology is needed, such as --target=tpu:v5e:4x4, or MaxText's "
        "compile_topology=v5e-16");
  const train::Config c = read_config_arguments(o.arguments, train::Data::optional);
  return {train::with_devices(c, devices), o.target, o.target};
}

ordered_json summary(const Job& job, const train::StepProgram& p, const train::MeshReport& r) {
  std::int64_t parameters = 0;
  for (const train::StepValue& a : p.arguments)
    if (a.name.starts_with("params.") || p.arguments.size() == 1)
      parameters += a.type.shape().count();
  ordered_json moved = ordered_json::object();
  for (const auto& [kind, m] : r.collectives)
    moved[kind] = {{"times", m.times}, {"bytes", m.bytes}};
  const double flops = train::make_model(job.config)->flops_per_step(p.sequences, p.length);
  return {{"topology", job.topology},
          {"devices", r.devices},
          {"parameters", parameters},
          {"mesh", r.axes},
          {"global_batch_size", p.sequences},
          {"tokens_per_step", p.sequences * p.length},
          {"state_bytes_per_chip", r.state_bytes},
          {"batch_bytes_per_chip", r.batch_bytes},
          {"flops_per_chip", flops / static_cast<double>(r.devices)},
          {"collectives_by_strata", moved}};
}

/// How long the step would take of chips whose speeds are known, with the collectives of the
/// compiler that made it, else of Strata's partitioner.
std::optional<train::StepTime> predicted(const Job& job, const train::StepProgram& p,
                                         const train::MeshReport& r,
                                         const runtime::plugin::CompileReport* compiled) {
  const auto chip = train::chip_named(job.target.empty() ? job.topology : job.target);
  if (!chip) return std::nullopt;
  auto moved = r.collectives;
  if (compiled != nullptr) {
    moved.clear();
    for (const auto& [name, c] : compiled->collectives) {
      std::string kind = name;
      std::replace(kind.begin(), kind.end(), '-', '_');
      moved[kind] = {c.times, static_cast<std::int64_t>(
                                  train::received(kind, static_cast<double>(c.bytes), r.devices))};
    }
  }
  const double flops = train::make_model(job.config)->flops_per_step(p.sequences, p.length) /
                       static_cast<double>(r.devices);
  return train::step_time(*chip, train::step_work(job.config, flops, r, moved));
}

int run(const Options& o) {
  const bool upstream = maxtext::is_maxtext(o.arguments) || o.target.empty();
  const Job job = upstream ? maxtext_job(o) : own_job(o);
  const train::StepProgram p = train::step_program(job.config, train::mesh_of(job.config));
  const std::string code =
      job.target.empty()
          ? p.text()
          : p.text(transform::products_of(job.target.substr(0, job.target.find(':'))));
  if (!o.output.empty())
    if (Status s = write_file_atomic(o.output, code); !s.ok()) return fail(s);
  const train::MeshReport r = train::mesh_report(p);
  ordered_json out = summary(job, p, r);
  if (!o.json) {
    for (const auto& [key, value] : out.items())
      if (key != "collectives_by_strata") std::cout << key << ": " << value.dump() << "\n";
    std::cout << "by Strata's partitioner, " << r.to_string() << "\n";
  }
  const auto advice = [&](std::int64_t needed, std::int64_t available) {
    return train::memory_advice(job.config, p.length, r.state_bytes, needed, available,
                                train::Room::chip);
  };
  int exit = kDone;
  auto report = job.target.empty() ? Result<runtime::plugin::CompileReport>(Status(
                                         Code::not_found,
                                         "{} of several slices, or of a shape that is not known, "
                                         "is not compiled; --target=tpu:v5e:4x4 names one",
                                         job.topology))
                                   : compile_code_for(job.target, code, r.devices, r.devices > 1);
  if (const auto t = predicted(job, p, r, report ? &*report : nullptr)) {
    out["predicted_step_s"] = {
        {"overlapped", t->overlapped()}, {"apart", t->apart()}, {"arithmetic", t->arithmetic},
        {"memory", t->memory},           {"links", t->links},   {"bound", t->bound()}};
    if (!o.json) std::cout << t->to_string() << "\n";
  }
  if (report) {
    if (!o.json) std::cout << report_text(*report, job.target);
    out["compiled"] = ordered_json::parse(report_json(*report, job.target));
    const std::int64_t over = report->total_bytes() - report->hbm_bytes;
    if (report->hbm_bytes > 0 && over > 0) {
      std::cerr << fmt::format(
          "strata: the step takes {} of each chip, {} more than it has\n{}{}; {}\n",
          train::size_text(report->total_bytes()), train::size_text(over),
          largest_arrays(*p.module), train::largest_arguments(p),
          advice(report->total_bytes(), report->hbm_bytes));
      exit = kWorkFailed;
    }
  } else if (report.status().code() == Code::no_space) {
    const std::string& words = report.status().message();
    const auto s = runtime::plugin::shortage_of(words).value_or(runtime::plugin::Shortage{});
    std::cerr << fmt::format("strata: the step does not fit: {}\n{}{}{}; {}\n", words,
                             shortage_text(words), largest_arrays(*p.module),
                             train::largest_arguments(p), advice(s.needed, s.available));
    exit = kWorkFailed;
  } else if (report.status().code() == Code::not_found) {
    std::cerr << fmt::format("not compiled: {}\n", report.status().message());
  } else {
    return fail(report.status());
  }
  if (o.json) std::cout << out.dump() << "\n";
  return exit;
}

}  // namespace

void add_train_compile(CommandLine& app, std::function<int()>& action) {
  CommandLine& command = app.add_subcommand(
      "train-compile", "what a training step takes of each chip, and what it moves between them");
  command.description(
      "Compiles the training step of a configuration for chips that are not here, by the compiler "
      "of "
      "their plugin (for TPUs the\npackage libtpu), and says what it takes of each. Without the "
      "plugin it says what Strata's own partitioner moves.\n\nExample:\n  strata train-compile "
      "src/maxtext/configs/base.yml model_name=llama3.1-70b compile_topology=v5e-256\n      "
      "compile_topology_num_slices=1 per_device_batch_size=1\n  strata train-compile "
      "configs/demo.yml --target=tpu:v5e:4x4 ici_fsdp_parallelism=-1");
  auto o = std::make_shared<Options>();
  command.add_option("arguments", o->arguments, "a YAML file of keys, then key=value")
      .type_name("[FILE.yml] key=value ...");
  command.add_option("--target", o->target, "chips instead of compile_topology, as tpu:v5e:4x4")
      .type_name("TARGET");
  command
      .add_option("-o,--output", o->output,
                  "a file for the step's program, in StableHLO with Shardy's shardings")
      .type_name("FILE");
  command.add_flag("--json", o->json, "the last line of stdout is one JSON object");
  command.callback([o, &action] { action = [o] { return as_maxtext([&] { return run(*o); }); }; });
}

}  // namespace strata::cli
