// Command lines: options, their checks and their help. The one door to CLI11, whose header costs
// each source four seconds.
//
//   CommandLine line("Draws a curve.\n\nExample:\n  draw --width 80 run");
//   line.add_option("run", o.run, "a run's folder").required();
//   line.add_option("--width", o.width, "columns").in_range(8, 400).show_default();
//   line.add_flag("--json", o.json, "print one JSON object");
//   if (auto status = line.parse(argc, argv)) return *status;   // --help, or a mistake that was
//   printed
//
// Names are CLI11's: "--name" for options, a bare name for positional arguments. The values must
// outlive `parse`.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace strata {

/// An option that was added; each function says more of it.
class CommandOption {
 public:
  CommandOption required();
  /// The value that the variable holds is its default, and in the help.
  CommandOption show_default();
  /// For whole numbers; both ends are allowed.
  CommandOption in_range(std::int64_t least, std::int64_t most);
  CommandOption in_range(double least, double most);
  CommandOption in_range(int least, int most) {
    return in_range(std::int64_t{least}, std::int64_t{most});
  }
  CommandOption one_of(std::vector<std::string> allowed);
  /// What is wrong with a value, nothing for a good one.
  CommandOption check(std::function<std::string(const std::string&)> wrong);
  /// What the help calls a value.
  CommandOption type_name(std::string name);
  /// A list in one value: "a,b,c".
  CommandOption delimiter(char c);
  /// One value each time the option is named; it may be named often.
  CommandOption one_at_a_time();

 private:
  friend class CommandLine;
  explicit CommandOption(CLI::Option* option) : option_(option) {}
  CLI::Option* option_;
};

/// A command, or a subcommand of one.
class CommandLine {
 public:
  /// The description is the help's first part; `name` for its usage line, else the program's.
  explicit CommandLine(const std::string& description, const std::string& name = "");
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  CommandOption add_option(const std::string& name, std::string& value, const std::string& help);
  CommandOption add_option(const std::string& name, std::vector<std::string>& values,
                           const std::string& help);
  CommandOption add_option(const std::string& name, int& value, const std::string& help);
  CommandOption add_option(const std::string& name, std::int64_t& value, const std::string& help);
  CommandOption add_option(const std::string& name, std::uint64_t& value, const std::string& help);
  CommandOption add_option(const std::string& name, double& value, const std::string& help);
  /// Empty where it is not given.
  CommandOption add_option(const std::string& name, std::optional<double>& value,
                           const std::string& help);
  CommandOption add_option(const std::string& name, std::optional<std::int64_t>& value,
                           const std::string& help);
  CommandOption add_flag(const std::string& name, bool& value, const std::string& help);
  /// "--name{default}": the value may be left out, and is `default` then.
  CommandOption add_flag(const std::string& name, std::string& value, const std::string& help);

  /// `line` is for the list of subcommands, and its own help's first part until `description` gives
  /// it a longer one. Lives as long as this.
  CommandLine& add_subcommand(const std::string& name, const std::string& line);
  void description(const std::string& text);
  /// Exactly one subcommand must be given.
  void require_subcommand();
  /// Runs when this subcommand was chosen, before `parse` returns.
  void callback(std::function<void()> f);
  /// The help's last part.
  void footer(const std::string& text);
  std::string help() const;
  /// What to say of an option that is unknown and like no known one: "; ..." or nothing. Takes the
  /// name without dashes.
  void hint(std::function<std::string(const std::string& name)> of);

  /// Nothing to go on; else the program's exit status: 0 after --help or --version, `mistake` after
  /// a message on stderr. A mistyped option or subcommand is named before all else.
  std::optional<int> parse(int argc, char** argv, int mistake = 2);

 private:
  explicit CommandLine(CLI::App* app);
  std::string unknown_word(int argc, char** argv, int first) const;
  std::string unknown_option(const std::string& argument) const;
  std::unique_ptr<CLI::App> own_;  // of the outermost
  CLI::App* app_;
  std::vector<std::unique_ptr<CommandLine>> subcommands_;
  std::function<std::string(const std::string&)> hint_;
};

}  // namespace strata
