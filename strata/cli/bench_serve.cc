#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "strata/base/file.h"
#include "strata/cli/bench_report.h"
#include "strata/cli/command.h"
#include "strata/engine/language_model.h"
#include "strata/net/http_client.h"

namespace strata::cli {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

struct Options {
  std::string base_url, host = "127.0.0.1", model, backend = "openai", endpoint, dataset = "random",
                        path, tokenizer, key, result, rate = "inf";
  std::vector<std::string> percents = {"50", "90", "99"}, goodput;
  std::int64_t port = 8000, prompts = 1000, concurrency = 0, input = 1024, output = 128, prefix = 0,
               timeout = 600, warmups = 1;
  std::uint64_t seed = 0;
  double burstiness = 1, range = 0;
  std::optional<double> temperature;
  bool json = false, ignore_eos = false, detailed = false;

  bool chat() const { return backend == "openai-chat"; }
};

/// What one request asks: a text, or tokens, and how many are to be drawn.
struct Prompt {
  Json text;
  std::int64_t output = 0;
};

/// Words that are a token each in most vocabularies.
constexpr const char* kWords[] = {
    "the",  "of",   "and",   "to",    "in",    "is",    "that",  "for",  "it",   "as",   "was",
    "with", "be",   "by",    "on",    "not",   "he",    "his",   "but",  "at",   "are",  "this",
    "have", "from", "or",    "had",   "an",    "they",  "which", "one",  "you",  "were", "all",
    "her",  "she",  "there", "would", "their", "we",    "him",   "been", "has",  "when", "who",
    "will", "no",   "more",  "if",    "out",   "so",    "up",    "said", "what", "its",  "about",
    "than", "into", "them",  "can",   "only",  "other", "time",  "new",  "some"};

/// Prompts of random words, or of random tokens where the tokenizer is known, with a prefix that
/// all share.
Result<std::vector<Prompt>> random_prompts(const Options& o) {
  std::mt19937_64 bits(o.seed);
  std::vector<std::int32_t> usable;
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer;
  if (!o.tokenizer.empty()) {
    auto found = engine::load_tokenizer(o.tokenizer);
    if (!found) return found.status();
    tokenizer = *found;
    for (std::int32_t t = 0; t < tokenizer->vocab_size(); ++t)
      if (!tokenizer->is_special(t)) usable.push_back(t);
  }
  const auto draw = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(bits);
  };
  const auto length = [&](std::int64_t middle) {
    const double n = static_cast<double>(middle);
    return draw(std::max<std::int64_t>(1, std::llround(n * (1 - o.range))),
                std::max<std::int64_t>(1, std::llround(n * (1 + o.range))));
  };
  const auto more = [&](Json& to, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      if (tokenizer)
        to.push_back(usable[static_cast<std::size_t>(
            draw(0, static_cast<std::int64_t>(usable.size()) - 1))]);
      else
        to.push_back(kWords[draw(0, std::size(kWords) - 1)]);
    }
  };
  Json prefix = Json::array();
  more(prefix, o.prefix);
  std::vector<Prompt> out;
  for (std::int64_t i = 0; i < o.prompts; ++i) {
    Json all = prefix;
    more(all, length(o.input));
    Prompt p{.text = all, .output = length(o.output)};
    if (!tokenizer) {
      std::string text;
      for (const Json& word : all) text += (text.empty() ? "" : " ") + word.get<std::string>();
      p.text = text;
    } else if (o.chat()) {
      p.text = tokenizer->decode_with(all.get<std::vector<std::int32_t>>(), true);
    }
    out.push_back(std::move(p));
  }
  return out;
}

/// Lines {"prompt": TEXT, "output_tokens": N}, drawn in random order, again from the first where
/// there are fewer than asked for.
Result<std::vector<Prompt>> prompts_of_file(const Options& o) {
  std::ifstream file(o.path);
  if (!file) return Status(Code::not_found, "{}: cannot be read", o.path);
  std::vector<Prompt> lines;
  std::string line;
  for (std::int64_t number = 1; std::getline(file, line); ++number) {
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    const Json json = Json::parse(line, nullptr, false);
    const Json prompt = json.is_object() ? json.value("prompt", Json()) : Json();
    const Json output = json.is_object() ? json.value("output_tokens", Json(o.output)) : Json();
    if (!prompt.is_string() || !output.is_number_integer() || output < 1)
      return Status(Code::invalid, "{}:{}: a line is {{\"prompt\": TEXT, \"output_tokens\": N}}",
                    o.path, number);
    lines.push_back({.text = prompt, .output = output.get<std::int64_t>()});
  }
  if (lines.empty()) return Status(Code::invalid, "{}: holds no prompt", o.path);
  std::mt19937_64 bits(o.seed);
  std::shuffle(lines.begin(), lines.end(), bits);
  std::vector<Prompt> out;
  for (std::int64_t i = 0; i < o.prompts; ++i)
    out.push_back(lines[static_cast<std::size_t>(i) % lines.size()]);
  return out;
}

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json body_of(const Options& o, const Prompt& prompt) {
  Json body = {{"model", o.model}};
  if (o.chat()) {
    body["messages"] = Json::array({{{"role", "user"}, {"content", prompt.text}}});
    body["max_completion_tokens"] = prompt.output;
  } else {
    body["prompt"] = prompt.text;
    body["max_tokens"] = prompt.output;
  }
  if (o.temperature) body["temperature"] = *o.temperature;
  if (o.ignore_eos) body["ignore_eos"] = true;
  body["stream"] = true;
  body["stream_options"] = {{"include_usage", true}};
  return body;
}

/// Listens to a stream of server-sent events.
class Listener {
 public:
  Listener(BenchRequest& request, bool chat, Clock::time_point sent)
      : request_(request), chat_(chat), sent_(sent), last_(sent) {}

  bool hear(std::string_view piece) {
    const auto now = Clock::now();
    rest_ += piece;
    std::size_t from = 0;
    for (std::size_t end; (end = rest_.find('\n', from)) != rest_.npos; from = end + 1) {
      std::string_view line = std::string_view(rest_).substr(from, end - from);
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (!line.starts_with("data:")) continue;
      line.remove_prefix(line.starts_with("data: ") ? 6 : 5);
      if (line == "[DONE]")
        done_ = true;
      else
        event(line, now);
    }
    rest_.erase(0, from);
    return request_.error.empty() && rest_.size() < (64u << 20);
  }

  void end() {
    if (request_.error.empty() && !done_) request_.error = "the stream ended without [DONE]";
    if (request_.error.empty() && pieces_ == 0) request_.error = "no token was drawn";
    if (request_.output_tokens == 0) request_.output_tokens = pieces_;
  }

 private:
  void event(std::string_view line, Clock::time_point now) {
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object()) {
      request_.error = "an event is no JSON object";
      return;
    }
    if (json.contains("error")) {
      request_.error = dump(json["error"]);
      return;
    }
    if (const Json usage = json.value("usage", Json()); usage.is_object()) {
      request_.prompt_tokens = usage.value("prompt_tokens", request_.prompt_tokens);
      request_.output_tokens = usage.value("completion_tokens", request_.output_tokens);
    }
    const Json choices = json.value("choices", Json());
    if (!choices.is_array() || choices.empty() || !choices[0].is_object()) return;
    const Json from = chat_ ? choices[0].value("delta", Json()) : choices[0];
    std::string text;
    for (const char* field : {"reasoning", "reasoning_content", "content", "text"})
      if (from.is_object() && from.value(field, Json()).is_string())
        text += from[field].get_ref<const std::string&>();
    if (text.empty()) return;
    const double since =
        std::chrono::duration<double>(now - (pieces_ == 0 ? sent_ : last_)).count();
    if (pieces_++ == 0)
      request_.ttft = since;
    else
      request_.itl.push_back(since);
    last_ = now;
    request_.latency = std::chrono::duration<double>(now - sent_).count();
    request_.text += text;
  }

  BenchRequest& request_;
  bool chat_, done_ = false;
  Clock::time_point sent_, last_;
  std::int64_t pieces_ = 0;
  std::string rest_;
};

net::HttpAsk ask_of(const Options& o, const std::string& path) {
  net::HttpAsk out{.path = path, .most = std::chrono::seconds(o.timeout)};
  if (!o.key.empty()) out.headers.emplace_back("Authorization", "Bearer " + o.key);
  return out;
}

BenchRequest request(net::HttpClient& client, const Options& o, const Prompt& prompt) {
  BenchRequest out;
  net::HttpAsk ask = ask_of(o, o.endpoint);
  ask.method = "POST";
  ask.body = dump(body_of(o, prompt));
  Listener listener(out, o.chat(), Clock::now());
  ask.on_piece = [&](std::string_view piece) { return listener.hear(piece); };
  const auto answer = client.ask(ask);
  if (!answer)
    out.error = answer.status().message();
  else if (answer->status != 200)
    out.error = fmt::format("status {}: {}", answer->status, answer->body.substr(0, 300));
  else
    listener.end();
  return out;
}

/// The first model that the server lists.
Result<std::string> first_model(net::HttpClient& client, const Options& o) {
  const auto answer = client.ask(ask_of(o, "/v1/models"));
  if (!answer) return answer.status();
  const Json json = Json::parse(answer->body, nullptr, false);
  if (answer->status == 200 && json.is_object())
    if (const Json data = json.value("data", Json()); data.is_array() && !data.empty())
      if (data[0].is_object() && data[0].value("id", Json()).is_string())
        return data[0]["id"].get<std::string>();
  return Status(Code::io, "/v1/models: status {}: {}", answer->status, answer->body.substr(0, 300));
}

/// Sends each prompt at its time from as many threads as there may be requests at once.
std::vector<BenchRequest> send_all(const Options& o, const std::string& url,
                                   const std::vector<Prompt>& prompts,
                                   const std::vector<double>& arrivals, double& duration) {
  std::vector<BenchRequest> out(prompts.size());
  std::atomic<std::size_t> next = 0, ended = 0;
  const auto most = static_cast<std::size_t>(o.concurrency);
  const auto start = Clock::now();
  const auto work = [&] {
    auto client = net::HttpClient::of(url);
    for (std::size_t i; (i = next++) < prompts.size();) {
      std::this_thread::sleep_until(start + std::chrono::duration_cast<Clock::duration>(
                                                std::chrono::duration<double>(arrivals[i])));
      out[i] = request(*client, o, prompts[i]);
      const std::size_t done = ++ended;
      if (done % std::max<std::size_t>(1, prompts.size() / 10) == 0)
        std::cerr << fmt::format("{} of {} requests\n", done, prompts.size());
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < (most == 0 ? prompts.size() : std::min(most, prompts.size())); ++i)
    threads.emplace_back(work);
  for (std::thread& t : threads) t.join();
  duration = std::chrono::duration<double>(Clock::now() - start).count();
  return out;
}

Result<double> positive(const std::string& text, const std::string& option) {
  char* end = nullptr;
  const double x = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(x > 0))
    return Status(Code::invalid, "{} {}: must be a number above 0", option, text);
  return x;
}

Json result_of(const Options& o, double rate, const BenchNumbers& numbers,
               const std::vector<BenchRequest>& all) {
  Json out = {{"date", fmt::format("{:%Y%m%d-%H%M%S}", fmt::localtime(std::time(nullptr)))},
              {"backend", o.backend},
              {"model_id", o.model},
              {"num_prompts", o.prompts},
              {"request_rate", std::isinf(rate) ? Json("inf") : Json(rate)},
              {"burstiness", o.burstiness},
              {"max_concurrency", o.concurrency > 0 ? Json(o.concurrency) : Json()}};
  for (const auto& [key, value] : numbers) {
    const bool whole = key == "completed" || key == "failed" || key.starts_with("total_");
    if (whole && !key.ends_with("throughput"))
      out[key] = static_cast<std::int64_t>(value);
    else
      out[key] = value;
  }
  if (!o.detailed) return out;
  for (const char* key :
       {"input_lens", "output_lens", "ttfts", "latencies", "itls", "generated_texts", "errors"})
    out[key] = Json::array();
  for (const BenchRequest& r : all) {
    out["input_lens"].push_back(r.prompt_tokens), out["output_lens"].push_back(r.output_tokens);
    out["ttfts"].push_back(r.ttft), out["latencies"].push_back(r.latency);
    out["itls"].push_back(r.itl), out["generated_texts"].push_back(r.text);
    out["errors"].push_back(r.error);
  }
  return out;
}

int run(Options o) {
  const auto rate = o.rate == "inf" ? Result<double>(std::numeric_limits<double>::infinity())
                                    : positive(o.rate, "--request-rate");
  if (!rate) return fail(rate.status());
  std::vector<double> percents;
  for (const std::string& p : o.percents) {
    const auto x = positive(p, "--metric-percentiles");
    if (!x) return fail(x.status());
    if (*x > 100) return fail({Code::invalid, "--metric-percentiles {}: at most 100", p});
    percents.push_back(*x);
  }
  std::vector<std::pair<std::string, double>> goodput;
  for (const std::string& bound : o.goodput) {
    const std::size_t colon = std::min(bound.find(':'), bound.size());
    const std::string name = bound.substr(0, colon);
    if (name != "ttft" && name != "tpot" && name != "e2el")
      return fail({Code::invalid, "--goodput {}: must be ttft:MS, tpot:MS or e2el:MS", bound});
    const auto x = positive(bound.substr(std::min(colon + 1, bound.size())), "--goodput");
    if (!x) return fail(x.status());
    goodput.emplace_back(name, *x);
  }
  if (o.dataset == "custom" && o.path.empty())
    return fail({Code::invalid, "--dataset-name custom needs --dataset-path FILE.jsonl"});
  auto prompts = o.dataset == "custom" ? prompts_of_file(o) : random_prompts(o);
  if (!prompts) return fail(prompts.status());
  const std::string host = o.host.find(':') == o.host.npos ? o.host : "[" + o.host + "]";
  const std::string url =
      o.base_url.empty() ? fmt::format("http://{}:{}", host, o.port) : o.base_url;
  if (o.key.empty())
    if (const char* key = std::getenv("OPENAI_API_KEY"); key != nullptr) o.key = key;
  if (o.endpoint.empty()) o.endpoint = o.chat() ? "/v1/chat/completions" : "/v1/completions";
  auto client = net::HttpClient::of(url);
  if (!client) return fail(client.status());
  if (o.model.empty()) {
    auto model = first_model(*client, o);
    if (!model) return fail(model.status());
    o.model = *model;
  }
  for (std::int64_t i = 0; i < o.warmups; ++i) {
    const BenchRequest first = request(*client, o, prompts->front());
    if (!first.error.empty()) return fail({Code::io, "{}: {}", url, first.error});
  }
  const auto arrivals = bench_arrivals(o.prompts, *rate, o.burstiness, o.seed);
  double duration = 0;
  const auto all = send_all(o, url, *prompts, arrivals, duration);
  const BenchNumbers numbers = bench_numbers(all, duration, percents, goodput);
  const Json result = result_of(o, *rate, numbers, all);
  std::cout << bench_table(numbers);
  const auto failed =
      std::find_if(all.begin(), all.end(), [](const BenchRequest& r) { return !r.error.empty(); });
  if (failed != all.end()) std::cerr << "a request failed: " << failed->error << "\n";
  if (!o.result.empty())
    if (Status s = write_file_atomic(o.result, dump(result) + "\n"); !s) return fail(s);
  if (o.json) std::cout << dump(result) << std::endl;
  const bool some =
      std::any_of(all.begin(), all.end(), [](const BenchRequest& r) { return r.error.empty(); });
  return some ? kDone : kWorkFailed;
}

}  // namespace

void add_bench_serve(CommandLine& bench, std::function<int()>& action) {
  CommandLine& command = bench.add_subcommand("serve", "an OpenAI-compatible server under load");
  command.description(
      "Sends requests to any OpenAI-compatible server and tells how fast it answers, as `vllm "
      "bench serve` does.\n\nExample:\n"
      "  strata serve --model SmolLM2-135M-Instruct.gguf &\n"
      "  strata bench serve --num-prompts 64 --random-input-len 256 --random-output-len 64 "
      "--max-concurrency 8\n"
      "  strata bench serve --base-url https://api.example.com --model m --backend openai-chat "
      "--dataset-name custom\n"
      "      --dataset-path prompts.jsonl --request-rate 4 --goodput ttft:300 --json\n");
  command.footer(
      "\nTTFT = first text - request sent. TPOT = (latency - TTFT) / (tokens - 1), of requests "
      "with more than one token.\n"
      "ITL = gaps between pieces of text, of all requests together. E2EL = last text - request "
      "sent. Tokens are those of the\n"
      "server's usage, or pieces where it tells none. Goodput counts requests that meet every "
      "bound of --goodput.\n"
      "Certificates are checked against the system's, or those of SSL_CERT_FILE.\n");
  auto o = std::make_shared<Options>();
  command.add_option("--base-url", o->base_url, "the server, instead of --host and --port");
  command.add_option("--host", o->host, "the server's address").show_default();
  command.add_option("--port", o->port, "its port")
      .in_range(std::int64_t{1}, std::int64_t{65535})
      .show_default();
  command.add_option("--backend", o->backend, "openai: completions; openai-chat: chat completions")
      .one_of({"openai", "openai-chat"})
      .show_default();
  command.add_option("--endpoint", o->endpoint, "path, where it is not OpenAI's");
  command.add_option("--model", o->model, "what requests call the model (default: its first)");
  command.add_option("--api-key", o->key, "the server's key (default: that of OPENAI_API_KEY)");
  command
      .add_option("--dataset-name", o->dataset,
                  "random: words at random; custom: lines {\"prompt\": TEXT, \"output_tokens\": N}")
      .one_of({"random", "custom"})
      .show_default();
  command.add_option("--dataset-path", o->path, "the file of custom prompts").type_name("FILE");
  command
      .add_option("--tokenizer", o->tokenizer,
                  "random prompts are of exactly as many tokens of this model's tokenizer")
      .type_name("MODEL");
  command.add_option("--num-prompts", o->prompts, "requests")
      .in_range(std::int64_t{1}, std::int64_t{1} << 20)
      .show_default();
  command.add_option("--random-input-len", o->input, "words or tokens of a random prompt")
      .in_range(std::int64_t{1}, std::int64_t{1} << 20)
      .show_default();
  command.add_option("--random-output-len", o->output, "tokens that are drawn")
      .in_range(std::int64_t{1}, std::int64_t{1} << 20)
      .show_default();
  command
      .add_option("--random-range-ratio", o->range, "lengths lie evenly in [n (1 - r), n (1 + r)]")
      .in_range(0.0, 1.0)
      .show_default();
  command
      .add_option("--random-prefix-len", o->prefix, "words or tokens that all prompts begin with")
      .in_range(std::int64_t{0}, std::int64_t{1} << 20)
      .show_default();
  command.add_option("--request-rate", o->rate, "requests in a second; inf: all at once")
      .show_default();
  command
      .add_option("--burstiness", o->burstiness,
                  "shape of the gaps' gamma distribution; 1: Poisson, below: in bursts")
      .in_range(1e-3, 1e6)
      .show_default();
  command
      .add_option("--max-concurrency", o->concurrency, "requests under way at once; 0: any number")
      .in_range(std::int64_t{0}, std::int64_t{4096})
      .show_default();
  command.add_option("--temperature", o->temperature, "of the draws (default: the server's)");
  command.add_flag("--ignore-eos", o->ignore_eos, "draw all tokens, whatever they are");
  command
      .add_option("--goodput", o->goodput, "a bound: ttft:MS, tpot:MS, e2el:MS; may be given often")
      .one_at_a_time();
  command.add_option("--metric-percentiles", o->percents, "which percentiles are told")
      .delimiter(',')
      .show_default();
  command.add_option("--num-warmups", o->warmups, "requests before those that count")
      .in_range(std::int64_t{0}, std::int64_t{1000})
      .show_default();
  command.add_option("--timeout", o->timeout, "seconds that an answer may take")
      .in_range(std::int64_t{1}, std::int64_t{86400})
      .show_default();
  command.add_option("--seed", o->seed, "of prompts and arrivals").show_default();
  command.add_option("--result-filename", o->result, "writes the JSON object there, too")
      .type_name("FILE");
  command.add_flag("--save-detailed", o->detailed, "the JSON object holds each request, too");
  command.add_flag("--json", o->json, "the last line is one JSON object");
  command.callback([o, &action] { action = [o] { return run(*o); }; });
}

}  // namespace strata::cli
