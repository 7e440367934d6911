"""Functions of `ad.` itself, most of them methods of `Tensor` too."""
