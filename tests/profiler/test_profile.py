"""profile and record_function: what is recorded, under which names, with which times, shapes, memory and stacks."""

import gc
import threading
import time
import weakref

import pytest
from profiled import named, profiled

import adjoint as ad
from adjoint.autograd import profiler


def test_names_are_those_of_pytorch():
    x = ad.randn(2, 3, 3, requires_grad=True)
    v = ad.ones(3)

    def run(_):
        x.relu().sum()
        x @ x
        x[0] @ v
        v.dot(v)
        v.add_(1)
        ad.nn.functional.conv2d(ad.ones(1, 1, 4, 4), ad.ones(1, 1, 2, 2))
        ad.zeros(2)
        v.to(ad.float64)

    names = {e.name for e in profiled(run).function_events}
    assert names >= {
        "aten::relu", "aten::sum", "aten::bmm", "aten::matmul", "aten::dot", "aten::add_", "aten::conv2d", "aten::zeros",
        "aten::_to_copy",
    }  # fmt: skip


def test_backward_shows_engine_node_and_what_the_node_calls():
    prof = profiled()
    (node,) = named(prof, "MmBackward0")
    assert node.cpu_parent.name == "autograd::engine::evaluate_function: MmBackward0" and node.cpu_parent.cpu_parent is None
    assert [c.name for c in node.cpu_children].count("aten::mm") == 2
    (leaf,) = named(prof, "torch::autograd::AccumulateGrad")
    assert leaf.scope == node.scope == 1 and leaf.sequence_nr == -1


def test_forward_and_backward_share_sequence_numbers():
    prof = profiled()
    forward = {e.name: e.sequence_nr for e in prof.function_events if not e.fwd_thread}
    backward = {e.name: e.sequence_nr for e in prof.function_events if e.fwd_thread and e.scope == 1}
    assert forward["aten::pow"] == backward["PowBackward0"] >= 0
    assert max(e.sequence_nr for e in named(prof, "aten::mm")) == backward["MmBackward0"]


def test_double_backward_is_linked_to_the_calls_of_backward():
    def run(x):
        (g,) = ad.autograd.grad((x**3).sum(), x, create_graph=True)
        g.sum().backward()

    prof = profiled(run)
    made_in_backward = {e.sequence_nr for e in prof.function_events if e.cpu_parent and e.cpu_parent.scope == 1}
    assert {e.sequence_nr for e in named(prof, "MulBackward0")} <= made_in_backward


def test_custom_functions_and_their_nodes():
    class Twice(ad.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    prof = profiled(lambda x: Twice.apply(x).sum().backward())
    (call,), (node,) = named(prof, "Twice"), named(prof, "TwiceBackward")
    assert [c.name for c in call.cpu_children] == ["aten::mul"] and call.sequence_nr == node.sequence_nr >= 0


def test_a_custom_function_that_fails_leaves_the_profile_in_order():
    class Fails(ad.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            raise KeyError("planted")

    def run(x):
        with pytest.raises(KeyError):
            Fails.apply(x)
        x.sin()

    assert named(profiled(run), "aten::sin")[0].cpu_parent is None


@pytest.mark.parametrize("with_stack", [False, True])
def test_levels_do_not_repeat_names(with_stack):
    prof = profiled(lambda x: ad.vmap(ad.sin)(x), with_stack=with_stack)
    assert len(named(prof, "aten::sin")) == 1


def test_forward_mode_shows_what_the_tangent_takes():
    def run(x):
        with ad.autograd.forward_ad.dual_level():
            ad.autograd.forward_ad.make_dual(x, x).sin()

    (sin,) = named(profiled(run), "aten::sin")
    assert [c.name for c in sin.cpu_children] == ["aten::cos", "aten::mul"]


def test_times_are_those_of_a_clock():
    def run(_):
        with profiler.record_function("sleeps"):
            time.sleep(0.02)
            ad.ones(1)

    (sleeps,) = named(profiled(run), "sleeps")
    assert 20_000 <= sleeps.cpu_time_total < 500_000
    (made,) = sleeps.cpu_children
    assert sleeps.self_cpu_time_total == pytest.approx(sleeps.cpu_time_total - made.cpu_time_total)
    assert 0 <= sleeps.time_range.start <= made.time_range.start <= made.time_range.end <= sleeps.time_range.end


def test_a_planted_hot_spot_is_on_top():
    small, large = ad.randn(8, 8), ad.randn(300, 300)
    prof = profiled(lambda _: (large.sort(), small + small, small.sin()))
    assert prof.key_averages().table(sort_by="self_cpu_time_total").splitlines()[3].split()[0] == "aten::sort"


def test_shapes_types_and_numbers():
    prof = profiled(lambda x: x.t() * 2, record_shapes=True)
    (event,) = named(prof, "aten::mul")
    assert event.input_shapes == [[8, 8], []] and event.concrete_inputs == [None, 2]
    assert event.structured_input_strides == [[1, 8], []] and event.input_dtypes == ["float32", "int64"]
    assert named(profiled(lambda x: x * 2), "aten::mul")[0].input_shapes == []


def test_attributes_follow_the_numbers_of_operands():
    def run(x):
        x.as_strided([4, 3], [1, 4])
        x.sum(1, keepdim=True)
        x + 1.5

    prof = profiled(run, record_shapes=True)
    found = [named(prof, f"aten::{name}")[0].concrete_inputs for name in ("as_strided", "sum", "add")]
    assert found == [[None, [4, 3], [1, 4], 0], [None, [1], True], [None, 1.5]]


def test_grouping_by_shapes():
    prof = profiled(lambda x: (x.sin(), x[0].sin(), x[1].sin()), record_shapes=True)
    groups = {str(e.input_shapes): e.count for e in prof.key_averages(group_by_input_shape=True) if e.key == "aten::sin"}
    assert groups == {"[[8, 8]]": 1, "[[8]]": 2}
    assert [e.count for e in prof.key_averages() if e.key == "aten::sin"] == [3]


@pytest.mark.parametrize(
    ("run", "name", "expected"),
    [
        (lambda: ad.ones(3, 4) @ ad.ones(4, 5), "aten::mm", 2 * 3 * 4 * 5),
        (lambda: ad.ones(2, 3, 4) @ ad.ones(2, 4, 5), "aten::bmm", 2 * 2 * 3 * 4 * 5),
        (lambda: ad.ones(3, 1) * ad.ones(4), "aten::mul", 12),
        (lambda: ad.nn.functional.conv2d(ad.ones(2, 3, 8, 8), ad.ones(4, 3, 3, 3)), "aten::conv2d", 2 * 2 * 4 * 36 * 27),
        (lambda: ad.nn.functional.conv1d(ad.ones(1, 4, 8), ad.ones(4, 2, 3), groups=2), "aten::conv1d", 2 * 4 * 6 * 6),
        (lambda: ad.ones(3).sin(), "aten::sin", 0),
    ],
)
def test_flops(run, name, expected):
    prof = profiled(lambda _: run(), with_flops=True)
    assert [e.flops for e in named(prof, name)] == [expected] and not named(prof, name)[0].input_shapes


def test_flops_of_backward_are_those_of_two_products():
    x, w = ad.ones(2, 3, 8, 8, requires_grad=True), ad.ones(4, 3, 3, 3, requires_grad=True)
    prof = profiled(lambda _: ad.nn.functional.conv2d(x, w).sum().backward(), with_flops=True)
    assert [e.flops for e in named(prof, "aten::convolution_backward")] == [2 * 2 * 4 * 36 * 27] * 2


def test_memory_of_calls_and_of_what_is_freed_outside():
    kept = []

    def run(_):
        with profiler.record_function("makes"):
            kept.append(ad.ones(1000).sin())
        kept.clear()

    prof = profiled(run, profile_memory=True)
    (makes,), (sin,) = named(prof, "makes"), named(prof, "aten::sin")
    assert sin.cpu_memory_usage == sin.self_cpu_memory_usage == 4000
    assert makes.cpu_memory_usage == 4000 and makes.self_cpu_memory_usage == -4000
    assert [e.cpu_memory_usage for e in named(prof, "[memory]")] == [-4000]
    assert sum(e.self_cpu_memory_usage for e in prof.function_events) == 0
    assert max(live for _, live in prof.memory_curve()) == 8000 and prof.memory_curve()[-1][1] == 0


def test_a_planted_leak_shows():
    leak = []
    prof = profiled(lambda x: [leak.append(x.sin()) for _ in range(3)], profile_memory=True)
    assert [e.self_cpu_memory_usage for e in prof.key_averages() if e.key == "aten::sin"] == [3 * 256]
    assert prof.memory_curve()[-1][1] == 3 * 256


def helper(x):
    return x.sin()


def test_stacks_name_the_lines_of_the_user_innermost_first():
    def run(x):
        helper(x).sum().backward()

    prof = profiled(run, with_stack=True)
    (sin,) = named(prof, "aten::sin")
    line = helper.__code__.co_firstlineno
    assert sin.stack[0] == f"{__file__}({line + 1}): helper"
    assert sin.stack[1] == f"{__file__}({run.__code__.co_firstlineno + 1}): run" and ": profiled" in sin.stack[2]
    frame = sin.cpu_parent
    assert frame.name.endswith(f"test_profile.py({line}): helper") and not frame.name.startswith("/")
    assert frame.is_python_function and frame.cpu_parent.name.endswith(": run")
    (node,) = named(prof, "SinBackward0")
    assert node.stack == sin.stack and {c.name: c.stack for c in node.cpu_children}["aten::cos"] == sin.stack
    assert not any("adjoint_" in e.name or "/adjoint/" in e.name for e in prof.function_events)


def test_stacks_run_none_of_the_users_code():
    class Calls:
        asked = []

        def __getattr__(self, name):
            self.asked.append(name)
            raise KeyError(name)

        def __call__(self, x):
            return x + 1

    prof = profiled(lambda x: Calls()(x), with_stack=True)
    assert named(prof, "aten::add") and not Calls.asked


def test_stacks_keep_no_module_alive():
    gone = []

    def run(_):
        for _ in range(3):
            layer = ad.nn.Linear(2, 2)
            layer(ad.ones(1, 2))
            gone.append(weakref.ref(layer))

    prof = profiled(run, with_stack=True, profile_memory=True)
    gc.collect()
    assert all(layer() is None for layer in gone)
    assert {e.name for e in prof.function_events} >= {"nn.Module: Linear_0", "nn.Module: Linear_1", "nn.Module: Linear_2"}


def test_calls_of_modules_have_their_names():
    def run(x):
        first, second = ad.nn.Linear(8, 8), ad.nn.Linear(8, 1)
        ad.nn.Sequential(first, second)(x)
        first(x)

    prof = profiled(run, with_stack=True)
    calls = [(e.name, e.cpu_parent.name) for e in prof.function_events if e.name.startswith("nn.Module")]
    assert [name for name, _ in calls] == [f"nn.Module: {n}" for n in ("Sequential_0", "Linear_0", "Linear_1", "Linear_0")]
    linear = named(prof, "aten::linear")[0]
    assert linear.stack[:2] == ["nn.Module: Linear_0", "nn.Module: Sequential_0"] and ": run" in linear.stack[2]
    assert not any("adjoint_" in e.name for e in prof.function_events)


def test_memory_belongs_to_python_functions_too():
    kept = []

    def keep():
        kept.append(ad.ones(100))
        ad.ones(1000)

    def drop():
        kept.clear()

    prof = profiled(lambda x: (keep(), drop()), with_stack=True, profile_memory=True)
    by = {e.name.split(": ")[-1]: (e.cpu_memory_usage, e.self_cpu_memory_usage) for e in prof.function_events}
    assert by["keep"] == (400, -4000) and by["drop"] == (-400, -400) and by["profiled"] == (0, 0)
    assert not named(prof, "[memory]")


def test_stacks_follow_lines_within_a_function():
    def run(x):
        x.sin()
        x.cos()

    prof = profiled(run, with_stack=True)
    first = run.__code__.co_firstlineno
    lines = [named(prof, name)[0].stack[0] for name in ("aten::sin", "aten::cos")]
    assert lines == [f"{__file__}({first + k}): run" for k in (1, 2)]
    groups = prof.key_averages(group_by_stack_n=1)
    assert {e.key: e.stack for e in groups}["aten::sin"] == [lines[0]]
    assert "Source Location" in groups.table()


def test_the_profile_function_of_others_comes_back():
    import sys

    def mine(frame, event, argument):
        pass

    sys.setprofile(mine)
    try:
        profiled(with_stack=True)
        assert sys.getprofile() is mine
    finally:
        sys.setprofile(None)


def test_export_stacks(tmp_path):
    prof = profiled(lambda x: [ad.randn(64, 64) @ ad.randn(64, 64) for _ in range(3)], with_stack=True)
    prof.export_stacks(tmp_path / "stacks.txt")
    lines = (tmp_path / "stacks.txt").read_text().splitlines()
    frames, weight = next(line for line in lines if "aten::mm" in line).rsplit(" ", 1)
    assert int(weight) > 0 and frames.split(";")[-1] == "aten::mm" and " " not in frames
    with pytest.raises(ValueError, match="self_cpu_time_total"):
        prof.export_stacks(tmp_path / "stacks.txt", "nope")


def test_other_threads_are_not_seen_and_have_numbers_of_their_own():
    profiles = []

    def work(name):
        with profiler.profile() as prof:
            getattr(ad.ones(2), name)()
        profiles.append(prof)

    def run(_):
        threads = [threading.Thread(target=work, args=(name,)) for name in ("cosh", "sinh")]
        for t in threads:
            t.start()
        for t in threads:
            t.join()

    mine = profiled(run)
    assert [e.name for e in mine.function_events] == []
    assert sorted(p.function_events[1].name for p in profiles) == ["aten::cosh", "aten::sinh"]
    assert len({p.function_events[0].thread for p in profiles}) == 2


def test_nodes_of_other_threads_are_not_joined_to_calls_of_this_one(tmp_path):
    made = []

    def forward():
        x = ad.ones(2, requires_grad=True)
        first = ad._engine._engine.peek_sequence()
        made.append((x.sin().sum(), first))

    def work():
        t = threading.Thread(target=forward)
        t.start()
        t.join()
        x = ad.ones(2, requires_grad=True)
        with profiler.profile() as prof:
            x.cos()  # the same number as that of the other thread's sin
            made[0][0].backward()
        made.append(prof)

    t = threading.Thread(target=work)  # a thread whose numbers begin at 0, as those of the other do
    t.start()
    t.join()
    prof = made[1]
    (cos,), (node,) = named(prof, "aten::cos")[:1], named(prof, "SinBackward0")
    assert node.sequence_nr == cos.sequence_nr == made[0][1] and node.fwd_thread == -1
    prof.export_chrome_trace(tmp_path / "t.json")
    assert '"ph": "s"' not in (tmp_path / "t.json").read_text()


def test_record_function_as_block_decorator_and_again():
    @profiler.record_function("decorated")
    def f(x):
        """Doc."""
        return x.sin() if x.dim() == 0 else f(x[0])

    again = profiler.record_function("again", "with args")

    def run(x):
        f(x)
        with again, again:
            pass

    prof = profiled(run)
    assert f.__name__ == "f" and f.__doc__ == "Doc."
    assert [e.cpu_parent.name if e.cpu_parent else None for e in named(prof, "decorated")] == [None, "decorated", "decorated"]
    outer, inner = named(prof, "again")
    assert inner.cpu_parent is outer and outer.is_user_annotation and outer.scope == 7
    assert outer.concrete_inputs == ["with args"]


def test_ranges_without_a_profile_do_nothing():
    with profiler.record_function("nobody looks"):
        assert ad.ones(1).item() == 1


def test_profiles_nest():
    with profiler.profile() as outer:
        ad.ones(1).sin()
        with profiler.profile() as inner:
            ad.ones(1).cos()
    assert len(named(outer, "aten::cos")) == len(named(inner, "aten::cos")) == 1 and not named(inner, "aten::sin")


def test_functions_made_of_operations_show_their_operands():
    x, w, b = ad.ones(2, 3), ad.ones(4, 3), ad.ones(4)
    f = ad.nn.functional

    def run(_):
        f.linear(x, w, b)
        x @ w.t()
        f.softmax(x, 1)
        f.log_softmax(x, 1)
        f.layer_norm(x, (3,))
        f.cross_entropy(x, ad.zeros(2, dtype=ad.int64))
        f.mse_loss(x, x)
        ad.stack([b, b])
        b.unsqueeze(0)
        ad.ones_like(x)

    rows = profiled(run, record_shapes=True).key_averages(group_by_input_shape=True)
    shapes = {(e.key, str(e.input_shapes)) for e in rows}
    assert shapes >= {
        ("aten::linear", "[[2, 3], [4, 3], [4]]"),
        ("aten::matmul", "[[2, 3], [3, 4]]"),
        ("aten::t", "[[4, 3]]"),
        ("aten::softmax", "[[2, 3]]"),
        ("aten::log_softmax", "[[2, 3]]"),
        ("aten::layer_norm", "[[2, 3], [], []]"),
        ("aten::cross_entropy_loss", "[[2, 3], [2]]"),
        ("aten::mse_loss", "[[2, 3], [2, 3]]"),
        ("aten::stack", "[[4], [4]]"),
        ("aten::unsqueeze", "[[4]]"),
        ("aten::ones_like", "[[2, 3]]"),
    }


def test_numbers_that_python_reads_are_seen():
    v = ad.ones(1)

    def run(_):
        assert (float(v), int(v), complex(v), v.item(), bool(v), v.is_nonzero()) == (1.0, 1, 1 + 0j, 1.0, True, True)

    counts = {e.key: e.count for e in profiled(run).key_averages()}
    assert counts == {"aten::item": 6, "aten::_local_scalar_dense": 6, "aten::is_nonzero": 2}


def test_python_numbers_are_no_memory_of_tensors():
    x = ad.ones(100, requires_grad=True)

    def run(_):
        y = (x * 2 + 1) ** 3.5  # the last number is kept by the graph
        del y

    prof = profiled(run, profile_memory=True)
    assert sum(e.self_cpu_memory_usage for e in prof.function_events) == 0
    assert {e.cpu_memory_usage % 400 for e in prof.function_events} == {0}
