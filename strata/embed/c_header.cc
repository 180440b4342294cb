#include "strata/embed/c_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "strata/api/trace/trace.h"
#include "strata/base/error.h"
#include "strata/embed/c_names.h"

namespace strata::embed {
namespace {

/// One input or output, ready to print.
struct Field {
  std::string name;
  std::string c_type, cpp_type;  // of an element
  std::string what;              // "f32[784,10], [0]['w']"
  std::vector<std::int64_t> dims;
  std::int64_t count = 0;
};

/// C's and C++'s types with the bits of a dtype.
std::pair<std::string, std::string> element_types(const std::string& program,
                                                  const Program::Port& port) {
  if (!port.type.is_tensor())
    throw Error(program, "{} is {}, which C has no type for", port.name, port.type.to_string())
        .unsupported();
  const DType d = port.type.dtype();
  auto same = [](std::string s) { return std::pair(s, s); };
  switch (d) {
    case DType::i1: return same("bool");
    case DType::f32: return same("float");
    case DType::f64: return same("double");
    case DType::c64: return {"float _Complex", "std::complex<float>"};
    case DType::c128: return {"double _Complex", "std::complex<double>"};
    default:
      return same(fmt::format("{}int{}_t", is_signed(d) ? "" : "u",
                              8 * byte_width(d)));  // bf16, f16 and narrower ones: their bits
  }
}

/// What a comment may hold of a name that comes from elsewhere.
std::string in_comment(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == '\\') c = ' ';
  for (std::size_t at; (at = text.find("*/")) != std::string::npos;) text.replace(at, 2, "* /");
  return text;
}

std::string note(DType d) {
  if (d == DType::i1) return ", 0 or 1";
  if (is_float(d) && d != DType::f32 && d != DType::f64) return ", as bits";
  return bit_width(d) < 8 ? ", one a byte" : "";
}

std::vector<Field> fields_of(const HeaderFacts& facts) {
  std::vector<std::string> in, out;
  for (const auto& p : facts.inputs) in.push_back(p.name);
  for (const auto& p : facts.outputs) out.push_back(p.name);
  const std::vector<std::string> names = field_names(in, out);
  std::vector<Field> fields;
  for (const auto* ports : {&facts.inputs, &facts.outputs})
    for (const Program::Port& p : *ports) {
      auto [c, cpp] = element_types(facts.name, p);
      const std::string path = p.name.empty() ? "" : fmt::format(" ({})", in_comment(p.name));
      fields.push_back({names[fields.size()], c, cpp,
                        internal::describe(p.type) + note(p.type.dtype()) + path,
                        p.type.shape().sizes(), p.type.shape().count()});
    }
  return fields;
}

std::string guard(const std::string& name) {
  std::string out = "STRATA_PROGRAM_" + name;
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return out + "_H";
}

class HeaderWriter {
 public:
  explicit HeaderWriter(const HeaderFacts& facts)
      : facts_(facts), name_(facts.name), fields_(fields_of(facts)), inputs_(facts.inputs.size()) {}

  std::string text() {
    line("// {}", in_comment(facts_.signature));
    line("//");
    line(
        "// Written by `strata compile` from {}, for {}: link with {} and libstrata_rt.a "
        "(-lstrata_rt -lstdc++ -lm).",
        in_comment(facts_.source), in_comment(facts_.cpu), in_comment(facts_.object));
    line("#ifndef {0}\n#define {0}\n", guard(name_));
    line("#include <stdbool.h>\n#include <stdint.h>\n");
    if (std::any_of(fields_.begin(), fields_.end(),
                    [](const Field& f) { return f.c_type != f.cpp_type; }))
      complex_numbers();
    line("#ifdef __cplusplus\nextern \"C\" {{\n#endif\n");
    array_types();
    structs();
    function();
    line("#ifdef __cplusplus\n}}  // extern \"C\"\n");
    cpp();
    line("#endif  // __cplusplus\n\n#endif  // {}", guard(name_));
    return std::move(out_);
  }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    out_ += fmt::format(format, std::forward<Args>(args)...) + '\n';
  }

  void complex_numbers() {
    line("#ifdef __cplusplus\n#include <complex>");
    for (const char* part : {"float", "double"})
      line("typedef std::complex<{}> {}_complex_{};", part, name_, part);
    line("#else");
    for (const char* part : {"float", "double"})
      line("typedef {} _Complex {}_complex_{};", part, name_, part);
    line("#endif\n");
    for (Field& f : fields_)
      if (f.c_type != f.cpp_type)
        f.c_type = f.cpp_type =
            fmt::format("{}_complex_{}", name_, f.c_type.substr(0, f.c_type.find(' ')));
  }

  /// C has no arrays without elements.
  void array_types() {
    line("// Memory of the right size and shape, for those who want it: `static {}_{}_array x;`",
         name_, fields_.empty() ? "x" : fields_.front().name);
    for (const Field& f : fields_) {
      std::string dims;
      for (std::int64_t d : f.dims) dims += fmt::format("[{}]", d);
      if (f.count > 0)
        line("typedef {} {}_{}_array{};  // {}", f.c_type, name_, f.name,
             dims.empty() ? "[1]" : dims, f.what);
    }
    line("");
  }

  void structs() {
    line(
        "// What the program reads and writes: dense and row-major, aligned to their elements. "
        "Outputs lie apart from each other and from inputs.");
    structure("inputs", "const ", 0, inputs_);
    structure("outputs", "", inputs_, fields_.size());
  }
  void structure(const char* kind, const char* qualifier, std::size_t begin, std::size_t end) {
    line("typedef struct {}_{} {{", name_, kind);
    if (begin == end) line("  const void* none;");
    for (std::size_t i = begin; i < end; ++i)
      line("  {}{}* {};  // {}", qualifier, fields_[i].c_type, fields_[i].name, fields_[i].what);
    line("}} {}_{};\n", name_, kind);
  }

  void function() {
    line(
        "// Runs the program. Gives NULL, or what went wrong in words that live as long as the "
        "process: no memory, a processor that lacks\n"
        "// what the code needs. Any number of threads may run it at once.");
    line("const char* {0}_run(const {0}_inputs* inputs, const {0}_outputs* outputs);", name_);
    line("// \"{}\"", in_comment(facts_.signature));
    line("extern const char {}_signature[];", name_);
    line(
        "// How many threads work on all such programs together; 0 is the default: "
        "STRATA_NUM_THREADS, else one for each processor.");
    line("void strata_runtime_threads(int n);\n");
  }

  // ---- C++

  void cpp() {
    line(
        "#if __cplusplus >= 202002L\n#include <array>\n#include <cstddef>\n#include "
        "<cstdint>\n#include <span>\n#include <stdexcept>\n");
    line("namespace {} {{\n", name_);
    line("namespace size {{  // elements");
    for (const Field& f : fields_) line("inline constexpr std::size_t {} = {};", f.name, f.count);
    line("}}\nnamespace shape {{");
    for (const Field& f : fields_)
      line("inline constexpr std::array<std::int64_t, {}> {}{{{}}};", f.dims.size(), f.name,
           fmt::join(f.dims, ", "));
    line("}}\n");
    spans("Inputs", "const ", 0, inputs_);
    spans("Outputs", "", inputs_, fields_.size());
    line("/// Runs the program; throws std::runtime_error where {}_run gives an error.", name_);
    line("inline void run(const Inputs&{}, const Outputs&{}) {{", inputs_ > 0 ? " in" : "",
         fields_.size() > inputs_ ? " out" : "");
    pass("inputs", "in", 0, inputs_);
    pass("outputs", "out", inputs_, fields_.size());
    line(
        "  if (const char* error = {}_run(&inputs, &outputs)) throw "
        "std::runtime_error(error);\n}}\n",
        name_);
    line("}}  // namespace {}\n#endif", name_);
  }
  void spans(const char* kind, const char* qualifier, std::size_t begin, std::size_t end) {
    line("struct {} {{", kind);
    for (std::size_t i = begin; i < end; ++i)
      line("  std::span<{}{}, {}> {};  // {}", qualifier, fields_[i].cpp_type, fields_[i].count,
           fields_[i].name, fields_[i].what);
    line("}};\n");
  }
  void pass(const char* kind, const char* from, std::size_t begin, std::size_t end) {
    std::string pointers = begin == end ? "nullptr" : "";
    for (std::size_t i = begin; i < end; ++i)
      pointers += fmt::format("{}{}.{}.data()", i > begin ? ", " : "", from, fields_[i].name);
    line("  const {0}_{1} {1} = {{{2}}};", name_, kind, pointers);
  }

  const HeaderFacts& facts_;
  const std::string& name_;
  std::vector<Field> fields_;
  std::size_t inputs_;
  std::string out_;
};

}  // namespace

std::string c_header(const HeaderFacts& facts) { return HeaderWriter(facts).text(); }

}  // namespace strata::embed
