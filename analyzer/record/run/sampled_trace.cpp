#include "analyzer/record/run/sampled_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "db/meta.h"
#include "db/store.h"
#include "db/try.h"

namespace pitwall::record {

Status SampledTrace::open(const std::string& path, const std::string& producer, const ProcessInfo& program) {
  sink_ = PITWALL_TRY(createTrace(path));
  path_ = path;
  sink_->meta(meta::kProducer, producer);
  sink_->meta(meta::kTraceStartUnixNs, std::to_string(clock_.start_unix_ns));
  loss_file_.open(path, clock_, program);
  return {};
}

void SampledTrace::startSampler(pid_t root, const RecordOptions& options, SamplerOptions sampling) {
  sampling.hz = options.sample_hz;
  sampling.stacks = options.stacks;
  sampling.stack_hz = options.stack_hz;
  if (options.last_s) sampling.last_ns = static_cast<TimeNs>(*options.last_s * 1e9);
  sampler_ = std::make_unique<Sampler>(root, *sink_, clock_, std::move(sampling));
}

TimeNs SampledTrace::nextNs() const {
  return sampler_ ? std::min({write_due_ns_, sampler_->nextNs(), sampler_->nextStacksNs()}) : write_due_ns_;
}

Status SampledTrace::work(TimeNs now_ns) {
  if (sampler_ && now_ns >= sampler_->nextNs()) sampler_->sample();
  if (sampler_ && now_ns >= sampler_->nextStacksNs()) sampler_->sampleStacks();
  if (now_ns < write_due_ns_) return {};
  write_due_ns_ = now_ns + kSecondNs;
  if (sampler_) sampler_->write();
  if (const auto status = sink_->flush(); !status.has_value()) return lost(status.error());
  if (sampler_) samples_flushed_ = sampler_->samplesWritten();
  loss_file_.reached(now_ns);
  return {};
}

// Records rows that the trace can no longer store.
Failure SampledTrace::lost(const Error& why) {
  if (!std::exchange(lost_, true)) {
    loss_file_.lost((sampler_ ? sampler_->samplesWritten() : 0) - samples_flushed_, why.message);
    loss_file_.lostUntil(clock_.now());
  }
  return fail(why);
}

void SampledTrace::finishSampling(Recorded& result) {
  result.seconds = static_cast<double>(clock_.now()) * 1e-9;
  if (!sampler_) return;
  sampler_->finish();
  result.processes = sampler_->processesSeen();
  result.most_threads = sampler_->mostThreads();
  result.sample_hz = sampler_->achievedHz();
  for (std::string& note : sampler_->notes()) result.notes.push_back(std::move(note));
}

Status SampledTrace::close(const Recorded& result) {
  sink_->meta(meta::kTraceEndNs, std::to_string(static_cast<TimeNs>(result.seconds * 1e9)));
  sink_->meta(meta::kRecorderSelfNs, std::to_string(readClock(CLOCK_PROCESS_CPUTIME_ID)));
  sink_->meta(meta::kRecorderNotes, fmt::format("{}", fmt::join(result.notes, "\n")));
  Status status = sink_->finish();
  sink_.reset();
  if (!status.has_value()) status = lost(status.error());
  sampler_.reset();
  if (!lost_) loss_file_.remove();
  return status;
}

void SampledTrace::abandon() {
  sampler_.reset();
  sink_.reset();
  loss_file_.remove();
  std::error_code none;
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path_ + suffix, none);
}

std::string endedEarly(TimeNs now_ns, const Error& why) {
  return fmt::format("recording ended after {:.1f} s, the program continues: {}",
                     static_cast<double>(now_ns) * 1e-9, why.message);
}

}  // namespace pitwall::record
