// Chapter 17: data. The page beside this file (17_data.md) explains it.
#include <filesystem>
#include <iostream>
#include <set>

#include "strata/data/format/elements.h"
#include "strata/data/format/file_source.h"
#include "strata/data/pipeline/elastic.h"
#include "strata/data/pipeline/pipeline.h"

using namespace strata;
using data::Element;

int main() {
  const auto folder = std::filesystem::temp_directory_path() / "strata-tutorial-17";
  std::filesystem::create_directories(folder);
  const std::string jsonl = folder / "numbers.jsonl", records = folder / "numbers.array_record";

  // A file of a hundred records, and the same in another format.
  auto writer = data::create_elements(jsonl).value();
  for (std::int64_t n = 0; n < 100; ++n) {
    const Element record = Element::dict({{"n", n}, {"text", "number " + std::to_string(n)}});
    if (!writer->add(record).ok()) return 1;
  }
  if (!writer->close().ok()) return 1;
  const auto converted = data::convert_elements(jsonl, records, {}).value();
  std::cout << converted.records << " records, " << converted.damaged << " damaged\n";

  // Records by number, shuffled, taken apart, in batches.
  const auto source = data::open_source(records, {}).value();
  const auto decode = [](const Element& bytes) {
    const std::string_view text = bytes.view();  // {"n":7,"text":"number 7"}
    return Element(std::int64_t{std::stoll(std::string(text.substr(5)))});
  };
  const data::MapDataset examples = data::MapDataset::source(source).seed(42).shuffle().map(decode);
  const data::IterDataset batches =
      examples.to_iter_dataset({.num_threads = 2}).batch(8, {.drop_remainder = true});
  std::cout << batches.describe();

  // An iterator's place is a text; another iterator goes on from it.
  auto first = batches.iterate();
  first.take(3);
  const std::string place = first.state();
  auto second = batches.iterate();
  if (!second.set_state(place).ok()) return 1;
  const auto a = first.take(), b = second.take();
  std::cout << a.size() << " batches are left, " << (a == b ? "the same" : "others") << "\n";

  // Two hosts for two steps, then three: each record once.
  std::set<std::int64_t> seen;
  std::int64_t rows = 0;
  const auto read = [&](const std::string& from, int hosts, int steps) {
    std::string after;
    for (int host = 0; host < hosts; ++host) {
      data::ElasticIterator part(examples, 12, {.shard_index = host, .shard_count = hosts});
      if (!from.empty()) (void)part.set_state(from).ok();
      Element batch;
      for (int i = 0; i < steps && part.next(batch).value(); ++i)
        for (std::int64_t k = 0; k < batch.array().count(); ++k, ++rows)
          seen.insert(batch.array().integer(k));
      after = part.state();
    }
    return after;
  };
  read(read("", 2, 2), 3, 6);
  std::cout << rows << " rows on two hosts, then three; " << seen.size() << " different\n";

  // Sources in proportion; sequences packed into rows.
  const data::MapDataset other = data::MapDataset::range(1000, 1100);
  const auto mixed = data::MapDataset::mix({data::MapDataset::range(100), other}, {0.75, 0.25});
  for (std::int64_t i = 0; i < 8; ++i) std::cout << mixed[i].integer() << " ";
  std::cout << "\n";
  const auto sequence = [](const Element& e) {
    return Element::dict({{"tokens", Literal::full(Type(DType::i32, {e.integer() % 4 + 1}),
                                                   static_cast<double>(e.integer()))}});
  };
  const auto rows_of_six =
      data::MapDataset::range(9).map(sequence).to_iter_dataset().first_fit_pack(
          {.length_struct = {{"tokens", 6}}, .num_packing_bins = 2, .shuffle_bins = false});
  for (const Element& row : rows_of_six.iterate().take())
    std::cout << row.at("tokens").to_string() << " " << row.at("tokens_segment_ids").to_string()
              << "\n";
  std::filesystem::remove_all(folder);
}
