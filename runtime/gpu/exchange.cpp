#include "runtime/gpu/exchange.h"

#include <optional>
#include <utility>

#include "db/try.h"
#include "runtime/engine/all_done.h"

namespace pitwall {

Result<std::unique_ptr<GpuExchange>> GpuExchange::open(GpuPlatform& platform, GpuWork& work,
                                                       int most_together) {
  std::string version = PITWALL_TRY(platform.collectivesVersion());
  return std::unique_ptr<GpuExchange>(new GpuExchange(platform, work, most_together, std::move(version)));
}

GpuExchange::~GpuExchange() {
  const ScopedLock lock(mutex_);
  peers_.clear();
  for (const auto& [device, stream] : streams_) work_.driver().destroyStream(stream);
}

Result<GpuStream> GpuExchange::streamOf(int device) {
  const auto found = streams_.find(device);
  if (found != streams_.end()) return found->second;
  return streams_[device] = PITWALL_TRY(work_.openStream(gpu(device)));
}

Result<const GpuExchange::Peers*> GpuExchange::peers(const std::vector<int>& devices) {
  const ScopedLock lock(mutex_);
  const auto found = peers_.find(devices);
  if (found != peers_.end()) return static_cast<const Peers*>(found->second.get());
  auto made = std::make_unique<Peers>();
  made->devices = devices;
  for (const int device : devices) made->streams.push_back(PITWALL_TRY(streamOf(device)));
  made->collectives = PITWALL_TRY(platform_.openCollectives(devices));
  return static_cast<const Peers*>((peers_[devices] = std::move(made)).get());
}

void GpuExchange::run(const Peers& peers, GpuCollective collective, Completion completion) {
  {
    const ScopedLock lock(mutex_);
    waiting_.push_back({&peers, std::move(collective), std::move(completion)});
    if (std::exchange(busy_, true)) return;
  }
  for (;;) {
    std::vector<Request> requests = takeTogether();
    if (requests.empty()) return;
    put(std::move(requests));
  }
}

std::vector<GpuExchange::Request> GpuExchange::takeTogether() {
  const ScopedLock lock(mutex_);
  std::vector<Request> taken;
  while (!waiting_.empty() && taken.size() < static_cast<std::size_t>(most_together_) &&
         (taken.empty() || waiting_.front().peers == taken.front().peers)) {
    taken.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  if (taken.empty()) busy_ = false;
  return taken;
}

void GpuExchange::put(std::vector<Request> requests) {
  const Peers& peers = *requests.front().peers;
  std::vector<GpuCollective> collectives;
  std::vector<std::shared_ptr<AllDone>> ends;
  for (Request& request : requests) {
    collectives.push_back(std::move(request.collective));
    ends.push_back(std::make_shared<AllDone>(peers.devices.size(), std::move(request.completion)));
  }
  std::optional<Error> problem;
  if (Status put = peers.collectives->put(collectives, peers.streams); !put.has_value())
    problem = put.error();
  // Also after an error: what is on the streams uses the arrays.
  const auto end = [ends, problem](const Status& status) {
    const bool good = status.has_value() && !problem.has_value();
    for (const auto& one : ends)
      one->one(good ? Status() : Status(fail(problem.has_value() ? *problem : status.error())));
  };
  for (std::size_t i = 0; i < peers.devices.size(); ++i) {
    const Status marked = work_.afterAll(gpu(peers.devices[i]), peers.streams[i], end);
    if (!marked.has_value()) end(marked);
  }
}

}  // namespace pitwall
