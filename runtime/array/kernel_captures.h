// Kernels that a GPU runs one after the other again and again, as one graph of the device (MXNET_ENABLE_CUDA_GRAPHS).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/backend.h"
#include "runtime/session.h"

namespace pitwall {

class KernelCaptures {
 public:
  struct Run {
    KernelPtr kernel;
    std::vector<const void*> from;
    std::vector<void*> to;
    void* workspace = nullptr;  // nullptr: the stream's
  };

  // Whether settings ask for graphs on this device.
  static bool areWanted(const Session& session, Device device);
  // A graph repeats what its kernels have been given: none of them may report a problem of one run.
  static bool canCapture(const Kernel& kernel) { return !kernel.reportsProblems(); }

  // `layer` is the first, for the log. The session outlives it.
  KernelCaptures(Session& session, Device device, std::string layer);
  ~KernelCaptures();
  KernelCaptures(const KernelCaptures&) = delete;
  KernelCaptures& operator=(const KernelCaptures&) = delete;

  // Puts the kernels' work on the calling thread's stream. With the addresses of an earlier run that is repeated. Errors: those of
  // runKernelOn().
  Status run(const std::vector<Run>& runs);

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace pitwall
