#include "analyzer/record/sample/host_probe.h"

#include <algorithm>

#include "db/cgroup.h"

namespace pitwall::record {

HostProbe::HostProbe(pid_t root, TimeNs now_ns)
    : throttle_file_(host::cgroupCpus(root) ? host::cgroupStatFile(root) : ""),
      load_(hostLoad()),
      since_ns_(now_ns) {
  throttled_.before_ns = host::throttledNs(throttle_file_).value_or(0);
  cpu_pressure_.before_ns = pressureNs("cpu").value_or(0);
  io_pressure_.before_ns = pressureNs("io").value_or(0);
  huge_faults_before_ = hugePageFaults();
}

void HostProbe::makeTracks(ProcessRef process, SampleLog& log) {
  cpu_ = log.series(process, "host cpu", "cores");
  steal_ = log.series(process, "host steal", "cores");
  others_ = log.series(process, "other processes cpu", "cores");
  runnable_ = log.series(process, "host runnable threads", "");
  if (huge_faults_before_) huge_faults_ = log.series(process, "host huge page faults", "1/s");
  if (!throttle_file_.empty()) throttled_.series = log.series(process, "throttled", "cores");
  if (pressureNs("cpu")) cpu_pressure_.series = log.series(process, "host cpu pressure", "share");
  if (pressureNs("io")) io_pressure_.series = log.series(process, "host io pressure", "share");
}

void HostProbe::Sum::add(std::optional<TimeNs> now_ns, TimeNs from_ns, double length_ns, SampleLog& log) {
  if (!series || !now_ns) return;
  log.add(*series, from_ns, static_cast<double>(*now_ns - before_ns) / length_ns);
  before_ns = *now_ns;
}

void HostProbe::sample(TimeNs now_ns, TimeNs own_cpu_ns, SampleLog& log) {
  const auto length = static_cast<double>(now_ns - since_ns_);
  // The kernel counts this in ticks of 10 ms: over less than a tenth of a second it is meaningless.
  if (!cpu_ || !load_ || length < 1e8) return;
  const auto load = hostLoad();
  if (!load) return;
  const auto busy = static_cast<double>(load->busy_ns - load_->busy_ns);
  log.add(*cpu_, since_ns_, busy / length);
  log.add(*steal_, since_ns_, static_cast<double>(load->steal_ns - load_->steal_ns) / length);
  // The program's time is exact, the machine's is in ticks: the excess of one interval goes into the next.
  others_left_ns_ += busy - static_cast<double>(own_cpu_ns - own_cpu_ns_);
  const double others = std::max(0.0, others_left_ns_);
  others_left_ns_ -= others;
  log.add(*others_, since_ns_, others / length);
  if (load->runnable) log.add(*runnable_, now_ns, std::max(0, *load->runnable - 1));  // without this thread
  throttled_.add(host::throttledNs(throttle_file_), since_ns_, length, log);
  cpu_pressure_.add(pressureNs("cpu"), since_ns_, length, log);
  io_pressure_.add(pressureNs("io"), since_ns_, length, log);
  if (const auto faults = huge_faults_ ? hugePageFaults() : std::nullopt) {
    log.add(*huge_faults_, since_ns_, static_cast<double>(*faults - *huge_faults_before_) / length * 1e9);
    huge_faults_before_ = faults;
  }
  load_ = load;
  own_cpu_ns_ = own_cpu_ns;
  since_ns_ = now_ns;
}

}  // namespace pitwall::record
