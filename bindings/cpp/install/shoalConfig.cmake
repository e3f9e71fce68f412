# SPDX-License-Identifier: MIT
# find_package(shoal) defines the target shoal::shoal. The files may be moved, all together. Needs
# CMake 3.21.

get_filename_component(_shoal_lib "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
find_path(_shoal_include shoal/shoal.h
          PATHS "${_shoal_lib}/../include" "${_shoal_lib}/../../include" NO_DEFAULT_PATH NO_CACHE)

# The C library, which need not be the one that FindLua finds first.
find_path(SHOAL_LUA_INCLUDE_DIR lua.h PATH_SUFFIXES lua5.4 lua-5.4 lua54)
find_library(SHOAL_LUA_LIBRARY NAMES lua5.4 lua-5.4 lua54)
mark_as_advanced(SHOAL_LUA_INCLUDE_DIR SHOAL_LUA_LIBRARY)

if(NOT _shoal_include OR NOT SHOAL_LUA_INCLUDE_DIR OR NOT SHOAL_LUA_LIBRARY)
  set(shoal_FOUND FALSE)
  set(shoal_NOT_FOUND_MESSAGE
      "it needs its own headers and Lua 5.4 (Debian: liblua5.4-dev)")
  return()
endif()

if(NOT TARGET shoal::shoal)
  add_library(shoal::shoal SHARED IMPORTED)
  set_target_properties(shoal::shoal PROPERTIES
    IMPORTED_LOCATION "${_shoal_lib}/libshoal.so.0"
    IMPORTED_SONAME "libshoal.so.0"
    INTERFACE_INCLUDE_DIRECTORIES "${_shoal_include};${SHOAL_LUA_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES "${SHOAL_LUA_LIBRARY}"
    INTERFACE_COMPILE_FEATURES cxx_std_20)
endif()
unset(_shoal_lib)
