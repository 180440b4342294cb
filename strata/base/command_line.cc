#include "strata/base/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cctype>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <string_view>
#include <utility>

#include "strata/base/text.h"
#include "strata/base/version.h"

namespace strata {
namespace {

/// CLI11's help, but the list of subcommands has a line of each instead of its whole description.
struct Help : CLI::Formatter {
  std::string make_subcommand(const CLI::App* app) const override {
    std::stringstream out;
    for (const auto& [subcommand, line] : lines)
      if (subcommand == app) CLI::detail::format_help(out, app->get_name(), line, column_width_);
    return out.str();
  }
  std::vector<std::pair<const CLI::App*, std::string>> lines;
};

/// An argument that names an option, without its value: "--steps" of "--steps=3"; empty for others.
std::string option_name(const std::string& argument) {
  const bool is_option =
      argument.size() > 1 && argument[0] == '-' && argument != "--" &&
      (argument[1] == '-' || std::isalpha(static_cast<unsigned char>(argument[1])));
  return is_option ? argument.substr(0, argument.find('=')) : "";
}

}  // namespace

CommandOption CommandOption::required() { return option_->required(), *this; }
CommandOption CommandOption::show_default() { return option_->capture_default_str(), *this; }
CommandOption CommandOption::in_range(std::int64_t least, std::int64_t most) {
  return option_->check(CLI::Range(least, most)), *this;
}
CommandOption CommandOption::in_range(double least, double most) {
  return option_->check(CLI::Range(least, most)), *this;
}
CommandOption CommandOption::one_of(std::vector<std::string> allowed) {
  return option_->check(CLI::IsMember(std::move(allowed))), *this;
}
CommandOption CommandOption::check(std::function<std::string(const std::string&)> wrong) {
  return option_->check(std::move(wrong)), *this;
}
CommandOption CommandOption::type_name(std::string name) {
  return option_->type_name(std::move(name)), *this;
}
CommandOption CommandOption::delimiter(char c) { return option_->delimiter(c), *this; }
CommandOption CommandOption::one_at_a_time() { return option_->allow_extra_args(false), *this; }

CommandLine::CommandLine(const std::string& description, const std::string& name)
    : own_(std::make_unique<CLI::App>(description, name)), app_(own_.get()) {
  app_->formatter(std::make_shared<Help>());  // subcommands take it over
  app_->set_version_flag(
      "--version",
      [app = app_] {
        return std::filesystem::path(app->get_name()).filename().string() + " " STRATA_VERSION;
      },
      "Print the version and exit");
}
CommandLine::CommandLine(CLI::App* app) : app_(app) {}
CommandLine::~CommandLine() = default;

CommandOption CommandLine::add_option(const std::string& name, std::string& value,
                                      const std::string& help) {
  return CommandOption(app_->add_option(name, value, help));
}
CommandOption CommandLine::add_option(const std::string& name, std::vector<std::string>& values,
                                      const std::string& help) {
  return CommandOption(app_->add_option(name, values, help));
}
CommandOption CommandLine::add_option(const std::string& name, int& value,
                                      const std::string& help) {
  return CommandOption(app_->add_option(name, value, help));
}
CommandOption CommandLine::add_option(const std::string& name, std::int64_t& value,
                                      const std::string& help) {
  return CommandOption(app_->add_option(name, value, help));
}
CommandOption CommandLine::add_option(const std::string& name, std::uint64_t& value,
                                      const std::string& help) {
  return CommandOption(app_->add_option(name, value, help));
}
CommandOption CommandLine::add_option(const std::string& name, double& value,
                                      const std::string& help) {
  return CommandOption(app_->add_option(name, value, help));
}
CommandOption CommandLine::add_option(const std::string& name, std::optional<double>& value,
                                      const std::string& help) {
  return CommandOption(app_->add_option(name, value, help));
}
CommandOption CommandLine::add_option(const std::string& name, std::optional<std::int64_t>& value,
                                      const std::string& help) {
  return CommandOption(app_->add_option(name, value, help));
}
CommandOption CommandLine::add_flag(const std::string& name, bool& value, const std::string& help) {
  return CommandOption(app_->add_flag(name, value, help));
}
CommandOption CommandLine::add_flag(const std::string& name, std::string& value,
                                    const std::string& help) {
  return CommandOption(app_->add_flag(name, value, help));
}

CommandLine& CommandLine::add_subcommand(const std::string& name, const std::string& line) {
  CLI::App* app = app_->add_subcommand(name, line);
  std::static_pointer_cast<Help>(app_->get_formatter())->lines.emplace_back(app, line);
  return *subcommands_.emplace_back(new CommandLine(app));
}
void CommandLine::description(const std::string& text) { app_->description(text); }
void CommandLine::require_subcommand() { app_->require_subcommand(1); }
void CommandLine::callback(std::function<void()> f) { app_->callback(std::move(f)); }
void CommandLine::footer(const std::string& text) { app_->footer(text); }
std::string CommandLine::help() const { return app_->help(); }
void CommandLine::hint(std::function<std::string(const std::string&)> of) { hint_ = std::move(of); }

/// "unknown option '--promt'; did you mean '--prompt'?" where there is no such option; else empty.
std::string CommandLine::unknown_option(const std::string& argument) const {
  const std::string name = option_name(argument);
  if (name.empty() || app_->get_option_no_throw(name) != nullptr) return {};
  const bool is_long = name.starts_with("--");
  // "-pfile" is the option -p with its value.
  if (!is_long && app_->get_option_no_throw(name.substr(0, 2)) != nullptr) return {};
  std::vector<std::string> owned;
  for (const CLI::Option* o : app_->get_options())
    for (const std::string& known : o->get_lnames()) owned.push_back("--" + known);
  const std::vector<std::string_view> names(owned.begin(), owned.end());
  std::string more = is_long ? did_you_mean(name, names) : "";
  if (more.empty() && hint_) more = hint_(name.substr(is_long ? 2 : 1));
  return fmt::format("unknown option '{}'{}", name, more);
}

/// What is wrong with the first word that names a subcommand or an option which there is not; empty
/// when all are known.
std::string CommandLine::unknown_word(int argc, char** argv, int first) const {
  bool takes_value = false;  // of the option before
  for (int i = first; i < argc; ++i) {
    const std::string word = argv[i];
    if (std::exchange(takes_value, false)) continue;
    if (word == "--") return {};
    if (std::string unknown = unknown_option(word); !unknown.empty()) return unknown;
    if (const std::string name = option_name(word); !name.empty()) {
      const CLI::Option* o = app_->get_option_no_throw(name);
      takes_value = o != nullptr && name == word && o->get_items_expected_min() > 0;
      continue;
    }
    if (subcommands_.empty()) continue;
    std::vector<std::string> owned;
    for (const auto& s : subcommands_) {
      if (s->app_->get_name() == word) return s->unknown_word(argc, argv, i + 1);
      owned.push_back(s->app_->get_name());
    }
    const std::vector<std::string_view> names(owned.begin(), owned.end());
    const std::string meant = did_you_mean(word, names);
    return fmt::format(
        "unknown subcommand '{}'{}", word,
        meant.empty() ? fmt::format("; there are {}", fmt::join(names, ", ")) : meant);
  }
  return {};
}

std::optional<int> CommandLine::parse(int argc, char** argv, int mistake) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    const std::string unknown = e.get_exit_code() == 0 ? "" : unknown_word(argc, argv, 1);
    if (!unknown.empty()) {
      std::cerr << unknown << "\nRun with --help for more information.\n";
      return mistake;
    }
    return app_->exit(e) == 0 ? 0 : mistake;
  }
  return std::nullopt;
}

}  // namespace strata
