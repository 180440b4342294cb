#include "strata/tokenizer/sentencepiece_json.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "strata/base/format/protobuf.h"
#include "strata/tokenizer/pipeline/base64.h"
#include "strata/tokenizer/utf8.h"

namespace strata::tokenizer {
namespace {

using json = nlohmann::ordered_json;
using protobuf::Wire;

constexpr char kMark[] = "\xe2\x96\x81";  // U+2581, SentencePiece's space

// Source: google/sentencepiece, src/sentencepiece_model.proto.
enum Type : std::uint64_t { kNormal = 1, kUnknown, kControl, kUserDefined, kUnused, kByte };
enum Algorithm : std::uint64_t { kUnigram = 1, kBpe = 2 };

struct Piece {
  std::string text;
  float score = 0;
  std::uint64_t type = kNormal;
};

struct Model {
  std::vector<Piece> pieces;
  std::uint64_t algorithm = kUnigram;
  bool byte_fallback = false, suffix = false;
  std::int64_t bos = 1, eos = 2;
  std::string charsmap;
  bool dummy_prefix = true, collapses = true, escapes = true;
};

bool read_piece(std::string_view message, Piece& out) {
  protobuf::Reader fields(message);
  while (const auto f = fields.next()) {
    if (f->is(1, Wire::bytes)) out.text = f->bytes;
    if (f->is(2, Wire::fixed32)) out.score = f->fixed<float>();
    if (f->is(3, Wire::varint)) out.type = f->value;
  }
  return !fields.broken() && first_invalid(out.text) == std::string::npos;
}

bool read_trainer(std::string_view message, Model& out) {
  protobuf::Reader fields(message);
  while (const auto f = fields.next()) {
    if (f->wire != Wire::varint) continue;
    if (f->number == 3) out.algorithm = f->value;
    if (f->number == 24) out.suffix = f->value != 0;
    if (f->number == 35) out.byte_fallback = f->value != 0;
    if (f->number == 41) out.bos = static_cast<std::int32_t>(f->value);
    if (f->number == 42) out.eos = static_cast<std::int32_t>(f->value);
  }
  return !fields.broken();
}

bool read_normalizer_spec(std::string_view message, Model& out) {
  protobuf::Reader fields(message);
  while (const auto f = fields.next()) {
    if (f->is(2, Wire::bytes)) out.charsmap = f->bytes;
    if (f->is(3, Wire::varint)) out.dummy_prefix = f->value != 0;
    if (f->is(4, Wire::varint)) out.collapses = f->value != 0;
    if (f->is(5, Wire::varint)) out.escapes = f->value != 0;
  }
  return !fields.broken();
}

Result<Model> read_model_file(const std::string& bytes, const std::string& name) {
  Model out;
  bool whole = true;
  protobuf::Reader fields(bytes);
  while (const auto f = fields.next()) {
    if (f->is(1, Wire::bytes)) whole = read_piece(f->bytes, out.pieces.emplace_back()) && whole;
    if (f->is(2, Wire::bytes)) whole = read_trainer(f->bytes, out) && whole;
    if (f->is(3, Wire::bytes)) whole = read_normalizer_spec(f->bytes, out) && whole;
  }
  if (fields.broken() || !whole || out.pieces.empty())
    return Status(Code::corrupt, "{}: no SentencePiece model", name);
  if (out.algorithm != kUnigram && out.algorithm != kBpe)
    return Status(Code::unsupported,
                  "{}: the model is of words or characters; tokenizer.json has BPE and unigram",
                  name);
  if (out.suffix || !out.escapes)
    return Status(Code::unsupported, "{}: the model does not mark spaces in front of words", name);
  return out;
}

json replace(const char* what, const char* with) {
  return {{"type", "Replace"}, {"pattern", {{"String", what}}}, {"content", with}};
}

json normalizer(const Model& m) {
  json steps = json::array();
  if (!m.charsmap.empty())
    steps.push_back({{"type", "Precompiled"}, {"precompiled_charsmap", to_base64(m.charsmap)}});
  if (m.collapses) {
    // Spaces alone: `Strip` would take line ends too.
    for (const auto& [what, with] : {std::pair("\\A +| +\\z", ""), {" {2,}", " "}})
      steps.push_back({{"type", "Replace"}, {"pattern", {{"Regex", what}}}, {"content", with}});
  }
  if (m.dummy_prefix) steps.push_back({{"type", "Prepend"}, {"prepend", kMark}});
  steps.push_back(replace(" ", kMark));
  return {{"type", "Sequence"}, {"normalizers", steps}};
}

json decoder(const Model& m) {
  json steps =
      json::array({replace(kMark, " "), json{{"type", "ByteFallback"}}, json{{"type", "Fuse"}}});
  if (m.dummy_prefix)
    steps.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  return {{"type", "Sequence"}, {"decoders", steps}};
}

/// Pairs that make pieces, the best piece's first; of one piece by the numbers of its parts.
json merges(const Model& m) {
  std::unordered_map<std::string_view, std::size_t> known;
  for (std::size_t i = 0; i < m.pieces.size(); ++i)
    if (m.pieces[i].type == kNormal || m.pieces[i].type == kUnused)
      known.emplace(m.pieces[i].text, i);
  struct Merge {
    float score;
    std::size_t piece, left, right;
  };
  std::vector<Merge> all;
  for (std::size_t i = 0; i < m.pieces.size(); ++i) {
    if (m.pieces[i].type != kNormal) continue;
    const std::string_view text = m.pieces[i].text;
    for (std::size_t cut = 1; cut < text.size(); ++cut) {
      const auto left = known.find(text.substr(0, cut)), right = known.find(text.substr(cut));
      if (left != known.end() && right != known.end())
        all.push_back({m.pieces[i].score, i, left->second, right->second});
    }
  }
  std::sort(all.begin(), all.end(), [](const Merge& a, const Merge& b) {
    return std::tuple(-a.score, a.piece, a.left, a.right) <
           std::tuple(-b.score, b.piece, b.left, b.right);
  });
  json out = json::array();
  for (const Merge& merge : all)
    out.push_back(json::array({m.pieces[merge.left].text, m.pieces[merge.right].text}));
  return out;
}

/// The number of the piece that stands for what has none.
std::size_t unknown_of(const Model& m) {
  const auto found = std::find_if(m.pieces.begin(), m.pieces.end(),
                                  [](const Piece& p) { return p.type == kUnknown; });
  return found == m.pieces.end() ? 0 : static_cast<std::size_t>(found - m.pieces.begin());
}

json bpe(const Model& m) {
  json vocabulary = json::object();
  for (std::size_t i = 0; i < m.pieces.size(); ++i) vocabulary[m.pieces[i].text] = i;
  return {{"type", "BPE"},
          {"dropout", nullptr},
          {"unk_token", m.pieces[unknown_of(m)].text},
          {"continuing_subword_prefix", nullptr},
          {"end_of_word_suffix", nullptr},
          {"fuse_unk", true},
          {"byte_fallback", m.byte_fallback},
          {"ignore_merges", false},
          {"vocab", vocabulary},
          {"merges", merges(m)}};
}

json unigram(const Model& m) {
  json vocabulary = json::array();
  for (const Piece& p : m.pieces) vocabulary.push_back(json::array({p.text, p.score}));
  return {{"type", "Unigram"},
          {"unk_id", unknown_of(m)},
          {"vocab", vocabulary},
          {"byte_fallback", m.byte_fallback}};
}

/// Pieces that are looked for ahead of the others.
json added_tokens(const Model& m) {
  json out = json::array();
  for (std::size_t i = 0; i < m.pieces.size(); ++i) {
    const Piece& p = m.pieces[i];
    if (p.type != kControl && p.type != kUnknown && p.type != kUserDefined) continue;
    out.push_back({{"id", i},
                   {"content", p.text},
                   {"single_word", false},
                   {"lstrip", false},
                   {"rstrip", false},
                   // As written, with marks for spaces.
                   {"normalized", p.type == kUserDefined},
                   {"special", p.type != kUserDefined}});
  }
  return out;
}

}  // namespace

Result<std::map<std::string, std::string>> huggingface_files(const std::string& bytes,
                                                             const std::string& name) {
  auto model = read_model_file(bytes, name);
  if (!model) return model.status();
  const json tokenizer = {{"version", "1.0"},
                          {"truncation", nullptr},
                          {"padding", nullptr},
                          {"added_tokens", added_tokens(*model)},
                          {"normalizer", normalizer(*model)},
                          {"pre_tokenizer", nullptr},
                          {"post_processor", nullptr},
                          {"decoder", decoder(*model)},
                          {"model", model->algorithm == kBpe ? bpe(*model) : unigram(*model)}};
  json config = {{"tokenizer_class", "PreTrainedTokenizerFast"}};
  const auto special = [&](const char* key, std::int64_t id) {
    if (id >= 0 && id < std::ssize(model->pieces))
      config[key] = model->pieces[static_cast<std::size_t>(id)].text;
  };
  special("bos_token", model->bos);
  special("eos_token", model->eos);
  special("unk_token", static_cast<std::int64_t>(unknown_of(*model)));
  config["clean_up_tokenization_spaces"] = false;
  return std::map<std::string, std::string>{{"tokenizer.json", tokenizer.dump(1) + "\n"},
                                            {"tokenizer_config.json", config.dump(2) + "\n"}};
}

}  // namespace strata::tokenizer
