// Call stacks of imported samples: each stack as its frames, and for each thread a counter of the unit kStackUnit.
// The numbers of different frames and stacks are bounded for inputs of any size.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "db/import/build/builder.h"

namespace pitwall::import {

class SampledStacks {
 public:
  explicit SampledStacks(Builder& builder) : builder_(builder) {}

  // The frame that the file writes as `text`; `make()` gives its facts (a FrameInfo) where it is new.
  template <class Make>
  FrameId frame(std::string_view text, const Make& make) {
    key_.assign(text);
    const auto found = frames_.find(key_);
    return found != frames_.end() ? found->second : newFrame(make());
  }
  // Frame and caller as a stack; the caller where there are too many.
  StackId stack(StackId caller, FrameId frame);
  // Of frames, outermost first; the innermost of a deeper stack than the recorder's limit are left out.
  StackId stack(const std::vector<FrameId>& outermost_first);

  // The thread does `stack` during this time. What a thread did before is cut off where times overlap: its samples come
  // in order of time.
  void add(TrackRef stacks_of_thread, std::int64_t from_ns, std::int64_t to_ns, StackId stack);
  // After the last sample.
  void end();

 private:
  FrameId newFrame(FrameInfo info);

  Builder& builder_;
  std::string key_;
  std::unordered_map<std::string, FrameId> frames_;
  std::size_t frame_bytes_ = 0;                          // of their texts
  std::unordered_map<std::uint64_t, StackId> stacks_;    // by caller and frame
  std::unordered_map<std::size_t, std::int64_t> until_;  // by track: the end of its last sample
};

// 'python' where the source file is one of Python's, else 'native'.
const char* languageOf(std::string_view file);

}  // namespace pitwall::import
