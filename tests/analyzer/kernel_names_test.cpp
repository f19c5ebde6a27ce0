// Names as profilers record them, of cuDNN, cuBLAS, CUTLASS, Tensile and PyTorch.
#include "analyzer/analysis/kernel_names.h"

#include <gtest/gtest.h>

namespace pitwall::kernel_names_test {
namespace {

using analysis::isMatrixKernel;
using analysis::usesTensorCores;

TEST(KernelNames, MatrixKernelsOfTensorCores) {
  for (const char* name :
       {"sm90_xmma_fprop_implicit_gemm_f32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize64x32x32_warpgroupsize1x1x1_"
        "g1_"
        "execute_segment_k_off_kernel__5x_cudnn",
        "sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128x128x16_stage4_"
        "warpsize2x2x1_g1_tensor16x8x8_alignc4_execute_kernel_cudnn",
        "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_64x64_16x6_tn_align4>"
        "(cutlass_80_tensorop_s1688gemm_64x64_16x6_tn_align4::Params)",
        "_ZN17cutlass__5x_cudnn6KernelINS_4conv6kernel23ImplicitGemmConvolutionINS_4warp11MmaTensorOpINS7_E",
        "nvjet_hsh_128x256_64x4_2x1_v_bz_TNT", "volta_fp16_s884gemm_fp16_128x64_ldg8_f2f_nn",
        "Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_MI32x32x8x1_SN"}) {
    EXPECT_TRUE(isMatrixKernel(name)) << name;
    EXPECT_EQ(usesTensorCores(name), true) << name;
  }
}

TEST(KernelNames, MatrixKernelsWithoutTensorCores) {
  for (const char* name :
       {"sm80_xmma_gemm_f32f32_f32f32_f32_nt_n_tilesize32x32x8_stage3_warpsize1x2x1_ffma_aligna4_"
        "alignc4_execute_kernel__5x_cublas",
        "sm80_xmma_wgrad_implicit_gemm_indexed_f32f32_f32f32_f32_nhwckrsc_nhwc_tilesize32x32x8_stage3_"
        "warpsize1x2x1_g1_ffma_execute_kernel__5x_cudnn",
        "void cutlass::Kernel2<cutlass_80_simt_sgemm_64x64_8x5_tn_align1>"
        "(cutlass_80_simt_sgemm_64x64_8x5_tn_align1::Params)",
        "ampere_sgemm_32x32_sliced1x4_tn", "maxwell_scudnn_winograd_128x128_ldg1_ldg4_tile148t_nt",
        "void wgrad_alg0_engine_NHWC<float, 128, 5, 5, 3, 3, 3, false, 512>(int, int, int, float const*)",
        "void cudnn::detail::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>(int, int, int, float const*)"}) {
    EXPECT_TRUE(isMatrixKernel(name)) << name;
    EXPECT_EQ(usesTensorCores(name), false) << name;
  }
}

TEST(KernelNames, SomeNamesDoNotSay) {
  EXPECT_TRUE(
      isMatrixKernel("void at::native::conv_depthwise2d_forward_kernel<3, float, int>(float const*)"));
  EXPECT_FALSE(
      usesTensorCores("void at::native::conv_depthwise2d_forward_kernel<3, float, int>(float const*)"));
}

TEST(KernelNames, HelpersOfMatrixKernelsAreNone) {
  for (const char* name :
       {"void cudnn::engines_precompiled::convertTensor_kernel<float, float, float, (cudnnKernelDataType_t)2>"
        "(float, float const*, float, float*, unsigned long)",
        "void cask_plugin__5x_cudnn::xmma__5x_cudnn::init_device_workspace_kernel<xmma__5x_cudnn::"
        "implicit_gemm::dgrad::Warp_specialized_params_nontemplate<xmma__5x_cudnn::Grid_constant_params> >()",
        "void cublasLt::splitKreduce_kernel<32, 16, int, float, float, float, float>(cublasLt::"
        "cublasSplitKParams<float>, float const*, float const*, float*)",
        "void cutlass__5x_cudnn::Kernel<cutlass__5x_cudnn::reduction::kernel::ReduceSplitK<"
        "cutlass__5x_cudnn::MatrixShape<4, 128>, "
        "cutlass__5x_cudnn::epilogue::thread::LinearCombination<float, 4, float> > >()",
        "void cudnn::engines_precompiled::nhwcToNchwKernel<float, float, float, true>(float const*, float*)",
        "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float> >(int)"})
    EXPECT_FALSE(isMatrixKernel(name)) << name;
}

}  // namespace
}  // namespace pitwall::kernel_names_test
