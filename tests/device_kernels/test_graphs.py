"""CUDA graphs: forward and backward captured once and replayed on new values."""

import pytest
from device_checks import agree

import adjoint as ad


def network(device):
    ad.manual_seed(1)
    w1, w2 = (ad.randn(*s).to(device).requires_grad_() for s in ((6, 16), (16, 3)))
    b = ad.zeros(16, device=device, requires_grad=True)

    def loss(x, target):
        hidden = ad.nn.functional.layer_norm(ad.nn.functional.gelu(x @ w1 + b), (16,))
        return ad.nn.functional.cross_entropy(hidden @ w2, target)

    return [w1, w2, b], loss


def batch(seed):
    ad.manual_seed(seed)
    return ad.randn(8, 6), ad.randint(0, 3, (8,))


def warm_up(f):
    side = ad.cuda.Stream()
    with ad.cuda.stream(side):
        f()
    ad.cuda.synchronize()


def test_the_documented_pattern():
    g = ad.cuda.CUDAGraph()
    x = ad.ones(4, device="cuda", requires_grad=True)
    warm_up(lambda: (x * 2).sum().backward())
    x.grad = None
    with ad.cuda.graph(g):
        (x * 2).sum().backward()
    g.replay()
    ad.cuda.synchronize()
    assert bool((x.grad == 2).all())


def test_a_training_step_is_replayed_on_other_batches():
    parameters, loss = network("cuda")
    x, target = (t.cuda() for t in batch(2))

    def step():
        for p in parameters:
            p.grad = None
        y = loss(x, target)
        y.backward()
        with ad.no_grad():
            for p in parameters:
                p -= 0.1 * p.grad
        return y

    warm_up(step)
    start = [p.detach().cpu() for p in parameters]
    g = ad.cuda.CUDAGraph()
    with ad.cuda.graph(g):
        captured = step()
    assert all(ad.equal(p.detach().cpu(), s) for p, s in zip(parameters, start, strict=True))  # nothing has run
    ours, our_loss = network("cpu")
    with ad.no_grad():
        for p, s in zip(ours, start, strict=True):
            p.copy_(s)
    for seed in (3, 4, 5):
        new = batch(seed)
        x.copy_(new[0])
        target.copy_(new[1])
        g.replay()
        for p in ours:
            p.grad = None
        y = our_loss(*new)
        y.backward()
        with ad.no_grad():
            for p in ours:
                p -= 0.1 * p.grad
        agree([captured.detach()], [y.detach()], ad.float32)
        agree([p.detach() for p in parameters], [p.detach() for p in ours], ad.float32)
        agree([p.grad for p in parameters], [p.grad for p in ours], ad.float32)


def test_side_streams_take_part():
    x = ad.arange(4.0).cuda()
    side = ad.cuda.Stream()
    warm_up(lambda: x.sin() + x.exp())
    g = ad.cuda.CUDAGraph()
    with ad.cuda.graph(g):
        main = ad.cuda.current_stream()
        side.wait_stream(main)
        with ad.cuda.stream(side):
            z = x.exp()
            assert ad.cuda.is_current_stream_capturing()
        y = x.sin()
        main.wait_stream(side)
        y = y + z
    x.copy_(ad.arange(4.0) * 0.1)
    g.replay()
    agree([y], [(ad.arange(4.0) * 0.1).sin() + (ad.arange(4.0) * 0.1).exp()], ad.float32)


def test_graphs_share_a_pool():
    x = ad.ones(1000, device="cuda")
    warm_up(lambda: x.sin().exp())
    first, second = ad.cuda.CUDAGraph(), ad.cuda.CUDAGraph()
    with ad.cuda.graph(first):
        y = x.sin()
    with ad.cuda.graph(second, pool=first.pool()):
        z = y.exp()
    assert first.pool() == second.pool()
    first.replay()
    second.replay()
    agree([z], [ad.ones(1000).sin().exp()], ad.float32)


def stale():
    """A leaf whose accumulating node was made on the default stream and is kept alive."""
    x = ad.ones(4, device="cuda", requires_grad=True)
    kept = x.expand_as(x).grad_fn.next_functions
    ad.cuda.Stream()
    return x, kept


def test_a_node_of_the_default_stream_in_a_capture():
    g = ad.cuda.CUDAGraph()
    x, kept = stale()
    warm_up(lambda: x.detach() * 3)
    with pytest.raises(RuntimeError, match="AccumulateGrad was made on the default stream.*set_override_stale_capture_stream"):
        with ad.cuda.graph(g):
            (x * 3).sum().backward()
    ad.autograd.graph.set_override_stale_capture_stream(True)
    try:
        with ad.cuda.graph(g):
            (x * 3).sum().backward()
    finally:
        ad.autograd.graph.set_override_stale_capture_stream(False)
    g.replay()
    assert x.grad.tolist() == [3.0] * 4
    assert kept


def test_a_node_of_another_stream_joins_the_capture():
    x = ad.ones(4, device="cuda", requires_grad=True)
    with ad.cuda.stream(ad.cuda.Stream()):
        kept = x.expand_as(x).grad_fn.next_functions
    warm_up(lambda: x.detach() * 3)
    g = ad.cuda.CUDAGraph()
    with ad.cuda.graph(g):
        (x * 3).sum().backward()
    g.replay()
    assert x.grad.tolist() == [3.0] * 4
    assert kept


@pytest.mark.parametrize(
    "read",
    [
        lambda x: x.item(),
        lambda x: x.tolist(),
        lambda x: x.cpu(),
        lambda x: bool(x > 0),
        lambda x: x.nonzero(),
        lambda x: x + ad.ones(1).cuda(),
        lambda x: ad.tensor([1.0], device="cuda"),
        lambda x: ad.cuda.synchronize(),
        lambda x: ad.cuda.current_stream().synchronize(),
        lambda x: ad.cuda.current_stream().query(),
        lambda x: ad.cuda.current_stream().record_event().synchronize(),
        lambda x: ad.cuda.empty_cache(),
    ],
)
def test_what_waits_is_refused_and_leaves_everything_usable(read):
    x = ad.ones(1, device="cuda")
    warm_up(lambda: x * 5)
    g = ad.cuda.CUDAGraph()
    with pytest.raises(RuntimeError, match="operation not permitted when stream is capturing"):
        with ad.cuda.graph(g):
            read(x)
    assert not ad.cuda.is_current_stream_capturing()
    assert read(x) is not g
    with pytest.raises(RuntimeError, match="without a preceding successful capture"):
        g.replay()
    with ad.cuda.graph(g):
        y = x * 5
        with pytest.raises(RuntimeError, match="not permitted"):
            read(x)  # even within, the capture goes on
    g.replay()
    assert y.item() == 5


def model():
    ad.manual_seed(7)
    return ad.nn.Sequential(ad.nn.Linear(6, 16), ad.nn.Tanh(), ad.nn.Linear(16, 3)).cuda()


def test_graphed_modules_train_as_others_do():
    graphed, eager = model(), model()
    sample = ad.randn(8, 6, device="cuda", requires_grad=True)
    assert ad.cuda.make_graphed_callables(graphed, (sample,)) is graphed
    for seed in (1, 2):
        ad.manual_seed(seed)
        x = ad.randn(8, 6, device="cuda")
        grads = []
        for net in (graphed, eager):
            for p in net.parameters():
                p.grad = None
            x = x.detach().requires_grad_()
            y = net(x)
            (y * y).sum().backward()
            grads.append([y.detach(), x.grad, *(p.grad.clone() for p in net.parameters())])
        for a, b in zip(*grads, strict=True):
            assert ad.equal(a, b)
    graphed.eval()
    assert graphed(x[:2]).shape == (2, 3)  # as written: it was captured in training mode


def test_graphed_functions_in_a_chain():
    w = ad.ones(4, device="cuda", requires_grad=True)
    first, second = ad.cuda.make_graphed_callables(
        (lambda x: {"y": x.sin(), "z": x * 2}, lambda y: y.exp() * w.detach()),
        ((ad.ones(4, device="cuda", requires_grad=True),), (ad.ones(4, device="cuda", requires_grad=True),)),
    )
    x = ad.linspace(-1, 1, 4).cuda().requires_grad_()
    out = first(x)
    (second(out["y"]) + out["z"]).sum().backward()
    host = ad.linspace(-1, 1, 4, requires_grad=True)
    (host.sin().exp() + host * 2).sum().backward()
    agree([x.grad], [host.grad], ad.float32)


def test_what_cannot_be_graphed():
    with pytest.raises(TypeError, match="sample_args must contain only tensors, got 3"):
        ad.cuda.make_graphed_callables(lambda x: x, (3,))
    with pytest.raises(ValueError, match="sample_args must be on a GPU, got a tensor on cpu"):
        ad.cuda.make_graphed_callables(lambda x: x, (ad.ones(3),))
    with pytest.raises(TypeError, match="must return only tensors, got None"):
        ad.cuda.make_graphed_callables(lambda x: (x, None), (ad.ones(3, device="cuda"),))
    hooked = model()
    hooked.register_forward_hook(lambda *args: None)
    with pytest.raises(ValueError, match="must not have hooks"):
        ad.cuda.make_graphed_callables(hooked, (ad.ones(2, 6, device="cuda"),))


def test_calls_unlike_the_samples():
    x = ad.arange(4.0).view(2, 2).cuda()
    f = ad.cuda.make_graphed_callables(lambda x: x * 2, (x,))
    for args in ((), (x, x), ([x],)):
        with pytest.raises(TypeError, match="takes arguments as in sample_args"):
            f(*args)
    with pytest.raises(TypeError, match="takes no keyword arguments, got x"):
        f(x=x)
    with pytest.raises(TypeError, match="takes only tensors, got 3"):
        f(3)
    for other in (x[:1], x.to(ad.float64)):
        with pytest.raises(ValueError, match="tensor 0 is"):
            f(other)
    assert f(x.t()).tolist() == [[0, 4], [2, 6]]  # the same address
    module = ad.cuda.make_graphed_callables(model(), (ad.ones(2, 6, device="cuda"),))
    assert module.eval()(input=ad.ones(2, 6, device="cuda")).shape == (2, 3)
