// SPDX-License-Identifier: MIT
// The waiter of a task: a receive on two keys that a message, a deadline, a close and a cancel
// race to complete.
//
// A waiter stands in several places at once: a node under each key, one in a timer wheel. Whoever
// completes the wait must claim the waiter, so exactly one does (runtime/wait/waiter.h). The
// waiter is used again for the next wait of the task. What keeps the waits apart is that a claim
// is made under the lock of the place where the node was found, and that the owner takes all nodes
// back, under the same locks, before it opens the waiter again.
//
// This model shows that
//
//   - each message is received once, or still stands under its key, or was refused by a closed
//     key: none is lost, none is duplicated;
//   - a receiver never sleeps while a message stands under one of its keys, when it was cancelled,
//     when its deadline has passed, or when all its keys are closed;
//   - "closed" is the outcome only when all keys are closed and no message stands;
//   - the receiver always ends, also when it is completed before its yield is complete.
//
// How to read it: each `proctype` is a thread, each statement is one atomic step, and any
// interleaving of the steps is tried (so all atomics are sequentially consistent). `atomic {...}`
// is one step: a compare-and-swap, or work under a lock that nobody else sees the middle of. `if`
// takes any branch whose guard holds; a statement that is only a condition waits until it holds.
// `timeout` holds when no other thread can do anything: the moment when a lost wake-up shows.
//
// Broken variants, -DBROKEN=n (each must be found):
//   1  a completion does nothing to the state of a process that runs (its yield is not complete)
//   2  the claim is a load and a store
//   3  the timer claims after it has released the wheel's lock
//   4  the receiver takes a standing message without a claim of its own waiter
//   5  the receiver does not take its nodes back after the wait
//   6  a cancel that comes when the wait has just completed is forgotten
//   7  the receiver does not look at `closed` under the key's lock
//   8  the close of one key completes a wait on two
//   9  the receiver finds that another has claimed its waiter, and goes on before that one is done
//  10  cancel is raised although the waiter was claimed by a message
//  11  the deadline is armed before the waiter is open
//  12  the worker stores `waiting` without looking whether something has completed meanwhile
//  13  the timer stores its outcome before it has won the claim
//  14  the winner of a claim tells the process before it has stored the outcome
//  15  the count of open keys is lowered by a load and a store

#ifndef BROKEN
#define BROKEN 0
#endif

#define KEYS 2
#ifndef MESSAGES
#define MESSAGES 2      // message 0 goes to key 0, message 1 (and then message 2) to key 1
#endif
#ifndef DEADLINES
#define DEADLINES 1     // so many of the receives have a deadline, the first ones
#endif
#ifndef CANCEL
#define CANCEL 1        // the task may be cancelled
#endif
#define NONE 255

mtype = { running, notified, waiting, ready };
mtype = { pending, message, deadline, closed, cancelled };   // the outcome of a wait

// ---- a key: all fields are guarded by its lock --------------------------------------------------

typedef Key {
  bool locked;
  bool standing[MESSAGES];  // the messages that stand under the key
  byte count;
  bool is_closed;
  bool has_node;            // the receiver's node is in the list of waiters
};
Key key[KEYS];

#define Lock(k) !key[k].locked -> key[k].locked = true
#define Unlock(k) key[k].locked = false
#define Withdraw(k) atomic { Lock(k); key[k].has_node = false; Unlock(k) }
#define Append(k, m) key[k].standing[m] = true; key[k].count++

// ---- the timer wheel: its lock is never held across a step of the model -------------------------

bool timer_armed = false;   // the receiver's node is in the wheel

// ---- the waiter ---------------------------------------------------------------------------------

bool claimed = true;
mtype outcome = pending;    // stored by the winner of the claim
byte received_message = NONE;
byte open_keys = 0;         // a receive ends when the last of its keys is closed

// ---- the receiver's process ---------------------------------------------------------------------

// The word. In the code it is the list itself; here the list is {completed, cancel_request}, and
// always changes in one step with the state. `notified` is running with a list that is not empty.
mtype state = running;
bool completed = false;       // the waiter is in the list
bool cancel_request = false;  // and so is a request to cancel
bool cancel_raises = false;   // the process has seen such a request: the next wait raises
bool receiver_ended = false;

// ---- book-keeping of the proof ------------------------------------------------------------------

byte received[MESSAGES];
bool refused[MESSAGES];
bool has_deadline = false;    // the current receive has one
bool cancel_asked = false;
byte threads_left;

// One exchange. `won` tells the outcome.
inline Claim() {
#if BROKEN == 2
  won = !claimed;
  if :: won -> claimed = true :: else fi
#else
  atomic { won = !claimed; claimed = true }
#endif
}

// Adds to the list; a process that waits becomes ready. (Exit and blocked threads: process.pml.)
inline Push(entry) {
  atomic {
    entry = true;
    if
    :: state == waiting -> state = ready
#if BROKEN == 1
    :: state == running
#else
    :: state == running -> state = notified
#endif
    :: else
    fi
  }
}

// ---- those who complete a wait ------------------------------------------------------------------

// In general the list of waiters has several nodes, and the sender goes on to the next one when a
// claim is lost.
inline Send(k, m) {
  atomic {
    Lock(k);
    node_found = false;
    if
    :: key[k].is_closed -> refused[m] = true; Unlock(k)
    :: !key[k].is_closed && !key[k].has_node -> Append(k, m); Unlock(k)
    :: !key[k].is_closed && key[k].has_node ->
       key[k].has_node = false;               // it leaves the list, claimed or not
       node_found = true
    fi
  };
  if
  :: node_found ->
     Claim();
     atomic {
       if
       :: won -> outcome = message; received_message = m
       :: else -> Append(k, m)
       fi;
       Unlock(k)
     };
     if :: won -> Push(completed) :: else fi
  :: else
  fi
}

proctype sender_to_0() {
  bool won, node_found;
  Send(0, 0);
  threads_left--
}

proctype sender_to_1() {
  bool won, node_found;
  Send(1, 1);
#if MESSAGES > 2
  Send(1, 2);
#endif
  threads_left--
}

// Fires the timer when it is due, which may be at any time after it was armed. It leaves the wheel
// and is claimed in one section of the wheel's lock.
proctype timer() {
  bool won;
  do
  :: atomic { timer_armed && !receiver_ended ->
       timer_armed = false;
#if BROKEN != 3 && BROKEN != 13
       won = !claimed; claimed = true
#endif
     };
#if BROKEN == 3
     Claim();
#elif BROKEN == 13
     outcome = deadline;
     Claim();
#endif
     if
#if BROKEN == 14
     :: won -> Push(completed); outcome = deadline
#else
     :: won -> outcome = deadline; Push(completed)
#endif
     :: else
     fi
  :: receiver_ended -> break
  od
}

// Asks for a cancel, at any time or never. It touches no waiter: the process itself claims that.
proctype canceller() {
  if
  :: true -> Push(cancel_request); cancel_asked = true
  :: true
  fi;
  threads_left--
}

// Closes one key after the other, each at any time or when nothing else can happen any more. At
// that moment everything that is due must have been delivered.
proctype closer() {
  bool won, node_found;
  byte k, left;
  for (k : 0 .. KEYS - 1) {
    if
    :: true
    :: true ->
       timeout;
       assert(receiver_ended || state == waiting);
       assert(receiver_ended || key[0].count + key[1].count == 0);   // no message is overlooked
       assert(receiver_ended || !cancel_asked);                      // no cancel
       assert(receiver_ended || !has_deadline)                       // no deadline: it has passed
    fi;
    atomic {
      Lock(k);
      key[k].is_closed = true;
      node_found = key[k].has_node;
#if BROKEN != 15
      if :: node_found -> open_keys--; left = open_keys :: else fi;
#if BROKEN == 8
      left = 0;
#endif
      // The node stays in the list until the last of the keys is closed.
      node_found = node_found && left == 0;
      if :: node_found -> key[k].has_node = false :: else -> Unlock(k) fi
#endif
    };
#if BROKEN == 15
    left = open_keys - (node_found -> 1 : 0);
    atomic {
      open_keys = left;
      node_found = node_found && left == 0;
      if :: node_found -> key[k].has_node = false :: else -> Unlock(k) fi
    };
#endif
    if
    :: node_found ->
       Claim();
       atomic { if :: won -> outcome = closed :: else fi; Unlock(k) };
       if :: won -> Push(completed) :: else fi
    :: else
    fi;
    left = 0
  };
  threads_left--
}

// ---- the receiver -------------------------------------------------------------------------------

// The process takes its list. A cancel claims the waiter as anybody else would; if that fails, the
// wait has just completed, and the next one raises.
inline TakeList() {
  atomic {
    state = running;
    is_done = completed; completed = false;
    is_cancel = cancel_request; cancel_request = false;
    cancel_raises = cancel_raises || is_cancel
  };
  if
  :: is_cancel ->
     is_cancel = false;
     won = false;
     if :: !is_done -> Claim() :: else fi;
     if
     :: won -> outcome = cancelled; is_done = true
     :: else
#if BROKEN == 6
        -> cancel_raises = false
#endif
     fi
  :: else
  fi
}

// The end of the turn, the wait, and the next dispatch.
inline GiveUpUntilReady() {
#if BROKEN == 12
  state = waiting;
  (state == ready);
#else
  if
  :: atomic { state == running -> state = waiting };
     (state == ready)
  :: state == notified          // completed before the yield was complete
  fi
#endif
}

proctype receiver() {
  bool won, message_found, is_done, is_cancel;
  byte k, m, left, deadlines = 0;

next_receive:
  // 1. A new receive. A cancel that has been seen is raised here.
  if :: cancel_raises -> goto ended :: else fi;
  atomic {
    has_deadline = (deadlines < DEADLINES);
    if :: has_deadline -> deadlines++ :: else fi
  };
#if BROKEN == 11
  if :: has_deadline -> timer_armed = true :: else fi;
#endif
  // 2. Open the waiter. No place has a node of it, so nobody else sees it.
  atomic {
    claimed = false; outcome = pending; received_message = NONE; open_keys = KEYS; is_done = false
  };

  // 3. Look at each key, or stand in its list, under its lock.
  k = 0;
  do
  :: k == KEYS -> break
  :: else ->
     left = KEYS;
     atomic {
       Lock(k);
       message_found = (key[k].count > 0);
       if
       :: message_found
#if BROKEN != 7
       :: !message_found && key[k].is_closed -> open_keys--; left = open_keys
#endif
       :: else
       fi;
       if
       :: !message_found && left > 0 ->
          assert(!key[k].has_node);       // a node is in one list once
          key[k].has_node = true;
          Unlock(k)
       :: else
       fi
     };
     if
     :: message_found ->
        // Claim the waiter before the message is taken: another key may have claimed it already.
#if BROKEN == 4
        atomic { won = true; claimed = true };
#else
        Claim();
#endif
        atomic {
          if
          :: won ->
             m = 0;
             do :: !key[k].standing[m] -> m++ :: else -> break od;   // the oldest
             key[k].standing[m] = false; key[k].count--;
             outcome = message; received_message = m;
             m = 0
          :: else                         // the message stays where it is
          fi;
          Unlock(k)
        };
        if :: won -> goto withdraw :: else -> goto wait fi
     :: !message_found && left == 0 ->
        // This was the last open key.
        Claim();
        atomic { if :: won -> outcome = closed :: else fi; Unlock(k) };
        if :: won -> goto withdraw :: else -> goto wait fi
     :: else
     fi;
     k++
  od;

  // 4. Arm the deadline, under the wheel's lock. It may be due at once.
#if BROKEN != 11
  if :: has_deadline -> timer_armed = true :: else fi;
#endif

wait:
  // 5. Wait until the winner of the claim has told the process. Another entry of the list (of
  //    another task, say) leads back to the wait.
#if BROKEN == 9
  if :: claimed -> goto withdraw :: else fi;
#endif
  do
  :: TakeList();
     if :: is_done -> break :: else fi;
     GiveUpUntilReady()
  od;

withdraw:
  // 6. Take back the timer and what is left of the nodes, each under its lock. After this nobody
  //    else can find the waiter.
  timer_armed = false;
#if BROKEN != 5
  Withdraw(0);
  Withdraw(1);
#endif

  // 7. The outcome.
#if BROKEN == 10
  if :: cancel_raises -> goto ended :: else fi;
#endif
  if
  :: outcome == message ->
     received[received_message]++;
     assert(received[received_message] == 1);
     goto next_receive
  :: outcome == deadline ->
     assert(has_deadline);                // never the deadline of an earlier wait
     goto next_receive
  :: outcome == closed ->
     assert(key[0].is_closed && key[1].is_closed);
     assert(key[0].count + key[1].count == 0)
  :: outcome == cancelled
  :: else -> assert(false)                // no outcome at all
  fi;

ended:
  atomic { has_deadline = false; receiver_ended = true; threads_left-- }
}

init {
  byte m;
  atomic {
    threads_left = 4 + CANCEL;
    run receiver(); run sender_to_0(); run sender_to_1(); run closer();
#if DEADLINES
    run timer();
#endif
#if CANCEL
    run canceller()
#endif
  };
  threads_left == 0;
  // Each message has exactly one fate.
  for (m : 0 .. MESSAGES - 1) {
    assert(received[m] + key[0].standing[m] + key[1].standing[m] + refused[m] == 1)
  }
}

// The receiver always ends, if each thread that can go on does so at some time.
ltl receiver_ends { <> receiver_ended }
