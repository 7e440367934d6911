"""Modules and optimizers beside PyTorch's: the same state by the same names gives the same outputs, gradients and steps."""

import inspect

import numpy as np
import pytest

import adjoint as ad

torch = pytest.importorskip("torch")
RNG = np.random.default_rng(0)


def normal(*sizes):
    return RNG.standard_normal(sizes)


class Fixed(np.ndarray):
    """No gradient with respect to it is asked for."""


def carried(make):
    """The module in both libraries, in float64, with PyTorch's values."""
    theirs = make(torch).double()
    ours = make(ad).double()
    for name, t in theirs.state_dict().items():
        if t.is_floating_point() and not name.endswith(("running_mean", "running_var")):
            t.copy_(torch.from_numpy(normal(*t.shape)))
    assert list(ours.state_dict()) == list(theirs.state_dict())
    ours.load_state_dict({name: t.numpy() for name, t in theirs.state_dict().items()})
    return ours, theirs


def tensors(lib, arrays):
    make = ad.tensor if lib is ad else torch.tensor
    return [make(np.asarray(a)).requires_grad_(a.dtype == np.float64 and not isinstance(a, Fixed)) for a in arrays]


def flat(x):
    return [t for part in x for t in flat(part)] if isinstance(x, tuple) else [x]


def run(lib, module, arrays):
    """Outputs, gradients of the inputs and of the parameters, buffers after."""
    inputs = tensors(lib, arrays)
    outputs = flat(module(*inputs))
    sum((y * y).sum() for y in outputs if y.is_floating_point()).backward()
    grads = [x.grad for x in inputs if x.requires_grad] + [p.grad for p in module.parameters()]
    return [t.detach().numpy() for t in (*outputs, *grads, *module.buffers())]


def check(make, *arrays, rtol=1e-9):
    ours, theirs = carried(make)
    for mode in (True, False):
        for a, b in zip(run(ad, ours.train(mode), arrays), run(torch, theirs.train(mode), arrays), strict=True):
            np.testing.assert_allclose(a, b, rtol, 1e-10)
        ours.zero_grad()
        theirs.zero_grad()


LAYERS = {
    "linear": (lambda lib: lib.nn.Linear(3, 4), (5, 3)),
    "bilinear": (lambda lib: lib.nn.Bilinear(3, 2, 4), (5, 3), (5, 2)),
    "mlp": (lambda lib: lib.nn.Sequential(lib.nn.Linear(3, 4), lib.nn.Tanh(), lib.nn.Linear(4, 2, bias=False)), (5, 3)),
    "conv1d": (lambda lib: lib.nn.Conv1d(4, 6, 3, stride=2, padding=1, groups=2), (2, 4, 9)),
    "conv2d": (lambda lib: lib.nn.Conv2d(2, 3, (3, 2), padding="same", dilation=2), (2, 2, 6, 7)),
    "conv2d circular": (lambda lib: lib.nn.Conv2d(2, 3, 3, padding=(1, 2), padding_mode="circular"), (2, 2, 6, 7)),
    "conv2d same reflect": (lambda lib: lib.nn.Conv2d(2, 3, (3, 2), padding="same", padding_mode="reflect"), (2, 2, 6, 7)),
    "conv3d": (lambda lib: lib.nn.Conv3d(1, 2, 2, bias=False), (2, 1, 3, 4, 3)),
    "conv without batch": (lambda lib: lib.nn.Conv1d(2, 3, 2), (2, 5)),
    "conv_transpose1d": (lambda lib: lib.nn.ConvTranspose1d(3, 2, 3, stride=2, output_padding=1), (2, 3, 5)),
    "conv_transpose2d": (lambda lib: lib.nn.ConvTranspose2d(4, 2, 3, stride=2, padding=1, groups=2), (2, 4, 3, 4)),
    "batch_norm1d": (lambda lib: lib.nn.BatchNorm1d(3), (6, 3)),
    "batch_norm2d": (lambda lib: lib.nn.BatchNorm2d(3, momentum=None), (4, 3, 2, 5)),
    "batch_norm3d": (lambda lib: lib.nn.BatchNorm3d(2, affine=False), (2, 2, 2, 3, 2)),
    "batch_norm no stats": (lambda lib: lib.nn.BatchNorm1d(3, track_running_stats=False, bias=False), (6, 3, 2)),
    "instance_norm1d": (lambda lib: lib.nn.InstanceNorm1d(3, affine=True), (2, 3, 5)),
    "instance_norm2d": (lambda lib: lib.nn.InstanceNorm2d(3, track_running_stats=True), (3, 4, 5)),
    "layer_norm": (lambda lib: lib.nn.LayerNorm((3, 2)), (4, 3, 2)),
    "rms_norm": (lambda lib: lib.nn.RMSNorm(3, eps=1e-5), (4, 3)),
    "group_norm": (lambda lib: lib.nn.GroupNorm(2, 4), (3, 4, 5)),
    "rnn": (lambda lib: lib.nn.RNN(3, 4, 2, nonlinearity="relu"), (5, 2, 3)),
    "lstm": (lambda lib: lib.nn.LSTM(3, 4, 2, bidirectional=True), (5, 2, 3)),
    "lstm projected": (lambda lib: lib.nn.LSTM(3, 4, batch_first=True, proj_size=2, bias=False), (2, 5, 3)),
    "lstm without batch": (lambda lib: lib.nn.LSTM(3, 4), (5, 3)),
    "gru": (lambda lib: lib.nn.GRU(3, 4, 2, batch_first=True, bidirectional=True), (2, 5, 3)),
    "rnn_cell": (lambda lib: lib.nn.RNNCell(3, 4), (2, 3), (2, 4)),
    "gru_cell": (lambda lib: lib.nn.GRUCell(3, 4), (2, 3), (2, 4)),
    "lstm_cell": (lambda lib: lib.nn.LSTMCell(3, 4, bias=False), (2, 3)),
    "prelu": (lambda lib: lib.nn.PReLU(3), (2, 3)),
    "pads": (lambda lib: lib.nn.Sequential(lib.nn.ReflectionPad2d((1, 2, 0, 1)), lib.nn.ConstantPad2d(1, 2.0)), (1, 2, 4, 4)),
    "pools": (lambda lib: lib.nn.Sequential(lib.nn.MaxPool2d(2), lib.nn.AvgPool2d(2, 1), lib.nn.Flatten()), (1, 2, 8, 8)),
    "upsample": (lambda lib: lib.nn.Upsample(scale_factor=2, mode="bilinear"), (1, 2, 3, 3)),
    "softmaxes": (lambda lib: lib.nn.Sequential(lib.nn.Softmax2d(), lib.nn.LogSoftmax(1)), (2, 3, 2, 2)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers(name):
    make, *shapes = LAYERS[name]
    check(make, *(normal(*s) for s in shapes))


def test_states_of_recurrent_layers():
    ours, theirs = carried(lambda lib: lib.nn.LSTM(3, 4, 2))
    x, h, c = normal(5, 2, 3), normal(2, 2, 4), normal(2, 2, 4)
    found = [module(x, (h, c)) for module, (x, h, c) in ((ours, tensors(ad, (x, h, c))), (theirs, tensors(torch, (x, h, c))))]
    for a, b in zip(*(flat(f) for f in found), strict=True):
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), 1e-9)


def test_tables():
    indices = np.array([[1, 2, 2], [0, 3, 1]])
    check(lambda lib: lib.nn.Embedding(5, 3, padding_idx=1), indices)
    check(lambda lib: lib.nn.EmbeddingBag(5, 3, mode="sum"), indices)


CLASSES = [
    name
    for name, c in vars(torch.nn).items()
    if inspect.isclass(c) and hasattr(ad.nn, name) and not name.endswith("Pad3d") and issubclass(c, torch.nn.Module)
]


@pytest.mark.parametrize("name", CLASSES)
def test_constructors_take_the_same_arguments(name):
    theirs, ours = (list(inspect.signature(getattr(lib.nn, name)).parameters) for lib in (torch, ad))
    old = {"min_value", "max_value", "device", "dtype"}  # PyTorch deprecates the first two, and knows the others in some
    if "args" not in theirs + ours and name[-5:-2] != "Pad":
        assert [n for n in ours if n not in old] == [n for n in theirs if n not in old]


ACTIVATIONS = [
    n
    for n in CLASSES
    if getattr(torch.nn, n).__module__.endswith("activation")
    and n not in ("MultiheadAttention", "RReLU", "PReLU", "GLU", "Softmax2d")
]


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name):
    arguments = {"Threshold": (0.5, 2.0), "Softmax": (1,), "LogSoftmax": (1,), "Softmin": (1,)}.get(name, ())
    check(lambda lib: getattr(lib.nn, name)(*arguments), normal(4, 3), rtol=1e-7)  # theirs knows 1/6 as a float32


LOSSES = {
    "L1Loss": {}, "MSELoss": {"reduction": "sum"}, "SmoothL1Loss": {"beta": 0.5}, "HuberLoss": {"delta": 0.5},
    "PoissonNLLLoss": {"full": True}, "KLDivLoss": {"reduction": "batchmean", "log_target": True},
    "SoftMarginLoss": {}, "BCEWithLogitsLoss": {}, "HingeEmbeddingLoss": {"margin": 0.5}, "MultiLabelSoftMarginLoss": {},
}  # fmt: skip


@pytest.mark.parametrize("name", LOSSES)
def test_losses(name):
    target = np.abs(normal(4, 3)) if name.startswith(("Poisson", "BCE")) else normal(4, 3)
    check(lambda lib: getattr(lib.nn, name)(**LOSSES[name]), normal(4, 3), target.view(Fixed))


def hooked(lib, with_grad):
    """What all kinds of hooks saw, in order, and the gradients."""
    seen = []

    def note(name, change=None):
        def hook(module, *args):
            shapes = [
                [None if t is None else np.round(t.detach().numpy(), 9).tolist() for t in flat(a)] for a in args if a != {}
            ]
            seen.append((name, shapes))
            return change(*args) if change else None

        return hook

    class Both(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = lib.nn.Linear(2, 2)

        def forward(self, x, y, scale=1.0):
            return self.inner(x) * scale, y * 2

    m = Both().double()
    m.load_state_dict({"inner.weight": lib.ones(2, 2).double() / 2, "inner.bias": lib.zeros(2).double()})
    m.register_forward_pre_hook(note("pre", lambda args: (args[0] * 2, args[1])))
    m.register_forward_pre_hook(note("pre kwargs", lambda args, kwargs: (args, {"scale": 3.0})), with_kwargs=True)
    m.register_forward_hook(note("post", lambda args, out: (out[0] + 1, out[1])))
    m.register_forward_hook(note("first"), prepend=True)
    m.register_full_backward_pre_hook(note("backward pre", lambda grads: tuple(None if g is None else g * 2 for g in grads)))
    m.register_full_backward_hook(note("backward", lambda grad_in, grad_out: (grad_in[0] * 5, grad_in[1])))
    m.inner.register_full_backward_hook(note("inner"))
    x, y = tensors(lib, [np.array([[1.0, 2.0]]), np.array([3.0])])
    if not with_grad:
        m._backward_hooks.popitem()
        m.register_full_backward_hook(note("no inputs"))
    a, b = m(x, y) if with_grad else m(x.detach(), y.detach())
    (a.sum() * 2 + b.sum()).backward()
    return seen, [None if t.grad is None else t.grad.tolist() for t in (x, y, *m.parameters())]


@pytest.mark.filterwarnings("ignore:Full backward hook is firing")
@pytest.mark.parametrize("with_grad", [True, False])
def test_hooks(with_grad):
    assert hooked(ad, with_grad) == hooked(torch, with_grad)


def test_losses_of_classes():
    x, target = normal(4, 3), np.array([0, 2, 1, 2])
    for lib_weight in (None, normal(3) ** 2):

        def weighted(lib, name, weight=lib_weight, **options):
            made = lib.nn.__getattribute__(name) if lib is torch else getattr(ad.nn, name)
            given = None if weight is None else (ad if lib is ad else torch).tensor(weight)
            return made(weight=given, **options)

        check(lambda lib: weighted(lib, "NLLLoss"), x, target)
        check(lambda lib: weighted(lib, "CrossEntropyLoss", label_smoothing=0.1, ignore_index=1), x, target)
        check(lambda lib: weighted(lib, "MultiMarginLoss", margin=0.5), x, target)


OPTIMIZERS = [
    ("SGD", {"lr": 0.1}), ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.1, "weight_decay": 0.01}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "maximize": True}), ("Adam", {"lr": 0.1}),
    ("Adam", {"lr": 0.1, "amsgrad": True, "weight_decay": 0.1}), ("AdamW", {"lr": 0.1, "betas": (0.8, 0.9)}), ("RMSprop", {}),
    ("RMSprop", {"centered": True, "momentum": 0.5, "weight_decay": 0.1}), ("Adagrad", {"lr_decay": 0.1, "initial_accumulator_value": 0.5}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "options"), OPTIMIZERS)
def test_optimizers(name, options):
    start, x = normal(3, 2), normal(5, 3)
    found, states = [], []
    for lib in (ad, torch):
        w = lib.nn.Parameter(tensors(lib, [start])[0].detach())
        optimizer = getattr(lib.optim, name)([{"params": [w]}], **options)
        data = tensors(lib, [x])[0].detach()
        for i in range(7):
            if i == 4:  # a new optimizer goes on with the state
                saved = optimizer.state_dict()
                optimizer = getattr(lib.optim, name)([w], **options)
                optimizer.load_state_dict(saved)
            optimizer.zero_grad()
            loss = optimizer.step(lambda w=w, data=data, optimizer=optimizer: _loss(w, data))
        assert float(loss.detach()) == float(loss.detach())
        found.append(w.detach().numpy())
        states.append(optimizer.state_dict())
    np.testing.assert_allclose(*found, rtol=1e-9)
    ours, theirs = states
    assert (
        list(ours["param_groups"][0].keys() - {"params"}) and ours["param_groups"][0].keys() == theirs["param_groups"][0].keys()
    )
    for key, value in theirs["state"].get(0, {}).items():
        np.testing.assert_allclose(np.asarray(ours["state"][0][key]), np.asarray(value), rtol=1e-6)


def _loss(w, data):
    loss = ((data @ w).tanh() ** 2).sum()
    loss.backward()
    return loss
