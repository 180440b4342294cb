#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "strata/base/error.h"
#include "strata/base/file.h"
#include "strata/base/text.h"
#include "strata/base/thread_pool.h"
#include "strata/cli/command.h"
#include "strata/cli/data/data_convert.h"
#include "strata/cli/data/data_describe.h"
#include "strata/data/documents.h"
#include "strata/data/pipeline/graph.h"
#include "strata/data/pipeline/pipeline.h"
#include "strata/data/row.h"
#include "strata/data/text_sample.h"
#include "strata/data/tokens/token_file.h"
#include "strata/data/tokens/tokens_writer.h"
#include "strata/tokenizer/sentencepiece.h"
#include "strata/train/report/graph_picture.h"
#include "strata/train/state.h"

namespace strata::cli {
namespace {

using json = nlohmann::ordered_json;

std::string dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// Text on one line: line ends and other control characters as '?' or "\n".
std::string on_one_line(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '\n')
      out += "\\n";
    else
      out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  }
  return out;
}

/// The beginning of what a row holds, in whole characters.
std::string words_of(const tokenizer::Tokenizer& tokenizer, std::span<const std::int32_t> tokens) {
  constexpr std::size_t kTokens = 24, kBytes = 48;
  tokenizer::StreamDecoder stream(tokenizer);
  std::string out;
  for (std::size_t i = 0; i < std::min(tokens.size(), kTokens) && out.size() < kBytes; ++i)
    out += stream.add(tokens[i]);
  return out;
}

struct Describe {
  std::vector<std::string> arguments;
  std::string picture;
  std::int64_t step = -1, measure = 0;
  bool json = false;
};

json sources_of(const data::Dataset& data, const train::Config& config) {
  json out = json::array();
  for (std::size_t i = 0; i < data.sources().size(); ++i) {
    const data::SourceInfo& s = data.sources()[i];
    out.push_back({{"name", s.name},
                   {"patterns", s.patterns},
                   {"files", s.files.size()},
                   {"documents", s.documents},
                   {"tokens", s.tokens},
                   {"train_tokens", s.train_tokens},
                   {"eval_tokens", s.eval_tokens},
                   {"windows", s.windows},
                   {"weight", s.weight},
                   {"share", s.share},
                   {"epochs", data.epochs(i, config.steps)},
                   {"crc32c", fmt::format("{:08x}", s.checksum)}});
  }
  return out;
}

json rows_of(const data::Dataset& data, std::int64_t step) {
  json out = json::array();
  const data::Batch batch = data.batch(step);
  const auto tokens = batch.tokens.span<std::int32_t>();
  const auto length = static_cast<std::size_t>(data.options().length);
  for (std::int64_t b = 0; b < data.options().batch; ++b) {
    const data::ElementPlace e = data.element(step * data.options().batch + b);
    out.push_back(
        {{"row", b},
         {"source", data.sources()[e.source].name},
         {"epoch", e.epoch},
         {"window", e.window},
         {"token", e.token},
         {"document", e.document},
         {"file", e.file},
         {"text", words_of(data.tokenizer(),
                           tokens.subspan(static_cast<std::size_t>(b) * length, length))}});
  }
  return out;
}

void print_sources(const json& sources, const train::Config& config, const data::Dataset& data) {
  std::cout << fmt::format("tokenizer  {}, {} tokens\n", data.tokenizer().fingerprint(),
                           data.tokenizer().vocab_size());
  std::cout << fmt::format("windows    {} tokens, {}; {} a step, {} steps\n\n",
                           config.max_target_length, config.window_mode, train::sequences(config),
                           config.steps);
  std::cout << fmt::format("{:<16}{:>7}{:>11}{:>13}{:>13}{:>11}{:>9}{:>8}{:>9}\n", "source",
                           "files", "documents", "train tokens", "eval tokens", "windows", "weight",
                           "share", "epochs");
  for (const json& s : sources) {
    std::cout << fmt::format(
        "{:<16}{:>7}{:>11}{:>13}{:>13}{:>11}{:>9.4g}{:>7.1f}%{:>9.3f}\n",
        s["name"].get<std::string>(), s["files"].get<std::int64_t>(),
        s["documents"].get<std::int64_t>(), s["train_tokens"].get<std::int64_t>(),
        s["eval_tokens"].get<std::int64_t>(), s["windows"].get<std::int64_t>(),
        s["weight"].get<double>(), 100 * s["share"].get<double>(), s["epochs"].get<double>());
  }
}

void print_rows(const json& rows, std::int64_t step) {
  std::cout << fmt::format("\nstep {} reads\n{:>4}  {:<16}{:>6}{:>9}{:>12}{:>10}  {}\n", step,
                           "row", "source", "epoch", "window", "token", "document", "text");
  for (const json& r : rows) {
    std::cout << fmt::format("{:>4}  {:<16}{:>6}{:>9}{:>12}{:>10}  {}\n",
                             r["row"].get<std::int64_t>(), r["source"].get<std::string>(),
                             r["epoch"].get<std::int64_t>(), r["window"].get<std::int64_t>(),
                             r["token"].get<std::int64_t>(), r["document"].get<std::int64_t>(),
                             on_one_line(r["text"].get<std::string>()));
  }
}

int describe(const Describe& o) {
  if (are_data_files(o.arguments)) {
    if (o.step >= 0)
      return fail(Status(Code::invalid, "--step {}: files of data have no steps; those are a run's",
                         o.step));
    return describe_files(
        {.files = o.arguments, .measure = o.measure, .picture = o.picture, .json = o.json});
  }
  const train::Config config = read_config_arguments(o.arguments);
  Progress progress(STDERR_FILENO);
  auto data = train::open_data(config, &progress);
  progress.clear();
  if (!data) return fail(data.status());
  const json sources = sources_of(*data, config);
  const json rows = o.step < 0 ? json() : rows_of(*data, o.step);
  // Measured where each operation works alone: read when asked, not ahead.
  const std::string graph = o.measure > 0 ? data->graph().to_iter_dataset().describe(o.measure)
                                          : data->graph().describe();
  if (!o.picture.empty()) {
    const Status s = train::write_graph_picture(
        data::graph_nodes(data->graph().to_iter_dataset(), o.measure), o.picture);
    if (!s.ok()) return fail(s);
  }
  if (!o.json) {
    print_sources(sources, config, *data);
    std::cout << "\n" << graph;
    if (!o.picture.empty()) std::cout << "\n" << o.picture << ": the graph as a picture\n";
    if (o.step >= 0) print_rows(rows, o.step);
    return kDone;
  }
  json out = {{"tokenizer", data->tokenizer().fingerprint()},
              {"vocab_size", data->tokenizer().vocab_size()},
              {"sources", sources},
              {"graph", graph}};
  if (o.step >= 0) out["step"] = o.step, out["rows"] = rows;
  std::cout << dump(out) << "\n";
  return kDone;
}

struct Where {
  std::vector<std::string> arguments;
  std::int64_t step = 0, row = -1;
  bool json = false;
};

/// The bytes from token `from` of a place on, as text.
std::string text_of(const data::Dataset& data, std::int64_t step, std::int64_t row,
                    const data::TokenPlace& place) {
  const data::Batch batch = data.batch(step);
  const std::int64_t length = data.options().length;
  const auto tokens = batch.tokens.span<std::int32_t>().subspan(
      static_cast<std::size_t>(row * length), static_cast<std::size_t>(length));
  if (place.first >= length) return "";
  return words_of(
      data.tokenizer(),
      tokens.subspan(static_cast<std::size_t>(place.first),
                     static_cast<std::size_t>(std::min(place.count, length - place.first))));
}

int where(const Where& o) {
  const train::Config config = read_config_arguments(o.arguments);
  Progress progress(STDERR_FILENO);
  auto data = train::open_data(config, &progress);
  progress.clear();
  if (!data) return fail(data.status());
  const std::int64_t batch = data->options().batch;
  if (o.row >= batch)
    return fail(
        Status(Code::invalid, "--row {}: a step has {} rows, which count from 0", o.row, batch));
  json out = json::array();
  for (std::int64_t b = std::max<std::int64_t>(o.row, 0); b < (o.row < 0 ? batch : o.row + 1);
       ++b) {
    const data::ElementPlace e = data->element(o.step * batch + b);
    json pieces = json::array();
    for (const data::TokenPlace& p : data->where(o.step * batch + b))
      pieces.push_back({{"first", p.first},
                        {"count", p.count},
                        {"file", p.file},
                        {"record", p.record},
                        {"token", p.token},
                        {"bytes", p.bytes},
                        {"text", text_of(*data, o.step, b, p)}});
    out.push_back({{"row", b},
                   {"source", data->sources()[e.source].name},
                   {"epoch", e.epoch},
                   {"pieces", pieces}});
  }
  if (o.json) {
    std::cout << dump({{"step", o.step}, {"rows", out}}) << "\n";
    return kDone;
  }
  for (const json& row : out) {
    std::cout << fmt::format("step {}, row {}: {}, epoch {}\n{:>12}{:>10}{:>20}  {}\n", o.step,
                             row["row"].get<std::int64_t>(), row["source"].get<std::string>(),
                             row["epoch"].get<std::int64_t>(), "positions", "record", "bytes",
                             "file: text");
    for (const json& p : row["pieces"]) {
      const auto first = p["first"].get<std::int64_t>(), count = p["count"].get<std::int64_t>();
      std::cout << fmt::format(
          "{:>12}{:>10}{:>20}  {}: {}\n", fmt::format("{}-{}", first, first + count - 1),
          p["record"].get<std::int64_t>(),
          fmt::format("{}-{}", p["bytes"].front().get<std::int64_t>(),
                      p["bytes"].back().get<std::int64_t>()),
          p["file"].get<std::string>(), on_one_line(p["text"].get<std::string>()));
    }
  }
  return kDone;
}

struct TrainTokenizer {
  std::string files, output, column = "text";
  tokenizer::TokenizerTraining training;
  std::int64_t max_bytes = 10'000'000;
  bool json = false;
};

int train_tokenizer(const TrainTokenizer& o) {
  auto sources = data::parse_sources({o.files});
  if (!sources) return fail(sources.status());
  double weights = 0;
  for (const data::Source& source : *sources) {
    if (!(source.weight >= 0 && source.weight < 1e9))
      return fail(Status(Code::invalid, "the weight {} of {}", source.weight, source.name));
    weights += source.weight;
  }
  if (weights == 0)
    return fail(Status(Code::invalid, "the weights of the {} sources sum to 0", sources->size()));
  Progress progress(STDERR_FILENO);
  std::vector<std::string> pieces;
  for (const data::Source& source : *sources) {
    progress.show(fmt::format("reading {}", source.name));
    std::vector<std::string> files;
    for (const std::string& pattern : source.patterns) {
      auto found = data::expand_pattern(pattern);
      if (!found) return fail(found.status());
      files.insert(files.end(), found->begin(), found->end());
    }
    auto sample = data::sample_documents(
        files, {.column = o.column}, static_cast<double>(o.max_bytes) * source.weight / weights);
    if (!sample) return fail(sample.status());
    std::move(sample->begin(), sample->end(), std::back_inserter(pieces));
  }
  const std::vector<std::string_view> texts(pieces.begin(), pieces.end());
  std::size_t bytes = 0;
  for (std::string_view t : texts) bytes += t.size();
  progress.line(fmt::format("training a tokenizer of {} tokens ({}) on {}B of {} sources",
                            o.training.vocab_size, o.training.algorithm,
                            human_count(static_cast<double>(bytes)), sources->size()));
  const double begin = seconds_now();
  auto model = tokenizer::train_tokenizer(texts, o.training);
  if (!model) return fail(model.status());
  auto tokenizer = tokenizer::make_sentencepiece(*model, o.output);
  if (!tokenizer) return fail(tokenizer.status());
  if (auto slash = o.output.rfind('/'); slash != std::string::npos && slash > 0) {
    if (Status s = make_folders(o.output.substr(0, slash)); !s.ok()) return fail(s);
  }
  if (Status s = write_file_atomic(o.output, *model); !s.ok()) return fail(s);
  if (o.json) {
    std::cout << dump({{"model", o.output},
                       {"fingerprint", (*tokenizer)->fingerprint()},
                       {"vocab_size", (*tokenizer)->vocab_size()},
                       {"bytes", bytes}})
              << "\n";
    return kDone;
  }
  std::cout << fmt::format(
      "{}: {} tokens, trained in {:.1f} s; use it with tokenizer_type=sentencepiece "
      "tokenizer_path={}\n",
      o.output, (*tokenizer)->vocab_size(), seconds_now() - begin, o.output);
  return kDone;
}

struct Tokenize {
  std::vector<std::string> files;
  std::string output, column = "text", tokenizer_type = "byte", tokenizer_path;
  bool json = false;
  int threads = 0;
};

/// Gives a row's documents part by part, without their separators.
Status give_documents(const data::Row& row, data::TokensWriter& out) {
  constexpr std::int64_t kPart = std::int64_t{1} << 20;
  std::vector<std::int32_t> part;
  for (std::int64_t d = 0; d < row.documents(); ++d) {
    const std::int64_t end = row.document(d + 1) - 1;  // its separator comes anew
    for (std::int64_t from = row.document(d); from < end; from += kPart) {
      part.resize(static_cast<std::size_t>(std::min(kPart, end - from)));
      row.copy(from, part);
      if (Status s = out.add_part(part); !s.ok()) return s;
    }
    if (Status s = out.end_document(); !s.ok()) return s;
  }
  return {};
}

/// Writes a row to a token file; what is no regular file (a pipe, a device) is written through.
Result<data::Tokens> write_tokens(const data::Row& row, const tokenizer::Tokenizer& tokenizer,
                                  const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const bool through = fs::exists(path, error) && !fs::is_regular_file(path, error);
  // A link stays, and what it names is written.
  const std::string target =
      fs::is_symlink(path, error) && !through ? fs::weakly_canonical(path, error).string() : path;
  auto writer = data::TokensWriter::create(through ? "" : target, tokenizer, row.documents());
  if (!writer) return writer.status();
  if (Status s = give_documents(row, *writer); !s.ok()) return s;
  auto tokens = std::move(*writer).finish();
  if (tokens && through)
    if (Status s = tokens->write(path); !s.ok()) return s;
  return tokens;
}

int tokenize(const Tokenize& o) {
  if (o.output.ends_with(".bin") || o.output.ends_with(".idx"))
    throw Error("data",
                "--output {}: that is the name of a Megatron file, and this is Strata's: give it "
                "another ending, as .tokens, and `strata data convert` makes a .bin of it",
                o.output);
  if (o.threads > 0) set_num_threads(o.threads);
  auto tokenizer = tokenizer::load_tokenizer(o.tokenizer_type, o.tokenizer_path);
  if (!tokenizer) return fail(tokenizer.status());
  Progress progress(STDERR_FILENO);
  data::RowOptions options{.column = o.column,
                           .progress = [&](const std::string& text) { progress.show(text); },
                           .note = [&](const std::string& text) { progress.line(text); }};
  auto row = data::Row::read({.name = o.output, .patterns = o.files}, **tokenizer, options);
  progress.clear();
  if (!row) return fail(row.status());
  auto tokens = write_tokens(*row, **tokenizer, o.output);
  if (!tokens) return fail(tokens.status());
  const json out = {{"file", o.output},
                    {"files", row->files().size()},
                    {"documents", tokens->documents()},
                    {"tokens", tokens->size()},
                    {"tokenizer", tokens->fingerprint()}};
  std::cout << (o.json ? dump(out)
                       : fmt::format("{}: {} tokens of {} documents from {} files, tokenizer {}",
                                     o.output, tokens->size(), tokens->documents(),
                                     row->files().size(), tokens->fingerprint()))
            << "\n";
  return kDone;
}

void add_describe(CommandLine& data, std::function<int()>& action) {
  CommandLine& command = data.add_subcommand(
      "describe",
      "says what a run reads: sources, tokens, weights, epochs, and the rows of a step");
  command.description(
      "Says what a run of this configuration reads: its sources with their tokens, weights and "
      "epochs over the run, the graph of\n"
      "operations that makes its batches (with --measure the rate of each and the bottleneck), and "
      "with --step what each row of\n"
      "that step holds. Takes the arguments of `strata train`, or files and folders of data: then "
      "says their formats, records and\n"
      "bytes, and the graph that reads them one after the other.\n\n"
      "Example:\n  strata data describe train.array_record --measure 100000 --picture graph.svg\n"
      "  strata data describe configs/demo.yml --step 100\n  strata data describe "
      "train_files='kjv/*.txt,0.7;python/**/*.py,0.3'\n");
  command.hint(key_as_option);
  auto o = std::make_shared<Describe>();
  command
      .add_option("arguments", o->arguments,
                  "a YAML file of keys, then key=value; or files of data")
      .type_name("[FILE.yml] key=value ... | FILE ...");
  command.add_option("--picture", o->picture,
                     "draw the graph there: an SVG where the name ends so, else a PNG");
  command.add_option("--step", o->step, "also what this step reads, from 0 on")
      .in_range(std::int64_t{0}, std::int64_t{1} << 40);
  command
      .add_option("--measure", o->measure, "read so many batches and say what each operation took")
      .in_range(std::int64_t{1}, std::int64_t{1} << 30);
  command.add_flag("--json", o->json, "print one JSON object instead");
  command.callback([o, &action] { action = [o] { return describe(*o); }; });
}

void add_where(CommandLine& data, std::function<int()>& action) {
  CommandLine& command = data.add_subcommand(
      "where", "says of each token of a step which file, record and bytes it is of");
  command.description(
      "Says where the tokens of a step's rows come from: file, number of the record in it, and "
      "bytes of the record's text,\nof conversations the text that the template makes of one. "
      "With --json the bytes of every token. Takes the arguments of `strata train`.\n\n"
      "Example:\n  strata data where configs/demo.yml --step 100 --row 3\n");
  command.hint(key_as_option);
  auto o = std::make_shared<Where>();
  command.add_option("arguments", o->arguments, "a YAML file of keys, then key=value")
      .type_name("[FILE.yml] key=value ...");
  command.add_option("--step", o->step, "the step, from 0 on")
      .in_range(std::int64_t{0}, std::int64_t{1} << 40)
      .required();
  command.add_option("--row", o->row, "one row of it (default: all)")
      .in_range(std::int64_t{0}, std::int64_t{1} << 30);
  command.add_flag("--json", o->json, "print one JSON object instead");
  command.callback([o, &action] { action = [o] { return where(*o); }; });
}

void add_train_tokenizer(CommandLine& data, std::function<int()>& action) {
  CommandLine& command = data.add_subcommand(
      "train-tokenizer", "makes a SentencePiece tokenizer for texts of one's own");
  command.description(
      "Trains a SentencePiece tokenizer on texts. Every text can be encoded by it and comes back "
      "the same; the same texts and options\n"
      "give the same file.\n\n"
      "Example:\n  strata data train-tokenizer --files 'kjv/*.txt,0.5;python/**/*.py,0.5' "
      "--vocab_size 8192 --output tokenizer.model\n");
  auto o = std::make_shared<TrainTokenizer>();
  command
      .add_option("--files", o->files,
                  "sources as in train_files; weights say how much of the sample is of each")
      .required();
  command.add_option("--output", o->output, "the .model file to write").required();
  command.add_option("--vocab_size", o->training.vocab_size, "tokens, the 256 bytes among them")
      .in_range(512, 1000000)
      .show_default();
  command.add_option("--algorithm", o->training.algorithm, "bpe or unigram")
      .one_of({"bpe", "unigram"})
      .show_default();
  command
      .add_option("--max_bytes", o->max_bytes,
                  "how much text to learn from, taken evenly from all of it")
      .in_range(std::int64_t{1000}, std::int64_t{1} << 33)
      .show_default();
  command.add_option("--train_data_columns", o->column, "JSONL: the member that holds the text")
      .show_default();
  command.add_flag("--json", o->json, "print one JSON object instead");
  command.callback([o, &action] { action = [o] { return train_tokenizer(*o); }; });
}

void add_tokenize(CommandLine& data, std::function<int()>& action) {
  CommandLine& command =
      data.add_subcommand("tokenize", "writes the tokens of texts to a file that training maps");
  command.description(
      "Writes the tokens of texts, document by document, to one file that train_files may name "
      "like a text.\n\n"
      "Example:\n  strata data tokenize --tokenizer_type sentencepiece --tokenizer_path "
      "tokenizer.model --output kjv.tokens 'kjv/*.txt'\n");
  auto o = std::make_shared<Tokenize>();
  command.add_option("files", o->files, "text or JSONL files or patterns").required();
  command.add_option("--output", o->output, "the file to write").required();
  command.add_option("--tokenizer_type", o->tokenizer_type, "byte or sentencepiece").show_default();
  command.add_option("--tokenizer_path", o->tokenizer_path,
                     "the .model file of a SentencePiece tokenizer");
  command.add_option("--train_data_columns", o->column, "JSONL: the member that holds the text")
      .show_default();
  add_threads(command, o->threads);
  command.add_flag("--json", o->json, "print one JSON object instead");
  command.callback([o, &action] { action = [o] { return tokenize(*o); }; });
}

}  // namespace

void add_data(CommandLine& app, std::function<int()>& action) {
  CommandLine& command = app.add_subcommand(
      "data", "shows what a run reads, makes tokenizers and token files, converts datasets");
  command.description(
      "Shows what a run reads, makes tokenizers and token files, converts datasets.\n\n"
      "Example:\n  strata data describe configs/demo.yml --step 100\n  strata data train-tokenizer "
      "--files 'kjv/*.txt' --output "
      "tokenizer.model\n");
  command.require_subcommand();
  add_describe(command, action);
  add_where(command, action);
  add_train_tokenizer(command, action);
  add_tokenize(command, action);
  add_data_convert(command, action);
  add_data_show(command, action);
}

}  // namespace strata::cli
