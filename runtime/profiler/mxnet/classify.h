// The kind of a recorded event in MXNet's profiler.
#pragma once

#include <cstdint>
#include <string>

#include "db/event.h"

namespace pitwall::mxnet {

enum class Object : std::uint8_t { none, op, api, task, frame, event, marker };

struct Class {
  Object object = Object::none;  // none: not for MXNet's profiler
  std::string category;
  char scope = 'p';  // of a marker
};

// `args` is the event's JSON object.
Class classify(EventKind kind, const std::string& name, const std::string& args);

// Members for the arguments of an object's site; read by classify().
std::string objectMembers(const std::string& object, const std::string& category, char scope);

// For a counter track "memory live: TAG": the device's total is "Memory: cpu/0", a pool's "Pool: NAME".
bool isMemoryTrack(const std::string& track_name);

}  // namespace pitwall::mxnet
