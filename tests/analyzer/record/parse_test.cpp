// Parsing of /proc, /sys and the environment, from synthetic files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "analyzer/record/launch/program.h"
#include "analyzer/record/sample/host_load.h"
#include "analyzer/record/sample/own_cpu.h"
#include "analyzer/record/sample/proc_files.h"
#include "analyzer/record/sample/process_facts.h"
#include "analyzer/record/sample/thread_state.h"
#include "db/meta.h"
#include "db/proc_files.h"
#include "tests/support/memory_sink.h"
#include "tests/support/temp_folder.h"

namespace pitwall::record::parse_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::UnorderedElementsAre;

void write(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << text;
}

TEST(ProcFiles, StatOfANameWithBlanksAndBrackets) {
  const auto stat = parseStat(
      "42 (a ) (b) R 7 42 7 34816 42 4194304 101 5 3 6 11 12 0 0 20 0 9 0 1234 999424 250 "
      "18446744073709551615 "
      "94000 95000 140000 0 0 0 0 0 0 0 0 0 17 5 0 0 0 0 0\n");
  ASSERT_TRUE(stat.has_value());
  EXPECT_EQ(stat->name, "a ) (b");
  EXPECT_EQ(stat->state, 'R');
  EXPECT_EQ(stat->parent, 7);
  EXPECT_EQ(stat->minor_faults, 101);
  EXPECT_EQ(stat->kernel_ticks, 12);
  EXPECT_EQ(stat->major_faults, 3);
  EXPECT_EQ(stat->threads, 9);
  EXPECT_EQ(stat->start_ticks, 1234);
  EXPECT_EQ(stat->resident_pages, 250);
  EXPECT_EQ(stat->cpu, 5);
  EXPECT_EQ(stat->image, (94000u * 31 + 140000u) * 31 * 31) << "without the environment, as before Linux 3.5";
  for (const char* bad : {"", "42", "42 (x", "42 (x)", "42 (x) R", "42 (x) R 1 2 3", ") ("}) {
    EXPECT_FALSE(parseStat(bad).has_value()) << bad;
  }
}

// Without random addresses, by these alone.
TEST(ProcFiles, ProgramsDifferByTheAddressesOfTheirEnvironments) {
  const std::string begin =
      "42 (a) R 7 42 7 34816 42 4194304 101 5 3 6 11 12 0 0 20 0 9 0 1234 999424 250 18446744073709551615 "
      "94000 95000 140000 0 0 0 0 0 0 0 0 0 17 5 0 0 0 0 0 ";
  const auto one = parseStat(begin + "96000 97000 98000 140100 140200 140200 140300 0\n");
  const auto again = parseStat(begin + "96000 97000 98000 140100 140200 140200 140300 0\n");
  const auto longer = parseStat(begin + "96000 97000 98000 140100 140200 140200 140301 0\n");
  ASSERT_TRUE(one && again && longer);
  EXPECT_EQ(one->cpu, 5);
  EXPECT_EQ(one->image, again->image);
  EXPECT_NE(one->image, longer->image);
}

TEST(ProcFiles, OwnStatIsUnderstood) {  // checked with the running kernel
  const auto stat = parseStat(host::readFile("/proc/self/stat").value());
  ASSERT_TRUE(stat.has_value());
  EXPECT_EQ(stat->parent, getppid());
  EXPECT_GE(stat->threads, 1);
  EXPECT_GT(stat->resident_pages, 0);
}

TEST(ProcFiles, SchedStatAndLists) {
  EXPECT_EQ(parseSchedStat("123 456 7\n")->wait_ns, 456);
  EXPECT_FALSE(parseSchedStat("123 456").has_value());
  EXPECT_THAT(splitNul(std::string("a\0\0b c\0", 7)), ElementsAre("a", "", "b c"));
  EXPECT_EQ(cpuListText({0, 1, 2, 3, 8, 10, 11}), "0-3,8,10-11");
  EXPECT_THAT(numaPages("7f00 default file=/x N0=12 N1=3\n7f01 bind:1 anon=2 N1=2 kernelpagesize_kB=4\n"),
              ElementsAre(12, 5));
  EXPECT_TRUE(numaPages("N0 N9999999=1 N=3").empty());
}

TEST(ProcFiles, OpenMpRuntimesOfTheirFiles) {
  EXPECT_EQ(openMpRuntimesOf("7f-80 r-xp 0 08:01 1 /usr/lib/libiomp5.so\n"
                             "7f-80 r-xp 0 08:01 1 /site/torch/lib/libgomp-a34b3233.so.1\n"
                             "7f-80 r-xp 0 08:01 1 /usr/lib/libgomp.so.1\n"),
            "libgomp+libiomp5");
  EXPECT_EQ(openMpRuntimesOf("7f-80 r-xp 0 08:01 1 /usr/lib/llvm-14/lib/libomp-14.so.5\n"), "libomp");
  EXPECT_EQ(openMpRuntimesOf("7f-80 r-xp 0 08:01 1 /usr/lib/libompl.so.1\n7f 00:00 0 [heap]\n"), "");
}

TEST(HostLoad, OfAllCpusTogether) {
  const test::TempFolder root;
  const std::string at = root.path().string();
  write(at + "/proc/stat", "cpu  10 1 2 500 5 1 1 4 0 0\ncpu0 1 1\n");
  const TimeNs tick_ns = 1'000'000'000 / sysconf(_SC_CLK_TCK);
  EXPECT_EQ(hostLoad(at)->busy_ns, 15 * tick_ns);
  EXPECT_EQ(hostLoad(at)->steal_ns, 4 * tick_ns);
  EXPECT_FALSE(hostLoad(at)->runnable.has_value());
  EXPECT_FALSE(hostLoad(at + "/none").has_value());
  write(at + "/proc/stat", "cpu  10 1 2 500 5 1 1 4 0 0\nctxt 9\nprocs_running 3\nprocs_blocked 1\n");
  EXPECT_EQ(hostLoad(at)->runnable, 3);
  EXPECT_FALSE(pressureNs("cpu", at).has_value());
  write(at + "/proc/pressure/cpu", "some avg10=1.00 avg60=0.50 avg300=0.10 total=25\nfull avg10=0 total=9\n");
  EXPECT_EQ(pressureNs("cpu", at), 25000);
  EXPECT_FALSE(hugePageFaults(at).has_value());
  write(at + "/proc/vmstat", "nr_free_pages 7\nthp_fault_alloc 42\nthp_fault_fallback 3\n");
  EXPECT_EQ(hugePageFaults(at), 42);
}

TEST(ThreadState, OfTheCallThatAThreadWaitsIn) {
  const auto call = [](int number, const char* arguments) {
    return std::to_string(number) + " " + arguments + " 0x7ffd 0x7f00\n";
  };
  const char* none = "0x3 0x7f 0x10 0x0 0x0 0x0";
  EXPECT_EQ(threadState('R', ""), ThreadState::running);
  EXPECT_EQ(threadState('S', "running\n"), ThreadState::running) << "it woke up meanwhile";
  EXPECT_EQ(threadState('S', ""), ThreadState::asleep) << "not to be read";
  EXPECT_EQ(threadState('D', ""), ThreadState::uninterruptible);
  EXPECT_EQ(threadState('D', "-1 0x7ffd 0x7f00\n"), ThreadState::uninterruptible) << "in a page fault";
  EXPECT_EQ(threadState('T', "running"), ThreadState::stopped);
  // The calls of glibc 2.36 for waiting for a mutex, a condition variable with a time (the interpreter lock
  // of Python 3.11), and one without.
  EXPECT_EQ(threadState('S', call(SYS_futex, "0x5581 0x80 0x2 0x0 0x0 0x0")), ThreadState::mutex);
  EXPECT_EQ(threadState('S', call(SYS_futex, "0x5581 0x80 0xffffffff 0x0 0x0 0x0")), ThreadState::mutex);
  EXPECT_EQ(threadState('S', call(SYS_futex, "0x5581 0x89 0x0 0x7ffd 0x0 0xffffffff")),
            ThreadState::timedWait);
  EXPECT_EQ(threadState('S', call(SYS_futex, "0x5581 0x189 0x0 0x0 0x0 0xffffffff")), ThreadState::wait);
  EXPECT_EQ(threadState('S', call(SYS_futex, "0x5581 0x189 0x2 0x0 0x0 0xffffffff")), ThreadState::wait);
  EXPECT_EQ(threadState('S', call(SYS_clock_nanosleep, none)), ThreadState::sleep);
  EXPECT_EQ(threadState('S', call(SYS_ppoll, none)), ThreadState::poll);
  EXPECT_EQ(threadState('S', call(SYS_read, none)), ThreadState::input);
  EXPECT_EQ(threadState('D', call(SYS_read, none)), ThreadState::storageRead);
  EXPECT_EQ(threadState('S', call(SYS_write, none)), ThreadState::output);
  EXPECT_EQ(threadState('D', call(SYS_pwrite64, none)), ThreadState::storageWrite);
  EXPECT_EQ(threadState('D', call(SYS_fsync, none)), ThreadState::sync);
  EXPECT_EQ(threadState('D', call(SYS_fdatasync, none)), ThreadState::sync);
  EXPECT_EQ(threadState('S', call(SYS_wait4, none)), ThreadState::child);
  EXPECT_EQ(threadState('D', call(SYS_openat, none)), ThreadState::uninterruptible);
  EXPECT_EQ(threadState('S', call(SYS_rt_sigtimedwait, none)), ThreadState::asleep);
}

TEST(LockAddresses, AThreadsOwnSemaphoreIsNoMutex) {
  const auto wait = [](const char* address) {
    return std::to_string(SYS_futex) + " " + address + " 0x80 0x2 0x0 0x0 0x0 0x7ffd 0x7f00\n";
  };
  LockAddresses locks;
  EXPECT_EQ(locks.stateOf(11, 'S', wait("0x5581")), ThreadState::wait);
  EXPECT_EQ(locks.stateOf(12, 'S', wait("0x5582")), ThreadState::wait) << "at another address";
  EXPECT_EQ(locks.stateOf(11, 'S', wait("0x5581")), ThreadState::wait) << "the same thread again";
  EXPECT_EQ(locks.stateOf(12, 'S', wait("0x5581")), ThreadState::mutex);
  EXPECT_EQ(locks.stateOf(11, 'S', wait("0x5581")), ThreadState::mutex);
  EXPECT_EQ(locks.stateOf(11, 'R', ""), ThreadState::running);
  locks.clear();
  EXPECT_EQ(locks.stateOf(12, 'S', wait("0x5581")), ThreadState::wait) << "of the next program";
}

TEST(OwnCpu, CountsEachProcessOnce) {
  OwnCpu cpu;
  cpu.used(10);   // a sampled child
  cpu.ended(10);  // ends,
  cpu.used(3);    // while its parent continues
  EXPECT_EQ(cpu.totalNs(), 13);
  cpu.waitedFor(12);  // and its parent gets 2 more: the child's last
  EXPECT_EQ(cpu.totalNs(), 15);
  cpu.waitedFor(5);  // of children that were never sampled
  EXPECT_EQ(cpu.totalNs(), 20);
}

TEST(Facts, TheBlasLibraryAndItsThreads) {
  EXPECT_EQ(blasOf("7f-8f r-xp 0 00:00 1 /usr/lib/libgomp.so.1\n"), "");
  EXPECT_EQ(
      blasOf("7f-8f r-xp 0 00:00 1 /usr/lib/x86_64-linux-gnu/openblas-pthread/libopenblasp-r0.3.21.so\n"),
      "openblas");
  EXPECT_EQ(blasOf("7f-8f r-xp 0 00:00 1 /home/openblas/notes.txt\n7f-8f r-xp 0 00:00 1 /opt/libmkl_rt.so.2"),
            "mkl");
  const auto mapped = [](const std::string& path) { return "7f-8f r-xp 0 00:00 1 " + path + "\n"; };
  const std::string debian = "/usr/lib/x86_64-linux-gnu/";
  EXPECT_EQ(blasOf(mapped(debian + "blas/libblas.so.3.11.0")), "reference");
  EXPECT_EQ(blasOf(mapped(debian + "openblas-pthread/libblas.so.3")), "openblas");
  EXPECT_EQ(blasOf(mapped(debian + "atlas/libblas.so.3.10.3")), "atlas");
  EXPECT_EQ(blasOf(mapped(debian + "blis-openmp/libblas.so.3")), "blis");
  const std::string numpy =
      mapped("/venv/lib/python3.11/site-packages/numpy.libs/libscipy_openblas64_-ff.so");
  EXPECT_EQ(blasOf(numpy), "openblas");
  EXPECT_EQ(blasOf(numpy + mapped(debian + "blas/libblas.so.3.11.0")), "openblas") << "the faster one";
#if defined(__x86_64__)
  EXPECT_EQ(blasOf(numpy + mapped("/venv/lib/python3.11/site-packages/torch/lib/libtorch_cpu.so")), "mkl")
      << "PyTorch's packages carry it within; OpenBLAS is NumPy's";
#endif
  EXPECT_EQ(blasOf(mapped(debian + "libtorch_cpu.so.1.13") + mapped(debian + "blas/libblas.so.3.11.0")),
            "reference")
      << "Debian's PyTorch uses the system's";
  const auto threads = [](const std::string& blas, const std::string& environment) {
    test::MemorySink sink;
    ProcessFacts facts;
    facts.environment = environmentPairs(environment);
    facts.blas = blas;
    facts.affinity = {0, 1, 2};
    writeProcessFacts(sink, getpid(), facts);
    EXPECT_EQ(sink.meta_values[meta::kBlas], blas);
    return sink.meta_values[meta::kBlasThreads];
  };
  EXPECT_EQ(threads("openblas", ""), "3") << "as many as it may use";
  EXPECT_EQ(threads("openblas", "OMP_NUM_THREADS=2"), "2");
  EXPECT_EQ(threads("openblas", std::string("OMP_NUM_THREADS=2\0OPENBLAS_NUM_THREADS=1", 41)), "1");
  EXPECT_EQ(threads("mkl", "MKL_NUM_THREADS=5"), "5");
  EXPECT_EQ(threads("blis", ""), "1");
  EXPECT_EQ(threads("reference", "OMP_NUM_THREADS=4"), "1");
  EXPECT_EQ(threads("atlas", "OMP_NUM_THREADS=2"), "") << "fixed when it was built";
}

TEST(Facts, EnvironmentIsRedactedAndKnownSettingsAreInEffect) {
  test::MemorySink sink;
  ProcessFacts facts;
  facts.environment =
      environmentPairs(std::string("OMP_NUM_THREADS=3,2\0HF_TOKEN=abc\0PROXY=http://u:p@h\0=C:\0X\0", 56));
  facts.openmp_runtimes = "libgomp";
  facts.affinity = {0, 1, 4};
  writeProcessFacts(sink, getpid(), facts);
  EXPECT_EQ(sink.meta_values.at("environment.HF_TOKEN"), "[redacted]");
  EXPECT_EQ(sink.meta_values.at("environment.PROXY"), "http://[redacted]@h");
  EXPECT_EQ(sink.meta_values.at(meta::kOpenMpThreads), "3");
  EXPECT_EQ(sink.meta_values.at(meta::kOpenMpRuntime), "libgomp");
  EXPECT_EQ(sink.meta_values.at(meta::kAffinity), "0-1,4");
  ASSERT_EQ(sink.settings.size(), 1u);
  EXPECT_EQ(sink.settings.at("OMP_NUM_THREADS").value, "3,2");
  EXPECT_EQ(sink.settings.at("OMP_NUM_THREADS").source, SettingSource::environment);
  EXPECT_EQ(rankOf({{"RANK", "x"}, {"PMI_RANK", "2"}, {"OMPI_COMM_WORLD_RANK", "1"}}), 1);
  EXPECT_EQ(rankOf({{"SLURM_PROCID", ""}, {"RANK", "5"}}), 5);
  EXPECT_EQ(rankOf({}), 0);
}

// A part of a secret does not look like one.
TEST(Facts, ValuesAreTruncatedAfterSecretsAreReplaced) {
  test::MemorySink sink;
  ProcessFacts facts;
  facts.environment = {{"X", std::string(4076, 'a') + " https://joe:secret12@host/"},
                       {"Y", std::string(5000, 'b')}};
  writeProcessFacts(sink, getpid(), facts);
  EXPECT_THAT(sink.meta_values.at("environment.X"), Not(HasSubstr("secret1")));
  EXPECT_THAT(sink.meta_values.at("environment.X"), HasSubstr("https://[redact"));
  EXPECT_EQ(sink.meta_values.at("environment.Y").size(), 4096u);
}

TEST(Program, IsLookedForAsAShellDoes) {
  const test::TempFolder folder;
  const std::string at = folder.path().string();
  write(at + "/a/tool", "");
  write(at + "/b/tool", "");
  chmod((at + "/b/tool").c_str(), 0755);
  EXPECT_EQ(findProgram("tool", at + "/none:" + at + "/a:" + at + "/b").value(), at + "/b/tool");
  EXPECT_EQ(findProgram("tool", at + "/a").error().code, ErrorCode::unsupported);
  EXPECT_THAT(findProgram("tool", at + "/a").error().message, HasSubstr(at + "/a/tool: is not executable"));
  EXPECT_EQ(findProgram("tool", at).error().code, ErrorCode::notFound);
  EXPECT_EQ(findProgram(at + "/b/tool", "").value(), at + "/b/tool");
  EXPECT_EQ(findProgram(at + "/a", "").error().code, ErrorCode::unsupported);
  EXPECT_EQ(findProgram(at + "/none", "").error().code, ErrorCode::notFound);
}

TEST(Program, NamesOfTraces) {
  EXPECT_EQ(outputName("out/x%r-%p%%.pitwall", 12, 3)->path, "out/x3-12%.pitwall");
  EXPECT_EQ(outputName("x.pitwall", 12, std::nullopt)->path, "x.pitwall");
  EXPECT_EQ(outputName("a.b/x.pitwall", 12, 2)->path,
            "a.b/x.rank2.pitwall");  // else four ranks write one file
  EXPECT_TRUE(outputName("x.pitwall", 12, 2)->rank_added);
  EXPECT_FALSE(outputName("x%p", 12, 2)->rank_added);
  for (const char* bad : {"x%", "x%q"})
    EXPECT_EQ(outputName(bad, 1, 0).error().code, ErrorCode::invalidInput) << bad;
}

TEST(Program, IsToldThroughItsEnvironment) {
  ProgramSettings settings;
  settings.injection_library = "/lib/libpitwall_inject.so";
  settings.trace_template = "/t/%p.pitwall";
  settings.only_domains = {"a", "b"};
  settings.last_s = 2.5;
  settings.onednn = true;
  std::vector<std::string> notes;
  const std::vector<std::string> own = {"HOME=/h", "PITWALL_TRACE=old", "NVTX_INJECTION64_PATH=/other.so",
                                        "ONEDNN_VERBOSE=2"};
  EXPECT_THAT(
      programEnvironment(own, settings, notes),
      UnorderedElementsAre("HOME=/h", "NVTX_INJECTION64_PATH=/other.so", "ONEDNN_VERBOSE=2",
                           "PITWALL_TRACE=/t/%p.pitwall", "CUDA_INJECTION64_PATH=/lib/libpitwall_inject.so",
                           "PITWALL_RECORD_ONLY=a,b", "PITWALL_RECORD_LAST=2.500", "DNNL_VERBOSE=1",
                           "MKLDNN_VERBOSE=1", "ONEDNN_VERBOSE_TIMESTAMP=1", "DNNL_VERBOSE_TIMESTAMP=1"));
  EXPECT_THAT(notes, ElementsAre(HasSubstr("another tool records there")));
}

TEST(ProgramEnvironment, PythonSearchesTheRecordersFolderFirst) {
  ProgramSettings settings;
  settings.python_folder = "/lib/pitwall/python";
  std::vector<std::string> notes;
  const auto pythonPath = [&](const std::vector<std::string>& own) {
    return programEnvironment(own, settings, notes);
  };
  EXPECT_THAT(pythonPath({}), ElementsAre("PYTHONPATH=/lib/pitwall/python"));
  EXPECT_THAT(pythonPath({"PYTHONPATH="}), ElementsAre("PYTHONPATH=/lib/pitwall/python"));
  EXPECT_THAT(pythonPath({"PYTHONPATH=/a:/b"}), ElementsAre("PYTHONPATH=/lib/pitwall/python:/a:/b"));
  settings.python_folder.clear();
  EXPECT_THAT(pythonPath({"PYTHONPATH=/a"}), ElementsAre("PYTHONPATH=/a"));
}

}  // namespace
}  // namespace pitwall::record::parse_test
