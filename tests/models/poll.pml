// SPDX-License-Identifier: MIT
// Waiting for a file descriptor, and sleeping where it becomes ready: no edge is lost, and no
// interrupt of the sleeper.
//
// A task tries to read; if nothing is there, it registers the descriptor (once) and publishes its
// wait, under the slot's lock, unless an edge has come while nobody waited. The sleeper sleeps on a
// futex as long as nothing is registered, else in epoll. Another thread looks into epoll now and
// then while nobody sleeps there. A third one interrupts the sleeper: for nothing, and at the end.
//
// This model shows that
//
//   - the task gets all that is sent, whoever takes the edges;
//   - it does so although the second edge that nobody waits for ends the watch;
//   - whoever sleeps on the futex when the descriptor is registered moves to epoll;
//   - an interrupt ends the present sleep or the next one, also if its event is seen by the wrong
//     thread.
//
// Each `proctype` is a thread, each statement one atomic step; `atomic {...}` is work under a lock,
// or one system call. A state where a thread waits for ever is an error.
//
// Broken variants, -DBROKEN=n (each must be found):
//   1  the sleeper does not look again whether something is registered before it sleeps on the futex
//   2  who registers does not look whether somebody sleeps on the futex
//   3  a look that takes the event of an interrupt does not give it back
//   4  an edge that nobody waits for is forgotten
//   5  a wait is published in another section than the one that looks for an edge
//   6  an interrupt is not kept when nobody sleeps
//   7  edges are forgotten between the try and the wait
//   8  a wait does not begin the watch again
//   9  the sleeper that says where it sleeps overwrites an interrupt

#ifndef BROKEN
#define BROKEN 0
#endif
#ifndef SENDS
#define SENDS 4
#endif
#ifndef LOOKS
#define LOOKS 2
#endif

// ---- the kernel ---------------------------------------------------------------------------------

byte unread = 0;          // what has been sent and not been read
bool registered = false;  // the descriptor, in epoll
bool watched = false;     // … with an interest to read
bool edge = false;        // epoll has an event of the descriptor
bool event = false;       // … and of the eventfd

// ---- the slot, under its lock -------------------------------------------------------------------

bool waits = false;       // a wait is published
bool ready = false;       // an edge came while nobody waited

bool told = false;        // the wait has completed
bool all_read = false;
bool stop = false;

#define AWAKE 0
#define FUTEX 1
#define EPOLL 2
#define INTERRUPTED 3
byte sleeper_ = AWAKE;

inline Interrupt() {
  atomic {
    before = sleeper_;
#if BROKEN == 6
    if :: before != AWAKE -> sleeper_ = INTERRUPTED :: else fi
#else
    sleeper_ = INTERRUPTED
#endif
  };
  // (The wake of the futex needs no step: its sleeper waits for the word to change.)
  if :: before == EPOLL -> event = true :: else fi;
  before = AWAKE
}

// An edge that has been fetched.
inline Take() {
  atomic {
    if
    :: waits -> waits = false; told = true
    :: else ->
#if BROKEN != 4
       if :: ready -> watched = false :: else -> ready = true fi
#else
       skip
#endif
    fi
  }
}

// ---- the threads --------------------------------------------------------------------------------

proctype sender() {
  byte left = SENDS;
  do
  :: left > 0 -> atomic { unread++; left--; if :: registered && watched -> edge = true :: else fi }
  :: left == 0 -> break
  od
}

proctype task() {
  byte got = 0, before = AWAKE;
  bool is_new = false;
  do
  :: got == SENDS -> break
  :: else ->
     // 1. Try.
     atomic { if :: unread > 0 -> got = got + unread; unread = 0; goto next :: else fi };
#if BROKEN == 7
     ready = false;
#endif
     // 2. Register, look for an edge, publish. (The lock is held over the system call, so the edge
     //    that it may bring cannot be taken before the wait is published: one step.)
     atomic {
       is_new = !registered;
       if
#if BROKEN == 8
       :: !registered ->
#else
       :: !watched ->
#endif
          registered = true; watched = true; if :: unread > 0 -> edge = true :: else fi
       :: else
       fi;
       if :: ready -> ready = false; goto registered_ :: else fi;
#if BROKEN == 5
     };
     atomic {
#endif
       told = false; waits = true
     };
registered_:
#if BROKEN != 2
     if
     :: is_new -> if :: sleeper_ == FUTEX -> Interrupt() :: else fi
     :: else
     fi;
#endif
     // 3. Wait, if it has been published.
     !waits
  next:
     skip
  od;
  all_read = true
}

proctype sleeper() {
  byte place = AWAKE;
  bool got_edge = false;
again:
  if :: stop -> goto ended :: else fi;
choose:
  if :: registered -> place = EPOLL :: else -> place = FUTEX fi;
#if BROKEN == 9
  sleeper_ = place;
#else
  atomic { if :: sleeper_ == AWAKE -> sleeper_ = place :: else -> goto awake fi };
#endif
  if
  :: place == EPOLL ->
     atomic { edge || event -> got_edge = edge; edge = false; event = false };
     if :: got_edge -> got_edge = false; Take() :: else fi
  :: place == FUTEX ->
#if BROKEN != 1
     if
     :: registered ->
        atomic { if :: sleeper_ == FUTEX -> sleeper_ = AWAKE; goto choose :: else -> goto awake fi }
     :: else
     fi;
#endif
     sleeper_ != FUTEX
  fi;
awake:
  atomic { sleeper_ = AWAKE; place = AWAKE };
  goto again;
ended:
  skip
}

// A busy worker, or the tick thread.
proctype looker() {
  byte left = LOOKS;
  bool got_edge = false, got_event = false;
  do
  :: left > 0 ->
     left--;
     if :: sleeper_ == EPOLL -> goto next :: else fi;
     atomic { got_edge = edge; got_event = event; edge = false; event = false };
     if :: got_edge -> got_edge = false; Take() :: else fi;
#if BROKEN != 3
     if :: got_event -> if :: sleeper_ == INTERRUPTED -> event = true :: else fi :: else fi;
#endif
     got_event = false;
  next:
     skip
  :: break
  od
}

proctype interrupter() {
  byte before = AWAKE;
  if :: Interrupt() :: skip fi;
  all_read;
  stop = true;
  Interrupt()
}

init {
  atomic { run sender(); run task(); run sleeper(); run looker(); run interrupter() }
}
