-- SPDX-License-Identifier: MIT
-- What it takes to start and end, which is taken off the others.
print("nothing")
