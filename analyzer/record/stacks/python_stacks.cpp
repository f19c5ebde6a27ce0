#include "analyzer/record/stacks/python_stacks.h"

#include <algorithm>
#include <cstring>

#include "db/try.h"

namespace pitwall::record {
namespace {

constexpr int kMostInterpreters = 64;
constexpr std::uint32_t kSearchesOfLasting = 8;  // one of them looks for other interpreters, too
constexpr std::size_t kMostThreads = 4096;       // of all interpreters
constexpr std::size_t kMostFrames = 1024;
constexpr int kTries = 5;
constexpr Address kJoined = 1024;  // areas closer than this are one
constexpr std::size_t kMostAreas = 512;

template <class T>
T at(const std::uint8_t* bytes, std::uint32_t offset) {
  T value{};
  std::memcpy(&value, bytes + offset, sizeof value);
  return value;
}

}  // namespace

Result<std::unique_ptr<PythonStacks>> PythonStacks::create(const ProcessMemory& memory, FrameTable& frames,
                                                           Address runtime, int minor) {
  PythonLayout layout = PITWALL_TRY(pythonLayout(minor, memory, runtime));
  return std::unique_ptr<PythonStacks>(new PythonStacks(memory, frames, runtime, layout));
}

template <class T>
std::optional<T> PythonStacks::link(Address at, bool lasts) {
  const auto value = memory_.value<T>(at);
  if (value) links_.push_back({at, static_cast<std::uint64_t>(*value), sizeof *value, lasts});
  all_linked_ = all_linked_ && value;
  return value;
}

// Whether what the last search read is unchanged, in one call; of what lasts as long as an interpreter only now and then,
// since each address takes time.
bool PythonStacks::linksHold() {
  if (!all_linked_ || links_.empty()) return false;
  const bool everything = ++searches_ % kSearchesOfLasting == 0;
  now_.resize(links_.size());
  parts_.clear();
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const Link& link = links_[i];
    const bool is_read = everything || !link.lasts;
    now_[i] = is_read ? 0 : link.value;
    if (is_read) parts_.push_back({link.at, &now_[i], link.size});
  }
  return memory_.read(parts_) && std::ranges::equal(links_, now_, {}, &Link::value);
}

bool PythonStacks::findThreads() {
  if (linksHold()) return !threads_.empty();
  links_.clear();
  all_linked_ = true;
  for (auto& [tid, thread] : threads_) thread.seen = false;
  locks_.clear();
  if (layout_.lock_in_runtime != 0) locks_.push_back(runtime_ + layout_.lock_in_runtime);
  std::size_t left = kMostThreads;
  auto interpreter = link<Address>(runtime_ + layout_.heads, true);
  for (int i = 0; i < kMostInterpreters && interpreter && *interpreter != 0; ++i) {
    findThreadsOf(*interpreter, left);
    if (layout_.lock_of_interpreter != 0) {
      const auto lock = link<Address>(*interpreter + layout_.lock_of_interpreter, true);
      if (lock && *lock != 0) locks_.push_back(*lock);
    }
    interpreter = link<Address>(*interpreter + layout_.next_interpreter, true);
  }
  std::erase_if(threads_, [](const auto& entry) { return !entry.second.seen; });
  return !threads_.empty();
}

// `left`: how many threads may still be read.
void PythonStacks::findThreadsOf(Address interpreter, std::size_t& left) {
  auto state = link<Address>(interpreter + layout_.threads);
  for (; left > 0 && state && *state != 0; --left) {
    if (const pid_t tid = systemId(*state); tid > 0) {
      Thread& thread = threads_[tid];
      if (thread.seen && thread.state == *state) return;  // a cycle
      if (thread.state != *state) thread = {.state = *state, .cframe = 0, .seen = true, .areas = {}};
      thread.seen = true;
    }
    state = link<Address>(*state + layout_.thread.next);
  }
}

// Up to 3.10 only the pthread_t is known: the address of glibc's descriptor, which holds the system's number.
pid_t PythonStacks::systemId(Address state) {
#if defined(__aarch64__)
  constexpr Address kNumberInDescriptor = 208;
#else
  constexpr Address kNumberInDescriptor = 720;
#endif
  if (layout_.thread.native_id != 0) {
    const auto id = link<std::uint64_t>(state + layout_.thread.native_id);
    return id && *id < 0x7fffffff ? static_cast<pid_t>(*id) : 0;
  }
  const auto descriptor = link<Address>(state + layout_.thread.thread_id);
  if (!descriptor || *descriptor == 0) return 0;
  return static_cast<pid_t>(link<std::uint32_t>(*descriptor + kNumberInDescriptor).value_or(0));
}

bool PythonStacks::isInterpreterLock(Address at) const {
  return std::ranges::any_of(locks_,
                             [&](Address lock) { return at >= lock && at < lock + layout_.lock_size; });
}

std::optional<Address> PythonStacks::innermost(Thread& thread) const {
  const auto pointer = memory_.value<Address>(thread.state + layout_.thread.frame);
  if (!pointer || !layout_.frame_in_cframe) return pointer;
  thread.cframe = *pointer;
  return *pointer == 0 ? pointer : memory_.value<Address>(*pointer + *layout_.frame_in_cframe);
}

// Reads the innermost frame's address, the areas of the last time and the address again, in one call, or in two where
// what leads to the frame is another than the last time.
PythonStacks::Tops PythonStacks::fetch(Thread& thread) {
  Tops tops;
  for (int i = 0; i < 2; ++i) {
    Address pointer = thread.cframe;
    Address where = thread.state + layout_.thread.frame;
    parts_.clear();
    if (layout_.frame_in_cframe) {
      if (thread.cframe == 0) break;
      parts_.push_back({where, &pointer, sizeof pointer});
      where = thread.cframe + *layout_.frame_in_cframe;
    }
    parts_.push_back({where, &tops.before, sizeof tops.before});
    for (Area& area : thread.areas) parts_.push_back({area.from, area.bytes.data(), area.bytes.size()});
    parts_.push_back({where, &tops.after, sizeof tops.after});
    if (!memory_.read(parts_)) break;
    if (pointer == thread.cframe) return tops;
    if (pointer == 0) return {};
    thread.cframe = pointer;
  }
  thread.areas.clear();
  tops.before = tops.after = innermost(thread).value_or(0);
  return tops;
}

const std::uint8_t* PythonStacks::frameBytes(const Thread& thread, Address frame,
                                             std::vector<std::uint8_t>& scratch) {
  for (const Area& area : thread.areas) {
    // Without a sum, which may wrap: an area has at least the size of a frame.
    if (frame >= area.from && frame - area.from <= area.bytes.size() - layout_.frame.size)
      return area.bytes.data() + (frame - area.from);
  }
  outside_ = true;
  scratch.resize(layout_.frame.size);
  return memory_.read(frame, scratch.data(), scratch.size()) ? scratch.data() : nullptr;
}

bool PythonStacks::walk(const Thread& thread, Address top) {
  outside_ = false;
  walked_.clear();
  places_.clear();
  functions_.clear();
  std::vector<std::uint8_t> scratch;
  Address frame = top;
  for (; frame != 0 && walked_.size() < kMostFrames;) {
    const std::uint8_t* bytes = frame % 8 == 0 ? frameBytes(thread, frame, scratch) : nullptr;
    if (bytes == nullptr) return false;
    walked_.push_back(frame);
    const bool of_c =
        layout_.first_c_owner && at<std::uint8_t>(bytes, layout_.frame.owner) >= *layout_.first_c_owner;
    if (!of_c) {
      const Address code = at<Address>(bytes, layout_.frame.code) & ~layout_.tag_bits;
      const std::int64_t byte =
          layout_.instruction_is_address
              ? static_cast<std::int64_t>(at<Address>(bytes, layout_.frame.instruction) -
                                          (code + layout_.code.instructions))
              : std::int64_t{at<std::int32_t>(bytes, layout_.frame.instruction)} * layout_.instruction_unit;
      if (byte < -64 || byte > (1 << 26)) return false;
      places_.push_back({code, byte});
      functions_.push_back(frame);
    }
    frame = at<Address>(bytes, layout_.frame.previous);
  }
  return frame == 0;
}

// Where the frames are now, for the next time; neighbours are read together.
void PythonStacks::placeAreas(Thread& thread) const {
  thread.areas.clear();
  std::vector<Address> frames = walked_;
  std::ranges::sort(frames);
  for (const Address frame : frames) {
    const Address end = frame + layout_.frame.size;
    if (!thread.areas.empty()) {
      Area& last = thread.areas.back();
      if (frame < last.from + last.bytes.size() + kJoined) {
        last.bytes.resize(static_cast<std::size_t>(std::max(end, last.from + last.bytes.size()) - last.from));
        continue;
      }
    }
    if (thread.areas.size() == kMostAreas) return;
    thread.areas.push_back({frame, std::vector<std::uint8_t>(layout_.frame.size)});
  }
}

// An int: its number of digits at 16, from 3.12 with other bits in the low three; its digits of 30 bits at 24.
std::optional<std::uint32_t> PythonStacks::argument(std::size_t frame, std::uint32_t index) const {
  if (frame >= functions_.size()) return std::nullopt;
  const Address at = functions_[functions_.size() - 1 - frame];
  const auto reference = memory_.value<Address>(at + layout_.frame.locals + 8 * Address{index});
  struct {
    std::uint64_t size;
    std::uint32_t digit;
  } number{};
  if (!reference || !memory_.read((*reference & ~layout_.tag_bits) + 16, &number, 12)) return std::nullopt;
  const bool shifted = layout_.minor >= 12;
  const std::uint64_t digits = shifted ? number.size >> 3 : number.size;
  if (digits > 1 || (shifted && (number.size & 2) != 0)) return std::nullopt;
  const bool zero = digits == 0 || (shifted && (number.size & 3) == 1);
  return zero ? 0 : number.digit;
}

PythonStacks::Read PythonStacks::read(pid_t tid, std::vector<std::uint32_t>& frames) {
  const auto found = threads_.find(tid);
  frames.clear();
  if (found == threads_.end()) return Read::none;
  Thread& thread = found->second;
  for (int i = 0; i < kTries; ++i) {
    const Tops tops = fetch(thread);
    if (tops.before == 0) return Read::none;
    const bool walked = walk(thread, tops.before);
    const bool same = tops.before == (outside_ ? innermost(thread) : tops.after);
    placeAreas(thread);
    if (!walked || !same) continue;
    frames.clear();
    if (!code_.resolve(places_, frames)) continue;
    std::ranges::reverse(frames);
    return frames.empty() ? Read::none : Read::done;
  }
  frames.clear();
  return Read::torn;
}

}  // namespace pitwall::record
