"""Operations on sparse tensors."""

from adjoint_core.sparse import *  # noqa: F403
