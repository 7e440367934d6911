// The CUDA driver, found when first used: neither a toolkit to build nor one to run. Declarations of our own.
#pragma once
#include <adjoint/core/export.h>

#include <cstddef>
#include <cstdint>

namespace adjoint::cuda {

using Result = int;                       // CUresult: 0 is success
using Pointer = unsigned long long;       // CUdeviceptr
using Context = struct ContextHandle*;
using StreamHandle = struct StreamHandleType*;
using EventHandle = struct EventHandleType*;
using GraphHandle = struct GraphHandleType*;
using GraphExecutable = struct GraphExecutableType*;
using Module = struct ModuleHandle*;
using Function = struct FunctionHandle*;

constexpr Result out_of_memory = 2, not_ready = 600;

enum DeviceAttribute : int {
  max_threads_per_block = 1, shared_memory_per_block = 8, warp_size = 10, multiprocessors = 16,
  threads_per_multiprocessor = 39, l2_cache_bytes = 38, integrated = 18, capability_major = 75, capability_minor = 76, shared_memory_per_block_optin = 97,
};
enum FunctionAttribute : int { function_max_threads = 0, function_static_shared = 1, function_max_dynamic_shared = 8 };

struct LaunchAttribute { int id; char pad[4]; union { char room[64]; int value; struct { unsigned x, y, z; } cluster; }; };
struct LaunchConfig { unsigned grid[3], block[3], shared; StreamHandle stream; LaunchAttribute* attributes; unsigned attribute_count; };

// The functions in use, by the driver's names without "cu" and version suffix.
struct Driver {
  Result (*init)(unsigned);
  Result (*version)(int*);
  Result (*error_name)(Result, const char**);
  Result (*error_text)(Result, const char**);
  Result (*device_count)(int*);
  Result (*device)(int*, int);
  Result (*device_name)(char*, int, int);
  Result (*device_memory)(size_t*, int);
  Result (*device_attribute)(int*, int, int);
  Result (*retain_context)(Context*, int);
  Result (*set_context)(Context);
  Result (*current_context)(Context*);
  Result (*synchronize)();
  Result (*can_access_peer)(int*, int, int);
  Result (*memory_info)(size_t*, size_t*);
  Result (*allocate)(Pointer*, size_t);
  Result (*free)(Pointer);
  Result (*pointer_attribute)(void*, int, Pointer);
  Result (*host_allocate)(void**, size_t, unsigned);
  Result (*host_free)(void*);
  Result (*copy_to_device)(Pointer, const void*, size_t, StreamHandle);
  Result (*copy_to_host)(void*, Pointer, size_t, StreamHandle);
  Result (*copy_on_device)(Pointer, Pointer, size_t, StreamHandle);
  Result (*copy_between)(Pointer, Context, Pointer, Context, size_t, StreamHandle);
  Result (*set8)(Pointer, unsigned char, size_t, StreamHandle);
  Result (*set16)(Pointer, unsigned short, size_t, StreamHandle);
  Result (*set32)(Pointer, unsigned, size_t, StreamHandle);
  Result (*set_column32)(Pointer, size_t pitch, unsigned, size_t width, size_t height, StreamHandle);
  Result (*stream_create)(StreamHandle*, unsigned, int);
  Result (*stream_synchronize)(StreamHandle);
  Result (*stream_query)(StreamHandle);
  Result (*stream_wait)(StreamHandle, EventHandle, unsigned);
  Result (*capture_begin)(StreamHandle, int mode);
  Result (*capture_end)(StreamHandle, GraphHandle*);
  Result (*capture_info)(StreamHandle, int* status, unsigned long long* id, GraphHandle*, const void**, size_t*);
  Result (*exchange_capture_mode)(int*);
  Result (*graph_nodes)(GraphHandle, void*, size_t*);
  Result (*graph_instantiate)(GraphExecutable*, GraphHandle, unsigned long long);
  Result (*graph_dot)(GraphHandle, const char*, unsigned);
  Result (*graph_launch)(GraphExecutable, StreamHandle);
  Result (*graph_destroy)(GraphHandle);
  Result (*executable_destroy)(GraphExecutable);
  Result (*event_create)(EventHandle*, unsigned);
  Result (*event_destroy)(EventHandle);
  Result (*event_record)(EventHandle, StreamHandle, unsigned);
  Result (*event_query)(EventHandle);
  Result (*event_synchronize)(EventHandle);
  Result (*event_elapsed)(float*, EventHandle, EventHandle);
  Result (*module_load)(Module*, const void*);
  Result (*module_function)(Function*, Module, const char*);
  Result (*function_attribute)(int*, int, Function);
  Result (*set_function_attribute)(Function, int, int);
  Result (*set_cache_config)(Function, int);
  Result (*launch)(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, StreamHandle, void**, void**);
  Result (*launch_with)(const LaunchConfig*, Function, void**, void**);
  Result (*parameter_info)(Function, size_t, size_t*, size_t*);   // null before CUDA 12.4
};

// The library named by the environment variable ADJOINT_CUDA_DRIVER, else libcuda.so.1. An error where there is none that works, and in a
// process that was forked from one that uses it.
ADJOINT_API const Driver& driver();
ADJOINT_API bool driver_found() noexcept;
ADJOINT_API const char* why_no_driver() noexcept;
ADJOINT_API bool forked() noexcept;   // what the parent made there is not ours to release

[[noreturn]] ADJOINT_API void driver_error(Result result, const char* what);
inline void check(Result result, const char* what) {
  if (result) [[unlikely]] driver_error(result, what);
}

}  // namespace adjoint::cuda
