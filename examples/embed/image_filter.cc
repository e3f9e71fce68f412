// SPDX-License-Identifier: MIT
// Blurs an image: its rows are given to the processes of a pool as one buffer, which nobody copies.
// Each call returns the rows that it has computed as a buffer. Writes a PPM, and says how much
// faster all workers are than one.
//
//   bazel run //examples/embed:image_filter /tmp/blurred.ppm [WIDTH HEIGHT]
#include <shoal/shoal.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr int kRowsInCall = 8;

// blur(image, width, height, first, last) → the rows first … last - 1, counted from 0. A pixel
// becomes the mean of a square around it; beyond the edge, the image goes on as it is there.
constexpr char kFilter[] = R"lua(
  local shoal = require("shoal")
  local char, concat = string.char, table.concat
  local radius = 2

  local function blur(image, width, height, first, last)
    -- The rows that are looked at, as lists of bytes.
    local rows = {}
    for y = math.max(first - radius, 0), math.min(last - 1 + radius, height - 1) do
      local row = {}
      for x = 0, width * 3 - 1, 3000 do
        local stop = math.min(x + 3000, width * 3)
        local bytes = { image:byte(y * width * 3 + x + 1, y * width * 3 + stop) }
        table.move(bytes, 1, #bytes, x + 1, row)
      end
      rows[y] = row
    end
    local out = {}
    local count = (2 * radius + 1) * (2 * radius + 1)
    for y = first, last - 1 do
      local line = {}
      for x = 0, width - 1 do
        local r, g, b = 0, 0, 0
        for dy = -radius, radius do
          local row = rows[math.max(0, math.min(y + dy, height - 1))]
          for dx = -radius, radius do
            local at = math.max(0, math.min(x + dx, width - 1)) * 3
            r, g, b = r + row[at + 1], g + row[at + 2], b + row[at + 3]
          end
        end
        line[x + 1] = char(r // count, g // count, b // count)
      end
      out[#out + 1] = concat(line)
    end
    return shoal.buffer(out)
  end

  return { blur = blur }
)lua";

// A picture to be blurred: a coloured chessboard.
shoal::Buffer Draw(int width, int height) {
  std::vector<std::uint8_t> pixels;
  pixels.reserve(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const bool is_dark = (x / 16 + y / 16) % 2 == 0;
      pixels.push_back(is_dark ? 20 : static_cast<std::uint8_t>(x * 255 / width));
      pixels.push_back(is_dark ? 20 : static_cast<std::uint8_t>(y * 255 / height));
      pixels.push_back(is_dark ? 60 : 200);
    }
  }
  return shoal::Buffer::Adopt(std::move(pixels));
}

struct Blurred {
  std::string pixels;
  double seconds = 0;
};

// Blurs the image with so many workers; nothing, if that fails.
std::optional<Blurred> Blur(const shoal::Buffer& image, int width, int height, int workers) {
  shoal::Runtime runtime({.workers = workers});
  const shoal::Pool pool = runtime.MakePool({.body = kFilter, .size = runtime.workers()});
  // The first calls load the filter: they do not count.
  for (int i = 0; i < runtime.workers(); ++i) {
    if (!pool.Call("blur", image, width, height, 0, 1)) return std::nullopt;
  }
  const auto begin = std::chrono::steady_clock::now();
  std::vector<shoal::Future> parts;
  for (int y = 0; y < height; y += kRowsInCall) {
    parts.push_back(pool.Async("blur", image, width, height, y, std::min(y + kRowsInCall, height)));
  }
  Blurred blurred;
  for (const shoal::Future& part : parts) {
    const shoal::Result<shoal::Values> rows = part.Join();
    const auto bytes = rows ? rows->get<shoal::Buffer>(0) : std::nullopt;
    if (!bytes) {
      std::fprintf(stderr, "%s\n", std::string(rows.error().message()).c_str());
      return std::nullopt;
    }
    blurred.pixels += bytes->text();
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  blurred.seconds = took.count();
  return blurred;
}

bool Write(const char* path, int width, int height, const std::string& pixels) {
  std::FILE* const file = std::fopen(path, "wb");
  if (file == nullptr) return false;
  std::fprintf(file, "P6\n%d %d\n255\n", width, height);
  const bool is_whole = std::fwrite(pixels.data(), 1, pixels.size(), file) == pixels.size();
  return std::fclose(file) == 0 && is_whole;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 4) {
    std::fprintf(stderr, "usage: image_filter FILE.ppm [WIDTH HEIGHT]\n");
    return 2;
  }
  const int width = argc == 4 ? std::atoi(argv[2]) : 640;
  const int height = argc == 4 ? std::atoi(argv[3]) : 480;
  const shoal::Buffer image = Draw(width, height);

  const std::optional<Blurred> by_one = Blur(image, width, height, 1);
  const std::optional<Blurred> by_all = Blur(image, width, height, shoal::Options::kOneForEachCore);
  if (!by_one || !by_all || by_one->pixels != by_all->pixels) {
    std::fprintf(stderr, "the image could not be blurred\n");
    return 1;
  }
  if (!Write(argv[1], width, height, by_all->pixels)) {
    std::perror(argv[1]);
    return 1;
  }
  std::printf(
      "%d x %d: %.2f s with one worker, %.2f s with one for each core: %.1f times as fast\n", width,
      height, by_one->seconds, by_all->seconds, by_one->seconds / by_all->seconds);
}
