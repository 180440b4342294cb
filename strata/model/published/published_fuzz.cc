// libFuzzer target: any bytes are read as a config.json and, as metadata of a GGUF file, for each
// family; options that pass the check have names for all weights and finite frequencies.
//
//   tools/fuzz.sh strata/model/published/published_fuzz.cc strata/model/testdata/published
//   -max_total_time=60
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>

#include "strata/base/error.h"
#include "strata/model/decoder/rotary.h"
#include "strata/model/decoder/weights.h"
#include "strata/model/published/family.h"

namespace {

using namespace strata::model;
using strata::Error;

void check_options(const published::Family& family, const decoder::Options& options) {
  decoder::check(options);
  std::set<std::string> named;
  for (const published::WeightName& name : family.names(options).weights) named.insert(name.path);
  for (const decoder::WeightShape& w : decoder::weight_shapes(options))
    if (!named.contains(w.path)) std::abort();
  for (const decoder::Rope& rope : options.ropes)
    if (decoder::frequencies(rope, 100).values.size() != static_cast<std::size_t>(rope.width / 2))
      std::abort();
}

void check_config(const std::string& text) {
  const published::Config config = published::Config::parse(text);
  for (const published::Family& family : published::families()) {
    try {
      check_options(family, family.options(config));
    } catch (const Error&) {
    }
  }
}

/// Each line is a key and a JSON value.
void check_metadata(const std::string& text) {
  published::GgufMetadata metadata{.embedding_shape = {32, 16}};
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    const std::size_t space = line.find(' ');
    if (space != std::string::npos) metadata.values[line.substr(0, space)] = line.substr(space + 1);
    at = end + 1;
  }
  check_config(published::family_of(metadata).from_gguf(metadata));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  for (const auto check : {&check_config, &check_metadata}) {
    try {
      check(bytes);
    } catch (const Error&) {
    }
  }
  return 0;
}
