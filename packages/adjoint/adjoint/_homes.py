"""Modules that exist in PyTorch because its classes are written there, `nn.modules.linear`, `optim.adam`: here they lead to a class's name."""

from __future__ import annotations

import sys
from types import ModuleType

# The namespace, and for each module below it the names that live there.
NN = {
    "activation": "CELU ELU GELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid LogSoftmax Mish MultiheadAttention PReLU "
    "RReLU ReLU ReLU6 SELU SiLU Sigmoid Softmax Softmax2d Softmin Softplus Softshrink Softsign Tanh Tanhshrink Threshold",
    "adaptive": "AdaptiveLogSoftmaxWithLoss",
    "batchnorm": "BatchNorm1d BatchNorm2d BatchNorm3d LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d SyncBatchNorm _NormBase _BatchNorm",
    "channelshuffle": "ChannelShuffle",
    "container": "ModuleDict ModuleList ParameterDict ParameterList Sequential",
    "conv": "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d LazyConv1d LazyConv2d LazyConv3d LazyConvTranspose1d "
    "LazyConvTranspose2d LazyConvTranspose3d _ConvNd _ConvTransposeNd",
    "distance": "CosineSimilarity PairwiseDistance",
    "dropout": "AlphaDropout Dropout Dropout1d Dropout2d Dropout3d FeatureAlphaDropout _DropoutNd",
    "flatten": "Flatten Unflatten",
    "fold": "Fold Unfold",
    "instancenorm": "InstanceNorm1d InstanceNorm2d InstanceNorm3d LazyInstanceNorm1d LazyInstanceNorm2d LazyInstanceNorm3d _InstanceNorm",
    "lazy": "LazyModuleMixin",
    "linear": "Bilinear Identity LazyLinear Linear NonDynamicallyQuantizableLinear",
    "loss": "BCELoss BCEWithLogitsLoss CTCLoss CosineEmbeddingLoss CrossEntropyLoss GaussianNLLLoss HingeEmbeddingLoss HuberLoss KLDivLoss L1Loss "
    "MSELoss MarginRankingLoss MultiLabelMarginLoss MultiLabelSoftMarginLoss MultiMarginLoss NLLLoss NLLLoss2d PoissonNLLLoss SmoothL1Loss "
    "SoftMarginLoss TripletMarginLoss TripletMarginWithDistanceLoss _Loss _WeightedLoss",
    "module": "Module _IncompatibleKeys",
    "normalization": "CrossMapLRN2d GroupNorm LayerNorm LocalResponseNorm RMSNorm",
    "padding": "CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d ConstantPad3d ReflectionPad1d ReflectionPad2d ReflectionPad3d "
    "ReplicationPad1d ReplicationPad2d ReplicationPad3d ZeroPad1d ZeroPad2d ZeroPad3d",
    "pixelshuffle": "PixelShuffle PixelUnshuffle",
    "pooling": "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d AvgPool1d AvgPool2d "
    "AvgPool3d FractionalMaxPool2d FractionalMaxPool3d LPPool1d LPPool2d LPPool3d MaxPool1d MaxPool2d MaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d "
    "_MaxPoolNd _MaxUnpoolNd _AvgPoolNd _LPPoolNd _AdaptiveMaxPoolNd _AdaptiveAvgPoolNd",
    "rnn": "GRU GRUCell LSTM LSTMCell RNN RNNBase RNNCell RNNCellBase",
    "sparse": "Embedding EmbeddingBag",
    "transformer": "Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder TransformerEncoderLayer",
    "upsampling": "Upsample UpsamplingBilinear2d UpsamplingNearest2d",
}  # fmt: skip
OPTIM = {
    "_adafactor": "Adafactor",
    "_muon": "Muon",
    "adadelta": "Adadelta",
    "adagrad": "Adagrad",
    "adam": "Adam",
    "adamax": "Adamax",
    "adamw": "AdamW",
    "asgd": "ASGD",
    "lbfgs": "LBFGS",
    "nadam": "NAdam",
    "radam": "RAdam",
    "rmsprop": "RMSprop",
    "rprop": "Rprop",
    "sgd": "SGD",
    "sparse_adam": "SparseAdam",
}
FX = {
    "_symbolic_trace": "Tracer symbolic_trace wrap",
    "graph": "Graph PythonCode",
    "graph_module": "GraphModule",
    "immutable_collections": "immutable_list immutable_dict",
    "interpreter": "Interpreter Transformer",
    "node": "Node Target Argument map_arg map_aggregate",
    "passes": "ShapeProp",
    "passes.shape_prop": "ShapeProp TensorMetadata",
    "proxy": "Proxy Attribute TraceError TracerBase GraphAppendingTracer",
    "subgraph_rewriter": "Match ReplacedPatterns replace_pattern replace_pattern_with_filters",
}
HOMES = {"nn.modules": NN, "optim": OPTIM, "fx": FX}  # the names are those of the namespace in front of the first dot


def _lead(home: ModuleType, of: ModuleType) -> None:
    def lookup(name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(f"module {home.__name__!r} has no attribute {name!r}")
        return getattr(of, name)

    home.__getattr__ = lookup  # type: ignore[method-assign]


def make_homes(parent: ModuleType, of: ModuleType) -> None:
    """Makes the modules below `parent`; their names are those of `of`."""
    for name, contents in HOMES[parent.__name__.partition(".")[2]].items():
        home = ModuleType(f"{parent.__name__}.{name}", f"What PyTorch has in this module: {contents.replace(' ', ', ')}.")
        home.__all__ = [word for word in contents.split() if hasattr(of, word)]  # type: ignore[attr-defined]
        _lead(home, of)
        sys.modules[home.__name__] = home
        above, _, own = home.__name__.rpartition(".")
        setattr(sys.modules[above], own, home)
