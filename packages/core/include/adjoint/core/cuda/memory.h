// Device memory that is kept after release, in stream order; pinned host memory; copies and fills.
#pragma once
#include <adjoint/core/cuda/stream.h>
#include <adjoint/core/tensor.h>

namespace adjoint::cuda {

struct Block;   // a piece of device memory

// For the current stream of `device`. Work on that stream may use the memory; work on another one may after use().
ADJOINT_API Block* allocate(size_t bytes, int device);
ADJOINT_API void release(Block* block) noexcept;
ADJOINT_API void* address(const Block* block) noexcept;
ADJOINT_API size_t size_of(const Block* block) noexcept;
ADJOINT_API uint64_t pool_of(const Block* block) noexcept;     // of graphs; 0: none
ADJOINT_API uint64_t serial_of(const Block* block) noexcept;   // of the allocation, on its device
ADJOINT_API bool still_allocated(const void* address, uint64_t serial, int device);   // is it still the same allocation?
ADJOINT_API void use(Block* block, const Stream& stream);   // is not handed out again before the work there now is done

ADJOINT_API void empty_cache();                       // gives what nobody uses back to the driver, on all devices and of pinned memory
ADJOINT_API void set_memory_limit(size_t bytes, int device);   // held from the driver, at most
ADJOINT_API std::pair<size_t, size_t> memory_info(int device);   // free and all bytes

// Host memory that copies run from and to without waiting. A block is kept until its last copy is done.
ADJOINT_API Storage* make_pinned(size_t bytes);
ADJOINT_API Tensor pinned(const Tensor& x);           // x's values, without history
ADJOINT_API Tensor offloaded(const Tensor& x);        // of a GPU, in pinned memory: there for work put on its current stream from now on
ADJOINT_API Tensor uploaded(const Tensor& x, Device device);   // constants: nothing waits, and a graph that is captured keeps them
ADJOINT_API bool is_pinned(const Storage& storage) noexcept;

ADJOINT_API int device_of(const void* p);             // that holds this memory, whoever allocated it; an error if none does
ADJOINT_API size_t booked_bytes(const Storage& storage) noexcept;   // of its piece of memory; 0: it is not ours
ADJOINT_API size_t booked_bytes(size_t bytes) noexcept;             // of the piece that so many take, at least
ADJOINT_API Storage* make_storage(size_t bytes, Device device);
ADJOINT_API void fill(void* data, size_t count, size_t itemsize, const void* value, int device);   // on the current stream
ADJOINT_API void read(void* host, const void* data, size_t bytes, int device);                     // waits
ADJOINT_API void write(void* data, const void* host, size_t bytes, int device);                    // waits
ADJOINT_API void copy_on(const Stream& stream, void* to, const void* from, size_t bytes);            // within its device
// Between any two devices; both without gaps and laid out alike. Waits for the host's part unless that is pinned and `non_blocking`.
ADJOINT_API void copy(const TensorImpl& to, const TensorImpl& from, bool non_blocking);
ADJOINT_API void note_use(const TensorImpl& t, const Stream& stream);   // use() of its memory, if that is ours
// Before a call on `device` that reads and writes these: enters the device, notes tensors that another stream made.
ADJOINT_API void begin_call(Device device, std::span<const Tensor> operands);

}  // namespace adjoint::cuda
