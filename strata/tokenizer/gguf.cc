#include "strata/tokenizer/gguf.h"

#include <cmath>

#include "strata/base/checksum.h"
#include "strata/tokenizer/huggingface.h"
#include "strata/tokenizer/known_patterns.h"
#include "strata/tokenizer/pipeline/pipeline.h"
#include "strata/tokenizer/utf8.h"

namespace strata::tokenizer {
namespace {

enum Type { kNormal = 1, kUnknown, kControl, kUserDefined, kUnused, kByte };
constexpr std::size_t kMostTokens = 1 << 21, kMostMerges = 1 << 22;
constexpr char kMark[] = "\xe2\x96\x81";

/// How the texts of a byte-level vocabulary are cut.
struct Pre {
  std::vector<const char*> names, expressions;
  bool gpt2_last = false;  // then ByteLevel cuts by GPT-2's expression
  bool nfc = false, ignore_merges = false, add_bos = false;
};

const Pre* find_pre(const std::string& name) {
  namespace e = expression;
  static const std::vector<Pre> kAll = {
      {{"gpt-2", "phi-2", "olmo", "mpt", "jina-es", "jina-de", "jina-v2-es", "jina-v2-de",
        "exaone4", "gigachat", "a.x-4.0", "mellum", "modern-bert", "jais"},
       {},
       true},
      {{"smollm", "starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b"},
       {e::kDigit},
       true},
      {{"llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2"},
       {e::kLlama3},
       false,
       false,
       true,
       true},
      {{"dbrx", "smaug-bpe", "glm4", "chatglm-bpe"}, {e::kLlama3}},
      {{"qwen2", "deepseek-r1-qwen", "megrez", "kormo"}, {e::kQwen2}, false, true},
      {{"stablelm2"}, {e::kQwen2}},
      {{"qwen35"}, {e::kQwen35}, false, true},
      {{"gpt-4o", "llama4"}, {e::kGpt4o}},
      {{"tekken"}, {e::kTekken}, false, false, true, true},
      {{"falcon"}, {R"([\p{P}\$\+<=>\^~\|`]+)", e::kGpt2, "[0-9]+", "[0-9][0-9][0-9]"}},
      {{"deepseek-coder"},
       {R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)", "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+",
        e::kDigit}},
      {{"deepseek-v3", "hunyuan-dense"}, {e::kThreeDigits, e::kDeepseekHan, e::kDeepseekWords}},
  };
  for (const Pre& pre : kAll) {
    for (const char* known : pre.names) {
      if (name == known) return &pre;
    }
  }
  return nullptr;
}

Json part(const char* type) { return Json{{"type", type}}; }
Json sequence(const char* key, Json parts) {
  return Json{{"type", "Sequence"}, {key, std::move(parts)}};
}
Json replace(const char* what, const char* with) {
  return Json{{"type", "Replace"}, {"pattern", {{"String", what}}}, {"content", with}};
}

class Maker {
 public:
  explicit Maker(const GgufVocabulary& v) : v_(v) {}

  Parts make() {
    check();
    if (v_.model == "gpt2") return gpt2();
    if (v_.model == "llama") return llama();
    if (v_.model == "t5") return t5();
    if (v_.model == "bert") return bert();
    throw BadPart{"tokenizer.ggml.model " + v_.model +
                  " is unknown: allowed is gpt2, llama, t5 or bert"};
  }

 private:
  void check() const {
    const std::size_t n = v_.tokens.size();
    if (n == 0 || n > kMostTokens)
      throw BadPart{fmt::format("{} tokens: allowed are 1 to {}", n, kMostTokens)};
    if (v_.merges.size() > kMostMerges)
      throw BadPart{fmt::format("{} merges: allowed are {}", v_.merges.size(), kMostMerges)};
    if ((!v_.scores.empty() && v_.scores.size() != n) ||
        (!v_.types.empty() && v_.types.size() != n))
      throw BadPart{fmt::format("{} tokens, but {} scores and {} types", n, v_.scores.size(),
                                v_.types.size())};
    for (const auto* texts : {&v_.tokens, &v_.merges}) {
      for (std::size_t i = 0; i < texts->size(); ++i) {
        if (first_invalid((*texts)[i]) != std::string::npos)
          throw BadPart{
              fmt::format("{} {} is not UTF-8", texts == &v_.tokens ? "token" : "merge", i)};
      }
    }
    for (float score : v_.scores) {
      if (!std::isfinite(score)) throw BadPart{"a score is no finite number"};
    }
    for (const auto& id :
         {v_.bos, v_.eos, v_.eot, v_.eom, v_.unknown, v_.separator, v_.padding, v_.mask}) {
      if (id && (*id < 0 || static_cast<std::size_t>(*id) >= n))
        throw BadPart{fmt::format("special token {} is none of the {} tokens", *id, n)};
    }
  }
  int type(std::size_t i) const { return v_.types.empty() ? kNormal : v_.types[i]; }
  const std::string& token(std::int32_t id) const {
    return v_.tokens[static_cast<std::size_t>(id)];
  }

  Vocabulary vocabulary() const {
    Vocabulary out;
    for (std::size_t i = 0; i < v_.tokens.size(); ++i)
      out.add(v_.tokens[i], static_cast<std::int32_t>(i));
    return out;
  }
  double score(std::size_t i) const { return v_.scores.empty() ? 0 : double{v_.scores[i]}; }

  /// Added tokens, names of special ones, and bos and eos around a text.
  void finish(Parts& parts, bool add_bos, bool add_eos) const {
    for (std::size_t i = 0; i < v_.tokens.size(); ++i) {
      if (type(i) != kControl && type(i) != kUserDefined && type(i) != kUnknown) continue;
      AddedToken added;
      added.id = static_cast<std::int32_t>(i);
      added.content = v_.tokens[i];
      added.special = type(i) != kUserDefined;
      parts.added.push_back(std::move(added));
    }
    const std::pair<const char*, std::optional<std::int32_t>> names[] = {
        {"bos_token", v_.bos},     {"eos_token", v_.eos},     {"eot_token", v_.eot},
        {"eom_token", v_.eom},     {"unk_token", v_.unknown}, {"sep_token", v_.separator},
        {"pad_token", v_.padding}, {"mask_token", v_.mask}};
    for (const auto& [name, id] : names) {
      if (id) parts.special_tokens[name] = token(*id);
    }
    auto& single = parts.post_processor.single;
    auto& pair = parts.post_processor.pair;
    if (v_.add_bos.value_or(add_bos) && v_.bos) {
      single.insert(single.begin(), {*v_.bos});
      pair.insert(pair.begin(), {*v_.bos});
    }
    const auto last = v_.model == "bert" && v_.separator ? v_.separator : v_.eos;
    if (v_.add_eos.value_or(add_eos) && last) {
      single.push_back({*last});
      pair.insert(pair.end() - 1, {*last});
      pair.push_back({*last, 1});
    }
  }

  Parts gpt2() const {
    const Pre* pre = find_pre(v_.pre);
    if (pre == nullptr) throw BadPart{"tokenizer.ggml.pre '" + v_.pre + "' is unknown"};
    Parts out;
    BpeOptions options;
    options.ignore_merges = pre->ignore_merges;
    std::vector<Merge> merges;
    for (const std::string& text : v_.merges) {
      const std::size_t space = text.find(' ', 1);  // a piece may be a space in old files
      if (space == text.npos) throw BadPart{fmt::format("merge '{}' is no pair", text)};
      merges.push_back({text.substr(0, space), text.substr(space + 1),
                        static_cast<std::int32_t>(merges.size())});
    }
    out.model = make_bpe(vocabulary(), merges, options);
    Json cuts = Json::array();
    for (const char* e : pre->expressions)
      cuts.push_back({{"type", "Split"}, {"pattern", {{"Regex", e}}}, {"behavior", "Isolated"}});
    cuts.push_back({{"type", "ByteLevel"},
                    {"add_prefix_space", v_.add_space_prefix.value_or(false)},
                    {"use_regex", pre->gpt2_last}});
    out.pre_tokenizer = read_pre_tokenizer(sequence("pretokenizers", cuts));
    if (pre->nfc) out.normalizer = read_normalizer(part("NFC"));
    out.decoder = read_decoder(part("ByteLevel"));
    finish(out, pre->add_bos, false);
    return out;
  }

  Parts llama() const {
    Parts out;
    std::vector<bool> merged;
    std::vector<float> scores = v_.scores;
    scores.resize(v_.tokens.size());
    for (std::size_t i = 0; i < v_.tokens.size(); ++i) merged.push_back(type(i) == kNormal);
    BpeOptions options;
    options.byte_fallback = true;
    options.fuse_unknown = true;
    if (v_.unknown) options.unknown = token(*v_.unknown);
    out.model = make_scored_bpe(vocabulary(), scores, merged, options);
    const bool prefix = v_.add_space_prefix.value_or(true);
    Json steps = Json::array();
    if (v_.remove_extra_whitespaces.value_or(false)) steps.push_back(collapse());
    if (prefix) steps.push_back({{"type", "Prepend"}, {"prepend", kMark}});
    steps.push_back(replace(" ", kMark));
    out.normalizer = read_normalizer(sequence("normalizers", steps));
    Json decoders = Json::array({replace(kMark, " "), part("ByteFallback"), part("Fuse")});
    if (prefix)
      decoders.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
    out.decoder = read_decoder(sequence("decoders", decoders));
    finish(out, true, false);
    return out;
  }

  static Json collapse() {
    return Json{{"type", "Replace"}, {"pattern", {{"Regex", " {2,}"}}}, {"content", " "}};
  }

  Parts t5() const {
    Parts out;
    std::vector<double> scores;
    bool bytes = false;
    Vocabulary vocabulary;
    for (std::size_t i = 0; i < v_.tokens.size(); ++i) {
      vocabulary.add_next(v_.tokens[i]);
      scores.push_back(score(i));
      bytes = bytes || type(i) == kByte;
    }
    out.model = make_unigram(std::move(vocabulary), scores, v_.unknown, bytes);
    std::vector<std::int32_t> hidden;
    for (std::size_t i = 0; i < v_.tokens.size(); ++i) {
      if (type(i) == kUnused || type(i) == kByte) hidden.push_back(static_cast<std::int32_t>(i));
    }
    out.model->forbid(hidden);
    out.normalizer = t5_normalizer();
    const char* scheme = v_.add_space_prefix.value_or(true) ? "always" : "never";
    const Json metaspace = {
        {"type", "Metaspace"}, {"replacement", kMark}, {"prepend_scheme", scheme}};
    out.pre_tokenizer = read_pre_tokenizer(metaspace);
    Json decoders = Json::array();
    if (bytes) decoders.push_back(part("ByteFallback"));
    decoders.push_back(metaspace);
    out.decoder = read_decoder(sequence("decoders", decoders));
    finish(out, false, true);
    return out;
  }

  /// The compiled map of characters, then runs of spaces as one.
  std::shared_ptr<const Normalizer> t5_normalizer() const {
    std::shared_ptr<const Normalizer> map, spaces;
    if (!v_.precompiled_charsmap.empty()) map = precompiled_normalizer(v_.precompiled_charsmap);
    if (v_.remove_extra_whitespaces.value_or(true)) spaces = read_normalizer(collapse());
    if (!map || !spaces) return map ? map : spaces;
    return both(map, spaces);
  }
  static std::shared_ptr<const Normalizer> both(std::shared_ptr<const Normalizer> first,
                                                std::shared_ptr<const Normalizer> second) {
    struct Both : Normalizer {
      std::shared_ptr<const Normalizer> a, b;
      std::string apply(std::string text) const override {
        return b->apply(a->apply(std::move(text)));
      }
    };
    auto out = std::make_shared<Both>();
    out->a = std::move(first), out->b = std::move(second);
    return out;
  }

  Parts bert() const {
    Parts out;
    Vocabulary vocabulary;
    for (std::size_t i = 0; i < v_.tokens.size(); ++i) {
      const std::string& t = v_.tokens[i];
      const bool named = t.starts_with('[') && t.ends_with(']');
      std::string text = t.starts_with(kMark) ? t.substr(3) : named ? t : "##" + t;
      vocabulary.add(std::move(text), static_cast<std::int32_t>(i));
    }
    const std::string unknown = v_.unknown ? token(*v_.unknown) : "[UNK]";
    out.model = make_word_piece(std::move(vocabulary), unknown, "##", 100);
    out.normalizer = read_normalizer(part("BertNormalizer"));
    out.pre_tokenizer = read_pre_tokenizer(part("BertPreTokenizer"));
    out.decoder = read_decoder(part("WordPiece"));
    finish(out, true, true);
    return out;
  }

  const GgufVocabulary& v_;
};

}  // namespace

Result<std::shared_ptr<const Tokenizer>> make_gguf(const GgufVocabulary& v,
                                                   const std::string& name) {
  if (!v.huggingface_json.empty()) return make_huggingface(v.huggingface_json, name);
  try {
    Parts parts = Maker(v).make();
    std::uint32_t sum = crc32c(v.model + "\n" + v.pre + "\n" + v.precompiled_charsmap);
    for (const auto* list : {&v.tokens, &v.merges}) {
      for (const std::string& text : *list) sum = crc32c(text + "\n", sum);
    }
    sum = crc32c({reinterpret_cast<const char*>(v.scores.data()), v.scores.size() * sizeof(float)},
                 sum);
    sum = crc32c({reinterpret_cast<const char*>(v.types.data()), v.types.size() * 4}, sum);
    parts.type = "gguf";
    parts.fingerprint = fmt::format("gguf:{}:{}", hex32(sum), v.tokens.size());
    return make_pipeline(std::move(parts));
  } catch (const BadPart& bad) {
    const bool unknown = bad.message.find("is unknown") != std::string::npos;
    return Status(unknown ? Code::unsupported : Code::corrupt, "{}: {}", name, bad.message);
  }
}

}  // namespace strata::tokenizer
