// SPDX-License-Identifier: MIT
// The last look before a park, on a queue that is not linearizable.
//
// park.pml takes for granted that the last look of a worker sees every item whose push came before
// it. moodycamel::ConcurrentQueue does not give that: a try_dequeue may find nothing although an
// item stands, while another thread is in the middle of a try_dequeue that fails. (That one has
// counted itself in `optimistic`, and corrects it by `overcommit` a moment later.) If both are in
// their last look, both park, and the item stands.
//
// The cure (runtime/sched/run_queue.h): next to the queue stand the numbers of items that were
// pushed and taken. An item counts as pushed after it was pushed, and before anybody is notified;
// as taken after it was taken. The last look compares these numbers and tries nothing. A worker
// that sees a difference goes back to search. It may find nothing there, for the few instructions
// that the other thread still needs, but it does not park.
//
// This model shows that each pushed item is run, with the steps of try_dequeue of version 1.0.3,
// and the protocol of park.pml without a driver.
//
// How to read it: each `proctype` is a thread, each statement is one atomic step, and any
// interleaving of the steps is tried (so all atomics are sequentially consistent). `atomic {...}`
// is one step: a read-modify-write, or work under a lock. `if` takes any branch whose guard holds;
// a statement that is only a condition waits until it holds. A state where a thread waits for ever
// is an error.
//
// Broken variants, -DBROKEN=n (each must be found):
//   1  the last look is a try_dequeue
//   2  an item counts as pushed only after others were notified

#ifndef BROKEN
#define BROKEN 0
#endif
#define WORKERS 2
#define ITEMS 2

// ---- the queue of one producer ------------------------------------------------------------------

byte tail = 0;            // items that were ever pushed
byte optimistic = 0;      // attempts to take one that were ever begun
byte overcommit = 0;      // those of them that have failed

// ---- our numbers --------------------------------------------------------------------------------

byte pushed = 0;
byte taken = 0;
#define SEEMS_TO_STAND (pushed > taken)

// Outcome in `got`. The two loads at the beginning are one step here, which leaves trouble enough.
inline TryDequeue() {
  got = false;
  atomic { o = overcommit; t = tail };
  if
  :: optimistic - o < t ->
     atomic { mine = optimistic; optimistic++ };
     if
     :: mine - o < tail -> got = true
     :: else -> overcommit++
     fi
  :: else
  fi;
  atomic { o = 0; t = 0; mine = 0 };
  if :: got -> taken++ :: else fi
}

// ---- parking, as in park.pml --------------------------------------------------------------------

byte parked_count = 0;
byte searching = 0;
bool parked[WORKERS];
bool token[WORKERS];
byte run_count = 0;       // items that were run
#define ALL_RUN (run_count == ITEMS)
byte threads_left = WORKERS + 1;

inline Notify() {
  if
  :: parked_count > 0 && searching == 0 ->
     atomic {
       if
       :: searching > 0 || parked_count == 0
       :: searching == 0 && parked[0] ->
          parked[0] = false; token[0] = true; parked_count--; searching++
       :: searching == 0 && parked[1] ->
          parked[1] = false; token[1] = true; parked_count--; searching++
       fi
     }
  :: else
  fi
}

proctype worker(byte id) {
  byte o, t, mine;
  bool got;

next:
  TryDequeue();             // its own queue: not as a searcher
  if :: got -> goto work :: else fi;
  searching++;

search:
  TryDequeue();
  if
  :: got ->
     if
     :: atomic { searching > 1 -> searching-- }
     :: atomic { searching == 1 -> searching-- };
        if :: SEEMS_TO_STAND -> Notify() :: else fi
     fi;
     goto work
  :: else
  fi;

  // Register, and look for the last time.
  atomic { parked[id] = true; parked_count++; searching-- };
#if BROKEN == 1
  TryDequeue();
  if
  :: got ->
     atomic { if :: parked[id] -> parked[id] = false; parked_count-- :: else -> searching-- fi };
     Notify();
     goto work
  :: else
  fi;
#else
  if
  :: SEEMS_TO_STAND ->
     atomic { if :: parked[id] -> parked[id] = false; parked_count--; searching++ :: else fi };
     goto search
  :: else
  fi;
#endif

  // Sleep. (That all was run stands for shutdown, see park.pml.)
  do
  :: !parked[id] -> break
  :: atomic { parked[id] && token[id] -> token[id] = false }
  :: parked[id] && ALL_RUN -> goto ended
  od;
  goto search;

work:
  atomic { got = false; run_count++ };
  goto next;

ended: threads_left--
}

proctype foreign() {
  byte i = 0;
  do
  :: i < ITEMS ->
     tail++;
#if BROKEN == 2
     Notify();
     pushed++;
#else
     pushed++;
     Notify();
#endif
     i++
  :: else -> break
  od;
  threads_left--
}

init {
  byte i;
  atomic {
    for (i : 0 .. WORKERS - 1) { run worker(i) };
    run foreign()
  };
  threads_left == 0;
  assert(ALL_RUN && pushed == ITEMS && taken == ITEMS)
}

// All items are run, if each thread that can go on does so at some time.
ltl all_run { <> ALL_RUN }
