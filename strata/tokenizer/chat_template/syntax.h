// The syntax tree of a template.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "strata/tokenizer/chat_template/value.h"

namespace strata::tokenizer::jinja {

struct Expression;
using ExpressionPtr = std::unique_ptr<Expression>;
struct Statement;
using Body = std::vector<std::unique_ptr<Statement>>;

/// Of a call, a filter or a test.
struct CallArguments {
  std::vector<ExpressionPtr> positional;
  std::vector<std::pair<std::string, ExpressionPtr>> named;
  ExpressionPtr star, double_star;
};

struct Expression {
  enum class Kind {
    constant,      // value
    name,          // text
    list,          // parts
    tuple,         // parts
    dict,          // parts: key, value, key, value, ...
    attribute,     // parts[0].text
    item,          // parts[0][parts[1]]
    slice,         // parts[0][parts[1]:parts[2]:parts[3]], absent ones null
    call,          // parts[0](arguments)
    filter,        // parts[0] | text(arguments); parts[0] null: of a block
    test,          // parts[0] is text(arguments)
    negated,       // not parts[0]
    unary,         // text parts[0]: + or -
    binary,        // parts[0] text parts[1]
    both,          // parts[0] and parts[1]
    either,        // parts[0] or parts[1]
    comparison,    // parts[0] operators[0] parts[1] operators[1] parts[2] ...
    conditional,   // parts[0] if parts[1] else parts[2], which may be null
    concatenation  // parts[0] ~ parts[1] ~ ...
  };
  Kind kind;
  int line = 0;
  std::string text;
  Value value;
  std::vector<ExpressionPtr> parts;
  std::vector<std::string> operators;
  CallArguments arguments;
};

/// What is assigned to: a name, an attribute of a namespace, or a tuple of them.
struct Target {
  std::string name, attribute;
  std::vector<Target> parts;
};
struct Parameter {
  std::string name;
  ExpressionPtr value;  // the default, or null
};

struct Statement {
  enum class Kind {
    data,        // text
    output,      // expression
    condition,   // branches, alternative
    loop,        // target in expression [if test], body, alternative
    assignment,  // target = expression
    capture,     // target = body, through filters of `expression`
    macro,       // text, parameters, body
    call_block,  // call parameters: expression is a call; body
    filter,      // body through filters of `expression`
    scope,       // with: targets = values; body
    generation,  // body
    leave,       // break
    next,        // continue
  };
  Kind kind;
  int line = 0;
  std::string text;
  ExpressionPtr expression, test;
  Target target;
  Body body, alternative;
  bool is_recursive = false, has_alternative = false;
  std::vector<std::pair<ExpressionPtr, Body>> branches;
  std::vector<Parameter> parameters;
  std::vector<std::pair<Target, ExpressionPtr>> assignments;
};

/// Throws TemplateError.
Body parse(std::string_view text);

}  // namespace strata::tokenizer::jinja
