// SPDX-License-Identifier: MIT
/// \file
/// All of Shoal for C++ programs: see Runtime.
#pragma once

// IWYU pragma: begin_exports
#include <shoal/awaiter.h>
#include <shoal/blocking.h>
#include <shoal/buffer.h>
#include <shoal/channel.h>
#include <shoal/convert.h>
#include <shoal/function.h>
#include <shoal/future.h>
#include <shoal/handle.h>
#include <shoal/host.h>
#include <shoal/key.h>
#include <shoal/module.h>
#include <shoal/object.h>
#include <shoal/options.h>
#include <shoal/pool.h>
#include <shoal/poster.h>
#include <shoal/process.h>
#include <shoal/result.h>
#include <shoal/run.h>
#include <shoal/runtime.h>
#include <shoal/select.h>
#include <shoal/spawn.h>
#include <shoal/status.h>
#include <shoal/table.h>
#include <shoal/timeout.h>
#include <shoal/timer.h>
#include <shoal/value.h>
#include <shoal/values.h>
// IWYU pragma: end_exports
