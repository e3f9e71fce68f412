// SPDX-License-Identifier: MIT
// What the Lua files of the module `lanes` are made of, and what a lane knows of itself.
//
// Threads: the owner of the process.
#pragma once

#include <lua.hpp>
#include <string_view>

#include "bindings/lua/lanes_linda.h"
#include "runtime/channel/channel.h"

namespace shoal::bindings {

// The loader of `require "shoal.lanes.core"`: by that name its functions travel to lanes.
int LoadLindaCore(lua_State* L);

// lanes.null and lanes.cancel_error are light userdata, equal in all processes.
void* LanesNull();
void* LanesCancelError();
// linda.batched of api 3.
void* BatchedMark();

// The channel through which a lane is asked to end, or nullptr outside of lanes: a message stands
// under "cancel" when it has been, and the key "wake" is closed when its waits are to end, too.
core::Channel* LaneControl(lua_State* L);
bool LaneIsCancelled(lua_State* L);

// The words of Lanes for what `text` says, an error of the codec, to which `verbose` adds the text
// itself; or the text, if it says something else. [-0, +1, m]
void PushRefusal(lua_State* L, std::string_view text, LanesApi api, bool verbose);

}  // namespace shoal::bindings
