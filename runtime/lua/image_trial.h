// SPDX-License-Identifier: MIT
// What is done with an image before it is used: copies of it are looked through for what cannot be
// moved, and tried beside a state that was opened in the ordinary way.
//
// Threads: the one that makes the image.
#pragma once

#include <string>

#include "runtime/lua/state_image.h"

namespace shoal::core {

// Whether a copy of `image` holds nothing that cannot be moved. If it does, `*why` says what and
// where: "a coroutine, in registry._LOADED.x". Throws std::bad_alloc.
bool CheckImage(const StateImage& image, std::string* why);

// Whether a copy of `image`, of a state that `open` makes, behaves as that state. If not, `*why`
// says what went wrong. REQUIRES: CheckImage has returned true.
bool TryImage(const StateImage& image, StateImage::Open open, void* context, std::string* why);

}  // namespace shoal::core
