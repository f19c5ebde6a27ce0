// The file: a header, then columns one after the other, each at a multiple of 64 bytes, then a directory of
// 64-bit numbers that says where they are. Numbers are those of the machine that wrote it.
#include "gui/timeline/timeline_cache.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "db/machine.h"
#include "gui/timeline/mapped_file.h"

namespace pitwall::gui {
namespace {

constexpr std::uint64_t kMagic = 0x314c544c41575450;  // differs on a machine with the other byte order
constexpr std::uint64_t kVersion = 3;                 // raise it with every change of columns or tiles
constexpr std::size_t kAlign = 64;
constexpr const char* kSuffix = ".timeline";

struct Header {
  std::uint64_t magic = kMagic, version = kVersion;
  std::uint64_t tile_bytes = sizeof(TilePyramid::Tile);
  std::uint64_t file_bytes = 0;
  std::uint64_t directory_at = 0;  // 8-byte words up to the file's end
  std::uint64_t sum = 0;           // of all behind the header
};

// Four sums at a time: the bytes come faster than one multiplication after the other.
std::uint64_t sumOf(std::span<const std::byte> bytes, std::uint64_t sum) {
  constexpr std::uint64_t kPrime = 0x9e3779b97f4a7c15;
  std::uint64_t parts[4] = {sum, sum + 1, sum + 2, sum + 3};
  std::size_t at = 0;
  for (; at + 32 <= bytes.size(); at += 32) {
    std::uint64_t words[4];
    std::memcpy(words, bytes.data() + at, sizeof(words));
    for (int i = 0; i < 4; ++i) parts[i] = (parts[i] ^ words[i]) * kPrime;
    for (int i = 0; i < 4; ++i) parts[i] ^= parts[i] >> 32;
  }
  for (; at < bytes.size(); ++at) parts[0] = (parts[0] ^ static_cast<std::uint64_t>(bytes[at])) * kPrime;
  return ((parts[0] * kPrime ^ parts[1]) * kPrime ^ parts[2]) * kPrime ^ parts[3];
}

class Writer {
 public:
  explicit Writer(std::FILE* file) : file_(file) { put(std::as_bytes(std::span(&header_, 1))); }

  template <class T>
  void column(std::span<const T> values) {
    align();
    directory_.push_back(at_);
    directory_.push_back(values.size());
    put(std::as_bytes(values));
  }
  void number(std::uint64_t value) { directory_.push_back(value); }
  bool finish() {
    align();
    header_.directory_at = at_;
    put(std::as_bytes(std::span(directory_)));
    header_.file_bytes = at_;
    header_.sum = sum_;
    return good_ && std::fseek(file_, 0, SEEK_SET) == 0 &&
           std::fwrite(&header_, sizeof(header_), 1, file_) == 1 && std::fflush(file_) == 0;
  }

 private:
  void align() {
    static const std::byte kZeros[kAlign] = {};
    if (at_ % kAlign != 0) put(std::span(kZeros).first(kAlign - at_ % kAlign));
  }
  void put(std::span<const std::byte> bytes) {
    if (bytes.empty()) return;
    if (at_ > 0) sum_ = sumOf(bytes, sum_);
    at_ += bytes.size();
    good_ = good_ && std::fwrite(bytes.data(), 1, bytes.size(), file_) == bytes.size();
  }

  std::FILE* file_;
  Header header_;
  std::uint64_t at_ = 0, sum_ = 0;
  std::vector<std::uint64_t> directory_;
  bool good_ = true;
};

class Reader {
 public:
  explicit Reader(MappedFile file) : file_(std::move(file)) {
    if (file_.bytes.size() < sizeof(Header)) return;
    Header header;
    std::memcpy(&header, file_.bytes.data(), sizeof(header));
    const Header own;
    if (header.magic != own.magic || header.version != own.version || header.tile_bytes != own.tile_bytes ||
        header.file_bytes != file_.bytes.size() || header.directory_at < sizeof(Header) ||
        header.directory_at > file_.bytes.size() || header.directory_at % kAlign != 0)
      return;
    sum_ = header.sum;
    directory_ = words(header.directory_at, (file_.bytes.size() - header.directory_at) / 8);
    good_ = true;
  }

  // False once something requested was missing.
  bool good() const { return good_; }
  std::uint64_t number() {
    if (next_ >= directory_.size()) good_ = false;
    return good_ ? directory_[next_++] : 0;
  }
  template <class T>
  Column<T> column() {
    const std::uint64_t at = number(), count = number();
    const std::uint64_t size = file_.bytes.size();
    if (!good_ || at % kAlign != 0 || at > size || count > (size - at) / sizeof(T)) {
      good_ = false;
      return {};
    }
    checked_ = sumUpTo(at, count * sizeof(T));
    return {std::span(reinterpret_cast<const T*>(file_.bytes.data() + at), count), file_.owner};
  }
  // Whether all bytes are those that were written; after everything was read in order.
  bool whole() {
    const std::size_t directory_at = file_.bytes.size() - directory_.size() * 8;
    sumUpTo(directory_at, directory_.size() * 8);
    return good_ && next_ == directory_.size() && summed_ == sum_;
  }

 private:
  std::span<const std::uint64_t> words(std::uint64_t at, std::uint64_t count) const {
    return {reinterpret_cast<const std::uint64_t*>(file_.bytes.data() + at), count};
  }
  // The sum goes the way the writer went: what is between two columns, then the column.
  std::size_t sumUpTo(std::size_t at, std::size_t bytes) {
    if (at < checked_) good_ = false;
    if (!good_) return checked_;
    if (at > checked_) summed_ = sumOf(file_.bytes.subspan(checked_, at - checked_), summed_);
    if (bytes > 0) summed_ = sumOf(file_.bytes.subspan(at, bytes), summed_);
    return at + bytes;
  }

  MappedFile file_;
  std::span<const std::uint64_t> directory_;
  std::size_t next_ = 0, checked_ = sizeof(Header);
  std::uint64_t sum_ = 0, summed_ = 0;
  bool good_ = false;
};

void writeLane(Writer& writer, const TimelineTrack& track, std::size_t lane) {
  const LaneColumns& columns = track.lanes[lane].columns();
  writer.column(columns.start.values());
  writer.column(columns.dur.values());
  writer.column(columns.look.values());
  writer.column(columns.long_dur.values());
  const TilePyramid& pyramid = track.pyramids[lane];
  writer.number(pyramid.empty() ? 0 : pyramid.roots().size());
  writer.number(static_cast<std::uint64_t>(pyramid.rootLevel()));
  writer.column(pyramid.tiles());
  writer.column(track.name_indices[lane].bits().values());
}

// Numbers that a frame uses without checks.
bool isSound(std::span<const TilePyramid::Tile> tiles, std::uint64_t roots, std::uint64_t level,
             std::size_t events) {
  if (roots > tiles.size() || (roots == 0) != tiles.empty() || level > 27) return false;
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    for (std::size_t q = 0; q < TilePyramid::kQuarters; ++q) {
      // Children come after their parents, so that there are no cycles.
      const std::uint32_t child = tiles[i].child[q];
      if (child != 0 && (child <= i || child >= tiles.size())) return false;
      if (tiles[i].first[q] > events) return false;
    }
  }
  return true;
}

bool readLane(Reader& reader, TimelineTrack& track) {
  LaneColumns columns{.start = reader.column<TimeNs>(),
                      .dur = reader.column<std::uint32_t>(),
                      .look = reader.column<std::uint32_t>(),
                      .long_dur = reader.column<LongDuration>()};
  const std::size_t events = columns.start.size();
  const std::uint64_t roots = reader.number(), level = reader.number();
  auto tiles = reader.column<TilePyramid::Tile>();
  auto names = reader.column<std::uint64_t>();
  if (!reader.good() || columns.dur.size() != events || columns.look.size() != events ||
      names.size() != events / NameIndex::kBlock * NameIndex::kWords ||
      !isSound(tiles.values(), roots, level, events))
    return false;
  track.lanes.emplace_back(std::move(columns));
  track.pyramids.emplace_back(std::move(tiles), static_cast<std::uint32_t>(roots), static_cast<int>(level));
  track.name_indices.emplace_back(std::move(names));
  return true;
}

std::filesystem::path fileOf(const std::string& folder, const std::string& identity) {
  // One file a trace: the first line is its path.
  const std::string place = identity.substr(0, identity.find('\n'));
  return std::filesystem::path(folder) /
         (fmt::format("{:016x}", sumOf(std::as_bytes(std::span(place)), 0)) + kSuffix);
}

void removeOldest(const std::string& folder, std::uint64_t most_bytes) {
  struct Kept {
    std::filesystem::file_time_type used;
    std::filesystem::path path;
    std::uint64_t bytes;
  };
  std::vector<Kept> all;
  std::uint64_t bytes = 0;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (entry.path().extension() != kSuffix) continue;
    all.push_back({entry.last_write_time(ignored), entry.path(), entry.file_size(ignored)});
    bytes += all.back().bytes;
  }
  std::sort(all.begin(), all.end(), [](const Kept& a, const Kept& b) { return a.used < b.used; });
  for (const Kept& kept : all) {
    if (bytes <= most_bytes) break;
    std::filesystem::remove(kept.path, ignored);
    bytes -= kept.bytes;
  }
}

}  // namespace

std::string timelineCacheFolder() {
  const std::string folder = cacheFolder();
  return folder.empty() ? folder : folder + "/timelines";
}

std::optional<std::string> traceIdentity(const Trace& trace) {
  struct stat about {
  }, log{};
  if (!trace.isComplete() || ::stat(trace.path().c_str(), &about) != 0) return std::nullopt;
  if (::stat((trace.path() + "-wal").c_str(), &log) == 0 && log.st_size > 0) return std::nullopt;
  std::error_code error;
  const auto place = std::filesystem::absolute(trace.path(), error);
  if (error) return std::nullopt;
  return fmt::format("{}\n{}\n{}.{:09}\n{}\n{}\n", place.string(), about.st_size, about.st_mtim.tv_sec,
                     about.st_mtim.tv_nsec, about.st_ino, trace.tracks().size());
}

bool readTimelineCache(const std::string& folder, const std::string& identity, Timeline& timeline,
                       std::vector<std::uint64_t>& used) {
  const std::filesystem::path path = fileOf(folder, identity);
  Reader reader(mapFile(path.string()));
  if (!reader.good()) return false;
  const auto key = reader.column<char>();
  const auto names = reader.column<std::uint64_t>();
  const auto totals = reader.column<TimeNs>();
  const auto counts = reader.column<std::uint32_t>();
  if (counts.size() != totals.size() * kDurationClasses) return false;
  if (!reader.good() || std::string_view(key.data(), key.size()) != identity) return false;
  if (reader.number() != timeline.tracks.size()) return false;
  std::vector<TimelineTrack> tracks = timeline.tracks;
  for (TimelineTrack& track : tracks) {
    track.events = reader.number();
    const std::uint64_t lanes = reader.number();
    if (lanes > kMostLanes) return false;
    for (std::uint64_t lane = 0; lane < lanes; ++lane) {
      if (!readLane(reader, track)) return false;
    }
  }
  if (!reader.whole()) return false;
  timeline.tracks = std::move(tracks);
  timeline.classes = {{totals.values().begin(), totals.values().end()},
                      {counts.values().begin(), counts.values().end()}};
  used.assign(names.values().begin(), names.values().end());
  std::error_code ignored;  // used just now
  std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now(), ignored);
  return true;
}

Status writeTimelineCache(const std::string& folder, const std::string& identity, const Timeline& timeline,
                          std::uint64_t most_bytes) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const std::filesystem::path path = fileOf(folder, identity);
  const std::string part = fmt::format("{}.{}.part", path.string(), ::getpid());
  std::FILE* file = std::fopen(part.c_str(), "wbe");
  if (file == nullptr)
    return fail(ErrorCode::io, fmt::format("{}: cannot be written: {}", part, std::strerror(errno)));
  Writer writer(file);
  writer.column(std::span<const char>(identity));
  writer.column(std::span<const std::uint64_t>(timeline.name_counts));
  writer.column(std::span<const TimeNs>(timeline.classes.totals()));
  writer.column(std::span<const std::uint32_t>(timeline.classes.counts()));
  writer.number(timeline.tracks.size());
  std::vector<const TimelineTrack*> by_id;
  for (const TimelineTrack& track : timeline.tracks) by_id.push_back(&track);
  std::ranges::sort(by_id, {}, [](const TimelineTrack* track) { return track->id.value; });
  for (const TimelineTrack* track : by_id) {
    writer.number(track->events);
    writer.number(track->lanes.size());
    for (std::size_t lane = 0; lane < track->lanes.size(); ++lane) writeLane(writer, *track, lane);
  }
  const bool written = writer.finish();
  const bool closed = std::fclose(file) == 0;
  if (!written || !closed || std::rename(part.c_str(), path.c_str()) != 0) {
    const std::string why = std::strerror(errno);
    std::filesystem::remove(part, error);
    return fail(ErrorCode::io, fmt::format("{}: cannot be written: {}", path.string(), why));
  }
  removeOldest(folder, most_bytes);
  return {};
}

}  // namespace pitwall::gui
