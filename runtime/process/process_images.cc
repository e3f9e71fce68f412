// SPDX-License-Identifier: MIT
#include "runtime/process/process_images.h"

#include <string>

#include "runtime/base/enough_memory.h"
#include "runtime/process/machine.h"

namespace shoal::core {

namespace {

// To make an image takes as long as ten states.
constexpr int kMany = 16;

struct Opening {
  const ScriptLibrary& library;
  LibrarySet libraries;
};

void Open(lua_State* L, void* context) {
  const auto& opening = *static_cast<const Opening*>(context);
  OpenLibraries(L, opening.libraries);
  opening.library.Open(L, opening.libraries);
}

}  // namespace

ProcessImages::ProcessImages(const ScriptLibrary& library, Log& log, StateImages when, int lists)
    : library_(library), log_(log), when_(when) {
  if (when == StateImages::kOff) return;
  static_cast<void>(EnoughMemory([&] { slots_.emplace(lists); }));
}

ProcessImages::Row* ProcessImages::RowOf(LibrarySet libraries) {
  const LibrarySet wanted = libraries | kTaken;
  for (Row& row : rows_) {
    // Relaxed: it tells of nothing but itself.
    LibrarySet set = row.set.load(std::memory_order_relaxed);
    if (set == wanted) return &row;
    if (set != 0) continue;
    if (row.set.compare_exchange_strong(set, wanted, std::memory_order_relaxed) || set == wanted) {
      return &row;
    }
  }
  return nullptr;
}

const StateImage* ProcessImages::For(LibrarySet libraries) {
  if (!slots_) return nullptr;
  Row* const row = RowOf(libraries);
  if (row == nullptr) return nullptr;
  if (const StateImage* const image = row->image.load(std::memory_order_acquire)) return image;
  const int needed = when_ == StateImages::kFromFirst ? 1 : kMany;
  // Only for the one that makes it is the number what is needed. Relaxed: it publishes nothing.
  if (row->starts.load(std::memory_order_relaxed) >= needed ||
      row->starts.fetch_add(1, std::memory_order_relaxed) + 1 != needed) {
    return nullptr;
  }
  return Make(*row, libraries);
}

const StateImage* ProcessImages::Make(Row& row, LibrarySet libraries) {
  std::string why = "not enough memory";
  Opening opening{library_, libraries};
  static_cast<void>(
      EnoughMemory([&] { row.owned = StateImage::Make(*slots_, Open, &opening, &why); }));
  if (row.owned == nullptr) {
    log_.Write(LogLevel::kWarning, "processes start without a state image: " + why);
    return nullptr;
  }
  row.image.store(row.owned.get(), std::memory_order_release);
  return row.owned.get();
}

}  // namespace shoal::core
