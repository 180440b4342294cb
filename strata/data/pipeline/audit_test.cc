// An epoch audited by what its records say they are: nothing twice, nothing lost, for any number of
// workers and hosts, and where processes are killed.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <vector>

#include "strata/base/file.h"
#include "strata/data/format/elements.h"
#include "strata/data/format/file_source.h"
#include "strata/data/format/json.h"
#include "strata/data/pipeline/elastic.h"
#include "strata/data/pipeline/pipeline.h"

namespace strata::data {
namespace {

constexpr std::int64_t kRecords = 601;

/// Records of a file, each of which says its number.
std::shared_ptr<const RecordSource> numbered() {
  const std::string path = ::testing::TempDir() + "audit.array_record";
  auto writer = create_elements(path).value();
  for (std::int64_t i = 0; i < kRecords; ++i)
    (void)writer->add(Element::bytes(std::to_string(i))).ok();
  STRATA_CHECK(writer->close().ok(), "{} cannot be written", path);
  return open_source(path, {}).value();
}

Element number_in(const Element& e) { return std::int64_t{std::stoll(std::string(e.view()))}; }

/// A host's part of one epoch.
IterDataset part(const std::shared_ptr<const RecordSource>& source, Mode mode, int host, int hosts,
                 int workers) {
  return MapDataset::source(source, mode)
      .shuffle(7)
      .slice(host, {}, hosts)
      .map(number_in)
      .to_iter_dataset({.num_threads = 2, .prefetch_buffer_size = 8})
      .batch(8)
      .mp_prefetch({.num_workers = workers});
}

void count(const Element& batch, std::map<std::int64_t, int>& seen) {
  for (std::int64_t i = 0; i < batch.array().count(); ++i) ++seen[batch.array().integer(i)];
}

void expect_each_once(const std::map<std::int64_t, int>& seen) {
  ASSERT_EQ(std::ssize(seen), kRecords);
  for (const auto& [record, times] : seen) EXPECT_EQ(times, 1) << record;
}

TEST(Audit, each_record_once_for_any_workers_and_hosts_with_iterators_lost) {
  const auto source = numbered();
  std::mt19937 random(3);
  for (const Mode mode : {Mode::compat, Mode::native})
    for (int hosts = 1; hosts <= 4; ++hosts)
      for (int workers = 1; workers <= 8; ++workers) {
        SCOPED_TRACE(fmt::format("{} hosts, {} workers", hosts, workers));
        std::map<std::int64_t, int> seen;
        for (int host = 0; host < hosts; ++host) {
          const IterDataset ds = part(source, mode, host, hosts, workers);
          auto iterator = std::make_unique<DatasetIterator>(ds.iterate());
          std::string saved = iterator->state();
          std::vector<Element> since;  // what is lost with the iterator
          Element e;
          for (;;) {
            if (random() % 9 == 0) {  // lost, with all that it had read ahead
              iterator = std::make_unique<DatasetIterator>(ds.iterate());
              ASSERT_TRUE(iterator->set_state(saved).ok());
              since.clear();
            }
            if (!iterator->next(e).value()) break;
            since.push_back(e);
            if (random() % 3 > 0) continue;
            saved = iterator->state();
            for (const Element& kept : since) count(kept, seen);
            since.clear();
          }
          for (const Element& kept : since) count(kept, seen);
        }
        expect_each_once(seen);
      }
}

TEST(Audit, each_record_once_while_the_number_of_hosts_changes) {
  const MapDataset ds = MapDataset::source(numbered()).shuffle(5).map(number_in);
  std::mt19937 random(4);
  constexpr std::int64_t kGlobal = 12;
  for (int round = 0; round < 20; ++round) {
    std::map<std::int64_t, int> seen;
    std::string state;
    for (bool more = true; more;) {
      const int hosts = std::array{1, 2, 3, 4}[random() % 4];
      const int steps = 1 + static_cast<int>(random() % 9);
      std::string after;
      std::array<bool, 4> more_here = {true, true, true, true};
      for (int host = 0; host < hosts; ++host) {
        ElasticIterator it(ds, kGlobal, {.shard_index = host, .shard_count = hosts});
        if (!state.empty()) {
          ASSERT_TRUE(it.set_state(state).ok());
        }
        Element e;
        for (int i = 0; i < steps && more_here[static_cast<std::size_t>(host)]; ++i) {
          more_here[static_cast<std::size_t>(host)] = it.next(e).value();
          if (more_here[static_cast<std::size_t>(host)]) count(e, seen);
        }
        if (host > 0) {
          EXPECT_EQ(it.state(), after);
        }
        after = it.state();
      }
      more = more_here[0];
      for (int host = 0; host < hosts; ++host)
        EXPECT_EQ(more_here[static_cast<std::size_t>(host)], more);
      state = after;
    }
    // Whole global batches alone are given.
    EXPECT_EQ(std::ssize(seen), kRecords / kGlobal * kGlobal);
    for (const auto& [record, times] : seen) EXPECT_EQ(times, 1) << record;
  }
}

/// Reads on from the last line of a log, and adds a line for each batch: the state after it, and
/// its records. A line is one write, so a killed process leaves whole ones.
void read_and_log(const IterDataset& ds, const std::string& log) {
  auto iterator = ds.iterate();
  std::ifstream file(log);
  std::string line, last;
  while (std::getline(file, line)) last = line;
  if (!last.empty()) {
    const Element entry = element_of_json(last, log).value();
    if (!iterator.set_state(std::string(entry.at("state").view())).ok()) ::_exit(3);
  }
  auto out = LineWriter::open(log).value();
  Element e;
  while (iterator.next(e).value())
    if (!out.add(json_of(Element::dict({{"state", Element(iterator.state())}, {"batch", e}}))).ok())
      ::_exit(4);
}

/// Hosts and workers: the corners and one more, another each day; all where kills are asked for.
std::vector<std::pair<int, int>> hosts_and_workers(bool all) {
  std::vector<std::pair<int, int>> out = {{1, 1}, {1, 8}, {4, 1}, {4, 8}}, rest;
  for (int hosts = 1; hosts <= 4; ++hosts)
    for (int workers = 1; workers <= 8; ++workers)
      if (std::find(out.begin(), out.end(), std::pair{hosts, workers}) == out.end())
        rest.emplace_back(hosts, workers);
  const char* sample = std::getenv("STRATA_SAMPLE");
  if (all)
    out.insert(out.end(), rest.begin(), rest.end());
  else
    out.push_back(rest[(sample ? std::strtoul(sample, nullptr, 10) : 0) % rest.size()]);
  return out;
}

TEST(Audit, each_record_once_under_kills) {
  const auto source = numbered();
  const char* asked = std::getenv("STRATA_KILLS");
  const int most = asked ? std::atoi(asked) : 4;
  std::mt19937 random(5);
  int killed = 0;
  for (const auto& [hosts, workers] : hosts_and_workers(asked != nullptr)) {
    SCOPED_TRACE(fmt::format("{} hosts, {} workers", hosts, workers));
    std::map<std::int64_t, int> seen;
    for (int host = 0; host < hosts; ++host) {
      const std::string log = ::testing::TempDir() + fmt::format("audit.{}.{}.log", hosts, host);
      std::filesystem::remove(log);
      for (int attempt = 0;; ++attempt) {
        ASSERT_LT(attempt, most + 1);
        const pid_t child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
          const auto slow = [](const Element& e) {
            ::usleep(300);
            return e;
          };
          read_and_log(part(source, Mode::native, host, hosts, workers).map(slow), log);
          ::_exit(0);
        }
        if (attempt < most) {
          ::usleep(static_cast<useconds_t>(random() % 20000));
          ::kill(child, SIGKILL);
        }
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        if (WIFSIGNALED(status)) {
          ++killed;
          continue;
        }
        ASSERT_EQ(WEXITSTATUS(status), 0);
        break;
      }
      std::ifstream file(log);
      for (std::string line; std::getline(file, line);) {
        const Element entry = element_of_json(line, log).value();
        for (const Element& record : entry.at("batch").items()) ++seen[record.integer()];
      }
    }
    expect_each_once(seen);
  }
  EXPECT_GT(killed, 4);
}

}  // namespace
}  // namespace strata::data
