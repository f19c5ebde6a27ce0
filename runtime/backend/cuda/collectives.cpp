#include "runtime/backend/cuda/collectives.h"

#include <fmt/format.h>
#include <nccl.h>

#include <string_view>
#include <vector>

#include "db/try.h"
#include "runtime/backend/cuda/open_library.h"

namespace pitwall::cuda {
namespace {

constexpr char kLibrary[] = "libnccl.so.2";

#define PITWALL_NCCL_FUNCTIONS(X) \
  X(ncclGetVersion)               \
  X(ncclGetErrorString)           \
  X(ncclGetLastError)             \
  X(ncclCommInitAll)              \
  X(ncclCommDestroy)              \
  X(ncclGroupStart)               \
  X(ncclGroupEnd)                 \
  X(ncclReduce)                   \
  X(ncclBroadcast)

struct NcclApi {
#define PITWALL_DECLARE(name) decltype(&::name) name = nullptr;
  PITWALL_NCCL_FUNCTIONS(PITWALL_DECLARE)
#undef PITWALL_DECLARE

  // With what NCCL says of the last error on this thread.
  Status statusOf(ncclResult_t result, std::string_view what) const {
    if (result == ncclSuccess) return {};
    const char* const last = ncclGetLastError(nullptr);
    const std::string details = last == nullptr || *last == '\0' ? "" : fmt::format(" ({})", last);
    return fail(ErrorCode::internal, fmt::format("NCCL: {} failed: {}{}; NCCL_DEBUG=INFO says more", what,
                                                 ncclGetErrorString(result), details));
  }
};

Result<NcclApi> loadNccl() {
  const auto opened = openLibrary(kLibrary);
  if (!opened.has_value())
    return fail(opened.error().code, opened.error().message + "; install NCCL 2 (libnccl2)");
  NcclApi api;
#define PITWALL_LOAD(name) \
  api.name = reinterpret_cast<decltype(api.name)>(PITWALL_TRY(functionOf(*opened, kLibrary, #name)));
  PITWALL_NCCL_FUNCTIONS(PITWALL_LOAD)
#undef PITWALL_LOAD
  return api;
}

// Opened once.
Result<const NcclApi*> nccl() {
  static const auto* const kLoaded = new Result<NcclApi>(loadNccl());
  if (!kLoaded->has_value()) return fail(kLoaded->error());
  return &**kLoaded;
}

class NcclCollectives final : public GpuCollectives {
 public:
  NcclCollectives(const NcclApi& api, std::vector<ncclComm_t> communicators)
      : api_(api), communicators_(std::move(communicators)) {}
  ~NcclCollectives() override {
    for (const ncclComm_t communicator : communicators_) (void)api_.ncclCommDestroy(communicator);
  }
  NcclCollectives(const NcclCollectives&) = delete;
  NcclCollectives& operator=(const NcclCollectives&) = delete;

  Status put(std::span<const GpuCollective> collectives, std::span<const GpuStream> streams) override {
    PITWALL_TRY(api_.statusOf(api_.ncclGroupStart(), "ncclGroupStart"));
    Status first;
    for (const GpuCollective& collective : collectives) {
      for (std::size_t place = 0; place < communicators_.size(); ++place) {
        Status put = putOn(place, collective, streams[place]);
        if (first.has_value() && !put.has_value()) first = std::move(put);
      }
    }
    // A group that was begun must be ended.
    Status ended = api_.statusOf(api_.ncclGroupEnd(), "ncclGroupEnd");
    return first.has_value() ? std::move(ended) : std::move(first);
  }

 private:
  Status putOn(std::size_t place, const GpuCollective& collective, GpuStream stream) const {
    const auto count = static_cast<std::size_t>(collective.floats);
    auto* const to = static_cast<cudaStream_t>(stream);
    const void* const from = collective.from[place];
    if (collective.kind == GpuCollective::Kind::sum)
      return api_.statusOf(api_.ncclReduce(from, collective.to[place], count, ncclFloat32, ncclSum,
                                           collective.root, communicators_[place], to),
                           "ncclReduce");
    return api_.statusOf(api_.ncclBroadcast(from, collective.to[place], count, ncclFloat32, collective.root,
                                            communicators_[place], to),
                         "ncclBroadcast");
  }

  const NcclApi& api_;
  const std::vector<ncclComm_t> communicators_;  // of each GPU
};

}  // namespace

Result<std::string> collectivesVersion() {
  const NcclApi* const api = PITWALL_TRY(nccl());
  int version = 0;
  PITWALL_TRY(api->statusOf(api->ncclGetVersion(&version), "ncclGetVersion"));
  return fmt::format("NCCL {}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

Result<std::unique_ptr<GpuCollectives>> openCollectives(std::span<const int> devices) {
  const NcclApi* const api = PITWALL_TRY(nccl());
  std::vector<ncclComm_t> communicators(devices.size());
  PITWALL_TRY(api->statusOf(
      api->ncclCommInitAll(communicators.data(), static_cast<int>(devices.size()), devices.data()),
      fmt::format("ncclCommInitAll of {} GPUs", devices.size())));
  return std::unique_ptr<GpuCollectives>(std::make_unique<NcclCollectives>(*api, std::move(communicators)));
}

}  // namespace pitwall::cuda
