# find_package(strata) gives the target strata::strata.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
find_dependency(fmt)
include(${CMAKE_CURRENT_LIST_DIR}/strataTargets.cmake)
