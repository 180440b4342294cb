#include "strata/runtime/distributed/place.h"

#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <utility>

namespace strata::runtime::distributed {
namespace {

/// A variable of the environment; empty ones say nothing.
struct Variable {
  std::string name;
  std::optional<std::string> text;
  explicit operator bool() const { return text.has_value(); }
  const std::string& operator*() const { return *text; }
};
Variable variable(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return {name, std::nullopt};
  return {name, text};
}

Result<std::int64_t> number(const std::string& name, const std::string& text) {
  std::int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size() || out < 0)
    return Status(Code::invalid, "{} is \"{}\", not a whole number", name, text);
  return out;
}

/// A port in the range 61440 to 65535, the same for all of a job.
std::int64_t port_of_job(std::int64_t job) { return job % 4096 + (65535 - 4096 + 1); }

/// The first host of "node001", "node001,host2", "node[001-015],host2", "node[001,007-015]".
std::string first_host(const std::string& list) {
  const std::size_t at = list.find_first_of(",[");
  if (at == std::string::npos || list[at] == ',') return list.substr(0, at);
  return list.substr(0, at) + list.substr(at + 1, list.find_first_of(",-]", at) - at - 1);
}

/// The first address of "1531576320.0;tcp://10.96.0.1,10.148.0.1:34911", or of
/// "1314521088.0;tcp6://[fe80::b9b,2620::2]:43370".
std::string address_of_launcher(const std::string& uri) {
  if (const std::size_t at = uri.find("tcp://"); at != std::string::npos)
    return uri.substr(at + 6, uri.find_first_of(",:", at + 6) - at - 6);
  if (const std::size_t at = uri.find("tcp6://["); at != std::string::npos)
    return "[" + uri.substr(at + 8, uri.find_first_of(",]", at + 8) - at - 8) + "]";
  return "";
}

/// Fills in what is unknown.
class Completed {
 public:
  explicit Completed(Place given) : place_(std::move(given)) {
    if (is_complete()) place_.found_by = "the caller";
  }
  bool is_complete() const {
    return !place_.coordinator.empty() && place_.processes >= 0 && place_.process >= 0;
  }
  void coordinator(const std::string& address) {
    if (place_.coordinator.empty()) place_.coordinator = address;
  }
  void count(const Variable& v) { fill(place_.processes, v); }
  void process(const Variable& v) { fill(place_.process, v); }
  void by(const std::string& who) {
    if (place_.found_by.empty() && is_complete()) place_.found_by = who;
  }
  void wrong(Status status) {
    if (wrong_.ok()) wrong_ = std::move(status);
  }
  Result<Place> take() {
    if (!wrong_.ok()) return wrong_;
    return place_;
  }

 private:
  void fill(int& to, const Variable& v) {
    if (to >= 0 || !v) return;
    const Result<std::int64_t> n = number(v.name, *v);
    if (!n) return wrong(n.status());
    to = static_cast<int>(*n);
  }
  Place place_;
  Status wrong_;
};

void of_environment(Completed& out) {
  if (const auto address = variable("STRATA_COORDINATOR_ADDRESS")) out.coordinator(*address);
  if (const auto address = variable("JAX_COORDINATOR_ADDRESS")) out.coordinator(*address);
  out.count(variable("STRATA_NUM_PROCESSES"));
  out.count(variable("JAX_NUM_PROCESSES"));
  out.process(variable("STRATA_PROCESS_ID"));
  out.process(variable("JAX_PROCESS_ID"));
  out.by("the environment");
}

void of_open_mpi(Completed& out) {
  const auto uri = variable("OMPI_MCA_orte_hnp_uri");
  if (!uri) return;
  const Result<std::int64_t> job = number(uri.name, (*uri).substr(0, (*uri).find('.')));
  const std::string host = address_of_launcher(*uri);
  if (!job || host.empty())
    return out.wrong(
        Status(Code::invalid,
               "OMPI_MCA_orte_hnp_uri is \"{}\", in which no address of mpirun is found", *uri));
  out.coordinator(host + ":" + std::to_string(port_of_job(*job / 4096)));
  out.count(variable("OMPI_COMM_WORLD_SIZE"));
  out.process(variable("OMPI_COMM_WORLD_RANK"));
  out.by("Open MPI");
}

void of_slurm(Completed& out) {
  const auto job = variable("SLURM_JOB_ID");
  const auto nodes = variable("SLURM_STEP_NODELIST");
  if (!job || !nodes) return;
  const Result<std::int64_t> id = number("SLURM_JOB_ID", *job);
  if (!id) return out.wrong(id.status());
  out.coordinator(first_host(*nodes) + ":" + std::to_string(port_of_job(*id)));
  out.count(variable("SLURM_NTASKS"));
  out.process(variable("SLURM_PROCID"));
  out.by("Slurm");
}

/// Pod "trainer-3" of an indexed job, whose subdomain is the first part of its domain's name.
void of_kubernetes(Completed& out) {
  const auto index = variable("JOB_COMPLETION_INDEX");
  if (!variable("KUBERNETES_SERVICE_HOST") || !index) return;
  char host[256] = {};
  const auto named = variable("HOSTNAME");
  if (!named) gethostname(host, sizeof host - 1);
  const std::string name = named ? *named : host;
  const std::string tail = "-" + *index;
  if (name.size() > tail.size() &&
      name.compare(name.size() - tail.size(), tail.size(), tail) == 0) {
    std::string first = name.substr(0, name.size() - tail.size()) + "-0";
    if (const auto set = variable("JOBSET_NAME")) first += "." + *set;
    out.coordinator(first + ":55527");
  }
  out.process(variable("JOB_COMPLETION_INDEX"));
  out.by("Kubernetes");
}

}  // namespace

Result<Place> find_place(Place given) {
  Completed out(std::move(given));
  for (auto* find : {of_environment, of_open_mpi, of_slurm, of_kubernetes})
    if (!out.is_complete()) find(out);
  Result<Place> place = out.take();
  if (!place) return place;
  const char* missing = place->coordinator.empty() ? "the coordinator's address"
                        : place->processes < 0     ? "the number of processes"
                        : place->process < 0       ? "which process this is"
                                                   : nullptr;
  if (missing != nullptr)
    return Status(Code::invalid,
                  "{} is not known: give it, set STRATA_COORDINATOR_ADDRESS, STRATA_NUM_PROCESSES "
                  "and STRATA_PROCESS_ID, or start by `strata launch`, mpirun or srun",
                  missing);
  if (place->processes < 1 || place->process >= place->processes)
    return Status(Code::invalid, "process {} is none of {} processes", place->process,
                  place->processes);
  return place;
}

bool is_place_told() {
  for (const char* name :
       {"STRATA_COORDINATOR_ADDRESS", "STRATA_NUM_PROCESSES", "STRATA_PROCESS_ID",
        "JAX_COORDINATOR_ADDRESS", "JAX_NUM_PROCESSES", "JAX_PROCESS_ID", "OMPI_MCA_orte_hnp_uri"})
    if (variable(name)) return true;
  return find_place({}).ok();
}

}  // namespace strata::runtime::distributed
