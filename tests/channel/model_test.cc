// SPDX-License-Identifier: MIT
// Random operations on a channel and on its model: the results are the same, step by step.
#include "tests/channel/model.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/channel/task.h"

namespace shoal::core {
namespace {

constexpr int kKeys = 4;
constexpr int kTasks = 8;
constexpr std::size_t kFootprint = 128;  // of each message

class Walk {
 public:
  Walk(unsigned seed, std::uint64_t limit, std::size_t bytes)
      : random_(seed),
        limit_(limit),
        world_(
            {.limit = limit, .bytes = bytes == SIZE_MAX ? Budget::kUnlimited : bytes * kFootprint}),
        model_(kKeys, limit, bytes) {}

  ~Walk() {
    for (Both& task : tasks_) task.real.Cancel();
    for (Both& task : tasks_) {
      if (task.sends && !task.real.completed()) world_.channel->AbandonSend(task.real.node());
    }
  }

  // Returns what differs, or "".
  std::string Step() {
    const int key = Random(kKeys);
    switch (Random(20)) {
      case 0:
      case 1:
      case 2:
        return Send(key);
      case 3:
      case 4:
      case 5:
      case 6:
        return SendOrWait(key);
      case 7:
      case 8:
        return Receive(key);
      case 9:
      case 10:
      case 11:
      case 12:
        return ReceiveOrWait();
      case 13: {
        // A deadline passes, which the owner notices later.
        Both& task = tasks_[Random(kTasks)];
        if (!task.waits || task.model.claimed) return "";
        task.model.Complete(Status::kTimeout);
        return task.real.Claim() ? "" : "claim";
      }
      case 14:
        return Random(3) == 0 ? Replace(key) : "";
      case 15: {
        Texts texts = NewTexts(1);
        MessageList list = ListOf(texts);
        return Compare("send if empty", model_.SendIfEmpty(key, texts),
                       world_.channel->SendIfEmpty(Key(key), list));
      }
      case 16:
        return Random(3) == 0 ? SetLimit(key) : "";
      case 17: {
        std::uint32_t generation = 0;
        const int at = model_.now + Random(20);
        return Compare("expire", model_.Expire(key, at),
                       world_.channel->Expire(Key(key), start_ + Duration(at), &generation));
      }
      case 18:
        model_.now += 1;
        world_.clock.Advance(Duration(1));
        return "";
      default:
        if (Random(60) != 0) return "";
        if (Random(4) == 0) {
          model_.Close();
          world_.channel->Close();
        } else {
          model_.CloseKey(key);
          world_.channel->CloseKey(Key(key));
        }
        return "";
    }
  }

  // Takes the completions, and compares all that can be seen.
  std::string Check() {
    for (Both& task : tasks_) {
      if (!task.waits) continue;
      if (task.real.completed() != task.model.completed) return "completed";
      if (task.real.completions() > 1) return "completed twice";
      if (task.model.completed && Random(3) != 0) {
        if (std::string text = Finish(task); !text.empty()) return text;
      }
    }
    const int key = Random(kKeys);
    const auto& fifo = model_.At(key).fifo;
    if (Standing(*world_.channel, Key(key)) != Texts(fifo.begin(), fifo.end())) return "standing";
    return "";
  }

 private:
  struct Both {
    ModelTask model;
    Task real;
    bool waits = false;
    bool sends = false;
    int key = 0;  // of a send
  };

  int Random(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }
  static KeyName Key(int key) { return KeyName::Integer(key); }
  Texts NewTexts(int count) {
    Texts texts;
    for (int i = 0; i < count; ++i) texts.push_back(std::to_string(++last_text_));
    return texts;
  }
  int BatchSize() {
    const int largest = limit_ == 0 ? 1 : static_cast<int>(std::min<std::uint64_t>(limit_, 3));
    return Random(3) == 0 ? 1 + Random(largest) : 1;
  }
  static MessageList ListOf(const Texts& texts) {
    MessageList list;
    for (const std::string& text : texts) list.PushBack(Text(text));
    return list;
  }
  static std::string Compare(const char* what, Status model, Status real) {
    if (model == real) return "";
    return std::string(what) + ": " + ToString(real) + " and not " + ToString(model);
  }
  // A task that waits for nothing, or nullptr.
  Both* Idle() {
    for (int i = 0; i < kTasks; ++i) {
      Both& task = tasks_[Random(kTasks)];
      if (!task.waits) return &task;
    }
    return nullptr;
  }

  std::string Send(int key) {
    Texts texts = NewTexts(BatchSize());
    MessageList list = ListOf(texts);
    return Compare("send", model_.Send(key, texts, nullptr), world_.channel->Send(Key(key), list));
  }

  std::string SendOrWait(int key) {
    Both* task = Idle();
    if (task == nullptr) return "";
    Texts texts = NewTexts(BatchSize());
    task->key = key;
    task->sends = true;
    const Status status = model_.Send(key, texts, &task->model);
    task->waits = status == Status::kPending;
    return Compare("send or wait", status,
                   task->real.Send(*world_.channel, Key(key), ListOf(texts)));
  }

  std::string Receive(int key) {
    const std::uint32_t min = Random(4) == 0 ? 1 + Random(3) : 1;
    const std::uint32_t max = min + (Random(3) == 0 ? Random(3) : 0);
    Texts texts;
    MessageList list;
    const Status status = model_.Receive(key, min, max, &texts);
    std::string difference =
        Compare("receive", status, world_.channel->Receive(Key(key), min, max, &list));
    if (!difference.empty() || status != Status::kOk) return difference;
    if (TextsOf(list) != texts) return "received";
    if (Random(5) != 0) return "";
    model_.PutBack(key, texts);
    world_.channel->PutBack(Key(key), list);
    return "";
  }

  std::string ReceiveOrWait() {
    Both* task = Idle();
    if (task == nullptr) return "";
    std::vector<int> keys = {0, 1, 2, 3};
    std::shuffle(keys.begin(), keys.end(), random_);
    keys.resize(1 + Random(kKeys));
    std::vector<KeyName> names;
    for (int key : keys) names.push_back(Key(key));
    const std::uint32_t min = Random(4) == 0 ? 1 + Random(3) : 1;
    const std::uint32_t max = min + (Random(3) == 0 ? Random(3) : 0);
    task->sends = false;
    const Status status = model_.ReceiveOrWait(keys, min, max, task->model);
    task->waits = status == Status::kPending;
    std::string difference =
        Compare("receive or wait", status, task->real.Receive(*world_.channel, names, min, max));
    if (!difference.empty() || status != Status::kOk) return difference;
    if (task->real.index() != task->model.index) return "index";
    return task->real.received() == task->model.received ? "" : "received";
  }

  std::string Replace(int key) {
    Texts texts = NewTexts(Random(3));
    MessageList list = ListOf(texts);
    return Compare("replace", model_.Replace(key, texts), world_.channel->Replace(Key(key), list));
  }

  std::string SetLimit(int key) {
    // Not less than the largest batch, which is an argument error above this layer.
    const std::uint64_t limit = Random(2) == 0 ? limit_ : limit_ + Random(3);
    const std::uint64_t set = limit < limit_ ? Channel::kNoLimit : limit;
    return model_.SetLimit(key, set) == world_.channel->SetLimit(Key(key), set) ? "" : "limit";
  }

  // What the owner of a completed wait does.
  std::string Finish(Both& task) {
    task.waits = false;
    model_.Withdraw(task.model);
    const Status status = task.real.Finish();
    std::string difference = Compare("outcome", task.model.outcome, status);
    if (!difference.empty()) return difference;
    if (!task.sends) {
      if (status != Status::kOk) return "";
      if (task.real.index() != task.model.index) return "completed with another index";
      return task.real.received() == task.model.received ? "" : "completed with others";
    }
    if (status == Status::kOk) return "";
    if (task.real.unsent() != task.model.unsent) return "unsent";
    if (status != Status::kFull || Random(4) == 0) {
      model_.Abandon(task.model);
      world_.channel->AbandonSend(task.real.node());
      return "";
    }
    Texts texts = task.model.unsent;
    const Status again = model_.Send(task.key, texts, &task.model);
    task.waits = again == Status::kPending;
    return Compare("send again", again, task.real.SendAgain(*world_.channel, Key(task.key)));
  }

  std::mt19937 random_;
  const std::uint64_t limit_;
  World world_;
  const TimePoint start_ = world_.clock.Now();
  ChannelModel model_;
  Both tasks_[kTasks];
  int last_text_ = 0;
};

TEST_CASE("a channel does what its model does, whatever is done to it") {
  // SHOAL_SEED replays a run.
  const char* replay = std::getenv("SHOAL_SEED");
  unsigned seed = replay == nullptr ? std::random_device()() : std::strtoul(replay, nullptr, 10);
  const int rounds = replay == nullptr ? 120 : 1;
  const std::uint64_t limits[] = {0, 1, 3, Channel::kNoLimit};
  const std::size_t bytes[] = {SIZE_MAX, SIZE_MAX, 4, 9};
  for (int round = 0; round < rounds; ++round, ++seed) {
    INFO("SHOAL_SEED=" << seed);
    Walk walk(seed, limits[seed % 4], bytes[seed / 4 % 4]);
    for (int step = 0; step < 600; ++step) {
      std::string difference = walk.Step();
      if (difference.empty()) difference = walk.Check();
      if (!difference.empty()) FAIL("step " << step << ": " << difference);
    }
  }
  SUCCEED();
}

}  // namespace
}  // namespace shoal::core
