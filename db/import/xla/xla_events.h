// The events of the profilers of JAX and TensorFlow, from either file, into the trace.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "db/import/build/builder.h"
#include "db/import/build/launches.h"
#include "db/import/input/recent_texts.h"
#include "db/import/xla/xla_names.h"

namespace pitwall::import {

// Empty where the file does not give it.
struct XlaEvent {
  std::string_view name;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::uint64_t correlation = 0;
  std::string_view kernel_details;
  std::string_view copy_details;  // of a copy or a memset
  std::string_view hlo_op;
  std::string_view hlo_module;
  std::string_view framework_op;  // "tf_op"
  std::string_view step;          // of a range of the program: the number of its step
};

class XlaEvents {
 public:
  explicit XlaEvents(Builder& builder) : builder_(builder), launches_(builder) {}

  // A line of a device.
  struct Line {
    DeviceRef device;
    XlaLine kind = XlaLine::derived;
    TrackRef track;
  };
  Line line(const XlaDevice& device, std::string_view name);
  void onDevice(const Line& line, const XlaEvent& event);
  // On a thread of the host. `calls`: what is known to be a library's calls.
  void onHost(TrackRef thread, const XlaEvent& event, bool calls = false);
  void end();

 private:
  struct Step {
    std::int64_t number = 0;
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
  };
  void rememberStep(std::vector<Step>& steps, std::string_view number, const XlaEvent& event);
  StringId argsOf(const XlaEvent& event);
  OperatorId operatorOf(const XlaEvent& event);
  KernelId kernelOf(std::string_view details);
  void work(const Line& line, const XlaEvent& event, Event out);

  Builder& builder_;
  Launches launches_;
  RecentTexts<StringId> args_;
  RecentTexts<OperatorId> operators_;
  RecentTexts<KernelId> kernels_;
  std::vector<Step> host_steps_;
  std::vector<Step> device_steps_;
};

}  // namespace pitwall::import
