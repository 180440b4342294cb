// Tokens of a template, with Jinja's rules for white space: trim_blocks, lstrip_blocks, one newline
// at the end dropped, - and + in tags.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace strata::tokenizer::jinja {

struct Token {
  enum class Kind {
    data,            // text outside of tags
    variable_begin,  // {{
    variable_end,
    block_begin,  // {%
    block_end,
    name,
    string,  // its value, escapes resolved
    integer,
    number,  // a float
    symbol,  // an operator or bracket
    end,
  };
  Kind kind;
  std::string text;
  int line;
};

/// Ends with a token of kind `end`. Throws TemplateError.
std::vector<Token> lex(std::string_view text);

}  // namespace strata::tokenizer::jinja
