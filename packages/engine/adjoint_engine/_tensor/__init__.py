"""What `Tensor` has of the graph."""
