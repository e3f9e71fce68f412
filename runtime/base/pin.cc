// SPDX-License-Identifier: MIT
#include "runtime/base/pin.h"

namespace shoal::core {

constinit thread_local int Pin::depth_ = 0;

}  // namespace shoal::core
