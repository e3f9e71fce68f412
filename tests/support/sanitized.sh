#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: sanitized.sh asan|tsan COMMAND
#
# Runs the command with what the sanitizer needs to know. The paths are absolute, because a test may
# change its folder, and all is exported, because a test may start the shoal program.
#
# A test that loads a module into the stock lua5.4 must preload SANITIZER_LIBRARY:
#   LD_PRELOAD=$SANITIZER_LIBRARY lua5.4 test.lua       (without a sanitizer, it is empty)

case $1 in
  asan) SANITIZER_LIBRARY=$(clang-14 -print-file-name="libclang_rt.asan-$(uname -m).so") ;;
  # That of gcc, which has the same interface: the one of clang 14 crashes when it is preloaded.
  tsan) SANITIZER_LIBRARY=$(gcc -print-file-name=libtsan.so) ;;
esac
shift
export SANITIZER_LIBRARY

export ASAN_OPTIONS="detect_stack_use_after_return=1:$ASAN_OPTIONS"
export UBSAN_OPTIONS="print_stacktrace=1:$UBSAN_OPTIONS"
# A program that ends by os.exit leaves a thread behind that is blocked for ever, on purpose.
# A child that was forked may have a runtime of its own. Programs end while threads run all the time,
# and need not wait a second for what these might do.
TSAN_OPTIONS="suppressions=$PWD/tests/support/tsan.supp:$TSAN_OPTIONS"
export TSAN_OPTIONS="report_thread_leaks=0:die_after_fork=0:atexit_sleep_ms=0:$TSAN_OPTIONS"
exec "$@"
