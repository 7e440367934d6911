// Loads the driver once per process, and names its errors.
#include <adjoint/core/cuda/driver.h>
#include <adjoint/core/error.h>
#include <adjoint/core/process.h>

#include <atomic>
#include <cstdlib>
#include <string>

namespace adjoint::cuda {

namespace {

constexpr const char* none_found = "cuda: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a driver from http://www.nvidia.com/Download/index.aspx";

std::atomic<bool> in_child{false};

void notice_forks() {
  on_fork(nullptr, nullptr, [] { in_child = true; });
}

struct Loader {
  Driver functions{};
  std::string fault;

  Loader() {
    const char* chosen = std::getenv("ADJOINT_CUDA_DRIVER");
    const char* path = chosen && *chosen ? chosen : "libcuda.so.1";
    void* library = open_library(path);
    if (!library) { fault = chosen && *chosen ? std::string("ADJOINT_CUDA_DRIVER: can't load ") + path : none_found; return; }
    const char* missing = find_all(library);
    if (missing) { fault = std::string("the NVIDIA driver is too old for adjoint: ") + path + " has no " + missing; return; }
    const Result r = functions.init(0);
    if (r == 0) notice_forks();
    else fault = r == 100 ? "No CUDA GPUs are available" : "the NVIDIA driver does not start: " + text(r);
  }
  std::string text(Result r) const {
    const char *name = nullptr, *words = nullptr;
    if (functions.error_name) functions.error_name(r, &name);
    if (functions.error_text) functions.error_text(r, &words);
    return std::string(words ? words : "unknown error") + " (" + (name ? name : std::to_string(r).c_str()) + ")";
  }

 private:
  // The first function that is missing.
  const char* find_all(void* library) {
    Driver& d = functions;
    const char* missing = nullptr;
    auto find = [&]<class F>(const char* name, F*& f) {
      f = reinterpret_cast<F*>(find_symbol(library, name));
      if (!f && !missing) missing = name;
    };
    find("cuInit", d.init); find("cuDriverGetVersion", d.version); find("cuGetErrorName", d.error_name); find("cuGetErrorString", d.error_text);
    find("cuDeviceGetCount", d.device_count); find("cuDeviceGet", d.device); find("cuDeviceGetName", d.device_name);
    find("cuDeviceTotalMem_v2", d.device_memory); find("cuDeviceGetAttribute", d.device_attribute);
    find("cuDevicePrimaryCtxRetain", d.retain_context); find("cuCtxSetCurrent", d.set_context); find("cuCtxGetCurrent", d.current_context); find("cuCtxSynchronize", d.synchronize);
    find("cuDeviceCanAccessPeer", d.can_access_peer); find("cuMemGetInfo_v2", d.memory_info); find("cuMemAlloc_v2", d.allocate); find("cuMemFree_v2", d.free); find("cuPointerGetAttribute", d.pointer_attribute);
    find("cuMemHostAlloc", d.host_allocate); find("cuMemFreeHost", d.host_free);
    find("cuMemcpyHtoDAsync_v2", d.copy_to_device); find("cuMemcpyDtoHAsync_v2", d.copy_to_host);
    find("cuMemcpyDtoDAsync_v2", d.copy_on_device); find("cuMemcpyPeerAsync", d.copy_between);
    find("cuMemsetD8Async", d.set8); find("cuMemsetD16Async", d.set16); find("cuMemsetD32Async", d.set32); find("cuMemsetD2D32Async", d.set_column32);
    find("cuStreamCreateWithPriority", d.stream_create); find("cuStreamSynchronize", d.stream_synchronize);
    find("cuStreamQuery", d.stream_query); find("cuStreamWaitEvent", d.stream_wait);
    find("cuStreamBeginCapture_v2", d.capture_begin); find("cuStreamEndCapture", d.capture_end); find("cuStreamGetCaptureInfo_v2", d.capture_info);
    find("cuThreadExchangeStreamCaptureMode", d.exchange_capture_mode); find("cuGraphGetNodes", d.graph_nodes);
    find("cuGraphInstantiateWithFlags", d.graph_instantiate); find("cuGraphDebugDotPrint", d.graph_dot); find("cuGraphLaunch", d.graph_launch);
    find("cuGraphDestroy", d.graph_destroy); find("cuGraphExecDestroy", d.executable_destroy);
    find("cuEventCreate", d.event_create); find("cuEventDestroy_v2", d.event_destroy); find("cuEventRecordWithFlags", d.event_record);
    find("cuEventQuery", d.event_query); find("cuEventSynchronize", d.event_synchronize); find("cuEventElapsedTime", d.event_elapsed);
    find("cuModuleLoadData", d.module_load); find("cuModuleGetFunction", d.module_function);
    find("cuFuncGetAttribute", d.function_attribute); find("cuFuncSetAttribute", d.set_function_attribute); find("cuFuncSetCacheConfig", d.set_cache_config);
    find("cuLaunchKernel", d.launch); find("cuLaunchKernelEx", d.launch_with);
    d.parameter_info = reinterpret_cast<decltype(d.parameter_info)>(find_symbol(library, "cuFuncGetParamInfo"));
    return missing;
  }
};

// Never destroyed: memory of other static objects is released after it.
const Loader& loader() {
  static const Loader* l = new Loader;
  return *l;
}

}  // namespace

bool driver_found() noexcept { return loader().fault.empty(); }
const char* why_no_driver() noexcept { return loader().fault.c_str(); }

bool forked() noexcept { return in_child.load(std::memory_order_relaxed); }

const Driver& driver() {
  const Loader& l = loader();
  expect(l.fault.empty(), l.fault);
  expect(!forked(), "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn' start method");
  return l.functions;
}

void driver_error(Result result, const char* what) { fail(ErrorKind::runtime, "CUDA error: ", loader().text(result), " in ", what); }

}  // namespace adjoint::cuda
