#include "strata/conformance/dimensions.h"

#include <filesystem>
#include <sstream>

#include "strata/base/file.h"
#include "strata/op/samples.h"

namespace strata::conformance {
namespace {

std::vector<std::int64_t> numbers(const std::string& text) {
  std::vector<std::int64_t> out;
  std::istringstream words(text);
  for (std::int64_t n; words >> n;) out.push_back(n);
  return out;
}

bool is_variable(const Type& type) {
  return type.is_tensor() && type.rank() == 0 && is_integer(type.dtype());
}

/// The type with a size for each '?'; `next` counts those used.
Result<Type> sized(const Type& type, const std::vector<std::int64_t>& sizes, std::size_t& next) {
  std::vector<Dim> dims = type.shape().dims();
  for (Dim& d : dims) {
    if (d.is_static()) continue;
    if (next >= sizes.size())
      return Status(Code::invalid, "the manifest has {} sizes, too few for {}", sizes.size(),
                    type.to_string());
    d = sizes[next++];
  }
  return type.with(Shape(std::move(dims)));
}

}  // namespace

Result<Dimensions> dimensions_of(const std::string& path) {
  std::filesystem::path program(path), manifest = program.parent_path() / "dimensions.txt";
  auto text = read_file(manifest.string());
  if (!text)
    return Status(Code::not_found, "{} has arguments, but there is no {}", path, manifest.string());
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    std::size_t blank = line.find(' '), colon = line.find(" : ");
    if (blank == std::string::npos || colon == std::string::npos ||
        line.substr(0, blank) != program.filename().string())
      continue;
    Dimensions out{numbers(line.substr(blank, colon - blank)), numbers(line.substr(colon + 3))};
    if (std::size_t last = line.rfind(" : "); last != colon)
      if (std::vector<std::int64_t> bound = numbers(line.substr(last + 3)); !bound.empty())
        out.integers_below = bound[0];
    return out;
  }
  return Status(Code::not_found, "{}: no line for {}", manifest.string(),
                program.filename().string());
}

Result<std::vector<Literal>> made_arguments(const ir::Function& f, const Dimensions& dimensions) {
  std::vector<Literal> out;
  std::size_t next = 0, variables = dimensions.variables.size();
  for (std::size_t i = 0; i < f.body.arguments().size(); ++i) {
    const Type& type = f.body.arguments()[i]->type();
    if (i < variables) {
      if (!is_variable(type))
        return Status(Code::invalid, "argument {} is {}, no dimension variable", i,
                      type.to_string());
      out.push_back(Literal::full(type, static_cast<double>(dimensions.variables[i])));
      continue;
    }
    auto known = sized(type, dimensions.sizes, next);
    if (!known) return known.status();
    bool counts = is_integer(known->dtype());
    out.push_back(op::random_literal(*known, i + 1, counts ? 0 : -2,
                                     counts ? static_cast<double>(dimensions.integers_below) : 2));
  }
  return out;
}

}  // namespace strata::conformance
