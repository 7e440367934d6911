"""What is done to the parameters of modules, and sequences of different lengths."""
