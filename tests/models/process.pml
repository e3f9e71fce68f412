// SPDX-License-Identifier: MIT
// The state word of a process, against seats and against completions from foreign threads.
//
// A process is one Lua state. Its word is a list of completed waits, or says that the process
// waits, or that it has exited (runtime/process/completions.h). Workers take a ready process from
// the run queue and run it; any thread completes its waits. This model shows that
//
//   - a process is never run by two threads at once, and stands in the queue at most once;
//   - no completion is lost: a process that was completed runs again and sees it;
//   - a process exits exactly once, and nobody touches it after it was freed;
//   - a wait in a frame that cannot yield gives up the seat, and never more than SEATS threads are
//     inside Lua.
//
// How to read it: each `proctype` is a thread, each statement is one atomic step, and any
// interleaving of the steps is tried (so all atomics are sequentially consistent). `atomic {...}`
// is one step: a compare-and-swap, or list work under a lock. `if` takes any branch whose guard
// holds; a statement that is only a condition waits until it holds. An assertion that fails, or a
// state where a thread waits for ever, is an error.
//
// Broken variants, -DBROKEN=n (each must be found):
//   1  the worker stores `waiting` without looking whether something has completed meanwhile
//   2  list and state are two words, and a completion looks at the state after it was added
//   3  a completion makes the process ready although it did not wait
//   4  a completion that finds the process waiting tests and stores in two steps
//   5  the list is emptied by a load and a store
//   6  a completer touches the process after a push that did not make it its owner
//   7  a worker runs a process although a blocked thread has frames of it on its stack
//   8  a canceller ends a waiting process on its own thread
//   9  the worker touches the process after it has given it up to wait
//  10  a thread that was blocked goes on when something completes, without a seat
//  11  the process can be found in the queue before it says that a thread is blocked in it
//  12  an inspector looks into a waiting process without owning it
//  13  an inspector stores `waiting` without looking whether something has completed meanwhile

#ifndef BROKEN
#define BROKEN 0
#endif
#ifndef PROCESSES
#define PROCESSES 1
#endif
#ifndef SEATS
#define SEATS 2                 // at most this many threads are inside Lua
#endif
#define THREADS (SEATS + PROCESSES)   // a spare for each thread that may be blocked
#ifndef COMPLETERS
#define COMPLETERS 2
#endif
#ifndef VISITORS
#define VISITORS 1              // a canceller and an inspector of process 0
#endif
#define NOBODY 255
#define COMPLETION 0            // what stands in the list
#define CANCEL 1

mtype = { list, waiting, exited };

typedef Process {
  // The word. In state `list` (new, ready or running) it is the list itself.
  mtype state = list;
  byte listed[2];         // how many completions, and whether a cancel request
  // The rest belongs to the owner of the process.
  byte received;          // what the Lua code has seen of the completions; it ends after COMPLETERS
  bool has_blocked;       // a thread without a seat has frames of the process on its stack …
  bool ticket;            // … and has been handed a seat
  // Book-keeping of the proof.
  byte references;        // the process table's, and those of handles
  byte in_queue;          // entries in the run queue
  byte inside;            // threads that are inside the Lua state
  byte exits;
  bool freed;
};
Process process[PROCESSES];

byte seats_free = 0;      // given away and not yet taken over by a spare thread
byte inside_lua = 0;      // threads that run Lua at this moment
byte exits_total = 0;

#define ALL_EXITED (exits_total == PROCESSES)
#define ALIVE(p) assert(!process[p].freed)

// ---- small steps --------------------------------------------------------------------------------

inline Enqueue(p) {
  atomic {
    ALIVE(p);
    process[p].in_queue++;
    assert(process[p].in_queue == 1)    // exactly one entry, and it owns the process
  }
}

inline EnterLua(p) {
  atomic {
    ALIVE(p);
    process[p].inside++;
    assert(process[p].inside == 1);     // never two threads at once
    inside_lua++;
    assert(inside_lua <= SEATS)
  }
}

inline LeaveLua(p) {
  atomic { process[p].inside--; inside_lua-- }
}

inline DropReference(p) {
  atomic {
    ALIVE(p);
    process[p].references--;
    process[p].freed = (process[p].references == 0)
  }
}

// ---- the operations on the word -----------------------------------------------------------------

// Any thread. One compare-and-swap adds to the list or, if the process waits, takes it out of that
// state. Only the push that does the latter owns the process then, and makes it ready.
inline Push(p, what) {
#if BROKEN == 2
  atomic { ALIVE(p); process[p].listed[what]++ };
  atomic {
    owns = (process[p].state == waiting);
    if :: owns -> process[p].state = list :: else fi
  };
#elif BROKEN == 4
  atomic {
    ALIVE(p);
    owns = (process[p].state == waiting);
    if :: process[p].state != exited -> process[p].listed[what]++ :: else fi
  };
  if :: owns -> process[p].state = list :: else fi;
#else
  atomic {
    ALIVE(p);
    owns = (process[p].state == waiting);
#if BROKEN == 3
    owns = (process[p].state != exited);
#endif
    if
    :: process[p].state == exited                        // dropped
    :: else -> process[p].state = list; process[p].listed[what]++
    fi
  };
#endif
  if
#if BROKEN == 10
  :: owns && process[p].has_blocked -> process[p].ticket = true
  :: owns && !process[p].has_blocked -> Enqueue(p)
#else
  :: owns -> Enqueue(p)
#endif
  :: else
#if BROKEN == 6
     -> ALIVE(p)
#endif
  fi
}

// The owner: takes all that is in the list.
inline TakeAll(p) {
#if BROKEN == 5
  atomic { ALIVE(p); taken = process[p].listed[COMPLETION] };
  atomic {
    process[p].received = process[p].received + taken;
    process[p].listed[COMPLETION] = 0;
    process[p].listed[CANCEL] = 0;
    taken = 0
  }
#else
  atomic {
    ALIVE(p);
    process[p].received = process[p].received + process[p].listed[COMPLETION];
    process[p].listed[COMPLETION] = 0;
    process[p].listed[CANCEL] = 0
  }
#endif
}

// The owner: one compare-and-swap of the empty list to `waiting`. `gone`: it has succeeded; the
// process may run on another thread, end and be freed from now on.
inline TryWait(p) {
#if BROKEN == 1
  atomic { ALIVE(p); process[p].state = waiting; gone = true }
#elif BROKEN == 2
  gone = (process[p].listed[COMPLETION] == 0 && process[p].listed[CANCEL] == 0);
  if :: gone -> process[p].state = waiting :: else fi
#else
  atomic {
    ALIVE(p);
    gone = (process[p].listed[COMPLETION] == 0 && process[p].listed[CANCEL] == 0);
    if :: gone -> process[p].state = waiting :: else fi
  }
#endif
}

// ---- threads that are no workers ----------------------------------------------------------------

// Completes one wait of each process. It has no reference: a process cannot exit while a waiter of
// it is claimed and not yet pushed.
proctype completer() {
  byte p = 0;
  bool owns;
  do
  :: p < PROCESSES -> Push(p, COMPLETION); p++
  :: else -> break
  od
}

// Cancels process 0 by way of a handle, at any time, also after its end.
proctype canceller() {
#if BROKEN == 8
  if
  :: process[0].state == waiting ->
     atomic {
       process[0].state = exited;
       process[0].exits++;
       exits_total++
     }
  :: ALL_EXITED
  fi;
#else
  bool owns;
  Push(0, CANCEL);
#endif
  DropReference(0)
}

// Looks into process 0 if it waits (for the report of a deadlock), by way of a handle.
proctype inspector() {
  bool owns, gone;
#if BROKEN == 12
  owns = (process[0].state == waiting);
#else
  atomic {
    owns = (process[0].state == waiting);
    if :: owns -> process[0].state = list :: else fi
  };
#endif
  if
  :: owns ->
     atomic { process[0].inside++; assert(process[0].inside == 1) };   // reads only: needs no seat
     process[0].inside--;
#if BROKEN == 12
     skip
#elif BROKEN == 13
     process[0].state = waiting
#else
     TryWait(0);
     if :: !gone -> Enqueue(0) :: else fi
#endif
  :: else
  fi;
  DropReference(0)
}

// ---- workers ------------------------------------------------------------------------------------

// A task waits in a frame that cannot yield. The thread must stay with the Lua state, so it gives
// its seat away, and sleeps until a worker that has found the process in the queue hands over its
// own. To those who complete waits, the process just waits.
inline WaitWithoutSeat(p) {
  seats_free++;
#if BROKEN != 11
  process[p].has_blocked = true;
#endif
  TryWait(p);
  if :: !gone -> Enqueue(p) :: else fi;
#if BROKEN == 11
  process[p].has_blocked = true;
#endif
  atomic { process[p].ticket -> process[p].ticket = false };
  process[p].has_blocked = false
}

// One dispatch. The entry of the queue owned the process; now this thread does.
inline Run(p) {
  if
#if BROKEN != 7
  :: process[p].has_blocked -> atomic { process[p].ticket = true; seated = false }
#endif
  :: else ->
     EnterLua(p);
     in_turn = true;
     do
     :: !in_turn -> break
     :: else ->
        TakeAll(p);
        if
        :: process[p].received == COMPLETERS ->
           // All tasks have ended.
           LeaveLua(p);
           atomic {
             ALIVE(p);
             process[p].state = exited;
             process[p].exits++;
             exits_total++;
             assert(process[p].exits == 1)
           };
           DropReference(p);
           in_turn = false
        :: process[p].received < COMPLETERS ->          // the turn is over
           LeaveLua(p);
           Enqueue(p);
           in_turn = false
        :: process[p].received < COMPLETERS ->          // all tasks wait
           LeaveLua(p);
           TryWait(p);
           if
           :: gone ->
#if BROKEN == 9
              ALIVE(p);
#endif
              in_turn = false
           :: else -> EnterLua(p)                       // completed before the yield was complete
           fi
        :: process[p].received < COMPLETERS ->          // one waits and cannot yield
           LeaveLua(p);
           WaitWithoutSeat(p);
           EnterLua(p)
        fi
     od
  fi
}

// A thread of the pool. It has a seat (then it is a worker) or is a spare.
proctype thread(bool seated) {
  byte p = NOBODY;
  bool in_turn, gone;
#if BROKEN == 5
  byte taken;
#endif
  do
  :: ALL_EXITED -> break
  :: !seated && !ALL_EXITED ->
     if
     :: atomic { seats_free > 0 -> seats_free--; seated = true }
     :: ALL_EXITED
     fi
  :: seated && !ALL_EXITED ->
     if
     :: atomic { process[0].in_queue > 0 -> process[0].in_queue--; p = 0 }
#if PROCESSES > 1
     :: atomic { process[1].in_queue > 0 -> process[1].in_queue--; p = 1 }
#endif
     :: ALL_EXITED
     fi;
     if
     :: p != NOBODY -> Run(p); p = NOBODY
     :: else
     fi
  od
}

init {
  byte i;
  atomic {
    for (i : 0 .. PROCESSES - 1) {
      process[i].references = 1;
      process[i].in_queue = 1
    };
    process[0].references = process[0].references + 2 * VISITORS;
    for (i : 0 .. THREADS - 1) { run thread(i < SEATS) };
    for (i : 0 .. COMPLETERS - 1) { run completer() };
#if VISITORS
    run canceller();
    run inspector()
#endif
  };
  // All threads have ended: nothing is lost and nothing is left over.
  _nr_pr == 1;
  for (i : 0 .. PROCESSES - 1) {
    assert(process[i].exits == 1 && process[i].freed && process[i].in_queue == 0)
  }
}

// Every process ends, if each thread that can go on does so at some time.
ltl every_process_exits { <> ALL_EXITED }
