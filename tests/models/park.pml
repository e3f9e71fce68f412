// SPDX-License-Identifier: MIT
// Parking and waking the workers of the pool: no work stands while a worker is parked.
//
// A worker that finds nothing parks: most on a futex of their own; one, the poller, sleeps in
// epoll, with the deadline of the next timer of all wheels. Whoever makes work wakes at most one
// worker, and none while one is searching; the last searcher that finds something wakes the next
// one.
//
// This model shows that no wake-up is lost:
//
//   - a push against a park;
//   - a push that wakes nobody because a worker is searching;
//   - the poller leaves epoll with work: what is still armed gets a new poller while a worker is
//     parked;
//   - a socket or a timer is armed while nobody polls, or while the poller is about to sleep with
//     a later deadline;
//   - shutdown against a park.
//
// What makes it sharp: some processes are hogs, which hold their worker till all other work is
// done. So work that only a busy worker would come to is a deadlock here, though another one is
// parked. (The tick thread, which mends such a miss some milliseconds later while a worker is
// busy, is left out on purpose, and so is the `next` slot, which relies on it.)
//
// How to read it: each `proctype` is a thread, each statement is one atomic step, and any
// interleaving of the steps is tried (so all atomics are sequentially consistent; what a missing
// fence between two steps does is shown by swapping them). `atomic {...}` is one step: a
// read-modify-write, or work under a lock. `if` takes any branch whose guard holds; a statement
// that is only a condition waits until it holds. A state where a thread waits for ever is an
// error.
//
// Broken variants, -DBROKEN=n (each must be found):
//   1  the worker looks at the queues for the last time before it registers as parked
//   2  it leaves the searchers, looks for the last time, and then registers
//   3  the last searcher that finds something wakes nobody
//   4  it looks at the queues only, and not whether somebody polls for what is armed
//   5  a worker that finds something in its last look runs it without being a searcher
//   6  the poller that leaves with work runs it without being a searcher
//   7  the poller keeps the role while it runs what it has found
//   8  arming while nobody polls wakes nobody
//   9  an earlier timer does not interrupt the poller
//  10  the poller does not look at the timers again after it has published its deadline
//  11  a push reads the counters before its item can be seen (no fence between them)
//  12  shutdown sets its flag and wakes nobody
//  13  a worker that registers does not look at the flag of shutdown
//  14  an interrupt is lost when the poller is not yet in epoll
//  15  a worker clears its token after it has registered, and then waits for a token alone
//  16  a worker takes the poller's role after it has registered, in a section of its own

#ifndef BROKEN
#define BROKEN 0
#endif
#ifndef WORKERS
#define WORKERS 2
#endif
#define NOBODY 255

// ---- the work -----------------------------------------------------------------------------------

#define PLAIN 0           // runs and ends
#define HOG 1             // holds its worker till all plain work is done
#define ARMER 2           // arms sockets and a timer; after that it is plain or a hog
#define CHAINED 3         // arms socket 1 and the timer, then is a hog
#define NOTHING 4

#ifndef PUSHES
#define PUSHES 1          // plain processes pushed by a thread that is no worker, after the ARMER
#endif
#ifndef HOG_PUSHES
#define HOG_PUSHES 0      // and hogs, after those
#endif
#ifndef ARMER_HOGS
#define ARMER_HOGS 1
#endif
#ifndef SOCKETS
#define SOCKETS 1         // armed by the ARMER; each makes a process ready, once
#endif
#ifndef SOCKET_HOGS
#define SOCKET_HOGS 0     // that of socket 0 is a hog
#endif
#ifndef CHAIN
#define CHAIN 0           // it is CHAINED: the ARMER only arms socket 0
#endif
#ifndef TIMERS
#define TIMERS 1          // armed by the ARMER; makes a plain process ready
#endif
#define DRIVER (SOCKETS + TIMERS > 0)
#define SOCKET_0 (CHAIN -> CHAINED : (SOCKET_HOGS -> HOG : PLAIN))

byte queue[3];            // all run queues together, by kind
#define STANDS (queue[PLAIN] + queue[HOG] + queue[ARMER] > 0)
byte plain_left = PUSHES + 1 - ARMER_HOGS + SOCKETS - SOCKET_HOGS + TIMERS;
byte hogs_left = HOG_PUSHES + ARMER_HOGS + SOCKET_HOGS;

// ---- the driver ---------------------------------------------------------------------------------

bool socket_armed[2];     // known to epoll: ready at any time from now on
bool timer_armed;         // in some worker's wheel: due at any time from now on
#define ARMED (socket_armed[0] || socket_armed[1] || timer_armed)
bool covers_timer = true; // the published deadline of the poller is not later than the timer; also
                          // true while nobody sleeps there: who goes to sleep will look
#if BROKEN == 14
bool in_epoll;
#endif
bool interrupt;           // ends a sleep in epoll: the present one, else the next one

// ---- who is parked, and who searches ------------------------------------------------------------

byte parked_count = 0;    // {parked_count, searching} are one word
byte searching = 0;       // workers that look for work, and those that were just woken
bool parked[WORKERS];     // in the list: may be woken. Guarded by its lock, as are:
byte poller = NOBODY;     //   who has the role, from registering till it has left epoll
bool stop = false;        //   shutdown
bool token[WORKERS];      // the futex word: a wake that was not yet consumed

byte threads_left = WORKERS + 2;

// Takes any parked worker out of the list, under the lock. It counts as a searcher at once, so that
// others need not wake more. The poller is interrupted after the lock is released.
inline TakeParked() {
  if
  :: parked[0] -> w = 0
  :: parked[1] -> w = 1
#if WORKERS > 2
  :: parked[2] -> w = 2
#endif
  fi;
  parked[w] = false; parked_count--; searching++;
  if
  :: w == poller -> interrupts = true
  :: else -> token[w] = true
  fi;
  w = 0
}

inline Send() {
#if BROKEN == 14
  if :: interrupts -> interrupt = in_epoll; interrupts = false :: else fi
#else
  if :: interrupts -> interrupt = true; interrupts = false :: else fi
#endif
}

inline WakeOne() {
  atomic { if :: parked_count > 0 && searching == 0 -> TakeParked() :: else fi };
  Send()
}

// After something was made. Wakes one worker, unless none is parked or somebody searches.
inline Notify() {
  if
  :: parked_count > 0 && searching == 0 -> WakeOne()
  :: else
  fi
}

inline Push(kind) {
#if BROKEN == 11
  must_wake = (parked_count > 0 && searching == 0);
  queue[kind]++;
  if :: must_wake -> must_wake = false; WakeOne() :: else fi
#else
  queue[kind]++;
  Notify()
#endif
}

inline Take() {
  if
  :: queue[PLAIN] > 0 -> queue[PLAIN]--; item = PLAIN
  :: queue[HOG] > 0 -> queue[HOG]--; item = HOG
  :: queue[ARMER] > 0 -> queue[ARMER]--; item = ARMER
  :: else -> item = NOTHING
  fi
}

// ---- running a process --------------------------------------------------------------------------

// Something was armed. The poller sees a new socket by itself (epoll does that), but has to be
// interrupted for a timer that is earlier than its deadline. Nobody polls: somebody has to.
inline AfterArming() {
  if
#if BROKEN == 8
  :: poller == NOBODY
#else
  :: poller == NOBODY -> Notify()
#endif
#if BROKEN == 9
  :: poller != NOBODY
#else
  :: poller != NOBODY -> if :: !covers_timer -> interrupt = true :: else fi
#endif
  fi
}

inline Run() {
  if
  :: atomic { item == PLAIN -> plain_left--; item = NOTHING }
  :: atomic { item == HOG && plain_left == 0 -> hogs_left--; item = NOTHING }
  :: item == ARMER ->
#if CHAIN
     socket_armed[0] = true;
     AfterArming();
     item = PLAIN
  :: item == CHAINED ->
     socket_armed[1] = true; timer_armed = true;
     AfterArming();
     item = HOG
#else
#if SOCKETS > 0
     socket_armed[0] = true;
#endif
#if SOCKETS > 1
     socket_armed[1] = true;
#endif
#if TIMERS > 0
     timer_armed = true;
#endif
#if DRIVER
     AfterArming();
#endif
     item = (ARMER_HOGS -> HOG : PLAIN)
#endif
  fi
}

// ---- a worker -----------------------------------------------------------------------------------

// A searcher has found something. The last one looks once more: somebody may have pushed more, and
// woken nobody because of this searcher; or it was the poller that has left, and nobody polls.
inline EndSearch() {
  if
  :: atomic { searching > 1 -> searching-- }
  :: atomic { searching == 1 -> searching-- };
#if BROKEN != 3
     if
     :: STANDS -> Notify()
     :: else ->
#if DRIVER && BROKEN != 4
        if
        :: poller == NOBODY -> if :: ARMED -> Notify() :: else fi
        :: else
        fi
#else
        skip
#endif
     fi
#endif
  fi
}

// Out of the list, unless a waker has done that. Either way the worker is a searcher now.
inline Unregister() {
  if :: poller == id -> poller = NOBODY :: else fi;
  if :: parked[id] -> parked[id] = false; parked_count--; searching++ :: else fi
}

proctype worker(byte id) {
  byte item = NOTHING, w = 0;
  bool searches = false, interrupts = false, must_wake = false, seen_timer = false;

next:
  // 1. Its own queue.
  atomic { Take(); if :: item != NOTHING -> goto work :: else fi };
  // 2. At most half of the workers search.
  atomic {
    if
    :: searching < (WORKERS + 1) / 2 -> searching++; searches = true
    :: else -> goto park
    fi
  };

search:
  atomic { Take(); if :: item == NOTHING -> goto park :: else -> searches = false fi };
  EndSearch();
  goto work;

park:
  // 3. Register, in one section: in the list, no searcher any more, poller if nobody is.
#if BROKEN == 1
  if :: STANDS -> goto next_look :: else fi;
#elif BROKEN == 2
  if :: searches -> searching--; searches = false :: else fi;
  if :: STANDS -> goto next :: else fi;
#endif
  atomic {
#if BROKEN != 13
    if :: stop -> goto ended :: else fi;
#endif
    parked[id] = true; parked_count++;
    if :: searches -> searching--; searches = false :: else fi;
#if BROKEN != 16
    if :: DRIVER && poller == NOBODY -> poller = id :: else fi
#endif
  };
#if BROKEN == 15
  token[id] = false;
#endif
  // 4. Look for the last time. Whoever makes something does it the other way round: first the work,
  //    then a look at who is parked and who searches.
#if BROKEN == 5
  atomic { Take(); if :: item == NOTHING -> goto sleep :: else fi };
  atomic {
    if :: poller == id -> poller = NOBODY :: else fi;
    if :: parked[id] -> parked[id] = false; parked_count-- :: else -> searching-- fi
  };
  goto work;
sleep:
#elif BROKEN != 1 && BROKEN != 2
  if
  :: STANDS -> atomic { Unregister(); searches = true; goto search }
  :: else
  fi;
#endif
#if BROKEN == 16
  atomic { if :: DRIVER && poller == NOBODY -> poller = id :: else fi };
#endif
  // 5. Sleep.
  if
  :: poller != id ->
     // 5a. On the futex. A token may be left from a wake that the worker had noticed before.
#if BROKEN == 15
     atomic { token[id] -> token[id] = false }
#else
     do
     :: parked[id] -> atomic { token[id] -> token[id] = false }
     :: !parked[id] -> break
     od
#endif
#if DRIVER
  :: poller == id ->
     // 5b. In epoll. Publish the deadline, then look at the timers again: who arms a timer now
     //     either is seen, or sees the deadline.
     do
     :: seen_timer = timer_armed;
        covers_timer = seen_timer;
#if BROKEN == 10
        break
#else
        if :: timer_armed == seen_timer -> break :: else fi
#endif
     od;
     seen_timer = false;
#if BROKEN == 14
     in_epoll = true;
#endif
     if
     :: atomic { interrupt -> interrupt = false }
     :: atomic { socket_armed[0] -> socket_armed[0] = false; item = SOCKET_0 }
     :: atomic { socket_armed[1] -> socket_armed[1] = false; item = PLAIN }
     :: atomic { covers_timer && timer_armed -> timer_armed = false; item = PLAIN }
     fi;
#if BROKEN == 14
     in_epoll = false;
#endif
     covers_timer = true
#endif
  fi;
  // 6. Awake: a searcher, who may have found something already. (It counts as one, so a poller that
  //    leaves with work passes on the role at the end of its search.)
#if BROKEN == 6
  atomic {
    if :: poller == id -> poller = NOBODY :: else fi;
    if
    :: item != NOTHING && parked[id] -> parked[id] = false; parked_count--; goto work
    :: item != NOTHING && !parked[id] -> searching--; goto work
    :: else -> Unregister(); searches = true; goto search
    fi
  };
#elif BROKEN == 7
  atomic {
    if :: item == NOTHING && poller == id -> poller = NOBODY :: else fi;
    if :: parked[id] -> parked[id] = false; parked_count--; searching++ :: else fi;
    searches = (item == NOTHING);
    if :: searches -> goto search :: else fi
  };
  EndSearch();
  Run();
  atomic { item == NOTHING; if :: poller == id -> poller = NOBODY :: else fi; goto next };
#else
  atomic { Unregister(); searches = (item == NOTHING); if :: searches -> goto search :: else fi };
  EndSearch();
#endif

work:
  Run();
  if :: item == NOTHING -> goto next :: else -> goto work fi;

#if BROKEN == 1
next_look:
  if :: searches -> goto search :: else -> goto next fi;
#endif

ended:
  atomic { if :: searches -> searching-- :: else fi; threads_left-- }
}

// Work from outside.
proctype foreign() {
  byte w = 0, i = 0;
  bool interrupts = false, must_wake = false;
  Push(ARMER);
  do
  :: i < PUSHES -> Push(PLAIN); i++
  :: i >= PUSHES && i < PUSHES + HOG_PUSHES -> Push(HOG); i++
  :: else -> break
  od;
  threads_left--
}

// Shutdown, when no process is left: nobody parks any more, and all who are parked are woken.
proctype shutdown() {
  byte w = 0;
  bool interrupts = false;
  plain_left + hogs_left == 0;
  stop = true;
#if BROKEN != 12
  do
  :: atomic { parked_count > 0 -> TakeParked() }; Send()
  :: parked_count == 0 -> break
  od;
#endif
  threads_left--
}

init {
  byte i;
  atomic {
    for (i : 0 .. WORKERS - 1) { run worker(i) };
    run foreign();
    run shutdown()
  };
  threads_left == 0;
  assert(searching == 0 && parked_count == 0 && poller == NOBODY)
}

// All work is done and all workers end, if each thread that can go on does so at some time.
ltl all_end { <> (threads_left == 0) }
