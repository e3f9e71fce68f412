// SPDX-License-Identifier: MIT
#include "runtime/lua/code_cache.h"

#include <sys/stat.h>

#include <ctime>
#include <utility>

#include "runtime/base/enough_memory.h"

namespace shoal::core {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

std::int64_t Nanoseconds(const timespec& time) { return time.tv_sec * kSecond + time.tv_nsec; }

// lua_Writer, to a std::string.
int Append(lua_State* /*L*/, const void* bytes, std::size_t size, void* to) {
  auto& text = *static_cast<std::string*>(to);
  return EnoughMemory([&] { text.append(static_cast<const char*>(bytes), size); }) ? 0 : 1;
}

}  // namespace

std::size_t CodeCache::size() const {
  MutexLock lock(mu_);
  return size_;
}

CodeCache::Stamp CodeCache::Look(const char* path) {
  struct stat file = {};
  if (stat(path, &file) != 0 || !S_ISREG(file.st_mode)) return {};
  return {.device = file.st_dev,
          .number = file.st_ino,
          .size = file.st_size,
          .changed = Nanoseconds(file.st_mtim)};
}

bool CodeCache::IsSettled(const Stamp& stamp) {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  // Clocks of file systems are coarse: up to two seconds.
  return stamp != Stamp() && stamp.changed < Nanoseconds(now) - 3 * kSecond;
}

int CodeCache::Load(lua_State* L, const char* path) {
  const Stamp before = Look(path);
  if (before != Stamp() && LoadKept(L, path, before)) return LUA_OK;
  const int status = luaL_loadfilex(L, path, nullptr);
  // What has changed meanwhile may be neither the one nor the other.
  if (status == LUA_OK && IsSettled(before) && Look(path) == before) Keep(L, path, before);
  return status;
}

// The string and the code must be freed, so nothing in here raises: lua_load is protected.
bool CodeCache::LoadKept(lua_State* L, const char* path, const Stamp& stamp) {
  Ref<Code> code;
  if (!EnoughMemory([&] { code = Find(path, stamp); }) || !code) return false;
  // The name of the chunk is in the code.
  if (luaL_loadbufferx(L, code->bytes.data(), code->bytes.size(), path, "b") == LUA_OK) return true;
  lua_pop(L, 1);
  return false;
}

Ref<CodeCache::Code> CodeCache::Find(const std::string& path, const Stamp& stamp) {
  MutexLock lock(mu_);
  const auto found = files_.find(path);
  if (found == files_.end() || found->second.stamp != stamp) return {};
  return found->second.code;
}

// Without memory, it is not kept.
void CodeCache::Keep(lua_State* L, const char* path, const Stamp& stamp) {
  Ref<Code> dropped;  // freed when the lock is free
  static_cast<void>(EnoughMemory([&] {
    Ref<Code> code = Ref<Code>::Adopt(new Code);
    if (lua_dump(L, Append, &code->bytes, 0) != 0) return;
    code->bytes.shrink_to_fit();
    std::string key = path;
    MutexLock lock(mu_);
    const auto known = files_.find(key);
    const std::size_t old = known == files_.end() ? 0 : known->second.code->bytes.size();
    if (size_ - old + code->bytes.size() > most_) return;
    File& file = known == files_.end() ? files_[std::move(key)] : known->second;
    size_ = size_ - old + code->bytes.size();
    file.stamp = stamp;
    dropped = std::exchange(file.code, std::move(code));
  }));
}

}  // namespace shoal::core
