// A session records migrations and page faults of unified memory, or does without.
#include "runtime/profiler/cupti/unified_memory.h"

#include <gmock/gmock.h>

#include "tests/runtime/profiler/cupti/fake_library.h"

namespace pitwall::cupti::unified_memory_test {
namespace {

using fake_library::kSmall;
using ::testing::HasSubstr;

class CuptiUnifiedMemory : public fake_library::SessionWithFake {
 protected:
  // What CUPTI would do when the program has allocated managed memory.
  void deliverManagedMemory() {
    std::uint8_t* buffer = nullptr;
    std::size_t size = 0, most = 0;
    fake_.request(&buffer, &size, &most);
    ASSERT_NE(buffer, nullptr);
    CUpti_ActivityMemory4 record;
    std::memset(&record, 0, sizeof record);
    record.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
    record.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
    record.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_MANAGED;
    record.timestamp = fake_.timestamp();
    std::memcpy(buffer, &record, sizeof record);
    fake_.complete(nullptr, 0, buffer, size, sizeof(CUpti_ActivityAPI));  // fakeNext() reads one record of it
  }

  // The injection library is loaded while the driver is being initialised.
  void recordFromTheDriversStartOn(CUptiResult before) {
    fake_.configure = before;
    const auto session = Session::open(library_, profiler_, Extent::managed, kSmall);
    ASSERT_TRUE(session.has_value());
    EXPECT_TRUE(fake_.waits_for_driver);
    EXPECT_EQ(fake_.enabled.count(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER), 0U);
    fake_.configure = CUPTI_SUCCESS;
    driverIsReady();
    EXPECT_EQ(fake_.enabled.count(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER), 1U);
    (*session)->close();
    EXPECT_TRUE(fake_.enabled.empty());
    EXPECT_TRUE((*session)->notes().empty());
    driverIsReady();
    EXPECT_TRUE(fake_.enabled.empty()) << "closed before the driver was ready";
  }

  void driverIsReady() {
    fake_.callback(fake_.userdata, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CU_INIT_FINISHED, nullptr);
  }
};

TEST_F(CuptiUnifiedMemory, IsRecorded) {
  {
    const auto session = Session::open(library_, profiler_, Extent::managed, kSmall);
    ASSERT_TRUE(session.has_value());
    EXPECT_EQ(fake_.enabled.count(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER), 1U);
    for (const int kind : {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD,
                           CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH,
                           CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD,
                           CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT,
                           CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT})
      EXPECT_EQ(fake_.counters.count(kind), 1U) << kind;
    EXPECT_FALSE(fake_.waits_for_driver);
    (*session)->close();
    EXPECT_TRUE(fake_.enabled.empty());
    EXPECT_TRUE((*session)->notes().empty());
  }
  for (const Extent extent : {Extent::everything, Extent::kernels}) {
    fake_.counters.clear();
    const auto others = Session::open(library_, profiler_, extent, kSmall);
    ASSERT_TRUE(others.has_value());
    EXPECT_TRUE(fake_.counters.empty()) << "only where it is asked for";
    EXPECT_EQ(fake_.enabled.count(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER), 0U);
    EXPECT_FALSE(fake_.waits_for_driver);
  }
}

TEST_F(CuptiUnifiedMemory, IsRecordedFromTheDriversStartOnWhateverErrorCameBefore) {
  for (const CUptiResult error : {CUPTI_ERROR_NOT_INITIALIZED, CUPTI_ERROR_UNKNOWN}) {
    SCOPED_TRACE(error);
    recordFromTheDriversStartOn(error);
  }
}

TEST_F(CuptiUnifiedMemory, ProgramsThatUseManagedMemoryAreToldHowToRecordIt) {
  for (const bool finishes : {false, true}) {
    SCOPED_TRACE(finishes);
    ASSERT_TRUE(profiler_.start(std::make_unique<test::SharedSink>(kept_)).has_value());
    const auto end = [finishes](Session& session) { finishes ? session.finish() : session.close(); };
    {
      const auto session = Session::open(library_, profiler_, Extent::everything, kSmall);
      ASSERT_TRUE(session.has_value());
      deliver(1);
      end(**session);
      EXPECT_TRUE((*session)->notes().empty());
    }
    const auto session = Session::open(library_, profiler_, Extent::everything, kSmall);
    ASSERT_TRUE(session.has_value());
    deliverManagedMemory();
    end(**session);
    EXPECT_THAT((*session)->notes(), ::testing::ElementsAre(HasSubstr("PITWALL_RECORD_GPU=managed")));
    EXPECT_TRUE(profiler_.stop().has_value());
  }
}

TEST_F(CuptiUnifiedMemory, AFailureIsTold) {
  for (const auto& [result, text] :
       {std::pair(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, "NVreg_RestrictProfilingToAdminUsers=0"),
        std::pair(
            CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_ON_DEVICE,
            "migrations and page faults of managed memory are not recorded: CUPTI reports TEXT (29)")}) {
    fake_.configure = result;
    const auto session = Session::open(library_, profiler_, Extent::managed, kSmall);
    ASSERT_TRUE(session.has_value());
    EXPECT_EQ(fake_.enabled.count(CUPTI_ACTIVITY_KIND_MEMCPY), 1U);
    (*session)->close();
    EXPECT_THAT((*session)->notes(), ::testing::ElementsAre(HasSubstr(text)));
  }
}

}  // namespace
}  // namespace pitwall::cupti::unified_memory_test
