// A GPU that is described in a file: cuDNN chooses and builds engines for it without a GPU.
#pragma once

#include <fstream>
#include <sstream>
#include <utility>

#include "db/try.h"
#include "runtime/backend/cuda/cudnn_api.h"

namespace pitwall::test {

struct DescribedGpu {
  const cuda::CudnnApi& api;
  cuda::Descriptor device;

  // An H200. Errors: no cuDNN.
  static Result<DescribedGpu> open() {
    const cuda::CudnnApi* const api = PITWALL_TRY(cuda::cudnn());
    std::ifstream file(PITWALL_H200);
    std::stringstream text;
    text << file.rdbuf();
    cuda::Descriptor described = PITWALL_TRY(cuda::deviceProperties(*api, text.str()));
    return DescribedGpu{*api, std::move(described)};
  }
};

}  // namespace pitwall::test
