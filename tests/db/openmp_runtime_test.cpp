// OpenMP runtimes by the files of their libraries.
#include "db/openmp_runtime.h"

#include <gtest/gtest.h>

namespace pitwall::host::openmp_runtime_test {
namespace {

TEST(OpenMpRuntime, IsKnownByItsFile) {
  EXPECT_EQ(openMpRuntimeOf("/usr/lib/x86_64-linux-gnu/libgomp.so.1"), "libgomp");
  EXPECT_EQ(openMpRuntimeOf("/venv/torch.libs/libgomp-a34b3233.so.1.0.0"), "libgomp");
  EXPECT_EQ(openMpRuntimeOf("/usr/lib/llvm-14/lib/libomp.so.5"), "libomp");
  EXPECT_EQ(openMpRuntimeOf("/opt/intel/lib/libiomp5.so"), "libiomp5");
  EXPECT_EQ(openMpRuntimeOf("/usr/lib/libompstub.so"), "");
  EXPECT_EQ(openMpRuntimeOf("/usr/lib/libgompertz.so"), "");
  EXPECT_EQ(openMpRuntimeOf("/home/libgomp.so/program"), "");
  EXPECT_EQ(openMpRuntimeOf(""), "");
}

TEST(OpenMpRuntime, SeveralAreJoinedInOneOrder) {
  OpenMpRuntimes loaded;
  EXPECT_EQ(loaded.names(), "");
  loaded.add("/usr/lib/libm.so.6");
  EXPECT_EQ(loaded.names(), "");
  loaded.add("/opt/intel/lib/libiomp5.so");
  EXPECT_EQ(loaded.names(), "libiomp5");
  loaded.add("/usr/lib/libgomp.so.1");
  loaded.add("/venv/torch.libs/libgomp-a34b3233.so.1.0.0");
  EXPECT_EQ(loaded.names(), "libgomp+libiomp5");
  loaded.add("libomp.so");
  EXPECT_EQ(loaded.names(), "libgomp+libomp+libiomp5");
}

}  // namespace
}  // namespace pitwall::host::openmp_runtime_test
