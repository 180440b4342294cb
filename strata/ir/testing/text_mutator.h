// What a libFuzzer target of program texts changes in them: words and lines, so that most texts
// still read far. Included by such a target once; it defines LLVMFuzzerCustomMutator and
// LLVMFuzzerCustomCrossOver.
//
// A text is a row of tokens: names (%x, @f, ^b, #a, !t), words (stablehlo.add, 2x3xf32), strings,
// spaces, single signs. A step deletes, doubles, swaps or replaces one, by one of its kind from
// this text or another, or by a word that programs use; or changes a number; or one name
// everywhere; or moves lines. One step of four is libFuzzer's own, of bytes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "strata/ir/graph.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace strata::ir::testing {

class TextMutator {
 public:
  explicit TextMutator(unsigned seed) : random_(seed) {}

  /// The text after one to four steps; what comes from another text is taken from `other`.
  std::string operator()(std::string_view text, std::string_view other) {
    split(text, tokens_);
    split(other, others_);
    for (std::size_t steps = 1 + below(4); steps-- > 0;) step();
    std::string out;
    for (const std::string& token : tokens_) out += token;
    return out;
  }

 private:
  enum class Kind { name, word, number, shape, string, space, line, sign };

  static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
  }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

  static Kind kind_of(const std::string& token) {
    char c = token[0];
    if (token.size() > 1 && std::strchr("%@^#!", c)) return Kind::name;
    if (is_digit(c)) return token.find('x') == std::string::npos ? Kind::number : Kind::shape;
    if (is_word(c)) return Kind::word;
    return c == '"' ? Kind::string : c == '\n' ? Kind::line : c == ' ' ? Kind::space : Kind::sign;
  }

  static void split(std::string_view text, std::vector<std::string>& tokens) {
    tokens.clear();
    for (std::size_t i = 0; i < text.size();) {
      std::size_t end = i + 1;
      char c = text[i];
      if (c == '"') {
        while (end < text.size() && text[end] != '"' && text[end] != '\n') ++end;
        if (end < text.size()) ++end;
      } else if (c == ' ') {
        while (end < text.size() && text[end] == ' ') ++end;
      } else if (c == '-' && end < text.size() && text[end] == '>') {
        ++end;
      } else if (is_word(c) || std::strchr("%@^#!", c)) {
        while (end < text.size() && is_word(text[end])) ++end;
      }
      tokens.emplace_back(text.substr(i, end - i));
      i = end;
    }
  }

  std::size_t below(std::size_t n) { return n ? random_() % n : 0; }
  template <class List>
  const auto& any(const List& list) {
    return list[below(std::size(list))];
  }

  /// A token's place, not a space's.
  std::size_t place() {
    std::size_t at = below(tokens_.size());
    for (int i = 0; i < 8 && kind_of(tokens_[at]) == Kind::space; ++i) at = below(tokens_.size());
    return at;
  }

  /// A token of that kind of a list, or nothing.
  const std::string* like(const std::vector<std::string>& tokens, Kind kind) {
    for (int i = 0; i < 64 && !tokens.empty(); ++i)
      if (const std::string& token = any(tokens); kind_of(token) == kind) return &token;
    return nullptr;
  }

  std::string number() {
    static constexpr std::string_view kNumbers[] = {"0",
                                                    "1",
                                                    "2",
                                                    "3",
                                                    "4",
                                                    "5",
                                                    "7",
                                                    "8",
                                                    "16",
                                                    "-1",
                                                    "-2",
                                                    "64",
                                                    "127",
                                                    "255",
                                                    "256",
                                                    "2147483647",
                                                    "4294967296",
                                                    "9223372036854775807",
                                                    "-9223372036854775808",
                                                    "0.5",
                                                    "-0.0",
                                                    "1.0e+00",
                                                    "1.0e-45",
                                                    "1.0E+400",
                                                    "0x7FC00000",
                                                    "0xFF800000",
                                                    "0x1",
                                                    "true",
                                                    "false"};
    return std::string(any(kNumbers));
  }

  std::string element_type() {
    static constexpr std::string_view kTypes[] = {
        "f32",
        "f64",
        "f16",
        "bf16",
        "i1",
        "i2",
        "i4",
        "i8",
        "i16",
        "i32",
        "i64",
        "ui2",
        "ui4",
        "ui8",
        "ui16",
        "ui32",
        "ui64",
        "complex<f32>",
        "complex<f64>",
        "f8E4M3FN",
        "f8E5M2",
        "f8E4M3",
        "f8E3M4",
        "f8E8M0FNU",
        "f4E2M1FN",
        "f6E2M3FN",
        "!quant.uniform<i8:f32, 0.5:3>",
        "!quant.uniform<i8<-128:127>:f32:0, {0.5, 1.0:2}>",
        "index",
        "none",
        "!stablehlo.token"};
    return std::string(any(kTypes));
  }

  /// A word, type, attribute or sign that programs use.
  std::string known() {
    static constexpr std::string_view kWords[] = {"func.func",
                                                  "func.call",
                                                  "return",
                                                  "module",
                                                  "attributes",
                                                  "public",
                                                  "private",
                                                  "across",
                                                  "dimensions",
                                                  "dims",
                                                  "applies",
                                                  "contracting_dims",
                                                  "batching_dims",
                                                  "precision",
                                                  "DEFAULT",
                                                  "HIGHEST",
                                                  "index_vector_dim",
                                                  "reducer",
                                                  "init",
                                                  "cond",
                                                  "do",
                                                  "loc(unknown)",
                                                  "loc(#loc)",
                                                  "loc(\"a\":1:2)",
                                                  "dense<0>",
                                                  "dense<[]>",
                                                  "dense<[[1, 2], [3, 4]]>",
                                                  "dense<\"0x00000000\">",
                                                  "dense<(1.0, -2.0)>",
                                                  "array<i64: 0, 1>",
                                                  "array<i1: true>",
                                                  "unit",
                                                  "tensor<f32>",
                                                  "tensor<?xf32>",
                                                  "tensor<2x?xf32, #stablehlo.bounds<?, 3>>",
                                                  "tuple<tensor<f32>, tensor<i32>>",
                                                  "memref<2xf32>",
                                                  "#stablehlo<comparison_direction LT>",
                                                  "#stablehlo.channel_handle<handle = 1, type = 0>",
                                                  "#sdy.sharding<@mesh, [{}]>",
                                                  "sdy.mesh",
                                                  "{",
                                                  "}",
                                                  "(",
                                                  ")",
                                                  "<",
                                                  ">",
                                                  "[",
                                                  "]",
                                                  "->",
                                                  ":",
                                                  ",",
                                                  "=",
                                                  "// -----\n",
                                                  "\n#loc = loc(\"x\")\n",
                                                  "\n!t = tensor<2xf32>\n",
                                                  "({",
                                                  "})",
                                                  "^bb0(%x: tensor<f32>):",
                                                  "EQ",
                                                  "SIGNED",
                                                  "TOTALORDER",
                                                  "FLOAT",
                                                  "TRANSPOSE",
                                                  "RFFT",
                                                  "UNIFORM",
                                                  "b",
                                                  "f",
                                                  "o",
                                                  "i",
                                                  "stride"};
    switch (below(4)) {
      case 0: return element_type();
      case 1: return number();
      case 2: {
        static const std::vector<const OpInfo*> all = Registry::global().all();
        return all.empty() ? "stablehlo.add"
                           : (below(2) ? any(all)->name : '"' + any(all)->name + '"');
      }
      default: return std::string(any(kWords));
    }
  }

  /// Another number, extent or element type in a token like 12, 2x3xf32, c_1.
  void change_number(std::string& token) {
    std::vector<std::size_t> digits;
    for (std::size_t i = 0; i < token.size(); ++i)
      if (is_digit(token[i])) digits.push_back(i);
    if (digits.empty()) return;
    if (kind_of(token) == Kind::shape && below(3) == 0) {
      token = token.substr(0, token.rfind('x') + 1) + element_type();
      return;
    }
    std::size_t at = any(digits), end = at;
    while (at > 0 && is_digit(token[at - 1])) --at;
    while (end < token.size() && is_digit(token[end])) ++end;
    if (end - at < 10 && below(2)) {
      long n = std::stol(token.substr(at, end - at)) + (below(2) ? 1 : -1);
      token.replace(at, end - at, std::to_string(n));
    } else {
      token.replace(at, end - at, kind_of(token) == Kind::shape && below(2) ? "?" : number());
    }
  }

  /// Tokens of the line that holds this place, its end included.
  std::pair<std::size_t, std::size_t> line(const std::vector<std::string>& tokens,
                                           std::size_t at) const {
    std::size_t begin = at, end = at;
    while (begin > 0 && tokens[begin - 1] != "\n") --begin;
    while (end < tokens.size() && tokens[end] != "\n") ++end;
    return {begin, std::min(end + 1, tokens.size())};
  }

  void step() {
    if (tokens_.empty()) tokens_.push_back(known());
    std::size_t at = place();
    std::string& token = tokens_[at];
    auto here = tokens_.begin() + static_cast<std::ptrdiff_t>(at);
    switch (below(14)) {
      case 0: tokens_.erase(here); break;
      case 1: tokens_.insert(here, std::string(token)); break;
      case 2:
      case 3:
        if (const std::string* found = like(tokens_, kind_of(token))) token = std::string(*found);
        break;
      case 4:
        if (const std::string* found = like(others_, kind_of(token))) token = *found;
        break;
      case 5: token = known(); break;
      case 6: tokens_.insert(here, {" ", known(), " "}); break;
      case 7:
      case 8: change_number(token); break;
      case 9: {  // everywhere
        std::string from = token, to = token;
        if (kind_of(to) == Kind::number || kind_of(to) == Kind::shape)
          change_number(to);
        else if (const std::string* found = like(below(2) ? tokens_ : others_, kind_of(from)))
          to = *found;
        std::replace(tokens_.begin(), tokens_.end(), from, to);
        break;
      }
      case 10: {
        std::size_t other = place();
        std::swap(tokens_[at], tokens_[other]);
        break;
      }
      case 11: {
        auto [begin, end] = line(tokens_, at);
        tokens_.erase(tokens_.begin() + static_cast<std::ptrdiff_t>(begin),
                      tokens_.begin() + static_cast<std::ptrdiff_t>(end));
        break;
      }
      default: {  // a line of this text or another, before this one
        const std::vector<std::string>& from = below(2) || others_.empty() ? tokens_ : others_;
        auto [begin, end] = line(from, below(from.size()));
        std::vector<std::string> copy(from.begin() + static_cast<std::ptrdiff_t>(begin),
                                      from.begin() + static_cast<std::ptrdiff_t>(end));
        std::size_t start = line(tokens_, at).first;
        tokens_.insert(tokens_.begin() + static_cast<std::ptrdiff_t>(start), copy.begin(),
                       copy.end());
      }
    }
  }

  std::mt19937 random_;
  std::vector<std::string> tokens_, others_;
};

inline std::size_t store(const std::string& text, std::uint8_t* out, std::size_t most) {
  std::size_t size = std::min(text.size(), most);
  if (size) std::memcpy(out, text.data(), size);
  return size;
}

}  // namespace strata::ir::testing

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  if (seed % 4 == 0) return LLVMFuzzerMutate(data, size, most);
  std::string_view text(reinterpret_cast<const char*>(data), size);
  return strata::ir::testing::store(strata::ir::testing::TextMutator(seed)(text, text), data, most);
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* first, std::size_t first_size,
                                                 const std::uint8_t* second,
                                                 std::size_t second_size, std::uint8_t* out,
                                                 std::size_t most, unsigned seed) {
  std::string_view a(reinterpret_cast<const char*>(first), first_size),
      b(reinterpret_cast<const char*>(second), second_size);
  return strata::ir::testing::store(strata::ir::testing::TextMutator(seed)(a, b), out, most);
}
