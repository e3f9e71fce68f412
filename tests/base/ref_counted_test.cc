// SPDX-License-Identifier: MIT
#include "runtime/base/ref_counted.h"

#include <catch2/catch.hpp>
#include <thread>
#include <vector>

using namespace shoal::core;

namespace {

class Tracked final : public RefCounted {
 public:
  explicit Tracked(bool* gone) : gone_(gone) {}

 private:
  ~Tracked() override { *gone_ = true; }
  bool* gone_;
};

}  // namespace

TEST_CASE("the last reference destroys the object") {
  bool gone = false;
  {
    auto first = Ref<Tracked>::Adopt(new Tracked(&gone));
    Ref<Tracked> second = first;
    first = Ref<Tracked>();
    REQUIRE_FALSE(gone);
    REQUIRE(second.get() != nullptr);
  }
  REQUIRE(gone);
}

TEST_CASE("a leaked reference keeps the object until it is adopted again") {
  bool gone = false;
  auto ref = Ref<Tracked>::Adopt(new Tracked(&gone));
  Tracked* raw = ref.Leak();
  REQUIRE_FALSE(ref);
  REQUIRE_FALSE(gone);
  Ref<Tracked>::Adopt(raw);
  REQUIRE(gone);
}

TEST_CASE("references may come and go in several threads") {
  bool gone = false;
  auto ref = Ref<Tracked>::Adopt(new Tracked(&gone));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([copy = ref] {
      for (int j = 0; j < 10000; ++j) {
        const Ref<Tracked> another = copy;
        static_cast<void>(another);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  threads.clear();
  REQUIRE_FALSE(gone);
  ref = Ref<Tracked>();
  REQUIRE(gone);
}

TEST_CASE("a reference can be added to an object that is alive") {
  bool gone = false;
  auto ref = Ref<Tracked>::Adopt(new Tracked(&gone));
  REQUIRE(ref->TryAddRef());
  ref->Release();
  REQUIRE_FALSE(gone);
}
