"""Files that TensorBoard shows, by the tensorboard package's own writer: the namespace ``utils.tensorboard``."""

from .writer import FileWriter as FileWriter
from .writer import SummaryWriter as SummaryWriter
