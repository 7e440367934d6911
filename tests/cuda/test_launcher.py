"""What the launcher hands to the driver: the bytes of each parameter, the grid, and which variants it asks for."""

import ctypes
import os
import struct

import pytest

import adjoint as ad
from adjoint_core import registry
from adjoint_kernels_triton._formula import CODE

driver = ctypes.CDLL(os.environ["ADJOINT_CUDA_DRIVER"])
driver.standin_log.restype = ctypes.c_char_p

BY_VALUE, MULTIPLE_OF_16, ONE, POINTER, ALIGNED = range(5)
TYPES = registry.element_types()


def described(specs):
    return [(spec >> 4, TYPES[spec & 15][0]) for spec in specs]


class Compiler:
    """Takes every variant; its kernels have all arguments but those equal to one."""

    def __init__(self, shared=0, **facts):
        self.variants, self.shared, self.facts = [], shared, facts

    def __call__(self, device, specs, constants):
        self.variants.append((described(specs), constants))
        kept = [
            (i, 8 if form in (POINTER, ALIGNED) else dict(TYPES)[dtype])
            for i, (form, dtype) in enumerate(described(specs))
            if form != ONE
        ]
        sizes = [size for _, size in kept] + [8, 8]
        image = b"STANDIN1" + struct.pack(f"<{len(sizes) + 1}I", len(sizes), *sizes)
        f = {"clusters": 1, "cooperative": False, "dependent": False, "scratch": 0} | self.facts
        return (
            image,
            f"kernel{len(self.variants)}",
            self.shared,
            128,
            f["clusters"],
            f["cooperative"],
            f["dependent"],
            f["scratch"],
            kept,
        )


def elementwise(op, fields=(), **facts):
    compiler = Compiler(**facts)
    registry.register_elementwise(op, fields, 1024, compiler)
    return compiler


def launches():
    found = []
    for line in driver.standin_log().decode().splitlines():
        if line.startswith("launch"):
            words = line.split()
            facts = dict(zip(words[2::2], words[3::2], strict=False))
            facts["attributes"] = [words[i + 1] for i, word in enumerate(words) if word == "attribute"]
            facts["bytes"] = bytes.fromhex(words[-1])
            found.append(facts)
    return found


def cuda(*shape, dtype=ad.float32):
    return ad.zeros(*shape, dtype=dtype, device="cuda")


@pytest.fixture(autouse=True)
def empty_log():
    driver.standin_log()


class TestElementwise:
    def test_without_gaps(self):
        compiler = elementwise("hypot")
        x, y = cuda(10, 300), cuda(10, 300)
        z = ad.hypot(x, y)
        (launch,) = launches()
        assert launch["bytes"] == struct.pack("<QQQi", x.data_ptr(), y.data_ptr(), z.data_ptr(), 3000) + bytes(16)
        assert launch["grid"] == "3,1,1" and launch["block"] == "128" and launch["shared"] == "0"
        pointer = (ALIGNED, "float32")
        assert compiler.variants == [([pointer, pointer, pointer, (BY_VALUE, "int32")], [0, 1024])]

    def test_a_variant_is_compiled_once(self):
        compiler = elementwise("hypot")
        for n in (3, 4, 100, 5000):
            ad.hypot(cuda(n), cuda(n))
        assert len(compiler.variants) == 1 and [a["grid"] for a in launches()] == ["1,1,1", "1,1,1", "1,1,1", "5,1,1"]
        ad.hypot(cuda(4)[1:], cuda(3))  # not aligned
        ad.hypot(cuda(4, dtype=ad.float64), cuda(4, dtype=ad.float64))
        with ad.cuda.device(1):
            ad.hypot(cuda(4), cuda(4))
        assert len(compiler.variants) == 4
        assert compiler.variants[1][0][0] == (POINTER, "float32")

    def test_many_variants(self):
        compiler = elementwise("hypot")
        for dims in range(1, 8):  # the table grows
            for dtype in (ad.float32, ad.float64):
                x = cuda(*(4,) * dims, dtype=dtype)[(slice(None, None, 2),) * dims]
                ad.hypot(x, x)
        assert [constants[0] for _, constants in compiler.variants] == [d for d in range(1, 8) for _ in range(2)]

    def test_numbers_travel_by_value(self):
        compiler = elementwise("hypot")
        ad.hypot(cuda(4), ad.tensor(2.5))
        (launch,) = launches()
        assert struct.unpack_from("<f", launch["bytes"], 8) == (2.5,)
        assert compiler.variants[0][0][1] == (BY_VALUE, "float32")
        ad.hypot(cuda(4, dtype=ad.float64), ad.tensor(2.5))
        assert struct.unpack_from("<d", launches()[0]["bytes"], 8) == (2.5,)

    def test_strides(self):
        compiler = elementwise("hypot")
        x, y = cuda(6, 8)[:, ::2], cuda(4)
        z = ad.hypot(x, y)
        (launch,) = launches()
        specs, constants = compiler.variants[0]
        assert constants == [2, 1024]
        # inputs; sizes; strides of x, y and the result, the last one being 1 and left out where it is; result; elements
        expected = struct.pack("<QQ", x.data_ptr(), y.data_ptr()) + struct.pack("<7i", 6, 4, 8, 2, 0, 4, 0)[:-4]
        assert [form for form, _ in specs] == [ALIGNED, ALIGNED, *[BY_VALUE] * 5, ONE, BY_VALUE, ONE, ALIGNED, BY_VALUE]
        assert launch["bytes"] == expected + struct.pack("<Q", z.data_ptr()) + struct.pack("<i", 24) + bytes(16)

    def test_permuted_memory_without_gaps_is_one_line(self):
        compiler = elementwise("hypot")
        ad.hypot(cuda(4, 5).t(), cuda(4, 5).t())
        assert compiler.variants[0][1] == [0, 1024]

    def test_attributes(self):
        compiler = elementwise("addcdiv", ["value"])
        ad.addcdiv(cuda(4), cuda(4), cuda(4), value=0.75)
        assert struct.unpack_from("<f", launches()[0]["bytes"], 24) == (0.75,)
        assert compiler.variants[0][0][3] == (BY_VALUE, "float32")
        with pytest.raises(ValueError, match="addcdiv has no attribute 'slope'"):
            elementwise("addcdiv", ["slope"])
        with pytest.raises(ValueError, match="no record named 'nothing'"):
            elementwise("nothing")

    def test_nothing_is_launched_for_nothing(self):
        elementwise("hypot")
        assert ad.hypot(cuda(0, 3), cuda(0, 3)).shape == (0, 3) and not launches()

    def test_types_that_kernels_do_not_have(self):
        elementwise("hypot")
        with pytest.raises(RuntimeError, match="the kernels for GPUs are not installed .*pip install"):
            ad.logaddexp(cuda(2), cuda(2))

    def test_errors_of_the_compiler_come_through(self):
        def compile(device, specs, constants):
            raise KeyError("no such kernel")

        registry.register_elementwise("hypot", [], 1024, compile)
        with pytest.raises(KeyError, match="no such kernel"):
            ad.hypot(cuda(2), cuda(2))


class TestLaunch:
    def test_shared_memory(self):
        elementwise("hypot", shared=100_000)
        ad.hypot(cuda(4), cuda(4))
        assert launches()[0]["shared"] == "100000"
        elementwise("hypot", shared=300_000)
        with pytest.raises(
            RuntimeError, match="hypot: out of shared memory: the kernel needs 300000 bytes, the device has 232448"
        ):
            ad.hypot(cuda(4), cuda(4))

    def test_attributes_of_the_launch(self):
        elementwise("hypot", clusters=2, cooperative=True, dependent=True)
        ad.hypot(cuda(4), cuda(4))
        (launch,) = launches()
        assert launch["grid"] == "2,1,1" and [a.split("=")[0] for a in launch["attributes"]] == ["6", "2", "4", "5"]

    def test_scratch_memory(self):
        elementwise("hypot", scratch=256)
        ad.hypot(cuda(5000), cuda(5000))
        scratch, profile = struct.unpack_from("<QQ", launches()[0]["bytes"], 28)
        assert scratch and not profile

    def test_parameters_must_be_the_drivers(self):
        def compile(device, specs, constants):
            image = b"STANDIN1" + struct.pack("<5I", 4, 8, 4, 8, 8)
            return image, "kernel", 0, 128, 1, False, False, 0, [(0, 8), (1, 8)]

        registry.register_elementwise("hypot", [], 1024, compile)
        with pytest.raises(RuntimeError, match="hypot: parameter 1 of the compiled kernel has 4 bytes, expected 8"):
            ad.hypot(cuda(4), cuda(4))

    def test_the_current_stream(self):
        elementwise("hypot")
        side = ad.cuda.Stream()
        x = cuda(4)
        with ad.cuda.stream(side):
            ad.hypot(x, x)
        ad.hypot(x, x)
        streams = [launch["stream"] for launch in launches()]
        assert streams[0] != "0" == streams[1]

    def test_driver_errors(self):
        elementwise("hypot")
        driver.standin_fail(b"cuLaunchKernel", 700)
        with pytest.raises(RuntimeError, match="CUDA error: an illegal memory access.*in cuLaunchKernel"):
            ad.hypot(cuda(4), cuda(4))


class TestStructured:
    def register(self, op, arguments, constants=(), grid=([0, 1],) * 3, along="", options=(), dims=64, names=(), compiler=None):
        compiler = compiler or Compiler()
        step = ("", arguments, list(constants), list(grid), [])
        registry.register_structured(op, [step], [], [], [], along, options, dims, 2**40, [], names, compiler)
        return compiler

    def test_names_are_evaluated_once_for_a_call(self):
        number, named, multiply = (CODE[k] for k in "number named multiply".split())
        names = [[number, 6], [named, 0, named, 0, multiply]]
        integers = [(1, 0, [named, 1]), (1, 0, [named, 0])]
        self.register(
            "softmax", [(0, 0, []), (0, -1, []), *integers], grid=([named, 1], [0, 1], [0, 1]), along="dim", names=names
        )
        cuda(4, 6).softmax(1)
        (one,) = launches()
        assert one["grid"] == "36,1,1" and struct.unpack_from("<2i", one["bytes"], 16) == (36, 6)

    def test_formulas(self):
        number, constant, size, stride, numel, dims = (CODE[k] for k in "number constant size stride numel dims".split())
        itemsize, outer, n, inner, parts = (CODE[k] for k in "itemsize outer n inner parts".split())
        add, multiply, up, power, equal, choose = (CODE[k] for k in "add multiply cdiv next_pow2 equal choose".split())
        left, right, log2, element = (CODE[k] for k in "shift_left shift_right log2 element".split())
        integer = lambda *code: (1, 0, list(code))  # noqa: E731
        self.register(
            "softmax",
            [
                (0, 0, []),
                (0, -1, []),
                integer(outer),
                integer(n),
                integer(inner),
                integer(number, 0, size, 0, number, 3, multiply),
                integer(number, -2, stride, 0),
                integer(numel, -1, dims, 0, add),
                integer(n, power),
                integer(itemsize, 0, number, 4, equal, number, 50, number, 60, choose),
                integer(constant, 0),
                integer(n, number, 3, left),
                integer(numel, 0, number, 3, right),
                integer(n, log2),
                integer(number, 0, element, 0, parts, 0, add),
            ],
            constants=[[numel, 0, number, 7, up]],
            grid=([outer], [inner], [number, 1]),
            along="dim",
        )
        x = cuda(4, 6, 5)
        y = x.softmax(1)
        (launch,) = launches()
        values = struct.unpack_from("<13i", launch["bytes"], 16)
        assert values == (4, 6, 5, 12, 5, 123, 8, 50, 18, 48, 15, 2, 2) and launch["grid"] == "4,5,1"
        assert struct.unpack_from("<QQ", launch["bytes"]) == (x.data_ptr(), y.data_ptr())

    def test_operands_are_made_contiguous_unless_strides_are_wanted(self):
        pointer = [(0, 0, []), (0, -1, [])]
        x = cuda(4, 6)[1:]
        self.register("softmax", pointer)
        x.softmax(0)
        assert struct.unpack_from("<Q", launches()[0]["bytes"]) == (x.data_ptr(),)
        with pytest.raises(RuntimeError, match="pip install"):
            cuda(4, 6)[:, ::2].softmax(0)  # the copy needs a kernel
        self.register("softmax", pointer, options=["strided"])
        x = cuda(4, 6)[:, ::2]
        x.softmax(0)
        assert struct.unpack_from("<Q", launches()[0]["bytes"]) == (x.data_ptr(),)

    def test_long_reductions_go_in_two_passes(self):
        outer, n, inner, chunk, last, total = (CODE[k] for k in "outer n inner chunk last total".split())
        compiler = self.register(
            "sum",
            [(0, 0, []), (0, -1, []), *[(1, 0, [fact]) for fact in (outer, n, inner, chunk, last, total)]],
            along="dims",
            options=["split"],
            compiler=Compiler(),
        )
        cuda(1 << 20).sum()
        first, second = launches()
        assert len(compiler.variants) == 2
        assert struct.unpack("<4i", first["bytes"][16:32]) == (1 << 20, 8192, 0, 1 << 20)  # n, chunk, last, total
        assert struct.unpack("<3i", second["bytes"][16:28]) == (128, 128, 1 << 20)  # last is 1, and folded
        assert first["bytes"][8:16] == second["bytes"][:8]
        cuda(1000).sum()
        assert len(launches()) == 1

    def test_a_sequence_of_launches(self):
        """Twice in rounds: the first step always, with memory that all of them get; the second in the last round alone."""
        number, n, numel, round, less = (CODE[k] for k in "number n numel round less".split())
        workspaces = [(0, 8, [numel, 0]), (2, -1, [n])]  # int64, and as result 0
        pointers = [(0, 0, []), (0, -1, []), (3, 0, []), (3, 1, [])]
        always = ("always", [*pointers, (1, 0, [round])], [], ([n], [number, 1], [number, 1]), [])
        at_last = ("at_last", pointers, [[round]], ([number, 1],) * 3, [number, 0, round, less])
        compiler = Compiler()
        steps = []
        compile = lambda *asked, step: (steps.append(step), compiler(*asked))[1]  # noqa: E731
        registry.register_structured(
            "softmax", [always, at_last], workspaces, [number, 2], [], "dim", [], 64, 2**40, [], [], compile
        )
        x = cuda(4, 6)
        before = ad.cuda.memory_allocated()
        y = x.softmax(1)
        assert ad.cuda.memory_allocated() - before == 512  # the result; what else there was is given back
        first, second, last = launches()
        assert steps == ["always", "always", "at_last"] and compiler.variants[-1][1] == [1]  # round 1 is folded
        assert [one["grid"] for one in (first, second, last)] == ["6,1,1", "6,1,1", "1,1,1"]
        assert first["bytes"][:32] == second["bytes"][:32] == last["bytes"][:32]
        addresses = struct.unpack("<4Q", last["bytes"][:32])
        assert addresses[:2] == (x.data_ptr(), y.data_ptr()) and len(set(addresses)) == 4

    def test_more_dimensions_than_a_kernel_has(self):
        self.register("softmax", [(0, 0, []), (0, -1, [])], dims=2)
        with pytest.raises(NotImplementedError, match="softmax: no kernel for device cuda for more than 2 dimensions, got 3"):
            cuda(2, 2, 2).softmax(0)

    def test_tf32_is_asked_for_when_it_is_allowed(self):
        compiler = self.register("matmul", [(0, 0, []), (0, -1, [])], constants=[[CODE["tf32"]]])
        x = cuda(4, 4)
        for allowed in (False, True):
            ad.backends.cuda.matmul.allow_tf32 = allowed
            assert ad.get_float32_matmul_precision() == ("high" if allowed else "highest")
            x @ x
        ad.set_float32_matmul_precision("highest")
        assert not ad.backends.cuda.matmul.allow_tf32
        assert [constants for _, constants in compiler.variants] == [[0], [1]]
        with pytest.raises(ValueError, match="expected 'highest', 'high' or 'medium', got 'low'"):
            ad.set_float32_matmul_precision("low")
        with pytest.raises(TypeError, match="allow_tf32: expected a bool, got 1"):
            ad.backends.cuda.matmul.allow_tf32 = 1
