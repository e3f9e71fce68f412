// SPDX-License-Identifier: MIT
#include "runtime/lua/image_trial.h"

#include <catch2/catch.hpp>
#include <string>

#include "runtime/lua/state.h"

namespace shoal::core {
namespace {

int times_opened = 0;

// Something else each time.
void OpenDifferently(lua_State* L, void*) {
  OpenLibraries(L, kAllLibraries);
  lua_pushinteger(L, 1);
  lua_setglobal(L, ++times_opened == 1 ? "first" : "another");
}

void OpenFew(lua_State* L, void* context) { OpenLibraries(L, *static_cast<LibrarySet*>(context)); }

TEST_CASE("an image that is not what the state is that it stands for is not used") {
  times_opened = 0;
  StateSlots slots(1);
  std::string why;
  CHECK(StateImage::Make(slots, OpenDifferently, nullptr, &why) == nullptr);
  CHECK(why == "a copy has other globals than a state that was opened");
  CHECK(times_opened == 2);
}

TEST_CASE("there are images of each set of libraries") {
  for (LibrarySet set = 0; set < kAllLibraries; set = set * 2 + 1) {
    for (LibrarySet libraries : {set, kAllLibraries & ~set}) {
      StateSlots slots(1);
      std::string why;
      const auto image = StateImage::Make(slots, OpenFew, &libraries, &why);
      INFO(libraries << " " << why);
      CHECK(image != nullptr);
    }
  }
}

}  // namespace
}  // namespace shoal::core
