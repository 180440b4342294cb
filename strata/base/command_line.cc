#include "strata/base/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <sstream>
#include <string_view>
#include <utility>

#include "strata/base/text.h"

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

std::vector<CLI::App*> subcommands(CLI::App* app) {
  return app->get_subcommands([](const CLI::App*) { return true; });
}

/// The subcommand of this name; null when there is none.
CLI::App* subcommand(CLI::App* app, std::string_view name) {
  for (CLI::App* s : subcommands(app))
    if (s->get_name() == name) return s;
  return nullptr;
}

/// "unknown subcommand 'tarin'; did you mean 'train'?" where a word stands for a subcommand that
/// there is not; else empty.
std::string unknown_subcommand(CLI::App* app, int argc, char** argv) {
  int i = 1;
  for (CLI::App* next = nullptr; i < argc && (next = subcommand(app, argv[i])) != nullptr; ++i)
    app = next;
  if (i >= argc || argv[i][0] == '-' || app->get_require_subcommand_min() == 0) return {};
  std::vector<std::string> owned;
  for (const CLI::App* s : subcommands(app)) owned.push_back(s->get_name());
  const std::vector<std::string_view> names(owned.begin(), owned.end());
  const std::string_view meant = nearest(argv[i], names);
  return fmt::format("unknown subcommand '{}'; {}", argv[i],
                     meant.empty() ? fmt::format("there are {}", fmt::join(names, ", "))
                                   : fmt::format("did you mean '{}'?", meant));
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

std::optional<int> CommandLine::parse(int argc, char** argv, int mistake) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (const std::string unknown = unknown_subcommand(app_, argc, argv);
        !unknown.empty() && e.get_exit_code() != 0) {
      std::cerr << unknown << "\nRun with --help for more information.\n";
      return mistake;
    }
    return app_->exit(e) == 0 ? 0 : mistake;
  }
  return std::nullopt;
}

}  // namespace strata
