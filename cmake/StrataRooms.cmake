# One function per thing we build, so that the list of rooms in the root reads as a list.
#
#   strata_room(NAME [LINK libs...] [PRIVATE libs...] [TEST_LINK libs...])
# makes from strata/NAME/**/*.cc
#   strata_NAME        a static library, linked to all rooms above it;
#   NAME_test          one test program of all *_test.cc, registered with ctest.
# A folder without sources makes an empty interface library, so that the order of rooms stands from the start.

set(STRATA_ROOMS "" CACHE INTERNAL "rooms declared so far, in order")
set(STRATA_OBJECTS "" CACHE INTERNAL "object libraries of all rooms")

function(strata_room name)
  cmake_parse_arguments(R "" "" "LINK;PRIVATE;TEST_LINK" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS strata/${name}/*.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "(_test|_fuzz|_main)\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  set(above ${STRATA_ROOMS})
  list(TRANSFORM above PREPEND strata_)

  if(sources)
    add_library(strata_${name} STATIC ${sources})
    set(scope PUBLIC)
    if("LLVM" IN_LIST R_PRIVATE)
      list(REMOVE_ITEM R_PRIVATE LLVM)
      target_include_directories(strata_${name} SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
      target_compile_definitions(strata_${name} PRIVATE ${LLVM_DEFINITIONS})
      target_link_libraries(strata_${name} PRIVATE LLVM-19)
      target_link_directories(strata_${name} PUBLIC ${LLVM_LIBRARY_DIRS})
    endif()
    target_link_libraries(strata_${name} PRIVATE ${R_PRIVATE})
  else()
    add_library(strata_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(strata_${name} ${scope} ${CMAKE_SOURCE_DIR})
  list(REVERSE above)
  target_link_libraries(strata_${name} ${scope} ${above} ${R_LINK})
  set(STRATA_ROOMS "${STRATA_ROOMS};${name}" CACHE INTERNAL "")
  list(FILTER STRATA_ROOMS EXCLUDE REGEX "^$")
  set(STRATA_ROOMS "${STRATA_ROOMS}" CACHE INTERNAL "")

  if(STRATA_TESTS AND tests)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE strata_${name} ${R_PRIVATE} ${R_TEST_LINK} GTest::gtest_main GTest::gmock)
    add_test(NAME ${name} COMMAND ${name}_test WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  endif()
endfunction()

# The installed library: every room in one shared object (see the install rules of the root).
function(strata_library)
endfunction()

# Programs: tools/NAME.cc becomes build/bin/NAME (underscores become dashes), strata/cli/*_main.cc and the speed programs
# bench/NAME.cc likewise.
function(strata_programs)
  set(all ${STRATA_ROOMS})
  list(TRANSFORM all PREPEND strata_)
  list(REVERSE all)
  file(GLOB mains CONFIGURE_DEPENDS tools/*.cc strata/cli/*_main.cc)
  if(STRATA_BENCH)
    file(GLOB benches CONFIGURE_DEPENDS bench/*.cc)
    list(APPEND mains ${benches})
  endif()
  foreach(main ${mains})
    get_filename_component(program ${main} NAME_WE)
    string(REPLACE "_main" "" program ${program})
    string(REPLACE "_" "-" program ${program})
    add_executable(${program}_program ${main})
    set_target_properties(${program}_program PROPERTIES OUTPUT_NAME ${program})
    target_link_libraries(${program}_program PRIVATE ${all} CLI11::CLI11 nlohmann_json::nlohmann_json)
  endforeach()
endfunction()
