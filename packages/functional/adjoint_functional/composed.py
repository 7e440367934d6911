"""The functions of `ad.` that are composed of others; some are methods of `Tensor` too, from this import on."""

from .linalg.approximate import *  # noqa: F403
from .linalg.older_forms import *  # noqa: F403
from .linalg.removed import *  # noqa: F403
from .nn.functional.native import *  # noqa: F403
from .nn.functional.top_level import *  # noqa: F403
from .sampling import *  # noqa: F403
from .signal.spectral import *  # noqa: F403
from .statistics.covariance import *  # noqa: F403
from .statistics.order import *  # noqa: F403
from .tensor.buffers import *  # noqa: F403
from .tensor.differences import *  # noqa: F403
from .tensor.distances import *  # noqa: F403
from .tensor.elementwise import *  # noqa: F403
from .tensor.fake_quantized import *  # noqa: F403
from .tensor.pieces import *  # noqa: F403
from .tensor.segments import *  # noqa: F403
from .tensor.sparse_products import *  # noqa: F403
from .tensor.tables import *  # noqa: F403
from .tensor.writes import *  # noqa: F403
