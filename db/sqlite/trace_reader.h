// The Trace that Trace::open() returns.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "db/reader.h"
#include "db/sqlite/temp_copy.h"
#include "db/sqlite/trace_data.h"

namespace pitwall::store {

class TraceReader final : public Trace {
 public:
  // `copy` holds the file that `data` reads if it is not the one at `path`; else it is empty.
  TraceReader(std::string path, TempCopy copy, std::unique_ptr<TraceData> data);

  const std::string& path() const override { return path_; }
  bool isComplete() const override;
  std::optional<std::string> meta(const std::string& key) const override;
  const std::string& string(StringId id) const override;
  std::span<const OperatorFacts> operatorFacts() const override { return data_->dimensions().facts; }
  std::span<const KernelFacts> kernelFacts() const override { return data_->dimensions().kernels; }
  std::span<const FrameInfo> frames() const override { return data_->dimensions().frames; }
  std::span<const StackInfo> stacks() const override { return data_->dimensions().stacks; }
  std::span<const ProcessInfo> processes() const override { return data_->dimensions().processes; }
  std::span<const ThreadInfo> threads() const override { return data_->dimensions().threads; }
  std::span<const DeviceInfo> devices() const override { return data_->dimensions().devices; }
  std::span<const TrackInfo> tracks() const override { return data_->dimensions().tracks; }
  std::span<const IterationMark> iterations() const override { return data_->dimensions().iterations; }
  std::span<const SettingInEffect> settings() const override { return data_->dimensions().settings; }
  std::span<const TunableInEffect> tunables() const override { return data_->dimensions().tunables; }
  std::span<const Loss> losses() const override { return data_->dimensions().losses; }

  Result<std::vector<Event>> events(TrackId track) override;
  Status eventColumns(const EventSelection& selection, const EventVisitor& visitor) override;
  Result<std::vector<EventBin>> eventBins(const BinRequest& request) override;
  Result<std::vector<Dependency>> dependencies() override;
  Result<std::vector<CounterSample>> counters(TrackId track) override;
  using Trace::visitDependencies;
  Status visitDependencies(const DependencySelection& selection, const DependencyVisitor& visitor) override;
  Status visitCounters(TrackId track, const CounterVisitor& visitor) override;
  Result<SqlRows> query(const std::string& sql, std::span<const SqlParameter> parameters) override;
  Status visit(const std::string& sql, std::span<const SqlParameter> parameters,
               SqlVisitor& visitor) override;
  Status insertTemp(const std::string& table, std::span<const std::vector<SqlValue>> rows) override;
  std::shared_ptr<void> hold() override;

 private:
  using Scratch = std::array<std::vector<std::int64_t>, kEventColumns>;
  Status appendEvents(std::size_t chunk, Scratch& scratch, std::vector<Event>& events);
  Result<bool> visitChunk(std::size_t chunk, const EventSelection& selection, const EventVisitor& visitor,
                          Scratch& scratch);

  const std::string path_;
  TempCopy copy_;  // outlives the connection
  std::unique_ptr<TraceData> data_;
};

}  // namespace pitwall::store
