#include "db/function_name.h"

#include <gtest/gtest.h>

#include <utility>

namespace pitwall::function_name_test {
namespace {

TEST(FunctionName, ShortNamesSayWhatAFunctionDoes) {
  const std::pair<const char*, const char*> names[] = {
      {"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, "
       "at::detail::Array<char*, 1> >(int, "
       "at::native::FillFunctor<float>, at::detail::Array<char*, 1>)",
       "vectorized_elementwise_kernel<FillFunctor>"},
      {"void (anonymous namespace)::softmax_warp_backward<float, float, float, 10, true>(float*, float "
       "const*, int)",
       "softmax_warp_backward"},
      {"void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, int, 512, true, 1, true>(cudnnTensorStruct, "
       "float const*)",
       "bn_fw_tr_1C11_kernel_NCHW"},
      {"std::enable_if<!false, void>::type internal::gemvx::kernel<int, float>(cublasGemvParams<float>)",
       "kernel"},
      {"cask_cudnn::computeOffsetsKernel(cask_cudnn::ComputeOffsetsParams)", "computeOffsetsKernel"},
      {"volta_sgemm_128x64_nn", "volta_sgemm_128x64_nn"},
      {"aten::mul", "aten::mul"},
      {"Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD (Pageable -> Device)"},
      {"torch/nn/modules/module.py(1501): _call_impl", "torch/nn/modules/module.py(1501): _call_impl"},
      {"train.py(12): <module>", "train.py(12): <module>"},
      {"<built-in method add of type object at 0x7f00>", "<built-in method add of type object at 0x7f00>"},
      {"void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous "
       "namespace)::launch_clamp_scalar("
       "at::TensorIteratorBase&, c10::Scalar)::{lambda()#1}::operator()() const::{lambda(float)#1}, "
       "std::array<char*, "
       "2ul> >(int, std::array<char*, 2ul>)",
       "vectorized_elementwise_kernel<launch_clamp_scalar>"},
      {"void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, float, float, "
       "at::native::(anonymous namespace)::threshold_kernel_impl<float>(at::TensorIteratorBase&, float, "
       "float)::{lambda(float, float)#1}>, std::array<char*, 3ul> >(int, std::array<char*, 3ul>)",
       "vectorized_elementwise_kernel<threshold_kernel_impl>"},
      {"void at::native::reduce_kernel<128, 4, at::native::ReduceOp<float, at::native::func_wrapper_t<float, "
       "at::native::sum_functor<float, float, float>::operator()(at::TensorIterator&)::{lambda(float, "
       "float)#1}>, "
       "unsigned int, float, 4, 4> >(at::native::ReduceOp<float>)",
       "reduce_kernel<sum_functor>"},
      {"void "
       "cutlass::Kernel2<cutlass_80_simt_sgemm_64x64_8x5_tn_align1>(cutlass_80_simt_sgemm_64x64_8x5_tn_"
       "align1::"
       "Params)",
       "Kernel2<cutlass_80_simt_sgemm_64x64_8x5_tn_align1>"},
      {"void cudnn::engines_precompiled::convertTensor_kernel<float, float, float, "
       "(cudnnKernelDataType_t)2>(float, "
       "float const*, float, float*, unsigned long)",
       "convertTensor_kernel"},
      {"void pitwall::cuda::mapKernel<pitwall::gpu_kernels::BatchNormApply>(long, float*, "
       "pitwall::gpu_kernels::BatchNormApply)",
       "mapKernel<BatchNormApply>"},
      {"void pitwall::cuda::eachKernel<pitwall::gpu_kernels::PartSum<2, "
       "pitwall::gpu_kernels::BatchNormTerms> >(long, "
       "pitwall::gpu_kernels::PartSum<2, pitwall::gpu_kernels::BatchNormTerms>)",
       "eachKernel<BatchNormTerms>"},
      {"sm90_xmma_fprop_implicit_gemm_f32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize128x128x32_warpgroupsize1x1x1_"
       "g1_"
       "execute_segment_k_off_kernel__5x_cudnn",
       "sm90_xmma_fprop_implicit_gemm_f32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize128x128x32"},
      {"void gemm", "gemm"},
      {"CUDA graph 2", "CUDA graph 2"},
      {"step(1)", "step"},
      {"", ""},
      {"(", "("},
      {">", ">"},
      {"a<b", "a<b"}};
  for (const auto& [name, label] : names) EXPECT_EQ(shortName(name), label) << name;
}

}  // namespace
}  // namespace pitwall::function_name_test
