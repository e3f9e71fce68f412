// SPDX-License-Identifier: MIT
// Measurements in processes of the system of their own.
//
// REQUIRES: the program has no other thread at the moment.
#pragma once

#include <functional>
#include <string>

namespace shoal::bench {

// Runs `measure` in `count` processes at once, and returns the sum of what they return.
double SumOfForked(int count, const std::function<double()>& measure);

// The memory that this process has in use, in bytes.
double ResidentBytes();
// … that the process with that id has.
double ResidentBytesOf(const std::string& id);

}  // namespace shoal::bench
