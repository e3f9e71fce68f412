// SPDX-License-Identifier: MIT
#include "runtime/driver/descriptor.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <thread>
#include <vector>

#include "runtime/base/test_point.h"
#include "tests/driver/polled.h"

namespace shoal::core {
namespace {

bool IsOpen(int fd) { return fcntl(fd, F_GETFD) >= 0; }

// The events that some epoll of this program reports for `fd`; -1 if none does.
long InterestIn(int fd) {
  long found = -1;
  for (int epoll = 0; epoll < 256; ++epoll) {
    std::FILE* file = std::fopen(("/proc/self/fdinfo/" + std::to_string(epoll)).c_str(), "r");
    if (file == nullptr) continue;
    char line[256];
    int watched = -1;
    unsigned events = 0;
    while (std::fgets(line, sizeof line, file) != nullptr) {
      if (std::sscanf(line, "tfd: %d events: %x", &watched, &events) == 2 && watched == fd) {
        found = events & (EPOLLIN | EPOLLOUT);
      }
    }
    std::fclose(file);
  }
  return found;
}

struct Fixture {
  SteadyClock clock;
  Poller poller{clock, 1};
};

TEST_CASE_METHOD(Fixture, "a wait completes when there is something to read") {
  const SocketPair pair(poller);
  OneWait wait;
  CHECK_FALSE(poller.Armed());
  REQUIRE(wait.Await(*pair.near, Direction::kRead) == Status::kPending);
  CHECK(poller.Armed());
  CHECK(poller.Poll() == 0);
  CHECK(wait.completed == 0);
  REQUIRE(pair.Send("x"));
  CHECK(poller.Poll() == 1);
  CHECK(wait.completed == 1);
  CHECK(wait.outcome() == Status::kOk);
  CHECK_FALSE(poller.Armed());
}

TEST_CASE_METHOD(Fixture, "what is there before the first wait completes it") {
  const SocketPair pair(poller);
  REQUIRE(pair.Send("x"));
  OneWait wait;
  REQUIRE(wait.Await(*pair.near, Direction::kRead) == Status::kPending);
  CHECK(poller.Poll() == 1);
}

TEST_CASE_METHOD(Fixture, "the end of the other side completes a wait to read") {
  SocketPair pair(poller);
  OneWait wait;
  REQUIRE(wait.Await(*pair.near, Direction::kRead) == Status::kPending);
  pair.CloseFar();
  CHECK(poller.Poll() == 1);
  CHECK(wait.outcome() == Status::kOk);
}

TEST_CASE_METHOD(Fixture, "an edge that comes while nobody waits is kept for the next wait") {
  const SocketPair pair(poller);
  SocketPair other(poller);
  OneWait wait, others;
  REQUIRE(wait.Await(*pair.near, Direction::kRead) == Status::kPending);
  wait.Withdraw();
  // Nobody looks for what nobody waits for.
  REQUIRE(others.Await(*other.near, Direction::kRead) == Status::kPending);
  REQUIRE(pair.Send("x"));
  CHECK(poller.Poll() == 0);
  CHECK(wait.Await(*pair.near, Direction::kRead) == Status::kOk);
  // Once.
  CHECK(pair.Receive() == "x");
  CHECK(wait.Await(*pair.near, Direction::kRead) == Status::kPending);
}

TEST_CASE_METHOD(Fixture, "an edge for a wait that has just ended is kept for the next one") {
  const SocketPair pair(poller);
  OneWait wait;
  REQUIRE(wait.Await(*pair.near, Direction::kRead) == Status::kPending);
  // The deadline, say.
  REQUIRE(wait.waiter.TryClaim());
  REQUIRE(pair.Send("x"));
  CHECK(poller.Poll() == 0);
  CHECK(wait.completed == 0);
  wait.Withdraw();
  CHECK(wait.Await(*pair.near, Direction::kRead) == Status::kOk);
}

TEST_CASE_METHOD(Fixture, "who looks by himself first forgets what came before") {
  const SocketPair pair(poller);
  OneWait wait;
  REQUIRE(pair.near->Expect(Direction::kRead) == Status::kOk);
  REQUIRE(wait.Await(*pair.near, Direction::kWrite) == Status::kPending);
  REQUIRE(pair.Send("x"));
  CHECK(poller.Poll() == 1);
  // An edge to read has come, too, and what it told of is gone.
  CHECK(pair.Receive() == "x");
  REQUIRE(pair.near->Expect(Direction::kRead) == Status::kOk);
  REQUIRE(wait.Await(*pair.near, Direction::kRead) == Status::kPending);
  CHECK(poller.Poll() == 0);
  REQUIRE(pair.Send("y"));
  CHECK(poller.Poll() == 1);
}

TEST_CASE_METHOD(Fixture, "one may wait to read and another to write") {
  const SocketPair pair(poller);
  pair.FillNear();
  OneWait reader, writer;
  REQUIRE(reader.Await(*pair.near, Direction::kRead) == Status::kPending);
  REQUIRE(writer.Await(*pair.near, Direction::kWrite) == Status::kPending);
  static_cast<void>(poller.Poll());
  CHECK(writer.completed == 0);
  pair.EmptyFar();
  CHECK(poller.Poll() == 1);
  CHECK(writer.completed == 1);
  CHECK(reader.completed == 0);
  REQUIRE(pair.Send("x"));
  CHECK(poller.Poll() == 1);
  CHECK(reader.completed == 1);
}

TEST_CASE_METHOD(Fixture, "an edge completes all waits in its direction") {
  const SocketPair pair(poller);
  pair.FillNear();
  OneWait first, gone, last, writer;
  REQUIRE(first.Await(*pair.near, Direction::kRead) == Status::kPending);
  REQUIRE(gone.Await(*pair.near, Direction::kRead) == Status::kPending);
  REQUIRE(last.Await(*pair.near, Direction::kRead) == Status::kPending);
  REQUIRE(writer.Await(*pair.near, Direction::kWrite) == Status::kPending);
  // Something else ends one of them.
  REQUIRE(gone.waiter.TryClaim());
  REQUIRE(pair.Send("x"));
  CHECK(poller.Poll() == 2);
  CHECK(first.completed == 1);
  CHECK(last.completed == 1);
  CHECK(last.outcome() == Status::kOk);
  CHECK(gone.completed == 0);
  CHECK(writer.completed == 0);
  gone.Withdraw();
  writer.Withdraw();
  CHECK_FALSE(poller.Armed());
  // It has been told, so it is not kept.
  CHECK(first.Await(*pair.near, Direction::kRead) == Status::kPending);
}

TEST_CASE_METHOD(Fixture, "a close completes all waits in one direction") {
  const SocketPair pair(poller);
  OneWait first, second;
  REQUIRE(first.Await(*pair.near, Direction::kRead) == Status::kPending);
  REQUIRE(second.Await(*pair.near, Direction::kRead) == Status::kPending);
  pair.near->Close();
  CHECK(first.outcome() == Status::kClosed);
  CHECK(second.outcome() == Status::kClosed);
  CHECK_FALSE(poller.Armed());
}

TEST_CASE_METHOD(Fixture, "a waiter that stands in several places is completed once") {
  const SocketPair pair(poller);
  const SocketPair other(poller);
  OneWait wait;
  WaitNode again, elsewhere;
  again.waiter = elsewhere.waiter = &wait.waiter;
  again.index = 1;
  elsewhere.index = 2;
  REQUIRE(wait.Await(*pair.near, Direction::kRead) == Status::kPending);
  REQUIRE(pair.near->Await(again, Direction::kRead) == Status::kPending);
  REQUIRE(other.near->Await(elsewhere, Direction::kRead) == Status::kPending);
  REQUIRE(other.Send("x"));
  CHECK(poller.Poll() == 1);
  CHECK(wait.waiter.index() == 2);
  REQUIRE(pair.Send("x"));
  CHECK(poller.Poll() == 0);
  CHECK(wait.completed == 1);
  wait.Withdraw();
  again.place->Withdraw(again);
  elsewhere.place->Withdraw(elsewhere);
  CHECK_FALSE(poller.Armed());
  // The edge was for nobody.
  CHECK(wait.Await(*pair.near, Direction::kRead) == Status::kOk);
}

TEST_CASE_METHOD(Fixture, "a close completes the waits, and closes the file") {
  const SocketPair pair(poller);
  const int fd = pair.near->fd();
  pair.FillNear();
  OneWait reader, writer;
  REQUIRE(reader.Await(*pair.near, Direction::kRead) == Status::kPending);
  REQUIRE(writer.Await(*pair.near, Direction::kWrite) == Status::kPending);
  pair.near->Close();
  CHECK(reader.outcome() == Status::kClosed);
  CHECK(writer.outcome() == Status::kClosed);
  CHECK_FALSE(IsOpen(fd));
  CHECK(pair.near->fd() == -1);
  CHECK_FALSE(poller.Armed());
  CHECK(reader.Await(*pair.near, Direction::kRead) == Status::kClosed);
  CHECK(pair.near->Expect(Direction::kRead) == Status::kClosed);
  pair.near->Close();
}

TEST_CASE_METHOD(Fixture, "a file that is detached stays open, and is not watched any more") {
  const SocketPair pair(poller);
  OneWait wait;
  REQUIRE(wait.Await(*pair.near, Direction::kRead) == Status::kPending);
  const int fd = pair.near->Detach();
  CHECK(wait.outcome() == Status::kClosed);
  CHECK(IsOpen(fd));
  CHECK(InterestIn(fd) == -1);
  CHECK(pair.near->Detach() == -1);
  ::close(fd);
}

TEST_CASE_METHOD(Fixture, "the last reference closes the file") {
  SocketPair pair(poller);
  const int fd = pair.near->fd();
  pair.near = {};
  CHECK_FALSE(IsOpen(fd));
}

TEST_CASE_METHOD(Fixture, "a plain file is always ready") {
  char name[] = "/tmp/shoal-descriptor-XXXXXX";
  const int fd = mkstemp(name);
  REQUIRE(fd >= 0);
  unlink(name);
  const auto file = Descriptor::Adopt(poller, fd);
  OneWait wait;
  CHECK(wait.Await(*file, Direction::kRead) == Status::kOk);
  CHECK_FALSE(poller.Armed());
}

TEST_CASE_METHOD(Fixture, "edges that nobody waits for are not told for ever") {
  const SocketPair pair(poller);
  const SocketPair other(poller);
  OneWait wait, others;
  REQUIRE(wait.Await(*pair.near, Direction::kRead) == Status::kPending);
  wait.Withdraw();
  REQUIRE(others.Await(*other.near, Direction::kRead) == Status::kPending);
  CHECK(InterestIn(pair.near->fd()) == EPOLLIN);
  for (int i = 0; i < 2; ++i) {
    REQUIRE(pair.Send("x"));
    static_cast<void>(poller.Poll());
  }
  CHECK(InterestIn(pair.near->fd()) == 0);
  // The next wait finds all that has come, and is told of what comes.
  CHECK(wait.Await(*pair.near, Direction::kRead) == Status::kOk);
  CHECK(pair.Receive() == "xx");
  REQUIRE(wait.Await(*pair.near, Direction::kRead) == Status::kPending);
  CHECK(poller.Poll() == 0);
  REQUIRE(pair.Send("y"));
  CHECK(poller.Poll() == 1);
}

TEST_CASE_METHOD(Fixture, "a number that is used again, with its slot, gets no old events") {
  auto pair = std::make_unique<SocketPair>(poller);
  const int fd = pair->near->fd();
  OneWait wait;
  REQUIRE(wait.Await(*pair->near, Direction::kRead) == Status::kPending);
  // A copy, as a child has it, keeps the file open, and would keep it registered.
  const int copy = dup(fd);
  REQUIRE(pair->Send("old"));
  pair->near->Close();
  CHECK(wait.outcome() == Status::kClosed);
  const SocketPair next(poller);
  CHECK(next.near->fd() == fd);
  REQUIRE(wait.Await(*next.near, Direction::kRead) == Status::kPending);
  REQUIRE(pair->Send("old"));
  CHECK(poller.Poll() == 0);
  REQUIRE(next.Send("new"));
  CHECK(poller.Poll() == 1);
  wait.Withdraw();
  ::close(copy);
}

#ifndef NDEBUG
// Closes and opens anew between the fetch of an event and its look at the slot.
struct Reopen {
  static bool AtPoint(const char* point) {
    if (std::string(point) != "poller.fetched" || pair == nullptr) return false;
    const int fd = pair->near->fd();
    pair->near->Close();
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) != 0) return false;
    same_number = fds[0] == fd;
    far = fds[1];
    next = Descriptor::Adopt(*poller, fds[0]);
    pair = nullptr;
    status = wait->Await(*next, Direction::kRead);
    return false;
  }
  static inline Poller* poller = nullptr;
  static inline SocketPair* pair = nullptr;
  static inline OneWait* wait = nullptr;
  static inline Ref<Descriptor> next;
  static inline int far = -1;
  static inline bool same_number = false;
  static inline Status status = Status::kEmpty;
};

TEST_CASE_METHOD(Fixture, "an event that was fetched just before a close is void") {
  SocketPair pair(poller);
  OneWait wait, next_wait;
  REQUIRE(wait.Await(*pair.near, Direction::kRead) == Status::kPending);
  REQUIRE(pair.Send("old"));
  Reopen::poller = &poller;
  Reopen::pair = &pair;
  Reopen::wait = &next_wait;
  TestPoints::SetHook(&Reopen::AtPoint);
  CHECK(poller.Poll() == 0);
  TestPoints::SetHook(nullptr);
  CHECK(Reopen::same_number);
  CHECK(Reopen::status == Status::kPending);
  CHECK(wait.outcome() == Status::kClosed);
  CHECK(next_wait.completed == 0);
  REQUIRE(::send(Reopen::far, "new", 3, 0) == 3);
  CHECK(poller.Poll() == 1);
  next_wait.Withdraw();
  ::close(Reopen::far);
  Reopen::next = {};
}
#endif

TEST_CASE_METHOD(Fixture, "when the system has no descriptors left, adopting says so") {
  int fds[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
  std::vector<int> all;
  for (int fd = dup(fds[0]); fd >= 0; fd = dup(fds[0])) {
    all.push_back(fd);
    if (all.size() == 100'000) break;  // no limit here
  }
  errno = 0;
  const Ref<Descriptor> none = Descriptor::Adopt(poller, fds[0]);
  const int error = errno;
  const bool limited = all.size() < 100'000;
  for (int fd : all) ::close(fd);
  if (limited) {
    CHECK_FALSE(none);
    CHECK(error == EMFILE);
  }
  const Ref<Descriptor> some = none ? none : Descriptor::Adopt(poller, fds[0]);
  CHECK(some);
  ::close(fds[1]);
}

}  // namespace
}  // namespace shoal::core
