#include "analyzer/analysis/operator_nesting.h"

#include <algorithm>

namespace pitwall::analysis {

void OperatorNesting::add(const OperatorInterval& op, bool counts) {
  Thread& thread = threads_[host_.first(op.track)];
  auto parent = static_cast<std::uint32_t>(thread.size()) - 1;  // kNone of an empty one
  while (parent != kNone && thread[parent].end_ns <= op.start_ns) parent = thread[parent].parent;
  const std::uint32_t facts = op.op.value < times_.size() ? op.op.value : 0;
  if (counts) {
    times_[facts].self_ns += op.end_ns - op.start_ns;
    if (parent != kNone && thread[parent].counts)
      times_[thread[parent].op].self_ns -= std::min(op.end_ns, thread[parent].end_ns) - op.start_ns;
  }
  thread.push_back({op.start_ns, op.end_ns, facts, parent, counts});
  if (op.correlation == 0) return;
  if (recent_.size() >= kMostWaiting / 2) {
    older_.swap(recent_);
    recent_.clear();
  }
  recent_.insert_or_assign(op.correlation, Execution{facts, counts});
}

const OperatorNesting::Execution* OperatorNesting::executionOf(CorrelationId op) const {
  if (op == 0) return nullptr;
  for (const auto* executions : {&recent_, &older_}) {
    if (const auto found = executions->find(op); found != executions->end()) return &found->second;
  }
  return nullptr;
}

std::uint32_t OperatorNesting::innermost(const Thread& thread, TimeNs at) {
  const auto after = std::upper_bound(thread.begin(), thread.end(), at,
                                      [](TimeNs time, const Node& node) { return time < node.start_ns; });
  auto node = static_cast<std::uint32_t>(after - thread.begin()) - 1;
  while (node != kNone && thread[node].end_ns <= at) node = thread[node].parent;
  return node;
}

// All but those that still run then: the last one and those that enclose it.
void OperatorNesting::forget(Thread& thread, TimeNs before) {
  Thread open;
  auto node = static_cast<std::uint32_t>(thread.size()) - 1;
  for (; node != kNone; node = thread[node].parent) {
    if (thread[node].end_ns > before) open.push_back(thread[node]);
  }
  std::reverse(open.begin(), open.end());
  for (std::uint32_t i = 0; i < open.size(); ++i) open[i].parent = i - 1;  // of the first: kNone
  thread.swap(open);
}

void OperatorNesting::takeLaunches(std::span<const HostCall> calls) {
  for (const HostCall& call : calls) {
    if (call.correlation == 0) continue;
    const auto thread = threads_.find(host_.first(call.track.value));
    if (thread == threads_.end()) continue;
    const auto node = innermost(thread->second, call.start_ns);
    if (node == kNone) continue;
    if (waiting_.size() >= kMostWaiting) waiting_.clear();
    waiting_.insert_or_assign(call.correlation,
                              Launch{thread->second[node].op, thread->second[node].counts, false});
  }
}

void OperatorNesting::addDeviceWork(std::span<const HostCall> calls, std::span<const DeviceWork> work,
                                    const LaunchIndex& launches, TimeNs to_ns,
                                    const std::function<bool(TimeNs)>& counts) {
  takeLaunches(calls);
  for (const DeviceWork& piece : work) {
    if (piece.track.value < others_.size() && others_[piece.track.value]) continue;
    const HostCall* call = launches.find(piece.correlation);
    if (const auto* op = call == nullptr ? nullptr : executionOf(launches.operatorOf(*call)); op != nullptr) {
      if (op->counts) times_[op->op].device_ns += piece.end_ns - piece.start_ns;
      continue;
    }
    const auto launch = call != nullptr ? waiting_.find(call->correlation) : waiting_.end();
    if (launch == waiting_.end()) {
      if (counts(piece.start_ns)) outside_ns_ += piece.end_ns - piece.start_ns;
      continue;
    }
    if (launch->second.counts) times_[launch->second.op].device_ns += piece.end_ns - piece.start_ns;
    if (!launch->second.found) found_now_.push_back(launch->first);
    launch->second.found = true;
  }
  // A launch's further work follows soon: one more time chunk.
  for (const CorrelationId id : found_before_) waiting_.erase(id);
  found_before_.swap(found_now_);
  found_now_.clear();
  for (auto& [track, thread] : threads_) forget(thread, to_ns);
}

}  // namespace pitwall::analysis
