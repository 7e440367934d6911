"""The kernels, one file a family. Importing a file declares what is in it."""
