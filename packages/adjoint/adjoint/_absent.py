"""What of PyTorch adjoint will not have, and why: by the longest prefix of a name that stands here. Everything else that is missing is planned."""

from __future__ import annotations

_COMPILES = "adjoint compiles no programs"
_QUANTIZES = "quantization is not its subject"
_OTHER_LIBRARIES = "its kernels are its own"
_DEVICES = "its devices are the CPU and NVIDIA's GPUs"
_STARTED_BY_MPI = "ranks are started by mpiexec, or by distributed.run, once"

_BELOW = {
    _COMPILES: "_dynamo.exc _inductor _export export nativert fx.annotate fx.config fx.graph.CodeGen fx.graph.PythonCode "
    "fx.operator_schemas fx.passes fx.tensor_type fx.traceback jit.frontend jit.generate_bytecode jit.mobile "
    "jit.quantized jit.supported_ops jit.unsupported_tensor_ops jit.onednn_fusion_enabled jit.enable_onednn_fusion jit.strict_fusion jit.export_opnames "
    "jit.CompilationUnit compiler.load_cache_artifacts compiler.save_cache_artifacts compiler.load_compiled_function utils.jit utils.bundled_inputs "
    "utils.model_dump utils.throughput_benchmark library.triton_op library.wrap_triton utils.benchmark.utils.cpp_jit",
    "its operations are the records of its own table": "_prims _refs",
    _QUANTIZES: "ao quantization nn.intrinsic nn.quantized nn.quantizable nn.qat backends.quantized nn.functional.scaled_mm nn.functional.scaled_grouped_mm "
    "nn.functional.ScalingType nn.functional.SwizzleType distributed.algorithms.ddp_comm_hooks.quantization_hooks "
    "distributed.checkpoint.quantized_hf_storage",
    "it writes no files of other runtimes": "onnx",
    "it packs no programs": "package",
    _DEVICES: "mps mtia xpu backends.xeon backends.miopen backends.kleidiai utils.backend_registration utils.hipify Tensor.mtia Tensor.ipu Tensor.xpu "
    "nn.Module.mtia nn.Module.ipu nn.Module.xpu is_vulkan_available",
    "extensions against PyTorch's C++ cannot run on it": "utils.cpp_extension cpp nn.cpp utils.cpp_backtrace utils.file_baton",
    "telephones are not its subject": "utils.mobile_optimizer backends.xnnpack backends.nnpack",
    _OTHER_LIBRARIES: "utils.mkldnn Tensor.to_mkldnn cuda.jiterator cuda.tunable cuda.gds cuda.nccl backends.cudnn.rnn backends.cusparselt backends.python_native",
    "processes speak by MPI, and call no functions in each other": "distributed.rpc distributed.nn.api distributed.autograd "
    "distributed.optim.DistributedOptimizer",
    "no stages of a model are made of it: its ranks run whole programs": "distributed.pipelining",
    _STARTED_BY_MPI: "distributed.elastic distributed.launcher distributed.run.config_from_args distributed.run.determine_local_world_size",
    "it records for its own profiler": "distributed.flight_recorder distributed.debug profiler.ExecutionTraceObserver profiler.itt",
    "PyTorch has given them up: datasets and samplers of utils.data are there": "utils.data.datapipes utils.data.graph utils.data.graph_settings utils.data.IterDataPipe "
    "utils.data.MapDataPipe utils.data.DFIterDataPipe utils.data.DataChunk utils.data.functional_datapipe utils.data.argument_validation "
    "utils.data.runtime_validation utils.data.runtime_validation_disabled utils.data.guaranteed_datapipes_determinism utils.data.non_deterministic",
    "what it measures is its own: tests/op_cases": "utils.benchmark.op_fuzzers utils.benchmark.examples utils.benchmark.utils.fuzzer "
    "utils.benchmark.utils.sparse_fuzzer",
}  # fmt: skip
# Names of `torch` itself; those that end in a star stand for all that begin so.
_TOP = {
    "its types are Python's: there is no script language": "AliasDb AnyType Argument ArgumentSpec AwaitType Block BoolType Capsule ClassType Code CompilationUnit "
    "CompleteArgumentSpec ComplexType Concrete* DeepCopyMemoTable DeserializationStorageContext DictType EnumType ErrorReport ExecutionPlan FileCheck FloatType "
    "FunctionSchema FutureType Gradient Graph GraphExecutorState IODescriptor InferredType IntType InterfaceType JITException ListType LiteScriptModule "
    "LockingLogger Node NoneType NoopLogger NumberType OperatorInfo OptionalType PyObjectType RRefType Script* SerializationStorageContext StaticModule "
    "StreamObjType StringType SymBoolType SymIntType TensorType TracingState TupleType Type UnionType Use Value import_ir_module* merge_type_* parse_* "
    "unify_type_list BenchmarkConfig BenchmarkExecutionStats ThroughputBenchmark CallStack BufferDict ModuleDict ParameterDict",
    _QUANTIZES: "q_* qscheme quantize* int_repr dequantize empty_quantized fbgemm_* fused_moving_* choose_qparams_* int1 int2 int3 "
    "int4 int5 int6 int7 uint1 uint2 uint3 uint4 uint5 uint6 uint7 bits* bit",
    _OTHER_LIBRARIES: "cudnn_* miopen_* mkldnn_* batch_norm_* conv_tbc",
    "its devices are the CPU and NVIDIA's GPUs ": "*_ipu_* *_xla_* *_ipu *_xla",
}
ABSENT = {f"torch.{name}": why for why, names in _BELOW.items() for name in names.split()}


def _is_like(name: str, pattern: str) -> bool:
    if pattern.startswith("*"):
        return pattern.strip("*") in name
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern


def reason(name: str) -> str | None:
    """Why there is no `torch.x.y`; None: it is planned, if PyTorch has it."""
    parts = name.split(".")
    for n in range(len(parts), 1, -1):
        if (why := ABSENT.get(".".join(parts[:n]))) is not None:
            return why
    last = parts[2] if name.startswith("torch.Tensor.") and len(parts) > 2 else parts[1] if len(parts) > 1 else ""
    return next((why.strip() for why, names in _TOP.items() if any(_is_like(last, pattern) for pattern in names.split())), None)
