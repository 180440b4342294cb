# find_package(strata) gives the targets strata::strata, the library, and strata::rt, which programs link with object files that
# `strata compile` made. With COMPONENTS rt, only that one, which needs nothing else. strata::command is the program `strata`, where
# it is installed beside.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/strataRtTargets.cmake)
if(NOT strata_FIND_COMPONENTS STREQUAL "rt")
  find_dependency(fmt)
  include(${CMAKE_CURRENT_LIST_DIR}/strataTargets.cmake)
endif()
set(strata_rt_FOUND TRUE)
find_program(strata_COMMAND strata HINTS ${CMAKE_CURRENT_LIST_DIR}/../../../bin ${CMAKE_CURRENT_LIST_DIR}/../../../../bin NO_DEFAULT_PATH)
if(strata_COMMAND AND NOT TARGET strata::command)
  add_executable(strata::command IMPORTED)
  set_target_properties(strata::command PROPERTIES IMPORTED_LOCATION ${strata_COMMAND})
endif()
