// Which process this one is, by the variables of whoever started it: JAX's choices.
#include "strata/runtime/distributed/place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

namespace strata::runtime::distributed {
namespace {

using ::testing::HasSubstr;

/// The environment has these alone of all that are looked for, until the end.
class With {
 public:
  explicit With(const std::map<std::string, std::string>& variables) {
    for (const char* name : kNames) {
      const char* text = std::getenv(name);
      if (text != nullptr) before_[name] = text;
      ::unsetenv(name);
    }
    for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
  }
  ~With() {
    for (const char* name : kNames) ::unsetenv(name);
    for (const auto& [name, value] : before_) ::setenv(name.c_str(), value.c_str(), 1);
  }

 private:
  static constexpr const char* kNames[] = {"STRATA_COORDINATOR_ADDRESS",
                                           "STRATA_NUM_PROCESSES",
                                           "STRATA_PROCESS_ID",
                                           "JAX_COORDINATOR_ADDRESS",
                                           "JAX_NUM_PROCESSES",
                                           "JAX_PROCESS_ID",
                                           "OMPI_MCA_orte_hnp_uri",
                                           "OMPI_COMM_WORLD_SIZE",
                                           "OMPI_COMM_WORLD_RANK",
                                           "SLURM_JOB_ID",
                                           "SLURM_STEP_NODELIST",
                                           "SLURM_NTASKS",
                                           "SLURM_PROCID",
                                           "KUBERNETES_SERVICE_HOST",
                                           "JOB_COMPLETION_INDEX",
                                           "HOSTNAME",
                                           "JOBSET_NAME"};
  std::map<std::string, std::string> before_;
};

std::string text(const Result<Place>& place) {
  if (!place) return place.status().message();
  return place->coordinator + " " + std::to_string(place->process) + " of " +
         std::to_string(place->processes) + " by " + place->found_by;
}
std::string found(const std::map<std::string, std::string>& variables, const Place& given = {}) {
  With environment(variables);
  return text(find_place(given));
}

TEST(Place, OfWhatIsGiven) {
  EXPECT_EQ(found({}, {.coordinator = "h:1", .processes = 4, .process = 3}),
            "h:1 3 of 4 by the caller");
}
TEST(Place, OfStrataLaunchAndJax) {
  EXPECT_EQ(found({{"STRATA_COORDINATOR_ADDRESS", "127.0.0.1:9"},
                   {"STRATA_NUM_PROCESSES", "2"},
                   {"STRATA_PROCESS_ID", "1"}}),
            "127.0.0.1:9 1 of 2 by the environment");
  EXPECT_EQ(found({{"JAX_COORDINATOR_ADDRESS", "h:7"}}, {.processes = 2, .process = 0}),
            "h:7 0 of 2 by the environment");
}
TEST(Place, OfOpenMpi) {
  EXPECT_EQ(
      found({{"OMPI_MCA_orte_hnp_uri", "1531576320.0;tcp://10.96.0.1,10.148.0.1,10.108.0.1:34911"},
             {"OMPI_COMM_WORLD_SIZE", "8"},
             {"OMPI_COMM_WORLD_RANK", "5"},
             {"SLURM_JOB_ID", "5"},
             {"SLURM_STEP_NODELIST", "node1"}}),
      "10.96.0.1:" + std::to_string(1531576320 / 4096 % 4096 + 61440) + " 5 of 8 by Open MPI");
  EXPECT_EQ(found({{"OMPI_MCA_orte_hnp_uri",
                    "1314521088.0;tcp6://[fe80::b9b:ac5d:9cf0:b858,2620:10d::2]:43370"},
                   {"OMPI_COMM_WORLD_SIZE", "2"},
                   {"OMPI_COMM_WORLD_RANK", "0"}}),
            "[fe80::b9b:ac5d:9cf0:b858]:" + std::to_string(1314521088 / 4096 % 4096 + 61440) +
                " 0 of 2 by Open MPI");
  EXPECT_THAT(found({{"OMPI_MCA_orte_hnp_uri", "1314521088.0;usock"}}),
              HasSubstr("no address of mpirun"));
}
TEST(Place, OfSlurm) {
  const std::pair<const char*, const char*> lists[] = {{"node001", "node001"},
                                                       {"node001,host2", "node001"},
                                                       {"node[001-0015],host2", "node001"},
                                                       {"node[001,007-015],host2", "node001"},
                                                       {"node[12]", "node12"}};
  for (const auto& [list, first] : lists)
    EXPECT_EQ(found({{"SLURM_JOB_ID", "4099"},
                     {"SLURM_STEP_NODELIST", list},
                     {"SLURM_NTASKS", "16"},
                     {"SLURM_PROCID", "15"}}),
              std::string(first) + ":61443 15 of 16 by Slurm");
}
TEST(Place, OfKubernetes) {
  EXPECT_EQ(found({{"KUBERNETES_SERVICE_HOST", "10.0.0.1"},
                   {"JOB_COMPLETION_INDEX", "3"},
                   {"HOSTNAME", "trainer-workers-0-3"},
                   {"JOBSET_NAME", "trainer"},
                   {"STRATA_NUM_PROCESSES", "4"}}),
            "trainer-workers-0-0.trainer:55527 3 of 4 by Kubernetes");
}
TEST(Place, MistakesAreNamed) {
  EXPECT_THAT(found({}), HasSubstr("the coordinator's address is not known"));
  EXPECT_THAT(found({{"STRATA_COORDINATOR_ADDRESS", "h:1"}}),
              HasSubstr("the number of processes is not known"));
  EXPECT_THAT(found({{"STRATA_COORDINATOR_ADDRESS", "h:1"}, {"STRATA_NUM_PROCESSES", "two"}}),
              HasSubstr("STRATA_NUM_PROCESSES is \"two\", not a whole number"));
  EXPECT_THAT(found({}, {.coordinator = "h:1", .processes = 4, .process = 4}),
              HasSubstr("process 4 is none of 4 processes"));
}
bool told(const std::map<std::string, std::string>& variables) {
  With environment(variables);
  return is_place_told();
}
TEST(Place, IsToldOfWhereSomethingIsMissingOrWrong) {
  EXPECT_FALSE(told({}));
  EXPECT_FALSE(told({{"SLURM_JOB_ID", "4099"}, {"SLURM_NTASKS", "16"}}));
  EXPECT_FALSE(told({{"KUBERNETES_SERVICE_HOST", "10.0.0.1"}, {"JOB_COMPLETION_INDEX", "3"}}));
  for (const char* name : {"STRATA_COORDINATOR_ADDRESS", "STRATA_NUM_PROCESSES",
                           "STRATA_PROCESS_ID", "JAX_COORDINATOR_ADDRESS", "JAX_NUM_PROCESSES",
                           "JAX_PROCESS_ID", "OMPI_MCA_orte_hnp_uri"}) {
    EXPECT_TRUE(told({{name, "2"}})) << name;
    EXPECT_FALSE(told({{name, ""}})) << name;
  }
  EXPECT_TRUE(told({{"SLURM_JOB_ID", "4099"},
                    {"SLURM_STEP_NODELIST", "node001"},
                    {"SLURM_NTASKS", "16"},
                    {"SLURM_PROCID", "15"}}));
}

}  // namespace
}  // namespace strata::runtime::distributed
