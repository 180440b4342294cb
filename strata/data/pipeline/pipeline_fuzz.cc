// libFuzzer target: any bytes are set as the state of pipelines that hold every kind of iterator;
// what is accepted is read on from, and ends in elements, a Status or an Error.
//
//   tools/fuzz.sh strata/data/pipeline/pipeline_fuzz.cc strata/data/pipeline/testdata
//   -max_total_time=60
#include <cstdint>
#include <string>
#include <vector>

#include "strata/base/error.h"
#include "strata/data/pipeline/pipeline.h"

namespace {

using namespace strata;
using namespace strata::data;

Element tokens(const Element& e) {
  const auto n = static_cast<std::int64_t>(e.integer() % 5 + 1);
  return Element::dict({{"a", Literal(Type(DType::i32, Shape{n}))}});
}

std::vector<IterDataset> pipelines() {
  const auto numbers = MapDataset::range(20, Mode::compat).seed(1).shuffle().to_iter_dataset();
  const auto rows = numbers.map(tokens);
  return {
      numbers.window_shuffle(4, 1).repeat(2).limit(30),
      numbers.map_with_index([](std::int64_t, const Element& e) { return e; }).cache(),
      numbers.random_map([](const Element& e, NumpyGenerator&) { return e; }, 1),
      numbers.flat_map([](const Element& e) { return std::vector<Element>(2, e); }),
      numbers.batch(3).rebatch(4),
      IterDataset::mix(std::vector{numbers, numbers}),
      IterDataset::zip({numbers, numbers}),
      IterDataset::interleave(std::vector{numbers, numbers, numbers},
                              {.cycle_length = 2, .iter_buffer_size = 0}),
      rows.first_fit_pack({.length_struct = {{"a", 8}}, .num_packing_bins = 3}),
      rows.concat_then_split({.length_struct = {{"a", 8}}}),
  };
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<IterDataset> all = pipelines();
  const std::string state(reinterpret_cast<const char*>(data), size);
  for (const IterDataset& ds : all) {
    DatasetIterator iterator = ds.iterate();
    try {
      if (!iterator.set_state(state).ok()) continue;
      Element element;
      for (int i = 0; i < 50; ++i)
        if (auto more = iterator.next(element); !more || !*more) break;
    } catch (const Error&) {
    }
  }
  return 0;
}
