#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>

#include "strata/base/thread_pool.h"
#include "strata/cli/command.h"
#include "strata/cli/engine_options.h"
#include "strata/engine/text.h"
#include "strata/serve/server.h"

namespace strata::cli {
namespace {

struct Options {
  std::string model, park, host = "127.0.0.1", uds, key_file, certificate, generation = "auto",
                           activations = "float", logprobs_mode = "raw_logprobs";
  std::string tool_parser;
  bool strict = false, automatic_tools = false;
  std::vector<std::string> keys, names, origins = {"*"};
  std::int64_t port = 8000, length = 4096, sequences = 32, batched = 256, queue = 1024, rate = 0,
               cache = 0, logprobs = 20, shutdown = 30, connections = 1024;
  std::int64_t park_memory = 256, park_disk = 8192;
  int threads = 0;
  EngineOptions engine;
};

bool is_loopback(const std::string& host) {
  return host.starts_with("127.") || host == "localhost" || host == "::1";
}

/// As the model's makers want, where they say; else the model's own distribution.
engine::Sampling usual_of(const Options& o, const engine::LanguageModel& lm) {
  engine::Sampling s = o.generation == "vllm" ? engine::Sampling() : lm.generation.sampling;
  if (s.greedy()) s = {.repetition_penalty = s.repetition_penalty};
  return s;
}

engine::Sampling::LogprobsMode mode_of(const std::string& name) {
  using Mode = engine::Sampling::LogprobsMode;
  return name == "raw_logits"           ? Mode::raw_logits
         : name == "processed_logprobs" ? Mode::processed_logprobs
         : name == "processed_logits"   ? Mode::processed_logits
                                        : Mode::raw_logprobs;
}

int run(const Options& o) {
  if (o.keys.empty() && o.uds.empty() && !is_loopback(o.host))
    return fail(Status(Code::invalid,
                       "--host {}: a server that others reach needs a key: --api-key KEY", o.host));
  // Threads that follow leave these signals to this one.
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  if (o.threads > 0) set_num_threads(o.threads);
  auto lm = engine::load_language_model(
      o.model, {.int8_activations = o.activations == "int8", .length = o.length});
  if (!lm) return fail(lm.status());
  for (const std::string& note : lm->notes) std::cerr << "note: " << note << "\n";
  engine::Options options = engine::options_for(*lm, o.length, o.sequences);
  options.step_tokens = o.batched;
  options.max_logprobs = -1;  // the server looks at what is asked; beams ask for two of each width
  const std::int64_t pages_of_one = options.pages / o.sequences;
  options.pages = o.cache > 0 ? std::max<std::int64_t>(1, o.cache / options.page_size)
                              : std::min(options.pages, 4 * pages_of_one);
  if (Status put = o.engine.put_into(options, *lm); !put.ok()) return fail(put);
  std::optional<engine::Conversations::Limits> rest;
  if (!o.park.empty())
    rest = {.memory = o.park_memory << 20, .folder = o.park, .disk = o.park_disk << 20};
  serve::Engine engine(*lm, options, o.queue, rest);
  serve::ServerOptions so{.names = o.names,
                          .keys = o.keys,
                          .requests_per_minute = o.rate,
                          .origins = o.origins,
                          .max_logprobs = o.logprobs,
                          .logprobs_mode = mode_of(o.logprobs_mode),
                          .tool_parser = o.tool_parser,
                          .strict_fields = o.strict,
                          .usual = usual_of(o, *lm)};
  if (so.names.empty()) so.names.push_back(std::filesystem::path(o.model).filename().string());
  if (so.names[0].empty()) so.names[0] = o.model;
  serve::Server server(engine, so);
  net::HttpServerOptions http{.host = o.host,
                              .port = static_cast<int>(o.port),
                              .uds = o.uds,
                              .ssl_keyfile = o.key_file,
                              .ssl_certfile = o.certificate};
  http.limits.connections = o.connections;
  auto listening = net::HttpServer::listen(http, server.handler(), serve::refusal);
  if (!listening) return fail(listening.status());
  std::cerr << "listening on " << (*listening)->url() << std::endl;
  int signal = 0;
  ::sigwait(&ends, &signal);
  ::pthread_sigmask(SIG_UNBLOCK, &ends, nullptr);  // a second one ends at once
  std::signal(SIGINT, SIG_DFL);
  std::cerr << "answering what was asked, then leaving" << std::endl;
  if (!(*listening)->drain(std::chrono::seconds(o.shutdown)))
    std::cerr << "some answers took longer than --shutdown-timeout" << std::endl;
  return kDone;
}

}  // namespace

void add_serve(CommandLine& app, std::function<int()>& action) {
  CommandLine& command = app.add_subcommand("serve", "an OpenAI-compatible server of a model");
  command.description(
      "Answers OpenAI's completions and chat completions over HTTP, and shows a chat page at /. "
      "Tokens and log-probabilities of a\n"
      "request do not depend on what else is answered. Ctrl-C answers what was asked, then "
      "leaves.\n\nExample:\n"
      "  strata serve --model SmolLM2-135M-Instruct.gguf\n"
      "  strata serve --model SmolLM2 --host 0.0.0.0 --port 8080 --api-key secret "
      "--served-model-name smol\n"
      "  curl http://127.0.0.1:8000/v1/chat/completions -d '{\"messages\": [{\"role\": \"user\", "
      "\"content\": \"Hi\"}]}'\n");
  auto o = std::make_shared<Options>();
  command
      .add_option("--model", o->model,
                  "a GGUF file, a Hugging Face directory, or a cache's models--org--name")
      .required();
  command.add_option("--served-model-name", o->names, "what requests call it; may be given often")
      .one_at_a_time();
  command.add_option("--host", o->host, "address to listen on; others than loopback need a key")
      .show_default();
  command.add_option("--port", o->port, "0: one that is free")
      .in_range(std::int64_t{0}, std::int64_t{65535})
      .show_default();
  command.add_option("--uds", o->uds, "listens on a unix socket at this path instead")
      .type_name("PATH");
  command.add_option("--api-key", o->keys, "who may use it; may be given often").one_at_a_time();
  command.add_option("--rate-limit", o->rate, "requests of a key in a minute; 0: any number")
      .in_range(std::int64_t{0}, std::int64_t{1} << 30)
      .show_default();
  command.add_option("--allowed-origins", o->origins, "pages that may ask; may be given often")
      .one_at_a_time();
  command.add_option("--ssl-keyfile", o->key_file, "PEM file of the private key, for https");
  command.add_option("--ssl-certfile", o->certificate, "PEM file of the certificate");
  command.add_option("--max-model-len", o->length, "tokens of a request, prompt and output")
      .in_range(std::int64_t{16}, std::int64_t{1} << 24)
      .show_default();
  command.add_option("--max-num-seqs", o->sequences, "sequences that are drawn at once")
      .in_range(std::int64_t{1}, std::int64_t{1024})
      .show_default();
  command
      .add_option("--max-num-batched-tokens", o->batched,
                  "tokens of prompts that a step reads of all requests")
      .in_range(std::int64_t{1}, std::int64_t{1} << 20)
      .show_default();
  command.add_option("--max-num-queued-reqs", o->queue, "sequences that may wait; 0: any number")
      .in_range(std::int64_t{0}, std::int64_t{1} << 20)
      .show_default();
  command
      .add_option("--kv-cache-tokens", o->cache,
                  "tokens that the cache holds; 0: four of the longest requests")
      .in_range(std::int64_t{0}, std::int64_t{1} << 30)
      .show_default();
  command.add_option("--max-logprobs", o->logprobs, "the most that a request may ask for")
      .in_range(std::int64_t{0}, std::int64_t{1000})
      .show_default();
  command
      .add_option("--logprobs-mode", o->logprobs_mode,
                  "what is told of tokens: by the model's own logits, or as they are drawn, after "
                  "bias, penalties, temperature and cuts")
      .one_of({"raw_logprobs", "processed_logprobs", "raw_logits", "processed_logits"})
      .show_default();
  command
      .add_option("--tool-call-parser", o->tool_parser,
                  "how the model writes calls of tools; without it, as its chat template does")
      .one_of(serve::call_format_names());
  command.add_flag("--enable-auto-tool-choice", o->automatic_tools,
                   "says nothing here: tools beside tool_choice auto are always read");
  command.add_flag("--strict-fields", o->strict,
                   "refuses requests with fields that it does not know; else it names them in "
                   "X-Ignored-Fields");
  command.add_option("--max-connections", o->connections, "clients at once")
      .in_range(std::int64_t{1}, std::int64_t{65536})
      .show_default();
  command
      .add_option("--generation-config", o->generation,
                  "auto: tokens are drawn as the model's makers say; vllm: by its own distribution")
      .one_of({"auto", "vllm"})
      .show_default();
  command.add_option("--shutdown-timeout", o->shutdown, "seconds that answers have when it leaves")
      .in_range(std::int64_t{0}, std::int64_t{86400})
      .show_default();
  command.add_option("--park", o->park,
                     "a folder where conversations rest, by the session_id of their requests: "
                     "what was read of them comes back, after a restart too");
  command.add_option("--park-memory", o->park_memory, "MiB of conversations that rest in memory")
      .in_range(std::int64_t{0}, std::int64_t{1} << 24)
      .show_default();
  command.add_option("--park-disk", o->park_disk, "MiB of conversations that rest on disk")
      .in_range(std::int64_t{0}, std::int64_t{1} << 30)
      .show_default();
  o->engine.add_to(command);
  add_activations(command, o->activations);
  add_threads(command, o->threads);
  command.callback([o, &action] { action = [o] { return run(*o); }; });
}

}  // namespace strata::cli
