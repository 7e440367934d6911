"""Sizes as tuples, and what is done to the keys of state dicts."""

from adjoint_functional.nn.modules.utils import _list_with_default as _list_with_default
from adjoint_functional.nn.modules.utils import _ntuple as _ntuple
from adjoint_functional.nn.modules.utils import _pair as _pair
from adjoint_functional.nn.modules.utils import _quadruple as _quadruple
from adjoint_functional.nn.modules.utils import _reverse_repeat_tuple as _reverse_repeat_tuple
from adjoint_functional.nn.modules.utils import _single as _single
from adjoint_functional.nn.modules.utils import _triple as _triple
from adjoint_functional.nn.modules.utils import (
    consume_prefix_in_state_dict_if_present as consume_prefix_in_state_dict_if_present,
)
