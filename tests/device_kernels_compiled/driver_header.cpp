// Our declarations of the driver against NVIDIA's own header: compiled, never run. Where it compiles, they agree.
#define __CUDA_API_VERSION_INTERNAL  // declares the versions of functions that newer ones stand in for, too
#include <cuda.h>

#include <adjoint/core/cuda/driver.h>

#include <cstddef>
#include <type_traits>

namespace ours = adjoint::cuda;

// Passed alike: of one size and kind.
template <class A, class B> constexpr bool alike =
    sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B> && std::is_floating_point_v<A> == std::is_floating_point_v<B>;

template <class Ours, class Theirs> constexpr bool same = false;
template <class R, class... A, class S, class... B> requires(sizeof...(A) == sizeof...(B))
constexpr bool same<R (*)(A...), S (*)(B...)> = alike<R, S> && (... && alike<A, B>);

#define SAME(member, name) static_assert(same<decltype(ours::Driver::member), decltype(&name)>, #name)
SAME(init, cuInit); SAME(version, cuDriverGetVersion); SAME(error_name, cuGetErrorName);
SAME(error_text, cuGetErrorString); SAME(device_count, cuDeviceGetCount); SAME(device, cuDeviceGet);
SAME(device_name, cuDeviceGetName); SAME(device_memory, cuDeviceTotalMem_v2); SAME(device_attribute, cuDeviceGetAttribute);
SAME(retain_context, cuDevicePrimaryCtxRetain); SAME(set_context, cuCtxSetCurrent); SAME(current_context, cuCtxGetCurrent); SAME(synchronize, cuCtxSynchronize);
SAME(memory_info, cuMemGetInfo_v2); SAME(allocate, cuMemAlloc_v2); SAME(free, cuMemFree_v2);
SAME(pointer_attribute, cuPointerGetAttribute); SAME(host_allocate, cuMemHostAlloc); SAME(host_free, cuMemFreeHost);
SAME(copy_to_device, cuMemcpyHtoDAsync_v2); SAME(copy_to_host, cuMemcpyDtoHAsync_v2); SAME(copy_on_device, cuMemcpyDtoDAsync_v2);
SAME(copy_between, cuMemcpyPeerAsync); SAME(set8, cuMemsetD8Async); SAME(set16, cuMemsetD16Async); SAME(set32, cuMemsetD32Async);
SAME(set_column32, cuMemsetD2D32Async); SAME(stream_create, cuStreamCreateWithPriority);
SAME(stream_synchronize, cuStreamSynchronize); SAME(stream_query, cuStreamQuery); SAME(stream_wait, cuStreamWaitEvent);
SAME(capture_begin, cuStreamBeginCapture_v2); SAME(capture_end, cuStreamEndCapture);
SAME(capture_info, cuStreamGetCaptureInfo_v2); SAME(exchange_capture_mode, cuThreadExchangeStreamCaptureMode);
SAME(graph_nodes, cuGraphGetNodes); SAME(graph_instantiate, cuGraphInstantiateWithFlags); SAME(graph_launch, cuGraphLaunch);
SAME(graph_dot, cuGraphDebugDotPrint); SAME(can_access_peer, cuDeviceCanAccessPeer);
SAME(graph_destroy, cuGraphDestroy); SAME(executable_destroy, cuGraphExecDestroy); SAME(event_create, cuEventCreate);
SAME(event_destroy, cuEventDestroy_v2); SAME(event_record, cuEventRecordWithFlags); SAME(event_query, cuEventQuery);
SAME(event_synchronize, cuEventSynchronize); SAME(event_elapsed, cuEventElapsedTime); SAME(module_load, cuModuleLoadData);
SAME(module_function, cuModuleGetFunction); SAME(function_attribute, cuFuncGetAttribute);
SAME(set_function_attribute, cuFuncSetAttribute); SAME(set_cache_config, cuFuncSetCacheConfig); SAME(launch, cuLaunchKernel);
SAME(launch_with, cuLaunchKernelEx); SAME(parameter_info, cuFuncGetParamInfo);

#define VALUE(name, theirs) static_assert(static_cast<int>(ours::name) == static_cast<int>(theirs))
VALUE(out_of_memory, CUDA_ERROR_OUT_OF_MEMORY); VALUE(not_ready, CUDA_ERROR_NOT_READY);
VALUE(max_threads_per_block, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK); VALUE(warp_size, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
VALUE(shared_memory_per_block, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK); VALUE(multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
VALUE(shared_memory_per_block_optin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN); VALUE(integrated, CU_DEVICE_ATTRIBUTE_INTEGRATED);
VALUE(threads_per_multiprocessor, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR); VALUE(l2_cache_bytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
VALUE(capability_major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR); VALUE(capability_minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
VALUE(function_max_threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK); VALUE(function_static_shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
VALUE(function_max_dynamic_shared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);

#define PLACE(Ours, member, Theirs, name) static_assert(offsetof(ours::Ours, member) == offsetof(Theirs, name))
static_assert(sizeof(ours::LaunchConfig) == sizeof(CUlaunchConfig) && sizeof(ours::LaunchAttribute) == sizeof(CUlaunchAttribute));
PLACE(LaunchConfig, grid, CUlaunchConfig, gridDimX); PLACE(LaunchConfig, block, CUlaunchConfig, blockDimX);
PLACE(LaunchConfig, shared, CUlaunchConfig, sharedMemBytes); PLACE(LaunchConfig, stream, CUlaunchConfig, hStream);
PLACE(LaunchConfig, attributes, CUlaunchConfig, attrs); PLACE(LaunchConfig, attribute_count, CUlaunchConfig, numAttrs);
PLACE(LaunchAttribute, id, CUlaunchAttribute, id); PLACE(LaunchAttribute, room, CUlaunchAttribute, value);
