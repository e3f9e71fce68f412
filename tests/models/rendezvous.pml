// SPDX-License-Identifier: MIT
// Rendezvous: keys at their limit, where senders wait too.
//
// At limit 0 a message goes from a blocked sender straight to a receiver. Both have a waiter, and
// both waiters must be claimed, or neither. Each may be claimed by others meanwhile: the receiver
// by a sender under another of its keys, either of them by its deadline or a close. So a task that
// meets another one under a key's lock
//
//   1. claims itself. Lost: somebody else completes it; it waits for that.
//   2. claims the other one. Won: they have met.
//   3. Lost: the other one is gone. The task is claimed and has nothing: who met it under its
//      other keys in the meantime took it for gone, and dropped its nodes. So it takes all its
//      nodes back, opens its waiter again and starts again with the first key.
//
// This model shows that
//
//   - a sender is told "sent" if and only if its message was received, once, or stands in the
//     FIFO;
//   - of the cases of a wait exactly one happens;
//   - two tasks that could meet never both sleep, nor does a receiver while a message stands;
//   - everybody ends, when deadlines pass or the channel is closed.
//
// SCENE=1  two receivers of both keys, in opposite order; a sender at each key; limit 0
// SCENE=2  the same at limit 1, with a message standing under each key
// SCENE=3  two selects that send and receive, each the counterpart of the other under both keys,
//          and a sender; limit 0
//
// -DPAIR is the protocol of the code, and right for selects that send: both waiters are claimed in one step, under
// two short locks on the claim words, taken in the order of the tasks' numbers. Nobody is taken
// for gone by mistake, so nothing starts again. With the protocol above, two selects can chase
// each other for ever (BROKEN=7).
//
// How to read it: each `proctype` is a thread, each statement is one atomic step, and any
// interleaving of the steps is tried (so all atomics are sequentially consistent). `atomic {...}`
// is one step: a compare-and-swap, or work under a lock that nobody else sees the middle of. `if`
// takes any branch whose guard holds; a statement that is only a condition waits until it holds.
// `timeout` holds when no other thread can do anything: the moment when a lost wake-up shows. How
// a task is woken is in wait.pml and process.pml; here it just waits until it is `completed`.
//
// Broken variants, -DBROKEN=n (each must be found):
//   1  claims the other one first, then itself: a sender was told "sent", and its message is lost
//   2  claims itself, finds the other one gone, and waits: nobody can wake it
//   3  claims itself, finds the other one gone, and goes on without taking its nodes back
//   4  looks for a counterpart and stands in the list in two sections of the lock
//   5  a sender that is gone leaves its node in the list, and returns
//   6  limit 1: the blocked sender's message goes into the FIFO without a claim of the sender
//   7  selects that send and receive, without PAIR (only `pan -a -f` finds it)
//   8  PAIR: locks itself first, then the other one
//   9  a task opens its waiter again before its nodes are taken back, and clears the outcome later

#ifndef BROKEN
#define BROKEN 0
#endif
#ifndef SCENE
#define SCENE 1
#endif
#ifdef PAIR
#undef PAIR
#define PAIR 1
#else
#define PAIR 0
#endif
#ifndef SENDERS
#define SENDERS 2           // scenes 1 and 2: with 1, the sender of key 1 stays away
#endif
#ifndef DEADLINES
#define DEADLINES 12        // which tasks have a deadline, as bits
#endif
#ifndef EARLY
#define EARLY 0             // a key may be closed at any time, not only when all are at rest
#endif

#define KEYS 2
#if SCENE == 3
#define TASKS 3
#else
#define TASKS (2 + SENDERS)
#endif
#if SCENE == 2
#define LIMIT 1
#else
#define LIMIT 0
#endif
#define NONE 255

mtype = { pending, sent, received, timed_out, closed };

// ---- who waits for what -------------------------------------------------------------------------

#if SCENE == 3
#define Cases(p)      (p == 2 -> 1 : 2)
#define CaseKey(p, i) (p == 1 -> 1 - i : i)
#define Sends(p, k)   (p == 2 || p == 0 && k == 1 || p == 1 && k == 0)
#define CanMeet(p, q) (p == 0 || q == 0)      // task 2 sends to key 0, where task 1 sends too
#else
#define Cases(p)      (p < 2 -> 2 : 1)
#define CaseKey(p, i) (p == 0 -> i : (p == 1 -> 1 - i : p - 2))
#define Sends(p, k)   (p >= 2)
#define CanMeet(p, q) ((p < 2) != (q < 2))    // each receiver waits under both keys
#endif
#define HasDeadline(p) ((DEADLINES >> p) & 1)

// ---- a key: all fields are guarded by its lock --------------------------------------------------

typedef Key {
  bool locked;
  bool is_closed;
  byte standing = NONE;     // the message in the FIFO, at limit 1
  bool has_node[TASKS];     // who stands in the list of receivers or of blocked senders
};
Key key[KEYS];

#define Lock(k) !key[k].locked -> key[k].locked = true
#define Unlock(k) key[k].locked = false
#define Withdraw(p, k) atomic { Lock(k); key[k].has_node[p] = false; Unlock(k) }

// ---- tasks and their waiters --------------------------------------------------------------------

typedef Task {
  bool claimed = true;
#if PAIR
  bool busy;                // the short lock on the claim word
#endif
  mtype outcome = pending;  // stored by the winner of the claim
  byte message = NONE;      // if outcome == received
  byte open_cases;          // the wait ends when the last of its keys is closed
  bool completed;           // the winner is done: the task may go on
  bool timer_armed;
  bool ended;
};
Task task[TASKS];

byte received_times[TASKS + KEYS];   // message p is what task p sends; TASKS + k stood under key k
byte tasks_left = TASKS;

// One exchange. `won` tells the outcome.
inline Claim(p) {
  atomic {
#if PAIR
    !task[p].busy;
#endif
    won = !task[p].claimed;
    task[p].claimed = true
  }
}

#if PAIR
// Claims both or none. `won`: both are claimed. `self_lost`: another has claimed this task.
inline ClaimPair(p, q) {
#if BROKEN == 8
  first = p; second = q;
#else
  first = (p < q -> p : q); second = (p < q -> q : p);
#endif
  atomic { !task[first].busy -> task[first].busy = true };
  atomic { !task[second].busy -> task[second].busy = true };
  atomic {
    self_lost = task[p].claimed;
    won = !task[p].claimed && !task[q].claimed;
    if :: won -> task[p].claimed = true; task[q].claimed = true :: else fi;
    task[second].busy = false
  };
  atomic { task[first].busy = false; first = 0; second = 0 }
}
#endif

// Under the key's lock, after both were claimed: the message goes from one to the other.
inline Meet(p, q, k) {
  if
  :: Sends(p, k) -> task[p].outcome = sent; task[q].outcome = received; task[q].message = p
  :: else        -> task[q].outcome = sent; task[p].outcome = received; task[p].message = q
  fi
}

#define Meets(p, q, k) (key[k].has_node[q] && p != q && Sends(p, k) != Sends(q, k))
// A hint that saves a start: one that is claimed already is passed over. Its node stays.
#define Maybe(p, q, k) (Meets(p, q, k) && !task[q].claimed)

// A counterpart of p under key k, or NONE. (Which one does not matter here.)
inline FindOther(p, k) {
  if
  :: Maybe(p, 0, k) -> other = 0
  :: Maybe(p, 1, k) -> other = 1
  :: Maybe(p, 2, k) -> other = 2
#if TASKS > 3
  :: Maybe(p, 3, k) -> other = 3
#endif
  :: else -> other = NONE
  fi;
  // A node is in the list and the lock is held, so that wait cannot have returned.
  assert(!key[k].has_node[0] || !task[0].ended);
  assert(!key[k].has_node[1] || !task[1].ended);
  assert(!key[k].has_node[2] || !task[2].ended);
#if TASKS > 3
  assert(!key[k].has_node[3] || !task[3].ended)
#endif
}

proctype run_task(byte p) {
  bool won, self_lost;
  byte i, k, other, left;
#if PAIR
  byte first, second;
#endif

start:
  // 1. Open the waiter. No list has a node of this task, so nobody else sees it.
#if BROKEN == 9
  task[p].claimed = false;
  Withdraw(p, 0);
  Withdraw(p, 1);
  atomic {
#else
  atomic {
    task[p].claimed = false;
#endif
    task[p].outcome = pending; task[p].message = NONE; task[p].completed = false;
    task[p].open_cases = Cases(p)
  };

  // 2. The cases in order.
  i = 0;
  do
  :: i == Cases(p) -> break
  :: else ->
     k = CaseKey(p, i);
     left = 1;
     atomic { Lock(k); FindOther(p, k) };
     if
#if LIMIT > 0
     // 2a. A standing message: claim, take it, and let one blocked sender into the free place.
     :: !Sends(p, k) && key[k].standing != NONE ->
        Claim(p);
        if
        :: won ->
           atomic {
             task[p].outcome = received; task[p].message = key[k].standing;
             key[k].standing = NONE
           };
           do
           :: other == NONE -> Unlock(k); break
           :: other != NONE ->
              key[k].has_node[other] = false;
#if BROKEN == 6
              atomic { won = !task[other].claimed; task[other].claimed = true };
              key[k].standing = other;
#else
              Claim(other);
#endif
              if
              :: won ->
                 atomic { task[other].outcome = sent; key[k].standing = other; Unlock(k) };
                 task[other].completed = true;
                 break
              :: else -> FindOther(p, k)
              fi
           od;
           goto withdraw
        :: else -> Unlock(k); goto wait
        fi
     // 2b. Room for a message.
     :: Sends(p, k) && !key[k].is_closed && other == NONE && key[k].standing == NONE ->
        Claim(p);
        if
        :: won ->
           atomic { key[k].standing = p; task[p].outcome = sent; Unlock(k) };
           goto withdraw
        :: else -> Unlock(k); goto wait
        fi
#endif
     // 2c. Closed, and nothing stands here. (See wait.pml.)
     :: key[k].is_closed && (Sends(p, k) || key[k].standing == NONE) ->
        atomic { task[p].open_cases--; left = task[p].open_cases; Unlock(k) }
     // 2d. Nobody to meet: stand in the list.
     :: other == NONE && !key[k].is_closed && (Sends(p, k) -> LIMIT == 0 || key[k].standing != NONE
                                                            : key[k].standing == NONE) ->
#if BROKEN == 4
        Unlock(k);
        atomic { Lock(k); key[k].has_node[p] = true; Unlock(k) }
#else
        atomic { assert(!key[k].has_node[p]); key[k].has_node[p] = true; Unlock(k) }
#endif
     // 2e. Somebody to meet.
     :: other != NONE && !key[k].is_closed && (Sends(p, k) || key[k].standing == NONE) ->
#if PAIR
        do
        :: other == NONE -> atomic { key[k].has_node[p] = true; Unlock(k) }; break
        :: other != NONE ->
           ClaimPair(p, other);
           if
           :: won ->
              atomic { Meet(p, other, k); key[k].has_node[other] = false; Unlock(k) };
              task[other].completed = true;
              goto withdraw
           :: !won && self_lost -> Unlock(k); goto wait
           :: !won && !self_lost -> atomic { self_lost = false; FindOther(p, k) }
           fi
        od
#elif BROKEN == 1
        Claim(other);
        key[k].has_node[other] = false;
        if
        :: won ->
           Claim(p);
           atomic {
             if
             :: won -> Meet(p, other, k)
             :: else -> task[other].outcome = sent      // it is claimed, and must be told something
             fi;
             Unlock(k)
           };
           task[other].completed = true;
           if :: won -> goto withdraw :: else -> goto wait fi
        :: else -> Unlock(k); goto restart
        fi
#else
        Claim(p);
        if
        :: !won -> Unlock(k); goto wait
        :: won ->
           Claim(other);
           if
           :: won ->
              atomic { Meet(p, other, k); key[k].has_node[other] = false; Unlock(k) };
              task[other].completed = true;               // told after the lock is released
              goto withdraw
           :: !won ->
#if BROKEN == 2
              Unlock(k);
              goto wait
#elif BROKEN == 3
              atomic {
                key[k].has_node[other] = false;
                task[p].claimed = false;
                key[k].has_node[p] = true;
                Unlock(k)
              }
#else
              atomic { key[k].has_node[other] = false; Unlock(k) };
              goto restart
#endif
           fi
        fi
#endif
     fi;
     if
     :: left == 0 ->
        // The last key is closed.
        Claim(p);
        if
        :: won -> task[p].outcome = closed; goto withdraw
        :: else -> goto wait
        fi
     :: else
     fi;
     i++
  od;

  // 3. The deadline, which may be due at once. From here on others may wake the task.
  if :: HasDeadline(p) -> task[p].timer_armed = true :: else fi;

wait:
  task[p].completed;

withdraw:
  task[p].timer_armed = false;
#if BROKEN == 5
  if
  :: Cases(p) == 2 -> Withdraw(p, 0); Withdraw(p, 1)
  :: else
  fi;
#else
  Withdraw(p, 0);
  Withdraw(p, 1);
#endif
  atomic {
    if
    :: task[p].outcome == received ->
       received_times[task[p].message]++;
       assert(received_times[task[p].message] == 1)
    :: else -> assert(task[p].outcome != pending)
    fi;
    task[p].ended = true;
    tasks_left--;
    goto end_of_task
  };

restart:
#if BROKEN != 9
  Withdraw(p, 0);
  Withdraw(p, 1);
#endif
  goto start;

end_of_task: skip
}

#if PAIR
#define CanFire(p) (task[p].timer_armed && !task[p].busy)
#else
#define CanFire(p) task[p].timer_armed
#endif

// The deadline of task p: it leaves the wheel and is claimed in one section of the wheel's lock.
proctype timer(byte p) {
  bool won;
  do
  :: atomic { CanFire(p) ->
       task[p].timer_armed = false; won = !task[p].claimed; task[p].claimed = true };
     if
     :: won -> task[p].outcome = timed_out; task[p].completed = true
     :: else
     fi
  :: task[p].ended -> break
  od
}

inline TakeAnyNode(k) {
  if
  :: key[k].has_node[0] -> q = 0
  :: key[k].has_node[1] -> q = 1
  :: key[k].has_node[2] -> q = 2
#if TASKS > 3
  :: key[k].has_node[3] -> q = 3
#endif
  :: else -> q = NONE
  fi;
  if
  :: q != NONE ->
     key[k].has_node[q] = false;
     task[q].open_cases--;
     left = task[q].open_cases
  :: else
  fi
}

// Closes one key after the other, at the latest when nothing else can happen any more. At that
// moment nobody sleeps who could go on. (Nodes leave the lists here when their key is closed; in
// the code they stay until the last key is closed, which makes no difference to what is shown.)
proctype closer() {
  bool won;
  byte k, p, q, left;
  for (k : 0 .. KEYS - 1) {
    if
#if EARLY
    :: true
#endif
    :: true ->
       timeout;
       for (p : 0 .. TASKS - 1) {
         if
         :: !task[p].ended && k == 0 ->       // after the first close not all can meet any more
            assert(!HasDeadline(p));          // it has passed
            assert(Sends(p, 0) || key[0].standing == NONE);
            assert(Sends(p, 1) || key[1].standing == NONE);
            for (q : 0 .. TASKS - 1) { assert(p == q || task[q].ended || !CanMeet(p, q)) }
         :: else
         fi
       }
    fi;
    atomic { Lock(k); key[k].is_closed = true; TakeAnyNode(k) };
    do
    :: q == NONE -> Unlock(k); break
    :: q != NONE && left > 0 -> TakeAnyNode(k)
    :: q != NONE && left == 0 ->
       Claim(q);
       atomic {
         if :: won -> task[q].outcome = closed; task[q].completed = true :: else fi;
         TakeAnyNode(k)
       }
    od
  }
}

init {
  byte p;
  atomic {
    if
    :: LIMIT > 0 -> key[0].standing = TASKS; key[1].standing = TASKS + 1
    :: else
    fi;
    for (p : 0 .. TASKS - 1) {
      run run_task(p);
      if :: HasDeadline(p) -> run timer(p) :: else fi
    };
    run closer()
  };
  tasks_left == 0;
  // What was sent has arrived once or stands; what was not sent has not arrived.
  for (p : 0 .. TASKS + KEYS - 1) {
    assert(received_times[p] + (key[0].standing == p -> 1 : 0) + (key[1].standing == p -> 1 : 0)
           == (p < TASKS -> (task[p].outcome == sent -> 1 : 0) : LIMIT))
  }
}

// Everybody ends, if each thread that can go on does so at some time.
ltl all_end { <> (tasks_left == 0) }
