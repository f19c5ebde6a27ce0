#include "runtime/array/device_bytes.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "db/try.h"
#include "runtime/gpu/work.h"
#include "runtime/short_float.h"

namespace pitwall {
namespace {

Status transfer(Session& session, Device device, void* to, const void* from, Bytes bytes) {
  if (bytes == 0) return {};
  if (device.kind != DeviceKind::gpu) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
    return {};
  }
  GpuWork& work = *PITWALL_TRY(session.gpuWork(device));
  GpuThread& thread = *PITWALL_TRY(work.here(device));
  PITWALL_TRY(work.driver().copy(to, from, bytes, thread.stream));
  return work.driver().synchronize(thread.stream);
}

}  // namespace

Status writeBytes(Session& session, Device device, void* to, const void* from, Bytes bytes) {
  return transfer(session, device, to, from, bytes);
}

Status readBytes(Session& session, Device device, void* to, const void* from, Bytes bytes) {
  return transfer(session, device, to, from, bytes);
}

Status writeValues(Session& session, Device device, DType type, void* to, std::span<const float> values) {
  const Bytes bytes = static_cast<Bytes>(values.size()) * sizeOf(type);
  if (type == DType::float32) return writeBytes(session, device, to, values.data(), bytes);
  return withElementType(type, [&](auto element) {
    using E = decltype(element);
    std::vector<E> rounded(values.size());
    std::ranges::transform(values, rounded.begin(), [](float value) { return fromFloat<E>(value); });
    return writeBytes(session, device, to, rounded.data(), bytes);
  });
}

Result<std::vector<float>> readValues(Session& session, Device device, DType type, const void* from,
                                      std::int64_t count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  const Bytes bytes = count * sizeOf(type);
  if (type == DType::float32) {
    PITWALL_TRY(readBytes(session, device, values.data(), from, bytes));
    return values;
  }
  return withElementType(type, [&](auto element) -> Result<std::vector<float>> {
    std::vector<decltype(element)> read(values.size());
    PITWALL_TRY(readBytes(session, device, read.data(), from, bytes));
    std::ranges::transform(read, values.begin(), [](auto value) { return toFloat(value); });
    return values;
  });
}

Status copyOnStream(Session& session, Device device, void* to, const void* from, Bytes bytes) {
  GpuWork& work = *PITWALL_TRY(session.gpuWork(device));
  GpuThread& thread = *PITWALL_TRY(work.here(device));
  return work.driver().copy(to, from, bytes, thread.stream);
}

Status fillOnStream(Session& session, Device device, void* to, std::uint32_t word, Bytes bytes) {
  GpuWork& work = *PITWALL_TRY(session.gpuWork(device));
  GpuThread& thread = *PITWALL_TRY(work.here(device));
  PITWALL_TRY(work.driver().fill(to, word, bytes / 4, thread.stream));
  const Bytes rest = bytes % 4;
  if (rest == 0) return {};
  return work.driver().copy(static_cast<char*>(to) + bytes - rest, to, rest, thread.stream);
}

Status waitForStream(Session& session, Device device) {
  if (device.kind != DeviceKind::gpu) return {};
  GpuWork& work = *PITWALL_TRY(session.gpuWork(device));
  GpuThread& thread = *PITWALL_TRY(work.here(device));
  return work.driver().synchronize(thread.stream);
}

Status freeAfterWork(Session& session, Device device, Block block) {
  if (block.data() == nullptr) return {};
  GpuWork& work = *PITWALL_TRY(session.gpuWork(device));
  GpuThread& thread = *PITWALL_TRY(work.here(device));
  thread.kept.push_back(std::move(block));
  return {};
}

}  // namespace pitwall
