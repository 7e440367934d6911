"""What is said of a graph in which something went wrong."""
