// SPDX-License-Identifier: MIT
// The main() of every test program. Tests include <catch2/catch.hpp> alone.

#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
