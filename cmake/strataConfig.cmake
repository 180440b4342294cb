# find_package(strata) gives the targets strata::strata, the library, and strata::rt, which programs link with object files that
# `strata compile` made. With COMPONENTS rt, only that one, which needs nothing else.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/strataRtTargets.cmake)
if(NOT strata_FIND_COMPONENTS STREQUAL "rt")
  find_dependency(fmt)
  include(${CMAKE_CURRENT_LIST_DIR}/strataTargets.cmake)
endif()
set(strata_rt_FOUND TRUE)
