# Build settings shared by the C++ packages; installed with core, so that engine and kernels-cpu read the same ones.
include_guard(GLOBAL)

option(ADJOINT_WERROR "Treat compiler warnings as errors" OFF)
option(ADJOINT_PYTHON "Build the Python modules (OFF: only the C++ libraries)" ON)
option(ADJOINT_TESTS "Build the C++ tests" OFF)
option(ADJOINT_UNITY "Compile several files at a time: a whole build takes less, an edit more" OFF)
set(ADJOINT_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# Flags of every target, besides -O3 of CMake's Release. Floating point stays IEEE: -fno-* drop errno and traps.
# Every call reads a few thread-local words: they lie at fixed offsets (a few hundred bytes of the room that libc keeps). The C++ library's
# own (std::call_once has some) must not be asked for like that: where another library used them before, ours could not be loaded.
function(adjoint_settings target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES
    CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF CXX_SCAN_FOR_MODULES OFF POSITION_INDEPENDENT_CODE ON
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  if(MSVC)
    target_compile_options(${target} PRIVATE /W4 $<$<BOOL:${ADJOINT_WERROR}>:/WX>)
    return()
  endif()
  target_compile_options(${target} PRIVATE
    -fno-math-errno -fno-trapping-math -ftls-model=initial-exec -Wall -Wextra -Wno-missing-field-initializers
    # gcc 12 takes Dims' heap pointer for its inline array, and that for unset: these warnings are false there.
    $<$<CXX_COMPILER_ID:GNU>:-fno-semantic-interposition;-Wno-stringop-overflow;-Wno-array-bounds;-Wno-maybe-uninitialized>
    # Conditions are joined by | where a branch would stop the vectoriser; not every loop that could be vectorised is. libstdc++ 12 sorts
    # with a function that it calls deprecated, which Clang 19 reports.
    $<$<CXX_COMPILER_ID:Clang,AppleClang>:-Wno-bitwise-instead-of-logical;-Wno-bitwise-conditional-parentheses;-Wno-pass-failed;-Wno-deprecated-declarations>
    $<$<BOOL:${ADJOINT_WERROR}>:-Werror>)
  # Constants begin on the page on which code ends: two pages less in each library.
  target_link_options(${target} PRIVATE $<$<PLATFORM_ID:Linux>:LINKER:-z,noseparate-code>)
  if(ADJOINT_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${ADJOINT_SANITIZE} -fno-omit-frame-pointer -g)
    target_link_options(${target} PRIVATE -fsanitize=${ADJOINT_SANITIZE})
  endif()
endfunction()

# adjoint_unity(target 8): with ADJOINT_UNITY its files are compiled eight at a time, those of the same options together: of most files half of
# the time goes into headers. So names in anonymous namespaces differ within a target.
function(adjoint_unity target at_once)
  if(NOT ADJOINT_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  set(keys "")
  foreach(source ${sources})
    get_source_file_property(options "${source}" COMPILE_OPTIONS)
    string(MD5 key "${options}")
    list(APPEND keys ${key})
    set(options_${key} "${options}")
    list(APPEND files_${key} "${source}")
  endforeach()
  list(REMOVE_DUPLICATES keys)
  set(units "")
  foreach(key ${keys})
    set(includes "")
    while(files_${key})
      list(POP_FRONT files_${key} source)
      file(RELATIVE_PATH source "${CMAKE_CURRENT_SOURCE_DIR}" "${source}")
      list(APPEND includes "#include \"${source}\"\n")
      list(LENGTH includes count)
      if(count EQUAL at_once OR NOT files_${key})
        list(LENGTH units number)
        set(unit "${CMAKE_CURRENT_BINARY_DIR}/${target}_${number}.cpp")
        string(CONCAT text ${includes})
        file(CONFIGURE OUTPUT "${unit}" CONTENT "${text}" @ONLY)
        if(options_${key})
          set_source_files_properties("${unit}" PROPERTIES COMPILE_OPTIONS "${options_${key}}")
        endif()
        list(APPEND units "${unit}")
        set(includes "")
      endif()
    endwhile()
  endforeach()
  set_target_properties(${target} PROPERTIES SOURCES "${units}")
  target_include_directories(${target} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)   # false of a file that is included once
endfunction()

# Directories, relative to the installed package, in which a library or module looks for its libraries.
function(adjoint_rpath target)
  if(APPLE)
    set(origin "@loader_path")
    set_target_properties(${target} PROPERTIES INSTALL_NAME_DIR "@rpath")
  else()
    set(origin "$ORIGIN")
  endif()
  list(TRANSFORM ARGN PREPEND "${origin}/")
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "${origin};${ARGN}")
endfunction()

# adjoint_library(adjoint_core core): the Python-free shared library of src/**.cpp, exported as adjoint::core.
# A macro, since install(EXPORT) and ${PROJECT_VERSION} belong to the calling package.
macro(adjoint_library name short)
  file(GLOB_RECURSE _sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/*.cpp)
  add_library(${name} SHARED ${_sources})
  add_library(adjoint::${short} ALIAS ${name})
  adjoint_settings(${name})
  target_include_directories(${name}
    PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${name}/include>
    PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/src)
  set_target_properties(${name} PROPERTIES EXPORT_NAME ${short})
  install(TARGETS ${name} EXPORT ${name}Targets
    RUNTIME DESTINATION ${name} LIBRARY DESTINATION ${name} ARCHIVE DESTINATION ${name}/lib)
  install(DIRECTORY include/ DESTINATION ${name}/include)
  install(EXPORT ${name}Targets NAMESPACE adjoint:: DESTINATION ${name}/cmake)
  include(CMakePackageConfigHelpers)
  configure_package_config_file(cmake/${name}Config.cmake.in ${name}Config.cmake INSTALL_DESTINATION ${name}/cmake)
  write_basic_package_version_file(${name}ConfigVersion.cmake
    VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}Config.cmake
    ${CMAKE_CURRENT_BINARY_DIR}/${name}ConfigVersion.cmake DESTINATION ${name}/cmake)
endmacro()

# adjoint_module(_core adjoint_core <folder>): the nanobind module <package>/_core of <folder>/**.cpp. Split mode: the
# modules share one nanobind backend and one type registry ("domain"), and a single abi3 wheel serves Python >= 3.11.
function(adjoint_module name package folder)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp)
  if(NOT sources)
    message(WARNING "${package}: no sources in ${folder}/, ${name} is not built")
    return()
  endif()
  find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module ${SKBUILD_SABI_COMPONENT})
  find_package(nanobind CONFIG REQUIRED)
  nanobind_add_module(${name} BACKEND_MODULE nanobind_backend NB_DOMAIN adjoint NOMINSIZE
    STABLE_ABI STABLE_ABI_VERSION 3.11 ${sources})
  adjoint_settings(${name})
  target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/${folder})
  install(TARGETS ${name} LIBRARY DESTINATION ${package})
endfunction()

# adjoint_tests(adjoint::core): one program and one ctest entry for each tests/test_*.cpp.
function(adjoint_tests)
  if(NOT ADJOINT_TESTS)
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/tests/test_*.cpp)
  foreach(source ${sources})
    get_filename_component(stem ${source} NAME_WE)
    set(test ${PROJECT_NAME}_${stem})
    add_executable(${test} ${source})
    adjoint_settings(${test})
    target_include_directories(${test} PRIVATE ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../tests)   # check.h
    target_link_libraries(${test} PRIVATE ${ARGN})
    add_test(NAME ${test} COMMAND ${test})
  endforeach()
endfunction()
