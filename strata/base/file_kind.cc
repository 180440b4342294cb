#include "strata/base/file_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace strata {
namespace {

using namespace std::string_view_literals;

struct Beginning {
  std::string_view bytes, kind, unpacks = {};
};
constexpr Beginning kBeginnings[] = {
    {"\x1f\x8b"sv, "compressed by gzip", "gunzip -k"},
    {"\x28\xb5\x2f\xfd"sv, "compressed by zstd", "unzstd"},
    {"\xfd\x37zXZ\0"sv, "compressed by xz", "unxz -k"},
    {"BZh"sv, "compressed by bzip2", "bunzip2 -k"},
    {"PK\x03\x04"sv, "a zip archive", "unzip"},
    {"\x93NUMPY"sv, "a NumPy array (.npy)"},
    {"\x7f"
     "ELF"sv,
     "an object file or a program of this machine (ELF)"},
    {"\x89HDF\r\n"sv, "an HDF5 file"},
    {"\x89PNG\r\n"sv, "a picture (PNG)"},
    {"%PDF-"sv, "a PDF"},
    {"PAR1"sv, "a Parquet file"},
    {"GGUF"sv, "a GGUF file"},
    {"ML\xefR"sv, "MLIR bytecode"},
    {"BC\xc0\xde"sv, "LLVM bitcode"},
    {"\x80\x02"sv, "a Python pickle"},
    {"\x80\x03"sv, "a Python pickle"},
    {"\x80\x04"sv, "a Python pickle"},
    {"\x80\x05"sv, "a Python pickle"},
};

struct Ending {
  std::string_view ending, kind;
};
constexpr Ending kEndings[] = {
    {".npz", "named like a NumPy archive (.npz)"},
    {".npy", "named like a NumPy array (.npy)"},
    {".safetensors", "named like a safetensors file"},
    {".py", "a Python program"},
    {".ipynb", "a notebook"},
    {".sh", "a shell script"},
    {".json", "JSON"},
    {".jsonl", "lines of JSON"},
    {".yml", "YAML"},
    {".yaml", "YAML"},
    {".c", "a C program"},
    {".cc", "a C++ program"},
    {".cpp", "a C++ program"},
};

const Beginning* beginning(std::string_view bytes) {
  for (const Beginning& b : kBeginnings)
    if (bytes.starts_with(b.bytes)) return &b;
  return nullptr;
}

/// Eight bytes that are the length of a header, which is an object of JSON.
bool is_safetensors(std::string_view bytes) {
  std::uint64_t length = 0;
  if (bytes.size() < 10) return false;
  std::memcpy(&length, bytes.data(), sizeof length);
  return length >= 2 && length < (100u << 20) && bytes[8] == '{' &&
         (bytes[9] == '"' || bytes[9] == '}' || bytes[9] == ' ');
}

bool is_text(std::string_view bytes) {
  return std::all_of(bytes.begin(),
                     bytes.begin() + std::min<std::ptrdiff_t>(4096, std::ssize(bytes)), [](char c) {
                       const auto byte = static_cast<unsigned char>(c);
                       return byte >= 0x20 ? byte != 0x7f : c == '\n' || c == '\r' || c == '\t';
                     });
}

std::string first_line(std::string_view bytes) {
  constexpr std::size_t kMost = 40;
  const std::size_t from = std::min(bytes.find_first_not_of(" \t\r\n"), bytes.size());
  const std::string_view line = bytes.substr(from, bytes.find_first_of("\r\n", from) - from);
  return line.size() <= kMost ? std::string(line) : std::string(line.substr(0, kMost)) + " ...";
}

}  // namespace

std::string known_kind(std::string_view bytes, std::string_view name) {
  if (bytes.empty()) return "an empty file";
  if (const Beginning* b = beginning(bytes)) {
    const bool arrays = b->kind == "a zip archive" && name.ends_with(".npz");
    return arrays ? "a NumPy archive (.npz)" : std::string(b->kind);
  }
  if (is_safetensors(bytes)) return "a safetensors file";
  if (bytes.starts_with("#!")) return fmt::format("a script ({})", first_line(bytes));
  for (const Ending& e : kEndings)
    if (name.ends_with(e.ending)) return std::string(e.kind);
  return {};
}

std::string file_kind(std::string_view bytes, std::string_view name) {
  if (std::string known = known_kind(bytes, name); !known.empty()) return known;
  if (is_text(bytes)) return fmt::format("text that begins with '{}'", first_line(bytes));
  std::string out = fmt::format("{} bytes that are no text:", bytes.size());
  for (char c : bytes.substr(0, 8)) out += fmt::format(" {:02x}", static_cast<unsigned char>(c));
  return bytes.size() > 8 ? out + " ..." : out;
}

std::string_view unpacks(std::string_view bytes) {
  const Beginning* b = beginning(bytes);
  return b == nullptr ? std::string_view() : b->unpacks;
}

}  // namespace strata
